//! Fixed-capacity matrices: a rectangle, and a triangle stored row by row.
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | [`Matrix`] | rows of equal length | R × C |
//! | [`Triangle`] | row i has i + 1 elements | P = T(T + 1)/2 |
//!
//! **Choices.** A symmetric matrix and its Cholesky factor need one triangle. Rows lie one after another, so a row is
//! a slice, appending a row moves nothing, and a chip stores half of what a square would take (8 320
//! bytes at T = 64). P is T(T + 1)/2: [`triangle`] works it out, and so does the macro [`tuner!`](crate::tuner!).

/// Elements of a triangle of n rows.
///
/// ```
/// assert_eq!(trimtab::sizes::triangle(64), 2080);
/// ```
pub const fn triangle(n: usize) -> usize {
    n * (n + 1) / 2
}

/// R rows of C numbers.
///
/// ```
/// let mut m = trimtab::internals::Matrix::<2, 3>::new();
/// m.row_mut(1).copy_from_slice(&[1.0, 2.0, 3.0]);
/// assert_eq!(m.row(1), [1.0, 2.0, 3.0]);
/// assert!(m.row(7).is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Matrix<const R: usize, const C: usize>([[f32; C]; R]);

impl<const R: usize, const C: usize> Matrix<R, C> {
    /// All zero.
    ///
    /// ```
    /// assert!(trimtab::internals::Matrix::<2, 3>::new().rows().all(|row| *row == [0.0; 3]));
    /// ```
    pub const fn new() -> Self {
        Self([[0.0; C]; R])
    }

    /// Row i; empty past the last.
    ///
    /// ```
    /// let m = trimtab::internals::Matrix::<2, 3>::new();
    /// assert_eq!((m.row(1).len(), m.row(2).len()), (3, 0));
    /// ```
    pub fn row(&self, i: usize) -> &[f32] {
        self.0.get(i).map_or(&[], |row| row.as_slice())
    }

    /// Row i to be written; empty past the last.
    ///
    /// ```
    /// let mut m = trimtab::internals::Matrix::<2, 3>::new();
    /// m.row_mut(0).fill(1.0);
    /// m.row_mut(2).fill(2.0); // there is no such row
    /// assert!(m.rows().eq(&[[1.0; 3], [0.0; 3]]));
    /// ```
    pub fn row_mut(&mut self, i: usize) -> &mut [f32] {
        self.0.get_mut(i).map_or(&mut [], |row| row.as_mut_slice())
    }

    /// Moves the rows after row i up by one, and row i to the end.
    ///
    /// ```
    /// let mut m = trimtab::internals::Matrix::<3, 1>::new();
    /// (0..3).for_each(|i| m.row_mut(i).fill(i as f32));
    /// m.remove_row(0);
    /// assert!(m.rows().eq(&[[1.0], [2.0], [0.0]]));
    /// ```
    pub fn remove_row(&mut self, i: usize) {
        crate::math::list::close_gap(&mut self.0, i);
    }

    /// All rows in order.
    ///
    /// ```
    /// let m = trimtab::internals::Matrix::<2, 3>::new();
    /// assert!(m.rows().enumerate().all(|(i, row)| row == m.row(i)));
    /// ```
    pub fn rows(&self) -> impl Iterator<Item = &[f32; C]> + Clone {
        self.rows_from(0)
    }

    /// The rows from row i on.
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
///
/// ```
/// use trimtab::{internals::Triangle, sizes::triangle};
/// let mut t = Triangle::<{ triangle(2) }>::new();
/// t.split_row(1).1.copy_from_slice(&[3.0, 4.0]);
/// assert_eq!(t.rows().last(), Some(&[3.0, 4.0][..]));
/// ```
#[derive(Clone, Debug)]
pub struct Triangle<const P: usize>([f32; P]);

impl<const P: usize> Triangle<P> {
    /// All zero.
    ///
    /// ```
    /// use trimtab::{internals::Triangle, sizes::triangle};
    /// assert_eq!(Triangle::<{ triangle(2) }>::new().row(1), [0.0; 2]);
    /// ```
    pub const fn new() -> Self {
        Self([0.0; P])
    }

    /// The rows, the first with one element, each one longer than the one before.
    ///
    /// ```
    /// use trimtab::{internals::Triangle, sizes::triangle};
    /// let t = Triangle::<{ triangle(3) }>::new();
    /// assert!(t.rows().map(<[f32]>::len).eq([1, 2, 3]));
    /// ```
    pub fn rows(&self) -> Rows<'_> {
        Rows { rest: &self.0, len: 1 }
    }

    /// The rows from row i on.
    ///
    /// ```
    /// use trimtab::{internals::Triangle, sizes::triangle};
    /// let t = Triangle::<{ triangle(3) }>::new();
    /// assert!(t.rows_from(1).eq(t.rows().skip(1)));
    /// ```
    pub fn rows_from(&self, i: usize) -> Rows<'_> {
        Rows { rest: self.0.get(triangle(i)..).unwrap_or_default(), len: i + 1 }
    }

    /// Row i; empty past the last.
    ///
    /// ```
    /// use trimtab::{internals::Triangle, sizes::triangle};
    /// let t = Triangle::<{ triangle(2) }>::new();
    /// assert_eq!((t.row(1).len(), t.row(2).len()), (2, 0));
    /// ```
    pub fn row(&self, i: usize) -> &[f32] {
        self.0.get(triangle(i)..triangle(i + 1)).unwrap_or_default()
    }

    /// The rows before row i, and row i to be written; it is empty past the last.
    ///
    /// ```
    /// use trimtab::{internals::Triangle, sizes::triangle};
    /// let mut t = Triangle::<{ triangle(3) }>::new();
    /// let (before, row) = t.split_row(2);
    /// assert_eq!((before.count(), row.len()), (2, 3));
    /// ```
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

/// The rows of a triangle, from the first to the last.
///
/// ```
/// use trimtab::{internals::Triangle, sizes::triangle};
/// let t = Triangle::<{ triangle(4) }>::new();
/// assert_eq!(t.rows().flatten().count(), triangle(4));
/// ```
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    rest: &'a [f32],
    len: usize,
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
    }
}
