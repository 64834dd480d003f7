//! Statistics of runs: means with their errors and intervals, paired comparisons, ranks,
//! evaluations to the optimum.
//!
//! | name | meaning |
//! |---|---|
//! | n | number of values, one per seed |
//! | standard error | s/√n with s² = Σ(x − mean)²/(n − 1) |
//! | d | paired differences: the same problem, mask and seed, two methods |
//!
//! **Choices**
//! - Costs are minimised: smaller is better throughout.
//! - Two values are level if they differ by at most 1e-9 of their scale, which is the larger
//!   magnitude and at least 1: summing in another order must not count as a win.

mod bootstrap;
mod holm;
mod signed_rank;

pub(crate) use bootstrap::{Cluster, intervals, means, quotient};
pub(crate) use holm::holm;
pub(crate) use signed_rank::chance_of_equality;

/// A mean and its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) mean: f64,
    /// `None` for a single value, which says nothing about the next, and for an infinite mean.
    pub(crate) error: Option<f64>,
    pub(crate) count: usize,
}

impl Estimate {
    /// Returns `None` without values.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        if count == 0 {
            return None;
        }
        let n = count as f64;
        let mean = values.iter().sum::<f64>() / n;
        if !mean.is_finite() {
            return Some(Self { mean, error: None, count });
        }
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        let error = (count > 1).then(|| (squares / (n - 1.0) / n).sqrt());
        Some(Self { mean, error, count })
    }

    /// Mean minus and plus the standard error.
    pub(crate) fn band(&self) -> (f64, f64) {
        let error = self.error.unwrap_or(0.0);
        (self.mean - error, self.mean + error)
    }
}

/// The smallest difference between these values that counts.
fn tolerance(a: f64, b: f64) -> f64 {
    1e-9 * a.abs().max(b.abs()).max(1.0)
}

/// Whether two costs are equal up to rounding. An infinite one is level only with itself.
pub(crate) fn is_level(a: f64, b: f64) -> bool {
    a == b || ((a - b).is_finite() && (a - b).abs() <= tolerance(a, b))
}

/// The first evaluation, counted from 1, whose best so far is the optimum.
pub(crate) fn evaluations_to(optimum: f64, bests: &[f64]) -> Option<usize> {
    bests.iter().position(|best| *best <= optimum || is_level(*best, optimum)).map(|place| place + 1)
}

/// The value below which a share of the values lies, interpolated linearly. Returns `None` without
/// values.
pub(crate) fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    // Equal ends first, because the difference of two infinities is NaN.
    Some(if low == high { low } else { low + (high - low) * place.fract() })
}

/// Two methods on the same problems and seeds: how often the first is better, level and worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Score {
    pub(crate) wins: usize,
    pub(crate) ties: usize,
    pub(crate) losses: usize,
}

impl Score {
    /// Counts pairs of (own cost, the other's cost).
    pub(crate) fn of(pairs: &[(f64, f64)]) -> Self {
        let mut score = Self::default();
        for (own, other) in pairs {
            match () {
                () if is_level(*own, *other) => score.ties += 1,
                () if own < other => score.wins += 1,
                () => score.losses += 1,
            }
        }
        score
    }

    pub(crate) fn count(&self) -> usize {
        self.wins + self.ties + self.losses
    }

    /// The share of lost pairs, where a tie counts half. Returns `None` without pairs.
    pub(crate) fn loss_share(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| (self.losses as f64 + self.ties as f64 / 2.0) / count as f64)
    }
}

/// The mean rank among rivals, 1 is best: 1 + Σ over rivals of the share of pairs lost to it.
///
/// If every method has every run, this is the usual mean of ranks with shared ranks for ties. If
/// runs are missing, each rival counts by the runs that both have. Returns `None` if there is no
/// pair at all.
pub(crate) fn mean_rank(against: &[Score]) -> Option<f64> {
    let shares: Vec<f64> = against.iter().filter_map(Score::loss_share).collect();
    (!shares.is_empty()).then(|| 1.0 + shares.iter().sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_standard_error_by_hand() {
        // Mean 5, squares 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32, s² = 32/7, error √(32/7/8) = √(4/7).
        let estimate = Estimate::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((estimate.mean, estimate.count), (5.0, 8));
        assert!((estimate.error.unwrap() - (4.0f64 / 7.0).sqrt()).abs() < 1e-15);
        let (low, high) = Estimate::of(&[1.0, 3.0]).unwrap().band();
        // s² = 2, error √(2/2) = 1.
        assert_eq!((low, high), (1.0, 3.0));
        assert_eq!(Estimate::of(&[7.0]), Some(Estimate { mean: 7.0, error: None, count: 1 }));
        assert_eq!(Estimate::of(&[7.0]).unwrap().band(), (7.0, 7.0));
        assert_eq!(Estimate::of(&[]), None);
    }

    #[test]
    fn level_is_relative_to_the_scale() {
        assert!(is_level(0.0, 1e-9) && !is_level(0.0, 1.1e-9));
        assert!(is_level(1e6, 1e6 + 9e-4) && !is_level(1e6, 1e6 + 2e-3));
        assert!(is_level(-1.0, -1.0));
    }

    /// A run without a success has an infinite best.
    #[test]
    fn infinity_is_level_only_with_itself() {
        let inf = f64::INFINITY;
        assert!(!is_level(inf, -1.0) && !is_level(1e300, inf) && !is_level(inf, -inf) && is_level(inf, inf));
        assert_eq!(evaluations_to(-1.0, &[inf, inf, -1.0]), Some(3));
        assert_eq!(evaluations_to(-1.0, &[inf, inf]), None);
        assert_eq!(Score::of(&[(inf, 1.0), (1.0, inf), (inf, inf)]), Score { wins: 1, ties: 1, losses: 1 });
        assert_eq!(Estimate::of(&[1.0, inf]), Some(Estimate { mean: inf, error: None, count: 2 }));
    }

    #[test]
    fn evaluations_to_the_optimum_by_hand() {
        assert_eq!(evaluations_to(-1.0, &[3.0, 0.0, -1.0, -1.0]), Some(3));
        assert_eq!(evaluations_to(-1.0, &[3.0, -1.0 + 5e-10, -1.0]), Some(2), "within 1e-9");
        assert_eq!(evaluations_to(-1.0, &[3.0, -1.0 + 5e-9]), None);
        // 1e-9 of a thousand.
        assert_eq!(evaluations_to(1000.0, &[1000.0 + 9e-7]), Some(1));
        assert_eq!(evaluations_to(1000.0, &[1000.0 + 2e-6]), None);
        assert_eq!(evaluations_to(0.0, &[]), None);
    }

    #[test]
    fn quantiles_by_hand() {
        let values = [8.0, 1.0, 4.0, 2.0];
        assert_eq!(quantile(&values, 0.5), Some(3.0));
        assert!((quantile(&values, 0.9).unwrap() - 6.8).abs() < 1e-12);
        assert_eq!((quantile(&values, 0.0), quantile(&values, 1.0)), (Some(1.0), Some(8.0)));
        assert_eq!((quantile(&[5.0], 0.9), quantile(&[], 0.5)), (Some(5.0), None));
        let inf = f64::INFINITY;
        assert_eq!(quantile(&[1.0, inf, inf], 0.5), Some(inf));
        assert_eq!(quantile(&[1.0, 2.0, inf, inf], 0.5), Some(inf), "half unsolved");
    }

    #[test]
    fn wins_ties_and_losses_by_hand() {
        let score = Score::of(&[(1.0, 2.0), (2.0, 1.0), (3.0, 3.0), (0.0, 5.0), (1.0, 1.0 + 1e-12)]);
        assert_eq!(score, Score { wins: 2, ties: 2, losses: 1 });
        assert_eq!(score.loss_share(), Some(0.4));
        assert_eq!(Score::default().loss_share(), None);
    }

    #[test]
    fn mean_rank_is_the_mean_of_ranks() {
        // Costs of methods A, B, C on two seeds: (1, 2, 3) and (5, 5, 4). A: ranks 1 and 2.5, B: 2
        // and 2.5, C: 3 and 1.
        let runs = [[1.0, 5.0], [2.0, 5.0], [3.0, 4.0]];
        let rank = |own: usize| {
            let against = (0..3)
                .filter(|other| *other != own)
                .map(|other| Score::of(&runs[own].iter().copied().zip(runs[other]).collect::<Vec<_>>()));
            mean_rank(&against.collect::<Vec<_>>()).unwrap()
        };
        assert_eq!([rank(0), rank(1), rank(2)], [1.75, 2.25, 2.0]);
        assert_eq!(mean_rank(&[]), None);
    }
}
