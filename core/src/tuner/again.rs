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
use crate::config::Noise;
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
> Tuner<K, M, D, T, L, P, N, G, A>
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
        let Some((o, posterior)) = self.model.observations.get(i).zip(self.model.measured(i)) else { return true };
        let value = self.value_of(posterior);
        let may_repeat = o.repeats < self.config.remeasure && !self.pending.contains(&o.combination);
        if value <= self.again.value && may_repeat {
            (self.again.value, self.again.best, self.search.score) = (value, Some(o.combination), 0.0);
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
