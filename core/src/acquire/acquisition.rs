//! How much a combination is worth measuring: GP-UCB and expected improvement. The smallest score
//! wins.
//!
//! GP-UCB: μ − β·σ, β_t constant or √ln(N·t/δ) (section 5, Theorem 1). It keeps its name although
//! we minimise: it is the *lower* bound. Expected improvement: EI = σ·(u·Φ(u) + φ(u)), u = (best −
//! μ)/σ; the score is −ln EI.
//!
//! | name | meaning |
//! |---|---|
//! | μ, σ | posterior mean and deviation of the standardised cost |
//! | best | the smallest standardised cost so far |
//! | t | number of observations |
//! | N | number of combinations |
//!
//! **Choices**
//! - The theorem leaves the constant of β_t open: it is `scale`.
//! - EI is compared by its logarithm, which still orders candidates where EI itself is zero in f32.
//!   Below u = −6 its asymptotic series is used, because u·Φ + φ cancels there.
//! - Slopes, for a continuous search, are those of the score as computed: below the smallest
//!   variance the score does not depend on it.
//!
//! **Cost.** UCB: one root. EI: an exponential, an error function and a logarithm more.

use crate::config::{Acquisition, Beta};
use crate::math::float::{erfc, ln, short_exp, sqrt};
use crate::surrogate::gp::Posterior;

impl Beta {
    /// β at t observations, given ln N of the space.
    pub fn at(&self, t: usize, log_cardinality: f32) -> f32 {
        match self {
            Self::Constant(beta) => *beta,
            Self::Logarithmic(scale) => scale * ln(t as f32 + 1.0),
            Self::Theorem { scale, delta } => {
                scale * sqrt((log_cardinality + ln(t.max(1) as f32) - ln(*delta)).max(0.0))
            }
        }
    }
}

impl Acquisition {
    /// The rule with its constants for one ask.
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
/// use trimtab::internals::{Posterior, Rule};
/// let [sure, unsure] = [0.01, 1.0].map(|variance| Posterior::new(0.0, variance));
/// for rule in [Rule::Ucb { beta: 2.0 }, Rule::ExpectedImprovement { best: -1.0 }] {
///     assert!(rule.score(unsure) < rule.score(sure));
/// }
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

/// A smaller variance is rounding error.
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

/// The derivatives of a score with respect to the posterior.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Slopes {
    /// With respect to the mean.
    pub mean: f32,
    /// With respect to the variance.
    pub variance: f32,
}

impl Rule {
    /// The derivatives of the score with respect to the mean and the variance.
    ///
    /// UCB: 1 and −β/2σ. −ln EI: Φ/(σE) and −φ/(2σ²E), E = u·Φ + φ.
    pub fn slopes(&self, posterior: Posterior) -> Slopes {
        let sigma = sqrt(posterior.variance.max(LEAST_VARIANCE));
        // The derivatives with respect to μ and σ.
        let (mean, deviation) = match self {
            Self::Ucb { beta } => (1.0, -beta),
            Self::ExpectedImprovement { best } => {
                let (below, density) = improvement_shares((best - posterior.mean) / sigma);
                (below / sigma, -density / sigma)
            }
        };
        let varies = posterior.variance > LEAST_VARIANCE;
        Slopes { mean, variance: if varies { deviation / (2.0 * sigma) } else { 0.0 } }
    }
}

/// Rounding margin when pruning: a bound must beat the best score by this much, far above the
/// rounding of a mean.
const MARGIN: f32 = 1e-3;

impl Rule {
    /// The smallest variance with which a candidate of this mean could still score below `best`; 0
    /// if unknown.
    pub fn needed_variance(&self, mean: f32, best: f32) -> f32 {
        match self {
            Self::Ucb { beta } if mean - best > MARGIN && *beta > 0.0 => {
                let sigma = (mean - best - MARGIN) / beta;
                sigma * sigma
            }
            // Inverting the logarithm of EI costs more than it saves.
            _ => 0.0,
        }
    }
}

/// φ(u) and Φ(u).
fn density_and_below(u: f32) -> (f32, f32) {
    let below = 0.5 * erfc(-u * core::f32::consts::FRAC_1_SQRT_2);
    (short_exp(-0.5 * u * u - LN_SQRT_2_PI), below)
}

/// ln √2π.
const LN_SQRT_2_PI: f32 = 0.918_938_5;
/// Below this, u·Φ + φ cancels.
const ASYMPTOTIC: f32 = -6.0;

/// ln(u·Φ(u) + φ(u)).
fn log_improvement(u: f32) -> f32 {
    if u > ASYMPTOTIC {
        let (density, below) = density_and_below(u);
        ln((u * below + density).max(f32::MIN_POSITIVE))
    } else {
        let w = 1.0 / (u * u);
        ln(1.0 - 3.0 * w * (1.0 - 5.0 * w)) - 0.5 * u * u - LN_SQRT_2_PI - 2.0 * ln(-u)
    }
}

/// Φ/(u·Φ + φ), the derivative of [`log_improvement`], and φ/(u·Φ + φ), which is 1 minus u times
/// the first.
fn improvement_shares(u: f32) -> (f32, f32) {
    if u > ASYMPTOTIC {
        let (density, below) = density_and_below(u);
        let whole = (u * below + density).max(f32::MIN_POSITIVE);
        (below / whole, density / whole)
    } else {
        let w = 1.0 / (u * u);
        let slope = (6.0 * w * (1.0 - 10.0 * w) / (1.0 - 3.0 * w * (1.0 - 5.0 * w)) - 2.0) / u - u;
        (slope, 1.0 - u * slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn improvement_at_hand_worked_points() {
        // u = 0: φ(0) = 0.398942, ln = −0.918939. u = 1: 0.841345 + 0.241971 = 1.083316, ln =
        // 0.080027.
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

    /// Against differences of the definition in f64, above −6, where it does not cancel.
    #[test]
    fn slopes_are_the_derivatives_of_the_score() {
        let exact = |best: f64, mean: f64, variance: f64| {
            let (sigma, u) = (variance.sqrt(), (best - mean) / variance.sqrt());
            let below = 0.5 * libm::erfc(-u / 2.0f64.sqrt());
            let density = (-0.5 * u * u).exp() / (2.0 * core::f64::consts::PI).sqrt();
            -(sigma * (u * below + density)).ln()
        };
        for i in -59..40 {
            for variance in [0.01, 0.7, 3.0] {
                let mean = -0.1 * f64::from(i) * f64::sqrt(variance);
                let own = Rule::ExpectedImprovement { best: 0.0 }.slopes(Posterior::new(mean as f32, variance as f32));
                let by_mean = (exact(0.0, mean + 1e-6, variance) - exact(0.0, mean - 1e-6, variance)) / 2e-6;
                let step = 1e-5 * variance;
                let by_variance =
                    (exact(0.0, mean, variance + step) - exact(0.0, mean, variance - step)) / (2.0 * step);
                // erfc is exact to 4e-6; u·Φ + φ cancels to a fiftieth at −6.
                let close = |own: f32, exact: f64| (f64::from(own) - exact).abs() < 5e-4 * exact.abs();
                assert!(
                    close(own.mean, by_mean) && close(own.variance, by_variance),
                    "{i} {variance} {own:?} {by_mean} {by_variance}"
                );
            }
        }
        // The series below −6 continues it, and is the derivative of the score's own series.
        let slopes = |u: f32| Rule::ExpectedImprovement { best: 0.0 }.slopes(Posterior::new(-u, 1.0));
        let (above, below) = (slopes(-5.999), slopes(-6.001));
        assert!((above.mean - below.mean).abs() < 0.01 * above.mean);
        assert!((above.variance - below.variance).abs() < 0.01 * above.variance.abs());
        let difference = (log_improvement(-19.75) - log_improvement(-20.25)) / 0.5;
        assert!((slopes(-20.0).mean - difference).abs() < 1e-3 * difference);
        // A variance that is rounding error changes nothing.
        assert_eq!(Rule::Ucb { beta: 2.0 }.slopes(Posterior::new(0.0, 0.0)).variance, 0.0);
    }

    #[test]
    fn theorem_beta_by_hand() {
        // √(ln 1000 + ln 10 − ln 0.1) = √(6.9078 + 2.3026 + 2.3026) = 3.3931
        let beta = Beta::Theorem { scale: 1.0, delta: 0.1 }.at(10, ln(1000.0));
        assert!((beta - 3.3931).abs() < 1e-3);
    }

    #[test]
    fn ucb_by_hand() {
        let posterior = Posterior::new(1.0, 4.0);
        let rule = Acquisition::Ucb(Beta::Constant(3.0)).prepare(10, 4.8, -1.5);
        assert_eq!((rule, rule.score(posterior)), (Rule::Ucb { beta: 3.0 }, 1.0 - 3.0 * 2.0));
        assert_eq!(rule.slopes(posterior), Slopes { mean: 1.0, variance: -0.75 });
        let improvement = Acquisition::ExpectedImprovement.prepare(10, 4.8, -1.5);
        assert_eq!(improvement, Rule::ExpectedImprovement { best: -1.5 });
    }

    /// Just below the needed variance a candidate cannot beat the best score, just above it can.
    #[test]
    fn the_needed_variance_is_the_least_that_can_win() {
        for beta in [0.5, 2.0, 9.0] {
            let rule = Rule::Ucb { beta };
            let variance = rule.needed_variance(1.0, -2.0);
            assert!(rule.score(Posterior::new(1.0, variance)) > -2.0);
            assert!(rule.score(Posterior::new(1.0, variance * 1.01)) < -2.0);
            assert_eq!(rule.needed_variance(-3.0, -2.0), 0.0);
        }
        assert_eq!(Rule::ExpectedImprovement { best: 0.0 }.needed_variance(1.0, -2.0), 0.0);
    }

    /// Φ/E and φ/E of the series, against their definition in f64.
    #[test]
    fn the_shares_below_minus_six_are_those_of_the_definition() {
        for i in 61..110 {
            let u = -0.1 * f64::from(i);
            let below = 0.5 * libm::erfc(-u / 2.0f64.sqrt());
            let density = (-0.5 * u * u).exp() / (2.0 * core::f64::consts::PI).sqrt();
            let whole = u * below + density;
            let (own_below, own_density) = improvement_shares(u as f32);
            // Two terms of the series are left out: 1/u⁶ of each.
            let close = |own: f32, exact: f64| (f64::from(own) / exact - 1.0).abs() < 0.02;
            assert!(close(own_below, below / whole) && close(own_density, density / whole), "{u}");
        }
    }
}
