//! Hyper-parameters by marginal likelihood: a bounded quasi-Newton descent on their logarithms.
//!
//! max over θ of ln p(y | θ) + ln p(θ), θ = (the kernel's, ln noise); [`Gp`] has mean and signal
//! variance in closed form.
//!
//! **Choices**
//! - A fit starts where the last one ended, or at the typical values if these are more likely now.
//!   The latter keeps one odd set of early costs from deciding forever.
//! - A fit takes few steps: through the warm starts they add up over a run.
//! - Priors are normal on the logarithms; an infinite spread means plain maximum likelihood between
//!   bounds.
//!
//! **Cost.** n³/2 multiplications per evaluation, plus the kernel's.

use super::{Gp, Prior};
use crate::bench::method::linalg::Triangle;
use crate::bench::method::search::descend;
use crate::error::Error;

/// Bounds and prior of a hyper-parameter's logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The start of a fit and the mean of the prior.
    pub(crate) typical: f64,
    /// The standard deviation of the prior; infinite for none.
    pub(crate) spread: f64,
}

impl Range {
    /// The noise relative to the signal variance: small, because these costs are exact, but large
    /// enough to keep the factor stable.
    pub(crate) const NOISE: Self =
        Self { low: -13.815_510_557_964_274, high: 0.0, typical: -6.907_755_278_982_137, spread: 2.0 };
}

/// A covariance function with hyper-parameters over a set of points.
pub(crate) trait Kernel {
    /// The ranges of its hyper-parameters' logarithms, in order.
    fn ranges(&self) -> Vec<Range>;
    /// The covariances of the points, relative to the signal variance, without noise. θ may be
    /// longer.
    fn gram(&self, theta: &[f64]) -> Triangle;
    /// Adds the sum over the lower triangle of slope times ∂G/∂θ to the gradient. θ and gradient
    /// may be longer.
    fn add_gradient(&self, theta: &[f64], slopes: &Triangle, gradient: &mut [f64]);
}

/// Hyper-parameters and their process.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    /// The logarithms of the kernel's hyper-parameters, then that of the noise.
    pub(crate) theta: Vec<f64>,
    pub(crate) gp: Gp,
}

/// Fits a kernel and a noise to costs in at most `most_evaluations` evaluations, starting from the
/// last fit's hyper-parameters if there are any.
pub(crate) fn fit(
    kernel: &dyn Kernel,
    y: &[f64],
    prior: &Prior,
    noise: Range,
    last: Option<&[f64]>,
    most_evaluations: usize,
) -> Result<Fitted, Error> {
    let mut ranges = kernel.ranges();
    ranges.push(noise);
    let process = |theta: &[f64]| Gp::new(gram(kernel, theta), y, prior);
    let log_prior = |theta: &[f64]| -> f64 {
        let offsets = theta.iter().zip(&ranges).map(|(theta, range)| (theta - range.typical) / range.spread);
        -0.5 * offsets.map(|offset| offset * offset).sum::<f64>()
    };
    let posterior =
        |theta: &[f64]| process(theta).map_or(f64::NEG_INFINITY, |gp| gp.log_likelihood() + log_prior(theta));

    let typical: Vec<f64> = ranges.iter().map(|range| range.typical).collect();
    let start = match last {
        Some(last) if posterior(last) >= posterior(&typical) => last,
        _ => &typical,
    };
    let bounds: Vec<_> = ranges.iter().map(|range| (range.low, range.high)).collect();
    let found = descend(&bounds, start, most_evaluations, &mut |theta, gradient| {
        let Some(gp) = process(theta) else { return f64::INFINITY };
        let slopes = gp.likelihood_slopes();
        kernel.add_gradient(theta, &slopes, gradient);
        let own = (0..slopes.len()).map(|i| slopes.row(i)[i]).sum::<f64>();
        gradient[ranges.len() - 1] = own * libm::exp(theta[ranges.len() - 1]);
        for ((gradient, theta), range) in gradient.iter_mut().zip(theta).zip(&ranges) {
            // The search minimises, so the signs change.
            *gradient = (theta - range.typical) / (range.spread * range.spread) - *gradient;
        }
        -gp.log_likelihood() - log_prior(theta)
    });
    let theta = found.x;
    let gp = Gp::with_jitter(&gram(kernel, &theta), y, prior)?;
    Ok(Fitted { theta, gp })
}

/// The Gram matrix with noise on its diagonal.
fn gram(kernel: &dyn Kernel, theta: &[f64]) -> Triangle {
    let mut gram = kernel.gram(theta);
    gram.add_to_diagonal(theta.last().map_or(0.0, |log| libm::exp(*log)));
    gram
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::method::surrogate::Matern;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn reaches_the_best_likelihood_of_scikit_learn() {
        let golden: serde_json::Value =
            serde_json::from_str(include_str!("../../../../../tests/golden/gp_matern52.json")).unwrap();
        let case = golden["cases"].as_array().unwrap().iter().find(|c| !c["best_log_marginal_likelihood"].is_null());
        let case = case.unwrap();
        let points: Vec<Vec<f64>> = serde_json::from_value(case["x"].clone()).unwrap();
        let y: Vec<f64> = serde_json::from_value(case["y"].clone()).unwrap();
        let best = case["best_log_marginal_likelihood"].as_f64().unwrap();
        let range = Range { low: -5.0, high: 5.0, typical: 0.0, spread: f64::INFINITY };
        let kernel = Matern::new(&points, vec![range]);
        let prior = Prior { mean_variance: 0.0, signal_weight: 0.0 };
        let noise = Range { spread: f64::INFINITY, ..Range::NOISE };
        let fitted = fit(&kernel, &y, &prior, noise, None, 100).unwrap();
        let reached = fitted.gp.log_likelihood();
        // f32 resolves a likelihood of about 50 to 1e-4.
        assert!((reached - best).abs() < 1e-3, "reached {reached}, scikit-learn {best}");
    }

    /// Costs that depend on the first of three dimensions, whose length-scale becomes the shortest.
    #[test]
    fn finds_the_relevant_dimension_in_few_steps_a_fit() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let points: Vec<Vec<f64>> = (0..40).map(|_| (0..3).map(|_| random.random_range(0.0..1.0)).collect()).collect();
        let y: Vec<f64> = points.iter().map(|x| (6.0 * x[0]).sin()).collect();
        let range = Range { low: -4.0, high: 4.0, typical: 0.0, spread: 2.0 };
        let kernel = Matern::new(&points, vec![range; 3]);
        let mut last: Option<Fitted> = None;
        for _ in 0..6 {
            let theta = last.as_ref().map(|last| &last.theta[..]);
            last = Some(fit(&kernel, &y, &Prior::WEAK, Range::NOISE, theta, 6).unwrap());
        }
        let theta = last.unwrap().theta;
        assert!(theta[0] + 1.0 < theta[1] && theta[0] + 1.0 < theta[2], "{theta:?}");
    }
}
