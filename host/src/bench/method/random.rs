//! Random search: uniform draws without repeats (Bergstra and Bengio 2012).

use std::collections::HashSet;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::{Entry, Method};
use crate::bench::domain::Domain;
use crate::error::Error;

pub(crate) const RANDOM: Entry = Entry {
    name: "random",
    about: "uniform draws without repeats",
    source: "Bergstra and Bengio, JMLR 2012",
    fallback: "nothing: it draws always",
    start: |task| Ok(Box::new(Random::new(Domain::new(task.knobs), task.seed))),
};

/// Failed draws before the remaining combinations are tried in order.
const MOST_DRAWS: usize = 10_000;

/// Draws combinations that have no cost yet. Other methods use it as their fallback.
pub(crate) struct Random {
    domain: Domain,
    random: Xoshiro256PlusPlus,
    told: HashSet<Vec<Level>>,
    draws: usize,
}

impl Random {
    pub(crate) fn new(domain: Domain, seed: u64) -> Self {
        Self { domain, random: Xoshiro256PlusPlus::seed_from_u64(seed), told: HashSet::new(), draws: 0 }
    }

    /// Returns a combination that has no cost yet, or `None` when the space is exhausted.
    pub(crate) fn fresh(&mut self) -> Option<Vec<Level>> {
        self.draws += 1;
        if self.told.len() as u128 >= self.domain.cardinality() {
            return None;
        }
        for _ in 0..MOST_DRAWS {
            let levels = self.domain.random(&mut self.random);
            if !self.told.contains(&levels) {
                return Some(levels);
            }
        }
        // Nearly all combinations are measured, so the space is small.
        (0..).map_while(|index| self.domain.at(index)).find(|levels| !self.told.contains(levels))
    }

    /// Number of draws.
    pub(crate) fn draws(&self) -> usize {
        self.draws
    }

    pub(crate) fn is_told(&self, levels: &[Level]) -> bool {
        self.told.contains(levels)
    }
}

impl Method for Random {
    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        Ok(self.fresh())
    }

    fn tell(&mut self, levels: &[Level], _cost: f64) -> Result<(), Error> {
        self.told.insert(levels.to_vec());
        Ok(())
    }
}
