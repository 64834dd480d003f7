//! In-place Cholesky factor: factorise, append one row, solve, log-determinant.
//!
//! A = L·Lᵀ with L lower triangular. The posterior of a Gaussian process is computed from it
//! (section 4; Rasmussen and Williams, algorithm 2.1).
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | A | symmetric positive definite | n × n |
//! | L | its factor | lower triangle |
//!
//! **Choices**
//! - Row i of L needs only the rows above it, so appending a row *is* one step of factorising, and
//!   both give the same bits.
//! - A pivot that is not above zero is an error that names its row. The rows above stay usable, and
//!   the caller decides what to do (add jitter).
//!
//! **Cost.** n³/6 multiplications to factorise, n²/2 to append or to solve with one triangle; no
//! memory beyond the triangle.

use crate::math::float::{dot, ln, sqrt, subtract};
use crate::math::matrix::{Rows, Triangle};

/// The factor of a matrix that grows row by row.
///
/// ```
/// use trimtab::internals::Cholesky;
/// // [[4, 2], [2, 5]] = L·Lᵀ with L = [[2, 0], [1, 2]]
/// let mut factor = Cholesky::<3>::new();
/// factor.append(&[4.0])?;
/// factor.append(&[2.0, 5.0])?;
/// assert_eq!(factor.row(1), [1.0, 2.0]);
/// let mut x = [8.0, 9.0];
/// factor.solve(&mut x);
/// assert_eq!(x, [1.375, 1.25]);
/// # Ok::<(), trimtab::internals::CholeskyError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Cholesky<const P: usize> {
    len: usize,
    factor: Triangle<P>,
}

impl<const P: usize> Cholesky<P> {
    /// The factor of a matrix without rows.
    pub const fn new() -> Self {
        Self { factor: Triangle::new(), len: 0 }
    }

    /// Number of factorised rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Keeps the first n rows: the factor of the first n rows and columns of A.
    pub fn truncate(&mut self, n: usize) {
        self.len = self.len.min(n);
    }

    /// Row i of L.
    pub fn row(&self, i: usize) -> &[f32] {
        self.factor.row(i)
    }

    /// Appends one row of A, up to and including its diagonal.
    pub fn append(&mut self, row: &[f32]) -> Result<(), CholeskyError> {
        self.append_with(|own| own.iter_mut().zip(row).for_each(|(own, a)| *own = *a))
    }

    /// Appends the row of A that `write` writes in place, up to and including its diagonal.
    pub fn append_with(&mut self, write: impl FnOnce(&mut [f32])) -> Result<(), CholeskyError> {
        self.write(write)?;
        self.append_written()
    }

    /// The first half of [`append_with`](Self::append_with): only writes the row.
    pub(crate) fn write(&mut self, write: impl FnOnce(&mut [f32])) -> Result<(), CholeskyError> {
        let (_, row) = self.factor.split_row(self.len);
        if row.is_empty() {
            return Err(CholeskyError::Full);
        }
        write(row);
        Ok(())
    }

    /// The second half: factorises the row.
    pub(crate) fn append_written(&mut self) -> Result<(), CholeskyError> {
        let (above, row) = self.factor.split_row(self.len);
        let Some((diagonal, left)) = row.split_last_mut() else { return Err(CholeskyError::Full) };
        to_the_end(above, (0, 0), left);
        let pivot = *diagonal - dot(left, left);
        // The negation also catches a pivot that is not a number.
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Err(CholeskyError::Pivot { row: self.len });
        }
        *diagonal = sqrt(pivot);
        self.len += 1;
        Ok(())
    }

    /// Solves L·x = b in place.
    pub fn solve_lower(&self, b: &mut [f32]) {
        self.solve_lower_rest(0, b);
    }

    /// Solves L·x = b in place, where the first `solved` elements of b already hold x. Calls
    /// `go_on` with the index and value of each new element and stops when it returns false.
    /// Returns whether it reached the end.
    pub fn solve_lower_from(&self, solved: usize, b: &mut [f32], go_on: impl FnMut(usize, f32) -> bool) -> bool {
        forward(self.factor.rows_from(solved, self.len), (solved, 0), b, go_on)
    }

    /// Solves L·x = b in place, where the first `solved` elements of b already hold x.
    pub(crate) fn solve_lower_rest(&self, solved: usize, b: &mut [f32]) {
        to_the_end(self.factor.rows_from(solved, self.len), (solved, 0), b);
    }

    /// Solves L·x = b in place, where the first `zeros` elements of b are 0.
    pub(crate) fn solve_lower_after(&self, zeros: usize, b: &mut [f32]) {
        to_the_end(self.factor.rows_from(zeros, self.len), (zeros, zeros - zeros % 4), b);
    }

    /// Solves Lᵀ·x = b in place.
    pub fn solve_upper(&self, b: &mut [f32]) {
        self.solve_upper_to(0, b);
    }

    /// The elements of x from `first` on, where Lᵀ·x = b; those before it are left alone.
    pub(crate) fn solve_upper_to(&self, first: usize, b: &mut [f32]) {
        for i in (first..self.len).rev() {
            let Some((diagonal, row)) = self.row(i).split_last() else { continue };
            let Some((left, [x, ..])) = b.split_at_mut_checked(i) else { continue };
            *x /= *diagonal;
            if let (Some(left), Some(row)) = (left.get_mut(first..), row.get(first..)) {
                subtract(left, row, *x);
            }
        }
    }

    /// Solves A·x = b in place.
    pub fn solve(&self, b: &mut [f32]) {
        self.solve_lower(b);
        self.solve_upper(b);
    }

    /// ln |A|: twice the sum of the logarithms of the diagonal of L.
    pub fn log_determinant(&self) -> f32 {
        2.0 * self.rows().filter_map(|row| row.last()).fold(0.0, |sum, diagonal| sum + ln(*diagonal))
    }

    fn rows(&self) -> core::iter::Take<Rows<'_>> {
        self.factor.rows().take(self.len)
    }
}

/// Forward substitution: x with L·x = b, in place, from row `first` on, until b ends or `go_on`
/// returns false. The elements of x before `zeros`, a multiple of four, are 0.
#[inline(always)]
fn forward(
    mut rows: Rows<'_>,
    (first, zeros): (usize, usize),
    b: &mut [f32],
    mut go_on: impl FnMut(usize, f32) -> bool,
) -> bool {
    let mut i = first;
    loop {
        let Some((solved, left)) = b.split_at_mut_checked(i) else { return true };
        let solved = solved.get(zeros..).unwrap_or_default();
        let done = if let (0, Some(four)) = (i % 4, left.first_chunk_mut::<4>())
            && let Some(rows) = rows.next_four()
        {
            solve_four(rows, zeros, solved, four);
            4
        } else {
            let Some((diagonal, row)) = rows.next().and_then(|row| row.split_last()) else { return true };
            let Some(x) = left.first_mut() else { return true };
            *x = (*x - dot(row.get(zeros..).unwrap_or_default(), solved)) / *diagonal;
            1
        };
        for x in left.iter().take(done) {
            if !go_on(i, *x) {
                return false;
            }
            i += 1;
        }
    }
}

/// The same without a question after each element, which most callers need and one copy serves.
#[inline(never)]
fn to_the_end(rows: Rows<'_>, (first, zeros): (usize, usize), b: &mut [f32]) {
    forward(rows, (first, zeros), b, |_, _| true);
}

/// Four rows of it, in one piece, with what is solved before them from element `zeros` on: each number
/// is loaded once for all four. Sums are in the order of [`dot`], so the bits are those of one row after
/// the other.
#[inline(never)]
fn solve_four(rows: &[f32], zeros: usize, solved: &[f32], [x0, x1, x2, x3]: &mut [f32; 4]) {
    let i = zeros + solved.len();
    let Some((a, rows)) = rows.split_at_checked(i + 1) else { return };
    let Some((b, rows)) = rows.split_at_checked(i + 2) else { return };
    let Some((c, d)) = rows.split_at_checked(i + 3) else { return };
    let ((a, a_rest), (b, b_rest)) = (fours(a, zeros), fours(b, zeros));
    let ((c, c_rest), (d, _)) = (fours(c, zeros), fours(d, zeros));
    let (mut a0, mut a1, mut a2, mut a3) = (0.0, 0.0, 0.0, 0.0);
    let (mut b0, mut b1, mut b2, mut b3) = (0.0, 0.0, 0.0, 0.0);
    let (mut c0, mut c1, mut c2, mut c3) = (0.0, 0.0, 0.0, 0.0);
    let (mut d0, mut d1, mut d2, mut d3) = (0.0, 0.0, 0.0, 0.0);
    for ((((a, b), c), d), [x0, x1, x2, x3]) in a.iter().zip(b).zip(c).zip(d).zip(solved.as_chunks::<4>().0) {
        (a0, a1, a2, a3) = (a0 + a[0] * x0, a1 + a[1] * x1, a2 + a[2] * x2, a3 + a[3] * x3);
        (b0, b1, b2, b3) = (b0 + b[0] * x0, b1 + b[1] * x1, b2 + b[2] * x2, b3 + b[3] * x3);
        (c0, c1, c2, c3) = (c0 + c[0] * x0, c1 + c[1] * x1, c2 + c[2] * x2, c3 + c[3] * x3);
        (d0, d1, d2, d3) = (d0 + d[0] * x0, d1 + d[1] * x1, d2 + d[2] * x2, d3 + d[3] * x3);
    }
    // The triangle where the four rows end.
    let ([a], [b, b_own], [c, c_next, c_own], Some([d, d_next, d_last, d_own])) = (a_rest, b_rest, c_rest, d.last())
    else {
        return;
    };
    *x0 = (*x0 - ((a0 + a2) + (a1 + a3))) / a;
    *x1 = (*x1 - (((b0 + b2) + (b1 + b3)) + b * *x0)) / b_own;
    *x2 = (*x2 - (((c0 + c2) + (c1 + c3)) + (c * *x0 + c_next * *x1))) / c_own;
    *x3 = (*x3 - (((d0 + d2) + (d1 + d3)) + (d * *x0 + d_next * *x1 + d_last * *x2))) / d_own;
}

/// The numbers from an index on, in fours.
#[inline(always)]
fn fours(row: &[f32], from: usize) -> (&[[f32; 4]], &[f32]) {
    row.get(from..).unwrap_or_default().as_chunks()
}

/// Why a row was not appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum CholeskyError {
    /// The matrix is not positive definite to working precision.
    Pivot {
        /// The row whose pivot is not above zero.
        row: usize,
    },
    /// There is no room for another row.
    Full,
}

impl core::fmt::Display for CholeskyError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Pivot { row } => write!(f, "pivot of row {row} is not above zero"),
            Self::Full => write!(f, "the factor has no room for another row"),
        }
    }
}

impl core::error::Error for CholeskyError {}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::math::matrix::triangle;
    use crate::math::random::Random;
    use crate::math::times;

    const N: usize = 24;

    /// A = B·Bᵀ + I/10 from a random B: positive definite.
    fn random_matrix(seed: u64) -> [[f32; N]; N] {
        let mut random = Random::new(seed, 0);
        let b: [[f32; N]; N] = core::array::from_fn(|_| core::array::from_fn(|_| random.uniform() - 0.5));
        core::array::from_fn(|i| core::array::from_fn(|j| dot(&b[i], &b[j]) + if i == j { 0.1 } else { 0.0 }))
    }

    fn factor_of(a: &[[f32; N]; N]) -> Cholesky<{ triangle(N) }> {
        let mut factor = Cholesky::new();
        (0..N).for_each(|i| factor.append(&a[i][..=i]).unwrap());
        factor
    }

    #[test]
    fn l_times_its_transpose_is_a() {
        for seed in 0..times(20, 1) {
            let a = random_matrix(seed);
            let factor = factor_of(&a);
            for (i, row) in a.iter().enumerate() {
                for (j, a) in row[..=i].iter().enumerate() {
                    // Elements are below 3; 24 roundings of 6e-8 each stay below 1e-5.
                    assert!((dot(factor.row(i), factor.row(j)) - a).abs() < 1e-5);
                }
            }
        }
    }

    #[test]
    fn solve_inverts_multiplication() {
        for seed in 0..times(20, 1) {
            let a = random_matrix(seed);
            let factor = factor_of(&a);
            let x: [f32; N] = core::array::from_fn(|i| i as f32 - 7.5);
            let mut b: [f32; N] = core::array::from_fn(|i| dot(&a[i], &x));
            factor.solve(&mut b);
            // Condition up to about 100, values up to 16: 1e-2 absolute is a thousandth of the
            // largest.
            assert!(x.iter().zip(&b).all(|(x, b)| (x - b).abs() < 1e-2));
        }
    }

    /// Four rows at a time have the bits of one after the other, wherever a substitution begins and ends.
    #[test]
    fn four_rows_at_a_time_change_no_bit() {
        let factor = factor_of(&random_matrix(7));
        let row_by_row = |first: usize, end: usize, b: &mut [f32; N]| {
            for i in first..end {
                let (diagonal, row) = factor.row(i).split_last().unwrap();
                b[i] = (b[i] - dot(row, &b[..i])) / diagonal;
            }
        };
        let start: [f32; N] = core::array::from_fn(|i| 1.0 + 0.3 * i as f32);
        for first in 0..N {
            for end in first..=N {
                let (mut own, mut other, mut last) = (start, start, first);
                row_by_row(first, end, &mut other);
                assert!(factor.solve_lower_from(first, &mut own[..end], |i, x| {
                    last = i + 1;
                    x == other[i]
                }));
                assert_eq!((own, last), (other, end));
            }
            let (mut own, mut other) = (start, start);
            own[..first].fill(0.0);
            other[..first].fill(0.0);
            row_by_row(first, N, &mut other);
            factor.solve_lower_after(first, &mut own);
            assert_eq!(own, other);
        }
    }

    #[test]
    fn a_bad_pivot_is_named_and_the_rows_above_stay() {
        let mut factor = Cholesky::<{ triangle(3) }>::new();
        factor.append(&[1.0]).unwrap();
        assert_eq!(factor.append(&[1.0, 1.0]), Err(CholeskyError::Pivot { row: 1 }));
        assert_eq!(factor.append(&[f32::NAN, 1.0]), Err(CholeskyError::Pivot { row: 1 }));
        assert_eq!(factor.len(), 1);
        factor.append(&[0.0, 4.0]).unwrap();
        assert_eq!(factor.log_determinant(), ln(4.0));
        factor.append(&[0.0, 0.0, 1.0]).unwrap();
        assert_eq!(factor.append(&[0.0, 0.0, 0.0, 1.0]), Err(CholeskyError::Full));
    }

    /// A = [[4, 2], [2, 5]], L = [[2, 0], [1, 2]].
    #[test]
    fn two_rows_by_hand() {
        let mut factor = Cholesky::<{ triangle(2) }>::new();
        factor.append(&[4.0]).unwrap();
        factor.append(&[2.0, 5.0]).unwrap();
        let solved = |solve: &dyn Fn(&mut [f32; 2]), mut b: [f32; 2]| {
            solve(&mut b);
            b
        };
        assert_eq!(solved(&|b| factor.solve_lower(b), [6.0, 5.0]), [3.0, 1.0]);
        assert_eq!(solved(&|b| factor.solve_upper(b), [7.0, 2.0]), [3.0, 1.0]);
        assert_eq!(solved(&|b| factor.solve(b), [14.0, 11.0]), [3.0, 1.0]);
        // The first element is solved already; only the second is reported.
        let mut x = [3.0, 5.0];
        assert!(factor.solve_lower_from(1, &mut x, |i, value| (i, value) == (1, 1.0)));
        assert_eq!(x, [3.0, 1.0]);
        assert!(!factor.solve_lower_from(0, &mut x, |_, _| false));
        assert!((factor.log_determinant() - ln(16.0)).abs() < 1e-6);
        factor.truncate(1);
        assert_eq!((factor.len(), factor.log_determinant()), (1, ln(4.0)));
    }
}
