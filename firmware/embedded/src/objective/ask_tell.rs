//! A tuner as the loop sees it, with or without a log.

use trimtab::settings::Settings;
use trimtab::{AskError, Combination, Error, Event, Observation, Proposal, Tuner};

/// What [`tune`](super::tune) drives: a [`Tuner`], or a
/// [`Persistent`](crate::persistent::Persistent) one.
pub trait AskTell<const K: usize> {
    /// Begins an ask in slices.
    fn ask_begin(&mut self) -> Result<(), AskError>;

    /// Continues it by this many steps. Returns `None` while there are more.
    fn ask_step(&mut self, steps: u16) -> Result<Option<Proposal<K>>, AskError>;

    /// Takes the outcome of a measurement; what follows from it is left to
    /// [`tell_step`](Self::tell_step).
    fn tell_begin(&mut self, c: &Combination<K>, event: Event) -> Result<(), Error>;

    /// Continues by this many steps. Returns whether there are more.
    fn tell_step(&mut self, steps: u16) -> bool;

    /// Whether the run may end; see [`Tuner::is_settled`].
    fn is_settled(&self, tolerance: f32) -> bool;

    /// The best measured combination.
    fn best(&self) -> Option<Observation<K>>;

    /// Takes the outcome of a measurement in one go: the same bits as in slices.
    fn learn(&mut self, c: &Combination<K>, event: Event) -> Result<(), Error> {
        self.tell_begin(c, event)?;
        while self.tell_step(u16::MAX) {}
        Ok(())
    }

    /// Asks in one go: the same bits as in slices.
    fn ask_whole(&mut self) -> Result<Proposal<K>, AskError> {
        self.ask_begin()?;
        loop {
            if let Some(proposal) = self.ask_step(u16::MAX)? {
                return Ok(proposal);
            }
        }
    }
}

impl<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
    const N: usize,
    const G: usize,
    const A: usize,
    S: Settings,
> AskTell<K> for Tuner<K, M, D, T, L, P, N, G, A, S>
{
    fn ask_begin(&mut self) -> Result<(), AskError> {
        self.ask_begin()
    }

    fn ask_step(&mut self, steps: u16) -> Result<Option<Proposal<K>>, AskError> {
        self.ask_step(steps)
    }

    fn tell_begin(&mut self, c: &Combination<K>, event: Event) -> Result<(), Error> {
        match event {
            Event::Told(value) => Ok(self.tell_begin(c, value)?),
            Event::Measured(value, margins) => Ok(self.tell_with_begin(c, value, &margins)?),
            _ => Ok(self.tell_failed_begin(c)?),
        }
    }

    fn tell_step(&mut self, steps: u16) -> bool {
        self.tell_step(steps)
    }

    fn is_settled(&self, tolerance: f32) -> bool {
        self.is_settled(tolerance)
    }

    fn best(&self) -> Option<Observation<K>> {
        self.best_observed()
    }
}
