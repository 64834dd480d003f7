//! A tuning session with named knobs: what `tune` and `serve` have in common.
//!
//! | module | contents |
//! |---|---|
//! | [`study`] | the task of a session: space, goal, seed, budget, noise, limits |
//! | [`limits`] | what the best has to keep |
//! | [`noise`] | what the user knows about the noise |
//! | [`prior`] | what earlier boards taught |
//! | [`record`] | one event of a session, as JSON |
//! | [`csv`] | tables of spreadsheets |
//!
//! **Choices**
//! - Study and records in their order rebuild a session bit for bit. Replaying asks nothing, so it
//!   costs only the tells.
//! - An ask is numbered from 1. Its record must carry the next number, so a missing line is
//!   noticed.
//! - Values are f64 here and f32 in the core, which refuses one that does not fit.
//! - The budget counts measurements: every outcome of an ask, and every combination told unasked.
//! - A refused call changes nothing.

pub(crate) mod csv;
pub(crate) mod limits;
pub(crate) mod noise;
pub(crate) mod prior;
pub(crate) mod record;
pub(crate) mod study;

use std::collections::{BTreeMap, HashSet};

use trimtab::{Config, Event, Goal, Level, Noise};
use trimtab_sizes::{AnyTuner, Feasible, Prediction, Setup};

use crate::error::Error;
use crate::space::{NamedKnob, NamedSpace};
use limits::Numbers;
use record::{Expected, Happened, Place, Record};

pub(crate) use study::Study;

/// A tuner with the names of its knobs, the ids of its asks and its budget.
pub(crate) struct Session {
    study: Study,
    tuner: Box<dyn AnyTuner>,
    asked: u64,
    pending: Vec<(u64, Vec<Level>)>,
    measured: HashSet<Vec<Level>>,
    /// With limits, the mean readings of each combination, and of how many measurements.
    readings: BTreeMap<Vec<Level>, (u32, Numbers)>,
    /// Measurements that the budget counts.
    spent: usize,
}

/// The answer to an ask.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Next {
    Measure(Ask),
    /// Every combination is measured or pending.
    NothingLeft,
    /// As many measurements as the budget are done or pending.
    BudgetSpent,
    /// Going on is not worth it.
    Settled,
}

/// A combination to measure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ask {
    /// Counted from 1.
    pub(crate) id: u64,
    pub(crate) prediction: Prediction,
}

impl Ask {
    pub(crate) fn record(&self) -> Record {
        let std_dev = Some(self.prediction.std_dev).filter(|std_dev| std_dev.is_finite());
        let expected = Expected { mean: std_dev.map(|_| self.prediction.mean), std_dev };
        let place = Place { id: Some(self.id), config: None, levels: Some(self.prediction.levels.clone()) };
        Record { place, happened: Happened::Ask { expected: Some(expected) } }
    }
}

impl Session {
    pub(crate) fn new(study: Study) -> Result<Self, Error> {
        let knobs = study.space.core_knobs();
        let config = Config { goal: study.goal, noise: study.noise, ..Config::default() };
        let space = study.space.clone();
        let feasible: Option<Feasible> = match space.forbidden().is_empty() {
            true => None,
            false => Some(Box::new(move |levels| space.is_allowed(levels))),
        };
        let prior = study.prior.as_ref().map(|prior| prior.prior());
        let conditions = study.space.core_conditions();
        let setup =
            Setup { knobs: &knobs, conditions, config, seed: study.seed, observations: study.budget, feasible, prior };
        let tuner = trimtab_sizes::start(setup)?;
        let (pending, measured, readings) = (Vec::new(), HashSet::new(), BTreeMap::new());
        Ok(Self { tuner, study, asked: 0, pending, measured, readings, spent: 0 })
    }

    pub(crate) fn study(&self) -> &Study {
        &self.study
    }

    pub(crate) fn space(&self) -> &NamedSpace {
        &self.study.space
    }

    /// The tuner's predictions and best combinations.
    pub(crate) fn tuner(&self) -> &dyn AnyTuner {
        self.tuner.as_ref()
    }

    /// Proposes the next combination to measure.
    pub(crate) fn ask(&mut self) -> Result<Next, Error> {
        if self.is_spent() {
            return Ok(Next::BudgetSpent);
        }
        let Some(prediction) = self.tuner.ask()? else { return Ok(Next::NothingLeft) };
        self.asked += 1;
        self.pending.push((self.asked, prediction.levels.clone()));
        Ok(Next::Measure(Ask { id: self.asked, prediction }))
    }

    /// Proposes the next combination, unless the run is settled at this tolerance: then nothing
    /// becomes pending.
    pub(crate) fn ask_until_settled(&mut self, tolerance: f32) -> Result<Next, Error> {
        let next = self.ask()?;
        let Next::Measure(ask) = &next else { return Ok(next) };
        if !self.tuner.is_settled(tolerance) {
            return Ok(next);
        }
        self.take_back(&ask.clone())?;
        Ok(Next::Settled)
    }

    /// Takes the last ask back, as if it had not been.
    pub(crate) fn take_back(&mut self, ask: &Ask) -> Result<(), Error> {
        self.tuner.replay(&ask.prediction.levels, Event::Cancelled)?;
        self.pending.pop();
        self.asked -= 1;
        Ok(())
    }

    /// Asks for a combination of the caller's choice, as if the tuner had proposed it.
    pub(crate) fn ask_for(&mut self, levels: &[Level]) -> Result<Ask, String> {
        let ask = self.foretold(levels);
        self.apply(ask.record())?;
        Ok(ask)
    }

    /// The next ask, if it were for this combination.
    pub(crate) fn foretold(&self, levels: &[Level]) -> Ask {
        let none = Prediction { levels: levels.to_vec(), mean: 0.0, std_dev: f32::INFINITY };
        Ask { id: self.asked + 1, prediction: self.tuner.predict(levels).unwrap_or(none) }
    }

    /// Whether a combination is asked and has no outcome yet.
    pub(crate) fn is_pending(&self, levels: &[Level]) -> bool {
        self.pending.iter().any(|(_, own)| own == levels)
    }

    /// Does what a record says, be it new or replayed; returns it with the id and the levels of its
    /// combination.
    pub(crate) fn apply(&mut self, record: Record) -> Result<Record, String> {
        let mut singles = record.clone().single(self)?.into_iter();
        let first = singles.next().map(|first| self.apply_one(first)).transpose()?;
        for single in singles {
            self.apply_one(single)?;
        }
        let place = first.map_or_else(Place::default, |first| first.place);
        Ok(Record { place, ..record })
    }

    /// The same for a record that does not tell several values.
    fn apply_one(&mut self, record: Record) -> Result<Record, String> {
        if let Happened::Resume { .. } = record.happened {
            return Ok(record);
        }
        let mut place = record.place.clone();
        // An ask's own id is not pending yet.
        let ask = place.id.take_if(|_| matches!(record.happened, Happened::Ask { .. }));
        let levels = self.levels(&place)?;
        let pending = self.pending.iter().position(|(_, own)| *own == levels);
        let event = match &record.happened {
            Happened::Ask { .. } => {
                self.check_ask(ask, &levels)?;
                Event::Asked
            }
            Happened::Tell { value, numbers, .. } => {
                self.check_budget(&levels)?;
                let margins = self.study.limits.margins(numbers)?;
                match margins.is_empty() {
                    true => Event::Told(*value as f32),
                    false => Event::Measured(*value as f32, margins),
                }
            }
            Happened::Failed { .. } => {
                self.check_budget(&levels)?;
                Event::Failed
            }
            Happened::Cancel {} if pending.is_none() => {
                return Err("it is not pending, so there is nothing to cancel".into());
            }
            Happened::Cancel {} => Event::Cancelled,
            Happened::Enqueue {} | Happened::Resume { .. } => Event::Enqueued,
        };
        self.tuner.replay(&levels, event).map_err(|error| format!("the tuner says: {error}"))?;
        if let Happened::Tell { numbers, .. } = &record.happened {
            self.keep_readings(&levels, numbers);
        }
        let id = match event {
            Event::Asked => {
                self.asked += 1;
                self.pending.push((self.asked, levels.clone()));
                Some(self.asked)
            }
            Event::Enqueued => None,
            Event::Told(_) | Event::Measured(..) | Event::Failed | Event::Cancelled => {
                if event != Event::Cancelled {
                    let is_new = self.measured.insert(levels.clone());
                    self.spent += usize::from(is_new || pending.is_some());
                }
                pending.map(|place| self.pending.remove(place).0)
            }
        };
        Ok(Record { place: Place { id, config: None, levels: Some(levels) }, ..record })
    }

    fn keep_readings(&mut self, levels: &[Level], numbers: &Numbers) {
        if numbers.is_empty() {
            return;
        }
        let (count, means) = self.readings.entry(levels.to_vec()).or_default();
        *count += 1;
        for (name, number) in numbers {
            let mean = means.entry(name.clone()).or_insert(*number);
            *mean += number / f64::from(*count) - *mean / f64::from(*count);
        }
    }

    /// The mean readings of a combination; `None` without limits or measurements.
    pub(crate) fn readings(&self, levels: &[Level]) -> Option<&Numbers> {
        self.readings.get(levels).map(|(_, means)| means)
    }

    /// The measured combination that breaks the limits least; `None` without limits or measurements.
    pub(crate) fn nearest(&self) -> Option<Vec<Level>> {
        let sign = if self.study.goal == Goal::Minimise { 1.0 } else { -1.0 };
        let all: Vec<_> = self
            .readings
            .iter()
            .filter_map(|(levels, (_, means))| {
                let margins = self.study.limits.margins(means).ok()?;
                let cost = self.tuner.measured(levels).map_or(f64::INFINITY, |own| sign * f64::from(own.value));
                Some((levels, margins, cost))
            })
            .collect();
        let place = limits::nearest(all.iter().map(|(_, margins, cost)| (&margins[..], *cost)))?;
        all.get(place).map(|(levels, _, _)| (*levels).clone())
    }

    /// The combination that `id`, `config` or `levels` names; if several do, they must agree.
    pub(crate) fn levels(&self, place: &Place) -> Result<Vec<Level>, String> {
        let named = place.config.as_ref().map(|config| self.space().levels(config));
        let counted = place.levels.as_ref().map(|levels| self.checked(levels));
        let pending = place.id.map(|id| self.pending(id));
        let mut found: Option<Vec<Level>> = None;
        for levels in [named, counted, pending].into_iter().flatten() {
            let levels = levels?;
            if found.as_ref().is_some_and(|found| *found != levels) {
                return Err("`id`, `config` and `levels` must name the same combination".into());
            }
            found = Some(levels);
        }
        found.ok_or_else(|| "the combination is missing; write a `config` with a level for every knob".into())
    }

    fn checked(&self, levels: &[Level]) -> Result<Vec<Level>, String> {
        let knobs = self.space().knobs();
        let fits = |(level, knob): (&Level, &NamedKnob)| usize::from(*level) < knob.count();
        match levels.len() == knobs.len() && levels.iter().zip(knobs).all(fits) {
            true => Ok(levels.to_vec()),
            false => Err(format!(
                "`levels` must be a list of {} whole numbers, each counted from 0 and below its knob's levels",
                knobs.len()
            )),
        }
    }

    fn pending(&self, id: u64) -> Result<Vec<Level>, String> {
        match self.pending.iter().find(|(own, _)| *own == id) {
            Some((_, levels)) => Ok(levels.clone()),
            None if (1..=self.asked).contains(&id) => {
                Err(format!("no ask with the id {id} is pending: it has an outcome or was cancelled"))
            }
            None => Err(format!("no ask with the id {id} is pending: there was none")),
        }
    }

    fn is_spent(&self) -> bool {
        self.spent + self.pending.len() >= self.study.budget
    }

    /// Whether a replayed ask can have happened. Whether this model would have asked the same is
    /// not checked.
    fn check_ask(&self, id: Option<u64>, levels: &[Level]) -> Result<(), String> {
        let next = self.asked + 1;
        match id {
            Some(id) if id != next => Err(format!("ask {id} comes where ask {next} should; a record is missing")),
            _ if self.measured.contains(levels) && self.study.noise == Noise::None => {
                Err("this combination is measured already, so it cannot have been asked; a record is wrong".into())
            }
            _ if self.tuner.measured(levels).is_some_and(|measured| measured.repeats == 0) => {
                Err("this combination has failed, so it cannot have been asked again; a record is wrong".into())
            }
            _ if self.is_spent() => {
                Err(format!("the budget of {} measurements is too small for this ask", self.study.budget))
            }
            _ => Ok(()),
        }
    }

    /// Whether the budget has room for the outcome of a combination.
    fn check_budget(&self, levels: &[Level]) -> Result<(), String> {
        match self.spent < self.study.budget || self.measured.contains(levels) {
            true => Ok(()),
            false if self.study.budget >= study::BUDGET => Err(format!(
                "the budget of {} measurements is spent, and no session has a larger one",
                self.study.budget
            )),
            false => Err(format!(
                "the budget of {} measurements is spent; begin a session with a larger one from these records",
                self.study.budget
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_largest_budget_no_larger_one_is_suggested() {
        for (budget, says) in [(3, "with a larger one"), (study::BUDGET, "no session has a larger one")] {
            let space = NamedSpace::new(vec!["a=1,2".parse().unwrap(), "b=1..9".parse().unwrap()]).unwrap();
            let mut session = Session::new(Study {
                space,
                goal: trimtab::Goal::Minimise,
                seed: 1,
                budget,
                noise: Noise::Auto,
                limits: limits::Limits::default(),
                prior: None,
            })
            .unwrap();
            session.spent = budget;
            let error = session.check_budget(&[0, 0]).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
