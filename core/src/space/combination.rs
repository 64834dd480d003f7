//! One level per knob.

use core::fmt;
use core::hash::{Hash, Hasher};

use crate::space::knob::Level;
use crate::space::{Space, SpaceError};

/// One level per knob of a space, made by [`new`](Self::new) or by [`Space::combination`]: its levels
/// are always valid.
///
/// ```
/// use trimtab::{Knob, Space};
/// let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)])?;
/// let c = space.combination(&[3, 5])?;
/// assert_eq!(c.levels(), [3, 5]);
/// assert!(space.combination(&[4, 0]).is_err());
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
#[derive(Clone, Copy, Eq)]
pub struct Combination<const K: usize> {
    levels: [Level; K],
    knobs: u16,
    /// The lowest bit of the first 32 levels, the first knob's lowest: where knobs have two levels, one
    /// word compares them all.
    lows: u32,
}

impl<const K: usize> PartialEq for Combination<K> {
    /// Compares four knobs at a time, up to the first difference. Every candidate is compared with
    /// every observation, and the derived comparison would be a call that goes byte by byte.
    fn eq(&self, other: &Self) -> bool {
        let ((a, a_rest), (b, b_rest)) = (self.levels.as_chunks::<4>(), other.levels.as_chunks::<4>());
        let same = |([a0, a1, a2, a3], [b0, b1, b2, b3]): (&[Level; 4], &[Level; 4])| {
            (word([*a0, *a1]) ^ word([*b0, *b1])) | (word([*a2, *a3]) ^ word([*b2, *b3])) == 0
        };
        let is_same = || a.iter().zip(b).all(same) && a_rest.iter().zip(b_rest).all(|(a, b)| a == b);
        self.lows == other.lows && is_same() && self.knobs == other.knobs
    }
}

/// Two levels as one number, for comparisons: the first in its lower half.
#[inline(always)]
pub(crate) const fn word([low, high]: [Level; 2]) -> u32 {
    low as u32 | (high as u32) << 16
}

impl<const K: usize> Hash for Combination<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.levels().hash(state);
    }
}

impl<const K: usize> Combination<K> {
    /// No knobs; all zero.
    pub(crate) const EMPTY: Self = Self::origin(0);

    /// So many knobs, all at level 0. Unused elements stay 0, so equal combinations have equal arrays.
    pub(super) const fn origin(knobs: usize) -> Self {
        Self { levels: [0; K], knobs: knobs as u16, lows: 0 }
    }

    /// One level per knob of a space; [`Space::combination`] by another name.
    ///
    /// ```
    /// use trimtab::{Combination, Knob, Space};
    /// let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)])?;
    /// assert_eq!(Combination::new(&space, &[3, 5])?.level(1), 5);
    /// assert!(Combination::new(&space, &[3]).is_err() && Combination::new(&space, &[3, 8]).is_err());
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    pub fn new(space: &Space<K>, levels: &[Level]) -> Result<Self, SpaceError> {
        space.combination(levels)
    }

    /// The level of each knob, in the order of declaration.
    pub fn levels(&self) -> &[Level] {
        self.levels.get(..usize::from(self.knobs)).unwrap_or(&[])
    }

    /// All K levels, 0 beyond the last knob.
    pub(crate) fn all(&self) -> &[Level; K] {
        &self.levels
    }

    /// The level of one knob; 0 past the last.
    pub fn level(&self, knob: usize) -> Level {
        self.levels.get(knob).copied().unwrap_or(0)
    }

    /// The same combination with another level for one knob. The caller guarantees that the knob
    /// has this level.
    pub(crate) fn with(mut self, knob: usize, level: Level) -> Self {
        self.set(knob, level);
        self
    }

    /// Sets the level of one knob; does nothing past the last.
    pub(crate) fn set(&mut self, knob: usize, level: Level) {
        let Some(own) = self.levels.get_mut(knob) else { return };
        *own = level;
        if knob < 32 {
            self.lows = self.lows & !(1 << knob) | u32::from(level & 1) << knob;
        }
    }

    /// The lowest bit of the first 32 levels.
    #[inline(always)]
    pub(crate) fn lows(&self) -> u32 {
        self.lows
    }
}

impl<const K: usize> fmt::Debug for Combination<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.levels().fmt(f)
    }
}

#[cfg(feature = "defmt")]
impl<const K: usize> defmt::Format for Combination<K> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{=[?]}", self.levels());
    }
}
