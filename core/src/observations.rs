//! What was measured: combinations with their costs, and where the surrogate sees them.
//!
//! The paper's C_t and y_t (section 3), with the features and embeddings that the kernel needs.
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | combinations, costs, repeats | what was measured, its mean cost, how often | up to T |
//! | z | centred, scaled features | T × M |
//! | x | embeddings; unused by the identity map, whose x is z | T × D |
//! | order | observations from the smallest cost to the largest | up to T |
//!
//! **Choices.** A combination measured again is averaged in place, so each appears once. The order by cost is kept by insertion: best, median
//! and the best few are then known without sorting.
//!
//! **Cost.** T × (K + 4M + 4D + 10) bytes.

use heapless::Vec;

use crate::kernel::{Hyper, Point};
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
pub(crate) struct Observations<const K: usize, const M: usize, const D: usize, const T: usize> {
    combinations: Vec<Combination<K>, T>,
    costs: Vec<f32, T>,
    repeats: Vec<u16, T>,
    order: Vec<u16, T>,
    z: Matrix<T, M>,
    x: Matrix<T, D>,
}

impl<const K: usize, const M: usize, const D: usize, const T: usize> Observations<K, M, D, T> {
    pub(crate) const fn new() -> Self {
        Self {
            combinations: Vec::new(),
            costs: Vec::new(),
            repeats: Vec::new(),
            order: Vec::new(),
            z: Matrix::new(),
            x: Matrix::new(),
        }
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

    /// Where the kernel sees observation i; `projected` unless the map is the identity.
    pub(crate) fn point(&self, i: usize, projected: bool) -> Point<'_> {
        let z = self.z.row(i);
        Point { x: if projected { self.x.row(i) } else { z }, z }
    }

    /// The prior covariance of observations i and j, noise included where they are the same; a mean of n measurements has an nth of it.
    pub(crate) fn covariance(&self, hyper: &Hyper, i: usize, j: usize, projected: bool) -> f32 {
        let covariance = hyper.covariance(self.point(i, projected), self.point(j, projected));
        if i == j { covariance + hyper.noise / self.repeats(i) } else { covariance }
    }

    /// Takes in a combination not seen before. False, and nothing changed, if there is no room.
    pub(crate) fn push(&mut self, c: &Combination<K>, cost: f32, z: &[f32; M], x: &[f32; D]) -> bool {
        if self.is_full() {
            return false;
        }
        let i = self.len();
        self.z.row_mut(i).iter_mut().zip(z).for_each(|(own, z)| *own = *z);
        self.x.row_mut(i).iter_mut().zip(x).for_each(|(own, x)| *own = *x);
        let pushed =
            self.combinations.push(*c).is_ok() && self.costs.push(cost).is_ok() && self.repeats.push(1).is_ok();
        self.insert_by_cost(i, cost);
        pushed
    }

    /// Averages another measurement of observation i into its cost.
    pub(crate) fn repeat(&mut self, i: usize, cost: f32) {
        let (Some(mean), Some(repeats)) = (self.costs.get_mut(i), self.repeats.get_mut(i)) else { return };
        *repeats = repeats.saturating_add(1);
        // Divided first: the difference of two finite costs may not be finite.
        let n = f32::from(*repeats);
        *mean += cost / n - *mean / n;
        let mean = *mean;
        self.order.retain(|own| usize::from(*own) != i);
        self.insert_by_cost(i, mean);
    }

    fn insert_by_cost(&mut self, i: usize, cost: f32) {
        let before = |own: &u16| self.costs.get(usize::from(*own)).is_some_and(|own| *own <= cost);
        let rank = self.order.iter().take_while(|own| before(own)).count();
        // There is room: the order never holds more than the costs do.
        let _ = self.order.insert(rank, i as u16);
    }
}
