//! The mean of the fleet and the few factors by which boards differ.
//!
//! A board is a(c)·g(c) plus a rest: g(c) = L⁻¹k(Z, c) are the values of Q whitened pseudo-points, and
//! a ~ N(α, Ω) is drawn once per board. EM finds α and Ω:
//!
//! | step | computes |
//! |---|---|
//! | E | the posterior N(â, C) of a for each board |
//! | M | α = mean of â; Ω = mean of C + (â − α)(â − α)ᵀ, shrunk towards a multiple of I by 8 boards |
//!
//! **Choices**
//! - All that EM needs of a board, once α and Ω are fixed, are â and C. Their sums are the fleet's
//!   statistics: they have one size for any number of boards, and adding a board is an addition.
//! - The leading eigenvectors of Ω are the factors; the mean of the other eigenvalues is the variance
//!   of the rest.
//!
//! **Cost.** Q³ + n·Q² per board and round.

use super::kernel::{Columns, Metric, Place};
use super::metric::{Measured, VAGUE};
use crate::bench::method::linalg::{Cholesky, Triangle, dot};

/// Boards' worth of belief that boards differ alike in every direction, and by how much: a share of
/// their mean variance. With 1 instead of 0.03 the antenna and the equaliser needed twice the measurements.
const SHRINK: f64 = 8.0;
const TOWARDS: f64 = 0.03;
const ROUNDS: usize = 10;
/// The variance between boards that EM starts with.
const FIRST: f64 = 0.1;
/// Added to the covariances of the pseudo-points, so that their weights stay small enough for a chip.
pub(crate) const JITTER: f64 = 1e-3;

/// Pseudo-points under a metric.
#[derive(Clone, Debug)]
pub(crate) struct Points {
    pub(crate) places: Vec<Place>,
    pub(crate) factor: Cholesky,
}

impl Points {
    pub(crate) fn new(columns: &Columns, metric: &Metric, levels: &[Vec<trimtab::Level>]) -> Option<Self> {
        let places: Vec<Place> = levels.iter().map(|levels| metric.place(columns, levels)).collect();
        let gram = Triangle::from_fn(places.len(), |i, j| {
            metric.covariance(columns, &places[i], &places[j]) + if i == j { JITTER } else { 0.0 }
        });
        Some(Self { factor: Cholesky::new(gram)?, places })
    }

    /// g(c), and what of the variance of c it does not explain.
    pub(crate) fn whitened(&self, columns: &Columns, metric: &Metric, place: &Place) -> (Vec<f64>, f64) {
        let mut g: Vec<f64> = self.places.iter().map(|own| metric.covariance(columns, own, place)).collect();
        self.factor.forward(&mut g);
        let own = metric.covariance(columns, place, place);
        let rest = (own - dot(&g, &g)).max(0.0);
        (g, rest)
    }
}

/// Chooses pseudo-points among the measured combinations: those that the others explain least, low
/// costs first (pivoted Cholesky).
pub(crate) fn choose(
    columns: &Columns,
    metric: &Metric,
    pool: &[(Vec<trimtab::Level>, f64)],
    most: usize,
) -> Vec<Vec<trimtab::Level>> {
    let places: Vec<Place> = pool.iter().map(|(levels, _)| metric.place(columns, levels)).collect();
    let mut rest: Vec<f64> = places.iter().map(|place| metric.covariance(columns, place, place)).collect();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut chosen = Vec::new();
    while chosen.len() < most {
        let score = |i: usize| rest[i] * pool[i].1;
        let Some(next) = (0..pool.len()).max_by(|a, b| score(*a).total_cmp(&score(*b))) else { break };
        if rest[next] < JITTER {
            break;
        }
        let root = rest[next].sqrt();
        let row: Vec<f64> = (0..pool.len())
            .map(|i| {
                let k = metric.covariance(columns, &places[next], &places[i]);
                (k - rows.iter().map(|row| row[next] * row[i]).sum::<f64>()) / root
            })
            .collect();
        rest.iter_mut().zip(&row).for_each(|(rest, l)| *rest = (*rest - l * l).max(0.0));
        rows.push(row);
        chosen.push(pool[next].0.clone());
    }
    chosen
}

/// α, Ω and the variance of what the pseudo-points leave unexplained.
#[derive(Clone, Debug)]
pub(crate) struct Population {
    pub(crate) mean: Vec<f64>,
    pub(crate) spread: Triangle,
    /// Variance of the rest, and of the noise with what no kernel explains.
    pub(crate) rest: f64,
    pub(crate) nugget: f64,
}

/// Sums over boards: all that a fleet remembers of them.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    pub(crate) boards: f64,
    /// Σâ and Σ(C + ââᵀ).
    pub(crate) mean: Vec<f64>,
    pub(crate) square: Triangle,
    /// Σ of the squared errors over their variances, and their number.
    pub(crate) misfit: f64,
    pub(crate) count: f64,
}

/// One board, ready for EM.
pub(crate) struct Whitened {
    pub(crate) g: Vec<Vec<f64>>,
    pub(crate) rest: Vec<f64>,
    pub(crate) y: Vec<f64>,
    /// How many of the last ones failed.
    pub(crate) failed: usize,
}

impl Whitened {
    pub(crate) fn new(columns: &Columns, metric: &Metric, points: &Points, board: &Measured) -> Self {
        let all = board.levels.iter().map(|levels| points.whitened(columns, metric, &metric.place(columns, levels)));
        let (g, rest) = all.unzip();
        Self { g, rest, y: board.y.clone(), failed: board.failed }
    }
}

impl Sums {
    pub(crate) fn zero(size: usize) -> Self {
        Self { boards: 0.0, mean: vec![0.0; size], square: Triangle::zeros(size), misfit: 0.0, count: 0.0 }
    }

    /// Adds a board's posterior under a population.
    pub(crate) fn add(&mut self, population: &Population, inverse: &Triangle, board: &Whitened) {
        let size = self.mean.len();
        let mut precision = inverse.clone();
        let mut right: Vec<f64> =
            (0..size).map(|i| (0..size).map(|j| at(inverse, i, j) * population.mean[j]).sum()).collect();
        let measured = board.y.len() - board.failed;
        for (i, ((g, rest), y)) in board.g.iter().zip(&board.rest).zip(&board.y).enumerate() {
            let vague = if i < measured { 0.0 } else { VAGUE };
            let weight = 1.0 / (population.rest * rest + population.nugget + vague);
            for i in 0..size {
                let own = weight * g[i];
                precision.row_mut(i).iter_mut().zip(g).for_each(|(entry, g)| *entry += own * g);
                right[i] += own * y;
            }
        }
        let Some(factor) = Cholesky::new(precision) else { return };
        factor.forward(&mut right);
        factor.backward(&mut right);
        let covariance = factor.inverse();
        for ((g, rest), y) in board.g.iter().zip(&board.rest).zip(&board.y).take(measured) {
            let variance = population.rest * rest + population.nugget;
            let error = y - dot(g, &right);
            let mut solved = g.clone();
            factor.forward(&mut solved);
            self.misfit += (error * error + dot(&solved, &solved)) / variance;
            self.count += 1.0;
        }
        for i in 0..size {
            self.mean[i] += right[i];
            let entries = self.square.row_mut(i).iter_mut().zip(covariance.row(i)).zip(&right);
            entries.for_each(|((own, c), other)| *own += c + right[i] * other);
        }
        self.boards += 1.0;
    }

    /// The population that the sums speak for.
    pub(crate) fn population(&self, before: &Population) -> Population {
        let size = self.mean.len();
        let mean: Vec<f64> = self.mean.iter().map(|sum| sum / self.boards).collect();
        let centred = |i: usize, j: usize| self.square.row(i)[j] - self.boards * mean[i] * mean[j];
        let typical = (0..size).map(|i| centred(i, i)).sum::<f64>() / (size as f64 * self.boards);
        let spread = Triangle::from_fn(size, |i, j| {
            let shrunk = if i == j { SHRINK * TOWARDS * typical } else { 0.0 };
            (centred(i, j) + shrunk) / (self.boards + SHRINK)
        });
        let scale = self.misfit / self.count.max(1.0);
        let (rest, nugget) = (before.rest * scale, (before.nugget * scale).max(1e-6));
        Population { mean, spread, rest, nugget }
    }
}

fn at(matrix: &Triangle, i: usize, j: usize) -> f64 {
    matrix.row(i.max(j))[i.min(j)]
}

/// EM from a first guess.
pub(crate) fn population(size: usize, boards: &[Whitened], nugget: f64) -> Population {
    let mut population = Population {
        mean: vec![0.0; size],
        spread: Triangle::from_fn(size, |i, j| FIRST * f64::from(u8::from(i == j))),
        rest: FIRST,
        nugget: nugget.max(1e-5),
    };
    for _ in 0..ROUNDS {
        let Some(factor) = Cholesky::new(population.spread.clone()) else { break };
        let inverse = factor.inverse();
        let mut sums = Sums::zero(size);
        boards.iter().for_each(|board| sums.add(&population, &inverse, board));
        population = sums.population(&population);
    }
    population
}

/// Eigenvalues, largest first, and their vectors, by Jacobi's rotations.
pub(crate) fn eigen(matrix: &Triangle) -> Vec<(f64, Vec<f64>)> {
    let n = matrix.len();
    let mut a: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| at(matrix, i, j)).collect()).collect();
    let mut v: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..30 {
        let off: f64 = (0..n).map(|i| (0..i).map(|j| a[i][j] * a[i][j]).sum::<f64>()).sum();
        if off < 1e-22 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let t = if theta == 0.0 { 1.0 } else { t };
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for row in &mut a {
                    let (x, y) = (row[p], row[q]);
                    (row[p], row[q]) = (c * x - s * y, s * x + c * y);
                }
                let (before, after) = a.split_at_mut(q);
                for (x, y) in before[p].iter_mut().zip(&mut after[0]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
                for row in &mut v {
                    let (x, y) = (row[p], row[q]);
                    (row[p], row[q]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    let mut all: Vec<(f64, Vec<f64>)> = (0..n).map(|k| (a[k][k], v.iter().map(|row| row[k]).collect())).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all
}
