//! The random map: x = R·z, from features to a few dimensions.
//!
//! φ(c) = R·b with R ∈ ℝ^{d×m} (section 4.1). Lemma 1: (1 − ε)‖b − b′‖₁ ≤ ‖φ(c) − φ(c′)‖² ≤ (1 + ε)‖b − b′‖₁ for d in
//! Ω(log t / ε²).
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | R | random matrix | D × M |
//! | z | features | m ≤ M |
//! | x | embedding | d ≤ D |
//!
//! **Choices.** The paper says only "uniformly random". The authors' code draws from [0, 1) and divides the result by m:
//! [`Distribution::Uniform01`]. That is not centred: distances then follow the difference in the *number of ones*, Lemma 1 does not hold,
//! and optima near all-ones are favoured. [`Distribution::Centred`] has mean 0 and variance 1/d, for which the lemma holds; `Signs` is
//! its twin of two values. `Identity` projects nothing: the best where m dimensions can be afforded.
//! The paper's x is R·b with b = z + ½ on bits: ours plus the constant [`offset`](RandomMap::offset), which no distance sees.
//!
//! **Cost.** D × M numbers; d·m multiplications an embedding; none of either for `Identity`.

use crate::config::Distribution;
use crate::features::encoding::Encoder;
use crate::math::float::{dot, sqrt, sum_of};
use crate::math::matrix::Matrix;
use crate::math::random::Random;
use crate::space::Space;

/// The matrix R.
///
/// ```
/// use trimtab::{Distribution, internals::RandomMap};
/// let mut map = RandomMap::<2, 3>::new();
/// map.draw(Distribution::Signs, 3, 1);
/// let mut x = [0.0; 2];
/// map.embed(&[1.0, 0.0, 0.0], &mut x);
/// assert!((x[0] * x[0] + x[1] * x[1] - 1.0).abs() < 1e-6);
/// ```
#[derive(Clone, Debug, Default)]
pub struct RandomMap<const D: usize, const M: usize> {
    matrix: Matrix<D, M>,
}

impl<const D: usize, const M: usize> RandomMap<D, M> {
    /// All zero; to be drawn.
    ///
    /// ```
    /// let map = trimtab::internals::RandomMap::<2, 3>::new();
    /// assert!(map.matrix().rows().all(|row| *row == [0.0; 3]));
    /// ```
    pub const fn new() -> Self {
        Self { matrix: Matrix::new() }
    }

    /// A matrix of one's own.
    ///
    /// ```
    /// let map = trimtab::internals::RandomMap::from_rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    /// assert_eq!(map.matrix().row(1), [4.0, 5.0, 6.0]);
    /// ```
    pub fn from_rows(rows: &[[f32; M]; D]) -> Self {
        let mut map = Self::new();
        rows.iter().enumerate().for_each(|(i, row)| {
            map.matrix.row_mut(i).iter_mut().zip(row).for_each(|(own, r)| *own = *r);
        });
        map
    }

    /// R; columns past m are 0.
    ///
    /// ```
    /// use trimtab::{Distribution, internals::RandomMap};
    /// let mut map = RandomMap::<2, 3>::new();
    /// map.draw(Distribution::Centred, 2, 1);
    /// assert!(map.matrix().rows().all(|[first, _, past]| *first != 0.0 && *past == 0.0));
    /// ```
    pub fn matrix(&self) -> &Matrix<D, M> {
        &self.matrix
    }

    /// Draws R for m features from this seed. `Identity` needs no matrix and draws nothing.
    ///
    /// ```
    /// use trimtab::{Distribution, internals::RandomMap};
    /// let drawn = |seed| {
    ///     let mut map = RandomMap::<2, 3>::new();
    ///     map.draw(Distribution::Centred, 3, seed);
    ///     map
    /// };
    /// assert_eq!(drawn(1).matrix().row(0), drawn(1).matrix().row(0));
    /// assert_ne!(drawn(1).matrix().row(0), drawn(2).matrix().row(0));
    /// ```
    pub fn draw(&mut self, distribution: Distribution, m: usize, seed: u64) {
        let mut random = Random::new(seed, 0);
        let d = D.max(1) as f32;
        // An entry is u·width + low, u uniform in [0, 1) or, for signs, 0 or 1.
        let (width, low) = match distribution {
            Distribution::Uniform01 => (1.0 / m.max(1) as f32, 0.0),
            Distribution::Centred => (2.0 * sqrt(3.0 / d), -sqrt(3.0 / d)),
            Distribution::Signs => (2.0 * sqrt(1.0 / d), -sqrt(1.0 / d)),
            Distribution::Identity => (0.0, 0.0),
        };
        for row in 0..D {
            let row = self.matrix.row_mut(row);
            row.fill(0.0);
            for r in row.iter_mut().take(m) {
                let u = random.uniform();
                let u = if distribution == Distribution::Signs { f32::from(u8::from(u >= 0.5)) } else { u };
                *r = u * width + low;
            }
        }
    }

    /// x = R·z.
    ///
    /// ```
    /// let map = trimtab::internals::RandomMap::from_rows(&[[1.0, 2.0], [3.0, 4.0]]);
    /// let mut x = [0.0; 2];
    /// map.embed(&[10.0, 1.0], &mut x);
    /// assert_eq!(x, [12.0, 34.0]);
    /// ```
    pub fn embed(&self, z: &[f32], x: &mut [f32]) {
        // A dot product, written out: every candidate takes D of them.
        x.iter_mut().zip(self.matrix.rows()).for_each(|(x, row)| *x = sum_of(row, z, |r, z| r * z));
    }

    /// The rows of R.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f32; M]> {
        self.matrix.rows()
    }

    /// Mean squared length of a column: how much the map stretches squared distances, on average.
    ///
    /// ```
    /// use trimtab::{Distribution, internals::RandomMap};
    /// let mut map = RandomMap::<4, 10>::new();
    /// map.draw(Distribution::Signs, 10, 1);
    /// assert_eq!(map.stretch(10), 1.0); // distances stay, on average
    /// ```
    pub fn stretch(&self, m: usize) -> f32 {
        self.matrix.rows().fold(0.0, |sum, row| sum + dot(row, row)) / m.max(1) as f32
    }

    /// What the paper's x has more than ours: R·½ over the bits. A paper's box \[0, 1\]^d is this much less in our coordinates.
    ///
    /// ```
    /// use trimtab::{Encoding, Knob, Space, internals::{Encoder, RandomMap}};
    /// let space = Space::<2>::new(&[Knob::nominal(2); 2])?;
    /// let map = RandomMap::from_rows(&[[3.0, -1.0]]);
    /// assert_eq!(map.offset(&Encoder::new(&space, Encoding::PerKnob)), [1.0]);
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    pub fn offset<const K: usize>(&self, encoder: &Encoder<K>) -> [f32; D] {
        let (mut offset, mut x) = ([0.0; M], [0.0; D]);
        encoder.offset(&mut offset);
        self.embed(&offset, &mut x);
        x
    }

    /// The least and the largest value of each dimension of x = R·z over all combinations, feasible or not: the smallest box around the
    /// paper's polytope. Exact to rounding, also where `Compact` has bit patterns that are no combination.
    ///
    /// ```
    /// use trimtab::{Encoding, Knob, Space, internals::{Encoder, RandomMap}};
    /// // z is (−½, −½), (½, −½) or (−½, ½), never (½, ½).
    /// let space = Space::<1>::new(&[Knob::nominal(3)])?;
    /// let map = RandomMap::from_rows(&[[3.0, 1.0]]);
    /// assert_eq!(map.bounding_box(&space, &Encoder::new(&space, Encoding::Compact)), [(-2.0, 1.0)]);
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
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
    use crate::space::knob::Knob;

    #[test]
    fn every_embedding_is_in_the_box_and_every_face_is_touched() {
        let knobs = [Knob::nominal(3), Knob::ranked(5), Knob::nominal(2), Knob::nominal(7)];
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
}
