//! A tuning session with named knobs: what `tune` and `serve` have in common.
//!
//! **Choices.** The same space, goal, seed, budget and outcomes give the same asks, through whichever door they come. Values are f64 at the door
//! and f32 in the core; one that does not fit is refused and changes nothing.

pub(crate) mod engine;

use trimtab::{Config, Goal, Level};

use crate::error::Error;
use crate::session::engine::{Engine, Measured, Opinion, Setup};
use crate::space::NamedSpace;

/// What a session is about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Task {
    pub(crate) space: NamedSpace,
    pub(crate) goal: Goal,
    pub(crate) seed: u64,
    /// The most combinations that can be measured.
    pub(crate) budget: usize,
}

/// A tuner and the names of what it tunes.
pub(crate) struct Session {
    task: Task,
    engine: Box<dyn Engine>,
    asked: u64,
}

/// What to measure next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    /// Counted from 1.
    pub(crate) id: u64,
    pub(crate) opinion: Opinion,
}

impl Session {
    pub(crate) fn new(task: Task) -> Result<Self, Error> {
        let knobs = task.space.core_knobs();
        let config = Config { goal: task.goal, ..Config::default() };
        let space = task.space.clone();
        let feasible: Option<engine::Feasible> = match space.forbidden().is_empty() {
            true => None,
            false => Some(Box::new(move |levels| space.is_allowed(levels))),
        };
        let setup = Setup { knobs: &knobs, config, seed: task.seed, observations: task.budget, feasible };
        Ok(Self { engine: engine::start(setup)?, task, asked: 0 })
    }

    pub(crate) fn task(&self) -> &Task {
        &self.task
    }

    pub(crate) fn space(&self) -> &NamedSpace {
        &self.task.space
    }

    /// What to measure next; none if everything is measured.
    pub(crate) fn ask(&mut self) -> Result<Option<Asked>, Error> {
        let Some(opinion) = self.engine.ask()? else { return Ok(None) };
        self.asked += 1;
        Ok(Some(Asked { id: self.asked, opinion }))
    }

    /// What it measured, asked for or not.
    pub(crate) fn tell(&mut self, levels: &[Level], value: f64) -> Result<(), Error> {
        self.engine.tell(levels, value as f32)
    }

    /// That it could not be measured.
    pub(crate) fn tell_failed(&mut self, levels: &[Level]) -> Result<(), Error> {
        self.engine.tell_failed(levels)
    }

    /// Asks for this before anything else.
    pub(crate) fn enqueue(&mut self, levels: &[Level]) -> Result<(), Error> {
        self.engine.enqueue(levels)
    }

    /// Forgets an ask that will not be told; whether there was one.
    pub(crate) fn cancel(&mut self, levels: &[Level]) -> bool {
        self.engine.cancel(levels)
    }

    /// What the model thinks of a combination.
    pub(crate) fn predict(&self, levels: &[Level]) -> Option<Opinion> {
        self.engine.predict(levels)
    }

    pub(crate) fn best_observed(&self) -> Option<Measured> {
        self.engine.best_observed()
    }

    pub(crate) fn best_posterior(&self) -> Option<Opinion> {
        self.engine.best_posterior()
    }

    /// How many combinations have an outcome, failures included.
    pub(crate) fn observations(&self) -> usize {
        self.engine.len()
    }
}
