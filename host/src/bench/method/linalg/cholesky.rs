//! The Cholesky factor of a symmetric positive definite matrix: L·Lᵀ = A.
//!
//! **Choices**
//! - Stored by rows, so that every inner loop runs over contiguous numbers; computed by columns,
//!   because the entries of a column do not depend on each other.
//! - A pivot that is not positive, or not a number, yields `None`, never a NaN.
//!
//! **Cost.** n³/6 multiplications to factorise, n²/2 per substitution, n³/3 more for the inverse.

use super::{Triangle, add_scaled, dot};

/// The factor L of a matrix.
#[derive(Clone, Debug)]
pub(crate) struct Cholesky {
    lower: Triangle,
}

impl Cholesky {
    /// Factorises a matrix. Returns `None` if it is not positive definite.
    pub(crate) fn new(mut a: Triangle) -> Option<Self> {
        for j in 0..a.len() {
            let (row, below) = a.split_after_mut(j);
            factorise_column(row, below)?;
        }
        Some(Self { lower: a })
    }

    pub(crate) fn len(&self) -> usize {
        self.lower.len()
    }

    /// b ← L⁻¹b.
    pub(crate) fn forward(&self, b: &mut [f64]) {
        for i in 0..self.len() {
            let row = self.lower.row(i);
            let (done, rest) = b.split_at_mut(i);
            rest[0] = (rest[0] - dot(row, done)) / row[i];
        }
    }

    /// b ← L⁻ᵀb.
    pub(crate) fn backward(&self, b: &mut [f64]) {
        for i in (0..self.len()).rev() {
            let row = self.lower.row(i);
            let (rest, done) = b.split_at_mut(i);
            done[0] /= row[i];
            add_scaled(rest, -done[0], row);
        }
    }

    /// b ← A⁻¹b.
    #[cfg(test)]
    pub(crate) fn solve(&self, b: &mut [f64]) {
        self.forward(b);
        self.backward(b);
    }

    /// The diagonal of L. The square of its first n entries' product is the determinant of the first
    /// n rows and columns.
    pub(crate) fn diagonal(&self) -> impl Iterator<Item = f64> {
        (0..self.len()).map(|i| self.lower.row(i)[i])
    }

    /// ln |A|.
    pub(crate) fn log_determinant(&self) -> f64 {
        2.0 * self.diagonal().map(libm::log).sum::<f64>()
    }

    /// A⁻¹.
    pub(crate) fn inverse(&self) -> Triangle {
        // Row i of L⁻¹ is (eᵢ − Σ Lᵢₖ·row k)/Lᵢᵢ.
        let n = self.len();
        let mut inverse = Triangle::zeros(n);
        for i in 0..n {
            let (factor, (before, row)) = (self.lower.row(i), inverse.split_mut(i));
            row[i] = 1.0;
            let mut before = before;
            for (k, l) in factor[..i].iter().enumerate() {
                let (own, rest) = before.split_at(k + 1);
                add_scaled(row, -l, own);
                before = rest;
            }
            row.iter_mut().for_each(|entry| *entry /= factor[i]);
        }
        // A⁻¹ = Σ over the rows of L⁻¹ of rowᵀ·row.
        let mut product = Triangle::zeros(n);
        for k in 0..n {
            let row = inverse.row(k);
            (0..=k).for_each(|i| add_scaled(product.row_mut(i), row[i], row));
        }
        product
    }
}

/// Computes the factor's last entry of a row and those below it; the entries to their left are
/// final.
fn factorise_column(row: &mut [f64], mut below: &mut [f64]) -> Option<()> {
    let (left, own) = row.split_at_mut(row.len() - 1);
    let j = left.len();
    let pivot = own[0] - dot(left, left);
    // A pivot's rounding error is about that of the diagonal entry.
    if !(pivot > 1e-15 * own[0] && pivot.is_finite()) {
        return None;
    }
    own[0] = pivot.sqrt();
    let mut length = j + 2;
    while !below.is_empty() {
        let (row, rest) = below.split_at_mut(length);
        row[j] = (row[j] - dot(&row[..j], left)) / own[0];
        (below, length) = (rest, length + 1);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// B·Bᵀ + I of a random B.
    fn positive(n: usize) -> Triangle {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(n as u64);
        let b: Vec<Vec<f64>> = (0..n).map(|_| (0..n).map(|_| random.random_range(-1.0..1.0)).collect()).collect();
        let mut a = Triangle::from_fn(n, |i, j| dot(&b[i], &b[j]));
        a.add_to_diagonal(1.0);
        a
    }

    /// A·x of a symmetric matrix.
    fn product(a: &Triangle, x: &[f64]) -> Vec<f64> {
        let entry = |i: usize, j: usize| a.row(i.max(j))[i.min(j)];
        (0..a.len()).map(|i| (0..a.len()).map(|j| entry(i, j) * x[j]).sum()).collect()
    }

    #[test]
    fn a_factor_by_hand() {
        // [[4, 2], [2, 5]] = [[2, 0], [1, 2]]·[[2, 1], [0, 2]]; its determinant is 16.
        let factor = Cholesky::new(Triangle::from_fn(2, |i, j| [[4.0, 0.0], [2.0, 5.0]][i][j])).unwrap();
        assert_eq!(factor.lower.entries(), [2.0, 1.0, 2.0]);
        assert!((factor.log_determinant() - 16f64.ln()).abs() < 1e-15);
        // A⁻¹ = [[5, −2], [−2, 4]]/16.
        assert!(factor.inverse().entries().iter().zip([5.0, -2.0, 4.0]).all(|(a, b)| (a - b / 16.0).abs() < 1e-16));
    }

    #[test]
    fn solutions_and_inverse() {
        for n in [1, 2, 7, 8, 9, 40] {
            let a = positive(n);
            let factor = Cholesky::new(a.clone()).unwrap();
            let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let mut b = product(&a, &x);
            factor.solve(&mut b);
            // Condition numbers here are below 1e3.
            assert!(b.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-12), "{n}");
            let inverse = product(&factor.inverse(), &product(&a, &x));
            assert!(inverse.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-12), "{n}");
        }
    }

    #[test]
    fn only_positive_definite_matrices_have_a_factor() {
        assert!(Cholesky::new(Triangle::from_fn(2, |_, _| 1.0)).is_none());
        assert!(Cholesky::new(Triangle::from_fn(1, |_, _| f64::NAN)).is_none());
    }
}
