//! The gradient of the posterior and of the acquisition as functions of a point x rather than a
//! combination.
//!
//! With kᵢ = k(‖x − xᵢ‖²), the gradients of mean and variance are sums over the observations (for a
//! continuous search of 𝒳, Algorithm 1):
//!
//! ∇mean = Σ ∂mean/∂kᵢ·∇kᵢ, ∇variance = Σ ∂variance/∂kᵢ·∇kᵢ, ∇kᵢ = 2·k′(‖x − xᵢ‖²)·(x − xᵢ)
//!
//! and the chain rule through [`Rule::slopes`] gives the gradient of the score.
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | x | any point, in the coordinates of the embeddings | D |
//! | xᵢ | embeddings of the observations, in the order of the process | t × D |
//! | k′ | [`Hyper::slope`] | |
//!
//! **Choices**
//! - A point between embeddings has no features, so the linear term of the kernel is left out. With
//!   w = 0, as in the paper, nothing is missing; with w > 0 this is the Matérn part alone.
//! - The posterior has the same bits as [`Gp::posterior`] of the same covariances.
//!
//! **Cost.** t² multiplications for the two substitutions, 6·t·D for the rest; 2·T numbers of
//! stack.

use crate::acquire::acquisition::Rule;
use crate::math::float::squared_distance;
use crate::surrogate::gp::{Gp, Posterior};
use crate::surrogate::kernel::Hyper;
use crate::surrogate::kernel::Pair;

/// The gradient of a posterior with respect to the point.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PosteriorGradient<const D: usize> {
    /// Of the mean.
    pub mean: [f32; D],
    /// Of the variance.
    pub variance: [f32; D],
}

/// The posterior at a point and its gradient.
pub fn posterior_gradient<'a, const D: usize, const T: usize, const P: usize>(
    gp: &Gp<T, P>,
    hyper: &Hyper,
    points: impl Iterator<Item = &'a [f32; D]> + Clone,
    x: &[f32; D],
) -> (Posterior, PosteriorGradient<D>) {
    // `k` holds the covariances and then the slopes of the variance, `slopes` the slopes of the
    // covariances with ‖x − xᵢ‖².
    let (mut k, mut slopes) = ([0.0; T], [0.0; T]);
    for ((k, slope), point) in k.iter_mut().zip(&mut slopes).zip(points.clone()) {
        let squared_distance = squared_distance(x, point);
        *k = hyper.covariance(Pair { squared_distance, product: 0.0 });
        *slope = 2.0 * hyper.slope(squared_distance);
    }
    let own = hyper.variance(Pair { squared_distance: 0.0, product: 0.0 });
    let (posterior, by_mean) = gp.posterior_slopes(own, &mut k);
    let mut gradient = PosteriorGradient { mean: [0.0; D], variance: [0.0; D] };
    for (((mean, variance), slope), point) in by_mean.iter().zip(&k).zip(&slopes).zip(points) {
        let (mean, variance) = (mean * slope, variance * slope);
        let gradients = gradient.mean.iter_mut().zip(&mut gradient.variance);
        for ((own_mean, own_variance), (x, point)) in gradients.zip(x.iter().zip(point)) {
            *own_mean += mean * (x - point);
            *own_variance += variance * (x - point);
        }
    }
    (posterior, gradient)
}

/// The score at a point and its gradient, as [`minimise`](crate::paper::continuous::minimise) needs
/// them. The smallest score wins.
///
/// ```
/// use trimtab::internals::{Gp, Random, Repeats, Rule, minimise, score_gradient};
/// use trimtab::{Hyper, Prior, sizes::triangle};
/// let hyper = Hyper { length_scale: 1.0, linear_weight: 0.0, noise: 1e-3 };
/// let mut gp = Gp::<1, { triangle(1) }>::new();
/// gp.extend(1, |_, row| row.fill(1.0 + hyper.noise))?;
/// gp.condition(&[1.0], &Prior::FIXED, Repeats::default());
/// // One bad observation at 0 in the box [−1, 3]: the best point is as far from it as possible.
/// let found = minimise(&[(-1.0, 3.0)], 3, &mut Random::new(1, 0), |x, gradient| {
///     score_gradient(&gp, &hyper, &Rule::Ucb { beta: 2.0 }, [[0.0]].iter(), x, gradient)
/// });
/// assert_eq!(found.x, [3.0]);
/// # Ok::<(), trimtab::internals::CholeskyError>(())
/// ```
pub fn score_gradient<'a, const D: usize, const T: usize, const P: usize>(
    gp: &Gp<T, P>,
    hyper: &Hyper,
    rule: &Rule,
    points: impl Iterator<Item = &'a [f32; D]> + Clone,
    x: &[f32; D],
    gradient: &mut [f32; D],
) -> f32 {
    let (posterior, own) = posterior_gradient(gp, hyper, points, x);
    let slopes = rule.slopes(posterior);
    for (gradient, (mean, variance)) in gradient.iter_mut().zip(own.mean.iter().zip(&own.variance)) {
        *gradient = slopes.mean * mean + slopes.variance * variance;
    }
    rule.score(posterior)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Prior;
    use crate::math::matrix::triangle;
    use crate::math::random::Random;
    use crate::math::times;
    use crate::paper::continuous::minimise;
    use crate::surrogate::gp::Repeats;

    const D: usize = 4;
    const N: usize = 12;
    type Process = Gp<N, { triangle(N) }>;

    struct Setting {
        points: [[f32; D]; N],
        y: [f32; N],
        hyper: Hyper,
        prior: Prior,
        gp: Process,
    }

    fn setting(seed: u64, prior: Prior) -> Setting {
        let mut random = Random::new(seed, 0);
        let points: [[f32; D]; N] = core::array::from_fn(|_| core::array::from_fn(|_| random.uniform()));
        let y = core::array::from_fn(|_| 3.0 * random.uniform() - 1.5);
        let hyper = Hyper { length_scale: 0.3 + 0.7 * random.uniform(), linear_weight: 0.0, noise: 1e-3 };
        let mut gp = Gp::new();
        gp.extend(N, |i, row| {
            for (j, (k, point)) in row.iter_mut().zip(&points).enumerate() {
                let squared_distance = squared_distance(&points[i], point);
                *k = hyper.covariance(Pair { squared_distance, product: 0.0 }) + if i == j { hyper.noise } else { 0.0 };
            }
        })
        .unwrap();
        gp.condition(&y, &prior, Repeats::default());
        Setting { points, y, hyper, prior, gp }
    }

    /// Mean and variance in f64 by elimination, independent of the process.
    fn exact(s: &Setting, x: &[f64; D]) -> (f64, f64) {
        let kernel = |a: &[f64; D], b: &[f64; D]| {
            let square: f64 = (0..D).map(|i| (a[i] - b[i]) * (a[i] - b[i])).sum();
            let r = (5.0 * square).sqrt() / f64::from(s.hyper.length_scale);
            (1.0 + r + r * r / 3.0) * (-r).exp()
        };
        let points = s.points.map(|point| point.map(f64::from));
        // K, and beside it the three right-hand sides k, 1 and y.
        let mut a = [[0.0f64; N + 3]; N];
        for i in 0..N {
            (0..N).for_each(|j| a[i][j] = kernel(&points[i], &points[j]) + if i == j { 1e-3f32.into() } else { 0.0 });
            (a[i][N], a[i][N + 1], a[i][N + 2]) = (kernel(&points[i], x), 1.0, f64::from(s.y[i]));
        }
        let right = a;
        for i in 0..N {
            let pivot = a[i];
            for (_, row) in a.iter_mut().enumerate().filter(|(j, _)| *j != i) {
                let factor = row[i] / pivot[i];
                (0..N + 3).for_each(|j| row[j] -= factor * pivot[j]);
            }
        }
        // bᵀK⁻¹c of two right-hand sides.
        let form = |b: usize, c: usize| (0..N).map(|i| right[i][N + b] * a[i][N + c] / a[i][i]).sum::<f64>();
        let (precision, weight) = (f64::from(s.prior.mean_precision), f64::from(s.prior.signal_weight));
        let mean_variance = 1.0 / (form(1, 1) + precision);
        let mu = form(1, 2) * mean_variance;
        let square = form(2, 2) - form(1, 2) * mu;
        let signal = if weight.is_finite() { (square + weight) / (N as f64 + weight) } else { 1.0 };
        let ones = 1.0 - form(0, 1);
        (mu + form(0, 2) - mu * form(0, 1), signal * (1.0 - form(0, 0) + ones * ones * mean_variance))
    }

    fn exact_score(s: &Setting, rule: &Rule, x: &[f64; D]) -> f64 {
        let (mean, variance) = exact(s, x);
        match rule {
            Rule::Ucb { beta } => mean - f64::from(*beta) * variance.sqrt(),
            Rule::ExpectedImprovement { best } => {
                let (sigma, u) = (variance.sqrt(), (f64::from(*best) - mean) / variance.sqrt());
                let density = (-0.5 * u * u).exp() / (2.0 * core::f64::consts::PI).sqrt();
                -(sigma * (u * 0.5 * libm::erfc(-u / 2.0f64.sqrt()) + density)).ln()
            }
        }
    }

    fn difference(x: &[f32; D], i: usize, f: impl Fn(&[f64; D]) -> f64) -> f64 {
        let at = |step: f64| f(&core::array::from_fn(|j| f64::from(x[j]) + if i == j { step } else { 0.0 }));
        (at(1e-5) - at(-1e-5)) / 2e-5
    }

    #[test]
    fn gradients_agree_with_differences_of_an_exact_process() {
        let mut worst = [0.0f64; 4];
        for (seed, prior) in
            (0..times(30, 1)).zip([Prior::WEAK, Prior::FIXED, Prior::MAXIMUM_LIKELIHOOD].iter().cycle())
        {
            let s = setting(seed, *prior);
            let mut random = Random::new(seed, 1);
            for _ in 0..times(10, 1) {
                let x: [f32; D] = core::array::from_fn(|_| 1.4 * random.uniform() - 0.2);
                let (posterior, own) = posterior_gradient(&s.gp, &s.hyper, s.points.iter(), &x);
                let plain = s.gp.posterior(1.0, |k| {
                    for (k, point) in k.iter_mut().zip(&s.points) {
                        let squared_distance = squared_distance(&x, point);
                        *k = s.hyper.covariance(Pair { squared_distance, product: 0.0 });
                    }
                });
                assert_eq!(posterior, plain);
                let rules = [Rule::Ucb { beta: 2.0 }, Rule::ExpectedImprovement { best: -1.0 }];
                let scores = rules.map(|rule| {
                    let mut gradient = [0.0; D];
                    let score = score_gradient(&s.gp, &s.hyper, &rule, s.points.iter(), &x, &mut gradient);
                    assert_eq!(score, rule.score(posterior));
                    gradient
                });
                for (i, (ucb, improvement)) in scores[0].iter().zip(&scores[1]).enumerate() {
                    let errors = [
                        (own.mean[i], difference(&x, i, |x| exact(&s, x).0)),
                        (own.variance[i], difference(&x, i, |x| exact(&s, x).1)),
                        (*ucb, difference(&x, i, |x| exact_score(&s, &rules[0], x))),
                        (*improvement, difference(&x, i, |x| exact_score(&s, &rules[1], x))),
                    ];
                    for (worst, (own, exact)) in worst.iter_mut().zip(errors) {
                        *worst = worst.max((f64::from(own) - exact).abs() / (1.0 + exact.abs()));
                    }
                }
            }
        }
        // Absolute plus relative. K has a condition of about 1e4 here, which hardly shows in means
        // and variances: the worst is 1.3e-5. EI divides by u·Φ + φ, which cancels: 1.5e-4.
        assert!(worst.iter().zip([5e-5, 5e-5, 5e-5, 5e-4]).all(|(worst, most)| *worst < most), "{worst:?}");
    }

    #[test]
    fn at_an_observation_the_gradient_is_finite() {
        let s = setting(1, Prior::WEAK);
        let (_, own) = posterior_gradient(&s.gp, &s.hyper, s.points.iter(), &s.points[3]);
        assert!(own.mean.iter().chain(&own.variance).all(|slope| slope.is_finite()));
        // Without observations the posterior is the prior, and flat.
        let (posterior, own) = posterior_gradient(&Process::new(), &s.hyper, [].iter(), &[0.5; D]);
        assert_eq!((posterior.mean, own.mean, own.variance), (0.0, [0.0; D], [0.0; D]));
    }

    /// The minimum over the box is below all of many random points.
    #[test]
    fn the_acquisition_is_minimised_over_the_box() {
        for seed in 0..times(6, 1) {
            let s = setting(seed, Prior::WEAK);
            for rule in [Rule::Ucb { beta: 2.0 }, Rule::ExpectedImprovement { best: -1.3 }] {
                let mut random = Random::new(seed, 2);
                let mut f = |x: &[f32; D], gradient: &mut [f32; D]| {
                    score_gradient(&s.gp, &s.hyper, &rule, s.points.iter(), x, gradient)
                };
                let found = minimise(&[(-0.2, 1.2); D], times(10, 1), &mut random, &mut f);
                let sampled = (0..times(3000, 5)).fold(f32::INFINITY, |least, _| {
                    let x: [f32; D] = core::array::from_fn(|_| 1.4 * random.uniform() - 0.2);
                    least.min(f(&x, &mut [0.0; D]))
                });
                assert!(found.value <= sampled, "{rule:?} {found:?} {sampled}");
            }
        }
    }
}
