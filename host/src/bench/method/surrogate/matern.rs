//! Matérn 5/2 over points: k = (1 + √5·r + 5r²/3)·exp(−√5·r), r² = Σ ((xⱼ − x′ⱼ)/ℓⱼ)².
//!
//! | name | meaning |
//! |---|---|
//! | ℓⱼ | length-scales: one for all dimensions, or one each (automatic relevance determination) |
//! | θ | their logarithms |
//!
//! **Cost.** m + 30 operations per pair of points in m dimensions.

use super::fit::{Kernel, Range};
use crate::bench::method::linalg::{Triangle, add_scaled};

/// Matérn 5/2 of a squared distance, in length-scales.
pub(crate) fn matern52(square: f64) -> f64 {
    let r = (5.0 * square).sqrt();
    (1.0 + r + r * r / 3.0) * libm::exp(-r)
}

/// The derivative of [`matern52`] with respect to the squared distance: −⅚·(1 + √5·r)·exp(−√5·r).
pub(crate) fn matern52_slope(square: f64) -> f64 {
    let r = (5.0 * square).sqrt();
    -5.0 / 6.0 * (1.0 + r) * libm::exp(-r)
}

/// The kernel over the given points.
pub(crate) struct Matern<'a> {
    points: &'a [Vec<f64>],
    ranges: Vec<Range>,
}

impl<'a> Matern<'a> {
    /// Takes one range of a logarithm per length-scale: one, or one per dimension.
    pub(crate) fn new(points: &'a [Vec<f64>], ranges: Vec<Range>) -> Self {
        Self { points, ranges }
    }

    /// The covariances of a point with the kernel's points.
    pub(crate) fn covariances(&self, theta: &[f64], x: &[f64]) -> Vec<f64> {
        let mut k = Vec::with_capacity(self.points.len());
        self.covariances_into(&self.inverse_squares(theta, x.len()), x, &mut k);
        k
    }

    /// The same into a buffer, given [`Self::inverse_squares`].
    pub(crate) fn covariances_into(&self, inverse: &[f64], x: &[f64], k: &mut Vec<f64>) {
        k.clear();
        k.extend(self.points.iter().map(|point| matern52(square(inverse, x, point))));
    }

    /// Adds Σ slopeᵢ·∂k(x, xᵢ)/∂x to the gradient, for slopes with respect to the covariances of x.
    pub(crate) fn add_gradient(&self, theta: &[f64], x: &[f64], slopes: &[f64], gradient: &mut [f64]) {
        let inverse = self.inverse_squares(theta, x.len());
        for (point, slope) in self.points.iter().zip(slopes) {
            let factor = 2.0 * slope * matern52_slope(square(&inverse, x, point));
            for (((gradient, x), point), inverse) in gradient.iter_mut().zip(x).zip(point).zip(&inverse) {
                *gradient += factor * (x - point) * inverse;
            }
        }
    }

    /// 1/ℓ² of every dimension.
    pub(crate) fn inverse_squares(&self, theta: &[f64], dimensions: usize) -> Vec<f64> {
        let lengths = theta[..self.ranges.len()].iter().map(|log| libm::exp(-2.0 * log));
        lengths.cycle().take(dimensions).collect()
    }
}

/// r², in lanes as in [`dot`](crate::bench::method::linalg::dot).
fn square(inverse: &[f64], a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 4;
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let (inverse, inverse_rest) = inverse.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for ((a, b), inverse) in a.iter().zip(b).zip(inverse) {
        for (lane, ((a, b), inverse)) in lanes.iter_mut().zip(a.iter().zip(b).zip(inverse)) {
            *lane += (a - b) * (a - b) * inverse;
        }
    }
    let rest = a_rest.iter().zip(b_rest).zip(inverse_rest).map(|((a, b), inverse)| (a - b) * (a - b) * inverse);
    lanes.iter().sum::<f64>() + rest.sum::<f64>()
}

impl Kernel for Matern<'_> {
    fn ranges(&self) -> Vec<Range> {
        self.ranges.clone()
    }

    fn gram(&self, theta: &[f64]) -> Triangle {
        let inverse = self.inverse_squares(theta, self.points.first().map_or(0, Vec::len));
        Triangle::from_fn(self.points.len(), |i, j| {
            if i == j { 1.0 } else { matern52(square(&inverse, &self.points[i], &self.points[j])) }
        })
    }

    fn add_gradient(&self, theta: &[f64], slopes: &Triangle, gradient: &mut [f64]) {
        let dimensions = self.points.first().map_or(0, Vec::len);
        let inverse = self.inverse_squares(theta, dimensions);
        let mut all = vec![0.0; dimensions];
        let mut terms = vec![0.0; dimensions];
        for (i, a) in self.points.iter().enumerate() {
            for (b, slope) in self.points[..i].iter().zip(slopes.row(i)) {
                let mut square = 0.0;
                for (((term, a), b), inverse) in terms.iter_mut().zip(a).zip(b).zip(&inverse) {
                    *term = (a - b) * (a - b) * inverse;
                    square += *term;
                }
                // ∂r²/∂ln ℓⱼ is −2 times its term.
                add_scaled(&mut all, -2.0 * slope * matern52_slope(square), &terms);
            }
        }
        // A single length-scale takes the sum.
        let scales = self.ranges.len();
        all.iter().enumerate().for_each(|(j, own)| gradient[j % scales] += own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_worked_distances() {
        // r = 1: √5 = 2.236068, (1 + 2.236068 + 5/3)·exp(−2.236068) = 4.902735 · 0.106878 =
        // 0.523994.
        assert!((matern52(1.0) - 0.523_994).abs() < 1e-6);
        assert_eq!((matern52(0.0), matern52(1e12)), (1.0, 0.0));
        let difference = (matern52(1.0 + 1e-6) - matern52(1.0 - 1e-6)) / 2e-6;
        assert!((matern52_slope(1.0) - difference).abs() < 1e-9);
    }

    #[test]
    fn gradients_are_differences() {
        let points = [vec![0.0, 0.2], vec![0.5, 1.0], vec![0.9, 0.1]];
        let range = Range { low: -3.0, high: 3.0, typical: 0.0, spread: f64::INFINITY };
        let slopes = Triangle::from_fn(3, |i, j| 1.0 + i as f64 - 2.0 * j as f64);
        for theta in [&[0.2][..], &[0.2, -0.5]] {
            let kernel = Matern::new(&points, vec![range; theta.len()]);
            let weighted =
                |theta: &[f64]| crate::bench::method::linalg::dot(slopes.entries(), kernel.gram(theta).entries());
            let mut gradient = vec![0.0; theta.len()];
            Kernel::add_gradient(&kernel, theta, &slopes, &mut gradient);
            for j in 0..theta.len() {
                let moved = |step: f64| {
                    let mut theta = theta.to_vec();
                    theta[j] += step;
                    weighted(&theta)
                };
                assert!(((moved(1e-6) - moved(-1e-6)) / 2e-6 - gradient[j]).abs() < 1e-8);
            }
            let (x, weights) = ([0.3, 0.4], [1.0, -2.0, 0.5]);
            let mut gradient = [0.0; 2];
            kernel.add_gradient(theta, &x, &weights, &mut gradient);
            for j in 0..2 {
                let moved = |step: f64| {
                    let mut x = x;
                    x[j] += step;
                    crate::bench::method::linalg::dot(&kernel.covariances(theta, &x), &weights)
                };
                assert!(((moved(1e-6) - moved(-1e-6)) / 2e-6 - gradient[j]).abs() < 1e-8);
            }
        }
    }
}
