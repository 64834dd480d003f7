//! What a fleet's numbers mean for its next board.
//!
//! | question | answer |
//! |---|---|
//! | how many measurements? | leave one board out, learn from the others, and choose among what it measured until within 5 % of its best |
//! | which knobs vary? | around the fleet's best, how much the factors change along each knob |
//! | how do boards differ? | their places along the first two factors |
//!
//! **Choices**
//! - A left-out board can only be asked for what its log has, which is fewer than all combinations but
//!   holds its best: the number is an estimate.
//! - 5 % of the distance from its best to its median cost.

use trimtab::Level;

use super::factors::{Sums, Whitened};
use super::model::{Fleet, Log, Model};
use crate::bench::method::linalg::{Cholesky, Triangle, dot};

/// Boards that are left out, at most.
const LEFT_OUT: usize = 24;
/// Boards that the others are learned from, at most.
const OTHERS: usize = 128;

/// A fleet's answers.
pub(crate) struct Outlook {
    /// Measurements that each left-out board needed.
    pub(crate) needed: Vec<usize>,
    /// Per knob, in units of the costs: how much the mean, and how much boards, change along it.
    pub(crate) knobs: Vec<(f64, f64)>,
    /// The boards along the first two factors.
    pub(crate) boards: Vec<(f64, f64)>,
    /// Standard deviation between boards at the fleet's best, in units of the costs.
    pub(crate) spread: f64,
}

impl Outlook {
    pub(crate) fn new(model: &Model, logs: &[Log], best: &[Level]) -> Self {
        let boards: Vec<Whitened> = logs.iter().take(OTHERS).map(|log| model.whitened(log)).collect();
        let Fleet { mean, factors, .. } = model.fleet();
        let unit = model.scale.low_unit();
        let at = |levels: &[Level]| {
            let place = model.metric.place(&model.columns, levels);
            let (g, _) = model.points.whitened(&model.columns, &model.metric, &place);
            (dot(&g, &mean), factors.iter().map(|factor| dot(&g, factor)).collect::<Vec<_>>())
        };
        let knobs = model.knobs.iter().enumerate().map(|(i, knob)| {
            // At most some hundred levels, evenly spread.
            let along = (0..knob.levels()).step_by(knob.levels().div_ceil(256)).map(|level| {
                let mut levels = best.to_vec();
                levels[i] = level as Level;
                at(&levels)
            });
            let along: Vec<_> = along.collect();
            let by_mean = deviation(along.iter().map(|(mean, _)| *mean));
            let by_boards: f64 =
                (0..factors.len()).map(|j| deviation(along.iter().map(|(_, own)| own[j])).powi(2)).sum();
            (unit * by_mean, unit * by_boards.sqrt())
        });
        let places = model.places(&boards);
        let spread = unit * at(best).1.iter().map(|own| own * own).sum::<f64>().sqrt();
        let needed = if logs.len() < 2 { Vec::new() } else { left_out(model, &logs[..boards.len()], &boards) };
        Self { needed, knobs: knobs.collect(), boards: places, spread }
    }

    /// The median and the ninth decile of the measurements that a next board needs.
    pub(crate) fn quantiles(&self) -> Option<(usize, usize)> {
        let mut needed = self.needed.clone();
        needed.sort_unstable();
        let at = |share: f64| needed.get((share * needed.len() as f64) as usize).copied();
        Some((at(0.5)?, at(0.9)?))
    }
}

fn deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / count;
    (values.map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
}

/// Per left-out board, how many of its own measurements the others' prior needs.
fn left_out(model: &Model, logs: &[Log], boards: &[Whitened]) -> Vec<usize> {
    let Some(factor) = Cholesky::new(model.reference.spread.clone()) else { return Vec::new() };
    let inverse = factor.inverse();
    let tried = boards.len().min(LEFT_OUT);
    let each = (0..tried).map(|k| k * boards.len() / tried).map(|out| {
        let mut sums = Sums::zero(model.sums.mean.len());
        let others = boards.iter().enumerate().filter(|(i, _)| *i != out);
        others.for_each(|(_, board)| sums.add(&model.reference, &inverse, board));
        run(model, &sums, &logs[out], &boards[out])
    });
    each.collect()
}

/// Chooses among a board's own measurements by expected improvement until within 5 % of its best.
fn run(model: &Model, sums: &Sums, log: &Log, board: &Whitened) -> usize {
    let Fleet { mean, factors, rest, nugget } = model.fleet_of(sums);
    let count = log.costs.len();
    let means: Vec<f64> = board.g.iter().map(|g| dot(g, &mean)).collect();
    let by_factor: Vec<Vec<f64>> =
        board.g.iter().map(|g| factors.iter().map(|factor| dot(g, factor)).collect()).collect();
    let places: Vec<_> = log.levels.iter().map(|levels| model.metric.place(&model.columns, levels)).collect();
    let covariance = |i: usize, j: usize| {
        dot(&by_factor[i], &by_factor[j]) + rest * model.metric.covariance(&model.columns, &places[i], &places[j])
    };
    let mut sorted = log.costs.clone();
    sorted.sort_by(f64::total_cmp);
    let target = sorted[0] + 0.05 * (sorted[count / 2] - sorted[0]);
    let mut done: Vec<usize> = Vec::new();
    while done.len() < count {
        // Failures follow the costs of a board; it would not stop at one.
        let open = (0..count).filter(|i| !done.contains(i));
        let score: Box<dyn Fn(usize) -> f64> = if done.is_empty() {
            Box::new(|i| means[i])
        } else {
            let gram =
                Triangle::from_fn(done.len(), |i, j| covariance(done[i], done[j]) + if i == j { nugget } else { 0.0 });
            let Some(factor) = Cholesky::new(gram) else { return count };
            let mut weights: Vec<f64> = done.iter().map(|i| board.y[*i] - means[*i]).collect();
            factor.forward(&mut weights);
            let best = done.iter().map(|i| board.y[*i]).fold(f64::INFINITY, f64::min);
            let (done, means, covariance) = (done.clone(), &means, &covariance);
            Box::new(move |i| {
                let mut k: Vec<f64> = done.iter().map(|j| covariance(i, *j)).collect();
                factor.forward(&mut k);
                let mean = means[i] + dot(&k, &weights);
                let deviation = (covariance(i, i) - dot(&k, &k)).max(1e-9).sqrt();
                -improvement((best - mean) / deviation) * deviation
            })
        };
        let Some(next) = open.map(|i| (score(i), i)).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, i)| i) else { break };
        drop(score);
        done.push(next);
        if log.costs[next] <= target {
            return done.len();
        }
    }
    count
}

/// z·Φ(z) + φ(z).
pub(crate) fn improvement(z: f64) -> f64 {
    let density = libm::exp(-0.5 * z * z) / std::f64::consts::TAU.sqrt();
    z * 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2) + density
}
