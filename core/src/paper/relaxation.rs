//! The box relaxation: the minimum of the distance if every feature could take any value in its
//! range.
//!
//! z₀ = argmin over the box of ‖x − R·z‖² + Σⱼ aⱼzⱼ² + b·Σₖ(Σⱼ zⱼ)², so that for every combination,
//! with Δ = z − z₀:
//!
//! ‖x − R·z‖² = c + Σⱼ(gⱼΔⱼ − aⱼΔⱼ²) + Δᵀ·A·Δ, A = RᵀR + diag(a) + b·(ones, in a one-hot block)
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | a | ridge: makes A invertible where d < m | m |
//! | b | weight of the sum of a one-hot block, which is 0 at every level | |
//! | z₀ | centre | m |
//! | c, g | distance and its slope at the centre, with the term of b | 1, m |
//!
//! **Choices**
//! - The second equation holds for *any* z₀, so the coordinate descent may stop early.
//! - z₀ includes the ridge, so the two levels of a bit inside the box cost the same by themselves,
//!   a(z₀² − ¼); for a bit at the edge the difference is the cost of leaving the edge.
//! - a is a share of the mean squared distance between columns of R (by trial; half or twice is
//!   about as good).
//! - The terms of a are free on bits and one-hot blocks, whose ‖z‖² is constant. On a graded knob
//!   they are not, so a is smaller there, by the square of its steps.
//! - b costs nothing; without it a one-hot block would have one dimension too many.
//!
//! **Cost.** (M + 5) × M numbers; m²·(d + sweeps) multiplications.

use crate::features::encoding::{Digit, Encoder};
use crate::features::random_map::RandomMap;
use crate::math::float::dot;
use crate::space::Space;

/// Most sweeps of the descent, and the largest step in a sweep that ends it.
const SWEEPS: usize = 256;
const STILL: f32 = 1e-3;
/// a as a share of the mean squared distance between columns of R, but at least this share of their
/// mean square, so that A has a factor in `f32`.
const RIDGE: f32 = 0.02;
const LEAST_RIDGE: f32 = 1e-4;

/// The relaxation of one point, and the distance about it.
#[derive(Clone, Debug)]
pub(crate) struct Relaxation<const M: usize> {
    /// A.
    pub(crate) matrix: [[f32; M]; M],
    /// a.
    pub(crate) ridge: [f32; M],
    /// The smallest and the largest value of each feature.
    pub(crate) low: [f32; M],
    pub(crate) high: [f32; M],
    /// z₀.
    pub(crate) centre: [f32; M],
    /// g.
    pub(crate) slope: [f32; M],
    /// c.
    pub(crate) constant: f32,
}

impl<const M: usize> Relaxation<M> {
    /// All zero, until [`centre`](Self::centre).
    pub(crate) const fn new() -> Self {
        let zero = [0.0; M];
        Self { matrix: [zero; M], ridge: zero, low: zero, high: zero, centre: zero, slope: zero, constant: 0.0 }
    }

    /// Computes the relaxation for x, which has D numbers. Call it once, on a new one; M must be at
    /// least the number of features.
    pub(crate) fn centre<const K: usize, const D: usize>(
        &mut self,
        space: &Space<K>,
        encoder: &Encoder<K>,
        digits: &[Digit],
        map: &RandomMap<D, M>,
        x: &[f32],
    ) {
        self.find_edges(space, encoder, digits);
        let weight = self.fill(digits, map, encoder.features());
        self.descend(map, x);
        self.expand(digits, map, x, weight);
    }

    fn find_edges<const K: usize>(&mut self, space: &Space<K>, encoder: &Encoder<K>, digits: &[Digit]) {
        let mut z = [0.0; M];
        for digit in digits {
            let Some(z) = z.get_mut(digit.range()) else { continue };
            for level in digit.levels() {
                encoder.write_digit(space, digit, level, z);
                let edges = self.low.iter_mut().zip(&mut self.high).skip(digit.range().start);
                edges.zip(z.iter()).for_each(|((low, high), z)| (*low, *high) = (low.min(*z), high.max(*z)));
            }
        }
    }

    /// Computes A and a for m features; returns b.
    fn fill<const D: usize>(&mut self, digits: &[Digit], map: &RandomMap<D, M>, m: usize) -> f32 {
        for r in map.rows() {
            for (own, r_i) in self.matrix.iter_mut().zip(r) {
                own.iter_mut().zip(r).for_each(|(own, r_j)| *own += r_i * r_j);
            }
        }
        let (mut trace, mut total) = (0.0, 0.0);
        for (i, row) in self.matrix.iter().enumerate() {
            trace += row.get(i).copied().unwrap_or(0.0);
            total += row.iter().fold(0.0, |sum, a| sum + a);
        }
        let mean = trace / m.max(1) as f32;
        let pairs = m.max(1) as f32 * m.saturating_sub(1).max(1) as f32;
        let apart = 2.0 * (mean - (total - trace) / pairs);
        for digit in digits {
            let ridge = RIDGE * apart / (digit.steps() * digit.steps()).max(1.0);
            let ridge = ridge.max(LEAST_RIDGE * mean).max(f32::MIN_POSITIVE);
            let range = digit.range();
            self.ridge.get_mut(range.clone()).unwrap_or_default().fill(ridge);
            if digit.is_one_hot() {
                let rows = self.matrix.get_mut(range.clone()).unwrap_or_default().iter_mut();
                rows.flat_map(|row| row.get_mut(range.clone()).unwrap_or_default()).for_each(|a| *a += mean);
            }
        }
        for (i, (row, ridge)) in self.matrix.iter_mut().zip(&self.ridge).enumerate() {
            row.iter_mut().skip(i).take(1).for_each(|a| *a += ridge);
        }
        mean
    }

    /// Coordinate descent to the centre, from z = 0.
    fn descend<const D: usize>(&mut self, map: &RandomMap<D, M>, x: &[f32]) {
        // Half the gradient.
        let mut half = [0.0; M];
        for (r, x) in map.rows().zip(x) {
            half.iter_mut().zip(r).for_each(|(half, r)| *half -= r * x);
        }
        for _ in 0..SWEEPS {
            let mut most = 0.0f32;
            let features = self.centre.iter_mut().zip(&self.matrix).zip(self.low.iter().zip(&self.high));
            for (j, ((z, row), (low, high))) in features.enumerate() {
                let (Some(a), Some(slope)) = (row.get(j), half.get(j)) else { continue };
                let step = (*z - slope / a).max(*low).min(*high) - *z;
                if step != 0.0 {
                    *z += step;
                    most = most.max(step.abs());
                    half.iter_mut().zip(row).for_each(|(half, a)| *half += a * step);
                }
            }
            if most < STILL {
                break;
            }
        }
    }

    /// Computes c and g.
    fn expand<const D: usize>(&mut self, digits: &[Digit], map: &RandomMap<D, M>, x: &[f32], weight: f32) {
        for (r, x) in map.rows().zip(x) {
            let residual = x - dot(r, &self.centre);
            self.constant += residual * residual;
            self.slope.iter_mut().zip(r).for_each(|(g, r)| *g -= 2.0 * residual * r);
        }
        for digit in digits.iter().filter(|digit| digit.is_one_hot()) {
            let z = self.centre.get(digit.range()).unwrap_or_default();
            let sum = z.iter().fold(0.0, |sum, z| sum + z);
            self.constant += weight * sum * sum;
            self.slope.get_mut(digit.range()).unwrap_or_default().iter_mut().for_each(|g| *g += 2.0 * weight * sum);
        }
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
    use crate::space::knob::Knob;

    const M: usize = 12;

    /// Both equations of the module head, for points inside and outside; d = 5 is less than the 10
    /// features.
    #[test]
    fn the_expansion_is_the_distance_and_the_centre_its_minimum() {
        let space = Space::<5>::new(&[4, 2, 2].map(Knob::nominal)).unwrap();
        let space = Space::<5>::new(&[space.knobs(), &[Knob::ranked(6), Knob::ranked(3)]].concat()).unwrap();
        let encoder = Encoder::new(&space, Encoding::PerKnob);
        let mut digits = [Digit::default(); M];
        let count = encoder.digits(&space, &mut digits);
        let mut map = RandomMap::<5, M>::new();
        for seed in 0..times(20, 1) {
            map.draw(Distribution::Centred, encoder.features(), seed);
            let mut random = Random::new(seed, 1);
            let scale = if seed % 2 == 0 { 1.0 } else { 10.0 };
            let x = [0; 5].map(|_| (random.uniform() - 0.5) * scale);
            let mut about = Relaxation::<M>::new();
            about.centre(&space, &encoder, &digits[..count], &map, &x);
            for index in 0..=space.last_index() {
                let (mut z, mut own) = ([0.0; M], [0.0; 5]);
                encoder.encode(&space, &space.at(index).unwrap(), &mut z);
                map.embed(&z, &mut own);
                let exact = squared_distance(&own, &x);
                let delta: [f32; M] = core::array::from_fn(|j| z[j] - about.centre[j]);
                let alone = (0..M).map(|j| (about.slope[j] - about.ridge[j] * delta[j]) * delta[j]).sum::<f32>();
                let form =
                    about.matrix.iter().zip(&delta).map(|(row, delta_i)| delta_i * dot(row, &delta)).sum::<f32>();
                // Terms up to 130 and some 50 roundings of 6e-8.
                assert!((about.constant + alone + form - exact).abs() < 1e-5 * (10.0 + exact));
            }
            // No step of a feature within the box goes down by more than the last sweep leaves.
            for j in 0..encoder.features() {
                let gradient = about.slope[j] + 2.0 * about.ridge[j] * about.centre[j];
                let goal = if gradient > 0.0 { about.low[j] } else { about.high[j] };
                let most = 0.02 * about.matrix[j][j];
                assert!(gradient.abs() < most || (about.centre[j] - goal).abs() < 1e-6, "{seed} {j} {gradient}");
            }
        }
    }

    /// b is the mean square of a feature's column in R.
    #[test]
    fn the_weight_of_one_hot_blocks_is_the_mean_square_of_the_columns() {
        let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(5)]).unwrap();
        let encoder = Encoder::new(&space, Encoding::PerKnob);
        let mut digits = [Digit::default(); M];
        let count = encoder.digits(&space, &mut digits);
        for seed in 0..4 {
            let mut map = RandomMap::<5, M>::new();
            map.draw(Distribution::Centred, encoder.features(), seed);
            let squares = map.rows().flat_map(|row| row.iter()).map(|r| f64::from(*r) * f64::from(*r));
            let exact = squares.sum::<f64>() / encoder.features() as f64;
            let own = Relaxation::<M>::new().fill(&digits[..count], &map, encoder.features());
            assert!((f64::from(own) / exact - 1.0).abs() < 1e-5, "{own}, not {exact}");
        }
    }
}
