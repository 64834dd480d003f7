//! What was asked and what came of it, in memory: rebuilt from a log, then kept as the run goes on.
//!
//! **Choices.** Trials stand in the order of asking; `done` holds their places in the order of their outcomes, which is the order that best-so-far
//! means. A log is taken in by asking for what it says was asked, so the model of another version would go on with it too. Values are kept as they were printed, in double precision; the tuner has them in single precision.

use trimtab::{Goal, Level};

use super::log::Entry;
use crate::session::{Asked, Session};

/// One combination that was asked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trial {
    pub(crate) id: u64,
    pub(crate) levels: Vec<Level>,
    /// What the model expected.
    pub(crate) mean: Option<f32>,
    /// None while nothing was known.
    pub(crate) std_dev: Option<f32>,
    pub(crate) outcome: Option<Result<f64, String>>,
    pub(crate) seconds: f64,
}

impl Trial {
    pub(crate) fn new(asked: &Asked) -> Self {
        let Asked { id, opinion } = asked;
        let std_dev = Some(opinion.std_dev).filter(|std_dev| std_dev.is_finite());
        let mean = std_dev.map(|_| opinion.mean);
        Self { id: *id, levels: opinion.levels.clone(), mean, std_dev, outcome: None, seconds: 0.0 }
    }

    pub(crate) fn value(&self) -> Option<f64> {
        self.outcome.as_ref().and_then(|outcome| outcome.as_ref().ok()).copied()
    }
}

/// All trials of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct History {
    pub(crate) trials: Vec<Trial>,
    /// Places of trials with an outcome, in the order of the outcomes.
    pub(crate) done: Vec<usize>,
}

impl History {
    /// Takes in what a log says, and tells the session; an error names the line.
    pub(crate) fn replay(entries: &[Entry], session: &mut Session) -> Result<Self, String> {
        let mut history = Self::default();
        for (i, entry) in entries.iter().enumerate() {
            // The header is line 1.
            history.take_in(entry, session).map_err(|error| format!("line {}: {error}", i + 2))?;
        }
        Ok(history)
    }

    fn take_in(&mut self, entry: &Entry, session: &mut Session) -> Result<(), String> {
        match entry {
            Entry::Ask { id, config, mean, std_dev } => {
                let levels = session.space().levels(config)?;
                // What is queued is asked next, whatever the model thinks: so it is awaited, as it was.
                session.enqueue(&levels).map_err(|error| error.to_string())?;
                let asked = session.ask().map_err(|error| error.to_string())?;
                if asked.is_none_or(|asked| asked.id != *id || asked.opinion.levels != levels) {
                    return Err(format!("the ask {id} is out of order; a line is missing"));
                }
                let (mean, std_dev) = (*mean, *std_dev);
                self.trials.push(Trial { id: *id, levels, mean, std_dev, outcome: None, seconds: 0.0 });
            }
            Entry::Tell { id, config, value, seconds } => {
                let place = self.open_place(*id, &session.space().levels(config)?)?;
                session.tell(&self.trials[place].levels, *value).map_err(|error| error.to_string())?;
                self.finish(place, Ok(*value), *seconds);
            }
            Entry::Failed { id, config, why, seconds, .. } => {
                let place = self.open_place(*id, &session.space().levels(config)?)?;
                session.tell_failed(&self.trials[place].levels).map_err(|error| error.to_string())?;
                self.finish(place, Err(why.clone()), *seconds);
            }
            Entry::Resume { .. } => {}
        }
        Ok(())
    }

    /// The place of a trial that awaits its outcome.
    fn open_place(&self, id: u64, levels: &[Level]) -> Result<usize, String> {
        let place = self.trials.iter().position(|trial| trial.id == id);
        let place = place.ok_or_else(|| format!("{id} was never asked; a line is missing"))?;
        match &self.trials[place] {
            trial if trial.outcome.is_some() => Err(format!("{id} has an outcome already")),
            trial if trial.levels != levels => Err(format!("{id} was asked with another `config`")),
            _ => Ok(place),
        }
    }

    /// Gives a trial its outcome.
    pub(crate) fn finish(&mut self, place: usize, outcome: Result<f64, String>, seconds: f64) {
        if let Some(trial) = self.trials.get_mut(place) {
            (trial.outcome, trial.seconds) = (Some(outcome), seconds);
            self.done.push(place);
        }
    }

    /// Trials with an outcome, in the order of the outcomes.
    pub(crate) fn outcomes(&self) -> impl Iterator<Item = &Trial> {
        self.done.iter().filter_map(|place| self.trials.get(*place))
    }

    /// Places of trials without an outcome.
    pub(crate) fn open(&self) -> Vec<usize> {
        (0..self.trials.len()).filter(|place| self.trials[*place].outcome.is_none()).collect()
    }

    pub(crate) fn failures(&self) -> usize {
        self.outcomes().filter(|trial| trial.value().is_none()).count()
    }

    /// The first of the best, and when it came, counted from 1.
    pub(crate) fn best(&self, goal: Goal) -> Option<(usize, &Trial)> {
        let mut best: Option<(usize, &Trial, f64)> = None;
        for (i, trial) in self.outcomes().enumerate() {
            if let Some(value) = trial.value()
                && best.as_ref().is_none_or(|(_, _, best)| is_better(goal, value, *best))
            {
                best = Some((i + 1, trial, value));
            }
        }
        best.map(|(number, trial, _)| (number, trial))
    }

    /// The best value after each outcome, from the first value on.
    pub(crate) fn best_so_far(&self, goal: Goal) -> Vec<f64> {
        let mut best = None;
        self.outcomes()
            .filter_map(|trial| {
                let value = trial.value();
                if let Some(value) = value
                    && best.is_none_or(|best| is_better(goal, value, best))
                {
                    best = Some(value);
                }
                best
            })
            .collect()
    }
}

/// Whether one value is better than another.
pub(crate) fn is_better(goal: Goal, value: f64, other: f64) -> bool {
    match goal {
        Goal::Minimise => value < other,
        Goal::Maximise => value > other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_the_first_of_equals_and_failures_count_as_none() {
        let mut history = History::default();
        let outcomes = [Err("no".into()), Ok(3.0), Ok(1.0), Err("no".into()), Ok(1.0), Ok(2.0)];
        for (i, outcome) in outcomes.into_iter().enumerate() {
            let (id, levels) = (i as u64 + 1, vec![i as Level]);
            history.trials.push(Trial { id, levels, mean: None, std_dev: None, outcome: None, seconds: 0.0 });
            history.finish(i, outcome, 0.0);
        }
        assert_eq!(history.best(Goal::Minimise).map(|(number, trial)| (number, trial.id)), Some((3, 3)));
        assert_eq!(history.best(Goal::Maximise).map(|(number, _)| number), Some(2));
        assert_eq!(history.best_so_far(Goal::Minimise), [3.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!((history.failures(), history.open().len()), (2, 0));
    }
}
