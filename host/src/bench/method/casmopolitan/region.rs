//! The trust region: how far from the best combination to search.
//!
//! **Choices**, as in MCBO
//! - Any improvement is a success.
//! - Growing and shrinking drop fractions of a knob.
//! - Observations within the first radius of a new centre belong to the new region.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use crate::bench::domain::Domain;

/// Successes in a row before the region grows.
const SUCCESSES: usize = 3;
/// Failures in a row before the region shrinks.
const FAILURES: usize = 40;
/// Factor by which the region grows and shrinks.
const FACTOR: f64 = 1.5;
/// The first radius as a share of the knobs.
const FIRST: f64 = 0.8;
/// The radius at which a region is abandoned.
const LEAST: usize = 1;

/// How many knobs differ.
pub(super) fn distance(a: &[Level], b: &[Level]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}

/// A radius, and the observations that belong to the region.
pub(super) struct Region {
    knobs: usize,
    radius: usize,
    successes: usize,
    failures: usize,
    members: Vec<usize>,
}

impl Region {
    pub(super) fn new(knobs: usize) -> Self {
        Self { knobs, radius: first(knobs), successes: 0, failures: 0, members: Vec::new() }
    }

    pub(super) fn radius(&self) -> usize {
        self.radius
    }

    pub(super) fn members(&self) -> &[usize] {
        &self.members
    }

    pub(super) fn add(&mut self, place: usize) {
        self.members.push(place);
    }

    /// Counts a success or a failure.
    pub(super) fn judge(&mut self, is_better: bool) {
        (self.successes, self.failures) = if is_better { (self.successes + 1, 0) } else { (0, self.failures + 1) };
        if self.successes == SUCCESSES {
            self.successes = 0;
            self.radius = ((self.radius as f64 * FACTOR) as usize).min(self.knobs);
        } else if self.failures == FAILURES {
            self.failures = 0;
            self.radius = (self.radius as f64 / FACTOR) as usize;
        }
    }

    /// Whether the region has shrunk so far that another should begin. One or two knobs have no
    /// region smaller than the whole space.
    pub(super) fn is_exhausted(&self) -> bool {
        self.radius <= LEAST && first(self.knobs) > LEAST
    }

    /// Starts again around a centre.
    pub(super) fn restart(&mut self, centre: &[Level], told: &[Vec<Level>]) {
        *self = Self::new(self.knobs);
        let near = |place: &usize| distance(&told[*place], centre) <= self.radius;
        self.members = (0..told.len()).filter(near).collect();
    }

    /// A random combination within the radius: as many knobs as the radius get a random level.
    pub(super) fn draw(&self, domain: &Domain, centre: &[Level], random: &mut Xoshiro256PlusPlus) -> Vec<Level> {
        let mut levels = centre.to_vec();
        let mut knobs: Vec<usize> = (0..self.knobs).collect();
        let (chosen, _) = knobs.partial_shuffle(random, self.radius);
        for knob in chosen.iter().copied() {
            levels[knob] = random.random_range(0..domain.knobs()[knob].levels()) as Level;
        }
        levels
    }
}

fn first(knobs: usize) -> usize {
    (FIRST * knobs as f64).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use trimtab::Knob;

    #[test]
    fn grows_shrinks_and_ends_by_hand() {
        // ⌈0.8·24⌉ = 20. Three successes: 30, cut to 24. Forty failures: 16, then 10, 6, 4, 2, 1.
        let mut region = Region::new(24);
        assert_eq!(region.radius(), 20);
        (0..2).for_each(|_| region.judge(true));
        region.judge(false);
        (0..2).for_each(|_| region.judge(true));
        assert_eq!(region.radius(), 20);
        region.judge(true);
        assert_eq!(region.radius(), 24);
        for expected in [16, 10, 6, 4, 2, 1] {
            assert!(!region.is_exhausted());
            (0..40).for_each(|_| region.judge(false));
            assert_eq!(region.radius(), expected);
        }
        assert!(region.is_exhausted());
        // The first observation is 21 knobs from the new centre, the second 20.
        let told = [21, 20].map(|ones| [vec![1; ones], vec![0; 24 - ones]].concat());
        region.restart(&[0; 24], &told);
        assert_eq!((region.radius(), region.members()), (20, &[1][..]));
        assert!(!Region::new(1).is_exhausted());
    }

    #[test]
    fn draws_stay_inside() {
        let domain = Domain::new(&[Knob::nominal(3); 10]);
        let region = Region::new(10);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let distances: Vec<usize> =
            (0..200).map(|_| distance(&region.draw(&domain, &[1; 10], &mut random), &[1; 10])).collect();
        assert_eq!(distances.iter().max(), Some(&8));
        assert!(distances.iter().min() < Some(&4));
    }
}
