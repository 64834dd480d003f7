//! Sweeps over the knobs, which fill the lookup table.
//!
//! c† = argmin of the acquisition over the candidates (algorithm 1, line 5).
//!
//! **Choices**
//! - The sweep appends one step at a time to the table and is told the score of its rows. The
//!   caller scores them whenever it likes, so the work can be cut into slices.
//! - A sweep goes from knob to knob and takes the best level of each. There are two: from the best
//!   combination that is measured, which takes the best level of the first knob whatever its score,
//!   and from a random one. A sweep ends when no knob changes any more.
//! - A nominal knob is tried at all its levels, a graded one 1, 2, 4, … levels up and down.
//! - A range is tried 1, 4, 16, … levels up and down, and then around the best of those in steps of a
//!   half, a quarter and an eighth of the way there: fine where the best is near, coarse where it is
//!   far. A 12-bit knob takes 18 candidates, a 16-bit one 22, and the next round refines further.
//! - A knob that does not matter in the current combination is passed over.
//! - Rows that cannot be asked get no score and are skipped. Of equal scores the first wins.
//!
//! **Cost.** At most L/2 candidates; about 2K + 40 bytes.

use crate::acquire::table::{Kind, LookupTable, Step};
use crate::math::random::Random;
use crate::space::knob::{Knob, Level};
use crate::space::{Combination, Space};
use crate::surrogate::gp::Posterior;

/// A candidate with its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scored<const K: usize> {
    pub(crate) combination: Combination<K>,
    pub(crate) posterior: Posterior,
    pub(crate) score: f32,
}

/// The state of the sweeps.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Sweep<const K: usize> {
    /// Candidates left.
    left: usize,
    is_second: bool,
    /// The score of `at`, or of the best level of the current knob so far.
    score: f32,
    /// That level.
    level: Level,
    /// Knobs are visited as knob, knob + stride, … modulo their number; `step` counts the levels
    /// tried of the current one.
    knob: usize,
    stride: usize,
    step: usize,
    /// Where a range is refined, and how far that is from the level it began with.
    centre: Level,
    reach: Level,
    /// Number of knobs since the last change.
    unchanged: usize,
    at: Combination<K>,
}

impl<const K: usize> Sweep<K> {
    pub(crate) const EMPTY: Self = Self {
        left: 0,
        is_second: false,
        at: Combination::EMPTY,
        score: 0.0,
        level: 0,
        knob: 0,
        stride: 0,
        step: 0,
        centre: 0,
        reach: 0,
        unchanged: 0,
    };

    /// Sweeps of at most `candidates` together, from `from` and from a random combination, which
    /// takes its place if there is none.
    pub(crate) fn begin<const L: usize>(
        &mut self,
        space: &Space<K>,
        table: &mut LookupTable<K, L>,
        (candidates, from): (usize, Option<Combination<K>>),
        random: &mut Random,
    ) {
        let (drawn, knobs) = (space.draw(random), space.knobs().len());
        let stride = stride(knobs as u32, random.below(knobs as u32)) as usize;
        let knob = random.below(knobs as u32) as usize;
        let at = from.unwrap_or(drawn);
        table.begin([at, drawn]);
        *self = Self {
            left: candidates,
            is_second: from.is_none(),
            at,
            score: f32::INFINITY,
            level: at.level(knob),
            knob,
            stride,
            ..Self::EMPTY
        };
    }

    /// Appends the next step to the table; false at the end of the sweeps.
    pub(crate) fn extend<const M: usize, const L: usize>(
        &mut self,
        space: &Space<K>,
        table: &mut LookupTable<K, L>,
    ) -> bool {
        while self.left > 0 {
            let (at, Some(knob)) = (self.at.level(self.knob), space.knobs().get(self.knob)) else { return false };
            let is_idle = space.is_fixed(&self.at, self.knob);
            let level = match knob {
                _ if is_idle => None,
                Knob::Range { top, .. } if M > 0 && knob.is_graded() => self.next_of_range(at, *top),
                _ => {
                    self.step += 1;
                    neighbours(knob, at, M > 0).nth(self.step - 1)
                }
            };
            if let Some(level) = level {
                self.left -= 1;
                return table.push(Step { knob: self.knob as u16, level, kind: Kind::Row });
            }
            let step = Step { knob: self.knob as u16, level: self.level, kind: Kind::Go };
            let changes = step.level != at;
            self.at.set(self.knob, step.level);
            space.settle(&mut self.at);
            self.unchanged = if changes { 0 } else { self.unchanged + 1 };
            let ends = self.unchanged >= space.knobs().len();
            if ends {
                let [_, second] = table.starts();
                (self.at, self.score, self.unchanged) = (*second, f32::INFINITY, 0);
            }
            self.knob = (self.knob + self.stride) % space.knobs().len().max(1);
            (self.level, self.step) = (self.at.level(self.knob), 0);
            if ends && core::mem::replace(&mut self.is_second, true) {
                return false;
            }
            if ends || changes {
                return table.push(Step { kind: if ends { Kind::Restart } else { Kind::Go }, ..step });
            }
        }
        false
    }

    /// The next level to try of a range that is at this one.
    #[inline(never)]
    fn next_of_range(&mut self, at: Level, top: Level) -> Option<Level> {
        let inside = |level: u32| if level <= u32::from(top) { Some(level as Level) } else { None };
        // 1, 4, 16, … up to the last level.
        let powers = (Level::BITS - top.leading_zeros()).div_ceil(2) as usize;
        loop {
            let (side, i) = (self.step % 2, self.step / 2);
            self.step += 1;
            let (from, distance) = if i < powers {
                (at, 1 << (2 * i))
            } else if i < powers + REFINEMENTS {
                if side == 0 {
                    self.centre = self.level;
                    self.reach = if i == powers { at.abs_diff(self.level) } else { self.reach };
                }
                (self.centre, self.reach >> (i - powers + 1))
            } else {
                return None;
            };
            if distance == 0 {
                return None;
            }
            let level = match side {
                0 => from.checked_sub(distance),
                _ => inside(u32::from(from) + u32::from(distance)),
            };
            if level.is_some() {
                return level;
            }
        }
    }

    /// The score that the last row has to beat to make a difference.
    pub(crate) fn bar(&self) -> f32 {
        self.score
    }

    /// Reports the score of the last row.
    pub(crate) fn report(&mut self, row: &Scored<K>) {
        if row.score < self.score {
            (self.score, self.level) = (row.score, row.combination.level(self.knob));
        }
    }
}

/// How often a range is refined per round.
const REFINEMENTS: usize = 3;

/// The first number from `start` on that is coprime to `count`: stepping by it visits everything
/// once.
fn stride(count: u32, start: u32) -> u32 {
    let common = |mut a: u32, mut b: u32| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (start.max(1)..=start.max(1) + count).find(|stride| common(*stride, count) == 1).unwrap_or(1)
}

/// The levels to try beside one of a knob: all others, or for a graded knob those 1, 2, 4, … levels
/// down and up. A tuner that knows it has no graded knob does not link the latter.
#[inline(always)]
fn neighbours(knob: &Knob, level: Level, may_be_graded: bool) -> impl Iterator<Item = Level> {
    let (levels, own, is_graded) = (knob.levels(), usize::from(level), may_be_graded && knob.is_graded());
    let all = (0..if is_graded { 0 } else { levels }).filter(move |other| *other != own);
    let distances = (0..if is_graded { 16 } else { 0 }).map(|power| 1usize << power);
    let near = distances.flat_map(move |distance| [own.checked_sub(distance), Some(own + distance)]).flatten();
    all.chain(near.filter(move |other| *other < levels)).map(|level| level as Level)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::math::times;

    /// Sweeps a whole table by this score; returns the best row and the number of rows.
    fn run<const K: usize, const L: usize>(
        space: &Space<K>,
        (candidates, from): (usize, Option<Combination<K>>),
        seed: u64,
        score: impl Fn(&Combination<K>) -> f32,
    ) -> (Scored<K>, usize) {
        let (mut table, mut sweep) = (LookupTable::<K, L>::EMPTY, Sweep::EMPTY);
        sweep.begin(space, &mut table, (candidates, from), &mut Random::new(seed, 0));
        let [mut at, second] = *table.starts();
        let (mut best, mut rows, mut i) = (None, 0, 0);
        while sweep.extend::<1, L>(space, &mut table) {
            let step = table.step(i).unwrap();
            let combination = at.with(usize::from(step.knob), step.level);
            match step.kind {
                Kind::Go => at = combination,
                Kind::Restart => at = second,
                _ => {
                    rows += 1;
                    let row = Scored { combination, posterior: Posterior::new(0.0, 0.0), score: score(&combination) };
                    sweep.report(&row);
                    best = best.filter(|best: &Scored<K>| best.score <= row.score).or(Some(row));
                }
            }
            i += 1;
        }
        (best.unwrap(), rows)
    }

    /// A score with one minimum: sweeps lead to it from anywhere, nominal or graded.
    #[test]
    fn sweeps_reach_the_bottom() {
        let knobs = [Knob::nominal(5), Knob::ranked(100), Knob::nominal(2), Knob::ranked(37), Knob::nominal(1)];
        let space = Space::<5>::new(&knobs).unwrap();
        let best = space.combination(&[3, 71, 1, 20, 0]).unwrap();
        let score = |c: &Combination<5>| {
            c.levels().iter().zip(best.levels()).map(|(a, b)| f32::from(a.abs_diff(*b))).sum::<f32>() - 9.0
        };
        for seed in 0..times(10, 1) {
            let (found, _) = run::<5, 1000>(&space, (500, space.at(seed)), seed, score);
            assert_eq!(found.combination, best, "seed {seed}");
        }
    }

    #[test]
    fn the_budget_and_the_room_bound_the_sweeps_and_ties_go_to_the_first() {
        let space = Space::<16>::new(&[Knob::nominal(2); 16]).unwrap();
        assert_eq!(run::<16, 64>(&space, (5, None), 1, |_| 1.0).1, 5);
        // Four steps fit, and moves take room too.
        assert!(run::<16, 4>(&space, (500, space.at(0)), 1, |_| 1.0).1 <= 4);
    }

    /// With equal scores the first sweep moves once and then finds nothing; so does the second.
    #[test]
    fn a_sweep_ends_when_nothing_changes() {
        let space = Space::<16>::new(&[Knob::nominal(2); 16]).unwrap();
        assert_eq!(run::<16, 1000>(&space, (1000, space.at(0)), 1, |_| 1.0).1, 17 + 17);
        assert_eq!(run::<16, 1000>(&space, (1000, None), 1, |_| 1.0).1, 17);
    }

    #[test]
    fn a_graded_knob_is_tried_in_doubling_steps() {
        let levels = |knob: Knob, level| neighbours(&knob, level, true).collect::<std::vec::Vec<_>>();
        assert_eq!(levels(Knob::nominal(4), 1), [0, 2, 3]);
        assert_eq!(levels(Knob::ranked(10), 3), [2, 4, 1, 5, 7]);
        assert_eq!(levels(Knob::ranked(256), 255), [254, 253, 251, 247, 239, 223, 191, 127]);
        assert!(levels(Knob::nominal(1), 0).is_empty());
    }

    /// A smooth valley in three ranges and two nominal knobs, with the candidates of a small table: the
    /// sweeps come close in every range, and reach the nominal knobs too.
    #[test]
    fn ranges_are_searched_from_coarse_to_fine() {
        let knobs = [
            Knob::range(0.0, 4095.0, 1.0),
            Knob::nominal(4),
            Knob::range(0.0, 65_535.0, 1.0),
            Knob::log_range(1.0, 1000.0, 1001),
            Knob::nominal(3),
        ];
        let space = Space::<5>::new(&knobs).unwrap();
        let best = space.combination(&[1234, 2, 54_321, 77, 1]).unwrap();
        let score = |c: &Combination<5>| {
            let one = |(i, (a, b)): (usize, (&Level, &Level))| match knobs[i] {
                Knob::Range { top, .. } => f32::from(a.abs_diff(*b)) / f32::from(top),
                _ => f32::from(u8::from(a != b)),
            };
            c.levels().iter().zip(best.levels()).enumerate().map(one).sum::<f32>() - 9.0
        };
        for (candidates, within) in [(128, 0.05), (2000, 0.0)] {
            for seed in 0..times(10, 1) {
                let (found, rows) = run::<5, 4096>(&space, (candidates, space.at(seed * 1000)), seed, score);
                assert!(rows <= candidates);
                let off = found.score + 9.0;
                assert!(off <= within, "{candidates} candidates, seed {seed}: {off} {:?}", found.combination);
            }
        }
    }

    /// Levels 1, 4 and 16 away, then around the best: 84, which is 16 away.
    #[test]
    fn a_range_is_refined_around_the_best_level_so_far() {
        let space = Space::<1>::new(&[Knob::range(0.0, 99.0, 1.0)]).unwrap();
        let (mut table, mut sweep) = (LookupTable::<1, 64>::EMPTY, Sweep::EMPTY);
        sweep.begin(&space, &mut table, (14, Some(space.combination(&[68]).unwrap())), &mut Random::new(1, 0));
        let mut tried = std::vec::Vec::new();
        while let Some(step) = sweep.extend::<1, 64>(&space, &mut table).then(|| table.step(tried.len()).unwrap()) {
            tried.push(step.level);
            let combination = space.combination(&[step.level]).unwrap();
            let score = f32::from(step.level.abs_diff(87));
            sweep.report(&Scored { combination, posterior: Posterior::new(0.0, 0.0), score });
        }
        assert_eq!(tried[..13], [67, 69, 64, 72, 52, 84, 4, 76, 92, 80, 88, 86, 90]);
    }

    /// The second knob matters only at the last level of the first, and is never tried elsewhere.
    #[test]
    fn a_knob_that_does_not_matter_is_passed_over() {
        use crate::space::OnlyIf;
        let knobs = [Knob::nominal(3), Knob::nominal(4), Knob::nominal(2)];
        let space = Space::<3>::new(&knobs).unwrap().only_if(&[OnlyIf { knob: 1, on: 0, levels: &[2] }]).unwrap();
        // Without a score nothing moves, up to the second start.
        let tried = |from: [Level; 3]| {
            let (mut table, mut sweep) = (LookupTable::<3, 64>::EMPTY, Sweep::EMPTY);
            let from = space.combination(&from).unwrap();
            sweep.begin(&space, &mut table, (32, Some(from)), &mut Random::new(1, 0));
            while sweep.extend::<1, 64>(&space, &mut table) {}
            let steps = (0..).map_while(|i| table.step(i)).take_while(|step| step.kind != Kind::Restart);
            [0, 1, 2].map(|knob| steps.clone().filter(|step| step.knob == knob).count())
        };
        assert_eq!((tried([0, 0, 1]), tried([2, 0, 1])), ([2, 0, 1], [2, 3, 1]));
    }
}
