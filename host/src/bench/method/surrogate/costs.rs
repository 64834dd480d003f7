//! Turns measured costs into the process's inputs: winsorised, then mean 0 and deviation 1.
//!
//! y = (min(cost, cap) − mean)/deviation, cap = median + 3·(median − smallest).
//!
//! **Choices**
//! - As core does for trimtab, so that no rival loses because of one huge cost, such as that of the
//!   empty seesaw.
//! - Where half of all costs equal the smallest, nothing is cut. Equal costs become zeros.

/// Largest distance above the median, in distances from the smallest cost to the median.
const REACH: f64 = 3.0;

/// Standardised costs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Standard {
    /// In the order of the costs.
    pub(crate) y: Vec<f64>,
    /// The smallest of them; 0 if there are none.
    pub(crate) best: f64,
}

impl Standard {
    pub(crate) fn of(costs: &[f64]) -> Self {
        let mut sorted = costs.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (Some(smallest), Some(median)) = (sorted.first(), sorted.get(sorted.len() / 2)) else {
            return Self { y: Vec::new(), best: 0.0 };
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
        Self { y: cut.iter().map(|cost| (cost - mean) / unit).collect(), best: (smallest - mean) / unit }
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
        assert_eq!(Standard::of(&[7.0; 3]), Standard { y: vec![0.0; 3], best: 0.0 });
        assert!(Standard::of(&[]).y.is_empty());
        // Ties with the smallest cost do not cut the rest.
        let ties = Standard::of(&[0.0, 0.0, 0.0, 1.0]);
        assert!(ties.y[3] > ties.y[0] && ties.best == ties.y[0]);
    }
}
