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
//! - A cache belongs to one table and one factor; new rows, a fit or a changed observation empty
//!   it.
//! - It is bypassed while asks are pending, and while it is empty if the next observation brings a
//!   fit.
//! - Rows beyond C are computed each time.
//!
//! **Cost.** C × (4T + 4D + K + 18) bytes; O(t) per row and new observation, instead of O(t²) per
//! row and ask.

use crate::acquire::table::LookupTable;
use crate::space::{Combination, Space};
use crate::surrogate::Model;
use crate::surrogate::gp::{Partial, Posterior};
use crate::surrogate::observations::Point;

/// Whitened covariances of C rows of a table, for a tuner with the same K, D and T.
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
pub struct Cache<const K: usize, const D: usize, const T: usize, const C: usize> {
    rows: [Row<K, D, T>; C],
    owner: Owner,
}

/// Identifies the contents of a cache: the seed of the table, the factor's count, the tuner's count
/// of inits.
pub(crate) type Owner = (u64, u32, u32);

/// One cached row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<const K: usize, const D: usize, const T: usize> {
    /// `None` if the row cannot be asked, or was not computed yet.
    combination: Option<Combination<K>>,
    fresh: bool,
    x: [f32; D],
    v: [f32; T],
    partial: Partial,
}

impl<const K: usize, const D: usize, const T: usize> Row<K, D, T> {
    const EMPTY: Self = Self { combination: None, fresh: false, x: [0.0; D], v: [0.0; T], partial: Partial::new(0.0) };

    /// The combination of row i and its posterior, or `None` if it cannot be asked. `is_open` is
    /// only called for a row that is not computed yet.
    pub(crate) fn posterior<const M: usize, const P: usize>(
        &mut self,
        (i, table): (usize, &LookupTable<K>),
        (space, model): (&Space<K>, &Model<K, M, D, T, P>),
        is_open: impl Fn(&Combination<K>) -> bool,
    ) -> Option<(&Combination<K>, Posterior)> {
        if !self.fresh {
            self.fresh = true;
            self.partial = Partial::new(0.0);
            self.combination = table.row(space, i).filter(|c| is_open(c));
            self.x = self.combination.map_or([0.0; D], |c| model.geometry.locate(space, &c));
        }
        // Only an observation that the row does not cover yet can have closed it.
        let mut told = model.observations.points_from(self.partial.len());
        if self.combination.as_ref().is_some_and(|c| told.any(|point| point.combination == c)) {
            self.combination = None;
        }
        let Self { combination, x, v, partial, .. } = self;
        let combination = combination.as_ref()?;
        let posterior = model.extend_posterior(space, Point { combination, x }, v, partial)?;
        Some((combination, posterior))
    }
}

impl<const K: usize, const D: usize, const T: usize, const C: usize> Cache<K, D, T, C> {
    /// All zero, so that a static cache costs no flash.
    pub const fn new() -> Self {
        Self { rows: [Row::EMPTY; C], owner: (0, 0, 0) }
    }

    /// Whether the cache was filled for this table and factor.
    pub(crate) fn is_filled_for(&self, owner: Owner) -> bool {
        self.owner == owner
    }

    /// Row i, after emptying a cache that belongs to another table or factor.
    pub(crate) fn row_mut(&mut self, i: usize, owner: Owner) -> Option<&mut Row<K, D, T>> {
        if self.owner != owner {
            self.owner = owner;
            self.rows.iter_mut().for_each(|row| (row.combination, row.fresh) = (None, false));
        }
        self.rows.get_mut(i)
    }
}

impl<const K: usize, const D: usize, const T: usize, const C: usize> Default for Cache<K, D, T, C> {
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
/// // Sixteen numbers and some thirty bytes per row.
/// assert!(size_of::<RelayCache>() <= 64 * (16 * 4 + 32) + 16);
/// ```
#[macro_export]
macro_rules! tuner_cache {
    ($knobs:expr, observations: $t:expr, rows: $l:expr) => {
        $crate::Cache<{ $knobs.len() }, 0, { $t }, { $l }>
    };
    ($knobs:expr, observations: $t:expr, rows: $l:expr, dimensions: $d:expr) => {
        $crate::Cache<{ $knobs.len() }, { $d }, { $t }, { $l }>
    };
}
