//! How much a combination is worth measuring: GP-UCB and expected improvement. The smallest score wins.
//!
//! GP-UCB: μ − β·σ, β_t constant or √ln(N·t/δ) (section 5, Theorem 1). It keeps its name although we minimise: it is the *lower* bound.
//! Expected improvement: EI = σ·(u·Φ(u) + φ(u)), u = (best − μ)/σ; the score is −ln EI.
//!
//! | name | meaning |
//! |---|---|
//! | μ, σ | posterior mean and deviation of the standardised cost |
//! | best | the smallest standardised cost so far |
//! | t | how many observations there are |
//! | N | how many combinations there are |
//!
//! **Choices.** The theorem leaves the constant of β_t open: `scale` is it. EI is compared by its logarithm, which still orders candidates where
//! EI itself is zero in f32; below u = −6 its asymptotic series is used, because u·Φ + φ cancels there.
//!
//! **Cost.** UCB: one root. EI: an exponential, an error function and a logarithm more.

use crate::gp::Posterior;
use crate::math::{erfc, ln, short_exp, sqrt};

/// The exploration weight β_t of GP-UCB.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Beta {
    /// The same at every t.
    Constant(f32),
    /// The theorem's schedule: scale · √ln(N·t/δ).
    Theorem {
        /// The constant that the theorem leaves open.
        scale: f32,
        /// δ: the bound holds with probability 1 − δ.
        delta: f32,
    },
}

impl Beta {
    /// β at t observations in a space of N combinations.
    ///
    /// ```
    /// use trimtab::Beta;
    /// let beta = Beta::Theorem { scale: 1.0, delta: 0.1 };
    /// assert!(beta.at(10, 4.8) > beta.at(5, 4.8));
    /// ```
    pub fn at(&self, t: usize, log_cardinality: f32) -> f32 {
        match self {
            Self::Constant(beta) => *beta,
            Self::Theorem { scale, delta } => {
                scale * sqrt((log_cardinality + ln(t.max(1) as f32) - ln(*delta)).max(0.0))
            }
        }
    }
}

/// Which rule chooses the next combination.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Acquisition {
    /// GP-UCB: μ − β_t·σ.
    Ucb(Beta),
    /// −ln of the expected improvement.
    ExpectedImprovement,
}

impl Acquisition {
    /// The rule for one ask, its constants worked out.
    pub fn prepare(&self, t: usize, log_cardinality: f32, best: f32) -> Rule {
        match self {
            Self::Ucb(beta) => Rule::Ucb { beta: beta.at(t, log_cardinality) },
            Self::ExpectedImprovement => Rule::ExpectedImprovement { best },
        }
    }
}

/// An acquisition with its constants for one ask.
///
/// ```
/// use trimtab::{acquisition::Rule, gp::Posterior};
/// let sure = Posterior { mean: 0.0, variance: 0.01 };
/// let unsure = Posterior { mean: 0.0, variance: 1.0 };
/// assert!(Rule::Ucb { beta: 2.0 }.score(unsure) < Rule::Ucb { beta: 2.0 }.score(sure));
/// assert!(Rule::ExpectedImprovement { best: -1.0 }.score(unsure) < Rule::ExpectedImprovement { best: -1.0 }.score(sure));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// μ − β·σ.
    Ucb {
        /// The exploration weight.
        beta: f32,
    },
    /// −ln EI.
    ExpectedImprovement {
        /// The smallest standardised cost so far.
        best: f32,
    },
}

/// A variance below this is rounding error.
const LEAST_VARIANCE: f32 = 1e-12;

impl Rule {
    /// The score of a posterior; the smallest wins.
    pub fn score(&self, posterior: Posterior) -> f32 {
        let sigma = sqrt(posterior.variance.max(LEAST_VARIANCE));
        match self {
            Self::Ucb { beta } => posterior.mean - beta * sigma,
            Self::ExpectedImprovement { best } => -(ln(sigma) + log_improvement((best - posterior.mean) / sigma)),
        }
    }
}

/// How much better than the best score a bound must be before it is trusted: far above the rounding of a mean.
const MARGIN: f32 = 1e-3;

impl Rule {
    /// The smallest variance with which a candidate of this mean could still have a score below `best`; 0 where it is not known.
    ///
    /// ```
    /// use trimtab::{acquisition::Rule, gp::Posterior};
    /// let rule = Rule::Ucb { beta: 2.0 };
    /// let variance = rule.needed_variance(1.0, -2.0);
    /// assert!(rule.score(Posterior { mean: 1.0, variance }) > -2.0);
    /// assert!(rule.score(Posterior { mean: 1.0, variance: variance * 1.01 }) < -2.0);
    /// ```
    pub fn needed_variance(&self, mean: f32, best: f32) -> f32 {
        match self {
            Self::Ucb { beta } if mean - best > MARGIN && *beta > 0.0 => {
                let sigma = (mean - best - MARGIN) / beta;
                sigma * sigma
            }
            // The logarithm of EI has no inverse worth its price.
            _ => 0.0,
        }
    }
}

/// ln(u·Φ(u) + φ(u)).
fn log_improvement(u: f32) -> f32 {
    const LN_SQRT_2_PI: f32 = 0.918_938_5;
    if u > -6.0 {
        let density = short_exp(-0.5 * u * u - LN_SQRT_2_PI);
        let below = 0.5 * erfc(-u * core::f32::consts::FRAC_1_SQRT_2);
        ln((u * below + density).max(f32::MIN_POSITIVE))
    } else {
        let w = 1.0 / (u * u);
        ln(1.0 - 3.0 * w * (1.0 - 5.0 * w)) - 0.5 * u * u - LN_SQRT_2_PI - 2.0 * ln(-u)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn improvement_at_hand_worked_points() {
        // u = 0: φ(0) = 0.398942, ln = −0.918939. u = 1: 0.841345 + 0.241971 = 1.083316, ln = 0.080027.
        assert!((log_improvement(0.0) + 0.918_939).abs() < 1e-5);
        assert!((log_improvement(1.0) - 0.080_027).abs() < 1e-5);
        assert!((log_improvement(50.0) - ln(50.0)).abs() < 1e-5);
    }

    #[test]
    fn improvement_grows_everywhere_and_joins_its_asymptote() {
        let mut last = f32::NEG_INFINITY;
        for i in -400..100 {
            let value = log_improvement(i as f32 * 0.05);
            assert!(value > last, "at {i}: {value} after {last}");
            last = value;
        }
        assert!((log_improvement(-5.999) - log_improvement(-6.001)).abs() < 0.03);
    }

    #[test]
    fn theorem_beta_by_hand() {
        // √(ln 1000 + ln 10 − ln 0.1) = √(6.9078 + 2.3026 + 2.3026) = 3.3931
        let beta = Beta::Theorem { scale: 1.0, delta: 0.1 }.at(10, ln(1000.0));
        assert!((beta - 3.3931).abs() < 1e-3);
    }
}
