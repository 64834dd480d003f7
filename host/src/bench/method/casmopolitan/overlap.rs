//! The transformed overlap kernel exp(−Σᵢ θᵢ·dᵢ) and its gradient.
//!
//! **Cost.** K·n²/2 operations and n²/2 exponentials per Gram matrix, K·n²/2 more for the gradient.

use trimtab::{Knob, Level};

use crate::bench::method::graph::Tables;
use crate::bench::method::linalg::{Triangle, dot};
use crate::bench::method::surrogate::{Kernel, Range};

/// Bounds and prior deviation of ln θᵢ, relative to ln 1/K.
const BELOW: f64 = -7.0;
const ABOVE: f64 = 4.0;
const SPREAD: f64 = 1.5;

/// The kernel over the observations.
pub(super) struct Overlap<'a> {
    knobs: &'a [Knob],
    columns: &'a [Vec<Level>],
    /// Per knob, the distances between all pairs of observations.
    distances: Vec<Triangle>,
}

/// Distance between two levels of a knob, from 0 to 1.
fn distance(knob: &Knob, a: Level, b: Level) -> f64 {
    if knob.is_graded() {
        f64::from(a.abs_diff(b)) / (knob.levels() - 1).max(1) as f64
    } else {
        f64::from(u8::from(a != b))
    }
}

impl<'a> Overlap<'a> {
    /// Takes the observations as one column per knob.
    pub(super) fn new(knobs: &'a [Knob], columns: &'a [Vec<Level>]) -> Self {
        let apart = |(knob, column): (&Knob, &Vec<Level>)| {
            Triangle::from_fn(column.len(), |i, j| distance(knob, column[i], column[j]))
        };
        Self { knobs, columns, distances: knobs.iter().zip(columns).map(apart).collect() }
    }

    /// The factors of all knobs.
    pub(super) fn tables(&self, theta: &[f64]) -> Tables {
        let mut tables = Tables::zeros(self.knobs.iter().map(Knob::levels));
        for ((table, knob), log) in tables.0.iter_mut().zip(self.knobs).zip(theta) {
            let (n, scale) = (knob.levels(), libm::exp(*log));
            for (at, entry) in table.iter_mut().enumerate() {
                *entry = libm::exp(-scale * distance(knob, (at / n) as Level, (at % n) as Level));
            }
        }
        tables
    }
}

impl Kernel for Overlap<'_> {
    fn ranges(&self) -> Vec<Range> {
        let typical = -libm::log(self.knobs.len() as f64);
        let range = Range { low: typical + BELOW, high: typical + ABOVE, typical, spread: SPREAD };
        vec![range; self.knobs.len()]
    }

    fn gram(&self, theta: &[f64]) -> Triangle {
        let mut gram = Triangle::zeros(self.columns.first().map_or(0, Vec::len));
        for (apart, log) in self.distances.iter().zip(theta) {
            crate::bench::method::linalg::add_scaled(gram.entries_mut(), -libm::exp(*log), apart.entries());
        }
        gram.entries_mut().iter_mut().for_each(|entry| *entry = libm::exp(*entry));
        gram
    }

    fn add_gradient(&self, theta: &[f64], slopes: &Triangle, gradient: &mut [f64]) {
        let mut weighted = self.gram(theta);
        weighted.entries_mut().iter_mut().zip(slopes.entries()).for_each(|(entry, slope)| *entry *= slope);
        for ((apart, log), gradient) in self.distances.iter().zip(theta).zip(gradient) {
            *gradient -= libm::exp(*log) * dot(weighted.entries(), apart.entries());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_gram_agree_and_gradients_are_differences() {
        let knobs = [Knob::nominal(2), Knob::nominal(3), Knob::ranked(5)];
        let columns = [vec![0, 1, 1, 0], vec![0, 1, 2, 2], vec![4, 0, 1, 3]];
        let kernel = Overlap::new(&knobs, &columns);
        let theta = [-0.5, 0.2, 0.7];
        let gram = kernel.gram(&theta);
        // Observations 1 and 2 differ in the second knob, and by 1 of 4 in the third: exp(−e^0.2 −
        // e^0.7/4) = 0.178201.
        assert!((gram.row(2)[1] - 0.178_201).abs() < 1e-5, "{}", gram.row(2)[1]);
        let product = kernel.tables(&theta).gram(&columns);
        assert!(gram.entries().iter().zip(product.entries()).all(|(a, b)| (a - b).abs() < 1e-14));
        let slopes = Triangle::from_fn(4, |i, j| 1.0 + i as f64 - 2.0 * j as f64);
        let mut gradient = [0.0; 3];
        kernel.add_gradient(&theta, &slopes, &mut gradient);
        for i in 0..3 {
            let [above, below] = [1e-6, -1e-6].map(|step| {
                let mut theta = theta;
                theta[i] += step;
                dot(kernel.gram(&theta).entries(), slopes.entries())
            });
            assert!(((above - below) / 2e-6 - gradient[i]).abs() < 1e-8);
        }
    }
}
