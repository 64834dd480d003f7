//! A tuner as the loop sees it, with or without a log.

use trimtab::{AskError, Combination, Error, Event, Observation, Proposal, Tuner};

/// What [`tune`](super::tune) drives: a [`Tuner`], or a
/// [`Persistent`](crate::persistent::Persistent) one.
pub trait AskTell<const K: usize> {
    /// Begins an ask in slices.
    fn ask_begin(&mut self) -> Result<(), AskError>;

    /// Continues it by this many candidates. Returns `None` while there are more.
    fn ask_step(&mut self, candidates: u16) -> Result<Option<Proposal<K>>, AskError>;

    /// Takes the outcome of a measurement.
    fn learn(&mut self, c: &Combination<K>, event: Event) -> Result<(), Error>;

    /// The best measured combination.
    fn best(&self) -> Option<Observation<K>>;

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

impl<const K: usize, const M: usize, const D: usize, const T: usize, const L: usize, const P: usize> AskTell<K>
    for Tuner<K, M, D, T, L, P>
{
    fn ask_begin(&mut self) -> Result<(), AskError> {
        self.ask_begin()
    }

    fn ask_step(&mut self, candidates: u16) -> Result<Option<Proposal<K>>, AskError> {
        self.ask_step(candidates)
    }

    fn learn(&mut self, c: &Combination<K>, event: Event) -> Result<(), Error> {
        match event {
            Event::Told(value) => Ok(self.tell(c, value)?),
            _ => Ok(self.tell_failed(c)?),
        }
    }

    fn best(&self) -> Option<Observation<K>> {
        self.best_observed()
    }
}
