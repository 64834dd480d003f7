//! The factor of a range: thousands of levels at equal steps, and nothing per level.
//!
//! The levels stand for the whole of [0, 1], so the means that centre Matérn 5/2 are integrals. With
//! t = √5·|difference|/ℓ and k(t) = (1 + t + t²/3)·e^−t:
//!
//! | name | meaning | closed form |
//! |---|---|---|
//! | s | √5/ℓ, the whole range | |
//! | H(t) | ∫₀ᵗ k | 8/3 − (8/3 + 5t/3 + t²/3)·e^−t |
//! | m(a) | mean of the row of level a, at t = a·s from the first | (H(t) + H(s − t))/s |
//! | its slope | with ln ℓ | m(a) − (t·k(t) + (s − t)·k(s − t))/s |
//! | mean | of all rows | Σ cₙ·sⁿ·2/((n + 1)(n + 2)), cₙ of the series of k; or by parts |
//!
//! **Choices**
//! - Taking the means of a positive definite kernel under any measure leaves it positive definite, so
//!   the uniform measure on [0, 1] may stand for that on the levels. At 256 levels the two agree to
//!   0.4 % of the prior variance at the shortest length-scale and 2.3 % at the longest.
//! - Rather than a table with interpolation: the length-scale may be a hundredth of the range, where a
//!   table would have to be fine, and an interpolated mean is no longer exactly positive definite.
//!
//! **Cost.** Per pair, one exponential for Matérn and two for the mean of the other row; the mean of
//! the own row is computed once for all pairs with it.

use super::factor::{Factor, SQRT_5};
use crate::math::float::{Arithmetic, Math};
use crate::space::knob::Level;

/// Below this s, the mean of all rows is so near to 1 that only the series tells how near.
const SERIES: f32 = 2.0;

impl Factor {
    /// The numbers of a range that follow from ℓᵢ and tᵢ.
    pub(super) fn derive_range(&mut self) {
        let s = SQRT_5 * self.inverse_length;
        self.inverse_length = s / self.top();
        // 1 − mean, and the slope of the mean.
        let (rest, slope) = if s < SERIES { near(s) } else { far(s) };
        let inverse_diagonal = 1.0 / rest;
        self.scale = self.relevance * inverse_diagonal;
        self.base = 1.0 + self.scale * (1.0 - rest);
        self.mean_slope = slope * inverse_diagonal;
        self.differ = self.scale / s;
    }

    /// The scaled mean of the row of a level of a range.
    #[inline(never)]
    pub(super) fn mean_at(&self, level: Level) -> f32 {
        let [t, rest] = self.sides(level);
        self.differ * (integral(t, decay(t)) + integral(rest, decay(rest)))
    }

    /// The same with its slope.
    #[inline(never)]
    pub(super) fn row_at(&self, level: Level) -> [f32; 2] {
        let [t, rest] = self.sides(level);
        let [e, e_rest] = [decay(t), decay(rest)];
        let mean = self.differ * (integral(t, e) + integral(rest, e_rest));
        [mean, mean - self.differ * (t * matern(t, e) + rest * matern(rest, e_rest))]
    }

    /// 1 + tᵢ·cᵢ of a level, given the mean of its row, and another.
    #[inline(never)]
    pub(super) fn beside(&self, (a, mean): (Level, f32), b: Level) -> f32 {
        let t = self.apart(a, b);
        self.base + self.scale * matern(t, decay(t)) - mean - self.mean_at(b)
    }

    /// The same from both rows, with its derivative with respect to ln ℓᵢ.
    #[inline(never)]
    pub(super) fn beside_with_slope(&self, (a, own): (Level, [f32; 2]), b: Level) -> [f32; 2] {
        let (t, [mean, slope]) = (self.apart(a, b), self.row_at(b));
        let e = decay(t);
        let value = self.base + self.scale * matern(t, e) - own[0] - mean;
        let by_length = self.scale * e * (1.0 / 3.0) * t * t * (1.0 + t);
        [value, by_length - own[1] - slope + (self.relevance + value - 1.0) * self.mean_slope]
    }

    /// The difference of two levels, in t.
    fn apart(&self, a: Level, b: Level) -> f32 {
        f32::from(a.abs_diff(b)) * self.inverse_length
    }

    /// The differences of a level from the first and from the last, in t.
    fn sides(&self, level: Level) -> [f32; 2] {
        let level = f32::from(level);
        [level * self.inverse_length, (self.top() - level) * self.inverse_length]
    }
}

/// e^−t.
#[inline(never)]
fn decay(t: f32) -> f32 {
    Arithmetic::exp(-t)
}

/// k(t), given e^−t.
#[inline(never)]
fn matern(t: f32, e: f32) -> f32 {
    (1.0 + t + t * t * (1.0 / 3.0)) * e
}

/// H(t), given e^−t.
#[inline(never)]
fn integral(t: f32, e: f32) -> f32 {
    (8.0 - (8.0 + t * (5.0 + t)) * e) * (1.0 / 3.0)
}

/// 1 − mean and the slope of the mean: 2·∫₀¹ (1 − u)·k(s·u) du, by parts.
fn far(s: f32) -> (f32, f32) {
    let e = decay(s);
    let linear = 2.0 / (s * s) * (5.0 - (5.0 + s * (5.0 + s * (2.0 + s * (1.0 / 3.0)))) * e);
    let mean = 2.0 / s * integral(s, e) - linear;
    (1.0 - mean, mean - linear)
}

/// The same by the series of k: cₙ = (−1)ⁿ·(1/n! − 1/(n − 1)! + 1/(3·(n − 2)!)).
fn near(s: f32) -> (f32, f32) {
    let (mut rest, mut slope) = (0.0, 0.0);
    // sⁿ/n! with its sign.
    let mut power = s * s * 0.5;
    for n in 2..20u16 {
        let n = f32::from(n);
        let term = power * (1.0 - n + n * (n - 1.0) * (1.0 / 3.0)) * 2.0 / ((n + 1.0) * (n + 2.0));
        rest -= term;
        slope -= n * term;
        power *= -s / (n + 1.0);
    }
    (rest, slope)
}
