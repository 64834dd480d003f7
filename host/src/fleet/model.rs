//! What a fleet has taught: metric, pseudo-points, and sums over its boards.
//!
//! ```text
//!  logs → scale of the costs → metric (some boards) → pseudo-points → EM (some boards) → sums (all) → prior
//!                                                                     a later board  ↗
//! ```
//!
//! **Choices**
//! - Costs are bent: what lies far above the low ones would inflate what boards differ by. Cutting them at a
//!   percentile instead makes them equal, which no kernel explains.
//! - Noise is what repeats show. What no kernel explains has it in it, so it is subtracted there: counted
//!   twice, every combination seems to hide something.
//! - Scale, metric, pseudo-points and the population that boards are compared with are fixed by the
//!   first `learn`. A board added later is one more term of the sums, so the order does not matter
//!   beyond rounding.
//! - A failure counts vaguely as the worst cost in mean and factors, and not at all in the metric: a cliff
//!   would make everything else look rough. What failed is never the combination that is asked first.
//!
//! **Cost.** Linear in the boards: metric and EM look at a limited number of them.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use trimtab::{Goal, Knob, Level};

use super::board::Random;
use super::factors::{self, Points, Population, Sums, Whitened};
use super::first::{self, Candidate};
use super::format::{self, Numbers};
use super::kernel::{Columns, MOST_ROWS, Metric};
use super::metric::{self, Measured};
use crate::bench::method::linalg::{Cholesky, dot};

/// Boards and measurements of each that the metric is fitted to, and boards that EM goes over.
const METRIC: (usize, usize) = (24, 60);
/// Rows of the metric of fewer boards: six rows of 10 equalisers were worse than three, of 100 better.
const FEW_ROWS: usize = 3;
const EM_BOARDS: usize = 256;
const STARTS: usize = 3;
/// Pseudo-points, if they fit.
const POINTS: usize = 64;
const FACTORS: usize = 4;
/// Combinations that pseudo-points are chosen from.
const POOL: usize = 1200;
/// The percentile of all costs where they begin to be bent, so that a few false ones do not matter.
const LOW: f64 = 0.01;
/// How far above it the bend is half done, in distances from there to the median. Chosen on fleets 1, 3, 4
/// and 5: see `docs/fleet.md`.
const REACH: f64 = 8.0;
/// As the core has them: the lowest z, and the smallest unit.
const LOWEST: f64 = -10.0;
const LEAST_UNIT: f64 = 1e-4;
/// What many boards take from the variance of the rest; chosen on fleet 1, where 0.5 helped at 100 boards
/// and hurt at 10.
const TRUST: f64 = 0.5;
/// Variance of the rest that a single board cannot know of, and n boards an n-th: one board says nothing about
/// how boards differ.
const UNKNOWN: f64 = 0.3;
/// The smallest variance that no kernel explains: below it a chip's factor breaks down.
const LEAST_NUGGET: f64 = 1e-5;
/// The least share of it that is left where repeats show noise.
const LEAST_SHARE: f64 = 0.05;

/// With so many boards it takes two that fail to rule a combination out; before, one.
const FEW: f64 = 10.0;
/// Failed combinations that a fleet remembers.
const MOST_FAILED: usize = 1000;

/// What one board measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// Each combination once.
    pub(crate) levels: Vec<Vec<Level>>,
    /// The mean of its costs: small is good.
    pub(crate) costs: Vec<f64>,
    /// Measurements beyond the first of each combination, and the sum of their squared deviations.
    pub(crate) again: f64,
    pub(crate) square: f64,
    /// Combinations that failed and never had a cost.
    pub(crate) failed: Vec<Vec<Level>>,
}

/// y = (b(z) − centre)/unit with z = (cost − low)/reach and b(z) = z/(1 + z), or z below 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) reach: f64,
    pub(crate) centre: f64,
    pub(crate) unit: f64,
    /// What a failure counts as: the 90th percentile of y.
    pub(crate) worst: f64,
}

impl Scale {
    fn of(logs: &[Log]) -> Self {
        let mut all: Vec<f64> = logs.iter().flat_map(|log| log.costs.iter().copied()).collect();
        all.sort_by(f64::total_cmp);
        let at = |share: f64| all.get((share * all.len() as f64) as usize).copied().unwrap_or(0.0);
        let low = at(LOW);
        let reach = REACH * (at(0.5) - low);
        let mut scale = Self { low, reach: if reach > 0.0 { reach } else { 1.0 }, centre: 0.0, unit: 1.0, worst: 0.0 };
        let count = all.len().max(1) as f64;
        let centre = all.iter().map(|cost| scale.apply(*cost)).sum::<f64>() / count;
        let square = all.iter().map(|cost| (scale.apply(*cost) - centre).powi(2)).sum::<f64>() / count;
        (scale.centre, scale.unit) = (centre, if square > 0.0 { square.sqrt().max(LEAST_UNIT) } else { 1.0 });
        Self { worst: scale.apply(at(0.9)), ..scale }
    }

    pub(crate) fn apply(&self, cost: f64) -> f64 {
        let z = ((cost - self.low) / self.reach).max(LOWEST);
        (if z > 0.0 { z / (1.0 + z) } else { z } - self.centre) / self.unit
    }

    /// One unit of y where costs are low.
    pub(crate) fn low_unit(&self) -> f64 {
        self.unit * self.reach
    }

    fn measured(&self, log: &Log) -> Measured {
        let y = log.costs.iter().map(|cost| self.apply(*cost)).collect();
        Measured { levels: log.levels.clone(), y, failed: 0 }
    }

    /// The same with failures, each as bad as the worst cost.
    fn judged(&self, log: &Log) -> Measured {
        let mut measured = self.measured(log);
        measured.levels.extend(log.failed.iter().cloned());
        measured.y.extend(log.failed.iter().map(|_| self.worst));
        measured.failed = log.failed.len();
        measured
    }
}

/// What a fleet has taught.
pub(crate) struct Model {
    pub(crate) knobs: Vec<Knob>,
    pub(crate) goal: Goal,
    pub(crate) columns: Columns,
    pub(crate) metric: Metric,
    pub(crate) scale: Scale,
    pub(crate) points: Points,
    /// What boards are compared with when they are added.
    pub(crate) reference: Population,
    pub(crate) sums: Sums,
    /// Repeated measurements of all boards, and the sum of their squared deviations.
    pub(crate) again: f64,
    pub(crate) square: f64,
    /// Combinations that failed, and on how many boards: those of most boards, at most
    /// [`MOST_FAILED`].
    pub(crate) failed: BTreeMap<Vec<Level>, u32>,
    /// What a next board may measure first; none in files of earlier versions.
    pub(crate) candidates: Vec<Candidate>,
}

/// A fleet as a chip's model of it.
pub(crate) struct Fleet {
    /// Weights of g.
    pub(crate) mean: Vec<f64>,
    pub(crate) factors: Vec<Vec<f64>>,
    /// The variance of the rest, and what no kernel explains.
    pub(crate) rest: f64,
    pub(crate) nugget: f64,
}

impl Fleet {
    fn of(population: &Population) -> Self {
        let values = factors::eigen(&population.spread);
        let kept = FACTORS.min(values.len().saturating_sub(1));
        let others = values.iter().skip(kept).map(|value| value.0).sum::<f64>() / (values.len() - kept).max(1) as f64;
        let others = others.max(1e-6);
        let factor = |(value, vector): &(f64, Vec<f64>)| -> Vec<f64> {
            vector.iter().map(|entry| entry * (value - others).max(0.0).sqrt()).collect()
        };
        Self {
            mean: population.mean.clone(),
            factors: values.iter().take(kept).map(factor).collect(),
            rest: others.max(population.rest),
            nugget: population.nugget,
        }
    }
}

impl Model {
    pub(crate) fn learn(knobs: &[Knob], goal: Goal, logs: &[Log]) -> Result<Self, String> {
        let (columns, scale) = (Columns::new(knobs), Scale::of(logs));
        // Spread over the list, so that an order in time does not matter.
        let some = |most: usize| {
            let keep = logs.len().min(most);
            (0..keep).map(move |i| &logs[i * logs.len() / keep])
        };
        let thinned: Vec<Measured> = some(METRIC.0).map(|log| thinned(&scale.measured(log), METRIC.1)).collect();
        let rows = if logs.len() < METRIC.0 { FEW_ROWS } else { MOST_ROWS };
        let learned = metric::fit(&columns, &thinned, rows.min(columns.count), STARTS);
        let metric = learned.metric;
        let boards: Vec<Measured> = some(EM_BOARDS).map(|log| scale.judged(log)).collect();
        let most = format::room(knobs, metric.map.len(), FACTORS, metric.weight > 0.0).min(POINTS);
        let chosen = factors::choose(&columns, &metric, &pool(&boards), most);
        let points = Points::new(&columns, &metric, &chosen).ok_or("the logs have no spread to learn from")?;
        let ready: Vec<Whitened> =
            boards.iter().map(|board| Whitened::new(&columns, &metric, &points, board)).collect();
        let reference = factors::population(chosen.len(), &ready, learned.nugget);
        let sums = Sums::zero(chosen.len());
        let mut model = Self {
            knobs: knobs.to_vec(),
            goal,
            columns,
            metric,
            scale,
            points,
            reference,
            sums,
            again: 0.0,
            square: 0.0,
            failed: BTreeMap::new(),
            candidates: Vec::new(),
        };
        let lowest = model.lowest(&model.reference.mean);
        model.candidates = first::candidates(&boards, lowest);
        model.add(logs);
        Ok(model)
    }

    /// Adds boards.
    pub(crate) fn add(&mut self, logs: &[Log]) {
        let Some(factor) = Cholesky::new(self.reference.spread.clone()) else { return };
        let inverse = factor.inverse();
        for log in logs {
            self.sums.add(&self.reference, &inverse, &self.whitened(log));
            self.again += log.again;
            self.square += log.square;
            log.failed.iter().for_each(|levels| *self.failed.entry(levels.clone()).or_default() += 1);
        }
        let boards: Vec<Measured> = logs.iter().map(|log| self.scale.judged(log)).collect();
        let mut candidates = std::mem::take(&mut self.candidates);
        first::add(&mut candidates, self, &boards);
        self.candidates = candidates;
        let mut counts: Vec<u32> = self.failed.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        if let Some(least) = counts.get(MOST_FAILED) {
            self.failed.retain(|_, count| *count > *least);
        }
    }

    /// A board, ready for the sums.
    pub(crate) fn whitened(&self, log: &Log) -> Whitened {
        Whitened::new(&self.columns, &self.metric, &self.points, &self.scale.judged(log))
    }

    /// The boards' places along the first two factors, in standard deviations.
    pub(crate) fn places(&self, boards: &[Whitened]) -> Vec<(f64, f64)> {
        let population = self.population();
        let values = factors::eigen(&population.spread);
        let Some(factor) = Cholesky::new(self.reference.spread.clone()) else { return Vec::new() };
        let inverse = factor.inverse();
        let place = |board: &Whitened| {
            let mut one = Sums::zero(self.sums.mean.len());
            one.add(&self.reference, &inverse, board);
            let along = |k: usize| {
                let Some((value, vector)) = values.get(k) else { return 0.0 };
                let offset: f64 =
                    vector.iter().zip(&one.mean).zip(&population.mean).map(|((v, own), mean)| v * (own - mean)).sum();
                offset / value.max(1e-12).sqrt()
            };
            (along(0), along(1))
        };
        boards.iter().map(place).collect()
    }

    /// The population that all boards speak for.
    pub(crate) fn population(&self) -> Population {
        self.sums.population(&self.reference)
    }

    /// All boards.
    pub(crate) fn fleet(&self) -> Fleet {
        self.fleet_of(&self.sums)
    }

    /// Some boards.
    pub(crate) fn fleet_of(&self, sums: &Sums) -> Fleet {
        let fleet = Fleet::of(&sums.population(&self.reference));
        // With few boards the pseudo-points miss part of what boards differ by.
        let trusted = 1.0 - TRUST * sums.boards / (sums.boards + 20.0);
        Fleet { rest: fleet.rest * trusted + UNKNOWN / sums.boards.max(1.0), ..fleet }
    }

    /// The boards that the first `learn` saw: whatever is added later, this stays.
    pub(crate) fn first_fleet(&self) -> Fleet {
        Fleet::of(&self.reference)
    }

    /// Whether a combination failed so often that no board measures it first.
    pub(crate) fn is_ruled_out(&self, levels: &[Level]) -> bool {
        self.failed.get(levels).is_some_and(|boards| *boards > 1 || self.sums.boards < FEW)
    }

    /// The prior as a chip has it.
    pub(crate) fn numbers(&self) -> Numbers {
        let Fleet { mean, factors, rest, nugget } = self.fleet();
        let weights = |g: &[f64]| {
            let mut weights = g.to_vec();
            self.points.factor.backward(&mut weights);
            weights
        };
        let weights: Vec<Vec<f64>> = std::iter::once(&mean).chain(&factors).map(|g| weights(g)).collect();
        let points = self.points.places.iter().enumerate();
        let points = points.map(|(i, place)| {
            (place.levels.clone(), place.mapped.clone(), weights.iter().map(|weight| weight[i]).collect())
        });
        let unit = self.scale.low_unit();
        let noise = if self.again > 0.0 { self.square / self.again / (unit * unit) } else { 0.0 };
        Numbers {
            goal: self.goal,
            boards: self.sums.boards as u32,
            low: self.scale.low,
            reach: self.scale.reach,
            centre: self.scale.centre,
            unit: self.scale.unit,
            rest,
            weight: self.metric.weight,
            nugget: (nugget - noise).max(LEAST_SHARE * nugget).max(LEAST_NUGGET),
            noise,
            map: self.metric.map.clone(),
            best: first::best(&self.candidates, self).unwrap_or_else(|| self.lowest(&mean)),
            points: points.collect(),
        }
    }

    /// The combination with the lowest mean: descents from pseudo-points and random starts.
    fn lowest(&self, mean: &[f64]) -> Vec<Level> {
        let mut random = Random::seed_from_u64(self.points.places.len() as u64);
        let of = |levels: &[Level]| {
            if self.is_ruled_out(levels) {
                return f64::INFINITY;
            }
            let place = self.metric.place(&self.columns, levels);
            dot(&self.points.whitened(&self.columns, &self.metric, &place).0, mean)
        };
        let mut starts: Vec<(f64, Vec<Level>)> =
            self.points.places.iter().map(|place| (of(&place.levels), place.levels.clone())).collect();
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        starts.truncate(6);
        for _ in 0..4 {
            let drawn = self.knobs.iter().map(|knob| random.random_range(0..knob.levels()) as Level).collect();
            starts.push((f64::INFINITY, drawn));
        }
        let ends = starts.into_iter().map(|(_, start)| descend(&self.knobs, start, &of));
        ends.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, levels)| levels).unwrap_or_default()
    }
}

/// Takes the best level of each knob in turn until none is better.
fn descend(knobs: &[Knob], mut at: Vec<Level>, of: &impl Fn(&[Level]) -> f64) -> (f64, Vec<Level>) {
    let mut best = of(&at);
    loop {
        let before = best;
        for (i, knob) in knobs.iter().enumerate() {
            let (was, mut own) = (usize::from(at[i]), at[i]);
            // A range in steps of powers of two, as the tuner's sweeps.
            let is_tried = |level: &usize| !knob.is_range() || level.abs_diff(was).is_power_of_two();
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

/// Measurements of all boards with a weight from 1 for a board's best to 0.3 for its worst.
fn pool(boards: &[Measured]) -> Vec<(Vec<Level>, f64)> {
    let per = (POOL / boards.len().max(1)).max(8);
    let mut pool = Vec::new();
    for board in boards {
        for (rank, i) in spread(board, per) {
            pool.push((board.levels[i].clone(), 1.0 - 0.7 * rank));
        }
    }
    pool
}

/// At most so many measurements of a board, evenly over its costs.
fn thinned(board: &Measured, most: usize) -> Measured {
    let kept = spread(board, most);
    Measured {
        levels: kept.iter().map(|(_, i)| board.levels[*i].clone()).collect(),
        y: kept.iter().map(|(_, i)| board.y[*i]).collect(),
        failed: 0,
    }
}

/// The places of at most so many measurements, each with its rank by cost from 0 to 1.
fn spread(board: &Measured, most: usize) -> Vec<(f64, usize)> {
    let mut order: Vec<usize> = (0..board.y.len()).collect();
    order.sort_by(|a, b| board.y[*a].total_cmp(&board.y[*b]));
    let (all, keep) = (order.len(), order.len().min(most));
    (0..keep).map(|k| k * all / keep).map(|k| (k as f64 / all as f64, order[k])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::stats;
    use trimtab::{Config, Event, PriorState};
    use trimtab_sizes::Setup;

    const KNOBS: [Knob; 3] = [Knob::ranked(10), Knob::ranked(10), Knob::nominal(3)];

    /// A bowl whose bottom moves with the board.
    fn cost(levels: &[Level], board: usize) -> f64 {
        let (x, y) = (f64::from(levels[0]) - 4.0 - 0.2 * board as f64, f64::from(levels[1]) - 6.0 + 0.1 * board as f64);
        x * x + 0.5 * y * y + 3.0 * f64::from(levels[2])
    }

    fn logs(count: usize) -> Vec<Log> {
        let mut random = Random::seed_from_u64(2);
        let mut log = |board: usize| {
            let mut log = Log::default();
            for _ in 0..20 {
                let levels: Vec<Level> =
                    KNOBS.iter().map(|knob| random.random_range(0..knob.levels()) as Level).collect();
                if !log.levels.contains(&levels) {
                    log.costs.push(cost(&levels, board));
                    log.levels.push(levels);
                }
            }
            log
        };
        (0..count).map(&mut log).collect()
    }

    /// Boards added in any order teach the same beyond rounding, also through a file.
    #[test]
    fn the_order_of_added_boards_does_not_matter() {
        let logs = logs(8);
        let first = || Model::learn(&KNOBS, Goal::Minimise, &logs[..4]).unwrap();
        let (mut one, mut other) = (first(), first());
        one.add(&logs[4..]);
        for log in logs[4..].iter().rev() {
            other.add(std::slice::from_ref(log));
        }
        let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{a} {b}");
        one.sums.mean.iter().zip(&other.sums.mean).for_each(|(a, b)| close(*a, *b));
        one.sums.square.entries().iter().zip(other.sums.square.entries()).for_each(|(a, b)| close(*a, *b));
        assert_eq!(one.sums.boards, 8.0);
        let bytes = one.numbers().write(&KNOBS).unwrap();
        assert_eq!(bytes, other.numbers().write(&KNOBS).unwrap());
        let path = std::env::temp_dir().join(format!("trimtab_{}.fleet", std::process::id()));
        stats::write(&path, &["a", "b", "c"].map(String::from), &one).unwrap();
        let (read, names) = stats::read(&path).unwrap();
        // A file of an earlier version has no candidates.
        let text = std::fs::read_to_string(&path).unwrap();
        let (head, _) = text.split_once(",\"candidates\"").unwrap();
        std::fs::write(&path, format!("{head}}}\n")).unwrap();
        let (earlier, _) = stats::read(&path).unwrap();
        assert!(earlier.candidates.is_empty() && earlier.numbers().write(&KNOBS).is_ok());
        std::fs::remove_file(&path).unwrap();
        assert_eq!((read.numbers().write(&KNOBS).unwrap(), names.len()), (bytes, 3));
    }

    /// Where a region fails on every board, the first combination is outside of it, and the mean promises
    /// nothing there.
    ///
    /// promise: trimtab learn | settings that fail on several boards | never asked first, and the mean is not low there
    #[test]
    fn a_region_that_fails_is_learned() {
        // Beside the bottom, which is near (4, 6).
        let fails = |levels: &[Level]| levels[0] < 5 && levels[2] == 0;
        let mut logs = logs(12);
        for log in &mut logs {
            let all = log.levels.drain(..).zip(log.costs.drain(..)).collect::<Vec<_>>();
            for (levels, cost) in all {
                if fails(&levels) {
                    log.failed.push(levels);
                } else {
                    log.levels.push(levels);
                    log.costs.push(cost);
                }
            }
        }
        let known = Model::learn(&KNOBS, Goal::Minimise, &logs).unwrap();
        logs.iter_mut().for_each(|log| log.failed.clear());
        let unknown = Model::learn(&KNOBS, Goal::Minimise, &logs).unwrap();
        assert!(!fails(&known.numbers().best), "{:?}", known.numbers().best);
        let mean = |model: &Model, levels: &[Level]| {
            let place = model.metric.place(&model.columns, levels);
            dot(&model.points.whitened(&model.columns, &model.metric, &place).0, &model.fleet().mean)
        };
        let inside = [[2, 6, 0], [3, 5, 0], [1, 7, 0]];
        let promised = |model: &Model| inside.iter().map(|levels| mean(model, levels)).sum::<f64>() / 3.0;
        let best = mean(&known, &known.numbers().best);
        let (with, without) = (promised(&known), promised(&unknown));
        assert!(with > best + 1.0 && with > without, "{with} and {without}, the best {best}");
        // One failure of many boards rules nothing out.
        let mut many = known;
        let first = many.numbers().best;
        many.failed.insert(first.clone(), 1);
        assert_eq!(many.numbers().best, first);
        many.failed.insert(first.clone(), 2);
        assert_ne!(many.numbers().best, first);
    }

    /// The whole way: from logs by the core's f32 to a board that is tuned at once, and to a strange one.
    #[test]
    fn a_next_board_is_tuned_at_once_and_a_strange_one_noticed() {
        let model = Model::learn(&KNOBS, Goal::Minimise, &logs(8)).unwrap();
        let numbers = model.numbers();
        let bytes = numbers.write(&KNOBS).unwrap();
        assert!(bytes.len() <= trimtab::MOST_BYTES);
        let prior = format::read(&bytes).unwrap();
        let run = |cost: &dyn Fn(&[Level]) -> f64| {
            let setup = Setup {
                knobs: &KNOBS,
                conditions: &[],
                config: Config::default(),
                seed: 1,
                observations: 20,
                feasible: None,
                prior: Some(prior),
            };
            let mut tuner = trimtab_sizes::start(setup).unwrap();
            let (mut first, mut least) = (None, f64::INFINITY);
            for _ in 0..8 {
                let levels = tuner.ask().unwrap().unwrap().levels;
                let cost = cost(&levels);
                tuner.replay(&levels, Event::Told(cost as f32)).unwrap();
                first.get_or_insert(levels);
                least = least.min(cost);
            }
            (first.unwrap(), least, tuner.prior())
        };
        let all = || (0..300usize).map(|i| [(i % 10) as Level, (i / 10 % 10) as Level, (i / 100) as Level]);
        for board in [2, 9] {
            let (first, least, state) = run(&|levels| cost(levels, board));
            assert_eq!((first, state), (numbers.best.clone(), PriorState::InForce));
            let lowest = all().map(|levels| cost(&levels, board)).fold(f64::INFINITY, f64::min);
            assert!(least < lowest + 1.0, "board {board}: {least}, not {lowest}");
        }
        let (.., state) = run(&|levels| 40.0 - cost(levels, 0));
        assert!(matches!(state, PriorState::GivenUp { .. }), "{state:?}");
    }
}
