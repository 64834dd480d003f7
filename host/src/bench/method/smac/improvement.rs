//! Expected improvement of a cost whose logarithm is normal.
//!
//! EI = e^η·Φ(u) − e^{μ + σ²/2}·Φ(u − σ), u = (η − μ)/σ
//!
//! (Hutter, Hoos, Leyton-Brown and Murphy, *An experimental investigation of model-based parameter
//! optimisation*, GECCO 2009).
//!
//! | name | meaning |
//! |---|---|
//! | μ, σ | mean and deviation of the scaled cost's logarithm |
//! | η | the logarithm to be improved upon |
//!
//! **Choices**
//! - Costs are scaled before taking the logarithm, as in SMAC3: y = ln((f − a)/(f_max − a)), a =
//!   f_min − (f_5% − f_min), where f_5% is the fifth percentile. This spreads the best costs and
//!   squeezes the bad ones, such as the 10⁵ of an empty seesaw.
//! - Where several costs are the best, so that f_5% = f_min, the distance to a is 10⁻¹⁰ of the
//!   range.
//! - The variance is at least 10⁻¹⁰.

use super::forest::Prediction;

/// The percentile that sets how far the zero of the scale lies below the best cost.
const PERCENTILE: f64 = 0.05;
/// Least such distance, as a fraction of the range.
const LEAST_DISTANCE: f64 = 1e-10;
const LEAST_VARIANCE: f64 = 1e-10;

/// The scaled logarithms of one or more finite costs.
pub(super) fn logarithms(costs: &[f64]) -> Vec<f64> {
    let mut sorted = costs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    let range = most - least;
    if range == 0.0 {
        return vec![0.0; costs.len()];
    }
    // Interpolates linearly between two costs, as numpy does.
    let place = PERCENTILE * (sorted.len() - 1) as f64;
    let below = place as usize;
    let percentile = sorted[below] + (place - below as f64) * (sorted[below + 1] - sorted[below]);
    let distance = (percentile - least).max(LEAST_DISTANCE * range);
    costs.iter().map(|cost| libm::log((cost - least + distance) / (range + distance))).collect()
}

/// Expected improvement of a predicted logarithm over η, the logarithm to be improved upon.
pub(super) fn expected(at: Prediction, eta: f64) -> f64 {
    let variance = at.variance.max(LEAST_VARIANCE);
    let sigma = variance.sqrt();
    let u = (eta - at.mean) / sigma;
    let ei = libm::exp(eta) * below(u) - libm::exp(at.mean + 0.5 * variance) * below(u - sigma);
    ei.max(0.0)
}

/// Φ: the standard normal distribution function.
fn below(u: f64) -> f64 {
    0.5 * libm::erfc(-u * std::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_by_hand() {
        // Place 0.05·4 = 0.2 between 10 and 20: the percentile is 12, a = 8, f_max − a = 42.
        let logarithms = logarithms(&[50.0, 10.0, 20.0, 30.0, 20.0]);
        let wanted = [42.0, 2.0, 12.0, 22.0, 12.0].map(|part: f64| (part / 42.0).ln());
        assert!(logarithms.iter().zip(wanted).all(|(own, wanted)| (own - wanted).abs() < 1e-12), "{logarithms:?}");
    }

    #[test]
    fn scale_has_no_holes() {
        assert_eq!(logarithms(&[7.0]), [0.0]);
        assert_eq!(logarithms(&[1e5, 1e5, 1e5]), [0.0; 3]);
        let tied = logarithms(&[1e5, 3.0, 3.0, 3.0]);
        assert!(tied.iter().all(|y| y.is_finite()) && tied[0] > tied[1] && tied[1] == tied[3], "{tied:?}");
    }

    #[test]
    fn improvement_is_the_integral() {
        // ∫ max(e^η − e^y, 0)·N(y; μ, σ) dy by the midpoint rule on μ ± 10σ; 2·10⁵ steps make it
        // exact to 1e-9.
        for (mean, sigma, eta) in [(0.0, 1.0, -0.5_f64), (-1.0, 0.3, -1.5), (-2.0, 0.7, -1.0), (0.0, 0.05, 0.0)] {
            let (steps, width) = (200_000, 20.0 * sigma / 200_000.0);
            let integral: f64 = (0..steps)
                .map(|i| mean - 10.0 * sigma + (f64::from(i) + 0.5) * width)
                .map(|y| {
                    let z: f64 = (y - mean) / sigma;
                    (eta.exp() - y.exp()).max(0.0) * (-0.5 * z * z).exp() / (sigma * std::f64::consts::TAU.sqrt())
                        * width
                })
                .sum();
            let own = expected(Prediction { mean, variance: sigma * sigma }, eta);
            assert!((own - integral).abs() < 1e-8, "{own} {integral}");
        }
    }

    #[test]
    fn certainty_promises_what_it_says() {
        let sure = |mean| expected(Prediction { mean, variance: 0.0 }, -1.0);
        assert!((sure(-2.0) - ((-1.0f64).exp() - (-2.0f64).exp())).abs() < 1e-9);
        assert_eq!(sure(0.0), 0.0);
    }
}
