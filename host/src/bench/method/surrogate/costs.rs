//! Turns measured costs into the process's inputs: winsorised, then mean 0 and deviation 1.
//!
//! y = (min(cost, cap) − mean)/deviation, cap = median + 3·(median − smallest).
//!
//! **Choices**
//! - As core does for trimtab, so that no rival loses because of one huge cost, such as that of the
//!   empty seesaw.
//! - Where half of all costs equal the smallest, nothing is cut. Equal costs become zeros.

use trimtab::Level;

use super::Posterior;
use crate::bench::method::Recommendation;

/// Largest distance above the median, in distances from the smallest cost to the median.
const REACH: f64 = 3.0;

/// Standardised costs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Standard {
    /// In the order of the costs.
    pub(crate) y: Vec<f64>,
    /// The smallest of them; 0 if there are none.
    pub(crate) best: f64,
    /// What was subtracted, and what it was divided by; infinite for equal costs.
    mean: f64,
    unit: f64,
}

impl Standard {
    pub(crate) fn of(costs: &[f64]) -> Self {
        let mut sorted = costs.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (Some(smallest), Some(median)) = (sorted.first(), sorted.get(sorted.len() / 2)) else {
            return Self { y: Vec::new(), best: 0.0, mean: 0.0, unit: f64::INFINITY };
        };
        let reach = REACH * (median - smallest);
        let cap = if reach > 0.0 { median + reach } else { f64::INFINITY };
        let cut: Vec<f64> = costs.iter().map(|cost| cost.min(cap)).collect();
        let n = cut.len() as f64;
        let mean = cut.iter().sum::<f64>() / n;
        let deviation = (cut.iter().map(|cost| (cost - mean) * (cost - mean)).sum::<f64>() / n).sqrt();
        // Smaller differences are rounding errors.
        let least = 1e-14 * cut.iter().fold(0.0, |most: f64, cost| most.max(cost.abs()));
        let unit = if deviation > least { deviation } else { f64::INFINITY };
        Self { y: cut.iter().map(|cost| (cost - mean) / unit).collect(), best: (smallest - mean) / unit, mean, unit }
    }

    /// The combination with the lowest posterior mean, and that belief in the units of the costs.
    /// Returns `None` while all costs are equal.
    pub(crate) fn recommend<'a>(
        &self,
        believed: impl Iterator<Item = (&'a Vec<Level>, Posterior)>,
    ) -> Option<Recommendation> {
        let (levels, best) = believed.min_by(|a, b| a.1.mean.total_cmp(&b.1.mean))?;
        let belief = (self.mean + self.unit * best.mean, self.unit * best.variance.sqrt());
        self.unit.is_finite().then(|| Recommendation { levels: levels.clone(), belief: Some(belief) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_worked_costs() {
        // The median is the upper one, 3, and the cap 3 + 3·2 = 9; then the mean is 3.75 and the
        // variance (7.5625 + 0.5625 + 27.5625 + 3.0625)/4 = 9.6875.
        let standard = Standard::of(&[1.0, 3.0, 1e5, 2.0]);
        let expected = [-2.75, -0.75, 5.25, -1.75].map(|offset: f64| offset / 9.6875f64.sqrt());
        assert!(standard.y.iter().zip(expected).all(|(y, e)| (y - e).abs() < 1e-15));
        assert_eq!(standard.best, standard.y[0]);
        let equal = Standard::of(&[7.0; 3]);
        assert_eq!((&equal.y[..], equal.best), (&[0.0; 3][..], 0.0));
        assert!(Standard::of(&[]).y.is_empty());
        // Beliefs go back to the units of costs: 3.75 − 1·√9.6875, ±½·√9.6875.
        let of = |mean, variance| Posterior { mean, variance };
        let levels = [vec![0], vec![1]];
        let found = standard.recommend(levels.iter().zip([of(0.5, 1.0), of(-1.0, 0.25)])).unwrap();
        let (mean, sd) = found.belief.unwrap();
        assert!((mean - (3.75 - 9.6875f64.sqrt())).abs() < 1e-12 && (sd - 0.5 * 9.6875f64.sqrt()).abs() < 1e-12);
        assert_eq!(found.levels, [1]);
        assert_eq!(equal.recommend(levels.iter().zip([of(0.0, 1.0)])), None);
        // Ties with the smallest cost do not cut the rest.
        let ties = Standard::of(&[0.0, 0.0, 0.0, 1.0]);
        assert!(ties.y[3] > ties.y[0] && ties.best == ties.y[0]);
    }
}
