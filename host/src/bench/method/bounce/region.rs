//! The trust region: a Hamming radius that reaches 1 when its budget is spent without success.
//!
//! L ← L·f after a failure, L/f after a success, f = (1/L)^(1/left), at most the number of bins.

/// Improvements below this share of the best cost are failures.
const LEAST_GAIN: f64 = 1e-3;
/// The first radius.
const FIRST: usize = 40;
/// A radius this close to 1 is the end.
const CLOSE: f64 = 1e-4;

#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    length: f64,
    most: f64,
    /// Measurements that are left for it.
    left: usize,
}

impl Region {
    pub(super) fn new(bins: usize, budget: usize) -> Self {
        let most = bins.max(1) as f64;
        Self { length: most.min(FIRST as f64), most, left: budget }
    }

    /// The most bins that may differ from the best combination.
    pub(super) fn radius(&self) -> usize {
        (self.length as usize).max(1)
    }

    /// Learns from a cost, given the best before and the measurements left in all.
    pub(super) fn judge(&mut self, cost: f64, best: f64, remaining: usize) {
        let factor = libm::pow(1.0 / self.length, 1.0 / self.left.min(remaining).max(1) as f64);
        let is_better = cost < best - LEAST_GAIN * best.abs();
        self.length = if is_better { (self.length / factor).min(self.most) } else { self.length * factor };
        self.left = self.left.saturating_sub(1);
    }

    pub(super) fn is_over(&self) -> bool {
        self.length <= 1.0 + CLOSE
    }
}

/// The numbers of bins and the measurements for each, from the first subspace to the whole space.
///
/// mᵢ = b·m·dᵢ/(d₀·((b + 1)^(s + 1) − 1)), at most 2^dᵢ, for dᵢ = d₀·(b + 1)ⁱ below the number of
/// knobs; b + 1 parts per split is chosen so that s splits end near the number of knobs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// b + 1.
    pub(super) parts: usize,
    /// Measurements per subspace before the last.
    pub(super) budgets: Vec<usize>,
}

impl Plan {
    pub(super) fn new(knobs: usize, first: usize, budget: usize) -> Self {
        if knobs <= first {
            return Self { parts: 2, budgets: Vec::new() };
        }
        let splits = |parts: usize| {
            let growth = knobs as f64 / first as f64;
            libm::ceil(libm::log(growth) / libm::log(parts as f64) - 1e-9) as u32
        };
        // The authors count the splits for b = 2 first and then choose b for that number.
        let (wanted, most) = (splits(3), (knobs.ilog2() as usize).max(2));
        let parts = (2..=most).min_by_key(|parts| (first * parts.pow(wanted)).abs_diff(knobs)).unwrap_or(2);
        let count = splits(parts);
        let whole = (parts.pow(count + 1) - 1) as f64;
        let budget_of = |i: u32| {
            let share = (parts - 1) as f64 * budget as f64 * parts.pow(i) as f64 / whole;
            let bins = (first * parts.pow(i)).min(30) as u32;
            (libm::round(share) as usize).clamp(1, 1 << bins)
        };
        Self { parts, budgets: (0..count).map(budget_of).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_by_hand() {
        // 24 knobs: ⌈ln 4.8/ln 3⌉ = 2 splits; 5·2² = 20 is nearest to 24, so b = 1 and then
        // ⌈log₂ 4.8⌉ = 3 splits: 45/15 = 3, 6 and 12 measurements in 5, 10 and 20 bins.
        assert_eq!(Plan::new(24, 5, 45), Plan { parts: 2, budgets: vec![3, 6, 12] });
        // 60 knobs: 3 splits, 5·2³ = 40 against 5·3³ = 135.
        assert_eq!(Plan::new(60, 5, 95).parts, 2);
        assert!(Plan::new(4, 5, 95).budgets.is_empty());
    }

    #[test]
    fn shrinks_to_the_end_within_its_budget_and_grows_by_success() {
        let mut region = Region::new(10, 6);
        assert_eq!(region.radius(), 10);
        (0..5).for_each(|_| region.judge(1.0, 1.0, 100));
        assert!(!region.is_over());
        region.judge(0.9995, 1.0, 100);
        assert!(region.is_over());
        let mut region = Region::new(50, 10);
        assert_eq!(region.radius(), 40);
        region.judge(0.9, 1.0, 100);
        assert_eq!(region.radius(), 50);
    }
}
