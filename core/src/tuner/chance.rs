//! What the chance of success does to a candidate's score.
//!
//! **Choices**
//! - UCB promises most where nothing is known, so a score times the chance of success still went into
//!   the failing half. A score pays for every logit that its candidate lacks.

use super::Tuner;
use crate::acquire::sweep::Scored;
use crate::config::Settings;
use crate::space::Combination;
use crate::space::knob::Level;
use crate::surrogate::success::{Calls, Change, chance};

/// What a candidate's score loses per logit that it lacks.
const PER_LOGIT: f32 = 1.0;

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
    /// The same after its chance of success; shorter if it is beside the path, with this level of the
    /// knob.
    pub(super) fn weighed(&self, mut scored: Scored<K>, beside: Option<(usize, Level)>) -> Scored<K> {
        if self.failing().is_some() {
            scored.score += PER_LOGIT * (self.search.needed_logit - self.logit(&scored.combination, beside)).max(0.0);
        }
        scored
    }

    /// The logit of success, infinite before the first failure.
    #[inline(never)]
    pub(super) fn logit(&self, c: &Combination<K>, beside: Option<(usize, Level)>) -> f32 {
        let (Some(calls), model, all) = (self.failing(), &self.model.success, self.measured()) else {
            return f32::INFINITY;
        };
        match beside {
            None => (calls.logit)(model, &self.space, c, all),
            Some((knob, level)) => {
                (calls.beside)(model, &self.space, all, &self.search.similar, self.change(knob, level))
            }
        }
    }

    /// The calls for failures, if there are any.
    pub(super) fn failing(&self) -> Option<&'static Calls<K, M, T>> {
        self.model.success.calls().filter(|_| self.failures() > 0)
    }

    /// The chance of success of a combination.
    pub(super) fn chance(&self, c: &Combination<K>) -> f32 {
        self.failing().map_or(1.0, |_| chance(self.logit(c, None)))
    }

    /// The path's knob goes to this level.
    pub(super) fn change(&self, knob: usize, level: Level) -> Change {
        Change { knob, from: self.search.path.at().level(knob), to: level }
    }

    /// The combinations with an outcome, without fantasies.
    fn measured(&self) -> &[Combination<K>] {
        self.model.observations.combinations().get(..self.len()).unwrap_or_default()
    }
}
