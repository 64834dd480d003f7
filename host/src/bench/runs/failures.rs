//! What methods hear of failed measurements.
//!
//! **Choices**
//! - A method that knows failures is told them. All others, as their authors' code has it, know
//!   only costs: they are told the largest cost of a success so far, which keeps them away without
//!   a cliff in their models.
//! - Before the first success there is no such cost. Failures are held back until then and told its
//!   cost. A method that asks for a held combination gets a random one instead, which costs it
//!   nothing.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use crate::bench::domain::Domain;
use crate::bench::method::Method;
use crate::error::Error;

/// Separates the random stand-ins from a method's own numbers.
const STREAM: u64 = 0x4641_494c;

/// A method, and the failures that it was not told yet.
pub(super) struct Listener {
    pub(super) method: Box<dyn Method>,
    domain: Domain,
    random: Xoshiro256PlusPlus,
    worst: Option<f64>,
    held: Vec<Vec<Level>>,
}

impl Listener {
    pub(super) fn new(method: Box<dyn Method>, domain: Domain, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed ^ STREAM);
        Self { method, domain, random, worst: None, held: Vec::new() }
    }

    /// Returns the next combination to measure, or `None` when the space is exhausted.
    pub(super) fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        let Some(mut levels) = self.method.ask()? else { return Ok(None) };
        if self.held.len() as u128 >= self.domain.cardinality() {
            return Ok(None);
        }
        while self.held.contains(&levels) {
            levels = self.domain.random(&mut self.random);
        }
        Ok(Some(levels))
    }

    pub(super) fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        self.method.tell(levels, cost)?;
        self.worst = Some(self.worst.map_or(cost, |worst| worst.max(cost)));
        for held in std::mem::take(&mut self.held) {
            self.method.tell(&held, cost)?;
        }
        Ok(())
    }

    pub(super) fn tell_failed(&mut self, levels: &[Level]) -> Result<(), Error> {
        match self.worst {
            _ if self.method.tell_failed(levels)? => Ok(()),
            Some(worst) => self.method.tell(levels, worst),
            None => {
                self.held.push(levels.to_vec());
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};
    use trimtab::Knob;

    type Told = Arc<Mutex<Vec<(Vec<Level>, f64)>>>;

    /// Always asks for the same and writes down what it is told.
    struct Scribe(Told);

    impl Method for Scribe {
        fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
            Ok(Some(vec![0, 0]))
        }

        fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
            self.0.lock().unwrap().push((levels.to_vec(), cost));
            Ok(())
        }
    }

    #[test]
    fn failures_cost_as_much_as_the_worst_success() {
        let told = Told::default();
        let domain = Domain::new(&[Knob::nominal(2); 2]);
        let mut listener = Listener::new(Box::new(Scribe(told.clone())), domain, 1);
        assert_eq!(listener.ask().unwrap(), Some(vec![0, 0]));
        listener.tell_failed(&[0, 0]).unwrap();
        assert!(told.lock().unwrap().is_empty(), "held back");
        let other = listener.ask().unwrap().unwrap();
        assert_ne!(other, [0, 0], "a stand-in");
        listener.tell(&[1, 0], 3.0).unwrap();
        listener.tell(&[0, 1], 5.0).unwrap();
        listener.tell(&[0, 1], 4.0).unwrap();
        listener.tell_failed(&[1, 1]).unwrap();
        let expected = [(vec![1, 0], 3.0), (vec![0, 0], 3.0), (vec![0, 1], 5.0), (vec![0, 1], 4.0), (vec![1, 1], 5.0)];
        assert_eq!(*told.lock().unwrap(), expected);
    }
}
