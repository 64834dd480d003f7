//! Nested subspaces: knobs share bins, and bins split until each knob has its own.
//!
//! cᵢ = (oᵢ + v_b) mod qᵢ for every knob i of bin b with value v_b.
//!
//! | name | meaning |
//! |---|---|
//! | oᵢ | offset of a knob: its level in the first combination, at which all bins are 0 |
//! | qᵢ | its number of levels; knobs of a bin have equally many |
//!
//! **Choices**
//! - The paper draws the offsets (signs of bits) uniformly. Here the first combination, itself a
//!   uniform draw, decides them, so that it lies in every subspace and its cost is not lost.
//! - A graded knob has a bin of its own from the beginning: the authors' code has no ordinal knobs,
//!   and an offset would break their order.

use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level};

use crate::bench::method::embedded::Features;

/// A partition of the knobs.
#[derive(Clone, Debug)]
pub(super) struct Bins {
    levels: Vec<usize>,
    offsets: Vec<Level>,
    groups: Vec<Vec<usize>>,
    /// One knob per bin.
    knobs: Vec<Knob>,
}

impl Bins {
    /// About `wanted` bins, at least one per number of levels and one per graded knob.
    pub(super) fn new(knobs: &[Knob], first: &[Level], wanted: usize, random: &mut Xoshiro256PlusPlus) -> Self {
        let mut kinds: Vec<Vec<usize>> = Vec::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (place, knob) in knobs.iter().enumerate() {
            if knob.is_graded() {
                groups.push(vec![place]);
                continue;
            }
            match kinds.iter_mut().find(|kind| knobs[kind[0]].levels() == knob.levels()) {
                Some(kind) => kind.push(place),
                None => kinds.push(vec![place]),
            }
        }
        let mut shares = vec![1; kinds.len()];
        while groups.len() + shares.iter().sum::<usize>() < wanted.min(knobs.len()) {
            // One more bin for the kind with the fullest bins.
            let fullest =
                (0..kinds.len()).max_by(|a, b| (kinds[*a].len() * shares[*b]).cmp(&(kinds[*b].len() * shares[*a])));
            let Some(fullest) = fullest.filter(|kind| shares[*kind] < kinds[*kind].len()) else { break };
            shares[fullest] += 1;
        }
        for (kind, share) in kinds.iter_mut().zip(shares) {
            kind.shuffle(random);
            groups.extend(parts(kind, share));
        }
        let levels = knobs.iter().map(Knob::levels).collect();
        let own = groups.iter().map(|group| knobs[group[0]]).collect();
        Self { levels, offsets: first.to_vec(), groups, knobs: own }
    }

    /// One knob per bin.
    pub(super) fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    pub(super) fn is_full(&self) -> bool {
        self.groups.len() == self.levels.len()
    }

    /// Splits every bin into up to `into` bins.
    pub(super) fn split(&mut self, into: usize, random: &mut Xoshiro256PlusPlus) {
        let (mut groups, mut knobs) = (Vec::new(), Vec::new());
        for (mut group, knob) in std::mem::take(&mut self.groups).into_iter().zip(&self.knobs) {
            group.shuffle(random);
            for part in parts(&group, into) {
                groups.push(part);
                knobs.push(*knob);
            }
        }
        (self.groups, self.knobs) = (groups, knobs);
    }

    /// The combination of some values of bins.
    pub(super) fn up(&self, values: &[Level]) -> Vec<Level> {
        let mut levels = self.offsets.clone();
        for ((group, value), knob) in self.groups.iter().zip(values).zip(&self.knobs) {
            for place in group {
                levels[*place] = if knob.is_graded() { *value } else { self.turned(*place, *value) };
            }
        }
        levels
    }

    /// The values of the bins, or `None` if the combination lies outside of the subspace.
    pub(super) fn down(&self, levels: &[Level]) -> Option<Vec<Level>> {
        let value = |(group, knob): (&Vec<usize>, &Knob)| {
            let own = levels[group[0]];
            let q = knob.levels();
            let value = (usize::from(own) + q - usize::from(self.offsets[group[0]])) % q;
            let agrees = |place: &usize| levels[*place] == self.turned(*place, value as Level);
            if knob.is_graded() { Some(own) } else { group.iter().all(agrees).then_some(value as Level) }
        };
        self.groups.iter().zip(&self.knobs).map(value).collect()
    }

    fn turned(&self, place: usize, value: Level) -> Level {
        ((usize::from(self.offsets[place]) + usize::from(value)) % self.levels[place]) as Level
    }
}

/// Parts of nearly equal size, none of them empty.
fn parts(of: &[usize], count: usize) -> Vec<Vec<usize>> {
    let count = count.min(of.len());
    (0..count).map(|part| of[part * of.len() / count..(part + 1) * of.len() / count].to_vec()).collect()
}

/// Values of bins as the authors' features: 0 or 1 for two levels, else one of q is 1; a graded knob
/// is its position from 0 to 1.
impl Features for Bins {
    fn write(&self, values: &[Level], x: &mut Vec<f64>) {
        x.clear();
        for (knob, value) in self.knobs.iter().zip(values) {
            let q = knob.levels();
            if knob.is_graded() || q <= 2 {
                x.push(f64::from(*value) / (q - 1).max(1) as f64);
            } else {
                x.extend((0..q).map(|level| f64::from(u8::from(level == usize::from(*value)))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn subspaces_are_nested_and_hold_the_first_combination() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut knobs = vec![Knob::nominal(2); 9];
        knobs.extend([Knob::nominal(3), Knob::ranked(7), Knob::nominal(3), Knob::nominal(3)]);
        let first: Vec<Level> = knobs.iter().map(|knob| random.random_range(0..knob.levels()) as Level).collect();
        let mut bins = Bins::new(&knobs, &first, 5, &mut random);
        assert_eq!(bins.knobs().len(), 5);
        let mut inside = vec![first];
        while !bins.is_full() {
            for _ in 0..5 {
                let values: Vec<Level> =
                    bins.knobs().iter().map(|knob| random.random_range(0..knob.levels()) as Level).collect();
                inside.push(bins.up(&values));
                assert_eq!(bins.down(&inside[inside.len() - 1]), Some(values));
            }
            bins.split(2, &mut random);
            // What was inside stays inside.
            assert!(
                inside.iter().all(|levels| bins.down(levels).map(|values| bins.up(&values)).as_ref() == Some(levels))
            );
        }
        assert_eq!(bins.knobs().len(), 13);
    }

    #[test]
    fn outside_is_noticed() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let bins = Bins::new(&[Knob::nominal(2); 4], &[0, 1, 1, 0], 1, &mut random);
        assert_eq!(bins.up(&[1]), [1, 0, 0, 1]);
        assert_eq!((bins.down(&[1, 0, 0, 1]), bins.down(&[1, 0, 0, 0])), (Some(vec![1]), None));
        let mut x = Vec::new();
        Bins::new(&[Knob::nominal(3), Knob::ranked(5)], &[0, 0], 5, &mut random).write(&[1, 2], &mut x);
        // Graded knobs come first.
        assert_eq!(x, [0.25, 0.0, 0.0, 1.0]);
    }
}
