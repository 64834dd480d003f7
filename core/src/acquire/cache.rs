//! Incremental asks: each row of the table keeps its whitened covariances and absorbs only the
//! observations that are new to it.
//!
//! v = L⁻¹k grows by one element per observation, v_t = (k_t − Σ L_tj·v_j)/L_tt; mean and variance
//! follow from it.
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | C | cached rows: the first C of the table | |
//! | v | whitened covariances of a row | C × T |
//! | x | stored coordinates of a row's combination | C × D |
//!
//! **Choices**
//! - The user owns the cache and passes it to [`Tuner::ask_with`](crate::Tuner::ask_with), so RAM
//!   is a choice per call and costs nothing where it is not made.
//! - Proposals have the same bits with and without it: both whiten in the same order.
//! - A cache belongs to one table and one factor; a new table, a fit or a changed observation
//!   empties it.
//! - It is bypassed while asks are pending, and while it is empty if the next observation brings a
//!   fit.
//! - Rows beyond C are computed each time.
//!
//! **Cost.** C × (4T + 4D + 24) bytes; O(t) per row and new observation, instead of O(t²) per row
//! and ask.

use crate::surrogate::gp::Partial;

/// Whitened covariances of C rows of a table, for a tuner with the same D and T.
/// [`tuner_cache!`](crate::tuner_cache!) computes the sizes. Each tuner needs its own cache, and so
/// does a clone; it can be used again after `init`.
///
/// ```
/// use trimtab::{Config, Knob, Space};
/// const KNOBS: [Knob; 12] = [Knob::nominal(2); 12];
/// type Relays = trimtab::tuner!(KNOBS, observations: 16, rows: 64);
/// type RelayCache = trimtab::tuner_cache!(KNOBS, observations: 16, rows: 64);
/// let (mut plain, mut quick, mut cache) = (Relays::new(), Relays::new(), RelayCache::new());
/// for tuner in [&mut plain, &mut quick] {
///     tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
/// }
/// for _ in 0..16 {
///     let proposal = plain.ask()?;
///     assert_eq!(quick.ask_with(&mut cache)?, proposal);
///     let ones = proposal.combination.levels().iter().filter(|level| **level == 1).count() as f32;
///     plain.tell(&proposal.combination, ones)?;
///     quick.tell(&proposal.combination, ones)?;
/// }
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cache<const D: usize, const T: usize, const C: usize> {
    rows: [Row<D, T>; C],
    owner: Owner,
    /// Number of observations that all rows cover.
    covered: usize,
}

/// Identifies the contents of a cache: the number of the table, the factor's count, the tuner's
/// count of inits.
pub(crate) type Owner = (u32, u32, u32);

/// One cached row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<const D: usize, const T: usize> {
    pub(crate) x: [f32; D],
    pub(crate) v: [f32; T],
    pub(crate) partial: Partial,
}

impl<const D: usize, const T: usize> Row<D, T> {
    const EMPTY: Self = Self { x: [0.0; D], v: [0.0; T], partial: Partial::new(0.0) };
}

impl<const D: usize, const T: usize, const C: usize> Cache<D, T, C> {
    /// All zero, so that a static cache costs no flash.
    pub const fn new() -> Self {
        Self { rows: [Row::EMPTY; C], owner: (0, 0, 0), covered: 0 }
    }

    /// Whether the cache was filled for this table and factor.
    pub(crate) fn is_filled_for(&self, owner: Owner) -> bool {
        self.owner == owner
    }

    /// Empties a cache that belongs to another table or factor; returns the number of observations
    /// that all rows cover.
    pub(crate) fn begin(&mut self, owner: Owner) -> usize {
        if self.owner != owner {
            (self.owner, self.covered) = (owner, 0);
            self.rows.iter_mut().for_each(|row| row.partial = Partial::new(0.0));
        }
        self.covered
    }

    /// Every row covers n observations.
    pub(crate) fn end(&mut self, n: usize) {
        self.covered = n;
    }

    /// Row i.
    pub(crate) fn row_mut(&mut self, i: usize) -> Option<&mut Row<D, T>> {
        self.rows.get_mut(i)
    }
}

impl<const D: usize, const T: usize, const C: usize> Default for Cache<D, T, C> {
    fn default() -> Self {
        Self::new()
    }
}

/// The type of a cache for the tuner that [`tuner!`](crate::tuner!) gives for the same arguments.
/// With fewer `rows` it takes less RAM, and the other rows are computed each time.
///
/// ```
/// const KNOBS: [trimtab::Knob; 12] = [trimtab::Knob::nominal(2); 12];
/// type RelayCache = trimtab::tuner_cache!(KNOBS, observations: 16, rows: 64);
/// // Half the rows of the tuner, each of sixteen numbers and some twenty bytes.
/// assert!(size_of::<RelayCache>() <= 32 * (16 * 4 + 24) + 24);
/// ```
#[macro_export]
macro_rules! tuner_cache {
    ($knobs:expr, observations: $t:expr, rows: $l:expr) => {
        $crate::Cache<0, { $t }, { $crate::sizes::cached_rows(&$knobs, $l) }>
    };
    ($knobs:expr, observations: $t:expr, rows: $l:expr, dimensions: $d:expr) => {
        $crate::Cache<{ $d }, { $t }, { $crate::sizes::cached_rows(&$knobs, $l) }>
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is covered stays while the owner does; another one begins with nothing.
    #[test]
    fn a_cache_covers_what_its_last_ask_saw() {
        let (mine, other) = ((1, 2, 3), (1, 3, 3));
        let mut cache = Cache::<0, 4, 2>::new();
        assert!(!cache.is_filled_for(mine));
        assert_eq!(cache.begin(mine), 0);
        cache.end(3);
        assert!(cache.is_filled_for(mine) && !cache.is_filled_for(other));
        assert_eq!((cache.begin(mine), cache.begin(other), cache.begin(other)), (3, 0, 0));
        assert!(cache.row_mut(1).is_some() && cache.row_mut(2).is_none());
    }
}
