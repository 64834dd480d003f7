//! Knobs that matter only sometimes: an unroll factor only while unrolling is on.
//!
//! **Choices**
//! - Combinations that differ only in idle knobs are one: its idle knobs stand at level 0. Only such
//!   combinations exist, so nothing else has to know about conditions but what changes a level.
//! - A knob depends on one declared before it, so one pass in order settles all of them, and a knob
//!   under an idle one is idle.
//!
//! **Cost.** One comparison per condition and level.

use crate::space::knob::Level;
use crate::space::{Combination, Space, SpaceError};

/// A knob that matters only while an earlier one has one of these levels. See [`Space::only_if`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct OnlyIf {
    /// The position of the knob, counted from 0.
    pub knob: usize,
    /// The position of the earlier knob that decides.
    pub on: usize,
    /// The levels of that knob at which this one matters.
    pub levels: &'static [Level],
}

/// What conditions bring, by their address: a program without conditions does not link it.
pub(super) struct Calls<const K: usize> {
    /// Sets idle knobs to level 0; returns whether any was not.
    settle: fn(&Space<K>, &mut Combination<K>) -> bool,
    is_idle: fn(&Space<K>, &Combination<K>, usize) -> bool,
}

impl<const K: usize> Space<K> {
    /// The same space with knobs that matter only sometimes. Combinations that differ only in knobs
    /// that do not matter are one combination: it is asked once, and such knobs are at level 0.
    ///
    /// ```
    /// use trimtab::{Knob, OnlyIf, Space};
    /// // Unrolling off or on; its factor; a block size.
    /// let knobs = [Knob::nominal(2), Knob::ranked(4), Knob::ranked(3)];
    /// let space = Space::<3>::new(&knobs)?.only_if(&[OnlyIf { knob: 1, on: 0, levels: &[1] }])?;
    /// assert_eq!(space.cardinality(), (1 + 4) * 3);
    /// assert_eq!(space.combination(&[0, 3, 2])?, space.combination(&[0, 0, 2])?);
    /// assert!(space.is_idle(&space.combination(&[0, 3, 2])?, 1));
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    pub fn only_if(mut self, conditions: &'static [OnlyIf]) -> Result<Self, SpaceError> {
        for (i, condition) in conditions.iter().enumerate() {
            let OnlyIf { knob, on, levels } = *condition;
            let has = self.knobs.get(on).map_or(0, |on| on.levels());
            let is_alone = conditions.iter().take(i).all(|other| other.knob != knob);
            let has_levels = !levels.is_empty() && levels.iter().all(|level| usize::from(*level) < has);
            if knob >= self.knobs.len() || on >= knob || !is_alone || !has_levels {
                return Err(SpaceError::Condition { number: i });
            }
        }
        let calls = const { &Calls { settle: Self::settle_all, is_idle: Self::is_idle } };
        self.conditions = (!conditions.is_empty()).then_some((conditions, calls));
        Ok(self)
    }

    /// The conditions of knobs that matter only sometimes.
    pub fn conditions(&self) -> &'static [OnlyIf] {
        self.conditions.map_or(&[], |(conditions, _)| conditions)
    }

    /// Whether a knob does not matter in this combination.
    pub fn is_idle(&self, c: &Combination<K>, mut knob: usize) -> bool {
        // Up to a knob that always matters: each is declared before the last.
        while let Some(own) = self.conditions().iter().find(|condition| condition.knob == knob) {
            if !own.levels.contains(&c.level(own.on)) {
                return true;
            }
            knob = own.on;
        }
        false
    }

    /// Whether all idle knobs are at level 0.
    #[inline(always)]
    pub(crate) fn is_canonical(&self, c: &Combination<K>) -> bool {
        self.conditions.is_none_or(|(_, calls)| !(calls.settle)(self, &mut c.clone()))
    }

    /// Sets idle knobs to level 0; returns whether any was not.
    #[inline(always)]
    pub(crate) fn settle(&self, c: &mut Combination<K>) -> bool {
        self.conditions.is_some_and(|(_, calls)| (calls.settle)(self, c))
    }

    /// [`is_idle`](Self::is_idle) without linking it.
    #[inline(always)]
    pub(crate) fn is_fixed(&self, c: &Combination<K>, knob: usize) -> bool {
        self.conditions.is_some_and(|(_, calls)| (calls.is_idle)(self, c, knob))
    }

    fn settle_all(&self, c: &mut Combination<K>) -> bool {
        let mut changed = false;
        for knob in 0..self.knobs.len() {
            if c.level(knob) > 0 && self.is_idle(c, knob) {
                c.set(knob, 0);
                changed = true;
            }
        }
        changed
    }

    /// The number of combinations of the knob and all that depend on it.
    pub(super) fn variants(&self, knob: usize) -> u128 {
        let levels = self.knobs.get(knob).map_or(1, |knob| knob.levels());
        let at = |level: usize| {
            let is_on = |own: &&OnlyIf| own.on == knob && own.levels.iter().any(|own| usize::from(*own) == level);
            self.conditions().iter().filter(is_on).fold(1u128, |n, own| n.saturating_mul(self.variants(own.knob)))
        };
        (0..levels).fold(0u128, |n, level| n.saturating_add(at(level)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::math::random::Random;
    use crate::space::Knob;

    static NESTED: [OnlyIf; 3] = [
        OnlyIf { knob: 2, on: 1, levels: &[1, 2] },
        OnlyIf { knob: 3, on: 2, levels: &[0] },
        OnlyIf { knob: 4, on: 1, levels: &[0] },
    ];

    fn space() -> Space<5> {
        let levels = [2, 3, 2, 4, 3];
        Space::new(&levels.map(Knob::nominal)).unwrap().only_if(&NESTED).unwrap()
    }

    /// Knob 1 at 0: knob 4 has 3 levels; at 1 and 2: knob 2 at 0 with 4 levels of knob 3, or at 1.
    #[test]
    fn every_combination_counts_once() {
        let space = space();
        assert_eq!(space.cardinality(), 2 * (3 + 2 * (4 + 1)));
        let mut all: std::vec::Vec<_> = (0..=space.last_index()).map(|i| space.at(i).unwrap()).collect();
        assert!(all.iter().all(|c| space.contains(c) && space.at(space.index(c)) == Some(*c)));
        all.sort_by_key(|c| space.index(c));
        all.dedup();
        assert_eq!(all.len() as u128, space.cardinality());
        let mut random = Random::new(1, 1);
        assert!((0..100).all(|_| space.contains(&space.draw(&mut random))));
    }

    #[test]
    fn a_knob_under_an_idle_one_is_idle() {
        let space = space();
        let c = space.combination(&[1, 0, 1, 3, 2]).unwrap();
        assert_eq!(c.levels(), [1, 0, 0, 0, 2]);
        assert_eq!([0, 1, 2, 3, 4].map(|knob| space.is_idle(&c, knob)), [false, false, true, true, false]);
        // A combination of the space without conditions does not belong to this one.
        let plain = Space::<5>::new(space.knobs()).unwrap();
        assert!(!space.contains(&plain.combination(&[1, 0, 1, 3, 2]).unwrap()));
    }

    /// promise: Space::only_if | a condition on a later knob, an unknown knob or level, no level, or a second one | `SpaceError::Condition`
    #[test]
    fn bad_conditions_are_refused() {
        static BAD: [[OnlyIf; 2]; 6] = {
            const GOOD: OnlyIf = OnlyIf { knob: 1, on: 0, levels: &[1] };
            [
                [GOOD, OnlyIf { knob: 1, on: 0, levels: &[0] }],
                [GOOD, OnlyIf { knob: 2, on: 2, levels: &[0] }],
                [GOOD, OnlyIf { knob: 2, on: 3, levels: &[0] }],
                [GOOD, OnlyIf { knob: 5, on: 0, levels: &[0] }],
                [GOOD, OnlyIf { knob: 2, on: 0, levels: &[2] }],
                [GOOD, OnlyIf { knob: 2, on: 0, levels: &[] }],
            ]
        };
        for bad in &BAD {
            assert_eq!(space().only_if(bad).err(), Some(SpaceError::Condition { number: 1 }), "{bad:?}");
        }
    }
}
