//! Whether it is worth going on: what the last ask expects to gain, and what the last measurements
//! gained.
//!
//! A run is settled when both the next [`WINDOW`] measurements are expected to gain, and the last
//! [`WINDOW`] gained, less than a share of the standard deviation of the costs. What one measurement
//! is expected to gain is the expected improvement of the last ask's best candidate on the smallest
//! posterior mean, times its chance of success; later ones are expected to gain no more each.
//!
//! **Choices**
//! - Two witnesses. The model alone is overconfident after ten observations; a pause alone, without
//!   the model, loses twice as much for the same number of measurements (host/docs/quality.md).
//! - Measuring again counts too: a model that prefers it expects little of new combinations.
//! - No state of its own: seed, configuration and records and one ask rebuild the answer.
//! - Methods, not fields of a proposal: a firmware that does not call them does not link them.
//!
//! **Cost.** One score by expected improvement and t comparisons.

use super::Tuner;
use crate::acquire::acquisition::Rule;
use crate::config::Settings;
use crate::math::float::{exp, ln};

/// Measurements that must gain, and be expected to gain, less than the tolerance.
const WINDOW: usize = 25;
/// How many of them must be new combinations, where the others measured old ones again.
const LEAST: usize = 8;

impl<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
    const N: usize,
    const G: usize,
    const A: usize,
    S: Settings,
> Tuner<K, M, D, T, L, P, N, G, A, S>
{
    /// What the next measurement is expected to gain over the best so far, in the units of the
    /// values: the expected improvement of the best candidate of the last [`ask`](Self::ask). `None`
    /// if the model did not choose it, as with initial and queued combinations.
    ///
    /// ```
    /// # use trimtab::{Config, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// for i in 0..8 {
    ///     let c = tuner.ask()?.combination;
    ///     assert_eq!(tuner.expected_gain().is_some(), i >= 4); // the first four are random
    ///     tuner.tell(&c, f32::from(c.level(1)))?;
    /// }
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn expected_gain(&self) -> Option<f32> {
        Some(exp(self.log_gain()?) * self.model.low_unit())
    }

    /// Whether the run may end: the last 25 measurements gained, and the model expects 25 more to
    /// gain, less than `tolerance` times the standard deviation of the measured values (bad outliers
    /// cut), so 0.01 is 1 %. Values told so far and the last [`ask`](Self::ask) decide; false until
    /// there are more than 25 measurements.
    ///
    /// ```
    /// # use trimtab::{Config, Knob, Space};
    /// # const KNOBS: [Knob; 10] = [Knob::nominal(2); 10];
    /// type Ten = trimtab::tuner!(KNOBS, observations: 100, rows: 128);
    /// # let mut tuner = Ten::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// while !tuner.is_settled(0.01) && tuner.len() < 100 {
    ///     let c = tuner.ask()?.combination;
    ///     tuner.tell(&c, c.levels().iter().map(|level| f32::from(*level)).sum())?;
    /// }
    /// assert_eq!(tuner.best_observed().map(|best| best.value), Some(0.0));
    /// assert!(tuner.len() < 50); // of 1024 combinations
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn is_settled(&self, tolerance: f32) -> bool {
        let Some(gain) = self.log_gain() else { return false };
        let window = WINDOW.saturating_sub(self.repeats as usize).max(LEAST);
        let Some(before) = self.len().checked_sub(window) else { return false };
        let costs = self.model.observations.costs().take(before).enumerate();
        let keeping = costs.filter(|(i, _)| self.model.limits.keeps(*i)).filter_map(|(_, cost)| cost);
        let earlier = keeping.fold(f32::INFINITY, f32::min);
        let best = self.model.best().and_then(|i| self.model.observations.cost(i));
        let Some(best) = best.filter(|_| earlier.is_finite()) else { return false };
        let gained = self.model.modelled(earlier) - self.model.modelled(best);
        gained < tolerance && gain < ln(tolerance / WINDOW as f32)
    }

    /// The logarithm of the expected gain, in standardised units.
    fn log_gain(&self) -> Option<f32> {
        let best = self.search.best()?;
        let gain = -Rule::ExpectedImprovement { best: self.search.incumbent }.score(best.posterior);
        let chance = self.chance(&best.combination);
        Some(gain + ln(chance.max(f32::MIN_POSITIVE)) + self.search.log_chance)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::math::times;
    use crate::space::Space;
    use crate::space::knob::Knob;
    use crate::tuner::record::{Event, Record};

    const KNOBS: [Knob; 12] = [Knob::nominal(2); 12];
    type Twelve = crate::tuner!(KNOBS, observations: 100, rows: 64);

    fn tuner(seed: u64) -> std::boxed::Box<Twelve> {
        let mut tuner = std::boxed::Box::new(Twelve::new());
        tuner.init(Space::new(&KNOBS).unwrap(), Config::default(), seed).unwrap();
        tuner
    }

    /// The number of ones, and one more for each neighbour that differs.
    fn cost(levels: &[crate::space::knob::Level]) -> f32 {
        let ones: f32 = levels.iter().map(|level| f32::from(*level)).sum();
        ones + levels.windows(2).filter(|pair| pair[0] != pair[1]).count() as f32
    }

    /// Against the definition: E = σ·(u·Φ(u) + φ(u)) in f64, of a candidate's posterior.
    #[test]
    fn the_gain_is_the_expected_improvement_in_the_users_units() {
        let mut tuner = tuner(3);
        for t in 0..times(40, 6) {
            let c = tuner.ask().unwrap().combination;
            if let Some(gain) = tuner.expected_gain() {
                let best = tuner.search.best().unwrap();
                let sigma = f64::from(best.posterior.variance).sqrt();
                let u = (f64::from(tuner.search.incumbent) - f64::from(best.posterior.mean)) / sigma;
                let density = (-0.5 * u * u).exp() / (2.0 * core::f64::consts::PI).sqrt();
                let exact = sigma * (u * 0.5 * libm::erfc(-u / 2f64.sqrt()) + density);
                let exact = exact * f64::from(tuner.model.standard.deviation());
                assert!((f64::from(gain) - exact).abs() < 1e-3 * exact.max(1e-6), "{t}: {gain} {exact}");
            }
            tuner.tell(&c, 100.0 * cost(c.levels())).unwrap();
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "a whole run takes hours there")]
    fn it_settles_at_the_best_and_not_before() {
        for seed in 0..5 {
            let mut tuner = tuner(seed);
            while !tuner.is_settled(0.01) {
                assert!(tuner.len() < 100, "seed {seed}");
                let c = tuner.ask().unwrap().combination;
                tuner.tell(&c, cost(c.levels())).unwrap();
            }
            assert!(tuner.len() > WINDOW, "seed {seed}");
            assert_eq!(tuner.best_observed().map(|best| best.value), Some(0.0), "seed {seed}");
            // Another tolerance, another answer; nonsense never settles.
            assert!(![0.0, -1.0, f32::NAN].into_iter().any(|tolerance| tuner.is_settled(tolerance)));
            // A record that improves on all others unsettles it.
            let better = Record::new(&tuner.ask().unwrap().combination, Event::Told(-5.0));
            tuner.replay(&better).unwrap();
            assert!(!tuner.is_settled(0.01), "seed {seed}");
        }
    }

    #[test]
    fn records_and_one_ask_rebuild_the_answer() {
        let (mut first, mut second) = (tuner(1), tuner(1));
        for _ in 0..times(60, 5) {
            let c = first.ask().unwrap().combination;
            let record = Record::new(&c, Event::Told(cost(c.levels())));
            first.replay(&record).unwrap();
            second.replay(&record).unwrap();
            let mut resumed = second.clone();
            assert_eq!(first.clone().ask(), resumed.ask());
            let mut asked = first.clone();
            asked.ask().unwrap();
            let answer = |tuner: &Twelve| (tuner.expected_gain().map(f32::to_bits), tuner.is_settled(0.01));
            assert_eq!(answer(&asked), answer(&resumed));
        }
    }

    /// Whatever the values: equal ones, failures alone, and extremes.
    #[test]
    fn odd_values_settle_only_if_the_model_says_so() {
        for value in [0.0, 1e-30, 1e30] {
            let mut tuner = tuner(2);
            for t in 0..times(40, 4) {
                let c = tuner.ask().unwrap().combination;
                assert!(tuner.expected_gain().is_none_or(f32::is_finite), "{value} {t}");
                tuner.tell(&c, value).unwrap();
                assert!(!tuner.is_settled(0.01) || t >= WINDOW, "{value} {t}");
            }
        }
        let mut failing = tuner(2);
        for _ in 0..times(40, 4) {
            let c = failing.ask().unwrap().combination;
            failing.tell_failed(&c).unwrap();
            assert!(!failing.is_settled(1e9));
        }
    }
}
