//! Draws of a linear model's coefficients, given the noise and each coefficient's prior variance.
//!
//! b | y ~ N(A⁻¹Xᵀy, σ²A⁻¹), A = XᵀX + diag(1/d), where y = Xb + noise of variance σ² and bₖ has
//! the prior N(0, σ²dₖ).
//!
//! Two algorithms with the same distribution, O(n³) and O(p³): Bhattacharya, Chakraborty and
//! Mallick (arXiv:1506.04778) for n < p, and Rue (2001) for n ≥ p. The first draws z, δ normal,
//! solves (I + XDXᵀ)·w = y/σ − X√d·z − δ, and sets b = σ(√d·z + D·Xᵀw). The residual comes for
//! free: y − Xb = σ(w + δ).
//!
//! **Choices**
//! - With σ factored out as above, exact pivots are at least 1 in the first factorisation and 1/dₖ
//!   in the second. Pivots that rounding pushes below are raised to these floors, so no
//!   factorisation fails.

use rand::RngExt;
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::design::Design;
use super::tables::Tables;
use crate::bench::method::linalg::{add_scaled, dot};

/// Draws coefficients for one design, with its workspace.
pub(super) struct Sampler<'a> {
    design: &'a Design,
    y: &'a [f64],
    way: Way,
    /// b.
    pub(super) draw: Vec<f64>,
    /// ‖y − Xb‖².
    pub(super) residual: f64,
    factor: Vec<f64>,
    w: Vec<f64>,
    noise: Vec<f64>,
}

enum Way {
    /// n × n.
    Rows { tables: Box<Tables>, root: Vec<f64> },
    /// p × p, with XᵀX and Xᵀy.
    Columns { gram: Vec<f64>, target: Vec<f64> },
}

impl<'a> Sampler<'a> {
    pub(super) fn new(design: &'a Design, y: &'a [f64]) -> Self {
        match design.rows() < design.columns().len() {
            true => Self::by_rows(design, y),
            false => Self::by_columns(design, y),
        }
    }

    fn by_rows(design: &'a Design, y: &'a [f64]) -> Self {
        let root = vec![0.0; design.columns().len()];
        Self::with(design, y, design.rows(), Way::Rows { tables: Box::new(design.tables()), root })
    }

    fn by_columns(design: &'a Design, y: &'a [f64]) -> Self {
        let p = design.columns().len();
        let target = (0..p).map(|k| dot(design.column(k), y)).collect();
        let gram = (0..p * p).map(|i| dot(design.column(i / p), design.column(i % p))).collect();
        Self::with(design, y, p, Way::Columns { gram, target })
    }

    fn with(design: &'a Design, y: &'a [f64], size: usize, way: Way) -> Self {
        let draw = vec![0.0; design.columns().len()];
        let noise = vec![0.0; design.rows()];
        Self { design, y, way, draw, residual: 0.0, factor: vec![0.0; size * size], w: vec![0.0; size], noise }
    }

    /// Draws b and its residual for the prior variances σ²·d.
    pub(super) fn sample(&mut self, d: &[f64], sigma: f64, random: &mut Xoshiro256PlusPlus) {
        match &mut self.way {
            Way::Rows { tables, root } => {
                let n = self.design.rows();
                for (root, d) in root.iter_mut().zip(d) {
                    *root = d.sqrt() * random.sample::<f64, _>(StandardNormal);
                }
                self.design.times_into(root, tables, &mut self.w);
                for ((w, noise), y) in self.w.iter_mut().zip(&mut self.noise).zip(self.y) {
                    *noise = random.sample(StandardNormal);
                    *w = y / sigma - *w - *noise;
                }
                self.design.gram_into(d, tables, &mut self.factor);
                (0..n).for_each(|i| self.factor[i * n + i] += 1.0);
                factorise(&mut self.factor, n, |_| 1.0);
                solve_lower(&self.factor, &mut self.w);
                solve_upper(&self.factor, &mut self.w);
                self.design.transposed_into(&self.w, &mut self.draw);
                for ((b, root), d) in self.draw.iter_mut().zip(root).zip(d) {
                    *b = sigma * (*root + d * *b);
                }
                let squares = self.w.iter().zip(&self.noise).map(|(w, noise)| (w + noise) * (w + noise));
                self.residual = sigma * sigma * squares.sum::<f64>();
            }
            Way::Columns { gram, target } => {
                let p = self.draw.len();
                self.factor.copy_from_slice(gram);
                (0..p).for_each(|k| self.factor[k * p + k] += 1.0 / d[k]);
                factorise(&mut self.factor, p, |k| 1.0 / d[k]);
                self.draw.copy_from_slice(target);
                solve_lower(&self.factor, &mut self.draw);
                for b in &mut self.draw {
                    *b += sigma * random.sample::<f64, _>(StandardNormal);
                }
                solve_upper(&self.factor, &mut self.draw);
                self.noise.copy_from_slice(self.y);
                for (k, b) in self.draw.iter().enumerate() {
                    add_scaled(&mut self.noise, -b, self.design.column(k));
                }
                self.residual = dot(&self.noise, &self.noise);
            }
        }
    }
}

/// Turns the lower half of a square into its Cholesky factor. Pivots are at least `floor(row)`.
fn factorise(square: &mut [f64], n: usize, floor: impl Fn(usize) -> f64) {
    for j in 0..n {
        let (above, below) = square.split_at_mut((j + 1) * n);
        let (before, rest) = above[j * n..].split_at_mut(j);
        let pivot = (rest[0] - dot(before, before)).max(floor(j)).sqrt();
        rest[0] = pivot;
        for row in below.chunks_exact_mut(n) {
            row[j] = (row[j] - dot(&row[..j], before)) / pivot;
        }
    }
}

/// Solves L·x = b in place.
fn solve_lower(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let row = &factor[i * n..];
        x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
    }
}

/// Solves Lᵀ·x = b in place.
fn solve_upper(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in (0..n).rev() {
        let row = &factor[i * n..];
        x[i] /= row[i];
        let (before, rest) = x.split_at_mut(i);
        add_scaled(before, -rest[0], row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// Five points of three bits, which have all six features.
    fn design(mut design: Design) -> Design {
        for number in [7, 1, 6, 3, 4] {
            design.push(&[number & 1 == 1, number & 2 == 2, number & 4 == 4]);
        }
        design
    }

    /// The mean A⁻¹Xᵀy and the variances σ²A⁻¹ₖₖ by Gauss-Jordan elimination.
    fn ridge(design: &Design, y: &[f64], d: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let p = d.len();
        let wide = 2 * p;
        let mut a = vec![0.0; p * wide];
        for i in 0..p {
            for j in 0..p {
                a[i * wide + j] = design.column(i).iter().zip(design.column(j)).map(|(x, z)| x * z).sum::<f64>();
            }
            a[i * wide + i] += 1.0 / d[i];
            a[i * wide + p + i] = 1.0;
        }
        for i in 0..p {
            let pivot = a[i * wide + i];
            (0..wide).for_each(|j| a[i * wide + j] /= pivot);
            for other in (0..p).filter(|other| *other != i) {
                let factor = a[other * wide + i];
                (0..wide).for_each(|j| a[other * wide + j] -= factor * a[i * wide + j]);
            }
        }
        let target: Vec<f64> = (0..p).map(|k| design.column(k).iter().zip(y).map(|(x, y)| x * y).sum()).collect();
        let mean = (0..p).map(|i| (0..p).map(|j| a[i * wide + p + j] * target[j]).sum()).collect();
        (mean, (0..p).map(|i| a[i * wide + p + i]).collect())
    }

    #[test]
    fn both_ways_draw_from_the_ridge_posterior() {
        [Design::new(3), Design::sparse(3)].into_iter().for_each(draws_from_the_ridge_posterior);
    }

    fn draws_from_the_ridge_posterior(empty: Design) {
        let design = design(empty);
        let y = [1.0, -0.5, 0.25, -2.0, 1.25];
        let d = [0.5, 2.0, 1.0, 0.1, 4.0, 30.0];
        let sigma = 0.3;
        let (mean, variance) = ridge(&design, &y, &d);
        let draws = 20_000;
        for mut sampler in [Sampler::by_rows(&design, &y), Sampler::by_columns(&design, &y)] {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
            let (mut sum, mut squares) = ([0.0; 6], [0.0; 6]);
            for _ in 0..draws {
                sampler.sample(&d, sigma, &mut random);
                for k in 0..6 {
                    let off = sampler.draw[k] - mean[k];
                    sum[k] += off;
                    squares[k] += off * off;
                }
                let plain = (0..5).map(|i| y[i] - (0..6).map(|k| design.column(k)[i] * sampler.draw[k]).sum::<f64>());
                let residual: f64 = plain.map(|e| e * e).sum();
                assert!((sampler.residual - residual).abs() < 1e-9 * (1.0 + residual));
            }
            for k in 0..6 {
                let expected = sigma * sigma * variance[k];
                // Five standard errors: √(v/N) for the mean, and √(2/N), relative, for the
                // variance.
                assert!((sum[k] / draws as f64).abs() < 5.0 * (expected / draws as f64).sqrt(), "mean {k}");
                assert!(
                    (squares[k] / draws as f64 / expected - 1.0).abs() < 5.0 * (2.0 / draws as f64).sqrt(),
                    "variance {k}"
                );
            }
        }
    }

    #[test]
    fn extreme_variances_give_numbers() {
        let design = design(Design::new(3));
        let y = [1.0, -0.5, 0.25, -2.0, 1.25];
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        for d in [[1e12; 6], [1e-60; 6], [1e12, 1e-60, 1e12, 1e-60, 1e12, 1.0]] {
            for mut sampler in [Sampler::by_rows(&design, &y), Sampler::by_columns(&design, &y)] {
                sampler.sample(&d, 1e-6, &mut random);
                assert!(sampler.draw.iter().all(|b| b.is_finite()) && sampler.residual.is_finite());
            }
        }
    }
}
