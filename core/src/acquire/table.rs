//! The bounded lookup table: the whole space if it fits, otherwise L rows, most of them near good
//! combinations.
//!
//! The paper's table holds every combination and its embedding (section 4.1): 1.34 GB for 24 bits
//! in 20 dimensions. Here row i is a *function* of i, so a table of any length takes the bytes of
//! three combinations.
//!
//! | rows | contents |
//! |---|---|
//! | at most the first half | one step from the best observation: one knob at another level |
//! | up to three quarters | one to three steps from one of the three best |
//! | the rest | anywhere |
//!
//! **Choices**
//! - A space of at most L combinations is its own table, and the acquisition is minimised exactly.
//! - A larger space gets new rows with a new best or a new fit. They depend only on the seed, the
//!   number of outcomes and of pending asks, and the best observations.
//! - In between the rows stay. That costs nothing in quality and lets a user with RAM keep computed
//!   results ([`cache`](crate::acquire::cache)).
//! - If the best observation has more one-steps than half the table, they are drawn instead of
//!   listed.
//!
//! **Cost.** No stored rows; about 200 instructions per row.

use heapless::Vec;

use crate::math::random::Random;
use crate::space::knob::Level;
use crate::space::{Combination, Space};

/// How many of the best observations the rows start from.
pub(crate) const INCUMBENTS: usize = 3;

/// A table of at most L rows.
///
/// ```
/// use trimtab::{Knob, Space, internals::LookupTable};
/// let space = Space::<24>::new(&[Knob::nominal(2); 24])?;
/// let best = space.combination(&[1; 24])?;
/// let table = LookupTable::new(&space, 128, 0, 1, core::iter::once(best));
/// // The first rows are the neighbours of the best: one relay switched.
/// let mut near = (0..24).filter_map(|i| table.row(&space, i));
/// assert!(near.all(|c| c.levels().iter().filter(|level| **level == 0).count() == 1));
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LookupTable<const K: usize> {
    incumbents: Vec<Combination<K>, INCUMBENTS>,
    seed: u64,
    rows: usize,
    steps: u32,
    whole: bool,
}

impl<const K: usize> LookupTable<K> {
    /// No rows.
    pub(crate) const EMPTY: Self = Self { incumbents: Vec::new(), seed: 0, rows: 0, steps: 0, whole: false };

    /// A table, used for several asks: the whole space if it fits in `rows` rows, otherwise `rows`
    /// minus those kept `free` for a descent.
    pub fn new(
        space: &Space<K>,
        rows: usize,
        free: usize,
        seed: u64,
        best: impl Iterator<Item = Combination<K>>,
    ) -> Self {
        let whole = space.last_index() < rows as u64;
        let rows = if whole { space.last_index() as usize + 1 } else { rows.saturating_sub(free) };
        Self { incumbents: best.take(INCUMBENTS).collect(), seed, rows, steps: steps(space), whole }
    }

    /// The best observation when the rows were chosen.
    pub(crate) fn incumbent(&self) -> Option<&Combination<K>> {
        self.incumbents.first()
    }

    /// The seed of the rows; it differs between tables with different rows.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether the table is the whole space.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The combination in row i, feasible or not, measured or not.
    pub fn row(&self, space: &Space<K>, i: usize) -> Option<Combination<K>> {
        if i >= self.rows {
            return None;
        }
        if self.whole {
            return Some(space.at_small(i as u32));
        }
        let mut random = Random::new(self.seed, i as u64 + 1);
        let half = self.rows / 2;
        let Some(best) = self.incumbents.first().filter(|_| i < half + half / 2) else {
            return Some(space.draw(&mut random));
        };
        if i < half && (i as u32) < self.steps {
            let step = if self.steps <= half as u32 { i as u32 } else { random.below(self.steps) };
            return Some(neighbour(space, best, step));
        }
        let from = self.incumbents.get(i % self.incumbents.len().max(1)).unwrap_or(best);
        let changes = 1 + random.below(3);
        let far = (0..changes).fold(*from, |c, _| neighbour(space, &c, random.below(self.steps)));
        Some(far)
    }
}

/// Number of combinations that differ from any one in a single knob.
pub(crate) fn steps<const K: usize>(space: &Space<K>) -> u32 {
    space.knobs().iter().map(|knob| (knob.levels() as u32).saturating_sub(1)).sum()
}

/// The combination that differs from `c` by this step, 0 to [`steps`] − 1; `c` itself past the
/// last.
pub(crate) fn neighbour<const K: usize>(space: &Space<K>, c: &Combination<K>, step: u32) -> Combination<K> {
    let mut rest = step;
    for (i, knob) in space.knobs().iter().enumerate() {
        let others = (knob.levels() as u32).saturating_sub(1);
        if rest < others {
            let level = rest as Level;
            // The other levels in order, skipping the current one.
            return c.with(i, if level < c.level(i) { level } else { level + 1 });
        }
        rest -= others;
    }
    *c
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::space::knob::Knob;

    fn distance<const K: usize>(a: &Combination<K>, b: &Combination<K>) -> usize {
        a.levels().iter().zip(b.levels()).filter(|(a, b)| a != b).count()
    }

    #[test]
    fn neighbours_are_all_single_steps_once() {
        let space = Space::<3>::new(&[Knob::nominal(3), Knob::nominal(1), Knob::ranked(5)]).unwrap();
        let c = space.combination(&[1, 0, 4]).unwrap();
        let all: std::vec::Vec<_> = (0..steps(&space)).map(|step| neighbour(&space, &c, step)).collect();
        assert_eq!(all.len(), 6);
        assert!(all.iter().all(|n| space.contains(n) && distance(n, &c) == 1));
        assert!((1..all.len()).all(|i| !all[..i].contains(&all[i])));
        assert_eq!(neighbour(&space, &c, 6), c);
    }

    #[test]
    fn a_large_space_has_near_and_far_rows_the_same_each_time() {
        let space = Space::<24>::new(&[Knob::nominal(2); 24]).unwrap();
        let best = space.draw(&mut Random::new(5, 5));
        let table = LookupTable::new(&space, 128, 0, 9, core::iter::once(best));
        let rows: std::vec::Vec<_> = (0..128).map(|i| table.row(&space, i).unwrap()).collect();
        assert!(rows[..24].iter().all(|row| distance(row, &best) == 1));
        assert!((1..24).all(|i| !rows[..i].contains(&rows[i])));
        assert!(rows[24..96].iter().all(|row| distance(row, &best) <= 3));
        let far: usize = rows[96..].iter().map(|row| distance(row, &best)).sum();
        assert!((8 * 32..16 * 32).contains(&far), "24 bits are 12 apart on average");
        assert!(rows.iter().enumerate().all(|(i, row)| table.row(&space, i) == Some(*row)));
        assert_eq!(table.row(&space, 128), None);
    }

    #[test]
    fn a_space_that_fits_is_its_own_table() {
        let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)]).unwrap();
        let table = |rows, free| LookupTable::new(&space, rows, free, 1, core::iter::empty());
        let whole = table(32, 10);
        assert!(whole.is_whole() && whole.len() == 32);
        assert!((0..32).all(|i| whole.row(&space, i) == space.at(i as u64)));
        // One row too few: some of them are free for the descent.
        assert!(!table(31, 10).is_whole() && table(31, 10).len() == 21 && table(31, 31).is_empty());
    }
}
