//! Fixed-capacity matrices: a rectangle, and a triangle stored row by row.
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | [`Matrix`] | rows of equal length | R × C |
//! | [`Triangle`] | row i has i + 1 elements | P = T(T + 1)/2 |
//!
//! **Choices**
//! - A symmetric matrix and its Cholesky factor need only one triangle: 8 320 bytes at T = 64, half
//!   of a square.
//! - Rows lie one after another, so a row is a slice and appending a row moves nothing.
//! - [`triangle`] computes P, and so does the macro [`tuner!`](crate::tuner!).

/// Number of elements in a triangle of n rows: the P of a tuner with n observations.
///
/// ```
/// assert_eq!(trimtab::sizes::triangle(64), 2080);
/// ```
pub const fn triangle(n: usize) -> usize {
    n * (n + 1) / 2
}

/// R rows of C numbers.
#[derive(Clone, Debug)]
pub struct Matrix<const R: usize, const C: usize>([[f32; C]; R]);

impl<const R: usize, const C: usize> Matrix<R, C> {
    /// All zero.
    pub const fn new() -> Self {
        Self([[0.0; C]; R])
    }

    /// Row i; empty past the last.
    pub fn row(&self, i: usize) -> &[f32] {
        self.0.get(i).map_or(&[], |row| row.as_slice())
    }

    /// Row i for writing; empty past the last.
    pub fn row_mut(&mut self, i: usize) -> &mut [f32] {
        self.0.get_mut(i).map_or(&mut [], |row| row.as_mut_slice())
    }

    /// Moves row i to the end and the rows after it up by one.
    pub fn remove_row(&mut self, i: usize) {
        crate::math::list::close_gap(&mut self.0, i);
    }

    /// All rows in order.
    pub fn rows(&self) -> impl Iterator<Item = &[f32; C]> + Clone {
        self.rows_from(0)
    }

    /// Rows i and after.
    pub(crate) fn rows_from(&self, i: usize) -> impl Iterator<Item = &[f32; C]> + Clone {
        self.0.get(i..).unwrap_or_default().iter()
    }
}

impl<const R: usize, const C: usize> Default for Matrix<R, C> {
    fn default() -> Self {
        Self::new()
    }
}

/// A lower triangle in P numbers.
#[derive(Clone, Debug)]
pub struct Triangle<const P: usize>([f32; P]);

impl<const P: usize> Triangle<P> {
    /// All zero.
    pub const fn new() -> Self {
        Self([0.0; P])
    }

    /// All rows in order; the first has one element.
    pub fn rows(&self) -> Rows<'_> {
        Rows { rest: &self.0, len: 1 }
    }

    /// Rows i and after, up to row `end`.
    pub fn rows_from(&self, i: usize, end: usize) -> Rows<'_> {
        Rows { rest: self.0.get(triangle(i)..triangle(end)).unwrap_or_default(), len: i + 1 }
    }

    /// Row i; empty past the last.
    pub fn row(&self, i: usize) -> &[f32] {
        self.0.get(triangle(i)..triangle(i + 1)).unwrap_or_default()
    }

    /// The rows before row i, and row i for writing; row i is empty past the last.
    pub fn split_row(&mut self, i: usize) -> (Rows<'_>, &mut [f32]) {
        let (before, rest) = self.0.split_at_mut_checked(triangle(i)).unwrap_or_default();
        (Rows { rest: before, len: 1 }, rest.get_mut(..=i).unwrap_or_default())
    }
}

impl<const P: usize> Default for Triangle<P> {
    fn default() -> Self {
        Self::new()
    }
}

/// Iterator over the rows of a triangle.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    rest: &'a [f32],
    len: usize,
}

impl<'a> Rows<'a> {
    /// The next four rows in one piece, if there are so many.
    pub(crate) fn next_four(&mut self) -> Option<&'a [f32]> {
        let (four, rest) = self.rest.split_at_checked(4 * self.len + 6)?;
        (self.rest, self.len) = (rest, self.len + 4);
        Some(four)
    }
}

impl<'a> Iterator for Rows<'a> {
    type Item = &'a [f32];

    fn next(&mut self) -> Option<&'a [f32]> {
        let (row, rest) = self.rest.split_at_checked(self.len)?;
        self.rest = rest;
        self.len += 1;
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_tile_the_triangle() {
        let mut t = Triangle::<{ triangle(4) }>::new();
        for i in 0..4 {
            let (before, row) = t.split_row(i);
            assert_eq!(before.count(), i);
            row.fill(i as f32);
        }
        assert_eq!(t.0, [0., 1., 1., 2., 2., 2., 3., 3., 3., 3.]);
        assert!(t.rows().enumerate().all(|(i, row)| row == t.row(i) && row.len() == i + 1));
        assert!(t.split_row(4).1.is_empty() && t.row(4).is_empty());
        assert!(t.rows_from(2, 4).eq(t.rows().skip(2)) && t.rows_from(4, 4).next().is_none());
        assert!(t.rows_from(1, 3).eq(t.rows().skip(1).take(2)) && t.rows_from(3, 1).next().is_none());
        let mut rows = t.rows();
        assert!(rows.next_four() == Some(&t.0) && rows.next().is_none());
        assert!(t.rows_from(1, 4).next_four().is_none());
    }

    #[test]
    fn a_matrix_has_no_row_past_its_last() {
        let mut m = Matrix::<3, 1>::new();
        (0..4).for_each(|i| m.row_mut(i).fill(i as f32));
        assert!(m.rows().eq(&[[0.0], [1.0], [2.0]]) && m.row(3).is_empty());
        m.remove_row(0);
        assert!(m.rows().eq(&[[1.0], [2.0], [0.0]]) && m.rows_from(1).eq(&[[2.0], [0.0]]));
        m.remove_row(3);
        assert_eq!(m.row(0), [1.0]);
    }
}
