//! Lower bounds for the nearest combination without a map: the distance is a sum over digits, and bounds are exact.
//!
//! ‖x − z(c)‖² = Σₖ ‖xₖ − zₖ(cₖ)‖²
//!
//! | name | meaning |
//! |---|---|
//! | xₖ, zₖ | the features of digit k: of a bit of the index, or of a knob |
//! | least | the smallest ‖xₖ − zₖ‖² of a digit |
//!
//! **Choices.** The sum runs from the most significant digit to the least, which is also the order of the search. Rounding never turns an order around, so a
//! node's bound, its sum with the rest at their least, *is* the smallest computed sum below it: there is no slack. A point in the middle,
//! from which all 2^m combinations are equally far, takes m nodes: the first leaf has the smallest index, and no tie with a larger index is followed.
//!
//! **Cost.** 24 × M bytes; m operations a bound.

use crate::encoding::{Digit, Encoder};
use crate::knob::Level;
use crate::math::squared_distance;
use crate::space::{Combination, Space};
use crate::walk::Bound;

/// The bounds for one point.
pub(crate) struct Separable<'a, const K: usize, const M: usize> {
    space: &'a Space<K>,
    encoder: &'a Encoder<K>,
    x: &'a [f32],
    /// The most significant first.
    digits: [Digit; M],
    count: usize,
    least: [f32; M],
    /// The sum of what is chosen above a depth.
    above: [f32; M],
}

impl<'a, const K: usize, const M: usize> Separable<'a, K, M> {
    /// The digits of a point; `x` has as many numbers as there are features, and M is at least that.
    pub(crate) fn new(space: &'a Space<K>, encoder: &'a Encoder<K>, x: &'a [f32]) -> Self {
        let [mut upward, mut digits] = [[Digit::default(); M]; 2];
        let count = encoder.digits(space, &mut upward);
        digits.iter_mut().zip(upward.iter().take(count).rev()).for_each(|(own, digit)| *own = *digit);
        Self { space, encoder, x, digits, count, least: [0.0; M], above: [0.0; M] }
    }

    /// The same, ready to bound.
    pub(crate) fn with_bounds(mut self) -> Self {
        for depth in 0..self.count {
            let levels = self.digits.get(depth).map_or(0, |digit| digit.levels);
            let least = (0..levels).fold(f32::INFINITY, |least, level| least.min(self.own(depth, level as Level)));
            self.least.iter_mut().skip(depth).take(1).for_each(|own| *own = least);
        }
        self
    }

    /// The squared distance to a combination.
    pub(crate) fn distance(&self, c: &Combination<K>) -> f32 {
        self.digits()
            .iter()
            .enumerate()
            .fold(0.0, |sum, (depth, digit)| sum + self.own(depth, self.encoder.digit_level(self.space, c, digit)))
    }

    /// ‖xₖ − zₖ‖² of one digit.
    fn own(&self, depth: usize, level: Level) -> f32 {
        let Some(digit) = self.digits.get(depth) else { return 0.0 };
        let mut z = [0.0; M];
        let z = z.get_mut(..usize::from(digit.features)).unwrap_or_default();
        self.encoder.write_digit(self.space, digit, level, z);
        squared_distance(z, self.x.get(digit.range()).unwrap_or_default())
    }

    /// The sum up to and with this depth.
    fn sum(&self, depth: usize, level: Level) -> f32 {
        self.above.get(depth).map_or(0.0, |above| above + self.own(depth, level))
    }
}

impl<const K: usize, const M: usize> Bound for Separable<'_, K, M> {
    fn digits(&self) -> &[Digit] {
        self.digits.get(..self.count).unwrap_or_default()
    }

    fn bound(&mut self, depth: usize, level: Level) -> f32 {
        let below = self.least.iter().take(self.count).skip(depth + 1);
        below.fold(self.sum(depth, level), |sum, least| sum + least)
    }

    fn choose(&mut self, depth: usize, level: Level) {
        let sum = self.sum(depth, level);
        self.above.iter_mut().skip(depth + 1).take(1).for_each(|above| *above = sum);
    }

    fn slack(&self, _: f32) -> f32 {
        0.0
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::encoding::Encoding;
    use crate::knob::Knob;
    use crate::random::Random;

    /// To the bit, at the root and after one choice.
    #[test]
    fn a_bound_is_the_smallest_distance_below() {
        let space = Space::<4>::new(&[Knob::nominal(3), Knob::ranked(5), Knob::nominal(2), Knob::nominal(4)]).unwrap();
        for (seed, encoding) in (0..20).zip([Encoding::Compact, Encoding::PerKnob].into_iter().cycle()) {
            let encoder = Encoder::new(&space, encoding);
            let mut random = Random::new(seed, 0);
            let x = [0; 10].map(|_| (random.uniform() - 0.5) * 3.0);
            let mut separable = Separable::<4, 10>::new(&space, &encoder, &x[..encoder.features()]).with_bounds();
            let top = separable.digits()[0];
            for level in 0..top.levels {
                let below = (0..=space.last_index()).filter(|index| index / top.place == u64::from(level));
                let distances = below.map(|index| separable.distance(&space.at(index).unwrap()));
                let least = distances.reduce(f32::min).unwrap_or(f32::INFINITY);
                // Under `Compact` the least may be past the last combination.
                let bound = separable.bound(0, level as Level);
                assert!(bound == least || encoding == Encoding::Compact && bound < least);
                separable.choose(0, level as Level);
                let next = separable.digits()[1].levels;
                let bounds = (0..next).map(|level| separable.bound(1, level as Level));
                assert_eq!(bounds.reduce(f32::min), Some(bound));
            }
        }
    }
}
