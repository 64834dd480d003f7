//! The observations: combinations, costs, and the levels per knob.

use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level};

use crate::bench::domain::Domain;
use crate::bench::method::Method;
use crate::bench::method::random::Random;
use crate::error::Error;

/// Observations in the order in which they arrived.
pub(in crate::bench::method) struct History {
    pub(in crate::bench::method) domain: Domain,
    pub(in crate::bench::method) levels: Vec<Vec<Level>>,
    /// The mean of each combination's measurements.
    pub(in crate::bench::method) costs: Vec<f64>,
    /// Their numbers.
    counts: Vec<f64>,
    told: Random,
}

impl History {
    pub(in crate::bench::method) fn new(knobs: &[Knob], seed: u64) -> Self {
        let domain = Domain::new(knobs);
        Self {
            levels: Vec::new(),
            costs: Vec::new(),
            counts: Vec::new(),
            told: Random::new(domain.clone(), seed),
            domain,
        }
    }

    /// Adds an observation. A repeated combination gets the mean of its costs.
    pub(in crate::bench::method) fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        if self.is_told(levels) {
            if let Some(place) = self.levels.iter().position(|own| own == levels) {
                self.counts[place] += 1.0;
                self.costs[place] += (cost - self.costs[place]) / self.counts[place];
            }
            return Ok(());
        }
        self.levels.push(levels.to_vec());
        self.costs.push(cost);
        self.counts.push(1.0);
        self.told.tell(levels, cost)
    }

    pub(in crate::bench::method) fn is_told(&self, levels: &[Level]) -> bool {
        self.told.is_told(levels)
    }

    /// Returns a uniform draw among the unmeasured combinations, or `None` when there are none.
    pub(in crate::bench::method) fn fresh(&mut self) -> Option<Vec<Level>> {
        self.told.fresh()
    }

    pub(crate) fn draws(&self) -> usize {
        self.told.draws()
    }

    /// A uniform draw from all combinations, measured or not.
    pub(in crate::bench::method) fn any(&self, random: &mut Xoshiro256PlusPlus) -> Vec<Level> {
        self.domain.random(random)
    }

    /// Whether two costs differ, so that there is something to learn.
    pub(in crate::bench::method) fn varies(&self) -> bool {
        self.costs.iter().any(|cost| *cost != self.costs[0])
    }

    /// The best of these observations.
    pub(in crate::bench::method) fn best_of(&self, chosen: &[usize]) -> Option<usize> {
        chosen.iter().copied().min_by(|a, b| self.costs[*a].total_cmp(&self.costs[*b]))
    }

    /// The levels of these observations, one column per knob.
    pub(in crate::bench::method) fn columns(&self, chosen: &[usize]) -> Vec<Vec<Level>> {
        let column = |knob: usize| chosen.iter().map(|place| self.levels[*place][knob]).collect();
        (0..self.domain.knobs().len()).map(column).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_measurements_are_averaged() {
        let mut history = History::new(&[Knob::nominal(2); 2], 1);
        for (levels, cost) in [([0, 1], 1.0), ([1, 1], 7.0), ([0, 1], 2.0), ([0, 1], 6.0)] {
            history.tell(&levels, cost).unwrap();
        }
        assert_eq!((&history.costs[..], history.levels.len()), (&[3.0, 7.0][..], 2));
    }
}
