//! Dense linear algebra in f64, for the methods that trimtab is compared with.
//!
//! **Choices**
//! - Own short code instead of a crate: surrogates need only one triangle and its factor, and sums
//!   in a fixed order give the same bits on every machine.
//! - Sums run in eight lanes, which the compiler turns into vector instructions.

mod cholesky;
mod triangle;

pub(crate) use cholesky::Cholesky;
pub(crate) use triangle::Triangle;

/// Partial sums per dot product.
const LANES: usize = 8;

/// Σ aᵢbᵢ over the shorter of the two.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let ((a, a_rest), (b, b_rest)) = (a[..n].as_chunks::<LANES>(), b[..n].as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += a * b;
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f64>() + rest
}

/// a ← a + factor·b, over the shorter of the two.
pub(crate) fn add_scaled(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += factor * b);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_by_hand() {
        let (a, b): (Vec<f64>, Vec<f64>) = (1..=20).map(|i| (f64::from(i), f64::from(21 - i))).unzip();
        // Σ i·(21 − i) = 21·210 − 2870 = 1540.
        assert_eq!(dot(&a, &b), 1540.0);
        assert_eq!(dot(&a, &[2.0, 1.0]), 4.0);
        let mut c = [1.0, 1.0];
        add_scaled(&mut c, 2.0, &[3.0, -1.0]);
        assert_eq!(c, [7.0, -1.0]);
    }
}
