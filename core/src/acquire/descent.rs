//! The search for the next combination: scan the table, then descend by single steps from the best
//! row.
//!
//! c† = argmin over the table of the acquisition (algorithm 1, line 5), continued below the best
//! row of the table.
//!
//! **Choices**
//! - The search names one candidate at a time and is told its score. The caller scores it whenever
//!   it likes, so an ask can be cut into slices.
//! - Infeasible and measured candidates get no score and are skipped.
//! - The descent takes the first better neighbour, in an order without favourites, until none is
//!   better or its budget is spent. A table that holds the whole space needs no descent.
//! - Of equal scores the first wins.
//!
//! **Cost.** At most L scores per ask; about K + 48 bytes.

use crate::acquire::table::{LookupTable, neighbour, steps};
use crate::math::random::Random;
use crate::space::{Combination, Space};
use crate::surrogate::gp::Posterior;

/// A candidate with its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scored<const K: usize> {
    pub(crate) combination: Combination<K>,
    pub(crate) posterior: Posterior,
    pub(crate) score: f32,
}

/// A candidate to score: a row of the table, or a step of the descent.
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
    descent: Descent,
}

/// State of the descent: steps are visited as offset, offset + stride, … modulo their number.
#[derive(Clone, Debug)]
struct Descent {
    left: u32,
    steps: u32,
    next: u32,
    stride: u32,
    without_success: u32,
}

impl<const K: usize> Scan<K> {
    /// All zero: the search of a tuner that is not being asked.
    pub(crate) const EMPTY: Self =
        Self { row: 0, best: None, descent: Descent { left: 0, steps: 0, next: 0, stride: 0, without_success: 0 } };

    /// A search over the table, followed by at most `descent` candidates of descent.
    pub(crate) fn new(space: &Space<K>, table: &LookupTable<K>, descent: usize, random: &mut Random) -> Self {
        let steps = steps(space);
        let stride = stride(steps, random.below(steps));
        let left = if table.is_whole() { 0 } else { descent as u32 };
        let descent = Descent { left, steps, next: random.below(steps), stride, without_success: 0 };
        Self { row: 0, best: None, descent }
    }

    /// The next candidate to score, or `None` at the end of the search.
    pub(crate) fn next(&mut self, space: &Space<K>, table: &LookupTable<K>) -> Option<Candidate<K>> {
        if self.row < table.len() {
            self.row += 1;
            return Some(Candidate::Row(self.row - 1));
        }
        let from = &self.best.as_ref()?.combination;
        let d = &mut self.descent;
        if d.left == 0 || d.without_success >= d.steps {
            return None;
        }
        d.left -= 1;
        d.without_success += 1;
        d.next = (d.next + d.stride) % d.steps.max(1);
        Some(Candidate::Step(neighbour(space, from, d.next)))
    }

    /// Reports the score of a candidate.
    pub(crate) fn report(&mut self, combination: &Combination<K>, posterior: Posterior, score: f32) {
        if self.best.as_ref().is_none_or(|best| score < best.score) {
            self.best = Some(Scored { combination: *combination, posterior, score });
            self.descent.without_success = 0;
        }
    }

    /// The best candidate so far.
    pub(crate) fn best(&self) -> Option<Scored<K>> {
        self.best
    }

    /// The score to beat; infinite before the first.
    pub(crate) fn best_score(&self) -> f32 {
        self.best.as_ref().map_or(f32::INFINITY, |best| best.score)
    }
}

/// The first number from `start` on that is coprime to `steps`: stepping by it visits every step
/// once.
fn stride(steps: u32, start: u32) -> u32 {
    let common = |mut a: u32, mut b: u32| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (start.max(1)..=start.max(1) + steps).find(|stride| common(*stride, steps) == 1).unwrap_or(1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::space::knob::Knob;

    /// Scores every candidate; returns their number.
    fn run(
        space: &Space<16>,
        table: &LookupTable<16>,
        search: &mut Scan<16>,
        score: fn(&Combination<16>) -> f32,
    ) -> usize {
        let mut count = 0;
        while let Some(candidate) = search.next(space, table) {
            let c = match candidate {
                Candidate::Row(i) => table.row(space, i).unwrap(),
                Candidate::Step(c) => c,
            };
            search.report(&c, Posterior { mean: 0.0, variance: 0.0 }, score(&c));
            count += 1;
        }
        count
    }

    /// A score that falls with every set bit has one minimum, and single steps lead to it.
    #[test]
    fn the_descent_reaches_the_bottom_of_a_linear_score() {
        let space = Space::<16>::new(&[Knob::nominal(2); 16]).unwrap();
        for seed in 0..10 {
            let table = LookupTable::new(&space, 8, 0, seed, core::iter::empty());
            let mut search = Scan::new(&space, &table, 500, &mut Random::new(seed, 0));
            run(&space, &table, &mut search, |c| -c.levels().iter().map(|l| f32::from(*l)).sum::<f32>());
            assert_eq!(search.best().unwrap().score, -16.0);
        }
    }

    #[test]
    fn the_budget_bounds_the_search_and_ties_go_to_the_first() {
        let space = Space::<16>::new(&[Knob::nominal(2); 16]).unwrap();
        let table = LookupTable::new(&space, 8, 0, 1, core::iter::empty());
        let mut search = Scan::new(&space, &table, 5, &mut Random::new(1, 0));
        assert_eq!(run(&space, &table, &mut search, |_| 1.0), 13);
        assert_eq!(search.best().unwrap().combination, table.row(&space, 0).unwrap());
    }
}
