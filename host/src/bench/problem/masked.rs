//! A masked problem: the same costs under permuted levels.
//!
//! f̃(c) = f(π(c)), π a random permutation of the levels of every nominal knob: for bits, an XOR
//! mask.
//!
//! **Choices**
//! - Some optima lie at all ones or all zeros, and a method that drifts there looks brilliant. A
//!   mask, one per seed, exposes it and does not affect a method that treats all levels alike.
//! - Graded knobs stay unchanged, because their order has a meaning.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level};

use super::Problem;

/// Separates the mask's random numbers from those of the instance and the initial points.
const STREAM: u64 = 0x004d_4153_4b00;

/// A permutation of the levels of every knob.
pub(crate) struct Mask {
    /// Per knob: the problem's level for each level shown to the method.
    shown: Vec<Vec<Level>>,
}

impl Mask {
    /// The identity.
    pub(crate) fn none(knobs: &[Knob]) -> Self {
        Self { shown: knobs.iter().map(|knob| (0..knob.levels()).map(|level| level as Level).collect()).collect() }
    }

    /// A random mask for the problem's nominal knobs.
    pub(crate) fn random(problem: &dyn Problem, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ STREAM);
        let mut mask = Self::none(problem.knobs());
        for (knob, levels) in problem.knobs().iter().zip(&mut mask.shown) {
            if !knob.is_graded() {
                levels.shuffle(&mut random);
            }
        }
        mask
    }

    /// Maps a combination that a method asked for to the problem's levels.
    pub(crate) fn lift(&self, levels: &[Level]) -> Vec<Level> {
        self.shown.iter().zip(levels).map(|(shown, level)| shown[usize::from(*level)]).collect()
    }

    /// Maps a combination of the problem to the levels shown to a method.
    pub(crate) fn put_on(&self, levels: &[Level]) -> Vec<Level> {
        let place = |(shown, level): (&Vec<Level>, &Level)| shown.iter().position(|own| own == level).unwrap_or(0);
        self.shown.iter().zip(levels).map(|both| place(both) as Level).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::Spec;

    #[test]
    fn lifting_undoes_putting_on_and_masks_differ() {
        let problem = "thumbs-up:m=24".parse::<Spec>().unwrap().build(0, &Default::default()).unwrap();
        let ones = vec![1; 24];
        let [first, second] = [0, 1].map(|seed| Mask::random(&*problem, seed).put_on(&ones));
        assert_ne!(first, second);
        assert!(first.contains(&0) && first.contains(&1));
        assert_eq!(Mask::random(&*problem, 0).lift(&first), ones);
        assert_eq!(Mask::none(problem.knobs()).lift(&first), first);
    }
}
