//! How likely a measurement is to succeed: logistic regression over the knobs.
//!
//! chance = 1/(1 + e^−f), f(c) = Σⱼ aⱼ·k(cⱼ, c), k(c, c′) = S·(1 + mean over the knobs of sᵢ)
//!
//! | name | meaning |
//! |---|---|
//! | f | the logit of a combination: above 0 it is more likely to succeed than to fail |
//! | sᵢ | similarity of two levels: 1 if equal, else −1/(q − 1) with q levels; for a graded knob 3·v·v′, v from −1 at its first level to 1 at its last |
//! | aⱼ | what observation j adds: at the most likely f it is 1 or 0, for success or failure, minus its chance |
//! | S | prior variance of f: its constant and its slopes share it |
//!
//! **Choices**
//! - Failures have a model of their own. As labels through the factor of the costs they had to share
//!   the relevance that the knobs have for the cost, and a failure needed a made-up cost, which
//!   misled the model of the costs.
//! - Linear in the knobs: ten failures say which levels fail, not which pairs of levels.
//! - No second factor. One pass over the aⱼ per outcome, each solved for its own condition, starts
//!   from where the last one ended; four passes solved no more runs.
//! - The most likely logit alone decides. Its variance needs another T²/2 numbers and was worth a
//!   few runs of 160.
//!
//! **Cost.** T numbers. A logit takes some 11tK instructions, a change of one knob 30t; a pass is t
//! logits.

use crate::math::float::short_exp;
use crate::space::knob::{Knob, Level};
use crate::space::{Combination, Space};

/// S.
const VARIANCE: f32 = 4.0;
/// 3 makes the mean square of v about 1, as for a knob of two levels.
const GRADED: f32 = 3.0;

/// 1/(1 + e^−f).
pub(crate) fn chance(logit: f32) -> f32 {
    let rest = short_exp(-logit.abs());
    (if logit > 0.0 { 1.0 } else { rest }) / (1.0 + rest)
}

/// What failures have taught.
#[derive(Clone, Debug)]
pub(crate) struct Success<const M: usize, const T: usize> {
    /// aⱼ.
    weights: [f32; T],
}

impl<const M: usize, const T: usize> Success<M, T> {
    pub(crate) const NONE: Self = Self { weights: [0.0; T] };

    /// Forgets observation i of n; those after it move up.
    pub(crate) fn remove(&mut self, i: usize, n: usize) {
        if let Some(weights) = self.weights.get_mut(i..n) {
            let mut next = 0.0;
            weights.iter_mut().rev().for_each(|weight| core::mem::swap(weight, &mut next));
        }
    }

    /// The logit of a combination, given those of all observations.
    #[inline(never)]
    pub(crate) fn logit<const K: usize>(&self, space: &Space<K>, c: &Combination<K>, all: &[Combination<K>]) -> f32 {
        if M > 0 {
            let knobs = (0..space.knobs().len()).fold(0.0, |sum, i| sum + self.likeness(space, all, i, c.level(i)));
            return VARIANCE * self.total(all) + knobs * scale(space);
        }
        // Nothing is graded: the same sum, combination by combination, takes half the instructions.
        let mut losses = [0.0; K];
        let knobs = losses.iter_mut().zip(space.knobs()).filter(|(_, knob)| knob.levels() > 1);
        knobs.for_each(|(loss, knob)| *loss = (1.0 + 1.0 / last(knob)) * scale(space));
        let others = self.weights.iter().zip(all);
        others.fold(0.0, |sum, (weight, other)| {
            let mut similar = 2.0 * VARIANCE;
            for ((a, b), loss) in c.all().iter().zip(other.all()).zip(&losses) {
                similar -= if a == b { 0.0 } else { *loss };
            }
            sum + weight * similar
        })
    }

    /// What a logit gains when one knob goes from a level to another.
    pub(crate) fn change<const K: usize>(
        &self,
        space: &Space<K>,
        all: &[Combination<K>],
        knob: usize,
        (from, to): (Level, Level),
    ) -> f32 {
        (self.likeness(space, all, knob, to) - self.likeness(space, all, knob, from)) * scale(space)
    }

    /// Σⱼ aⱼ.
    fn total<const K: usize>(&self, all: &[Combination<K>]) -> f32 {
        self.weights.iter().zip(all).fold(0.0, |sum, (weight, _)| sum + weight)
    }

    /// Σⱼ aⱼ·sᵢ of one level of knob i.
    #[inline(never)]
    fn likeness<const K: usize>(&self, space: &Space<K>, all: &[Combination<K>], i: usize, level: Level) -> f32 {
        let Some(knob) = space.knobs().get(i) else { return 0.0 };
        let others = self.weights.iter().zip(all).map(|(weight, other)| (weight, other.level(i)));
        // M = 0 says at compile time that nothing is graded.
        if M > 0 && knob.is_graded() {
            let last = last(knob);
            let sum = others.fold(0.0, |sum, (weight, other)| sum + weight * centred(other, last));
            return GRADED * centred(level, last) * sum / (last * last);
        }
        let (mut equal, mut all) = (0.0, 0.0);
        for (weight, other) in others {
            all += weight;
            equal += if other == level { *weight } else { 0.0 };
        }
        // A knob of one level is like itself.
        let differing = if knob.levels() > 1 { (equal - all) / last(knob) } else { 0.0 };
        equal + differing
    }

    /// Solves the condition of one observation for its own weight: one step of Newton's method.
    #[inline(never)]
    pub(crate) fn learn<const K: usize>(
        &mut self,
        space: &Space<K>,
        all: &[Combination<K>],
        j: usize,
        is_failure: bool,
    ) {
        let Some(c) = all.get(j) else { return };
        let own = Self::variance(space, c);
        let chance = chance(self.logit(space, c, all));
        if let Some(weight) = self.weights.get_mut(j) {
            let wanted = if is_failure { 0.0 } else { 1.0 };
            *weight += (wanted - chance - *weight) / (1.0 + chance * (1.0 - chance) * own);
        }
    }

    /// k of a combination with itself.
    fn variance<const K: usize>(space: &Space<K>, c: &Combination<K>) -> f32 {
        let own = space.knobs().iter().zip(c.levels()).fold(0.0, |sum, (knob, level)| {
            let v = centred(*level, last(knob));
            sum + if M > 0 && knob.is_graded() { GRADED * v * v / (last(knob) * last(knob)) } else { 1.0 }
        });
        VARIANCE + own * scale(space)
    }
}

fn scale<const K: usize>(space: &Space<K>) -> f32 {
    VARIANCE / space.knobs().len().max(1) as f32
}

/// The last level of a knob.
fn last(knob: &Knob) -> f32 {
    knob.levels().saturating_sub(1) as f32
}

/// v times the last level.
fn centred(level: Level, last: f32) -> f32 {
    f32::from(level) * 2.0 - last
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::math::random::Random;
    use crate::math::times;

    const KNOBS: [Knob; 4] = [Knob::nominal(2), Knob::nominal(5), Knob::ranked(9), Knob::nominal(3)];
    const N: usize = if cfg!(miri) { 6 } else { 60 };

    fn fails(c: &Combination<4>) -> bool {
        c.level(1) == 3 || c.level(2) > 6
    }

    /// Sixty random observations, as many passes as observations.
    fn learned(passes: usize) -> (Space<4>, std::vec::Vec<Combination<4>>, Success<1, N>) {
        let (space, mut random) = (Space::new(&KNOBS).unwrap(), Random::new(5, 0));
        let all: std::vec::Vec<_> = (0..N).map(|_| space.draw(&mut random)).collect();
        let mut success = Success::NONE;
        for n in (N - passes + 1)..=N {
            (0..n).for_each(|j| success.learn(&space, &all[..n], j, fails(&all[j])));
        }
        (space, all, success)
    }

    #[test]
    fn it_learns_which_levels_fail() {
        let (space, all, success) = learned(N);
        let mut random = Random::new(6, 0);
        let drawn: std::vec::Vec<_> = (0..times(400, 4)).map(|_| space.draw(&mut random)).collect();
        let right = drawn.iter().filter(|c| (success.logit(&space, c, &all) < 0.0) == fails(c)).count();
        assert!(right > 360 || cfg!(miri), "{right} of 400");
    }

    /// After many passes every weight meets its condition, which makes f the most likely one.
    #[test]
    fn passes_end_at_the_most_likely_logits() {
        let (space, all, success) = learned(N);
        let mut success = success;
        for _ in 0..times(300, 2) {
            (0..N).for_each(|j| success.learn(&space, &all, j, fails(&all[j])));
        }
        for (j, c) in all.iter().enumerate() {
            let wanted = if fails(c) { 0.0 } else { 1.0 };
            let off = wanted - chance(success.logit(&space, c, &all)) - success.weights[j];
            assert!(off.abs() < 0.01 || cfg!(miri), "{j}: {off}");
        }
    }

    #[test]
    fn a_change_is_the_difference_of_two_logits() {
        let (space, all, success) = learned(times(20, 2));
        for (knob, level) in [(0, 1), (1, 4), (2, 8), (3, 0)] {
            let (from, to) = (all[0], all[0].with(knob, level));
            let gain = success.change(&space, &all, knob, (from.level(knob), level));
            let difference = success.logit(&space, &to, &all) - success.logit(&space, &from, &all);
            assert!((gain - difference).abs() < 1e-3, "{knob}: {gain}, not {difference}");
        }
    }

    #[test]
    fn removing_an_observation_moves_the_others_up() {
        let mut success = Success::<1, 4> { weights: [1.0, 2.0, 3.0, 4.0] };
        success.remove(1, 4);
        assert_eq!(success.weights, [1.0, 3.0, 4.0, 0.0]);
    }

    #[test]
    fn chances_by_hand() {
        assert_eq!(chance(0.0), 0.5);
        // 1/(1 + e⁻²) = 0.880797
        assert!((chance(2.0) - 0.880_797).abs() < 1e-5 && (chance(-2.0) - 0.119_203).abs() < 1e-5);
        assert!(chance(-1e9) == 0.0 && chance(1e9) == 1.0);
    }
}
