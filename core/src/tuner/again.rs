//! Whether one of the best measured combinations is worth much more, measured again, than a new one.
//!
//! The value of both is their expected improvement on the smallest posterior mean, times
//! 1 − τ/√(σ² + τ²) for a noise of τ (Huang, Allen, Notz and Zeng 2006, augmented expected
//! improvement): what is known well already teaches little.
//!
//! **Choices**
//! - Until a repeat has differed, the noisy hypotheses must have nearly all the weight. Once one was
//!   equal, nothing is measured again.
//!
//! **Cost.** O(t²) for each of the eight best.

use heapless::Vec;

use super::Tuner;
use crate::acquire::acquisition::Rule;
use crate::config::{Noise, Settings};
use crate::math::float::{ln, sqrt};
use crate::math::list;
use crate::space::Combination;
use crate::surrogate::gp::Posterior;
use crate::surrogate::noise::Seen;

/// How many of the best combinations may be measured again.
const MOST: usize = 8;
/// Logarithm of how many times as much a repeat must be worth as a new combination. With 0, some
/// 40 of 100 measurements were repeats and the regret was the same or worse.
const MUCH_MORE: f32 = 2.0;
/// Weight that the noisy hypotheses need before anything is measured again, until a repeat has
/// differed.
const CONVINCED: f32 = 0.97;

/// The comparison under way.
#[derive(Clone, Debug)]
pub(super) struct Again<const K: usize> {
    /// The observations with the smallest posterior means, and those means.
    lowest: Vec<(f32, u16), MOST>,
    best: Option<Combination<K>>,
    /// The value to beat; small is good.
    value: f32,
}

impl<const K: usize> Again<K> {
    pub(super) const NONE: Self = Self { lowest: Vec::new(), best: None, value: 0.0 };

    /// The combination to measure again.
    pub(super) fn best(&self) -> Option<Combination<K>> {
        self.best
    }
}

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
    /// Whether anything may be measured again.
    fn may_repeat(&self) -> bool {
        let noise = &self.model.noise;
        let is_certain = match self.model.seen() {
            _ if matches!(self.config.noise, Noise::Given(_)) => true,
            Seen::Nothing => noise.noisy >= CONVINCED,
            // The first repeat was equal: there is no noise, whatever the last fit believed.
            Seen::Equal => false,
            Seen::Different => true,
        };
        is_certain && self.config.remeasure > 1 && self.config.noise != Noise::None && noise.used.is_noisy()
    }

    /// Begins to compare the best that a search found with the best that is measured.
    pub(super) fn begin_again(&mut self) {
        (self.again.best, self.search.score) = (None, self.search.best().map_or(0.0, |best| best.score));
        self.again.lowest.clear();
        let Some(new) = self.search.best().filter(|_| self.may_repeat()) else { return };
        self.again.value = self.value_of(new.posterior) - self.search.log_chance - MUCH_MORE;
        let keeping = (0..self.len()).filter(|i| self.model.is_believed_to_keep(*i));
        for (mean, i) in keeping.filter_map(|i| Some((self.model.measured_mean(i)?, i as u16))) {
            let lowest = &mut self.again.lowest;
            let place = lowest.iter().position(|other| mean < other.0).unwrap_or(lowest.len());
            if place < MOST {
                if lowest.is_full() {
                    lowest.pop();
                }
                list::insert(lowest, place, (mean, i));
            }
        }
    }

    /// Considers one more observation, from the eighth lowest mean to the lowest; returns whether
    /// there was one.
    pub(super) fn again_step(&mut self) -> bool {
        let Some((_, i)) = self.again.lowest.pop() else { return false };
        let i = usize::from(i);
        let observations = &self.model.observations;
        let Some((c, posterior)) = observations.combination(i).zip(self.model.measured(i)) else { return true };
        let value = self.value_of(posterior);
        let may_repeat = observations.repeats(i) < f32::from(self.config.remeasure) && !self.pending.contains(c);
        if value <= self.again.value && may_repeat {
            (self.again.value, self.again.best, self.search.score) = (value, Some(*c), 0.0);
        }
        true
    }

    /// The value of a measurement; small is good.
    fn value_of(&self, posterior: Posterior) -> f32 {
        let variance = self.model.noise.used.noise * self.model.gp.signal();
        let known = 1.0 - sqrt(variance / (posterior.variance + variance));
        let rule = Rule::ExpectedImprovement { best: self.search.incumbent };
        rule.score(posterior) - ln(known.max(f32::MIN_POSITIVE))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::acquire::cache::Cache;
    use crate::config::Config;
    use crate::math::times;
    use crate::space::Space;
    use crate::space::knob::Knob;

    const KNOBS: [Knob; 3] = [Knob::nominal(3), Knob::ranked(5), Knob::nominal(2)];
    type Three = crate::tuner!(KNOBS, observations: 24, rows: 32);

    /// A tuner whose search has just ended, after twelve noisy costs and one failure.
    fn searched(config: Config) -> std::boxed::Box<Three> {
        let mut tuner = std::boxed::Box::new(Three::new());
        tuner.init(Space::new(&KNOBS).unwrap(), config, 8).unwrap();
        for i in 0..times(13, 11) {
            let c = tuner.space.at_small([0, 7, 14, 21, 28, 5, 12, 19, 26, 3, 10, 17, 24][i]);
            let exact = c.levels().iter().map(|level| f32::from(*level)).sum::<f32>();
            match i {
                2 => tuner.tell_failed(&c).unwrap(),
                _ => tuner.tell(&c, exact + [0.3, -0.9, 0.8, -0.2, 0.5][i % 5]).unwrap(),
            }
        }
        tuner.ask_begin().unwrap();
        while tuner.search_step(50, true, None::<&mut Cache<0, 24, 0>>) {}
        tuner
    }

    fn known_noise() -> Config {
        Config { noise: Noise::Given(0.8), remeasure: 3, ..Config::default() }
    }

    /// −ln of the augmented expected improvement, in f64.
    fn exact_value(tuner: &Three, posterior: Posterior) -> f64 {
        let noise = f64::from(tuner.model.noise.used.noise) * f64::from(tuner.model.gp.signal());
        let variance = f64::from(posterior.variance);
        let u = (f64::from(tuner.search.incumbent) - f64::from(posterior.mean)) / variance.sqrt();
        let below = 0.5 * libm::erfc(-u / 2.0f64.sqrt());
        let density = (-0.5 * u * u).exp() / (2.0 * core::f64::consts::PI).sqrt();
        let augmented = 1.0 - noise.sqrt() / (variance + noise).sqrt();
        -(variance.sqrt() * (u * below + density) * augmented).ln()
    }

    #[test]
    fn the_value_of_a_measurement_is_its_augmented_improvement() {
        let tuner = searched(known_noise());
        assert!(tuner.model.noise.used.noise > 0.01 && tuner.model.gp.signal() != 1.0);
        for (mean, variance) in [(0.2, 0.5), (-1.0, 0.1), (0.6, 2.0), (-0.3, 0.01)] {
            let posterior = Posterior::new(mean, variance);
            let (own, exact) = (f64::from(tuner.value_of(posterior)), exact_value(&tuner, posterior));
            assert!((own - exact).abs() < 1e-3, "{mean} {variance}: {own}, not {exact}");
        }
    }

    /// The eight smallest means in order, and a bar that a repeat has to beat by a factor of e².
    #[test]
    fn the_eight_smallest_means_are_compared_with_a_new_combination() {
        let mut tuner = searched(known_noise());
        tuner.search.log_chance = -0.7;
        tuner.begin_again();
        let new = tuner.search.best().unwrap();
        let bar = exact_value(&tuner, new.posterior) + 0.7 - 2.0;
        assert!((f64::from(tuner.again.value) - bar).abs() < 1e-3, "{} {bar}", tuner.again.value);
        assert_eq!((tuner.again.best, tuner.search.score), (None, new.score));
        let means = (0..tuner.len()).filter_map(|i| Some((tuner.model.measured_mean(i)?, i as u16)));
        let mut means: std::vec::Vec<_> = means.collect();
        assert!(means.len() > MOST && means.len() < tuner.len());
        means.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert_eq!(tuner.again.lowest[..], means[..MOST]);
    }

    /// Of the eight, the most valuable that may be measured again, if it beats the bar.
    #[test]
    fn the_most_valuable_repeat_below_the_bar_wins() {
        let (mut chosen, mut spared) = (0, 0);
        for bar in [f32::INFINITY, 4.0, 2.0, 1.0, 0.5, -9.0] {
            for blocked in 0..4 {
                let mut tuner = searched(known_noise());
                tuner.begin_again();
                tuner.again.value = bar;
                let lowest = tuner.again.lowest.clone();
                let place = |rank: usize| usize::from(lowest[rank].1);
                let combination = |i: usize| tuner.model.observations.get(i).unwrap().combination;
                let barred: std::vec::Vec<_> = (0..blocked).map(|rank| combination(place(rank))).collect();
                // One is pending, the others were measured often enough.
                for (i, c) in barred.iter().enumerate() {
                    if i == 0 {
                        tuner.pending.push(*c).unwrap();
                    } else {
                        let i = tuner.model.observations.find(c).unwrap();
                        let cost = tuner.model.observations.get(i).unwrap().value;
                        [cost; 2].into_iter().for_each(|cost| tuner.model.observations.repeat(i, cost));
                    }
                }
                let open = (blocked..MOST).map(place);
                let valued = open.map(|i| (exact_value(&tuner, tuner.model.measured(i).unwrap()), i));
                let best = valued.filter(|(value, _)| *value <= f64::from(bar)).min_by(|a, b| a.0.total_cmp(&b.0));
                let expected = best.map(|(_, i)| tuner.model.observations.get(i).unwrap().combination);
                let mut steps = 0;
                while tuner.again_step() {
                    steps += 1;
                }
                assert_eq!((tuner.again.best(), steps), (expected, MOST), "{bar} {blocked}");
                let score = if expected.is_some() { 0.0 } else { tuner.search.best().unwrap().score };
                assert_eq!(tuner.search.score, score);
                (chosen, spared) = (chosen + usize::from(best.is_some()), spared + usize::from(best.is_none()));
            }
        }
        assert!(chosen > 4 && spared > 4, "{chosen} {spared}");
    }

    /// What the choice of the user, the hypotheses and the repeats so far allow.
    #[test]
    fn noise_has_to_be_likely_before_anything_is_measured_again() {
        let noisy = |config: Config, weight: f32| {
            let mut tuner = searched(config);
            (tuner.model.noise.used.noise, tuner.model.noise.noisy) = (0.1, weight);
            tuner
        };
        let auto = Config { remeasure: 2, ..Config::default() };
        assert!(noisy(auto, 0.97).may_repeat() && !noisy(auto, 0.96).may_repeat());
        assert!(!noisy(Config { remeasure: 1, ..auto }, 1.0).may_repeat());
        assert!(!noisy(Config { noise: Noise::None, ..auto }, 1.0).may_repeat());
        let given = Config { noise: Noise::Given(0.8), ..auto };
        assert!(noisy(given, 0.0).may_repeat());
        let mut silent = noisy(auto, 1.0);
        silent.model.noise.used.noise = 0.0;
        assert!(!silent.may_repeat());
        for (difference, seen) in [(0.0, Seen::Equal), (0.3, Seen::Different)] {
            for (config, may_repeat) in [(auto, seen == Seen::Different), (given, true)] {
                let mut tuner = noisy(config, if seen == Seen::Equal { 1.0 } else { 0.0 });
                let cost = tuner.model.observations.get(0).unwrap().value;
                tuner.model.observations.repeat(0, cost + difference);
                assert_eq!((tuner.model.seen(), tuner.may_repeat()), (seen, may_repeat), "{config:?}");
            }
        }
    }
}
