//! The bounded lookup table: the whole space if it fits, otherwise the candidates of two sweeps.
//!
//! The paper's table holds every combination and its embedding (section 4.1): 1.34 GB for 24 bits
//! in 20 dimensions. Here it holds what [`sweep`](crate::acquire::sweep) tries, as the steps of a
//! path: each candidate differs from the current combination in one knob.
//!
//! **Choices**
//! - A space of at most L combinations is its own table, and the acquisition is minimised exactly.
//! - A larger space is swept after each fit and each new best, for at most L/2 candidates. In
//!   between the table stays and its rows are scored again: sweeping at every ask needs as many
//!   measurements, and a user with RAM can keep computed results
//!   ([`cache`](crate::acquire::cache)).
//! - A sweep depends only on the observations, so that a log of outcomes brings the table back.
//! - A step takes four bytes, where a combination would take two per knob.
//! - As long as observations only join, the variance of a row only falls. So each row keeps what was
//!   left of it when it was last computed: with the new mean alone, most rows are known to lose.
//!
//! **Cost.** 8L bytes and two combinations.

use heapless::Vec;

use crate::space::knob::Level;
use crate::space::{Combination, Space};

/// What a step of the path does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A row: the current combination with this level of this knob.
    Row,
    /// A row that can no longer be asked.
    Closed,
    /// The path takes this level.
    Go,
    /// The path goes on from the second start.
    Restart,
}

/// One step of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) knob: u16,
    pub(crate) level: Level,
    pub(crate) kind: Kind,
}

/// A step in four bytes: level, knob, and kind in the two highest bits. A space has at most 1000 knobs.
#[derive(Clone, Copy, Debug)]
struct Packed(u32);

impl Packed {
    #[inline(always)]
    fn new(step: Step) -> Self {
        Self(u32::from(step.level) | u32::from(step.knob) << 16 | (step.kind as u32) << 30)
    }

    #[inline(always)]
    fn step(self) -> Step {
        let kind = match self.0 >> 30 {
            0 => Kind::Row,
            1 => Kind::Closed,
            2 => Kind::Go,
            _ => Kind::Restart,
        };
        Step { knob: (self.0 >> 16 & 0x3fff) as u16, level: self.0 as Level, kind }
    }
}

/// A table of at most L steps.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct LookupTable<const K: usize, const L: usize> {
    /// How many observations the rows were compared with.
    pub(crate) compared: usize,
    /// The model's count of factors when the sweeps began; with another factor the table is stale.
    pub(crate) factors: u32,
    /// Counts the tables: a cache belongs to one of them.
    id: u32,
    bounds_for: u32,
    /// Whether the sweeps are done.
    pub(crate) is_swept: bool,
    starts: [Combination<K>; 2],
    steps: Vec<Packed, L>,
    /// Per row, a bound of the share of the signal variance that is left; and the model's count of
    /// factors that they are for, plus one, or 0.
    bounds: [f32; L],
}

impl<const K: usize, const L: usize> LookupTable<K, L> {
    /// No rows.
    pub(crate) const EMPTY: Self = Self {
        starts: [Combination::EMPTY; 2],
        steps: Vec::new(),
        is_swept: false,
        compared: 0,
        factors: 0,
        id: 0,
        bounds: [0.0; L],
        bounds_for: 0,
    };

    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        if !self.steps.is_empty() {
            self.id = self.id.wrapping_add(1);
        }
        self.steps.clear();
        self.is_swept = false;
        self.bounds_for = 0;
    }

    /// Keeps the bounds of all rows if they are for this factor, and else forgets them.
    pub(crate) fn keep_bounds(&mut self, factors: u32) {
        if self.bounds_for != factors.wrapping_add(1) {
            self.bounds_for = factors.wrapping_add(1);
            self.bounds.iter_mut().for_each(|bound| *bound = f32::INFINITY);
        }
    }

    /// The bound of a row.
    pub(crate) fn bound(&self, row: usize) -> f32 {
        self.bounds.get(row).copied().unwrap_or(f32::INFINITY)
    }

    /// Replaces the bound of a row by a sharper one.
    pub(crate) fn set_bound(&mut self, row: usize, bound: f32) {
        self.bounds.iter_mut().skip(row).take(1).for_each(|own| *own = bound);
    }

    /// Begins with an empty path from these starts.
    pub(crate) fn begin(&mut self, starts: [Combination<K>; 2]) {
        self.clear();
        self.starts = starts;
    }

    /// The combinations from which the path starts.
    pub(crate) fn starts(&self) -> &[Combination<K>; 2] {
        &self.starts
    }

    /// The number of this table.
    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Step i of the path.
    pub(crate) fn step(&self, i: usize) -> Option<Step> {
        self.steps.get(i).map(|step| step.step())
    }

    /// Appends a step; false if there is no room.
    pub(crate) fn push(&mut self, step: Step) -> bool {
        self.steps.push(Packed::new(step)).is_ok()
    }

    /// Closes row i: it cannot be asked any more.
    pub(crate) fn close(&mut self, i: usize) {
        if let Some(step) = self.steps.get_mut(i) {
            *step = Packed::new(Step { kind: Kind::Closed, ..step.step() });
        }
    }
}

/// The number of combinations of a space that is its own table of at most `rows` rows, or 0.
pub(crate) fn whole<const K: usize>(space: &Space<K>, rows: usize) -> usize {
    if space.last_index() < rows as u64 { space.last_index() as usize + 1 } else { 0 }
}

/// Rows of a cache that holds all candidates of a tuner with L rows: the whole space if it fits, or
/// else half of L.
///
/// ```
/// use trimtab::{Knob, sizes::cached_rows};
/// assert_eq!(cached_rows(&[Knob::nominal(4), Knob::ranked(8)], 64), 32);
/// assert_eq!(cached_rows(&[Knob::nominal(2); 24], 256), 128);
/// ```
pub const fn cached_rows(knobs: &[crate::space::knob::Knob], rows: usize) -> usize {
    let (mut all, mut i) = (1, 0);
    while i < knobs.len() && all <= rows {
        all *= knobs[i].levels();
        i += 1;
    }
    if all <= rows { all } else { swept(rows) }
}

/// Most candidates that are swept for a table of this many rows.
pub(crate) const fn swept(rows: usize) -> usize {
    if rows > 1 { rows / 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_survives_its_four_bytes() {
        for kind in [Kind::Row, Kind::Closed, Kind::Go, Kind::Restart] {
            for (knob, level) in [(0, 0), (999, Level::MAX), (1, 256)] {
                let step = Step { knob, level, kind };
                assert_eq!(Packed::new(step).step(), step);
            }
        }
    }

    #[test]
    fn bounds_are_those_of_one_factor_and_one_table() {
        let mut table = LookupTable::<2, 4>::EMPTY;
        table.keep_bounds(7);
        assert_eq!(table.bound(3), f32::INFINITY);
        table.set_bound(3, 0.5);
        table.keep_bounds(7);
        assert_eq!((table.bound(2), table.bound(3), table.bound(4)), (f32::INFINITY, 0.5, f32::INFINITY));
        table.keep_bounds(8);
        assert_eq!(table.bound(3), f32::INFINITY);
        table.set_bound(3, 0.5);
        table.begin([Combination::EMPTY; 2]);
        table.keep_bounds(8);
        assert_eq!(table.bound(3), f32::INFINITY);
    }
}
