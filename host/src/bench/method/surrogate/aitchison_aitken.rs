//! The kernel of Aitchison and Aitken (1976) over unordered variables, as a correlation.
//!
//! Over one variable with q levels the kernel is 1 − h for equal levels and h/(q − 1) for others;
//! over several it is their product. Divided by its value for equal combinations
//!
//! k = Π ρⱼ^[cⱼ ≠ c′ⱼ] = exp(−Σ aⱼ·[cⱼ ≠ c′ⱼ]), ρ = h/((q − 1)(1 − h)) = exp(−a).
//!
//! | name | meaning |
//! |---|---|
//! | h | smoothing, 0 (all levels unrelated) to (q − 1)/q (all alike) |
//! | aⱼ | the price of a difference in variable j: one for all, or one each; θ holds their logarithms |
//!
//! **Choices**
//! - a instead of h: it ranges from 0 to ∞ for any q, so variables with different q can share one
//!   value.
//!
//! **Cost.** Per pair, one exponential and one operation per variable.

use super::fit::{Kernel, Range};
use crate::bench::method::linalg::Triangle;
use trimtab::Level;

/// The kernel over the given combinations of variables.
pub(crate) struct AitchisonAitken<'a> {
    places: &'a [Vec<Level>],
    ranges: Vec<Range>,
}

impl<'a> AitchisonAitken<'a> {
    /// Takes one range of a logarithm per aⱼ: one, or one per variable.
    pub(crate) fn new(places: &'a [Vec<Level>], ranges: Vec<Range>) -> Self {
        Self { places, ranges }
    }

    /// The prices aⱼ: one for all, or one per variable.
    pub(crate) fn prices(&self, theta: &[f64]) -> Vec<f64> {
        theta[..self.ranges.len()].iter().map(|log| libm::exp(*log)).collect()
    }

    /// Writes the covariances of a combination with the kernel's combinations.
    pub(crate) fn covariances_into(&self, prices: &[f64], place: &[Level], k: &mut Vec<f64>) {
        k.clear();
        k.extend(self.places.iter().map(|other| libm::exp(-distance(prices, place, other))));
    }
}

/// Σ aⱼ·[cⱼ ≠ c′ⱼ], with one a for all or one each.
fn distance(prices: &[f64], a: &[Level], b: &[Level]) -> f64 {
    if let [price] = prices {
        return price * a.iter().zip(b).map(|(a, b)| u32::from(a != b)).sum::<u32>() as f64;
    }
    // A product instead of a branch, because the branch is unpredictable.
    prices.iter().zip(a.iter().zip(b)).map(|(price, (a, b))| price * f64::from(u8::from(a != b))).sum()
}

impl Kernel for AitchisonAitken<'_> {
    fn ranges(&self) -> Vec<Range> {
        self.ranges.clone()
    }

    fn gram(&self, theta: &[f64]) -> Triangle {
        let prices = self.prices(theta);
        Triangle::from_fn(self.places.len(), |i, j| {
            if i == j { 1.0 } else { libm::exp(-distance(&prices, &self.places[i], &self.places[j])) }
        })
    }

    fn add_gradient(&self, theta: &[f64], slopes: &Triangle, gradient: &mut [f64]) {
        let prices = self.prices(theta);
        for (i, a) in self.places.iter().enumerate() {
            for (b, slope) in self.places[..i].iter().zip(slopes.row(i)) {
                // ∂k/∂ln aⱼ = −aⱼ·[cⱼ ≠ c′ⱼ]·k.
                let far = distance(&prices, a, b);
                let own = slope * libm::exp(-far);
                if prices.len() == 1 {
                    gradient[0] -= own * far;
                    continue;
                }
                for ((gradient, price), (a, b)) in gradient.iter_mut().zip(&prices).zip(a.iter().zip(b)) {
                    *gradient -= own * price * f64::from(u8::from(a != b));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::method::linalg::dot;

    #[test]
    fn the_textbook_kernel_up_to_a_factor() {
        // q = 3 and q = 2, h = 0.3 and 0.2: ρ = 0.3/(2·0.7), 0.2/0.8.
        let (three, two): (f64, f64) = (0.3 / 1.4, 0.25);
        let range = Range { low: -9.0, high: 9.0, typical: 0.0, spread: f64::INFINITY };
        let places = [vec![0, 0], vec![2, 0], vec![2, 1]];
        let kernel = AitchisonAitken::new(&places, vec![range; 2]);
        let gram = kernel.gram(&[(-three.ln()).ln(), (-two.ln()).ln()]);
        let expected = [1.0, three, 1.0, three * two, two, 1.0];
        assert!(gram.entries().iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn gradients_are_differences() {
        let range = Range { low: -9.0, high: 9.0, typical: 0.0, spread: f64::INFINITY };
        let places = [vec![0, 0, 1], vec![2, 0, 1], vec![2, 1, 0]];
        let slopes = Triangle::from_fn(3, |i, j| 1.0 + i as f64 - 2.0 * j as f64);
        for theta in [&[-1.0][..], &[-1.0, 0.3, -0.2]] {
            let kernel = AitchisonAitken::new(&places, vec![range; theta.len()]);
            let mut gradient = vec![0.0; theta.len()];
            kernel.add_gradient(theta, &slopes, &mut gradient);
            for j in 0..theta.len() {
                let moved = |step: f64| {
                    let mut theta = theta.to_vec();
                    theta[j] += step;
                    dot(slopes.entries(), kernel.gram(&theta).entries())
                };
                assert!(((moved(1e-6) - moved(-1e-6)) / 2e-6 - gradient[j]).abs() < 1e-8);
            }
            let mut k = Vec::new();
            kernel.covariances_into(&kernel.prices(theta), &places[2], &mut k);
            assert_eq!(k, kernel.gram(theta).row(2));
        }
    }
}
