//! From measured costs to the costs that the surrogate sees: winsorised, then mean 0 and deviation
//! 1.
//!
//! y = (min(cost, cap) − mean) / deviation, with cap = median + 3·(median − smallest).
//!
//! **Choices**
//! - The paper normalises nothing. But one huge cost (an empty seesaw is 1e5, a relay setting that
//!   reflects everything) must not flatten the differences that matter, so costs far on the *bad*
//!   side are cut. The good side is never touched.
//! - If half of all costs equal the smallest, the median says nothing about the spread, and nothing
//!   is cut.
//! - Equal costs standardise to zero.
//! - Costs that are not standardised are clamped to ±1e15: beyond that, their squares in the
//!   surrogate would not be finite.
//!
//! **Cost.** Some 10 operations per observation. The caller keeps the costs in order, so it knows
//! smallest and median.

use crate::math::float::{inverse_power_of_two, sqrt};

/// How far above the median a cost may lie, in distances from the smallest cost to the median.
const REACH: f32 = 3.0;

/// The map from costs to standardised costs, for one set of costs.
///
/// ```
/// use trimtab::internals::Standard;
/// // Mean 4, deviation 2.
/// let standard = Standard::of([2.0, 6.0].into_iter(), 2.0, 6.0);
/// assert_eq!([2.0, 4.0, 6.0].map(|cost| standard.apply(cost)), [-1.0, 0.0, 1.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standard {
    cap: f32,
    /// A power of two that scales the largest cost to about 1, so that no square overflows or
    /// vanishes.
    unit: f32,
    /// In units.
    mean: f32,
    /// In units.
    deviation: f32,
}

impl Standard {
    pub(crate) const ZERO: Self = Self { cap: 0.0, unit: 0.0, mean: 0.0, deviation: 0.0 };

    /// Changes nothing up to ±1e15.
    pub const NONE: Self = Self { cap: f32::INFINITY, unit: 1.0, mean: 0.0, deviation: 1.0 };

    /// A given map, in the user's units.
    pub(crate) fn fixed(cap: f32, mean: f32, deviation: f32) -> Self {
        Self { cap, unit: 1.0, mean, deviation }
    }

    /// The map for these costs, given their smallest and their median.
    pub fn of(costs: impl Iterator<Item = f32> + Clone, smallest: f32, median: f32) -> Self {
        let reach = REACH * (median - smallest);
        let cap = if reach > 0.0 && reach.is_finite() { median + reach } else { f32::INFINITY };
        let largest = costs.clone().fold(0.0, |most: f32, cost| most.max(cost.min(cap).abs()));
        let unit = inverse_power_of_two(largest);
        let n = costs.clone().count().max(1) as f32;
        let mean = costs.clone().fold(0.0, |sum, cost| sum + cost.min(cap) * unit) / n;
        let square = costs.fold(0.0, |sum, cost| {
            let offset = cost.min(cap) * unit - mean;
            sum + offset * offset
        });
        let deviation = sqrt(square / n);
        Self { cap, unit, mean, deviation: if deviation > LEAST_DEVIATION { deviation } else { 1.0 } }
    }

    /// A cost as the surrogate sees it.
    #[inline(never)]
    pub fn apply(&self, cost: f32) -> f32 {
        ((cost.min(self.cap) * self.unit).clamp(-LARGEST, LARGEST) - self.mean) / self.deviation
    }

    /// A difference of costs as the surrogate sees it, where nothing is cut.
    pub(crate) fn apply_difference(&self, difference: f32) -> f32 {
        (difference * self.unit / self.deviation).min(LARGEST)
    }

    /// A standardised cost in the user's units.
    pub fn undo(&self, y: f32) -> f32 {
        (y * self.deviation + self.mean) / self.unit
    }

    /// Cap, mean and deviation in the user's units.
    pub(crate) fn parts(&self) -> [f32; 3] {
        [self.cap, self.undo(0.0), self.deviation()]
    }

    /// One standard deviation in the user's units.
    pub fn deviation(&self) -> f32 {
        self.deviation / self.unit
    }
}

/// The largest magnitude in units: ten thousand squares of it, divided by the smallest noise, are
/// finite.
const LARGEST: f32 = 1e15;

/// Differences this small between costs near 1 are rounding.
const LEAST_DEVIATION: f32 = 1e-7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standardised_costs_have_mean_zero_and_deviation_one() {
        let costs = [3.0, 1.0, 2.0, 2.5, 1.5];
        let s = Standard::of(costs.into_iter(), 1.0, 2.0);
        let mean: f32 = costs.iter().map(|c| s.apply(*c)).sum();
        let square: f32 = costs.iter().map(|c| s.apply(*c) * s.apply(*c)).sum();
        assert!(mean.abs() < 1e-5 && (square / 5.0 - 1.0).abs() < 1e-5);
    }

    #[test]
    fn equal_and_enormous_costs_stay_finite() {
        assert_eq!(Standard::of([7.0; 4].into_iter(), 7.0, 7.0).apply(7.0), 0.0);
        for size in [f32::MAX, 1e30, 1.0, 1e-30, f32::MIN_POSITIVE] {
            let costs = [size, -size, size];
            let s = Standard::of(costs.into_iter(), -size, size);
            assert!(
                (s.apply(size) - 0.5f32.sqrt()).abs() < 1e-5 && (s.apply(-size) + 2.0f32.sqrt()).abs() < 1e-5,
                "{size}"
            );
            assert!(s.deviation() > 0.0 && s.undo(0.0).is_finite());
        }
    }

    #[test]
    fn ties_with_the_smallest_cut_nothing() {
        let s = Standard::of([0.0, 0.0, 0.0, 1.0].into_iter(), 0.0, 0.0);
        assert!(s.apply(1.0) > s.apply(0.0));
    }

    #[test]
    fn the_cap_and_the_clamp_by_hand() {
        let s = Standard::of([1.0, 2.0, 3.0, 1e5].into_iter(), 1.0, 2.0);
        assert_eq!(s.apply(1e5), s.apply(5.0)); // 2 + 3·(2 − 1)
        assert!((s.undo(s.apply(3.0)) - 3.0).abs() < 1e-6);
        assert_eq!((Standard::NONE.apply(1e5), Standard::NONE.deviation()), (1e5, 1.0));
        assert_eq!(Standard::NONE.apply(f32::MIN), -1e15);
    }
}
