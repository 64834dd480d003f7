//! Random search: feasible combinations drawn evenly, none twice.

use std::collections::HashSet;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Combination, Space};

use super::Method;
use crate::error::Error;

/// Draws in vain before the space counts as searched.
const MOST_DRAWS: usize = 1_000_000;

pub(crate) struct Random<const K: usize> {
    space: Space<K>,
    random: Xoshiro256PlusPlus,
    measured: HashSet<u64>,
}

impl<const K: usize> Random<K> {
    pub(crate) fn new(space: Space<K>, seed: u64) -> Self {
        Self { space, random: Xoshiro256PlusPlus::seed_from_u64(seed), measured: HashSet::new() }
    }
}

impl<const K: usize> Method<K> for Random<K> {
    fn ask(&mut self) -> Result<Combination<K>, Error> {
        let draw = || self.space.at(self.random.random_range(0..=self.space.last_index()));
        std::iter::repeat_with(draw)
            .take(MOST_DRAWS)
            .flatten()
            .find(|c| self.space.is_feasible(c) && !self.measured.contains(&self.space.index(c)))
            .ok_or_else(|| Error::Failed("random search finds nothing new; give it a smaller budget".into()))
    }

    fn tell(&mut self, c: &Combination<K>, _cost: f32) -> Result<(), Error> {
        self.measured.insert(self.space.index(c));
        Ok(())
    }
}
