//! The Parzen estimator: one kernel per observation and one prior, each a product over the knobs.
//!
//! p(c) = Σᵢ wᵢ·∏ⱼ kᵢⱼ(cⱼ)
//!
//! | knob | kᵢⱼ around an observation | of the prior |
//! |---|---|---|
//! | nominal, q levels | (\[equal\] + π)/(1 + q·π), π = 1/(n + 1) | 1/q |
//! | graded, q levels | normal about the level, cut at −½ and q − ½, its mass within ½ of each level | the same, about the middle, as wide as the scale |
//!
//! | name | meaning |
//! |---|---|
//! | n | number of observations |
//! | wᵢ | 1 for the last 25 observations and the prior, rising from 1/n to 1 before them; then normalised |
//! | σ | the larger distance to the neighbouring observations of the knob, at least 1/min(100, n + 2) of the scale |
//!
//! **Cost.** (n + 1)·K operations per density.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level};

/// Observations whose weight is not reduced.
const RECENT: usize = 25;
/// The smallest σ is the scale divided by this, or by the number of kernels and one.
const FINEST: f64 = 100.0;
/// Stands for masses that underflow; the prior's kernel is far above.
const LEAST_MASS: f64 = 1e-300;

/// A density over combinations.
pub(super) struct Parzen<'a> {
    knobs: &'a [Knob],
    /// In the order of measurement.
    observations: Vec<&'a [Level]>,
    /// One per observation, then that of the prior; their sum is 1.
    weights: Vec<f64>,
    /// Per knob the σ of every observation; empty for nominal knobs.
    widths: Vec<Vec<f64>>,
}

impl<'a> Parzen<'a> {
    pub(super) fn new(knobs: &'a [Knob], observations: Vec<&'a [Level]>) -> Self {
        let n = observations.len();
        let mut weights: Vec<f64> = (0..n).map(|place| weight(place, n)).chain([1.0]).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        let width = |(place, knob): (usize, &Knob)| {
            let levels: Vec<f64> = observations.iter().map(|levels| f64::from(levels[place])).collect();
            if knob.is_graded() { widths(&levels, knob.levels() as f64) } else { Vec::new() }
        };
        let widths = knobs.iter().enumerate().map(width).collect();
        Self { knobs, observations, weights, widths }
    }

    /// The probability of a knob's level under one kernel; the last kernel is the prior.
    fn mass(&self, kernel: usize, knob: usize, level: Level) -> f64 {
        let q = self.knobs[knob].levels() as f64;
        let observed = self.observations.get(kernel).map(|levels| levels[knob]);
        if self.knobs[knob].is_graded() {
            let (middle, width) = match observed {
                Some(own) => (f64::from(own), self.widths[knob][kernel]),
                None => (0.5 * (q - 1.0), q),
            };
            let between = |low: f64, high: f64| between((low - middle) / width, (high - middle) / width);
            let at = f64::from(level);
            return between(at - 0.5, at + 0.5) / between(-0.5, q - 0.5);
        }
        let share = 1.0 / (self.observations.len() + 1) as f64;
        match observed {
            Some(own) => (f64::from(u8::from(own == level)) + share) / (1.0 + q * share),
            None => 1.0 / q,
        }
    }

    /// ln p(c).
    pub(super) fn log_density(&self, levels: &[Level]) -> f64 {
        let log = |(kernel, weight): (usize, &f64)| {
            let masses = levels.iter().enumerate().map(|(knob, level)| self.mass(kernel, knob, *level));
            libm::log(*weight) + masses.map(|mass| libm::log(mass.max(LEAST_MASS))).sum::<f64>()
        };
        let logs: Vec<f64> = self.weights.iter().enumerate().map(log).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most + libm::log(logs.iter().map(|log| libm::exp(log - most)).sum::<f64>())
    }

    /// Draws a combination.
    pub(super) fn draw(&self, random: &mut Xoshiro256PlusPlus) -> Vec<Level> {
        let kernel = choose(self.weights.iter().copied(), random);
        let level = |(knob, of): (usize, &Knob)| {
            choose((0..of.levels()).map(|level| self.mass(kernel, knob, level as Level)), random) as Level
        };
        self.knobs.iter().enumerate().map(level).collect()
    }
}

/// The index at which the running sum of probabilities passes a uniform draw.
fn choose(probabilities: impl Iterator<Item = f64>, random: &mut Xoshiro256PlusPlus) -> usize {
    let mut left = random.random::<f64>();
    let mut last = 0;
    for (index, probability) in probabilities.enumerate() {
        last = index;
        left -= probability;
        if left < 0.0 {
            break;
        }
    }
    last
}

/// The weight of an observation before normalisation.
fn weight(place: usize, n: usize) -> f64 {
    let early = n.saturating_sub(RECENT);
    if place >= early {
        return 1.0;
    }
    let first = 1.0 / n as f64;
    // `early` values from 1/n to 1, both included.
    if early == 1 { first } else { first + (1.0 - first) * place as f64 / (early - 1) as f64 }
}

/// σ of every observation of a knob with `q` graded levels.
fn widths(levels: &[f64], q: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by(|a, b| levels[*a].total_cmp(&levels[*b]));
    let mut widths = vec![0.0; levels.len()];
    for (rank, own) in order.iter().enumerate() {
        let below = rank.checked_sub(1).map(|rank| levels[*own] - levels[order[rank]]);
        let above = order.get(rank + 1).map(|next| levels[*next] - levels[*own]);
        widths[*own] = match (below, above) {
            (Some(below), Some(above)) => below.max(above),
            // The ends of the scale count only for a single observation.
            (Some(gap), None) | (None, Some(gap)) => gap,
            (None, None) => (levels[*own] + 0.5).max(q - 0.5 - levels[*own]),
        };
    }
    let least = q / FINEST.min(levels.len() as f64 + 2.0);
    widths.iter().map(|width| width.clamp(least, q)).collect()
}

/// Φ(b) − Φ(a), from the nearer tail.
fn between(a: f64, b: f64) -> f64 {
    let (a, b) = if a + b > 0.0 { (-b, -a) } else { (a, b) };
    let below = |x: f64| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
    below(b) - below(a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Case {
        observations: Vec<Vec<Level>>,
        costs: Vec<f64>,
        points: Vec<Vec<Level>>,
        below: Vec<usize>,
        log_below: Vec<f64>,
        log_above: Vec<f64>,
    }

    /// No graded level occurs twice there: NumPy's order of equal levels is not defined.
    #[test]
    fn densities_and_split_are_those_of_optuna() {
        let golden: serde_json::Value =
            serde_json::from_str(include_str!("../../../../../tests/golden/tpe_parzen.json")).unwrap();
        let knobs: Vec<Knob> = golden["knobs"].as_array().unwrap().iter().map(knob).collect();
        let cases: Vec<Case> = serde_json::from_value(golden["cases"].clone()).unwrap();
        assert_eq!(cases.len(), 3);
        for case in cases {
            let (below, above) = super::super::split(&case.costs);
            assert_eq!(below, case.below);
            for (places, theirs) in [(below, case.log_below), (above, case.log_above)] {
                let parzen = Parzen::new(&knobs, places.iter().map(|place| &case.observations[*place][..]).collect());
                for (point, theirs) in case.points.iter().zip(theirs) {
                    let own = parzen.log_density(point);
                    assert!((own - theirs).abs() < 1e-9, "{} observations: {own}, Optuna {theirs}", places.len());
                }
            }
        }
    }

    fn knob(of: &serde_json::Value) -> Knob {
        let levels = of["levels"].as_u64().unwrap() as u16;
        if of["graded"].as_bool().unwrap() { Knob::ranked(levels) } else { Knob::nominal(levels) }
    }

    #[test]
    fn draws_follow_the_density() {
        let knobs = [Knob::nominal(2), Knob::ranked(3)];
        let parzen = Parzen::new(&knobs, vec![&[1, 0], &[1, 1], &[0, 0]]);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        const DRAWS: usize = 20_000;
        let mut counts = [[0; 3]; 2];
        for _ in 0..DRAWS {
            let levels = parzen.draw(&mut random);
            counts[usize::from(levels[0])][usize::from(levels[1])] += 1;
        }
        let mut whole = 0.0;
        for (a, row) in counts.iter().enumerate() {
            for (b, count) in row.iter().enumerate() {
                let p = parzen.log_density(&[a as Level, b as Level]).exp();
                whole += p;
                // Five standard deviations of a share of 20 000 draws are below 0.018.
                assert!((f64::from(*count) / DRAWS as f64 - p).abs() < 0.018, "{a} {b}: {count}, {p}");
            }
        }
        assert!((whole - 1.0).abs() < 1e-12);
    }
}
