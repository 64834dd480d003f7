//! The search for the smallest score: the rows of the table, then sweeps over the knobs.
//!
//! c† = argmin of the acquisition over the candidates (algorithm 1, line 5).
//!
//! **Choices**
//! - The search names one candidate at a time and is told its score. The caller scores it whenever
//!   it likes, so an ask can be cut into slices.
//! - A sweep goes from knob to knob and takes the best level of each. There are two: from the best
//!   combination that is measured, which takes the best level of the first knob whatever its score,
//!   and from a random one. A sweep ends when no knob changes any more.
//! - A nominal knob is tried at all its levels, a graded one 1, 2, 4, … levels up and down.
//! - Candidates that cannot be asked get no score and are skipped. Of equal scores the first wins.
//! - A table that holds the whole space needs no sweeps.
//!
//! **Cost.** At most L candidates per ask; about 3K + 48 bytes.

use crate::acquire::table::{LookupTable, neighbours};
use crate::math::random::Random;
use crate::space::knob::Level;
use crate::space::{Combination, Space};
use crate::surrogate::gp::Posterior;

/// A candidate with its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scored<const K: usize> {
    pub(crate) combination: Combination<K>,
    pub(crate) posterior: Posterior,
    pub(crate) score: f32,
}

/// A candidate to score: a row of the table, or a step of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Candidate<const K: usize> {
    Row(usize),
    Step(Combination<K>),
}

/// A search for the smallest score.
#[derive(Clone, Debug)]
pub(crate) struct Scan<const K: usize> {
    row: usize,
    best: Option<Scored<K>>,
    sweep: Sweep<K>,
}

/// The state of the sweeps.
#[derive(Clone, Debug)]
struct Sweep<const K: usize> {
    /// Candidates left.
    left: usize,
    /// Where the next sweep starts, if there is one.
    next: Option<Combination<K>>,
    at: Combination<K>,
    /// The score of `at`, or of the best level of the current knob so far.
    score: f32,
    /// That level.
    level: Level,
    /// Knobs are visited as knob, knob + stride, … modulo their number; `step` counts the steps of
    /// the current one.
    knob: usize,
    stride: usize,
    step: usize,
    /// Number of knobs since the last change.
    unchanged: usize,
}

impl<const K: usize> Scan<K> {
    /// All zero: the search of a tuner that is not being asked.
    pub(crate) const EMPTY: Self = Self { row: 0, best: None, sweep: Sweep::EMPTY };

    /// A search over the table, followed by sweeps from `from` and from a random combination, of at
    /// most `steps` candidates together.
    pub(crate) fn new(
        space: &Space<K>,
        table: &LookupTable<K>,
        steps: usize,
        from: Option<Combination<K>>,
        random: &mut Random,
    ) -> Self {
        let (first, knobs) = (space.draw(random), space.knobs().len());
        let stride = stride(knobs as u32, random.below(knobs as u32)) as usize;
        let knob = random.below(knobs as u32) as usize;
        let at = from.unwrap_or(first);
        let sweep = Sweep {
            left: if table.is_whole() { 0 } else { steps },
            next: from.map(|_| first),
            at,
            score: f32::INFINITY,
            level: at.level(knob),
            knob,
            stride,
            ..Sweep::EMPTY
        };
        Self { row: 0, best: None, sweep }
    }

    /// The next candidate to score, or `None` at the end of the search.
    pub(crate) fn next(&mut self, space: &Space<K>, table: &LookupTable<K>) -> Option<Candidate<K>> {
        if self.row < table.len() {
            self.row += 1;
            return Some(Candidate::Row(self.row - 1));
        }
        self.sweep.next(space).map(Candidate::Step)
    }

    /// The score that the next candidate has to beat to make a difference.
    pub(crate) fn bar(&self, candidate: &Candidate<K>) -> f32 {
        match candidate {
            Candidate::Row(_) => self.best.as_ref().map_or(f32::INFINITY, |best| best.score),
            Candidate::Step(_) => self.sweep.score,
        }
    }

    /// Reports the score of the last candidate.
    pub(crate) fn report(&mut self, candidate: &Candidate<K>, own: Scored<K>) {
        if let Candidate::Step(c) = candidate
            && own.score < self.sweep.score
        {
            (self.sweep.score, self.sweep.level) = (own.score, c.level(self.sweep.knob));
        }
        if self.best.as_ref().is_none_or(|best| own.score < best.score) {
            self.best = Some(own);
        }
    }

    /// The best candidate so far.
    pub(crate) fn best(&self) -> Option<Scored<K>> {
        self.best
    }
}

impl<const K: usize> Sweep<K> {
    const EMPTY: Self = Self {
        left: 0,
        next: None,
        at: Combination::EMPTY,
        score: 0.0,
        level: 0,
        knob: 0,
        stride: 0,
        step: 0,
        unchanged: 0,
    };

    fn next(&mut self, space: &Space<K>) -> Option<Combination<K>> {
        while self.left > 0 {
            let knob = space.knobs().get(self.knob)?;
            if let Some(level) = neighbours(knob, self.at.level(self.knob)).nth(self.step) {
                self.step += 1;
                self.left -= 1;
                return Some(self.at.with(self.knob, level));
            }
            let changes = self.level != self.at.level(self.knob);
            self.at = self.at.with(self.knob, self.level);
            self.unchanged = if changes { 0 } else { self.unchanged + 1 };
            if self.unchanged >= space.knobs().len() {
                (self.at, self.score, self.unchanged) = (self.next.take()?, f32::INFINITY, 0);
            }
            self.knob = (self.knob + self.stride) % space.knobs().len().max(1);
            (self.level, self.step) = (self.at.level(self.knob), 0);
        }
        None
    }
}

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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::space::knob::Knob;

    /// Scores every candidate; returns their number.
    fn run<const K: usize>(
        space: &Space<K>,
        table: &LookupTable<K>,
        search: &mut Scan<K>,
        score: impl Fn(&Combination<K>) -> f32,
    ) -> usize {
        let mut count = 0;
        while let Some(candidate) = search.next(space, table) {
            let combination = match candidate {
                Candidate::Row(i) => table.row(space, i).unwrap(),
                Candidate::Step(c) => c,
            };
            let score = score(&combination);
            search.report(&candidate, Scored { combination, posterior: Posterior::new(0.0, 0.0), score });
            count += 1;
        }
        count
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
        for seed in 0..10 {
            let table = LookupTable::new(&space, 8, seed, core::iter::empty());
            let from = space.at(seed);
            let mut search = Scan::new(&space, &table, 500, from, &mut Random::new(seed, 0));
            run(&space, &table, &mut search, score);
            assert_eq!(search.best().unwrap().combination, best, "seed {seed}");
        }
    }

    #[test]
    fn the_budget_bounds_the_search_and_ties_go_to_the_first() {
        let space = Space::<16>::new(&[Knob::nominal(2); 16]).unwrap();
        let table = LookupTable::new(&space, 16, 1, core::iter::empty());
        let mut search = Scan::new(&space, &table, 5, None, &mut Random::new(1, 0));
        assert_eq!(run(&space, &table, &mut search, |_| 1.0), 8 + 5);
        assert_eq!(search.best().unwrap().combination, table.row(&space, 0).unwrap());
    }

    /// With equal scores the first sweep moves once and then finds nothing; so does the second.
    #[test]
    fn a_sweep_ends_when_nothing_changes() {
        let space = Space::<16>::new(&[Knob::nominal(2); 16]).unwrap();
        let table = LookupTable::new(&space, 2, 1, core::iter::empty());
        let mut search = Scan::new(&space, &table, 1000, space.at(0), &mut Random::new(1, 0));
        assert_eq!(run(&space, &table, &mut search, |_| 1.0), 1 + 17 + 17);
    }
}
