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
//! Half of the L candidates of an ask are rows; the other half is left to the sweeps of
//! [`scan`](crate::acquire::scan), which start where the rows cannot know what is good.
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
use crate::space::knob::{Knob, Level};
use crate::space::{Combination, Space};

/// How many of the best observations the rows start from.
pub(crate) const INCUMBENTS: usize = 3;

/// A table of at most L rows.
///
/// ```
/// use trimtab::{Knob, Space, internals::LookupTable};
/// let space = Space::<24>::new(&[Knob::nominal(2); 24])?;
/// let best = space.combination(&[1; 24])?;
/// let table = LookupTable::new(&space, 128, 1, core::iter::once(best));
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

    /// A table for `candidates` candidates per ask, used for several asks: the whole space if it
    /// fits, or else half as many rows.
    pub fn new(space: &Space<K>, candidates: usize, seed: u64, best: impl Iterator<Item = Combination<K>>) -> Self {
        let whole = space.last_index() < candidates as u64;
        let rows = if whole { space.last_index() as usize + 1 } else { (candidates / 2).max(1) };
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

/// The levels to try beside one of a knob: all others, or for a graded knob those 1, 2, 4, … levels
/// down and up.
pub(crate) fn neighbours(knob: &Knob, level: Level) -> impl Iterator<Item = Level> {
    let (levels, own, is_graded) = (knob.levels(), usize::from(level), knob.is_graded());
    let all = (0..if is_graded { 0 } else { levels }).filter(move |other| *other != own);
    let distances = (0..if is_graded { 16 } else { 0 }).map(|power| 1usize << power);
    let near = distances.flat_map(move |distance| [own.checked_sub(distance), Some(own + distance)]).flatten();
    all.chain(near.filter(move |other| *other < levels)).map(|level| level as Level)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

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
    fn a_graded_knob_is_tried_in_doubling_steps() {
        let levels = |knob: Knob, level| neighbours(&knob, level).collect::<std::vec::Vec<_>>();
        assert_eq!(levels(Knob::nominal(4), 1), [0, 2, 3]);
        assert_eq!(levels(Knob::ranked(10), 3), [2, 4, 1, 5, 7]);
        assert_eq!(levels(Knob::ranked(256), 255), [254, 253, 251, 247, 239, 223, 191, 127]);
        assert!(levels(Knob::nominal(1), 0).is_empty());
    }

    #[test]
    fn a_large_space_has_near_and_far_rows_the_same_each_time() {
        let space = Space::<24>::new(&[Knob::nominal(2); 24]).unwrap();
        let best = space.draw(&mut Random::new(5, 5));
        let table = LookupTable::new(&space, 256, 9, core::iter::once(best));
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
        let table = |rows| LookupTable::new(&space, rows, 1, core::iter::empty());
        let whole = table(32);
        assert!(whole.is_whole() && whole.len() == 32);
        assert!((0..32).all(|i| whole.row(&space, i) == space.at(i as u64)));
        // One row too few.
        assert!(!table(31).is_whole() && table(31).len() == 15);
    }
}
