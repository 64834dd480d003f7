//! The metric: which directions of the space matter, from what the boards measured.
//!
//! Type-II maximum likelihood over some boards: each is a Gaussian process of its own with covariance
//! s²·(k + 1 + p·I), the 1 for a constant of the board, and all share A, w, p and s².
//!
//! **Choices**
//! - Steps follow the sign of the slope (Rprop): no learning rate to choose.
//! - Several starts, because the likelihood of a map has several peaks; the first has one row per
//!   column where there are so few columns.
//! - A weak prior keeps A near zero where nothing speaks for more.
//!
//! **Cost.** Per step and board n³ for the inverse and n²/2 · r · columns for the slopes: seconds for
//! 14 boards of 40 measurements.

use rand::{RngExt, SeedableRng};

use super::board::Random;
use super::kernel::{Columns, Metric, Place};
use crate::bench::method::linalg::{Cholesky, Triangle, dot};
use crate::bench::method::surrogate::{matern52, matern52_slope};

/// Standardised costs of a board.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) levels: Vec<Vec<trimtab::Level>>,
    pub(crate) y: Vec<f64>,
    /// How many of the last ones failed.
    pub(crate) failed: usize,
}

impl Measured {
    /// What is added to the variance of the i-th cost: 0, but for a failure.
    pub(crate) fn vagueness(&self, i: usize) -> f64 {
        if i + self.failed < self.y.len() { 0.0 } else { VAGUE }
    }
}

/// A metric with the share of the variance that it does not explain.
#[derive(Clone, Debug)]
pub(crate) struct Learned {
    pub(crate) metric: Metric,
    /// p.
    pub(crate) nugget: f64,
    pub(crate) log_likelihood: f64,
}

/// The variance of a failure's cost, beyond that of a measurement: it says that a place is bad, not how bad. With
/// 0 instead of 1, and with 0.1, the cliff bent the mean beside it too.
pub(crate) const VAGUE: f64 = 1.0;
const STEPS: usize = 120;
/// The least weight of the product kernel: without it a board could not learn what its fleet saw no
/// reason to tell apart.
const LEAST_WEIGHT: f64 = 0.02;
/// Standard deviation of a row of A before any measurement.
const WIDE: f64 = 3.0;
const NUGGET: (f64, f64) = (-11.5, -1.2);

/// The numbers that are fitted: A row by row, the logit of w, ln p.
struct Problem<'a> {
    columns: &'a Columns,
    boards: Vec<(Vec<Place>, &'a [f64])>,
    rows: usize,
}

/// Fits a metric of this many rows.
pub(crate) fn fit(columns: &Columns, boards: &[Measured], rows: usize, starts: usize) -> Learned {
    let flat = Metric { map: Vec::new(), weight: 0.0 };
    let boards = boards
        .iter()
        .map(|board| (board.levels.iter().map(|levels| flat.place(columns, levels)).collect(), &board.y[..]))
        .collect();
    let problem = Problem { columns, boards, rows };
    let all = (0..starts).map(|start| problem.climb(start));
    let best = all.max_by(|a, b| a.log_likelihood.total_cmp(&b.log_likelihood));
    best.unwrap_or(Learned { metric: flat, nugget: 0.1, log_likelihood: f64::NEG_INFINITY })
}

impl Problem<'_> {
    fn climb(&self, start: usize) -> Learned {
        let entries = self.rows * self.columns.count;
        let mut random = Random::seed_from_u64(start as u64);
        let is_diagonal = start == 0 && self.columns.count <= self.rows;
        let mut theta: Vec<f64> = (0..entries)
            .map(|i| match is_diagonal {
                true if i / self.columns.count == i % self.columns.count => 3.0,
                true => 0.0,
                false => random.random_range(-1.0..1.0) * (6.0 / self.columns.count as f64).sqrt(),
            })
            .collect();
        theta.extend([-1.0, -5.0]);
        let mut steps = vec![0.05f64; theta.len()];
        let mut before = vec![0.0; theta.len()];
        let (mut best, mut at) = (f64::NEG_INFINITY, theta.clone());
        for _ in 0..STEPS {
            let Some((value, slopes)) = self.likelihood(&theta) else { break };
            if value > best {
                (best, at) = (value, theta.clone());
            }
            for (((theta, step), before), slope) in theta.iter_mut().zip(&mut steps).zip(&mut before).zip(&slopes) {
                let same = slope * *before;
                *step *= if same > 0.0 {
                    1.2
                } else if same < 0.0 {
                    0.5
                } else {
                    1.0
                };
                *step = step.clamp(1e-4, 0.5);
                *before = *slope;
                *theta += step.min(slope.abs()) * slope.signum();
            }
            let last = theta.len() - 1;
            theta[last] = theta[last].clamp(NUGGET.0, NUGGET.1);
            theta[last - 1] = theta[last - 1].clamp(-6.0, 3.0);
        }
        let (metric, nugget) = self.parts(&at);
        Learned { metric, nugget, log_likelihood: best }
    }

    fn parts(&self, theta: &[f64]) -> (Metric, f64) {
        let entries = self.rows * self.columns.count;
        let map = theta[..entries].chunks(self.columns.count.max(1)).map(<[f64]>::to_vec).collect();
        (
            Metric { map, weight: LEAST_WEIGHT + (1.0 - LEAST_WEIGHT) / (1.0 + libm::exp(-theta[entries])) },
            libm::exp(theta[entries + 1]),
        )
    }

    /// The log likelihood and its slopes.
    fn likelihood(&self, theta: &[f64]) -> Option<(f64, Vec<f64>)> {
        let (metric, nugget) = self.parts(theta);
        let mut factored = Vec::with_capacity(self.boards.len());
        let (mut square, mut count, mut determinant) = (1.0, 1.0, 0.0);
        for (places, y) in &self.boards {
            let mapped: Vec<Vec<f64>> =
                places.iter().map(|place| metric.map.iter().map(|row| dot(row, &place.x)).collect()).collect();
            let mut parts = Vec::with_capacity(places.len() * (places.len() + 1) / 2);
            let gram = Triangle::from_fn(places.len(), |i, j| {
                let distance: f64 = mapped[i].iter().zip(&mapped[j]).map(|(a, b)| (a - b) * (a - b)).sum();
                let product = self.columns.product(&places[i].levels, &places[j].levels);
                let matern = matern52(distance);
                parts.push((distance, matern, product));
                let own = if i == j { nugget } else { 0.0 };
                (1.0 - metric.weight) * matern + metric.weight * product + 1.0 + own
            });
            let factor = Cholesky::new(gram)?;
            let mut alpha = y.to_vec();
            factor.forward(&mut alpha);
            square += dot(&alpha, &alpha);
            count += y.len() as f64;
            determinant += factor.log_determinant();
            factor.backward(&mut alpha);
            factored.push((factor, alpha, mapped, parts));
        }
        let signal = square / count;
        let entries = self.rows * self.columns.count;
        let mut slopes = vec![0.0; theta.len()];
        for ((places, _), (factor, alpha, mapped, parts)) in self.boards.iter().zip(&factored) {
            let inverse = factor.inverse();
            let mut parts = parts.iter();
            for i in 0..places.len() {
                for (j, inverse) in inverse.row(i).iter().enumerate() {
                    let Some((distance, matern, product)) = parts.next() else { break };
                    let half = if i == j { 0.5 } else { 1.0 };
                    let weight = half * (alpha[i] * alpha[j] / signal - inverse);
                    slopes[entries] += weight * (product - matern);
                    if i == j {
                        slopes[entries + 1] += weight;
                        continue;
                    }
                    let by_distance = 2.0 * weight * (1.0 - metric.weight) * matern52_slope(*distance);
                    for (row, (a, b)) in mapped[i].iter().zip(&mapped[j]).enumerate() {
                        let by_row = by_distance * (a - b);
                        let own = &mut slopes[row * self.columns.count..][..self.columns.count];
                        for (slope, (a, b)) in own.iter_mut().zip(places[i].x.iter().zip(&places[j].x)) {
                            *slope += by_row * (a - b);
                        }
                    }
                }
            }
        }
        slopes[entries] *= (metric.weight - LEAST_WEIGHT) * (1.0 - metric.weight) / (1.0 - LEAST_WEIGHT);
        slopes[entries + 1] *= nugget;
        let mut value = -0.5 * (count * libm::log(signal) + determinant);
        let wide = WIDE / (self.columns.count as f64).sqrt();
        for (theta, slope) in theta[..entries].iter().zip(&mut slopes) {
            value -= 0.5 * theta * theta / (wide * wide);
            *slope -= theta / (wide * wide);
        }
        Some((value, slopes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trimtab::Knob;

    /// Against differences of the likelihood itself.
    #[test]
    fn slopes_are_those_of_the_likelihood() {
        let knobs = [Knob::nominal(2), Knob::ranked(6), Knob::nominal(3)];
        let columns = Columns::new(&knobs);
        let mut random = Random::seed_from_u64(5);
        let mut board = || Measured {
            levels: (0..9)
                .map(|_| knobs.iter().map(|knob| random.random_range(0..knob.levels()) as trimtab::Level).collect())
                .collect(),
            y: (0..9).map(|_| random.random_range(-1.0..1.0)).collect(),
            failed: 0,
        };
        let boards = [board(), board()];
        let flat = Metric { map: Vec::new(), weight: 0.0 };
        let boards = boards
            .iter()
            .map(|board| (board.levels.iter().map(|levels| flat.place(&columns, levels)).collect(), &board.y[..]))
            .collect();
        let problem = Problem { columns: &columns, boards, rows: 2 };
        let theta: Vec<f64> = (0..2 * columns.count + 2).map(|i| 0.8 * (i as f64).sin() - 0.3).collect();
        let (_, slopes) = problem.likelihood(&theta).unwrap();
        for i in 0..theta.len() {
            let at = |step: f64| {
                let mut moved = theta.clone();
                moved[i] += step;
                problem.likelihood(&moved).unwrap().0
            };
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slopes[i] - difference).abs() < 1e-4, "{i}: {} {difference}", slopes[i]);
        }
    }
}
