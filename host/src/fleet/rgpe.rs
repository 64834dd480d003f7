//! The published rival: a ranking-weighted ensemble of the earlier boards' models (RGPE).
//!
//! Feurer, Letham and Bakshy, *Scalable Meta-Learning for Bayesian Optimization using Ranking-Weighted
//! Gaussian Process Ensembles* (AutoML workshop at ICML, 2018). In f64.
//!
//! | setting | here |
//! |---|---|
//! | base models | Gaussian processes of up to 15 boards: Matérn 5/2 with a length-scale per column |
//! | weight of a model | how often it ranks the new board's measurements best, over 64 samples of its posterior; the new board's own model leave-one-out |
//! | dilution | a base model whose median loss is above the 95th percentile of the own model's is dropped |
//! | ensemble | means Σwμ, variances Σw²σ² |
//! | acquisition | expected improvement, by sweeps over the knobs from the best and two random starts |
//! | first | the combination with the lowest mean of the base models, then two random ones |

use rand::{RngExt, SeedableRng};
use trimtab::{Knob, Level};

use super::board::{Board, Random};
use super::kernel::Columns;
use super::model::Log;
use super::outlook::improvement;
use crate::bench::method::surrogate::{Fitted, Matern, Posterior, Prior, Range, Standard, fit};
use crate::error::Error;

const BASES: usize = 15;
const SAMPLES: usize = 64;
const EVALUATIONS: usize = 40;
const RANDOM_STARTS: usize = 2;

/// The model of one board.
struct Base {
    points: Vec<Vec<f64>>,
    fitted: Fitted,
}

fn ranges(count: usize) -> Vec<Range> {
    vec![Range { low: -3.0, high: 3.0, typical: 0.0, spread: 1.5 }; count]
}

impl Base {
    fn new(columns: &Columns, log: &Log) -> Result<Self, Error> {
        let points: Vec<Vec<f64>> = log.levels.iter().map(|levels| columns.of(levels)).collect();
        let kernel = Matern::new(&points, ranges(columns.count));
        let y = Standard::of(&log.costs).y;
        let fitted = fit(&kernel, &y, &Prior::WEAK, Range::NOISE, None, EVALUATIONS)?;
        Ok(Self { points, fitted })
    }

    fn posterior(&self, x: &[f64]) -> Posterior {
        let kernel = Matern::new(&self.points, ranges(x.len()));
        let mut k = kernel.covariances(&self.fitted.theta, x);
        self.fitted.gp.posterior(1.0, &mut k)
    }
}

/// The earlier boards.
pub(crate) struct Ensemble {
    knobs: Vec<Knob>,
    columns: Columns,
    bases: Vec<Base>,
}

impl Ensemble {
    pub(crate) fn new(knobs: &[Knob], logs: &[Log]) -> Result<Self, Error> {
        let columns = Columns::new(knobs);
        let keep = logs.len().min(BASES);
        let bases = (0..keep).map(|i| Base::new(&columns, &logs[i * logs.len() / keep])).collect::<Result<_, _>>()?;
        Ok(Self { knobs: knobs.to_vec(), columns, bases })
    }

    /// Measurements until the board's target, or one more than the budget.
    pub(crate) fn run(&self, board: &dyn Board, noise: &mut dyn FnMut() -> f64, seed: u64, budget: usize) -> usize {
        let mut random = Random::seed_from_u64(seed);
        let mut log = Log::default();
        for count in 1..=budget {
            let next = match count {
                1 => self
                    .search(&log, &mut random, &|x| self.bases.iter().map(|base| base.posterior(x).mean).sum::<f64>()),
                2 | 3 => self.knobs.iter().map(|knob| random.random_range(0..knob.levels()) as Level).collect(),
                _ => self.next(&log, &mut random),
            };
            let cost = board.cost(&next);
            if cost <= board.target() {
                return count;
            }
            log.costs.push(cost + noise());
            log.levels.push(next);
        }
        budget + 1
    }

    fn next(&self, log: &Log, random: &mut Random) -> Vec<Level> {
        let Ok(own) = Base::new(&self.columns, log) else { return log.levels[0].clone() };
        let weights = self.weights(&own, log, random);
        let best = Standard::of(&log.costs).best;
        self.search(log, random, &|x| {
            let (mut mean, mut variance) = (0.0, 0.0);
            for (base, weight) in self.bases.iter().chain([&own]).zip(&weights).filter(|(_, weight)| **weight > 0.0) {
                let posterior = base.posterior(x);
                mean += weight * posterior.mean;
                variance += weight * weight * posterior.variance;
            }
            let deviation = variance.max(1e-12).sqrt();
            -libm::log((improvement((best - mean) / deviation) * deviation).max(1e-300))
        })
    }

    /// The share of samples in which each model ranks best; the own model is the last.
    fn weights(&self, own: &Base, log: &Log, random: &mut Random) -> Vec<f64> {
        let count = log.costs.len();
        let mut losses: Vec<Vec<usize>> = Vec::new();
        for base in &self.bases {
            let posteriors: Vec<Posterior> = own.points.iter().map(|x| base.posterior(x)).collect();
            losses.push((0..SAMPLES).map(|_| loss(&posteriors, &log.costs, random)).collect());
        }
        let left_out: Vec<Posterior> = (0..count).map(|i| left_out(own, &Standard::of(&log.costs).y, i)).collect();
        losses.push((0..SAMPLES).map(|_| loss(&left_out, &log.costs, random)).collect());
        let mut sorted = losses[self.bases.len()].clone();
        sorted.sort_unstable();
        let limit = sorted[SAMPLES * 95 / 100];
        let is_out = |losses: &Vec<usize>| {
            let mut sorted = losses.clone();
            sorted.sort_unstable();
            sorted[SAMPLES / 2] > limit
        };
        let out: Vec<bool> = losses.iter().enumerate().map(|(i, own)| i < self.bases.len() && is_out(own)).collect();
        let mut weights = vec![0.0; losses.len()];
        for sample in 0..SAMPLES {
            let of = |i: usize| losses[i][sample];
            let open = (0..losses.len()).filter(|i| !out[*i]);
            if let Some(best) = open.min_by_key(|i| (of(*i), losses.len() - i)) {
                weights[best] += 1.0 / SAMPLES as f64;
            }
        }
        weights
    }

    /// Sweeps over the knobs for the smallest score, measured combinations left out.
    fn search(&self, log: &Log, random: &mut Random, score: &dyn Fn(&[f64]) -> f64) -> Vec<Level> {
        let mut drawn =
            || -> Vec<Level> { self.knobs.iter().map(|knob| random.random_range(0..knob.levels()) as Level).collect() };
        let best = (0..log.costs.len()).min_by(|a, b| log.costs[*a].total_cmp(&log.costs[*b]));
        let mut starts: Vec<Vec<Level>> = best.map(|i| log.levels[i].clone()).into_iter().collect();
        (0..RANDOM_STARTS).for_each(|_| starts.push(drawn()));
        let of = |levels: &[Level]| match log.levels.iter().any(|own| own == levels) {
            true => f64::INFINITY,
            false => score(&self.columns.of(levels)),
        };
        let ends = starts.into_iter().map(|start| self.sweep(start, &of));
        ends.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, levels)| levels).unwrap_or_else(drawn)
    }

    fn sweep(&self, mut at: Vec<Level>, of: &dyn Fn(&[Level]) -> f64) -> (f64, Vec<Level>) {
        let mut best = of(&at);
        loop {
            let before = best;
            for (i, knob) in self.knobs.iter().enumerate() {
                let (was, mut own) = (usize::from(at[i]), at[i]);
                // Far levels of a large knob in steps of powers of two, as the tuner's sweeps.
                let is_tried = |level: &usize| knob.levels() <= 20 || level.abs_diff(was).is_power_of_two();
                for level in (0..knob.levels()).filter(is_tried) {
                    at[i] = level as Level;
                    let value = of(&at);
                    if value < best {
                        (best, own) = (value, level as Level);
                    }
                }
                at[i] = own;
            }
            if best >= before {
                return (best, at);
            }
        }
    }
}

/// Pairs that a sample of the posteriors ranks otherwise than the costs.
fn loss(posteriors: &[Posterior], costs: &[f64], random: &mut Random) -> usize {
    let sample: Vec<f64> = posteriors
        .iter()
        .map(|posterior| {
            let normal = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            posterior.mean + normal * posterior.variance.max(0.0).sqrt()
        })
        .collect();
    let pairs = (0..costs.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs.filter(|(i, j)| (sample[*i] < sample[*j]) != (costs[*i] < costs[*j])).count()
}

/// The own model's posterior at its point i without that point.
fn left_out(own: &Base, y: &[f64], i: usize) -> Posterior {
    let keep = |j: &usize| *j != i;
    let points: Vec<Vec<f64>> = (0..y.len()).filter(keep).map(|j| own.points[j].clone()).collect();
    let others: Vec<f64> = (0..y.len()).filter(keep).map(|j| y[j]).collect();
    let kernel = Matern::new(&points, ranges(own.points[i].len()));
    let mut gram = crate::bench::method::surrogate::Kernel::gram(&kernel, &own.fitted.theta);
    gram.add_to_diagonal(own.fitted.theta.last().map_or(1e-3, |log| libm::exp(*log)));
    let gp = crate::bench::method::surrogate::Gp::with_jitter(&gram, &others, &Prior::WEAK);
    let mut k = kernel.covariances(&own.fitted.theta, &own.points[i]);
    gp.map_or(Posterior { mean: 0.0, variance: 1.0 }, |gp| gp.posterior(1.0, &mut k))
}
