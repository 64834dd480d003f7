//! The random map: x = R·z, from features to a few dimensions.
//!
//! φ(c) = R·b with R ∈ ℝ^{d×m} (section 4.1). Lemma 1: (1 − ε)‖b − b′‖₁ ≤ ‖φ(c) − φ(c′)‖² ≤ (1 +
//! ε)‖b − b′‖₁ for d in Ω(log t / ε²).
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | R | random matrix | D × M |
//! | z | features | m ≤ M |
//! | x | embedding | d ≤ D |
//!
//! **Choices**
//! - The paper says only "uniformly random". The authors' code draws from [0, 1) and divides by m:
//!   [`Distribution::Uniform01`]. That is not centred, so distances follow the difference in the
//!   *number of ones*, Lemma 1 does not hold, and optima near all ones are favoured.
//! - [`Distribution::Centred`] has mean 0 and variance 1/d, for which the lemma holds; `Signs` is
//!   its two-valued variant.
//! - `Identity` projects nothing and is the best choice where m dimensions are affordable.
//! - The paper's x is R·b with b = z + ½ on bits: ours plus the constant
//!   [`offset`](RandomMap::offset), which cancels in distances.
//!
//! **Cost.** D × M numbers and d·m multiplications per embedding; neither for `Identity`.

use crate::config::Distribution;
use crate::features::encoding::Encoder;
use crate::math::float::{dot, sqrt, sum_of};
use crate::math::matrix::Matrix;
use crate::math::random::Random;
use crate::space::Space;

/// The matrix R.
#[derive(Clone, Debug, Default)]
pub struct RandomMap<const D: usize, const M: usize> {
    matrix: Matrix<D, M>,
}

impl<const D: usize, const M: usize> RandomMap<D, M> {
    /// All zero, until [`draw`](Self::draw).
    pub const fn new() -> Self {
        Self { matrix: Matrix::new() }
    }

    /// A map with this matrix.
    pub fn from_rows(rows: &[[f32; M]; D]) -> Self {
        let mut map = Self::new();
        rows.iter().enumerate().for_each(|(i, row)| {
            map.matrix.row_mut(i).iter_mut().zip(row).for_each(|(own, r)| *own = *r);
        });
        map
    }

    /// R; columns past m are 0.
    pub fn matrix(&self) -> &Matrix<D, M> {
        &self.matrix
    }

    /// Draws R for m features from this seed. `Identity` needs no matrix and leaves R zero.
    pub fn draw(&mut self, distribution: Distribution, m: usize, seed: u64) {
        let mut random = Random::new(seed, 0);
        let d = D.max(1) as f32;
        // An entry is u·width + low, with u uniform in [0, 1) or, for signs, 0 or 1.
        let (width, low) = match distribution {
            Distribution::Uniform01 => (1.0 / m.max(1) as f32, 0.0),
            Distribution::Centred => (2.0 * sqrt(3.0 / d), -sqrt(3.0 / d)),
            Distribution::Signs => (2.0 * sqrt(1.0 / d), -sqrt(1.0 / d)),
            Distribution::Identity => (0.0, 0.0),
        };
        for i in 0..D {
            let row = self.matrix.row_mut(i);
            row.fill(0.0);
            if distribution == Distribution::Identity {
                row.iter_mut().skip(i).take(1).for_each(|r| *r = 1.0);
                continue;
            }
            for r in row.iter_mut().take(m) {
                let u = random.uniform();
                let u = if distribution == Distribution::Signs { f32::from(u8::from(u >= 0.5)) } else { u };
                *r = u * width + low;
            }
        }
    }

    /// x = R·z.
    pub fn embed(&self, z: &[f32], x: &mut [f32]) {
        // A dot product, inlined: every candidate takes D of them.
        x.iter_mut().zip(self.matrix.rows()).for_each(|(x, row)| *x = sum_of(row, z, |r, z| r * z));
    }

    /// The rows of R.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f32; M]> {
        self.matrix.rows()
    }

    /// Mean squared length of a column: how much the map stretches squared distances on average.
    pub fn stretch(&self, m: usize) -> f32 {
        self.matrix.rows().fold(0.0, |sum, row| sum + dot(row, row)) / m.max(1) as f32
    }

    /// The paper's x minus ours: R·½ over the bits. Subtract it to bring a box in the paper's
    /// coordinates, such as \[0, 1\]^d, into ours.
    pub fn offset<const K: usize>(&self, encoder: &Encoder<K>) -> [f32; D] {
        let (mut offset, mut x) = ([0.0; M], [0.0; D]);
        encoder.offset(&mut offset);
        self.embed(&offset, &mut x);
        x
    }

    /// The smallest box around the paper's polytope: the range of each dimension of x = R·z over
    /// all combinations, feasible or not. Exact to rounding, also where `Compact` has bit patterns
    /// without a combination.
    pub fn bounding_box<const K: usize>(&self, space: &Space<K>, encoder: &Encoder<K>) -> [(f32, f32); D] {
        let mut bounds = [(0.0, 0.0); D];
        bounds.iter_mut().zip(self.matrix.rows()).for_each(|(bounds, row)| *bounds = encoder.extent(space, row));
        bounds
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Encoding;
    use crate::math::times;
    use crate::space::knob::Knob;

    #[test]
    fn the_bounding_box_is_tight() {
        let knobs = [Knob::nominal(3), Knob::ranked(times(5, 3)), Knob::nominal(2), Knob::nominal(times(7, 3))];
        let space = Space::<4>::new(&knobs).unwrap();
        for encoding in [Encoding::Compact, Encoding::PerKnob] {
            let encoder = Encoder::new(&space, encoding);
            let mut map = RandomMap::<6, 16>::new();
            map.draw(Distribution::Centred, encoder.features(), 4);
            let mut seen = [(f32::INFINITY, f32::NEG_INFINITY); 6];
            for index in 0..=space.last_index() {
                let (mut z, mut x) = ([0.0; 16], [0.0; 6]);
                encoder.encode(&space, &space.at(index).unwrap(), &mut z);
                map.embed(&z, &mut x);
                seen.iter_mut().zip(x).for_each(|(seen, x)| *seen = (seen.0.min(x), seen.1.max(x)));
            }
            for (own, seen) in map.bounding_box(&space, &encoder).iter().zip(seen) {
                // Sums of 13 products below 1, in another order: a few roundings of 1e-7.
                assert!((own.0 - seen.0).abs() < 2e-6 && (own.1 - seen.1).abs() < 2e-6, "{own:?} {seen:?}");
            }
        }
    }

    #[test]
    fn entries_are_drawn_from_the_stated_distribution() {
        let drawn = |distribution, m, seed| {
            let mut map = RandomMap::<4, 10>::new();
            map.draw(distribution, m, seed);
            map
        };
        let all = |map: &RandomMap<4, 10>, holds: fn(f32) -> bool| map.rows().flatten().all(|r| holds(*r));
        assert!(all(&drawn(Distribution::Uniform01, 10, 1), |r| (0.0..0.1).contains(&r)));
        assert!(all(&drawn(Distribution::Centred, 10, 1), |r| r * r <= 0.75 && r != 0.0));
        let signs = drawn(Distribution::Signs, 10, 1);
        assert!(all(&signs, |r| r.abs() == 0.5) && signs.stretch(10) == 1.0);
        // Columns past m are 0; the seed decides the rest.
        let few = |seed| drawn(Distribution::Centred, 3, seed);
        assert!(few(1).rows().all(|row| row[..3].iter().all(|r| *r != 0.0) && row[3..] == [0.0; 7]));
        assert!(few(1).rows().eq(few(1).rows()) && few(1).rows().ne(few(2).rows()));
    }

    #[test]
    fn embedding_and_offset_by_hand() {
        let map = RandomMap::from_rows(&[[1.0, 2.0], [3.0, 4.0]]);
        let mut x = [0.0; 2];
        map.embed(&[10.0, 1.0], &mut x);
        assert_eq!(x, [12.0, 34.0]);
        let space = Space::<2>::new(&[Knob::nominal(2); 2]).unwrap();
        assert_eq!(map.offset(&Encoder::new(&space, Encoding::PerKnob)), [1.5, 3.5]);
    }
}
