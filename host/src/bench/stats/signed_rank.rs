//! Wilcoxon's signed-rank test of paired costs (Wilcoxon 1945).
//!
//! | name | meaning |
//! |---|---|
//! | d | paired differences: the same problem, mask and seed, two methods |
//! | W⁺ | sum of the ranks of \|d\| over the pairs with d > 0 |
//!
//! **Choices**
//! - Both directions are tested, exact for any n and with ties. A t-test would let one seed with a cost of 1e5
//!   decide.
//! - Level pairs carry no information and are left out, as in the original.
//!
//! **Cost.** The exact distribution takes n additions for each of n(n + 1) possible sums.

use super::is_level;

/// The probability that chance alone makes two equal methods look at least this different: twice
/// the smaller of the two one-sided ones.
pub(crate) fn chance_of_equality(pairs: &[(f64, f64)]) -> f64 {
    let turned: Vec<(f64, f64)> = pairs.iter().map(|(own, other)| (*other, *own)).collect();
    (2.0 * chance_of_being_worse(pairs).min(chance_of_being_worse(&turned))).min(1.0)
}

/// The probability that chance alone makes the first of each pair look at least this much worse;
/// small means that it is worse.
///
/// Wilcoxon's signed-rank test of pairs (own cost, the other's cost), one-sided and exact: P(W⁺ ≥
/// w) if every sign were a fair coin.
fn chance_of_being_worse(pairs: &[(f64, f64)]) -> f64 {
    let mut differences: Vec<f64> =
        pairs.iter().filter(|(own, other)| !is_level(*own, *other)).map(|(own, other)| own - other).collect();
    differences.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    // Twice the rank of each, so that the shared rank of a tie is an integer: places i to j − 1
    // share (i + 1 + j)/2.
    let mut doubled = Vec::with_capacity(differences.len());
    for group in differences.chunk_by(|a, b| is_level(a.abs(), b.abs())) {
        let (start, end) = (doubled.len(), doubled.len() + group.len());
        doubled.extend(std::iter::repeat_n(start + 1 + end, group.len()));
    }
    let seen: usize = doubled.iter().zip(&differences).filter(|(_, d)| **d > 0.0).map(|(rank, _)| rank).sum();
    // The probability of every sum of ranks, one coin after the other.
    let mut chances = vec![0.0; doubled.iter().sum::<usize>() + 1];
    chances[0] = 1.0;
    let mut most = 0;
    for rank in doubled {
        most += rank;
        for sum in (0..=most).rev() {
            let with = if sum >= rank { chances[sum - rank] } else { 0.0 };
            chances[sum] = (chances[sum] + with) / 2.0;
        }
    }
    chances[seen..].iter().sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_ranks_by_hand() {
        let worse_by = |d: &[f64]| chance_of_being_worse(&d.iter().map(|d| (*d, 0.0)).collect::<Vec<_>>());
        // All five worse: one of 32 patterns of signs.
        assert_eq!(worse_by(&[1.0, 2.0, 3.0, 4.0, 5.0]), 1.0 / 32.0);
        assert_eq!(worse_by(&[-1.0, -2.0, -3.0, -4.0, -5.0]), 1.0);
        // Only the smallest is better: W⁺ = 14 of 15; sums of at least 14 are 15 and 14, two
        // patterns.
        assert_eq!(worse_by(&[-1.0, 2.0, 3.0, 4.0, 5.0]), 2.0 / 32.0);
        // Ties |d| = 1, 1 share rank 1.5, |d| = 2 has 3. W⁺ = 4.5; patterns: 6, 4.5 twice, of 8.
        assert_eq!(worse_by(&[1.0, -1.0, 2.0]), 3.0 / 8.0);
        // Level pairs are left out; with none left the test says nothing.
        assert_eq!(worse_by(&[0.0, 1e-12, 1.0]), 0.5);
        assert_eq!(worse_by(&[]), 1.0);
        // Wilcoxon's table: n = 10, W⁻ ≤ 10 has one-sided p = 0.0420.
        let ten = [-1.0, -2.0, -3.0, -4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];
        assert!((worse_by(&ten) - 0.041_992_187_5).abs() < 1e-12);
        // One seed of 1e5 does not decide.
        assert_eq!(worse_by(&[1e5, -1.0, -2.0, -3.0]), worse_by(&[4.0, -1.0, -2.0, -3.0]));
    }

    #[test]
    fn both_directions_by_hand() {
        let of = |d: &[f64]| chance_of_equality(&d.iter().map(|d| (*d, 0.0)).collect::<Vec<_>>());
        // All five on one side: two of 32 patterns of signs.
        assert_eq!((of(&[1.0, 2.0, 3.0, 4.0, 5.0]), of(&[-1.0, -2.0, -3.0, -4.0, -5.0])), (2.0 / 32.0, 2.0 / 32.0));
        assert_eq!((of(&[1.0, -1.0]), of(&[])), (1.0, 1.0));
        // A run without a success is the worst, and two of them are level.
        let inf = f64::INFINITY;
        let pairs = [(inf, 0.0), (1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0), (inf, inf)];
        assert_eq!(chance_of_equality(&pairs), 2.0 / 32.0);
    }
}
