//! A symmetric or lower triangular matrix: its lower triangle, row after row.

/// The entries (i, j) with j ≤ i.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Triangle {
    n: usize,
    entries: Vec<f64>,
}

/// Number of entries in the first n rows.
const fn entries(n: usize) -> usize {
    n * (n + 1) / 2
}

impl Triangle {
    pub(crate) fn zeros(n: usize) -> Self {
        Self { n, entries: vec![0.0; entries(n)] }
    }

    /// The matrix of the entries f(i, j), j ≤ i.
    pub(crate) fn from_fn(n: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut all = Vec::with_capacity(entries(n));
        (0..n).for_each(|i| all.extend((0..=i).map(|j| f(i, j))));
        Self { n, entries: all }
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    /// Row i up to the diagonal: i + 1 entries.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.entries[entries(i)..entries(i + 1)]
    }

    pub(crate) fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.entries[entries(i)..entries(i + 1)]
    }

    /// The rows before row i, one after the other, and row i.
    pub(super) fn split_mut(&mut self, i: usize) -> (&[f64], &mut [f64]) {
        let (before, after) = self.entries.split_at_mut(entries(i));
        (before, &mut after[..=i])
    }

    /// Row i, and the rows after it, one after the other.
    pub(super) fn split_after_mut(&mut self, i: usize) -> (&mut [f64], &mut [f64]) {
        self.entries[entries(i)..].split_at_mut(i + 1)
    }

    /// All entries, row after row.
    pub(crate) fn entries(&self) -> &[f64] {
        &self.entries
    }

    pub(crate) fn entries_mut(&mut self) -> &mut [f64] {
        &mut self.entries
    }

    pub(crate) fn add_to_diagonal(&mut self, value: f64) {
        (0..self.n).for_each(|i| self.entries[entries(i + 1) - 1] += value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_diagonal() {
        let mut a = Triangle::from_fn(3, |i, j| (10 * i + j) as f64);
        assert_eq!((a.row(0), a.row(2)), (&[0.0][..], &[20.0, 21.0, 22.0][..]));
        a.add_to_diagonal(0.5);
        assert_eq!(a.entries(), [0.5, 10.0, 11.5, 20.0, 21.0, 22.5]);
        assert_eq!(a.len(), 3);
    }
}
