//! How likely a measurement is to succeed: logistic regression over the knobs and their pairs.
//!
//! chance = 1/(1 + e^−f), f(c) = Σⱼ aⱼ·k(cⱼ, c), k = S·(1 + m + m²), m(c, c′) = mean over the knobs of sᵢ
//!
//! | name | meaning |
//! |---|---|
//! | f | the logit of a combination: above 0 it is more likely to succeed than to fail |
//! | sᵢ | similarity of two levels: 1 if equal, else −1/(q − 1) with q levels; for a graded knob 3·v·v′, v from −1 at its first level to 1 at its last |
//! | aⱼ | what observation j adds: at the most likely f it is 1 or 0, for success or failure, minus its chance |
//! | S | prior variance of f: its constant, its slopes and its pairs share it |
//! | skill | how much better the model foresaw the last outcomes than their mere share of successes, in ln likelihood |
//!
//! **Choices**
//! - Failures have a model of their own. As labels through the factor of the costs they had to share
//!   the relevance that the knobs have for the cost, and a failure needed a made-up cost, which
//!   misled the model of the costs.
//! - m² is a model of all pairs of levels for three more instructions per observation: often two
//!   settings fail only together.
//! - Failures may be mere chance, which no model foresees. Skill tells: it judges every outcome before
//!   the model learns it.
//! - No second factor. One pass over the aⱼ per outcome, each solved for its own condition, starts
//!   from where the last one ended.
//!
//! **Cost.** T numbers. A logit takes some 5tK instructions, by estimate, a change of one knob 20t; a
//! pass is t logits.

use crate::math::float::{ln, short_exp};
use crate::space::knob::{Knob, Level};
use crate::space::{Combination, Space};
use crate::surrogate::product::{differing, differing_rest};

/// S.
const VARIANCE: f32 = 4.0;
/// 3 makes the mean square of v about 1, as for a knob of two levels.
const GRADED: f32 = 3.0;
/// Skill is kept within ±3, so that a few outcomes can change it.
const MOST_SKILL: f32 = 3.0;
/// The chance of success that a candidate needs: a fixed one where the model has shown that it can
/// foresee failures, else a share of the chance of the best measured combination.
const LIKELY: f32 = 0.8;
/// A logit that nothing has.
const UNLIKELY: f32 = 1e4;
/// One surprise must not decide: a chance that is judged lies between this and 1 minus this.
const SURPRISE: f32 = 0.01;

/// 1/(1 + e^−f).
pub(crate) fn chance(logit: f32) -> f32 {
    let rest = short_exp(-logit.abs());
    (if logit > 0.0 { 1.0 } else { rest }) / (1.0 + rest)
}

/// What failures have taught.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Success<const K: usize, const M: usize, const T: usize> {
    skill: f32,
    calls: Option<&'static Calls<K, M, T>>,
    /// aⱼ; 0 if observation j was not learned yet.
    weights: [f32; T],
}

/// Takes an outcome into the model; similarities overwrite the last argument.
type Learn<const K: usize, const M: usize, const T: usize> =
    fn(&mut Success<K, M, T>, &Space<K>, &[Combination<K>], (usize, bool), &mut [f32; T]);

/// What can be asked of the model after a failure. A tuner gets these calls with its first failure, so
/// a program that tells none does not link them.
#[derive(Debug)]
pub(crate) struct Calls<const K: usize, const M: usize, const T: usize> {
    /// Judges the model by the last of all outcomes, if it was not learned yet, given how many of the
    /// others failed.
    pub(crate) judge: Learn<K, M, T>,
    /// Learns one outcome: its index, and whether it is a failure.
    pub(crate) learn: Learn<K, M, T>,
    /// The logit that a candidate needs beside this incumbent.
    pub(crate) needed: fn(&Success<K, M, T>, &Space<K>, Option<&Combination<K>>, &[Combination<K>]) -> f32,
    /// The logit of a combination.
    pub(crate) logit: fn(&Success<K, M, T>, &Space<K>, &Combination<K>, &[Combination<K>]) -> f32,
    /// Writes the similarities of a combination with every observation.
    pub(crate) compare: fn(&Space<K>, &Combination<K>, &[Combination<K>], &mut [f32; T]),
    /// The logit of a combination with these similarities after one knob changed.
    pub(crate) beside: fn(&Success<K, M, T>, &Space<K>, &[Combination<K>], &[f32; T], Change) -> f32,
    /// Changes one knob of a combination with these similarities.
    pub(crate) change: fn(Change, &Space<K>, &[Combination<K>], &mut [f32]),
}

impl<const K: usize, const M: usize, const T: usize> Calls<K, M, T> {
    const ALL: Self = Self {
        judge: Success::judge,
        learn: Success::learn,
        needed: Success::needed,
        logit: Success::logit,
        compare: Success::<K, M, T>::compare,
        beside: Success::beside,
        change: Change::apply::<K, M>,
    };
}

impl<const K: usize, const M: usize, const T: usize> Success<K, M, T> {
    pub(crate) const NONE: Self = Self { weights: [0.0; T], skill: 0.0, calls: None };

    /// A failure is told.
    pub(crate) fn expect_failures(&mut self) {
        self.calls = Some(&Calls::ALL);
    }

    /// The calls, once a failure was told.
    pub(crate) fn calls(&self) -> Option<&'static Calls<K, M, T>> {
        self.calls
    }

    /// Whether the model foresaw outcomes better than their mere share of successes.
    fn is_skilled(&self) -> bool {
        self.skill > 0.0
    }

    /// Forgets observation i of n; those after it move up.
    pub(crate) fn remove(&mut self, i: usize, n: usize) {
        if let Some(weights) = self.weights.get_mut(i..n) {
            let mut next = 0.0;
            weights.iter_mut().rev().for_each(|weight| core::mem::swap(weight, &mut next));
        }
    }

    /// Writes m of a combination with every observation.
    fn compare(space: &Space<K>, c: &Combination<K>, all: &[Combination<K>], similar: &mut [f32; T]) {
        similar.iter_mut().for_each(|m| *m = 1.0);
        for (i, knobs) in space.knobs().chunks(4).enumerate() {
            // What m loses by each set of these four knobs that differ. M = 0 says at compile time that
            // nothing is graded.
            let mut losses = [0.0; 16];
            for (knob, bit) in knobs.iter().zip([1, 2, 4, 8]) {
                let own = if M > 0 && knob.is_graded() { 0.0 } else { step(space, knob) };
                losses.iter_mut().enumerate().filter(|(set, _)| set & bit != 0).for_each(|(_, loss)| *loss += own);
            }
            if M > 0 && knobs.iter().all(Knob::is_graded) {
                continue;
            }
            let four = |c: &Combination<K>| c.all().as_chunks::<4>().0.get(i).copied();
            let whole = four(c).filter(|_| knobs.len() == 4);
            for (m, other) in similar.iter_mut().zip(all) {
                let set = match whole.zip(four(other)) {
                    Some((a, b)) => differing::<M>(a, b),
                    None => differing_rest(rest(c, i, knobs.len()), rest(other, i, knobs.len())),
                };
                *m -= losses.get(set).copied().unwrap_or(0.0);
            }
        }
        if M == 0 {
            return;
        }
        for (i, knob) in space.knobs().iter().enumerate().filter(|(_, knob)| knob.is_graded()) {
            let (slope, one) = (slope(space, knob, centred(c.level(i), last(knob))), share(space));
            let pairs = similar.iter_mut().zip(all);
            pairs.for_each(|(m, other)| *m += slope * centred(other.level(i), last(knob)) - one);
        }
    }

    /// Before the first success nothing has the needed logit, so the likeliest candidate is asked.
    fn needed(&self, space: &Space<K>, incumbent: Option<&Combination<K>>, all: &[Combination<K>]) -> f32 {
        let Some(c) = incumbent else { return UNLIKELY };
        let of = if self.is_skilled() { 1.0 } else { chance(self.logit(space, c, all)) };
        let needed = LIKELY * of.max(f32::MIN_POSITIVE);
        ln(needed / (1.0 - needed))
    }

    /// The logit of a combination.
    fn logit(&self, space: &Space<K>, c: &Combination<K>, all: &[Combination<K>]) -> f32 {
        let mut similar = [0.0; T];
        Self::compare(space, c, all, &mut similar);
        self.logit_of(&similar, all.len())
    }

    /// The logit of a combination from its similarities.
    fn logit_of(&self, similar: &[f32; T], n: usize) -> f32 {
        self.weights.iter().zip(similar).take(n).fold(0.0, |sum, (weight, m)| sum + weight * covariance(*m))
    }

    /// The logit after one knob goes from a level to another.
    fn beside(&self, space: &Space<K>, all: &[Combination<K>], similar: &[f32; T], change: Change) -> f32 {
        let mut sum = 0.0;
        let mut others = self.weights.iter().zip(similar);
        change.of::<K, M>(space, all, |_, gain| {
            sum += others.next().map_or(0.0, |(weight, m)| weight * covariance(m + gain));
        });
        sum
    }

    /// Solves the condition of one observation for its own weight: one step of Newton's method. Its
    /// similarities overwrite `similar`.
    fn learn(
        &mut self,
        space: &Space<K>,
        all: &[Combination<K>],
        (j, is_failure): (usize, bool),
        similar: &mut [f32; T],
    ) {
        let Some(c) = all.get(j) else { return };
        Self::compare(space, c, all, similar);
        let own = covariance(similar.get(j).copied().unwrap_or(0.0));
        let chance = chance(self.logit_of(similar, all.len()));
        if let Some(weight) = self.weights.get_mut(j) {
            let wanted = if is_failure { 0.0 } else { 1.0 };
            *weight += (wanted - chance - *weight) / (1.0 + chance * (1.0 - chance) * own);
        }
    }

    /// Judges the model by the last of all outcomes, if it was not learned yet, given how many of the
    /// others failed.
    fn judge(
        &mut self,
        space: &Space<K>,
        all: &[Combination<K>],
        (failed, is_failure): (usize, bool),
        similar: &mut [f32; T],
    ) {
        let Some((c, before)) = all.split_last() else { return };
        if self.weights.get(before.len()).is_none_or(|weight| *weight != 0.0) {
            return;
        }
        Self::compare(space, c, before, similar);
        let foreseen = chance(self.logit_of(similar, before.len())).clamp(SURPRISE, 1.0 - SURPRISE);
        let (succeeded, all) = ((before.len() - failed.min(before.len())) as f32 + 1.0, before.len() as f32 + 2.0);
        let ratio = if is_failure { (1.0 - foreseen) * all / (all - succeeded) } else { foreseen * all / succeeded };
        self.skill = (self.skill + ln(ratio)).clamp(-MOST_SKILL, MOST_SKILL);
    }
}

/// A knob that goes from a level to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) knob: usize,
    pub(crate) from: Level,
    pub(crate) to: Level,
}

impl Change {
    /// Adds what m gains with every observation.
    fn apply<const K: usize, const M: usize>(self, space: &Space<K>, all: &[Combination<K>], similar: &mut [f32]) {
        self.of::<K, M>(space, all, |j, gain| similar.iter_mut().skip(j).take(1).for_each(|m| *m += gain));
    }

    /// Calls back with every observation and what m gains with it.
    #[inline(always)]
    fn of<const K: usize, const M: usize>(
        self,
        space: &Space<K>,
        all: &[Combination<K>],
        mut each: impl FnMut(usize, f32),
    ) {
        let Some(knob) = space.knobs().get(self.knob) else { return };
        let levels = all.iter().map(|other| other.level(self.knob)).enumerate();
        if M > 0 && knob.is_graded() {
            let slope = slope(space, knob, 2.0 * (f32::from(self.to) - f32::from(self.from)));
            levels.for_each(|(j, other)| each(j, slope * centred(other, last(knob))));
        } else {
            let step = step(space, knob);
            let gain = |other: Level| match other {
                _ if self.to == self.from => 0.0,
                _ if other == self.to => step,
                _ if other == self.from => -step,
                _ => 0.0,
            };
            levels.for_each(|(j, other)| each(j, gain(other)));
        }
    }
}

/// k.
fn covariance(m: f32) -> f32 {
    VARIANCE * (1.0 + m + m * m)
}

/// What a knob has of m.
fn share<const K: usize>(space: &Space<K>) -> f32 {
    1.0 / space.knobs().len().max(1) as f32
}

/// The levels of the last knobs, fewer than four.
fn rest<const K: usize>(c: &Combination<K>, i: usize, count: usize) -> &[Level] {
    c.all().get(4 * i..4 * i + count).unwrap_or_default()
}

/// What m loses when a nominal knob differs. A knob of one level is like itself.
fn step<const K: usize>(space: &Space<K>, knob: &Knob) -> f32 {
    share(space) * (1.0 + 1.0 / last(knob).max(1.0))
}

/// What m gains per [`centred`] level of another combination, at this centred level of a graded knob.
fn slope<const K: usize>(space: &Space<K>, knob: &Knob, centred: f32) -> f32 {
    share(space) * GRADED * centred / (last(knob) * last(knob))
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
    type Model = Success<4, 1, N>;

    fn fails(c: &Combination<4>) -> bool {
        c.level(1) == 3 || c.level(2) > 6
    }

    /// Neither setting fails alone.
    fn fails_together(c: &Combination<4>) -> bool {
        c.level(0) == 1 && c.level(3) > 0
    }

    /// Sixty random observations, as many passes as observations.
    fn learned(passes: usize, fails: fn(&Combination<4>) -> bool) -> (Space<4>, std::vec::Vec<Combination<4>>, Model) {
        let (space, mut random) = (Space::new(&KNOBS).unwrap(), Random::new(5, 0));
        let all: std::vec::Vec<_> = (0..N).map(|_| space.draw(&mut random)).collect();
        let (mut success, mut similar) = (Model::NONE, [0.0; N]);
        for n in (N - passes + 1)..=N {
            let failed = all[..n - 1].iter().filter(|c| fails(c)).count();
            success.judge(&space, &all[..n], (failed, fails(&all[n - 1])), &mut similar);
            (0..n).for_each(|j| success.learn(&space, &all[..n], (j, fails(&all[j])), &mut similar));
        }
        (space, all, success)
    }

    #[test]
    fn it_learns_which_levels_and_which_pairs_fail() {
        for (fails, least) in [(fails as fn(&_) -> _, 360), (fails_together, 340)] {
            let (space, all, success) = learned(N, fails);
            let mut random = Random::new(6, 0);
            let drawn: std::vec::Vec<_> = (0..times(400, 4)).map(|_| space.draw(&mut random)).collect();
            let right = drawn.iter().filter(|c| (success.logit(&space, c, &all) < 0.0) == fails(c)).count();
            assert!(right > least || cfg!(miri), "{right} of 400");
            assert!(success.is_skilled() || cfg!(miri), "{}", success.skill);
        }
    }

    /// Which combinations fail has nothing to do with their levels.
    #[test]
    fn it_has_no_skill_where_failures_are_chance() {
        let by_chance = |c: &Combination<4>| {
            let mixed =
                c.levels().iter().fold(7u32, |mixed, level| (mixed ^ u32::from(*level)).wrapping_mul(0x9E37_79B1));
            (mixed ^ (mixed >> 15)) % 3 == 0
        };
        let (_, all, success) = learned(N, by_chance);
        assert!(all.iter().filter(|c| by_chance(c)).count() > 10 || cfg!(miri));
        assert!(!success.is_skilled() || cfg!(miri), "{}", success.skill);
    }

    /// Nothing learned: a chance of ½. Of three others one failed, so their share says 3/5; a success
    /// adds ln(½ ÷ 3/5), a failure ln(½ ÷ 2/5).
    #[test]
    fn skill_by_hand() {
        let space = Space::<4>::new(&KNOBS).unwrap();
        let all: std::vec::Vec<_> = (0..4).map(|i| space.at(i).unwrap()).collect();
        for (is_failure, skill) in [(false, -0.182_322), (true, 0.223_144)] {
            let (mut success, mut similar) = (Model::NONE, [0.0; N]);
            success.judge(&space, &all, (1, is_failure), &mut similar);
            assert!((success.skill - skill).abs() < 1e-5, "{}", success.skill);
            // What was learned is not judged again.
            success.learn(&space, &all, (3, is_failure), &mut similar);
            success.judge(&space, &all, (1, is_failure), &mut similar);
            assert!((success.skill - skill).abs() < 1e-5, "{}", success.skill);
        }
    }

    /// Two knobs of two and three levels, one equal: m = (1 − ½)/2, k = 4·(1 + ¼ + 1/16). A graded knob
    /// of nine levels at its ends: 3·v·v′ = −3.
    #[test]
    fn similarities_by_hand() {
        let knobs = [Knob::nominal(2), Knob::nominal(3)];
        let space = Space::<2>::new(&knobs).unwrap();
        let [a, b] = [[0, 0], [0, 2]].map(|levels| space.combination(&levels).unwrap());
        let mut similar = [0.0; 2];
        Success::<2, 0, 2>::compare(&space, &a, &[a, b], &mut similar);
        assert_eq!(similar, [1.0, 0.25]);
        assert_eq!(covariance(0.25), 5.25);
        let knobs = [Knob::ranked(9)];
        let space = Space::<1>::new(&knobs).unwrap();
        let [a, b] = [0, 8].map(|level| space.combination(&[level]).unwrap());
        Success::<1, 9, 2>::compare(&space, &a, &[a, b], &mut similar);
        assert_eq!(similar, [3.0, -3.0]);
    }

    /// After many passes every weight meets its condition, which makes f the most likely one.
    #[test]
    fn passes_end_at_the_most_likely_logits() {
        let (space, all, mut success) = learned(N, fails);
        for _ in 0..times(300, 2) {
            (0..N).for_each(|j| success.learn(&space, &all, (j, fails(&all[j])), &mut [0.0; N]));
        }
        for (j, c) in all.iter().enumerate() {
            let wanted = if fails(c) { 0.0 } else { 1.0 };
            let off = wanted - chance(success.logit(&space, c, &all)) - success.weights[j];
            assert!(off.abs() < 0.01 || cfg!(miri), "{j}: {off}");
        }
    }

    #[test]
    fn a_change_of_one_knob_leads_to_the_logit_of_its_combination() {
        let (space, all, success) = learned(times(20, 2), fails);
        for (knob, level) in [(0, 1), (1, 4), (2, 8), (3, 0)] {
            let (from, to) = (all[0], all[0].with(knob, level));
            let change = Change { knob, from: from.level(knob), to: level };
            let mut similar = [0.0; N];
            Model::compare(&space, &from, &all, &mut similar);
            let beside = success.beside(&space, &all, &similar, change);
            change.apply::<4, 1>(&space, &all, &mut similar);
            let gone = success.logit_of(&similar, all.len());
            let anew = success.logit(&space, &to, &all);
            assert!((beside - anew).abs() < 1e-3 && (gone - anew).abs() < 1e-3, "{knob}: {beside}, {gone}, {anew}");
        }
    }

    #[test]
    fn removing_an_observation_moves_the_others_up() {
        let mut success = Success::<1, 1, 4> { weights: [1.0, 2.0, 3.0, 4.0], ..Success::NONE };
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
