//! Local search: take the first step that is better, start again at random when there is none.
//!
//! **Choices.** A step flips one bit of one level. For a relay bank that is one relay, so a single step can be fine or
//! coarse; steps to the next level alone would need dozens to cross a bank. The steps from a state are tried in
//! random order. A step to a state that was measured before costs nothing: its cost is remembered.
//!
//! | setting | value |
//! |---|---|
//! | first state | random |
//! | step | one bit of one level |
//! | accepted | the first that is better |
//! | restart | at random, when no step is better |

use std::collections::HashMap;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Combination, Space};

use super::Method;
use crate::error::Error;

/// Restarts in vain before the space counts as searched.
const MOST_RESTARTS: usize = 100_000;

pub(crate) struct Descent<const K: usize> {
    space: Space<K>,
    random: Xoshiro256PlusPlus,
    measured: HashMap<u64, f32>,
    /// Where the search stands; none before a restart was measured.
    here: Option<Combination<K>>,
    /// Steps from here that are still to be tried, last first.
    steps: Vec<Combination<K>>,
}

impl<const K: usize> Descent<K> {
    pub(crate) fn new(space: Space<K>, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { space, random, measured: HashMap::new(), here: None, steps: Vec::new() }
    }

    fn cost(&self, c: &Combination<K>) -> Option<f32> {
        self.measured.get(&self.space.index(c)).copied()
    }

    /// Moves to a state and lists the steps from it in random order.
    fn stand(&mut self, c: Combination<K>) {
        self.here = Some(c);
        self.steps.clear();
        for knob in 0..c.levels().len() {
            for bit in 0..u8::BITS {
                let mut levels = c.levels().to_vec();
                levels[knob] ^= 1 << bit;
                // A level past the knob's last is no step.
                self.steps.extend(self.space.combination(&levels).ok().filter(|step| self.space.is_feasible(step)));
            }
        }
        self.steps.shuffle(&mut self.random);
    }
}

impl<const K: usize> Method<K> for Descent<K> {
    fn ask(&mut self) -> Result<Combination<K>, Error> {
        while let (Some(here), Some(step)) = (self.here, self.steps.last().copied()) {
            match (self.cost(&step), self.cost(&here)) {
                (None, _) => return Ok(step),
                (Some(new), Some(old)) if new < old => self.stand(step),
                _ => drop(self.steps.pop()),
            }
        }
        self.here = None;
        let draw = || self.space.at(self.random.random_range(0..=self.space.last_index()));
        std::iter::repeat_with(draw)
            .take(MOST_RESTARTS)
            .flatten()
            .find(|c| self.space.is_feasible(c) && !self.measured.contains_key(&self.space.index(c)))
            .ok_or_else(|| Error::Failed("local search finds nothing new; give it a smaller budget".into()))
    }

    fn tell(&mut self, c: &Combination<K>, cost: f32) -> Result<(), Error> {
        self.measured.insert(self.space.index(c), cost);
        // A step that was asked is judged by the next ask, which finds it measured.
        if self.here.is_none() {
            self.stand(*c);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trimtab::Knob;

    #[test]
    fn reaches_the_minimum_of_a_separable_cost_and_then_restarts() {
        // The number of bits that differ from a target falls with every right step, so the way down has no trap.
        let space = Space::<2>::new(&[Knob::ranked(128), Knob::ranked(128)]).unwrap();
        let target = [0b1010101, 0b0110011];
        let cost = |c: &Combination<2>| (c.level(0) ^ target[0]).count_ones() + (c.level(1) ^ target[1]).count_ones();
        let mut descent = Descent::new(space, 3);
        let mut costs = Vec::new();
        // At most 14 steps down, each after at most 14 trials.
        for _ in 0..14 * 14 {
            let c = descent.ask().unwrap();
            descent.tell(&c, cost(&c) as f32).unwrap();
            costs.push(cost(&c));
        }
        let reached = costs.iter().position(|c| *c == 0).unwrap();
        assert!(costs[reached..].iter().any(|c| *c > 1), "no restart after the minimum: {costs:?}");
    }
}
