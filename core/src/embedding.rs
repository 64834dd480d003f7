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
//!
//! **Cost.** D × M numbers; d·m multiplications an embedding; none of either for `Identity`.

use crate::math::{dot, sqrt};
use crate::matrix::Matrix;
use crate::random::Random;

/// What the entries of R are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Distribution {
    /// Uniform in [0, 1), divided by m: the authors' code.
    Uniform01,
    /// Uniform in [−√(3/d), √(3/d)): mean 0, variance 1/d.
    Centred,
    /// ±1/√d.
    Signs,
    /// No projection, d = m.
    Identity,
}

/// The matrix R.
///
/// ```
/// use trimtab::embedding::{Distribution, RandomMap};
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
    pub const fn new() -> Self {
        Self { matrix: Matrix::new() }
    }

    /// Draws R for m features from this seed. `Identity` needs no matrix and draws nothing.
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
    pub fn embed(&self, z: &[f32], x: &mut [f32]) {
        x.iter_mut().zip(self.matrix.rows()).for_each(|(x, row)| *x = dot(row, z));
    }

    /// Mean squared length of a column: how much the map stretches squared distances, on average.
    pub fn stretch(&self, m: usize) -> f32 {
        self.matrix.rows().fold(0.0, |sum, row| sum + dot(row, row)) / m.max(1) as f32
    }
}
