//! What was measured: combinations with their costs, and what the surrogate keeps of them.
//!
//! The paper's C_t and y_t (section 3).
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | combinations, costs, repeats | what was measured, its mean cost, how often | up to T |
//! | x | what is kept of each combination, see [`likeness`](crate::likeness) | T × D |
//! | order | observations from the smallest cost to the largest | up to T |
//!
//! **Choices.** A combination measured again is averaged in place, so each appears once. The order by cost is kept by insertion: best, median
//! and the best few are then known without sorting.
//!
//! **Cost.** T × (K + 4D + 10) bytes.

use heapless::Vec;

use crate::likeness::Place;
use crate::matrix::Matrix;
use crate::space::Combination;

/// One measured combination.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Observation<const K: usize> {
    /// What was measured.
    pub combination: Combination<K>,
    /// The mean of its measured costs.
    pub cost: f32,
    /// How often it was measured.
    pub repeats: u16,
}

/// At most T observations.
#[derive(Clone, Debug)]
pub(crate) struct Observations<const K: usize, const D: usize, const T: usize> {
    combinations: Vec<Combination<K>, T>,
    costs: Vec<f32, T>,
    repeats: Vec<u16, T>,
    order: Vec<u16, T>,
    x: Matrix<T, D>,
}

impl<const K: usize, const D: usize, const T: usize> Observations<K, D, T> {
    pub(crate) const fn new() -> Self {
        Self { combinations: Vec::new(), costs: Vec::new(), repeats: Vec::new(), order: Vec::new(), x: Matrix::new() }
    }

    pub(crate) fn clear(&mut self) {
        self.combinations.clear();
        self.costs.clear();
        self.repeats.clear();
        self.order.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.costs.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.costs.is_full()
    }

    pub(crate) fn find(&self, c: &Combination<K>) -> Option<usize> {
        self.combinations.iter().position(|own| own == c)
    }

    pub(crate) fn get(&self, i: usize) -> Option<Observation<K>> {
        Some(Observation {
            combination: *self.combinations.get(i)?,
            cost: *self.costs.get(i)?,
            repeats: *self.repeats.get(i)?,
        })
    }

    pub(crate) fn costs(&self) -> &[f32] {
        &self.costs
    }

    /// How often observation i was measured, at least 1.
    pub(crate) fn repeats(&self, i: usize) -> f32 {
        f32::from(self.repeats.get(i).copied().unwrap_or(1).max(1))
    }

    /// The observation of this rank by cost, 0 the best; of equal costs the one told first.
    pub(crate) fn ranked(&self, rank: usize) -> Option<Observation<K>> {
        self.order.get(rank).and_then(|i| self.get(usize::from(*i)))
    }

    /// Combinations with what is kept of them.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place<'_, K, D>> {
        self.combinations.iter().zip(self.x.rows()).map(|(combination, x)| Place { combination, x })
    }

    /// Takes in a combination not seen before. False, and nothing changed, if there is no room.
    pub(crate) fn push(&mut self, c: &Combination<K>, cost: f32, x: &[f32; D]) -> bool {
        if self.is_full() {
            return false;
        }
        let i = self.len();
        self.x.row_mut(i).iter_mut().zip(x).for_each(|(own, x)| *own = *x);
        let pushed =
            self.combinations.push(*c).is_ok() && self.costs.push(cost).is_ok() && self.repeats.push(1).is_ok();
        self.rank_last(i);
        pushed
    }

    /// Averages another measurement of observation i into its cost.
    pub(crate) fn repeat(&mut self, i: usize, cost: f32) {
        let (Some(mean), Some(repeats)) = (self.costs.get_mut(i), self.repeats.get_mut(i)) else { return };
        *repeats = repeats.saturating_add(1);
        // Divided first: the difference of two finite costs may not be finite.
        let n = f32::from(*repeats);
        *mean += cost / n - *mean / n;
        if let Some(rank) = self.order.iter().position(|own| usize::from(*own) == i) {
            (rank + 1..self.order.len()).for_each(|rank| self.order.swap(rank - 1, rank));
            self.order.pop();
        }
        self.rank_last(i);
    }

    /// Puts observation i, which is not in the order, where its cost belongs.
    fn rank_last(&mut self, i: usize) {
        let cost = |own: &u16| self.costs.get(usize::from(*own)).copied().unwrap_or(f32::INFINITY);
        let dearer = self.order.iter().rev().take_while(|own| cost(own) > cost(&(i as u16))).count();
        // There is room: the order never holds more than the costs do.
        if self.order.push(i as u16).is_ok() {
            let end = self.order.len();
            (0..dearer).for_each(|back| self.order.swap(end - 1 - back, end - 2 - back));
        }
    }
}
