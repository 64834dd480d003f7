//! What the model learned: the effect of each knob, and which pairs interact.
//!
//! | name | meaning |
//! |---|---|
//! | background | a combination in which one or two knobs are turned and the others stay |
//! | effect of a level | mean over the backgrounds of the posterior mean with the knob at that level |
//! | spread of a knob | largest minus smallest effect of its levels |
//! | sensitivity of a knob | root mean square change of the posterior mean when only this knob is turned |
//! | g(a, b) | mean over the backgrounds with two knobs at levels a and b |
//! | interaction of a pair | root mean square of g(a,b) − ḡ(a,·) − ḡ(·,b) + ḡ: the joint effect beyond the separate ones |
//!
//! **Choices**
//! - Half of the backgrounds are measured combinations, which crowd around the good ones; half come
//!   from the whole space.
//! - The uncertainty of an effect is the mean standard deviation of single predictions, not that of
//!   the mean: a cautious band.
//! - Levels that always [fail](super::failures) have no effect, since nobody knows their cost.
//! - Effects leave out forbidden combinations; pairs leave out backgrounds that meet one.
//! - Means come before squares: around one measured combination the model falls back to its mean in
//!   every direction, which looks like sensitivity to everything. Sensitivity only selects, among
//!   many knobs, those whose pairs are examined, because a knob without an effect of its own may
//!   still interact.
//! - Each knob of a pair is examined at up to four levels.
//!
//! **Cost.** Some ten thousand predictions at most, fewer with many observations: each is O(t²).

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::failures::Count;
use crate::space::NamedSpace;

/// Most knobs whose pairs are examined, and most levels of each.
const MOST_PAIRED: usize = 24;
const MOST_CELLS: usize = 4;
/// Levels of a range at which its effect is predicted; other knobs are predicted at all of theirs.
const MOST_SHOWN: usize = 33;
/// Most draws to find an allowed combination.
const DRAWS: usize = 200;

/// Predicts mean and standard deviation.
pub(super) type Predict<'a> = &'a dyn Fn(&[Level]) -> Option<(f64, f64)>;

/// The model and the backgrounds.
pub(super) struct Learned<'a> {
    pub(super) space: &'a NamedSpace,
    pub(super) predict: Predict<'a>,
    pub(super) backgrounds: Vec<Vec<Level>>,
    /// Levels that always fail.
    failing: &'a [Count],
    /// Approximate number of predictions.
    predictions: usize,
}

/// The effect of one knob.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Effect {
    pub(super) knob: usize,
    /// The levels: all, or some of a range.
    pub(super) at: Vec<Level>,
    /// Mean and standard deviation per level; `None` where it is always forbidden or fails.
    pub(super) levels: Vec<Option<(f64, f64)>>,
    /// How often each level failed, if it always does.
    pub(super) failed: Vec<Option<usize>>,
    /// Largest minus smallest mean.
    pub(super) spread: f64,
    sensitivity: f64,
}

/// How much two knobs interact.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair {
    pub(super) knobs: [usize; 2],
    pub(super) strength: f64,
}

impl<'a> Learned<'a> {
    /// Draws backgrounds from the measured combinations and from the whole space, for about
    /// `effort` predictions.
    pub(super) fn new(
        space: &'a NamedSpace,
        predict: Predict<'a>,
        measured: &[Vec<Level>],
        failing: &'a [Count],
        predictions: usize,
    ) -> Self {
        let levels: usize = space.knobs().iter().map(|knob| shown_levels(knob.count()).len()).sum();
        let count = (predictions / (2 * levels).max(1)).clamp(8, 64);
        let stride = measured.len().div_ceil(count / 2).max(1);
        let mut backgrounds: Vec<_> = measured.iter().step_by(stride).cloned().collect();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        while backgrounds.len() < count {
            let mut draws = (0..DRAWS).map(|_| {
                let level = |knob: &crate::space::NamedKnob| random.random_range(0..knob.count()) as Level;
                space.knobs().iter().map(level).collect::<Vec<Level>>()
            });
            let is_known = |levels: &[Level]| !failing.iter().any(|count| levels[count.knob] == count.level);
            let Some(drawn) = draws.find(|levels| space.is_allowed(levels) && is_known(levels)) else { break };
            backgrounds.push(drawn);
        }
        Self { space, predict, backgrounds, failing, predictions }
    }

    /// The effect of every knob, largest spread first.
    pub(super) fn effects(&self) -> Vec<Effect> {
        let mut effects: Vec<_> = (0..self.space.knobs().len()).map(|knob| self.effect(knob)).collect();
        effects.sort_by(|a, b| b.spread.total_cmp(&a.spread));
        effects
    }

    fn effect(&self, knob: usize) -> Effect {
        let at = shown_levels(self.space.knobs()[knob].count());
        let mut sums = vec![(0.0, 0.0, 0.0); at.len()];
        let (mut squares, mut changes) = (0.0, 0.0);
        for background in &self.backgrounds {
            let here = self.turned(background, &[]);
            for (level, sum) in at.iter().zip(&mut sums) {
                let Some((mean, std_dev)) = self.turned(background, &[(knob, *level)]) else { continue };
                *sum = (sum.0 + 1.0, sum.1 + mean, sum.2 + std_dev);
                if let Some((here, _)) = here.filter(|_| background[knob] != *level) {
                    squares += (mean - here) * (mean - here);
                    changes += 1.0;
                }
            }
        }
        let level = |&(n, mean, std_dev): &(f64, f64, f64)| (n > 0.0).then(|| (mean / n, std_dev / n));
        let levels: Vec<_> = sums.iter().map(level).collect();
        let means = || levels.iter().flatten().map(|(mean, _)| *mean);
        let spread = means().fold(f64::NEG_INFINITY, f64::max) - means().fold(f64::INFINITY, f64::min);
        let sensitivity = if changes > 0.0 { (squares / changes).sqrt() } else { 0.0 };
        let failed = at.iter().map(|level| self.failed(knob, *level)).collect();
        Effect { knob, at, spread: spread.max(0.0), levels, failed, sensitivity }
    }

    /// The pairs that interact, strongest first.
    pub(super) fn pairs(&self, effects: &[Effect]) -> Vec<Pair> {
        let mut chosen: Vec<&Effect> = effects.iter().collect();
        chosen.sort_by(|a, b| b.sensitivity.total_cmp(&a.sensitivity));
        chosen.truncate(MOST_PAIRED);
        let mut knobs: Vec<usize> = chosen.iter().map(|effect| effect.knob).collect();
        knobs.sort_unstable();
        let count = knobs.len() * knobs.len().saturating_sub(1) / 2;
        let most = (self.predictions / (MOST_CELLS * MOST_CELLS * count).max(1)).max(4);
        let stride = self.backgrounds.len().div_ceil(most).max(1);
        let backgrounds: Vec<&Vec<Level>> = self.backgrounds.iter().step_by(stride).collect();
        let mut pairs = Vec::new();
        for (i, &a) in knobs.iter().enumerate() {
            for &b in &knobs[i + 1..] {
                let levels = [a, b].map(|knob| {
                    let mut levels = spread(self.space.knobs()[knob].count(), MOST_CELLS);
                    levels.retain(|level| self.failed(knob, *level).is_none());
                    levels
                });
                if let Some(strength) = self.interaction([a, b], &levels, &backgrounds) {
                    pairs.push(Pair { knobs: [a, b], strength });
                }
            }
        }
        pairs.sort_by(|a, b| b.strength.total_cmp(&a.strength));
        pairs
    }

    /// The interaction of two knobs.
    fn interaction(&self, [a, b]: [usize; 2], levels: &[Vec<Level>; 2], backgrounds: &[&Vec<Level>]) -> Option<f64> {
        let (rows, columns) = (levels[0].len(), levels[1].len());
        let mut sums = vec![0.0; rows * columns];
        let mut count = 0.0;
        for background in backgrounds {
            let cells = levels[0].iter().flat_map(|at| levels[1].iter().map(move |bt| [(a, *at), (b, *bt)]));
            let means: Option<Vec<f64>> = cells.map(|turns| Some(self.turned(background, &turns)?.0)).collect();
            let Some(means) = means else { continue };
            count += 1.0;
            for (sum, mean) in sums.iter_mut().zip(means) {
                *sum += mean;
            }
        }
        if count == 0.0 || sums.is_empty() {
            return None;
        }
        let row = |r: usize| sums[r * columns..(r + 1) * columns].iter().sum::<f64>() / columns as f64;
        let column = |c: usize| (0..rows).map(|r| sums[r * columns + c]).sum::<f64>() / rows as f64;
        let all = sums.iter().sum::<f64>() / (rows * columns) as f64;
        let rest = |i: usize| sums[i] - row(i / columns) - column(i % columns) + all;
        let squares: f64 = (0..sums.len()).map(|i| rest(i) * rest(i)).sum();
        Some((squares / sums.len() as f64).sqrt() / count)
    }

    /// The mean at some levels of two knobs: one row per level of the second.
    pub(super) fn grid(&self, [a, b]: [usize; 2], levels: [&[Level]; 2]) -> Vec<Vec<Option<f64>>> {
        let cell = |at: Level, bt: Level| {
            let means = self.backgrounds.iter().filter_map(|background| self.turned(background, &[(a, at), (b, bt)]));
            let (n, sum) = means.fold((0.0, 0.0), |(n, sum), (mean, _)| (n + 1.0, sum + mean));
            (n > 0.0).then(|| sum / n)
        };
        levels[1].iter().map(|bt| levels[0].iter().map(|at| cell(*at, *bt)).collect()).collect()
    }

    /// How often a level failed, if it always does.
    fn failed(&self, knob: usize, level: Level) -> Option<usize> {
        self.failing.iter().find(|count| (count.knob, count.level) == (knob, level)).map(|count| count.failed)
    }

    /// Predicts a background with some knobs turned, unless that is forbidden or always fails.
    fn turned(&self, background: &[Level], turns: &[(usize, Level)]) -> Option<(f64, f64)> {
        if turns.iter().any(|(knob, level)| self.failed(*knob, *level).is_some()) {
            return None;
        }
        let mut levels = background.to_vec();
        for (knob, level) in turns {
            levels[*knob] = *level;
        }
        self.space.is_allowed(&levels).then(|| (self.predict)(&levels))?
    }
}

/// The levels that a figure of a knob shows.
pub(super) fn shown_levels(count: usize) -> Vec<Level> {
    spread(count, if count > trimtab::MOST_LISTED { MOST_SHOWN } else { count })
}

/// At most `most` levels, spread evenly.
pub(super) fn spread(count: usize, most: usize) -> Vec<Level> {
    let kept = count.min(most);
    (0..kept).map(|i| (i * (count - 1) / (kept - 1).max(1)) as Level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> NamedSpace {
        NamedSpace::new(["a=0..3", "b=0..2", "c=x,y", "d=x,y"].iter().map(|knob| knob.parse().unwrap()).collect())
            .unwrap()
    }

    /// 5a + 2bc: a acts alone, b and c only together, d not at all.
    fn known(levels: &[Level]) -> Option<(f64, f64)> {
        let [a, b, c] = [0, 1, 2].map(|i| f64::from(levels[i]));
        Some((5.0 * a + 2.0 * b * c, 0.5))
    }

    #[test]
    fn a_known_function_is_seen_through() {
        let space = space();
        let learned = Learned::new(&space, &known, &[vec![0, 0, 0, 0], vec![3, 2, 1, 1]], &[], 2000);
        assert_eq!(learned.backgrounds.len(), 64);
        let effects = learned.effects();
        assert_eq!((effects[0].knob, effects[3].knob, effects[3].sensitivity), (0, 3, 0.0));
        assert!((effects[0].spread - 15.0).abs() < 1e-9 && effects[3].spread == 0.0);
        let means: Vec<f64> = effects[0].levels.iter().map(|level| level.unwrap().0).collect();
        assert!(means.windows(2).all(|pair| (pair[1] - pair[0] - 5.0).abs() < 1e-9), "{means:?}");
        assert_eq!(effects[0].levels[0].unwrap().1, 0.5);
        let pairs = learned.pairs(&effects);
        // 2bc − row − column + mean is ±(b − 1) for b of 0, 1, 2: its mean square is 2/3.
        assert_eq!(pairs[0].knobs, [1, 2]);
        assert!((pairs[0].strength - (2.0f64 / 3.0).sqrt()).abs() < 1e-9, "{:?}", pairs[0]);
        assert!(pairs[1..].iter().all(|pair| pair.strength < 1e-9));
        let grid = learned.grid([1, 2], [&[0, 2], &[0, 1]]);
        let difference = grid[1][1].unwrap() - grid[1][0].unwrap() - grid[0][1].unwrap() + grid[0][0].unwrap();
        assert!((difference - 4.0).abs() < 1e-9);
    }

    #[test]
    fn levels_are_spread() {
        assert_eq!(spread(3, 5), [0, 1, 2]);
        assert_eq!(spread(16, 5), [0, 3, 7, 11, 15]);
        assert_eq!(spread(256, 5), [0, 63, 127, 191, 255]);
    }

    #[test]
    fn what_is_forbidden_is_left_out() {
        let mut space = space();
        space.forbid("a=3 | b=2 & c=y").unwrap();
        let never = |levels: &[Level]| {
            assert!(space.is_allowed(levels));
            known(levels)
        };
        let learned = Learned::new(&space, &never, &[], &[], 2000);
        let effects = learned.effects();
        let a = effects.iter().find(|effect| effect.knob == 0).unwrap();
        assert!(a.levels[3].is_none() && a.levels[2].is_some());
        learned.pairs(&effects);
    }

    #[test]
    fn what_always_fails_has_no_effect() {
        let space = space();
        let failing = [Count { knob: 0, level: 3, failed: 4, succeeded: 0 }];
        let never = |levels: &[Level]| {
            assert_ne!(levels[0], 3);
            known(levels)
        };
        let learned = Learned::new(&space, &never, &[], &failing, 2000);
        let effects = learned.effects();
        let a = effects.iter().find(|effect| effect.knob == 0).unwrap();
        assert_eq!((a.levels[3], &a.failed[..]), (None, &[None, None, None, Some(4)][..]));
        assert!((a.spread - 10.0).abs() < 1e-9, "{}", a.spread);
        assert_eq!(learned.pairs(&effects).len(), 6);
    }
}
