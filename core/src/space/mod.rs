//! The space of combinations: a product of knobs, and which combinations are feasible.
//!
//! The paper's C = {1..N₁} × … × {1..N_k}, |C| = N₁ × … × N_k = N (section 3).
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | K | most knobs | const |
//! | c | a combination: one level per knob | up to 2K bytes |
//! | index | the mixed-radix number of c, first knob fastest | 0 to N − 1 |
//!
//! **Choices**
//! - Only a [`Space`] creates a [`Combination`], so its levels are always in range.
//! - An infeasible combination could harm the hardware: a tuner never asks for one, not even as an
//!   initial point, and refuses to be told about one.
//! - N has no limit, but only the first 2⁶⁴ combinations have an index.
//!   [`Encoding::Compact`](crate::Encoding::Compact) and
//!   [`Tuner::ask_lookup`](crate::Tuner::ask_lookup) need one for each and refuse larger spaces.
//!
//! **Cost.** 16 bytes per knob on a 32-bit chip; K multiplications per index.

mod combination;
mod condition;
mod declare;
mod error;
pub(crate) mod knob;
#[cfg(feature = "defmt")]
pub mod log;
pub(crate) mod number;

use core::fmt;

use heapless::Vec;

use crate::math::random::Random;

pub use combination::Combination;
pub(crate) use combination::word;
use condition::Calls;
pub use condition::OnlyIf;
pub use error::SpaceError;
pub use knob::{Knob, KnobError, Level, MOST_LEVELS, MOST_LISTED, Scale};

/// Decides whether a combination may be applied to the hardware. See [`Space::with_feasible`].
pub type Feasible<const K: usize> = &'static (dyn Fn(&Combination<K>) -> bool + Sync);

/// All combinations of at most K knobs, and which of them are feasible.
///
/// ```
/// use trimtab::{Combination, Knob, Space};
/// fn is_safe(c: &Combination<2>) -> bool { c.levels() != [3, 7] }
/// let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)])?.with_feasible(&is_safe);
/// assert_eq!(space.cardinality(), 32);
/// let c = space.combination(&[3, 7])?;
/// assert_eq!(space.at(space.index(&c)), Some(c));
/// assert!(!space.is_feasible(&c));
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
#[derive(Clone)]
pub struct Space<const K: usize> {
    knobs: Vec<Knob, K>,
    last_index: u64,
    feasible: Option<Feasible<K>>,
    conditions: Option<(&'static [OnlyIf], &'static Calls<K>)>,
}

impl<const K: usize> Space<K> {
    /// A space without knobs: the space of an uninitialised tuner.
    pub(crate) const fn empty() -> Self {
        Self { knobs: Vec::new(), last_index: 0, feasible: None, conditions: None }
    }

    /// The space of all combinations of these knobs.
    ///
    /// ```
    /// use trimtab::{Knob, Space, SpaceError};
    /// assert_eq!(Space::<2>::new(&[]).err(), Some(SpaceError::NoKnobs));
    /// assert_eq!(Space::<2>::new(&[Knob::nominal(3), Knob::ranked(5)])?.knobs().len(), 2);
    /// # Ok::<(), SpaceError>(())
    /// ```
    pub fn new(knobs: &[Knob]) -> Result<Self, SpaceError> {
        const { assert!(K <= 1000, "a space has at most 1000 knobs") };
        if knobs.is_empty() {
            return Err(SpaceError::NoKnobs);
        }
        let own = Vec::from_slice(knobs).map_err(|_| SpaceError::TooManyKnobs { given: knobs.len(), most: K })?;
        for (position, knob) in knobs.iter().enumerate() {
            if let Some(error) = knob.fault() {
                return Err(SpaceError::Knob { position, error });
            }
        }
        Ok(Self { knobs: own, last_index: last_index(knobs).unwrap_or(u64::MAX), feasible: None, conditions: None })
    }

    /// The same space with a predicate that rules combinations out.
    ///
    /// ```
    /// use trimtab::{Knob, Space};
    /// let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)])?;
    /// let safe = space.clone().with_feasible(&|c| c.level(1) < 6);
    /// let c = space.combination(&[0, 7])?;
    /// assert!(space.is_feasible(&c) && !safe.is_feasible(&c));
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    pub fn with_feasible(mut self, feasible: Feasible<K>) -> Self {
        self.feasible = Some(feasible);
        self
    }

    /// Whether the space has a feasibility predicate or knobs that matter only sometimes: more than
    /// its knobs say.
    pub fn is_restricted(&self) -> bool {
        self.feasible.is_some() || self.conditions.is_some()
    }

    /// The knobs, in the order of declaration.
    pub fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    /// N, the number of combinations, feasible or not; `u128::MAX` if there are more.
    pub fn cardinality(&self) -> u128 {
        let depends = |knob: usize| self.conditions().iter().any(|condition| condition.knob == knob);
        let free = (0..self.knobs.len()).filter(|knob| !depends(*knob));
        free.fold(1, |n: u128, knob| n.saturating_mul(self.variants(knob)))
    }

    /// The largest index: N − 1, or `u64::MAX` in a space beyond 2⁶⁴ combinations. Knobs that matter
    /// only sometimes count as if they always did.
    pub fn last_index(&self) -> u64 {
        self.last_index
    }

    /// Whether every combination has its own index: there are at most 2⁶⁴.
    pub fn is_indexed(&self) -> bool {
        last_index(&self.knobs).is_some()
    }

    /// The combination with these levels.
    ///
    /// ```
    /// use trimtab::{Knob, Space, SpaceError};
    /// let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)])?;
    /// assert_eq!(space.combination(&[3, 7])?.levels(), [3, 7]);
    /// let refused = space.combination(&[3, 8]);
    /// assert_eq!(refused, Err(SpaceError::NoSuchLevel { position: 1, level: 8 }));
    /// # Ok::<(), SpaceError>(())
    /// ```
    pub fn combination(&self, levels: &[Level]) -> Result<Combination<K>, SpaceError> {
        if levels.len() != self.knobs.len() {
            return Err(SpaceError::WrongLength { given: levels.len(), knobs: self.knobs.len() });
        }
        let mut c = self.origin();
        for (position, (level, knob)) in levels.iter().zip(&self.knobs).enumerate() {
            if usize::from(*level) >= knob.levels() {
                return Err(SpaceError::NoSuchLevel { position, level: *level });
            }
            c.set(position, *level);
        }
        self.settle(&mut c);
        Ok(c)
    }

    /// The combination with this index, or `None` past the last. Indices that differ only in idle
    /// knobs are of one combination.
    ///
    /// ```
    /// use trimtab::{Knob, Space};
    /// let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)])?;
    /// assert_eq!(space.at(1 + 4 * 5), Some(space.combination(&[1, 5])?));
    /// assert_eq!(space.at(32), None);
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    pub fn at(&self, index: u64) -> Option<Combination<K>> {
        if index > self.last_index {
            return None;
        }
        let mut rest = index;
        let mut c = self.origin();
        for (i, knob) in self.knobs.iter().enumerate() {
            // `max(1)` tells the compiler that the division cannot fail.
            let levels = (knob.levels() as u64).max(1);
            c.set(i, (rest % levels) as Level);
            rest /= levels;
        }
        self.settle(&mut c);
        Some(c)
    }

    /// The levels of the next index, the first again after the last: counting, without a division.
    /// Idle knobs are counted too.
    pub(crate) fn after(&self, mut c: Combination<K>) -> Combination<K> {
        for (i, knob) in self.knobs.iter().enumerate() {
            let level = c.level(i);
            if usize::from(level) + 1 < knob.levels() {
                c.set(i, level + 1);
                break;
            }
            c.set(i, 0);
        }
        c
    }

    /// [`at`](Self::at) for a small index of a small space, with idle knobs as they come: chips divide
    /// 32 bits, not 64.
    pub(crate) fn at_small(&self, index: u32) -> Combination<K> {
        let mut rest = index;
        let mut c = self.origin();
        for (i, knob) in self.knobs.iter().enumerate() {
            let levels = (knob.levels() as u32).max(1);
            c.set(i, (rest % levels) as Level);
            rest /= levels;
        }
        c
    }

    /// The mixed-radix number of a combination, first knob fastest. Saturates at `u64::MAX`, which
    /// several combinations share in a space that is not [indexed](Self::is_indexed).
    pub fn index(&self, c: &Combination<K>) -> u64 {
        let pairs = self.knobs.iter().zip(c.all()).rev();
        pairs.fold(0u64, |index, (knob, level)| {
            index.saturating_mul(knob.levels() as u64).saturating_add(u64::from(*level))
        })
    }

    /// [`index`](Self::index) for an indexed space, faster because it does not saturate.
    pub(crate) fn number(&self, c: &Combination<K>) -> u64 {
        let pairs = self.knobs.iter().zip(c.all()).rev();
        pairs
            .fold(0u64, |index, (knob, level)| index.wrapping_mul(knob.levels() as u64).wrapping_add(u64::from(*level)))
    }

    /// Whether a combination belongs to this space: as many knobs, each level in range, and idle knobs at
    /// level 0.
    ///
    /// ```
    /// use trimtab::{Knob, Space};
    /// let [small, large] = [2, 4].map(|levels| Space::<1>::new(&[Knob::nominal(levels)]));
    /// let c = large?.combination(&[3])?;
    /// assert!(!small?.contains(&c));
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    pub fn contains(&self, c: &Combination<K>) -> bool {
        c.levels().len() == self.knobs.len()
            && c.levels().iter().zip(&self.knobs).all(|(level, knob)| usize::from(*level) < knob.levels())
            && self.is_canonical(c)
    }

    /// Whether a combination may be applied to the hardware.
    pub fn is_feasible(&self, c: &Combination<K>) -> bool {
        self.feasible.is_none_or(|feasible| feasible(c))
    }

    /// Draws a combination uniformly from all, feasible or not.
    pub(crate) fn draw(&self, random: &mut Random) -> Combination<K> {
        let mut c = self.origin();
        for (i, knob) in self.knobs.iter().enumerate() {
            c.set(i, random.below(knob.levels() as u32) as Level);
        }
        self.settle(&mut c);
        c
    }

    /// All levels 0.
    fn origin(&self) -> Combination<K> {
        Combination::origin(self.knobs.len())
    }
}

impl<const K: usize> fmt::Debug for Space<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Space").field("knobs", &self.knobs).field("restricted", &self.feasible.is_some()).finish()
    }
}

/// N − 1, if it fits in a `u64`.
#[inline(never)]
fn last_index(knobs: &[Knob]) -> Option<u64> {
    knobs.iter().try_fold(0u64, |last, knob| {
        // N·q − 1 from N − 1, so that N = 2⁶⁴ still fits.
        let levels = knob.levels() as u64;
        last.checked_mul(levels)?.checked_add(levels.saturating_sub(1))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn index_and_at_are_inverse_in_every_small_space() {
        for a in 1..6 {
            for b in 1..6 {
                let space = Space::<3>::new(&[Knob::nominal(a), Knob::ranked(b), Knob::nominal(3)]).unwrap();
                assert_eq!(space.cardinality(), u128::from(a) * u128::from(b) * 3);
                let mut counted = space.at(space.last_index()).unwrap();
                for index in 0..=space.last_index() {
                    let c = space.at(index).unwrap();
                    counted = space.after(counted);
                    assert_eq!((counted, space.at_small(index as u32)), (c, c));
                    assert!(space.contains(&c));
                    assert_eq!(space.index(&c), index);
                    assert_eq!(space.combination(c.levels()), Ok(c));
                }
                assert_eq!(space.at(space.last_index() + 1), None);
            }
        }
    }

    #[test]
    fn only_the_first_2_to_the_64_combinations_have_an_index() {
        let space = Space::<64>::new(&[Knob::nominal(2); 64]).unwrap();
        assert_eq!(space.cardinality(), 1 << 64);
        let last = space.at(u64::MAX).unwrap();
        assert!(last.levels().iter().all(|l| *l == 1));
        assert_eq!(space.index(&last), u64::MAX);
        assert_eq!(space.index(&last), space.number(&last));
        assert!(space.is_indexed());
        // One knob more: half of the combinations have no index of their own.
        let larger = Space::<65>::new(&[Knob::nominal(2); 65]).unwrap();
        assert!(!larger.is_indexed() && larger.cardinality() == 1 << 65 && larger.last_index() == u64::MAX);
        let first_half = larger.at(u64::MAX - 1).unwrap();
        assert_eq!((larger.index(&first_half), first_half.level(0), first_half.level(64)), (u64::MAX - 1, 0, 0));
        let (second_half, last) = (first_half.with(64, 1), larger.combination(&[1; 65]).unwrap());
        assert_eq!((larger.index(&second_half), larger.index(&last)), (u64::MAX, u64::MAX));
        assert_eq!(larger.after(last), larger.at(0).unwrap());
    }

    /// 64^200 = 2^1200.
    #[test]
    fn draws_from_a_space_of_any_size_are_uniform() {
        let space = Space::<200>::new(&[Knob::ranked(64); 200]).unwrap();
        assert_eq!((space.cardinality(), space.is_indexed()), (u128::MAX, false));
        let mut random = Random::new(1, 1);
        let mut counts = [0u32; 64];
        for c in core::iter::repeat_with(|| space.draw(&mut random)).take(100) {
            assert!(space.contains(&c) && space.combination(c.levels()) == Ok(c));
            c.levels().iter().for_each(|level| counts[usize::from(*level)] += 1);
        }
        // 20 000 levels, 312.5 of each, with a deviation of 17.5.
        assert!(counts.iter().all(|count| (225..400).contains(count)), "{counts:?}");
    }

    #[test]
    fn bad_spaces_are_refused() {
        assert_eq!(Space::<2>::new(&[]).err(), Some(SpaceError::NoKnobs));
        assert_eq!(Space::<2>::new(&[Knob::nominal(2); 3]).err(), Some(SpaceError::TooManyKnobs { given: 3, most: 2 }));
        let zero = [Knob::nominal(2), Knob::nominal(0)];
        assert_eq!(Space::<2>::new(&zero).err(), Some(SpaceError::Knob { position: 1, error: KnobError::NoLevels }));
    }

    #[test]
    fn combinations_of_other_spaces_are_recognised() {
        let wide = Space::<2>::new(&[Knob::nominal(4), Knob::nominal(4)]).unwrap();
        let narrow = Space::<2>::new(&[Knob::nominal(4), Knob::nominal(2)]).unwrap();
        let single = Space::<2>::new(&[Knob::nominal(4)]).unwrap();
        let c = wide.combination(&[3, 3]).unwrap();
        assert!(wide.contains(&c) && !narrow.contains(&c) && !single.contains(&c));
    }
}
