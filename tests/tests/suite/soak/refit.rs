//! The posterior of a tuner without a random map, computed again in f64: kernel, standardised
//! costs, factor, mean and variance, from the observations and the fitted numbers alone.
//!
//! The formulas are those in the heads of core's `surrogate/{product,costs,gp,noise}.rs`, written
//! down a second time without their shortcuts: no incremental factor, no tables, no pruning.

use trimtab::internals::Inspected;
use trimtab::{Combination, Config, Goal, Knob, Level, Noise, Observation, Space};

/// A Gaussian process in f64.
pub(super) struct Refit<const K: usize> {
    fitted: Inspected<K>,
    /// Per knob: its number of levels, and 1 + tᵢ·cᵢ of any two of them.
    factors: Vec<(usize, Vec<f64>)>,
    /// 1/(Π(1 + tᵢ) − 1).
    scale: f64,
    combinations: Vec<Combination<K>>,
    /// The lower triangle of the factor, row by row.
    factor: Vec<Vec<f64>>,
    /// L⁻¹(y − μ1) and L⁻¹1.
    whitened: Vec<f64>,
    ones: Vec<f64>,
    mean: f64,
    mean_variance: f64,
    signal: f64,
    standard: Standard,
    goal: Goal,
    failures: f64,
}

/// From costs to standardised costs.
#[derive(Clone, Copy)]
pub(super) struct Standard {
    cap: f64,
    mean: f64,
    pub(super) deviation: f64,
    /// The largest magnitude of a cost.
    pub(super) largest: f64,
}

impl Standard {
    fn of(costs: &[f64], standardise: bool) -> Self {
        let mut sorted = costs.to_vec();
        sorted.sort_by(f64::total_cmp);
        let largest = costs.iter().fold(0.0, |most: f64, cost| most.max(cost.abs()));
        if !standardise || costs.is_empty() {
            return Self { cap: f64::INFINITY, mean: 0.0, deviation: 1.0, largest };
        }
        let (smallest, median) = (sorted[0], sorted[sorted.len() / 2]);
        let reach = 3.0 * (median - smallest);
        let cap = if reach > 0.0 && reach <= f64::from(f32::MAX) { median + reach } else { f64::INFINITY };
        let n = costs.len() as f64;
        let cut = || costs.iter().map(|cost| cost.min(cap));
        let mean = cut().sum::<f64>() / n;
        let deviation = (cut().map(|cost| (cost - mean).powi(2)).sum::<f64>() / n).sqrt();
        Self { cap, mean, deviation, largest: cut().fold(0.0, |most, cost| most.max(cost.abs())) }
    }

    fn apply(&self, cost: f64) -> f64 {
        (cost.min(self.cap) - self.mean) / self.deviation
    }

    /// Whether core's f32 tells these costs from equal ones with digits to spare.
    fn is_clear(&self) -> bool {
        self.largest > f64::from(f32::MIN_POSITIVE) && self.deviation > 1e-4 * self.largest
    }
}

impl<const K: usize> Refit<K> {
    /// `None` where f32 costs themselves have too few digits to compare anything.
    pub(super) fn new(
        space: &Space<K>,
        config: &Config,
        observations: &[Observation<K>],
        fitted: Inspected<K>,
    ) -> Option<Self> {
        let cost = |o: &Observation<K>| f64::from(if config.goal == Goal::Minimise { o.value } else { -o.value });
        let costs: Vec<f64> = observations.iter().filter(|o| !o.is_failure()).map(cost).collect();
        let now = Standard::of(&costs, config.standardise);
        // Core standardises anew only with a new factor.
        let [cap, mean, deviation] = fitted.standard.map(f64::from);
        let standard = Standard { cap, mean, deviation, ..now };
        if costs.is_empty()
            || config.standardise && !now.is_clear()
            || config.standardise && !standard.is_clear()
            || !config.standardise && standard.largest > 1e3
        {
            return None;
        }
        let y: Vec<f64> =
            observations.iter().map(|o| if o.is_failure() { 0.0 } else { standard.apply(cost(o)) }).collect();
        let combinations: Vec<_> = observations.iter().map(|o| o.combination).collect();
        let (factors, whole) = factors(space, &fitted);
        let mut own = Self {
            fitted,
            factors,
            scale: if whole > 1.0 { 1.0 / (whole - 1.0) } else { 0.0 },
            combinations,
            factor: Vec::new(),
            whitened: y,
            ones: vec![1.0; observations.len()],
            mean: 0.0,
            mean_variance: 0.0,
            signal: 1.0,
            standard,
            goal: config.goal,
            failures: (observations.len() - costs.len()) as f64,
        };
        own.factorise(observations)?;
        own.condition(config);
        Some(own)
    }

    pub(super) fn standard(&self) -> Standard {
        self.standard
    }

    fn factorise(&mut self, observations: &[Observation<K>]) -> Option<()> {
        for (i, o) in observations.iter().enumerate() {
            let mut row: Vec<f64> = (0..=i).map(|j| self.kernel(&o.combination, &self.combinations[j])).collect();
            let times = f64::from(o.repeats.max(1));
            row[i] += f64::from(self.fitted.residual) + f64::from(self.fitted.noise) / times;
            // A failure says next to nothing about costs.
            row[i] += if o.is_failure() { 10.0 } else { 0.0 };
            for j in 0..=i {
                let known: f64 = (0..j).map(|k| row[k] * if j == i { row[k] } else { self.factor[j][k] }).sum();
                row[j] = if j == i { (row[j] - known).sqrt() } else { (row[j] - known) / self.factor[j][j] };
            }
            // The root of a negative pivot is NaN.
            if row[i].is_nan() || row[i] == 0.0 {
                return None;
            }
            self.factor.push(row);
        }
        Some(())
    }

    fn solve_lower(&self, b: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = Vec::with_capacity(b.len());
        for (row, b) in self.factor.iter().zip(b) {
            let known: f64 = row.iter().zip(&x).map(|(l, x)| l * x).sum();
            x.push((b - known) / row[row.len() - 1]);
        }
        x
    }

    fn condition(&mut self, config: &Config) {
        let (y, ones) = (self.solve_lower(&self.whitened), self.solve_lower(&self.ones));
        let (precision, weight) = (f64::from(config.prior.mean_precision), f64::from(config.prior.signal_weight));
        let together = dot(&ones, &y);
        self.mean_variance = 1.0 / (dot(&ones, &ones) + precision);
        self.mean = together * self.mean_variance;
        let (count, square) = self.repeats(config);
        let square = (dot(&y, &y) - together * self.mean).max(0.0) + square;
        let signal = (square + weight) / (y.len() as f64 - self.failures + count + weight);
        self.signal = if weight.is_finite() { signal.max(1e-12) } else { 1.0 };
        self.whitened = y.iter().zip(&ones).map(|(y, one)| y - self.mean * one).collect();
        self.ones = ones;
    }

    /// Number and sum of squares of repeated measurements, where they count.
    fn repeats(&self, config: &Config) -> (f64, f64) {
        let (count, spread) = self.fitted.repeated;
        let noise = f64::from(self.fitted.noise);
        if noise == 0.0 || matches!(config.noise, Noise::Given(_)) {
            return (0.0, 0.0);
        }
        // Core cuts a spread that dwarfs the costs, which it may have seen before it forgot them.
        let spread = (f64::from(spread) / self.standard.deviation).min(1e15);
        (f64::from(count), spread.powi(2) / noise)
    }

    /// Mean and standard deviation in the user's units, of a combination without an outcome.
    pub(super) fn predict(&self, c: &Combination<K>) -> (f64, f64) {
        let k: Vec<f64> = self.combinations.iter().map(|other| self.kernel(c, other)).collect();
        let v = self.solve_lower(&k);
        let ones = 1.0 - dot(&v, &self.ones);
        let share = self.kernel(c, c) - dot(&v, &v) + ones * ones * self.mean_variance;
        let cost = (self.mean + dot(&v, &self.whitened)) * self.standard.deviation + self.standard.mean;
        let mean = if self.goal == Goal::Minimise { cost } else { -cost };
        (mean, (self.signal * share.max(0.0)).sqrt() * self.standard.deviation)
    }

    /// The standard deviation of a combination that nothing is known about.
    pub(super) fn prior_deviation(&self) -> f64 {
        self.signal.sqrt() * self.standard.deviation
    }

    /// (Π(1 + tᵢ·cᵢ) − 1)/(Π(1 + tᵢ) − 1).
    fn kernel(&self, a: &Combination<K>, b: &Combination<K>) -> f64 {
        let pairs = self.factors.iter().zip(a.levels().iter().zip(b.levels()));
        let product: f64 = pairs.map(|((n, table), (a, b))| table[usize::from(*a) * n + usize::from(*b)]).product();
        (product - 1.0) * self.scale
    }
}

/// The factors of all knobs, and Π(1 + tᵢ).
fn factors<const K: usize>(space: &Space<K>, fitted: &Inspected<K>) -> (Vec<(usize, Vec<f64>)>, f64) {
    let mut whole = 1.0;
    let numbers = fitted.relevance.iter().zip(&fitted.inverse_length);
    let factors = space.knobs().iter().zip(numbers).map(|(knob, (relevance, inverse_length))| {
        if knob.levels() < 2 {
            return (1, vec![1.0]);
        }
        whole *= 1.0 + f64::from(*relevance);
        let similarities = similarities(knob, f64::from(*inverse_length));
        (knob.levels(), similarities.iter().map(|c| 1.0 + f64::from(*relevance) * c).collect())
    });
    (factors.collect(), whole)
}

/// cᵢ of any two levels of a knob.
fn similarities(knob: &Knob, inverse_length: f64) -> Vec<f64> {
    let n = knob.levels();
    let pairs = || (0..n * n).map(|i| (i / n, i % n));
    if !knob.is_graded() {
        return pairs().map(|(a, b)| if a == b { 1.0 } else { -1.0 / (n as f64 - 1.0) }).collect();
    }
    let positions: Vec<f64> = (0..n).map(|level| f64::from(knob.position(level as Level))).collect();
    let (low, high) =
        positions.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(*p), high.max(*p)));
    let matern = |(a, b): (usize, usize)| {
        let r = 5f64.sqrt() * (positions[a] - positions[b]).abs() / (high - low) * inverse_length;
        (1.0 + r + r * r / 3.0) * (-r).exp()
    };
    let matern: Vec<f64> = pairs().map(matern).collect();
    let rows: Vec<f64> = matern.chunks(n).map(|row| row.iter().sum::<f64>() / n as f64).collect();
    let mean = rows.iter().sum::<f64>() / n as f64;
    pairs().zip(&matern).map(|((a, b), m)| (m - rows[a] - rows[b] + mean) / (1.0 - mean)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
