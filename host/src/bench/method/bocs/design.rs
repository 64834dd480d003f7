//! The regression matrix X: one row per measured point, one column per feature xᵢ or xᵢxⱼ that some
//! point has.
//!
//! | name | meaning |
//! |---|---|
//! | n, p | rows and columns |
//! | c | coefficients, one per column |
//!
//! **Choices**
//! - X holds only 0 and 1. Its products use [`tables`](super::tables) of sums where points share
//!   many bits, and [`lists`](super::lists) of ones where they share few, as for nominal knobs with
//!   one bit per level.

use super::lists::Lists;
use super::quadratic::Quadratic;
use super::tables::{Keys, Tables};
use crate::bench::method::linalg::dot;

pub(super) struct Design {
    bits: usize,
    points: Vec<Vec<bool>>,
    /// The pair of bits of each column; the same bit twice for a linear term.
    columns: Vec<(usize, usize)>,
    /// X, column by column.
    x: Vec<f64>,
    ones: Ones,
}

/// How products with X are computed.
enum Ones {
    Many(Keys),
    Few(Lists),
}

impl Design {
    /// For points that share many bits.
    pub(super) fn new(bits: usize) -> Self {
        Self::with(bits, Ones::Many(Keys::new(bits)))
    }

    /// For points that share few bits.
    pub(super) fn sparse(bits: usize) -> Self {
        Self::with(bits, Ones::Few(Lists::default()))
    }

    fn with(bits: usize, ones: Ones) -> Self {
        Self { bits, points: Vec::new(), columns: Vec::new(), x: Vec::new(), ones }
    }

    /// n.
    pub(super) fn rows(&self) -> usize {
        self.points.len()
    }

    /// The pairs of bits of the columns, p of them.
    pub(super) fn columns(&self) -> &[(usize, usize)] {
        &self.columns
    }

    /// Column k of X.
    pub(super) fn column(&self, k: usize) -> &[f64] {
        let n = self.rows();
        &self.x[k * n..(k + 1) * n]
    }

    pub(super) fn push(&mut self, point: &[bool]) {
        self.points.push(point.to_vec());
        let has = |point: &Vec<bool>, (i, j): (usize, usize)| point[i] && point[j];
        let all = (0..self.bits).flat_map(|i| (i..self.bits).map(move |j| (i, j)));
        self.columns = all.filter(|column| self.points.iter().any(|point| has(point, *column))).collect();
        let entries = self.columns.iter().flat_map(|column| self.points.iter().map(|point| has(point, *column)));
        self.x = entries.map(|has| f64::from(u8::from(has))).collect();
        match &mut self.ones {
            Ones::Many(keys) => keys.push(&self.points),
            Ones::Few(lists) => {
                let has = |row: usize, column: usize| has(&self.points[row], self.columns[column]);
                *lists = Lists::new(self.points.len(), self.columns.len(), has);
            }
        }
    }

    /// Workspace for products.
    pub(super) fn tables(&self) -> Tables {
        match &self.ones {
            Ones::Many(keys) => keys.tables(),
            Ones::Few(_) => Tables::default(),
        }
    }

    /// X·c.
    pub(super) fn times_into(&self, c: &[f64], tables: &mut Tables, result: &mut [f64]) {
        match &self.ones {
            Ones::Many(keys) => {
                keys.fill(&self.columns, c, tables);
                keys.times_into(tables, result);
            }
            Ones::Few(lists) => lists.times_into(c, result),
        }
    }

    /// The lower half of X·diag(c)·Xᵀ, in an n × n square.
    pub(super) fn gram_into(&self, c: &[f64], tables: &mut Tables, square: &mut [f64]) {
        match &self.ones {
            Ones::Many(keys) => {
                keys.fill(&self.columns, c, tables);
                keys.gram_into(self.rows(), tables, square);
            }
            Ones::Few(lists) => lists.gram_into(c, square),
        }
    }

    /// Xᵀ·w.
    pub(super) fn transposed_into(&self, w: &[f64], result: &mut [f64]) {
        match &self.ones {
            Ones::Many(_) => result.iter_mut().enumerate().for_each(|(k, value)| *value = dot(self.column(k), w)),
            Ones::Few(lists) => lists.transposed_into(w, result),
        }
    }

    /// The quadratic with these coefficients, one per column.
    pub(super) fn quadratic(&self, coefficients: &[f64]) -> Quadratic {
        let mut model = Quadratic::new(self.bits);
        self.columns.iter().zip(coefficients).for_each(|((i, j), c)| model.add(*i, *j, *c));
        model
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn both_ways_agree_with_plain_sums() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let sizes = [1, 3, 4, 7, 8, 11, 24].map(|bits| [Design::new(bits), Design::sparse(bits)]);
        for mut design in sizes.into_iter().flatten() {
            let bits = design.bits;
            for _ in 0..9 {
                design.push(&(0..bits).map(|_| random.random_bool(0.6)).collect::<Vec<_>>());
            }
            let (n, p) = (design.rows(), design.columns().len());
            let [c, w] = [p, n].map(|len| (0..len).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>());
            let mut tables = design.tables();
            let (mut product, mut gram, mut transposed) = (vec![7.0; n], vec![7.0; n * n], vec![7.0; p]);
            design.times_into(&c, &mut tables, &mut product);
            design.gram_into(&c, &mut tables, &mut gram);
            design.transposed_into(&w, &mut transposed);
            for i in 0..n {
                let plain: f64 = (0..p).map(|k| design.column(k)[i] * c[k]).sum();
                assert!((product[i] - plain).abs() < 1e-12, "{bits} bits");
                assert!((design.quadratic(&c).value(&design.points[i]) - plain).abs() < 1e-12, "{bits} bits");
                for j in 0..=i {
                    let plain: f64 = (0..p).map(|k| design.column(k)[i] * c[k] * design.column(k)[j]).sum();
                    assert!((gram[i * n + j] - plain).abs() < 1e-12, "{bits} bits");
                }
            }
            for (k, value) in transposed.iter().enumerate() {
                let plain: f64 = (0..n).map(|i| design.column(k)[i] * w[i]).sum();
                assert!((value - plain).abs() < 1e-12, "{bits} bits");
            }
        }
    }

    #[test]
    fn features_that_no_point_has_are_no_columns() {
        let mut design = Design::new(3);
        design.push(&[true, false, true]);
        assert_eq!(design.columns(), [(0, 0), (0, 2), (2, 2)]);
        design.push(&[false, true, false]);
        assert_eq!(design.columns(), [(0, 0), (0, 2), (1, 1), (2, 2)]);
        assert_eq!((design.column(0), design.column(2)), (&[1.0, 0.0][..], &[0.0, 1.0][..]));
    }
}
