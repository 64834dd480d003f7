//! Holm's correction: the chance of even one false finding among all comparisons stays below the
//! significance level (Holm 1979).
//!
//! p̃₍ᵢ₎ = max over j ≤ i of min(1, (m + 1 − j)·p₍ⱼ₎), p₍₁₎ ≤ p₍₂₎ ≤ … ≤
//! p₍ₘ₎
//!
//! **Choices**
//! - The comparisons may depend on each other, as those with one common method do. Corrections that
//!   find more need more than that.

/// The corrected chances, in the order of the given ones.
pub(crate) fn holm(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|a, b| chances[*a].total_cmp(&chances[*b]));
    let mut corrected = vec![1.0; chances.len()];
    let mut least: f64 = 0.0;
    for (before, place) in order.into_iter().enumerate() {
        least = least.max((chances.len() - before) as f64 * chances[place]).min(1.0);
        corrected[place] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // 4·0.005 = 0.02, 3·0.01 = 0.03, 2·0.03 = 0.06; 1·0.04 is raised to the 0.06 before it.
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        assert!(corrected.iter().zip([0.03, 0.06, 0.06, 0.02]).all(|(a, b): (&f64, f64)| (a - b).abs() < 1e-12));
        assert_eq!(holm(&[0.5, 0.9]), [1.0, 1.0]);
        assert_eq!((holm(&[0.02]), holm(&[])), (vec![0.02], vec![]));
    }
}
