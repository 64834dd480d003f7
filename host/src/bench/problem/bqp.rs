//! Binary quadratic programming (section 7.4 of the paper; Baptista and Poloczek, ICML 2018).
//!
//! f(b) = bᵀQb + λ‖b‖₁, b ∈ {0, 1}^m, with Qᵢⱼ = zᵢⱼ exp(−(i − j)²/α), zᵢⱼ standard
//! normal.
//!
//! **Choices**
//! - All entries of Q are drawn independently, so Q is not symmetric; only Q + Qᵀ matters.
//!
//! **Optimum.** Exact for m ≤ 25 along a Gray code: flipping bit i changes f by ±(Qᵢᵢ + λ + Σ_{j≠i}
//! bⱼ(Qᵢⱼ + Qⱼᵢ)).

use rand::RngExt;
use rand_distr::StandardNormal;
use trimtab::{Knob, Level};

use super::{Family, Instance, Optimum, Parameter, Problem, gray, random_of};
use crate::error::Error;

pub(super) const FAMILY: Family = Family {
    name: "bqp",
    about: "binary quadratic programming: bᵀQb + λ‖b‖₁ with a random Q",
    parameters: &[
        Parameter { name: "m", default: "10", about: "number of bits" },
        Parameter { name: "lambda", default: "1", about: "penalty per one" },
        Parameter { name: "alpha", default: "10", about: "width of the band around Q's diagonal" },
    ],
    build: |given, seed, _| {
        let (m, lambda) = (given.count("m", 1..=256)?, given.number("lambda", 0.0..=1e6)?);
        let alpha = given.number("alpha", 1e-6..=1e6)?;
        let mut random = random_of(seed);
        let mut entry = |i: usize, j: usize| {
            let normal: f64 = random.sample(StandardNormal);
            let distance = i.abs_diff(j) as f64;
            normal * libm::exp(-distance * distance / alpha)
        };
        let q: Vec<Vec<f64>> = (0..m).map(|i| (0..m).map(|j| entry(i, j)).collect()).collect();
        Ok(Box::new(Bqp::new(&q, lambda)))
    },
    load: Some(load),
};

/// Rounding margin of the running sum: closer candidates are evaluated again.
const SLACK: f64 = 1e-9;

struct Bqp {
    knobs: Vec<Knob>,
    /// Q + Qᵀ off the diagonal, Q on it.
    pairs: Vec<Vec<f64>>,
    lambda: f64,
}

fn load(instance: &Instance) -> Result<Box<dyn Problem>, Error> {
    let m = instance.bits()?;
    Ok(Box::new(Bqp::new(&instance.matrix("Q", m, m)?, instance.number("lam")?)))
}

impl Bqp {
    fn new(q: &[Vec<f64>], lambda: f64) -> Self {
        let m = q.len();
        let pair = |i: usize, j: usize| if i == j { q[i][i] } else { q[i][j] + q[j][i] };
        let pairs = (0..m).map(|i| (0..m).map(|j| pair(i, j)).collect()).collect();
        Self { knobs: vec![Knob::nominal(2); m], pairs, lambda }
    }
}

impl Problem for Bqp {
    fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    fn cost(&self, levels: &[Level]) -> f64 {
        let ones: Vec<usize> = (0..levels.len()).filter(|i| levels[*i] == 1).collect();
        let quadratic: f64 =
            ones.iter().enumerate().map(|(n, i)| ones[..=n].iter().map(|j| self.pairs[*i][*j]).sum::<f64>()).sum();
        quadratic + self.lambda * ones.len() as f64
    }

    fn optimum(&self) -> Option<Optimum> {
        let m = self.knobs.len();
        if m > gray::MOST {
            return None;
        }
        let mut levels: Vec<Level> = vec![0; m];
        let mut bits = vec![0.0; m];
        let mut best = Optimum { value: 0.0, levels: levels.clone() };
        let mut running = 0.0;
        for i in gray::flips(m) {
            let (was, row) = (bits[i], &self.pairs[i]);
            bits[i] = 0.0;
            let others: f64 = row.iter().zip(&bits).map(|(pair, bit)| pair * bit).sum();
            let price = row[i] + self.lambda + others;
            running += if was == 0.0 { price } else { -price };
            bits[i] = 1.0 - was;
            levels[i] ^= 1;
            if running < best.value + SLACK {
                let value = self.cost(&levels);
                if value < best.value {
                    best = Optimum { value, levels: levels.clone() };
                }
            }
        }
        Some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::oracle;

    #[test]
    fn by_hand() {
        // bᵀQb at (1, 0, 1) is Q₀₀ + Q₀₂ + Q₂₀ + Q₂₂ = 1 + 2 − 7 + 3 = −1, and two ones cost 2λ.
        let q = [vec![1.0, 9.0, 2.0], vec![9.0, 9.0, 9.0], vec![-7.0, 9.0, 3.0]];
        let bqp = Bqp::new(&q, 0.25);
        assert_eq!(bqp.cost(&[1, 0, 1]), -0.5);
        assert_eq!(bqp.optimum(), Some(Optimum { value: -0.5, levels: vec![1, 0, 1] }));
    }

    #[test]
    fn the_optimum_is_the_least_of_all() {
        for seed in 0..4 {
            oracle::check_optimum("bqp", seed);
            oracle::check_optimum("bqp:lambda=0,alpha=100,m=9", seed);
        }
    }
}
