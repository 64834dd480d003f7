//! Acquisition functions: the smallest score wins.
//!
//! UCB: μ − βσ. Expected improvement: −ln EI, EI = σ·(u·Φ(u) + φ(u)), u = (best − μ)/σ.
//!
//! **Choices**
//! - The logarithm has its minima where EI has its maxima, and a slope even where EI vanishes
//!   (Ament et al. 2023).

use super::Posterior;

/// An acquisition with its constants for one ask.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    /// μ − βσ.
    Ucb { beta: f64 },
    /// −ln EI below the smallest cost so far.
    ExpectedImprovement { best: f64 },
}

impl Rule {
    /// GP-UCB with the weight 2·ln(t + 1) for t observations, as in the paper's software and in
    /// `Config::paper()`.
    pub(crate) fn paper_ucb(observations: usize) -> Self {
        Self::Ucb { beta: 2.0 * libm::log(observations as f64 + 1.0) }
    }

    pub(crate) fn score(&self, posterior: Posterior) -> f64 {
        self.score_and_slopes(posterior).0
    }

    /// The score and its derivatives with respect to mean and variance.
    pub(crate) fn score_and_slopes(&self, posterior: Posterior) -> (f64, f64, f64) {
        let sigma = posterior.variance.max(LEAST_VARIANCE).sqrt();
        let (score, by_mean, by_sigma) = match self {
            Self::Ucb { beta } => (posterior.mean - beta * sigma, 1.0, -beta),
            Self::ExpectedImprovement { best } => {
                let (log, below, density) = improvement((best - posterior.mean) / sigma);
                (-(libm::log(sigma) + log), below / sigma, -density / sigma)
            }
        };
        let varies = posterior.variance > LEAST_VARIANCE;
        (score, by_mean, if varies { by_sigma / (2.0 * sigma) } else { 0.0 })
    }
}

/// Smaller variances are rounding errors.
const LEAST_VARIANCE: f64 = 1e-18;
/// ln √2π.
const LN_SQRT_2_PI: f64 = 0.918_938_533_204_672_7;
/// Below this φ soon underflows in f64; above it u·Φ + φ loses at most three digits.
const ASYMPTOTIC: f64 = -30.0;

/// ln E, Φ/E and φ/E of E = u·Φ(u) + φ(u).
fn improvement(u: f64) -> (f64, f64, f64) {
    let log_density = -0.5 * u * u - LN_SQRT_2_PI;
    if u > ASYMPTOTIC {
        let density = libm::exp(log_density);
        let below = 0.5 * libm::erfc(-u * std::f64::consts::FRAC_1_SQRT_2);
        let whole = u * below + density;
        (libm::log(whole), below / whole, density / whole)
    } else {
        // E = φ/u²·(1 − 3/u² + 15/u⁴ − …), Φ = φ/|u|·(1 − 1/u² + 3/u⁴ − …).
        let w = 1.0 / (u * u);
        let series = 1.0 - 3.0 * w * (1.0 - 5.0 * w * (1.0 - 7.0 * w));
        let below = -(1.0 - w * (1.0 - 3.0 * w * (1.0 - 5.0 * w))) / u;
        (log_density + libm::log(w * series), below / (w * series), 1.0 / (w * series))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn improvement_at_hand_worked_points() {
        // u = 0: φ(0) = 0.398942, ln = −0.918939. u = 1: 0.841345 + 0.241971 = 1.083316, ln =
        // 0.080027.
        assert!((improvement(0.0).0 + 0.918_939).abs() < 1e-6);
        assert!((improvement(1.0).0 - 0.080_027).abs() < 1e-6);
        let (above, below) = (improvement(-29.999_999), improvement(-30.000_001));
        // The slope there is −30, so the two differ by 6e-5.
        assert!((above.0 - below.0 - 6e-5).abs() < 1e-6, "{above:?} {below:?}");
        assert!((above.1 / below.1 - 1.0).abs() < 1e-6 && (above.2 / below.2 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn slopes_are_differences() {
        for rule in [Rule::Ucb { beta: 2.0 }, Rule::ExpectedImprovement { best: 0.1 }] {
            for mean in [-2.0, 0.0, 0.5, 3.0, 20.0, 60.0] {
                let at = |mean, variance| rule.score(Posterior { mean, variance });
                let (_, by_mean, by_variance) = rule.score_and_slopes(Posterior { mean, variance: 1.3 });
                let close = |own: f64, other: f64| (own - other).abs() < 1e-5 * other.abs().max(1e-2);
                assert!(close(by_mean, (at(mean + 1e-5, 1.3) - at(mean - 1e-5, 1.3)) / 2e-5), "{rule:?} {mean}");
                assert!(close(by_variance, (at(mean, 1.3 + 1e-5) - at(mean, 1.3 - 1e-5)) / 2e-5), "{rule:?} {mean}");
            }
        }
    }
}
