//! A problem as a method sees it: its knobs, and how to draw, count and step between combinations.
//!
//! | name | meaning |
//! |---|---|
//! | N | number of combinations |
//! | index | the mixed-radix number of a combination, first knob fastest, as in core |
//! | m | number of bits of an index: the smallest with 2^m ≥ N |
//! | b | the bits of an index, lowest first: the paper's φ₁(c) |
//!
//! **Choices**
//! - Knobs are core's own; their number is not fixed.
//! - A step changes one knob: a nominal one to any other level, a graded one by flipping one bit of
//!   its level. For a relay bank that is one relay, and on a long scale it gives fine and coarse
//!   steps. For two levels both are the flip of one bit.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level};

/// The knobs of a problem.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    knobs: Vec<Knob>,
}

impl Domain {
    pub(crate) fn new(knobs: &[Knob]) -> Self {
        Self { knobs: knobs.to_vec() }
    }

    pub(crate) fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    /// N, saturated.
    pub(crate) fn cardinality(&self) -> u128 {
        self.knobs.iter().fold(1, |n: u128, knob| n.saturating_mul(knob.levels() as u128))
    }

    /// m: number of bits of an index, at least one.
    pub(crate) fn bits(&self) -> usize {
        (u128::BITS - (self.cardinality() - 1).leading_zeros()).max(1) as usize
    }

    pub(crate) fn index(&self, levels: &[Level]) -> u128 {
        let both = self.knobs.iter().zip(levels).rev();
        both.fold(0, |index: u128, (knob, level)| {
            index.wrapping_mul(knob.levels() as u128).wrapping_add(u128::from(*level))
        })
    }

    /// Returns the combination of an index, or `None` past the last.
    pub(crate) fn at(&self, mut index: u128) -> Option<Vec<Level>> {
        let levels = self.knobs.iter().map(|knob| {
            let q = knob.levels() as u128;
            let level = (index % q) as Level;
            index /= q;
            level
        });
        let levels = levels.collect();
        (index == 0).then_some(levels)
    }

    /// A uniform random combination.
    pub(crate) fn random(&self, random: &mut Xoshiro256PlusPlus) -> Vec<Level> {
        self.knobs.iter().map(|knob| random.random_range(0..knob.levels()) as Level).collect()
    }

    /// All combinations one step away.
    pub(crate) fn neighbours(&self, levels: &[Level]) -> Vec<Vec<Level>> {
        let mut found = Vec::new();
        for (place, (knob, level)) in self.knobs.iter().zip(levels).enumerate() {
            let q = knob.levels();
            let own = usize::from(*level);
            let others: Vec<usize> = if knob.is_graded() {
                (0..Level::BITS).map(|bit| own ^ (1 << bit)).filter(|other| *other < q).collect()
            } else {
                (0..q).filter(|other| *other != own).collect()
            };
            found.extend(others.into_iter().map(|other| {
                let mut step = levels.to_vec();
                step[place] = other as Level;
                step
            }));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn index_and_combination_are_inverse_and_as_in_the_core() {
        let knobs = [Knob::nominal(3), Knob::ranked(5), Knob::nominal(2)];
        let domain = Domain::new(&knobs);
        let space = trimtab::Space::<3>::new(&knobs).unwrap();
        assert_eq!((domain.cardinality(), domain.bits()), (30, 5));
        for index in 0..30 {
            let levels = domain.at(index).unwrap();
            assert_eq!(domain.index(&levels), index);
            assert_eq!(space.at(index as u64).unwrap().levels(), levels);
        }
        assert_eq!(domain.at(30), None);
    }

    #[test]
    fn steps_by_hand() {
        let domain = Domain::new(&[Knob::nominal(3), Knob::ranked(5), Knob::nominal(2)]);
        // Nominal 1 of 3 goes to 0 and 2; graded 1 of 5 to 1^1 = 0, 1^2 = 3, but 1^4 = 5 is past
        // the end; a bit flips.
        let steps = domain.neighbours(&[1, 1, 0]);
        assert_eq!(steps, [[0, 1, 0], [2, 1, 0], [1, 0, 0], [1, 3, 0], [1, 1, 1]]);
    }

    #[test]
    fn draws_reach_every_level() {
        let domain = Domain::new(&[Knob::nominal(3), Knob::nominal(2)]);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let seen: std::collections::HashSet<_> = (0..200).map(|_| domain.random(&mut random)).collect();
        assert_eq!(seen.len(), 6);
    }
}
