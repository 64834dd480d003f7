//! The trials of a run in memory: rebuilt from a log, then extended as the run goes on.
//!
//! **Choices**
//! - Trials stand in the order of the asks; `done` holds their places in the order of the outcomes,
//!   as best-so-far needs.
//! - A log is replayed without asking the model, so a log of another version continues too.
//! - With limits only trials that keep them can be the best, each by its own readings.
//! - Values stay as they were printed, in double precision; the tuner has them in single precision.

use trimtab::{Goal, Level};

use crate::session::limits::{self, Limits, Numbers};
use crate::session::record::{Details, Happened, Record};
use crate::session::{Ask, Session};
use crate::terminal::plain;

/// Longest line of a failure that is shown.
const MOST_LETTERS: usize = 100;

/// One ask and its outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Trial {
    pub(crate) id: u64,
    pub(crate) levels: Vec<Level>,
    /// The model's prediction; `None` before the first observation.
    pub(crate) mean: Option<f32>,
    pub(crate) std_dev: Option<f32>,
    pub(crate) outcome: Option<Result<f64, String>>,
    /// The readings that limits are on, and the margins to those limits.
    pub(crate) numbers: Numbers,
    pub(crate) margins: Vec<f32>,
    /// The last line of standard error, if it failed.
    pub(crate) complaint: Option<String>,
    pub(crate) seconds: f64,
}

impl Trial {
    pub(crate) fn new(ask: &Ask) -> Self {
        let Ask { id, prediction } = ask;
        let std_dev = Some(prediction.std_dev).filter(|std_dev| std_dev.is_finite());
        let mean = std_dev.map(|_| prediction.mean);
        Self { id: *id, levels: prediction.levels.clone(), mean, std_dev, ..Self::default() }
    }

    /// Why it failed, with the last line of standard error.
    pub(crate) fn failure(&self) -> Option<String> {
        let why = self.outcome.as_ref()?.as_ref().err()?;
        Some(self.complaint.as_ref().map_or_else(|| why.clone(), |complaint| format!("{why}: {complaint}")))
    }

    /// Whether it keeps all limits.
    pub(crate) fn is_kept(&self) -> bool {
        self.margins.iter().all(|margin| *margin >= 0.0)
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
    /// Replays a log in a new session; an error names the line.
    pub(crate) fn replay(records: &[Record], session: &mut Session) -> Result<Self, String> {
        let mut history = Self::default();
        for (i, record) in records.iter().enumerate() {
            // The header is line 1.
            history.replay_one(record, session).map_err(|error| format!("line {}: {error}", i + 2))?;
        }
        Ok(history)
    }

    fn replay_one(&mut self, record: &Record, session: &mut Session) -> Result<(), String> {
        let Record { place, happened } = session.apply(record.clone())?;
        match happened {
            Happened::Ask { expected } => {
                let (id, levels) = (place.id.unwrap_or_default(), place.levels.unwrap_or_default());
                let (mean, std_dev) = expected.map_or((None, None), |expected| (expected.mean, expected.std_dev));
                self.trials.push(Trial { id, levels, mean, std_dev, ..Trial::default() });
            }
            Happened::Tell { value, numbers, seconds, .. } => {
                self.finish(self.place(place.id)?, Ok(value), seconds.unwrap_or(0.0));
                self.limit(numbers, &session.study().limits);
            }
            Happened::Failed { details } => {
                let found = self.place(place.id)?;
                match details {
                    Some(details) => self.fail(found, &details),
                    None => self.finish(found, Err(String::new()), 0.0),
                }
            }
            Happened::Enqueue {} | Happened::Cancel {} => return Err("a log of trimtab tune has no such event".into()),
            Happened::Resume { .. } => {}
        }
        Ok(())
    }

    /// The place of the trial with an id.
    fn place(&self, id: Option<u64>) -> Result<usize, String> {
        let place = self.trials.iter().position(|trial| Some(trial.id) == id);
        place.ok_or_else(|| "this combination was never asked; a line is missing".into())
    }

    /// Gives a trial its outcome.
    pub(crate) fn finish(&mut self, place: usize, outcome: Result<f64, String>, seconds: f64) {
        if let Some(trial) = self.trials.get_mut(place) {
            (trial.outcome, trial.seconds) = (Some(outcome), seconds);
            self.done.push(place);
        }
    }

    /// Gives the last outcome its readings.
    pub(crate) fn limit(&mut self, numbers: Numbers, limits: &Limits) {
        if let Some(trial) = self.done.last().and_then(|place| self.trials.get_mut(*place)) {
            trial.margins = limits.margins(&numbers).map(|margins| margins.to_vec()).unwrap_or_default();
            trial.numbers = numbers;
        }
    }

    /// Makes a trial a failure.
    pub(crate) fn fail(&mut self, place: usize, details: &Details) {
        self.finish(place, Err(details.why.clone()), details.seconds);
        if let Some(trial) = self.trials.get_mut(place) {
            trial.complaint = last_line(&details.stderr);
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

    /// Whether an earlier trial had the same levels.
    pub(crate) fn is_again(&self, place: usize) -> bool {
        let (before, rest) = self.trials.split_at(place.min(self.trials.len()));
        rest.first().is_some_and(|trial| before.iter().any(|own| own.levels == trial.levels))
    }

    /// Number of measurements of combinations that had been asked before.
    pub(crate) fn repeats(&self) -> usize {
        self.done.iter().filter(|place| self.is_again(**place)).count()
    }

    pub(crate) fn failures(&self) -> usize {
        self.outcomes().filter(|trial| trial.value().is_none()).count()
    }

    /// Number of measurements that break a limit.
    pub(crate) fn breaking(&self) -> usize {
        self.outcomes().filter(|trial| !trial.is_kept()).count()
    }

    /// The trial that breaks the limits least, and the number of its outcome, counted from 1.
    pub(crate) fn nearest(&self, goal: Goal) -> Option<(usize, &Trial)> {
        let sign = if goal == Goal::Minimise { 1.0 } else { -1.0 };
        let measured: Vec<_> = self.outcomes().enumerate().filter(|(_, trial)| trial.value().is_some()).collect();
        let cost = |trial: &Trial| sign * trial.value().unwrap_or(f64::INFINITY);
        let place = limits::nearest(measured.iter().map(|(_, trial)| (&trial.margins[..], cost(trial))))?;
        measured.get(place).map(|(i, trial)| (i + 1, *trial))
    }

    /// The value that two combinations or more have, if no other value was measured.
    pub(crate) fn only_value(&self) -> Option<f64> {
        let mut values = self.outcomes().filter_map(|trial| Some((trial.value()?, &trial.levels)));
        let (first, levels) = values.next()?;
        let mut is_other = false;
        let is_only = values.all(|(value, own)| {
            is_other |= own != levels;
            value == first
        });
        (is_only && is_other).then_some(first)
    }

    /// The first trial with the best value that keeps all limits, and the number of its outcome, counted from 1.
    pub(crate) fn best(&self, goal: Goal) -> Option<(usize, &Trial)> {
        let mut best: Option<(usize, &Trial, f64)> = None;
        for (i, trial) in self.outcomes().enumerate() {
            if let Some(value) = trial.value().filter(|_| trial.is_kept())
                && best.as_ref().is_none_or(|(_, _, best)| is_better(goal, value, *best))
            {
                best = Some((i + 1, trial, value));
            }
        }
        best.map(|(number, trial, _)| (number, trial))
    }

    /// The best value after each outcome, from the first value on that keeps all limits.
    pub(crate) fn best_so_far(&self, goal: Goal) -> Vec<f64> {
        let mut best = None;
        self.outcomes()
            .filter_map(|trial| {
                let value = trial.value().filter(|_| trial.is_kept());
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

/// The last line with text, without control characters.
pub(crate) fn last_line(text: &str) -> Option<String> {
    let last = text.lines().rev().map(|line| plain(line.trim()).into_owned()).find(|line| !line.is_empty())?;
    Some(last.chars().take(MOST_LETTERS).collect())
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
            history.trials.push(Trial { id, levels, ..Trial::default() });
            history.finish(i, outcome, 0.0);
        }
        assert_eq!(history.best(Goal::Minimise).map(|(number, trial)| (number, trial.id)), Some((3, 3)));
        assert_eq!(history.best(Goal::Maximise).map(|(number, _)| number), Some(2));
        assert_eq!(history.best_so_far(Goal::Minimise), [3.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!((history.failures(), history.open().len()), (2, 0));
    }

    #[test]
    fn only_what_keeps_the_limits_is_best() {
        let space = crate::space::NamedSpace::new(vec!["x=1,2".parse().unwrap()]).unwrap();
        let limits = Limits::new(vec!["watts<3".parse().unwrap()], &space).unwrap();
        let mut history = History::default();
        for (i, (value, watts)) in [(1.0, 9.0), (2.0, 3.5), (5.0, 2.0), (4.0, 2.9), (3.0, 3.0)].into_iter().enumerate()
        {
            history.trials.push(Trial { id: i as u64 + 1, levels: vec![i as Level], ..Trial::default() });
            history.finish(i, Ok(value), 0.0);
            history.limit([("watts".to_string(), watts)].into(), &limits);
            let nearest = history.nearest(Goal::Minimise).map(|(number, _)| number);
            assert_eq!(nearest, Some([1, 2, 3, 4, 4][i]));
        }
        assert_eq!(history.best(Goal::Minimise).map(|(number, _)| number), Some(4));
        assert_eq!(history.best_so_far(Goal::Minimise), [5.0, 4.0, 4.0]);
        assert_eq!(history.breaking(), 3);
    }
}
