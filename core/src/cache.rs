//! Incremental proposing: each row of the table keeps its whitened covariances, and absorbs only new observations.
//!
//! v = L⁻¹k grows by one element when an observation is appended, v_t = (k_t − Σ L_tj·v_j)/L_tt; mean and variance follow from it.
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | C | rows that are kept: the first of the table | |
//! | v | whitened covariances of a row | C × T |
//! | x | what is kept of a row's combination | C × D |
//!
//! **Choices.** The cache is the user's, given to [`Tuner::ask_with`](crate::Tuner::ask_with), so that RAM is a choice at each call and costs nothing where it is
//! not made. The proposals are the same bits with and without it: both whiten in the same order. It is valid for the
//! table and the factor that it was filled with; new rows, a fit, or an old observation that changed empty it. While
//! combinations are awaited it is passed over, since fantasies come and go, and so is an empty one where the next observation brings a fit.
//! Rows beyond C are computed anew. In a space that is larger than the table, [`Config::descent`](crate::Config::descent) of the L rows are
//! not the table's but the descent's, which are never kept: of 256 rows a cache holds 192 by default.
//!
//! **Cost.** C × (4T + 4D + K + 18) bytes; O(t) a row and new observation, instead of O(t²) a row and ask.

use crate::gp::Partial;
use crate::space::Combination;

/// What was computed for C rows of a table. For a tuner with the same K, D and T: [`tuner_cache!`](crate::tuner_cache!) works them out.
/// Each tuner needs its own, a clone too; after `init` it can be used again.
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
    pub(crate) rows: [Row<K, D, T>; C],
    /// The table and the factor that the rows are of, and how often the tuner was made ready.
    pub(crate) of: (u64, u32, u32),
}

/// What was computed for one row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<const K: usize, const D: usize, const T: usize> {
    /// None if nothing was computed, or the row cannot be asked.
    pub(crate) combination: Option<Combination<K>>,
    pub(crate) fresh: bool,
    pub(crate) x: [f32; D],
    pub(crate) v: [f32; T],
    pub(crate) partial: Partial,
}

impl<const K: usize, const D: usize, const T: usize> Row<K, D, T> {
    const EMPTY: Self = Self { combination: None, fresh: false, x: [0.0; D], v: [0.0; T], partial: Partial::new(0.0) };
}

impl<const K: usize, const D: usize, const T: usize, const C: usize> Cache<K, D, T, C> {
    /// All zero, so that a static cache costs no flash.
    ///
    /// ```
    /// # use trimtab::{Config, Knob, Space};
    /// # const KNOBS: [Knob; 12] = [Knob::nominal(2); 12];
    /// # type Relays = trimtab::tuner!(KNOBS, observations: 16, rows: 64);
    /// # type RelayCache = trimtab::tuner_cache!(KNOBS, observations: 16, rows: 64);
    /// # let mut tuner = Relays::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let mut cache = RelayCache::new(); // knows nothing yet, and is of no tuner yet
    /// assert_eq!(tuner.clone().ask_with(&mut cache), tuner.ask());
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub const fn new() -> Self {
        Self { rows: [Row::EMPTY; C], of: (0, 0, 0) }
    }

    /// Makes it a cache of this table and factor, empty unless it is already.
    pub(crate) fn prepare(&mut self, of: (u64, u32, u32)) {
        if self.of != of {
            self.of = of;
            self.rows.iter_mut().for_each(|row| (row.combination, row.fresh) = (None, false));
        }
    }
}

impl<const K: usize, const D: usize, const T: usize, const C: usize> Default for Cache<K, D, T, C> {
    fn default() -> Self {
        Self::new()
    }
}

/// The type of a cache for the tuner that [`tuner!`](crate::tuner!) gives for the same words; with fewer `rows` it takes less, and the
/// others are computed anew.
///
/// ```
/// const KNOBS: [trimtab::Knob; 12] = [trimtab::Knob::nominal(2); 12];
/// type RelayCache = trimtab::tuner_cache!(KNOBS, observations: 16, rows: 64);
/// // Sixteen numbers and some thirty bytes a row.
/// assert!(size_of::<RelayCache>() <= 64 * (16 * 4 + 32) + 16);
/// ```
#[macro_export]
macro_rules! tuner_cache {
    ($knobs:expr, observations: $t:expr, rows: $l:expr) => {
        $crate::cache::Cache<{ $knobs.len() }, { $crate::encoding::graded_features(&$knobs) }, { $t }, { $l }>
    };
    ($knobs:expr, observations: $t:expr, rows: $l:expr, dimensions: $d:expr) => {
        $crate::cache::Cache<{ $knobs.len() }, { $d }, { $t }, { $l }>
    };
}
