//! Sparse linear regression with the horseshoe prior, by Gibbs sampling.
//!
//! y = Xb + noise; bₖ ~ N(0, σ²τ²λₖ²), λₖ and τ half-Cauchy, p(σ²) ∝ 1/σ² (Carvalho, Polson and
//! Scott 2010). A half-Cauchy is an inverse gamma whose scale is inverse gamma, which makes every
//! conditional a standard one (Makalic and Schmidt, arXiv:1508.03884):
//!
//! | given the rest | distribution |
//! |---|---|
//! | b | normal, see [`super::gaussian`] |
//! | σ² | IG((n + p)/2, ‖y − Xb‖²/2 + Σ bₖ²/(2τ²λₖ²)) |
//! | λₖ² | IG(1, 1/νₖ + bₖ²/(2τ²σ²)) |
//! | τ² | IG((p + 1)/2, 1/ξ + Σ bₖ²/(2σ²λₖ²)) |
//! | νₖ, ξ | IG(1, 1 + 1/λₖ²), IG(1, 1 + 1/τ²) |
//!
//! **Choices**
//! - As in the authors' code, λₖ² starts uniform in (0, 1) and everything else at 1; y is centred
//!   and X is not.
//! - We also divide y by its root mean square. All scales follow σ, so only the start depends on
//!   it.
//! - A noise-free cost drives σ to 0, so variances are kept within what f64 can factorise: σ² ≥
//!   10⁻¹², τ²λₖ² ≤ 10¹², both in units of y's.

use rand::RngExt;
use rand_distr::{Distribution, Exp1, Gamma};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::design::Design;
use super::gaussian::Sampler;
use super::quadratic::Quadratic;

const LEAST_NOISE: f64 = 1e-12;
const LARGEST_PRIOR: f64 = 1e12;
/// Bounds of τ² and λₖ² alone, only to avoid infinities.
const SMALLEST: f64 = 1e-30;
const LARGEST: f64 = 1e30;

/// Draws a model from the posterior given the costs.
pub(super) fn draw(design: &Design, costs: &[f64], steps: usize, random: &mut Xoshiro256PlusPlus) -> Quadratic {
    let (y, unit) = standardise(costs);
    let mut gibbs = Gibbs::new(design, &y, random);
    (0..steps).for_each(|_| gibbs.step(random));
    let coefficients: Vec<f64> = gibbs.sampler.draw.iter().map(|b| b * unit).collect();
    design.quadratic(&coefficients)
}

/// Subtracts the mean of the costs and divides by their root mean square, which is also returned;
/// it is 1 if all costs are equal.
fn standardise(costs: &[f64]) -> (Vec<f64>, f64) {
    let n = costs.len().max(1) as f64;
    let mean = costs.iter().sum::<f64>() / n;
    let square = costs.iter().map(|cost| (cost - mean) * (cost - mean)).sum::<f64>() / n;
    let unit = if square > 0.0 { square.sqrt() } else { 1.0 };
    (costs.iter().map(|cost| (cost - mean) / unit).collect(), unit)
}

/// The state of the chain.
struct Gibbs<'a> {
    sampler: Sampler<'a>,
    noise: Gamma<f64>,
    shrinkage: Gamma<f64>,
    sigma2: f64,
    tau2: f64,
    /// 1/ξ.
    xi: f64,
    /// 1/λₖ².
    lambda: Vec<f64>,
    /// 1/νₖ.
    nu: Vec<f64>,
    /// τ²λₖ².
    d: Vec<f64>,
}

impl<'a> Gibbs<'a> {
    fn new(design: &'a Design, y: &'a [f64], random: &mut Xoshiro256PlusPlus) -> Self {
        let (n, p) = (design.rows() as f64, design.columns().len());
        // The shapes are positive because there is at least one point.
        let gamma = |shape: f64| Gamma::new(shape.max(0.5), 1.0).unwrap_or_else(|_| unreachable!("a positive shape"));
        let start = |_| (1.0 / random.random::<f64>()).clamp(SMALLEST, LARGEST);
        Self {
            sampler: Sampler::new(design, y),
            noise: gamma((n + p as f64) / 2.0),
            shrinkage: gamma((p as f64 + 1.0) / 2.0),
            sigma2: 1.0,
            tau2: 1.0,
            xi: 1.0,
            lambda: (0..p).map(start).collect(),
            nu: vec![1.0; p],
            d: vec![0.0; p],
        }
    }

    fn step(&mut self, random: &mut Xoshiro256PlusPlus) {
        for (d, lambda) in self.d.iter_mut().zip(&self.lambda) {
            *d = (self.tau2 / lambda).min(LARGEST_PRIOR);
        }
        self.sampler.sample(&self.d, self.sigma2.sqrt(), random);
        let b = &self.sampler.draw;
        let weighted: f64 = b.iter().zip(&self.d).map(|(b, d)| b * b / d).sum();
        self.sigma2 = (0.5 * (self.sampler.residual + weighted) / self.noise.sample(random)).max(LEAST_NOISE);
        // 1/IG(1, scale) is an exponential divided by the scale.
        let half = 0.5 / (self.tau2 * self.sigma2);
        let mut weighted = 0.0;
        for ((b, lambda), nu) in b.iter().zip(&mut self.lambda).zip(&mut self.nu) {
            *lambda = (random.sample::<f64, _>(Exp1) / (*nu + half * b * b)).clamp(SMALLEST, LARGEST);
            weighted += b * b * *lambda;
            *nu = random.sample::<f64, _>(Exp1) / (1.0 + *lambda);
        }
        let scale = self.xi + 0.5 * weighted / self.sigma2;
        self.tau2 = (scale / self.shrinkage.sample(random)).clamp(SMALLEST, LARGEST);
        self.xi = random.sample::<f64, _>(Exp1) / (1.0 + 1.0 / self.tau2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use std::f64::consts::FRAC_PI_2;

    /// Means over a long chain of the shrinkage factors 1/(1 + dₖ). These are bounded, so their
    /// means exist.
    fn chain(design: &Design, y: &[f64], steps: usize) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
        let mut gibbs = Gibbs::new(design, y, &mut random);
        let p = design.columns().len();
        let mut shrinkage = vec![0.0; p];
        (0..500).for_each(|_| gibbs.step(&mut random));
        for _ in 0..steps {
            gibbs.step(&mut random);
            for (mean, lambda) in shrinkage.iter_mut().zip(&gibbs.lambda) {
                *mean += lambda / (lambda + gibbs.tau2) / steps as f64;
            }
        }
        shrinkage
    }

    #[test]
    fn one_coefficient_against_numerical_integration() {
        // X = (1, 0)ᵀ, y = (1, −1). Given d = τ²λ², with b and σ integrated out: p(y | d) ∝ (1 +
        // d)^(−1/2) · (y₁²/(1 + d) + y₂²)^(−n/2), n = 2.
        let mut design = Design::new(1);
        design.push(&[true]);
        design.push(&[false]);
        // τ = tan u and λ = tan v are half-Cauchy for u, v uniform in (0, π/2).
        let cells = 800;
        let (mut total, mut sum) = (0.0, 0.0);
        for i in 0..cells {
            for j in 0..cells {
                let [u, v] = [i, j].map(|i| FRAC_PI_2 * (f64::from(i) + 0.5) / f64::from(cells));
                let d = (u.tan() * v.tan()).powi(2);
                let likelihood = 1.0 / ((1.0 + d).sqrt() * (1.0 / (1.0 + d) + 1.0));
                total += likelihood;
                sum += likelihood / (1.0 + d);
            }
        }
        let shrinkage = chain(&design, &[1.0, -1.0], 200_000);
        assert!((shrinkage[0] - sum / total).abs() < 0.01, "{} against {}", shrinkage[0], sum / total);
    }

    #[test]
    fn three_coefficients_against_weighted_draws_from_the_prior() {
        // All four points of two bits: n = 4, p = 3, solved by columns.
        let mut design = Design::new(2);
        for x in [[false, false], [true, false], [false, true], [true, true]] {
            design.push(&x);
        }
        let y = [-1.0, 0.9, -0.9, 1.0];
        weighed_against_the_prior(&design, &y);
    }

    #[test]
    fn more_coefficients_than_points_against_weighted_draws_from_the_prior() {
        // n = 2, p = 3: solved by rows.
        let mut design = Design::new(2);
        design.push(&[true, false]);
        design.push(&[true, true]);
        weighed_against_the_prior(&design, &[1.0, -1.0]);
    }

    /// Compares the chain with the shrinkage from prior draws of τ and λ, weighted by the
    /// likelihood p(y | d) ∝ |M|^(−1/2)·(yᵀM⁻¹y)^(−n/2), M = I + XDXᵀ.
    fn weighed_against_the_prior(design: &Design, y: &[f64]) {
        let (n, p) = (design.rows(), design.columns().len());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut cauchy = || (FRAC_PI_2 * random.random::<f64>()).tan();
        let (mut total, mut sums) = (0.0, vec![0.0; p]);
        for _ in 0..100_000 {
            let tau = cauchy();
            let d: Vec<f64> = (0..p).map(|_| (tau * cauchy()).powi(2).min(1e12)).collect();
            let mut m = vec![0.0; n * (n + 1)];
            for i in 0..n {
                for j in 0..n {
                    m[i * (n + 1) + j] = (0..p).map(|k| design.column(k)[i] * d[k] * design.column(k)[j]).sum();
                }
                m[i * (n + 1) + i] += 1.0;
                m[i * (n + 1) + n] = y[i];
            }
            // Elimination without pivots gives the determinant, and yᵀM⁻¹y as the sum of (reduced
            // y)²/pivot.
            let (mut determinant, mut quadratic) = (1.0, 0.0);
            for i in 0..n {
                let pivot = m[i * (n + 1) + i];
                determinant *= pivot;
                quadratic += m[i * (n + 1) + n] * m[i * (n + 1) + n] / pivot;
                for other in i + 1..n {
                    let factor = m[other * (n + 1) + i] / pivot;
                    (i..=n).for_each(|j| m[other * (n + 1) + j] -= factor * m[i * (n + 1) + j]);
                }
            }
            let weight = determinant.abs().powf(-0.5) * quadratic.powf(-0.5 * n as f64);
            total += weight;
            (0..p).for_each(|k| sums[k] += weight / (1.0 + d[k]));
        }
        let shrinkage = chain(design, y, 100_000);
        for k in 0..p {
            let expected = sums[k] / total;
            assert!((shrinkage[k] - expected).abs() < 0.02, "{k}: {} against {expected}", shrinkage[k]);
        }
    }

    #[test]
    fn a_sparse_quadratic_is_found_again() {
        // 2x₀ − 3x₁x₂ on 40 random points of 10 bits, 55 coefficients: the model ranks points as
        // the truth does.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let truth = |x: &[bool]| 2.0 * f64::from(u8::from(x[0])) - 3.0 * f64::from(u8::from(x[1] && x[2]));
        let point = |random: &mut Xoshiro256PlusPlus| (0..10).map(|_| random.random_bool(0.5)).collect::<Vec<_>>();
        let mut design = Design::new(10);
        let mut costs = Vec::new();
        for _ in 0..40 {
            let x = point(&mut random);
            costs.push(truth(&x) + 7.0);
            design.push(&x);
        }
        let model = draw(&design, &costs, 1000, &mut random);
        for _ in 0..20 {
            let (a, b) = (point(&mut random), point(&mut random));
            let error = (model.value(&a) - model.value(&b)) - (truth(&a) - truth(&b));
            assert!(error.abs() < 0.5, "{error}");
        }
    }

    #[test]
    fn equal_costs_and_one_point_give_a_model() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut design = Design::new(4);
        design.push(&[false; 4]);
        assert_eq!(draw(&design, &[3.0], 10, &mut random).value(&[true; 4]), 0.0);
        design.push(&[true; 4]);
        assert!(draw(&design, &[3.0, 3.0], 1000, &mut random).value(&[true; 4]).is_finite());
    }
}
