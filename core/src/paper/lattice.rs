//! Lower bounds for the nearest point R·z: the distance about its relaxation, as a sum that grows
//! digit by digit.
//!
//! With A = WᵀW, W lower triangular, and Δ = z − z₀ ([`Relaxation`] has A, z₀, c, g and a):
//!
//! ‖x − R·z‖² = c + Σₖ hₖ + ‖W·Δ‖², hₖ = gₖ·Δₖ − aₖ·Δₖ²
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | W | row i involves the features chosen up to i | m × m |
//! | Δ | distance of the chosen features from the centre | m |
//! | hₖ | what a level of digit k costs by itself | |
//! | τ | Σ √Aᵢᵢ·widthᵢ, an upper bound of ‖R·Δ‖ | |
//!
//! **Choices**
//! - A digit adds its hₖ and its rows of ‖W·Δ‖²; digits not chosen yet cost at least Σ min hₖ. This
//!   is the sphere decoder's bound, but about the relaxation: for a point far outside, levels that
//!   leave the edge of the box have a large hₖ, and the search goes straight down.
//! - Digits whose steps cost most are chosen first: W is factorised from its last row, always
//!   taking the digit whose pivots and slopes per step are smallest.
//!
//! **Cost.** (M + 13) × M numbers; m³/3 multiplications at the start, about m per node.

use core::ops::Range;

use crate::features::encoding::{Digit, Encoder};
use crate::features::random_map::RandomMap;
use crate::math::float::{dot, sqrt};
use crate::paper::relaxation::Relaxation;
use crate::paper::walk::Bound;
use crate::space::Space;
use crate::space::knob::Level;

/// Most roundings of a bound and a distance together, in units of m + d. In trials half a unit was
/// enough, a tenth was not.
const ROUNDINGS: f32 = 4.0;

/// The bounds for one point.
pub(crate) struct Lattice<'a, const K: usize, const M: usize> {
    space: &'a Space<K>,
    encoder: &'a Encoder<K>,
    /// In the order in which they are chosen.
    digits: [Digit; M],
    count: usize,
    /// With features in the order of the digits, and W in place of A.
    about: Relaxation<M>,
    delta: [f32; M],
    /// W·Δ of the digits chosen above, for the rows of a depth.
    base: [f32; M],
    /// The bound of the digits chosen above a depth.
    above: [f32; M],
    /// The smallest hₖ at each depth.
    least: [f32; M],
    /// τ.
    reach: f32,
    /// Largest error of the sum of the terms, as a share of (τ + distance)².
    error: f32,
    /// Largest error from pivots that were raised because they were too small.
    lift: f32,
}

impl<'a, const K: usize, const M: usize> Lattice<'a, K, M> {
    /// For any point of a space, until [`aim`](Self::aim).
    pub(crate) fn new(space: &'a Space<K>, encoder: &'a Encoder<K>) -> Self {
        Self {
            space,
            encoder,
            digits: [Digit::default(); M],
            count: 0,
            about: Relaxation::new(),
            delta: [0.0; M],
            base: [0.0; M],
            above: [0.0; M],
            least: [0.0; M],
            reach: 0.0,
            error: 0.0,
            lift: 0.0,
        }
    }

    /// Computes the bounds for x, which has D numbers. Call it once, on a new lattice; M must be at
    /// least the number of features.
    pub(crate) fn aim<const D: usize>(&mut self, map: &RandomMap<D, M>, x: &[f32]) {
        let m = self.encoder.features();
        self.count = self.encoder.digits(self.space, &mut self.digits);
        let digits = self.digits.get(..self.count).unwrap_or_default();
        self.about.centre(self.space, self.encoder, digits, map, x);
        let rows = self.about.matrix.iter().enumerate().zip(self.about.low.iter().zip(&self.about.high));
        self.reach = rows.fold(0.0, |sum, ((i, row), (low, high))| {
            sum + row.get(i).map_or(0.0, |diagonal| sqrt(*diagonal)) * (high - low)
        });
        self.error = ROUNDINGS * (m + D) as f32 * (0.5 * f32::EPSILON);
        self.factorise(m);
        self.begin();
    }

    /// Orders the digits and turns A into W, from the last row to the first.
    fn factorise(&mut self, m: usize) {
        let mut end = m;
        for depth in (0..self.count).rev() {
            let left = self.digits.iter().enumerate().take(depth + 1);
            let costs = left.map(|(i, digit)| (self.step_cost(digit), i, *digit));
            let Some((_, i, digit)) = costs.reduce(|a, b| if b.0 < a.0 { b } else { a }) else { return };
            let range = digit.range();
            self.move_to_end(i..depth + 1, range.start..end, range.len());
            for _ in range {
                end = end.saturating_sub(1);
                self.eliminate(end);
            }
        }
    }

    /// Upper bound of what a step of a digit costs, by its current pivots and slopes.
    fn step_cost(&self, digit: &Digit) -> f32 {
        let Relaxation { matrix, low, high, centre, slope, .. } = &self.about;
        let edges = centre.iter().zip(low.iter().zip(high));
        let features =
            matrix.iter().zip(slope).zip(edges).enumerate().take(digit.range().end).skip(digit.range().start);
        let step = 1.0 / digit.steps().max(1.0);
        features.fold(0.0, |sum, (j, ((row, g), (z, (low, high))))| {
            let far = (high - z).max(z - low) * step;
            sum + row.get(j).map_or(0.0, |a| a * far * far) + g.abs() * (high - low) * step
        })
    }

    /// Moves the first of these digits, and its features, behind the others.
    fn move_to_end(&mut self, digits: Range<usize>, features: Range<usize>, count: usize) {
        rotate(&mut self.digits, &digits, 1);
        let mut start = features.start as u16;
        for digit in self.digits.get_mut(digits).unwrap_or_default() {
            digit.start = start;
            start += digit.features;
        }
        let Relaxation { matrix, ridge, low, high, centre, slope, .. } = &mut self.about;
        rotate(matrix, &features, count);
        for array in matrix.iter_mut().chain([ridge, low, high, centre, slope]) {
            rotate(array, &features, count);
        }
    }

    /// Turns row i into a row of W and subtracts its share from the rows before it.
    fn eliminate(&mut self, i: usize) {
        let Relaxation { matrix, ridge, low, high, .. } = &mut self.about;
        let Some((before, [row, ..])) = matrix.split_at_mut_checked(i) else { return };
        let Some((row, [diagonal, ..])) = row.split_at_mut_checked(i) else { return };
        let (Some(ridge), Some(low), Some(high)) = (ridge.get(i), low.get(i), high.get(i)) else { return };
        // Only rounding can bring a pivot below a. Whatever is added to one counts as an error.
        let pivot = diagonal.max(0.25 * ridge);
        self.lift += (pivot - *diagonal) * (high - low) * (high - low);
        *diagonal = sqrt(pivot);
        row.iter_mut().for_each(|w| *w /= *diagonal);
        for (own, w_j) in before.iter_mut().zip(row.iter()) {
            own.iter_mut().zip(row.iter()).for_each(|(a, w_k)| *a -= w_j * w_k);
        }
    }

    /// The bound before any choice.
    fn begin(&mut self) {
        let mut sum = self.about.constant;
        for depth in 0..self.count {
            let levels = self.digits.get(depth).map(|digit| digit.levels());
            let all = levels.into_iter().flatten();
            let least = all.fold(f32::INFINITY, |least, level| least.min(self.step(depth, level)));
            self.least.iter_mut().skip(depth).take(1).for_each(|own| *own = least);
            sum += least;
        }
        self.above.iter_mut().take(1).for_each(|above| *above = sum);
    }

    /// Writes Δ of a level and returns what the level costs by itself.
    fn step(&mut self, depth: usize, level: Level) -> f32 {
        let Some(digit) = self.digits.get(depth) else { return 0.0 };
        let Some(delta) = self.delta.get_mut(digit.range()) else { return 0.0 };
        self.encoder.write_digit(self.space, digit, level, delta);
        let about = self.about.centre.iter().zip(&self.about.slope).zip(&self.about.ridge).skip(digit.range().start);
        delta.iter_mut().zip(about).fold(0.0, |sum, (delta, ((z, g), a))| {
            *delta -= z;
            sum + (g - a * *delta) * *delta
        })
    }
}

/// Moves the first `by` elements of a range behind the others.
fn rotate<T>(slice: &mut [T], range: &Range<usize>, by: usize) {
    // For zero-sized elements (rows without features) the optimizer does not see that this cannot
    // panic.
    if let Some(part) = slice.get_mut(range.clone()).filter(|part| size_of::<T>() > 0 && by <= part.len()) {
        part.rotate_left(by);
    }
}

impl<const K: usize, const M: usize> Bound for Lattice<'_, K, M> {
    fn digits(&self) -> &[Digit] {
        self.digits.get(..self.count).unwrap_or_default()
    }

    fn bound(&mut self, depth: usize, level: Level) -> f32 {
        let own = self.step(depth, level);
        let (Some(digit), Some(above), Some(least)) =
            (self.digits.get(depth), self.above.get(depth), self.least.get(depth))
        else {
            return 0.0;
        };
        let delta = self.delta.get(digit.range()).unwrap_or_default();
        let rows = self.about.matrix.iter().zip(&self.base).skip(digit.range().start).zip(1..=delta.len());
        rows.fold(above + (own - least), |sum, ((row, base), len)| {
            let row = row.iter().skip(digit.range().start).take(len);
            let term = row.zip(delta).fold(*base, |term, (w, delta)| term + w * delta);
            sum + term * term
        })
    }

    fn choose(&mut self, depth: usize, level: Level) {
        let bound = self.bound(depth, level);
        self.above.iter_mut().skip(depth + 1).take(1).for_each(|above| *above = bound);
        let Some(range) = self.digits.get(depth + 1).map(Digit::range) else { return };
        let delta = self.delta.get(..range.start).unwrap_or_default();
        let rows = self.about.matrix.iter().zip(&mut self.base).take(range.end).skip(range.start);
        rows.for_each(|(row, base)| *base = dot(row, delta));
    }

    /// A distance and each term of its bound are at most (τ + √best)², and are sums of at most m +
    /// d products in a few stages, with a rounding of 2⁻²⁴ each.
    fn slack(&self, best: f32) -> f32 {
        let most = self.reach + sqrt(best.max(0.0));
        self.error * most * most + self.lift
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Distribution;
    use crate::config::Encoding;
    use crate::math::float::squared_distance;
    use crate::math::random::Random;
    use crate::math::times;
    use crate::paper::walk::{Leaf, walk};
    use crate::space::knob::Knob;

    /// On the way to every leaf bounds only grow; the last is the distance, within the slack.
    #[test]
    fn bounds_grow_to_the_distance() {
        let knobs = [Knob::nominal(3), Knob::nominal(2), Knob::ranked(4), Knob::nominal(2), Knob::ranked(3)];
        let space = Space::<5>::new(&knobs).unwrap();
        for (seed, encoding) in (0..times(20, 2)).zip([Encoding::Compact, Encoding::PerKnob].into_iter().cycle()) {
            let encoder = Encoder::new(&space, encoding);
            let mut map = RandomMap::<4, 9>::new();
            let distribution = if seed < 6 { Distribution::Uniform01 } else { Distribution::Centred };
            map.draw(distribution, encoder.features(), seed);
            let mut random = Random::new(seed, 1);
            let x = [0; 4].map(|_| (random.uniform() - 0.5) * 3.0);
            let mut lattice = Lattice::<5, 9>::new(&space, &encoder);
            lattice.aim(&map, &x);
            let digits = lattice.digits().to_vec();
            for index in 0..=space.last_index() {
                let (mut z, mut own, mut last) = ([0.0; 9], [0.0; 4], lattice.above[0]);
                encoder.encode(&space, &space.at(index).unwrap(), &mut z);
                map.embed(&z, &mut own);
                for (depth, digit) in digits.iter().enumerate() {
                    let level = digit.level(index);
                    let bound = lattice.bound(depth, level);
                    assert!(bound >= last);
                    last = bound;
                    lattice.choose(depth, level);
                }
                let exact = squared_distance(&own, &x);
                assert!((last - exact).abs() <= lattice.slack(exact), "{seed} {index}: {last} {exact}");
                assert!(lattice.slack(exact) < 1e-3 * (1.0 + exact));
            }
        }
    }

    #[test]
    fn a_far_point_goes_straight_down() {
        let space = Space::<24>::new(&[Knob::nominal(2); 24]).unwrap();
        let encoder = Encoder::new(&space, Encoding::Compact);
        let mut map = RandomMap::<20, 24>::new();
        map.draw(Distribution::Centred, 24, 3);
        let mut lattice = Lattice::<24, 24>::new(&space, &encoder);
        let x = [10.0; 20];
        lattice.aim(&map, &x);
        let evaluate = |index, best: Option<Leaf>| {
            let (mut z, mut own) = ([0.0; 24], [0.0; 20]);
            encoder.encode(&space, &space.at(index).unwrap(), &mut z);
            map.embed(&z, &mut own);
            let cost = squared_distance(&own, &x);
            best.is_none_or(|best| cost < best.cost).then_some(Leaf { cost, index })
        };
        let (best, nodes) = walk::<24>(&mut lattice, space.last_index(), 48, evaluate).unwrap();
        assert!(best.is_some() && nodes >= 24 && lattice.lift == 0.0);
    }

    /// A pivot that rounding brought below a quarter of the ridge is lifted to it, and the lift is known.
    #[test]
    fn elimination_by_hand() {
        let space = Space::<2>::new(&[Knob::nominal(2); 2]).unwrap();
        let encoder = Encoder::new(&space, Encoding::Compact);
        let mut lattice = Lattice::<2, 2>::new(&space, &encoder);
        lattice.about.matrix = [[1.0, 0.5], [0.5, 0.1]];
        (lattice.about.ridge, lattice.about.low, lattice.about.high) = ([0.8; 2], [-0.5; 2], [1.0; 2]);
        lattice.eliminate(1);
        // The pivot is 0.2 for 0.1, over a side of 1.5.
        let close = |own: f32, exact: f32| (own - exact).abs() < 1e-6;
        assert!(close(lattice.lift, 0.1 * 1.5 * 1.5), "{}", lattice.lift);
        let [[first, _], [share, pivot]] = lattice.about.matrix;
        assert!(close(pivot, 0.2f32.sqrt()) && close(share, 0.5 / 0.2f32.sqrt()) && close(first, 1.0 - 0.25 / 0.2));
        // One that is large enough stays.
        (lattice.about.matrix, lattice.lift) = ([[1.0, 0.5], [0.5, 4.0]], 0.0);
        lattice.eliminate(1);
        assert_eq!((lattice.lift, lattice.about.matrix), (0.0, [[1.0 - 0.0625, 0.5], [0.25, 2.0]]));
    }
}
