//! The observations: combinations with their outcomes and their stored coordinates.
//!
//! The paper's C_t and y_t (section 3).
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | combinations, costs, repeats | the combination, its mean cost, its number of measurements; 0 repeats mark a failure | up to T |
//! | x | stored coordinates per combination, see [`geometry`](crate::surrogate::geometry) | T × D |
//! | order | indices of the measured observations, from the smallest cost to the largest | up to T |
//!
//! **Choices**
//! - A combination that is measured again is averaged in place, so each appears once.
//! - If a combination both failed and was measured, the last outcome counts.
//! - Insertion keeps the order by cost, so best, median and the best few need no sorting.
//! - Fantasies may follow the observations: pending combinations, with coordinates but without an
//!   outcome.
//!
//! **Cost.** T × (2K + 4D + 14) bytes, whatever the levels of a knob; the kernel's rows take T/2 numbers
//! more per observation.

use heapless::Vec;

use crate::math::float::sqrt;
use crate::math::list;
use crate::math::matrix::Matrix;
use crate::space::Combination;
use crate::surrogate::noise::Seen;

/// A combination with its outcome: the mean of its measured values, or a failure.
///
/// ```
/// # use trimtab::{Config, Knob, Space};
/// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
/// # let mut tuner = Two::new();
/// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
/// let c = tuner.ask()?.combination;
/// [1.0, 3.0].into_iter().try_for_each(|value| tuner.tell(&c, value))?;
/// let mean = trimtab::Observation { combination: c, value: 2.0, repeats: 2 };
/// assert_eq!(tuner.best_observed(), Some(mean));
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Observation<const K: usize> {
    /// The combination.
    pub combination: Combination<K>,
    /// The mean of its measured values, in the user's units and sign; NaN if it failed.
    pub value: f32,
    /// Number of measurements; 0 if it failed.
    pub repeats: u16,
}

impl<const K: usize> Observation<K> {
    /// Whether the last outcome was a failure.
    pub fn is_failure(&self) -> bool {
        self.repeats == 0
    }
}

/// Half of a relative difference that is rounding, not noise.
const SAME: f32 = 5e-7;

/// √(a² + b²) without overflow.
fn hypotenuse(a: f32, b: f32) -> f32 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    let ratio = if large > 0.0 { small / large } else { 0.0 };
    large * sqrt(1.0 + ratio * ratio)
}

/// A combination with its stored coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point<'a, const K: usize, const D: usize> {
    pub(crate) combination: &'a Combination<K>,
    pub(crate) x: &'a [f32; D],
}

/// At most T observations.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Observations<const K: usize, const D: usize, const T: usize> {
    /// Number of measurements beyond the first of each combination, and the root of the sum of
    /// their squared deviations. Forgetting an observation keeps what it taught about the noise.
    again: u32,
    spread: f32,
    costs: Vec<f32, T>,
    repeats: Vec<u16, T>,
    order: Vec<u16, T>,
    combinations: Vec<Combination<K>, T>,
    x: Matrix<T, D>,
}

impl<const K: usize, const D: usize, const T: usize> Observations<K, D, T> {
    pub(crate) const fn new() -> Self {
        Self {
            combinations: Vec::new(),
            costs: Vec::new(),
            repeats: Vec::new(),
            order: Vec::new(),
            x: Matrix::new(),
            again: 0,
            spread: 0.0,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.combinations.clear();
        self.costs.clear();
        self.repeats.clear();
        self.order.clear();
        (self.again, self.spread) = (0, 0.0);
    }

    /// Number of combinations with an outcome.
    pub(crate) fn len(&self) -> usize {
        self.costs.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.costs.is_full()
    }

    /// Number of combinations with a cost, without failures.
    pub(crate) fn measured(&self) -> usize {
        self.order.len()
    }

    /// The position of this observation.
    pub(crate) fn find(&self, c: &Combination<K>) -> Option<usize> {
        self.combinations.iter().take(self.len()).position(|own| own == c)
    }

    /// Whether this combination is observed.
    #[inline(never)]
    pub(crate) fn has(&self, c: &Combination<K>) -> bool {
        let lows = c.lows();
        self.combinations.iter().take(self.len()).any(|own| own.lows() == lows && own == c)
    }

    /// Observation i, with its cost as value.
    pub(crate) fn get(&self, i: usize) -> Option<Observation<K>> {
        Some(Observation {
            combination: *self.combinations.get(i)?,
            value: *self.costs.get(i)?,
            repeats: *self.repeats.get(i)?,
        })
    }

    /// The combination of observation i.
    pub(crate) fn combination(&self, i: usize) -> Option<&Combination<K>> {
        self.combinations.get(i).filter(|_| i < self.len())
    }

    /// The mean cost of observation i; `None` for a failure.
    #[inline(never)]
    pub(crate) fn cost(&self, i: usize) -> Option<f32> {
        self.costs.get(i).copied().filter(|_| !self.is_failure(i))
    }

    /// Whether observation i is a failure.
    pub(crate) fn is_failure(&self, i: usize) -> bool {
        self.repeats.get(i) == Some(&0)
    }

    /// The costs of all observations, `None` for a failure.
    pub(crate) fn costs(&self) -> impl Iterator<Item = Option<f32>> + Clone {
        (0..self.len()).map(|i| self.cost(i))
    }

    /// Number of measurements of observation i, at least 1.
    pub(crate) fn repeats(&self, i: usize) -> f32 {
        f32::from(self.repeats.get(i).copied().unwrap_or(1).max(1))
    }

    /// The cost of the measured observation of this rank, 0 the best; of equal costs the first told.
    pub(crate) fn ranked(&self, rank: usize) -> Option<f32> {
        self.order.get(rank).and_then(|i| self.cost(usize::from(*i)))
    }

    /// The positions of the measured observations, from the smallest cost to the largest.
    pub(crate) fn by_cost(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.order.iter().map(|i| usize::from(*i))
    }

    /// The combinations of all points, fantasies last.
    pub(crate) fn combinations(&self) -> &[Combination<K>] {
        &self.combinations
    }

    /// All points, fantasies last.
    pub(crate) fn points(&self) -> impl Iterator<Item = Point<'_, K, D>> + Clone {
        self.points_from(0)
    }

    /// Points i and after.
    pub(crate) fn points_from(&self, i: usize) -> impl Iterator<Item = Point<'_, K, D>> + Clone {
        let combinations = self.combinations.get(i..).unwrap_or_default();
        combinations.iter().zip(self.x.rows_from(i)).map(|(combination, x)| Point { combination, x })
    }

    /// Adds a new combination with its cost, or `None` for a failure. Returns false and changes
    /// nothing if there is no room.
    pub(crate) fn push(&mut self, c: &Combination<K>, cost: Option<f32>, x: &[f32; D]) -> bool {
        if self.is_full() || !self.push_fantasy(c, x) {
            return false;
        }
        let (value, repeats) = cost.map_or((f32::NAN, 0), |cost| (cost, 1));
        let pushed = self.costs.push(value).is_ok() && self.repeats.push(repeats).is_ok();
        if cost.is_some() {
            self.rank(self.len() - 1);
        }
        pushed
    }

    /// Adds a point without an outcome after all observations. Returns false if there is no room.
    pub(crate) fn push_fantasy(&mut self, c: &Combination<K>, x: &[f32; D]) -> bool {
        let i = self.combinations.len();
        if self.combinations.push(*c).is_err() {
            return false;
        }
        self.x.row_mut(i).iter_mut().zip(x).for_each(|(own, x)| *own = *x);
        true
    }

    /// Removes the points without an outcome.
    pub(crate) fn remove_fantasies(&mut self) {
        self.combinations.truncate(self.costs.len());
    }

    /// Averages another measurement of observation i into its cost, or replaces its failure.
    pub(crate) fn repeat(&mut self, i: usize, cost: f32) {
        self.unrank(i);
        let (Some(mean), Some(repeats)) = (self.costs.get_mut(i), self.repeats.get_mut(i)) else { return };
        let first = *repeats == 0;
        if first {
            *mean = 0.0;
        }
        *repeats = repeats.saturating_add(1);
        let n = f32::from(*repeats);
        if !first {
            self.again = self.again.saturating_add(1);
            let difference = (cost * 0.5 - *mean * 0.5).abs();
            if difference > SAME * cost.abs().max(mean.abs()) {
                // Of half the difference, so that nothing overflows.
                self.spread = hypotenuse(self.spread, difference * 2.0 * sqrt((n - 1.0) / n)).min(f32::MAX);
            }
        }
        // Divides first: the difference of two finite costs may be infinite.
        *mean += cost / n - *mean / n;
        self.rank(i);
    }

    /// What repeated measurements have shown, their number, and the root of the sum of their squared
    /// deviations from the means of their combinations.
    pub(crate) fn repeated(&self) -> (Seen, f32, f32) {
        let seen = match (self.again, self.spread) {
            (0, _) => Seen::Nothing,
            (_, 0.0) => Seen::Equal,
            _ => Seen::Different,
        };
        (seen, self.again as f32, self.spread)
    }

    /// Turns observation i into a failure.
    pub(crate) fn fail(&mut self, i: usize) {
        self.unrank(i);
        if let (Some(cost), Some(repeats)) = (self.costs.get_mut(i), self.repeats.get_mut(i)) {
            (*cost, *repeats) = (f32::NAN, 0);
        }
    }

    /// Removes observation i; those after it move up.
    pub(crate) fn remove(&mut self, i: usize) {
        if i >= self.len() {
            return;
        }
        self.unrank(i);
        self.order.iter_mut().filter(|own| usize::from(**own) > i).for_each(|own| *own -= 1);
        list::remove(&mut self.combinations, i);
        list::remove(&mut self.costs, i);
        list::remove(&mut self.repeats, i);
        self.x.remove_row(i);
    }

    /// The position of the worst observation: the oldest failure, or else the largest cost.
    pub(crate) fn worst(&self) -> usize {
        let failure = self.repeats.iter().position(|repeats| *repeats == 0);
        failure.or_else(|| self.order.last().map(|i| usize::from(*i))).unwrap_or(0)
    }

    /// Takes observation i out of the order.
    fn unrank(&mut self, i: usize) {
        if let Some(rank) = self.order.iter().position(|own| usize::from(*own) == i) {
            list::remove(&mut self.order, rank);
        }
    }

    /// Inserts observation i into the order by its cost.
    fn rank(&mut self, i: usize) {
        let cost = |own: usize| self.costs.get(own).copied().unwrap_or(f32::INFINITY);
        let costs_more = |own: &u16| (cost(usize::from(*own)), usize::from(*own)) > (cost(i), i);
        let rank = self.order.iter().take_while(|own| !costs_more(own)).count();
        // There is room: the order is never longer than the costs.
        list::insert(&mut self.order, rank, i as u16);
    }
}
