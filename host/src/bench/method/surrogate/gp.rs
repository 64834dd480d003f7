//! The Gaussian process: a Gram matrix and costs in, posterior and likelihood out.
//!
//! y ~ N(0, s²K), K = G + m·11ᵀ: the Gram matrix G of the observations, with noise on its diagonal,
//! and a constant mean of variance m that is integrated out. For a point with covariances k
//! (including m) and prior variance κ (including m)
//!
//! mean = kᵀK⁻¹y, variance = s²·(κ − kᵀK⁻¹k)
//!
//! ln p(y) = −½·(yᵀK⁻¹y/s² + ln|K| + n·ln 2πs²), ∂ ln p/∂K = ½·(ααᵀ/s² − K⁻¹), α =
//! K⁻¹y
//!
//! (Rasmussen and Williams 2006, sections 2.2, 2.7 and 5.4).
//!
//! | name | meaning | in the code |
//! |---|---|---|
//! | s² | signal variance; all covariances are relative to it | `signal` |
//! | α | weights of the covariances in the mean | `weights` |
//! | w | number of pseudo-observations that say s² = 1 | `signal_weight` |
//!
//! **Choices**
//! - The process knows no points and no kernels: callers pass covariances and get slopes with
//!   respect to them.
//! - A constant mean is one more covariance, the same everywhere, so it needs no formula of its own
//!   and its uncertainty is part of the variance.
//! - s² = (w + yᵀK⁻¹y)/(w + n) is the optimum given K, with w = 0 for maximum likelihood. No search
//!   is needed, and slopes with respect to K hold at that s².
//!
//! **Cost.** n³/6 multiplications to condition, n²/2 per posterior, n² with its slopes, n³/3 more
//! for the slopes of the likelihood.

use crate::bench::method::linalg::{Cholesky, Triangle, dot};
use crate::error::Error;

/// The prior of mean and signal variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prior {
    /// m: variance of the constant mean about zero, relative to the signal variance; 0 fixes it at
    /// zero.
    pub(crate) mean_variance: f64,
    /// w: number of pseudo-observations that say the signal variance is 1; infinity fixes it.
    pub(crate) signal_weight: f64,
}

impl Prior {
    /// For standardised costs, as in core: a tenth of a measurement for the mean and one for the
    /// variance.
    pub(crate) const WEAK: Self = Self { mean_variance: 10.0, signal_weight: 1.0 };
    /// Mean zero and the variance of the Gram matrix: nothing is fitted.
    #[allow(dead_code, reason = "for kernels that sample all their hyper-parameters")]
    pub(crate) const FIXED: Self = Self { mean_variance: 0.0, signal_weight: f64::INFINITY };
}

/// Mean and variance of the latent function at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Posterior {
    pub(crate) mean: f64,
    /// Never below zero.
    pub(crate) variance: f64,
}

/// The smallest signal variance; equal costs have none.
const LEAST_SIGNAL: f64 = 1e-12;
/// The first jitter to try on a Gram matrix that has no factor, relative to its diagonal.
const FIRST_JITTER: f64 = 1e-10;
const LN_2_PI: f64 = 1.837_877_066_409_345_5;

/// A process conditioned on its observations.
#[derive(Clone, Debug)]
pub(crate) struct Gp {
    factor: Cholesky,
    weights: Vec<f64>,
    mean_variance: f64,
    signal: f64,
    log_likelihood: f64,
}

impl Gp {
    /// Takes a Gram matrix with noise on its diagonal, and as many costs. Returns `None` if the
    /// matrix is not positive definite.
    pub(crate) fn new(mut gram: Triangle, y: &[f64], prior: &Prior) -> Option<Self> {
        debug_assert_eq!(gram.len(), y.len());
        gram.entries_mut().iter_mut().for_each(|entry| *entry += prior.mean_variance);
        let factor = Cholesky::new(gram)?;
        let mut weights = y.to_vec();
        factor.forward(&mut weights);
        let (n, square, w) = (y.len() as f64, dot(&weights, &weights), prior.signal_weight);
        factor.backward(&mut weights);
        let (signal, misfit) = if w.is_finite() {
            let signal = ((w + square) / (w + n)).max(LEAST_SIGNAL);
            // ln p(y) + ln p(s²), where the inverse gamma prior acts like w more costs of square 1.
            (signal, w * libm::log(signal) + (w + square) / signal)
        } else {
            (1.0, square)
        };
        let log_likelihood = -0.5 * (misfit + factor.log_determinant() + n * (LN_2_PI + libm::log(signal)));
        let finite = log_likelihood.is_finite();
        finite.then_some(Self { factor, weights, mean_variance: prior.mean_variance, signal, log_likelihood })
    }

    /// Like [`Self::new`], for a Gram matrix that may lack a factor because of rounding: tries
    /// growing jitter, up to the whole diagonal.
    pub(crate) fn with_jitter(gram: &Triangle, y: &[f64], prior: &Prior) -> Result<Self, Error> {
        let largest = (0..gram.len()).map(|i| gram.row(i)[i]).fold(0.0, f64::max);
        let jitters = std::iter::once(0.0)
            .chain(std::iter::successors(Some(FIRST_JITTER), |jitter| Some(10.0 * jitter)).take_while(|j| *j <= 1.0));
        let mut tries = jitters.filter_map(|jitter| {
            let mut gram = gram.clone();
            gram.add_to_diagonal(jitter * largest);
            Self::new(gram, y, prior)
        });
        tries.next().ok_or_else(|| {
            Error::Failed("a surrogate cannot be fitted; all costs must be finite and below 1e150".into())
        })
    }

    /// Number of observations.
    pub(crate) fn len(&self) -> usize {
        self.factor.len()
    }

    /// ln p(y), plus ln p(s²) up to a constant if the prior has a weight.
    pub(crate) fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// The slopes of the likelihood with respect to the entries of the Gram matrix. Its derivative
    /// by any hyper-parameter is the sum over the lower triangle of slope times ∂G; an entry off
    /// the diagonal also stands for its twin.
    pub(crate) fn likelihood_slopes(&self) -> Triangle {
        let mut slopes = self.factor.inverse();
        for i in 0..self.len() {
            let factor = self.weights[i] / self.signal;
            let row = slopes.row_mut(i);
            row.iter_mut().zip(&self.weights).for_each(|(slope, weight)| *slope = factor * weight - *slope);
            row[i] *= 0.5;
        }
        slopes
    }

    /// s².
    pub(crate) fn signal(&self) -> f64 {
        self.signal
    }

    /// b ← G⁻¹b, where G has the noise and the variance of the mean.
    pub(crate) fn weigh(&self, b: &mut [f64]) {
        self.factor.forward(b);
        self.factor.backward(b);
    }

    /// The posterior of a point with this prior variance and these covariances, which are
    /// overwritten.
    pub(crate) fn posterior(&self, own: f64, k: &mut [f64]) -> Posterior {
        k.iter_mut().for_each(|k| *k += self.mean_variance);
        let mean = dot(k, &self.weights);
        self.factor.forward(k);
        Posterior { mean, variance: self.variance(own, k) }
    }

    /// The posterior and its slopes with respect to the covariances: returns ∂mean/∂k and
    /// overwrites k with ∂variance/∂k.
    pub(crate) fn posterior_slopes(&self, own: f64, k: &mut [f64]) -> (Posterior, &[f64]) {
        let posterior = self.posterior(own, k);
        self.factor.backward(k);
        k.iter_mut().for_each(|k| *k *= -2.0 * self.signal);
        (posterior, &self.weights)
    }

    /// The variance from L⁻¹k.
    fn variance(&self, own: f64, whitened: &[f64]) -> f64 {
        self.signal * (own + self.mean_variance - dot(whitened, whitened)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::method::surrogate::matern::matern52;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Golden {
        cases: Vec<serde_json::Value>,
    }

    #[derive(Deserialize)]
    struct Case {
        length_scale: f64,
        signal_variance: f64,
        noise_variance: f64,
        x: Vec<Vec<f64>>,
        y: Vec<f64>,
        query: Vec<Vec<f64>>,
        mean: Vec<f64>,
        std_dev: Vec<f64>,
        log_marginal_likelihood: f64,
    }

    #[test]
    fn posterior_and_likelihood_agree_with_scikit_learn() {
        let golden: Golden =
            serde_json::from_str(include_str!("../../../../../tests/golden/gp_matern52.json")).unwrap();
        let cases: Vec<Case> = golden.cases.into_iter().filter_map(|case| serde_json::from_value(case).ok()).collect();
        assert_eq!(cases.len(), 5);
        for case in cases {
            let covariance = |a: &[f64], b: &[f64]| {
                let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
                case.signal_variance * matern52(square / (case.length_scale * case.length_scale))
            };
            let mut gram = Triangle::from_fn(case.x.len(), |i, j| covariance(&case.x[i], &case.x[j]));
            gram.add_to_diagonal(case.noise_variance);
            let gp = Gp::new(gram, &case.y, &Prior::FIXED).unwrap();
            assert!((gp.log_likelihood() - case.log_marginal_likelihood).abs() < 1e-8);
            for ((query, mean), std_dev) in case.query.iter().zip(&case.mean).zip(&case.std_dev) {
                let mut k: Vec<f64> = case.x.iter().map(|x| covariance(query, x)).collect();
                let posterior = gp.posterior(case.signal_variance, &mut k);
                assert!((posterior.mean - mean).abs() < 1e-8 && (posterior.variance.sqrt() - std_dev).abs() < 1e-8);
            }
        }
    }

    /// Four points on a line.
    fn gram(length: f64, noise: f64) -> Triangle {
        let mut gram = Triangle::from_fn(4, |i, j| matern52(((i - j) as f64 / length).powi(2)));
        gram.add_to_diagonal(noise);
        gram
    }

    const Y: [f64; 4] = [0.3, -1.0, 0.4, 2.0];

    #[test]
    fn the_best_mean_and_variance_are_those_of_the_formulas() {
        // A mean of nearly infinite variance is the generalised least squares estimate:
        // 1ᵀG⁻¹y/1ᵀG⁻¹1.
        let prior = Prior { mean_variance: 1e9, signal_weight: 0.0 };
        let gp = Gp::new(gram(1.5, 0.1), &Y, &prior).unwrap();
        let factor = Cholesky::new(gram(1.5, 0.1)).unwrap();
        let mut weights = [1.0; 4];
        factor.solve(&mut weights);
        let mean = dot(&weights, &Y) / weights.iter().sum::<f64>();
        // Far from all observations the posterior is the mean.
        assert!((gp.posterior(1.0, &mut [0.0; 4]).mean - mean).abs() < 1e-5);
        // s² maximizes the likelihood: other fixed s², as a factor of the Gram matrix, are less
        // likely.
        let own = Gp::new(gram(1.5, 0.1), &Y, &Prior { mean_variance: 0.0, signal_weight: 0.0 }).unwrap();
        for factor in [1.0, 0.9, 1.1] {
            let mut scaled = gram(1.5, 0.1);
            scaled.entries_mut().iter_mut().for_each(|entry| *entry *= factor * own.signal);
            let other = Gp::new(scaled, &Y, &Prior::FIXED).unwrap().log_likelihood();
            let difference = own.log_likelihood() - other;
            assert!(if factor == 1.0 { difference.abs() < 1e-12 } else { difference > 1e-3 });
        }
    }

    #[test]
    fn slopes_are_differences() {
        for prior in [Prior::WEAK, Prior::FIXED, Prior { mean_variance: 2.0, signal_weight: 0.0 }] {
            let gp = Gp::new(gram(1.5, 0.1), &Y, &prior).unwrap();
            let slopes = gp.likelihood_slopes();
            for entry in 0..slopes.entries().len() {
                let [above, below] = [1e-6, -1e-6].map(|step| {
                    let mut gram = gram(1.5, 0.1);
                    gram.entries_mut()[entry] += step;
                    Gp::new(gram, &Y, &prior).unwrap().log_likelihood()
                });
                assert!(((above - below) / 2e-6 - slopes.entries()[entry]).abs() < 1e-7, "{prior:?} {entry}");
            }
            let k = [0.1, 0.5, 0.4, 0.2];
            let mut by_variance = k;
            let (_, by_mean) = gp.posterior_slopes(1.0, &mut by_variance);
            for i in 0..4 {
                let [above, below] = [1e-6, -1e-6].map(|step| {
                    let mut k = k;
                    k[i] += step;
                    gp.posterior(1.0, &mut k)
                });
                assert!(((above.mean - below.mean) / 2e-6 - by_mean[i]).abs() < 1e-7, "{prior:?}");
                assert!(((above.variance - below.variance) / 2e-6 - by_variance[i]).abs() < 1e-7, "{prior:?}");
            }
        }
    }

    #[test]
    fn equal_places_and_equal_costs_are_no_trouble() {
        let ones = Triangle::from_fn(3, |_, _| 1.0);
        assert!(Gp::new(ones.clone(), &[0.0; 3], &Prior::WEAK).is_none());
        let gp = Gp::with_jitter(&ones, &[0.0; 3], &Prior { mean_variance: 0.0, signal_weight: 0.0 }).unwrap();
        assert!(gp.posterior(1.0, &mut [1.0; 3]).variance >= 0.0);
        assert!(Gp::with_jitter(&ones, &[f64::NAN; 3], &Prior::WEAK).is_err());
    }
}
