//! Covariances that are products over knobs: ∏ᵢ Fᵢ(cᵢ, c′ᵢ).
//!
//! **Choices**
//! - The column Fᵢ(a, xᵢ) over all observations x depends only on the level a, so it is computed
//!   once. The covariances of a combination are then a product of columns.
//! - A neighbour changes one knob. The product over the other knobs comes from running products
//!   from both ends, without division, so factors may be zero.
//!
//! **Cost.** K·n multiplications per combination; for all neighbours 3·K·n at once and then n each;
//! n·Σ levels numbers.

use trimtab::Level;

use crate::bench::method::linalg::Triangle;

/// One n × n factor per knob.
#[derive(Clone, Debug)]
pub(in crate::bench::method) struct Tables(pub(in crate::bench::method) Vec<Vec<f64>>);

impl Tables {
    /// One table of zeros for each number of levels.
    pub(in crate::bench::method) fn zeros(levels: impl Iterator<Item = usize>) -> Self {
        Self(levels.map(|n| vec![0.0; n * n]).collect())
    }

    /// The covariances of the observations, given as one column per knob.
    pub(in crate::bench::method) fn gram(&self, columns: &[Vec<Level>]) -> Triangle {
        let n = columns.first().map_or(0, Vec::len);
        let mut gram = Triangle::from_fn(n, |_, _| 1.0);
        self.0.iter().zip(columns).for_each(|(table, column)| multiply(&mut gram, table, column));
        gram
    }
}

/// Multiplies every covariance by the factor of one knob.
pub(in crate::bench::method) fn multiply(gram: &mut Triangle, table: &[f64], column: &[Level]) {
    let n = table.len().isqrt();
    for (i, own) in column.iter().enumerate() {
        let factors = &table[usize::from(*own) * n..][..n];
        for (entry, other) in gram.row_mut(i).iter_mut().zip(column) {
            *entry *= factors[usize::from(*other)];
        }
    }
}

/// The kernel with its observations.
pub(in crate::bench::method) struct Product {
    observations: usize,
    /// Index of each knob's first column.
    starts: Vec<usize>,
    /// Per knob and level: the factors with all observations.
    columns: Vec<f64>,
    /// Per knob and level: the factor with itself.
    own: Vec<f64>,
}

impl Product {
    pub(in crate::bench::method) fn new(tables: &Tables, signal: f64, observed: &[Vec<Level>]) -> Self {
        let (mut starts, mut columns, mut own) = (Vec::new(), Vec::new(), Vec::new());
        for (knob, (table, observed)) in tables.0.iter().zip(observed).enumerate() {
            let n = table.len().isqrt();
            // The first knob's factor carries the signal variance.
            let scale = if knob == 0 { signal } else { 1.0 };
            starts.push(own.len());
            for (level, row) in table.chunks_exact(n).enumerate() {
                columns.extend(observed.iter().map(|other| scale * row[usize::from(*other)]));
                own.push(scale * row[level]);
            }
        }
        Self { observations: observed.first().map_or(0, Vec::len), starts, columns, own }
    }

    pub(in crate::bench::method) fn observations(&self) -> usize {
        self.observations
    }

    fn column(&self, at: usize) -> &[f64] {
        &self.columns[at * self.observations..][..self.observations]
    }

    /// Writes the covariances of a combination with the observations; returns its own variance.
    pub(in crate::bench::method) fn covariances(&self, levels: &[Level], k: &mut [f64]) -> f64 {
        k.fill(1.0);
        let mut own = 1.0;
        for (start, level) in self.starts.iter().zip(levels) {
            let at = start + usize::from(*level);
            k.iter_mut().zip(self.column(at)).for_each(|(k, factor)| *k *= factor);
            own *= self.own[at];
        }
        own
    }

    /// Writes, for each knob, the products over all other knobs.
    pub(in crate::bench::method) fn around(&self, levels: &[Level], around: &mut Around) {
        let (n, knobs) = (self.observations, self.starts.len());
        around.products.resize(knobs * n, 0.0);
        around.own.resize(knobs, 0.0);
        around.running.resize(n, 0.0);
        let at = |knob: usize| self.starts[knob] + usize::from(levels[knob]);
        let Around { products, own, running } = around;
        running.fill(1.0);
        let mut running_own = 1.0;
        for (knob, (product, own)) in products.chunks_exact_mut(n).zip(own.iter_mut()).enumerate() {
            product.copy_from_slice(running);
            *own = running_own;
            running.iter_mut().zip(self.column(at(knob))).for_each(|(running, factor)| *running *= factor);
            running_own *= self.own[at(knob)];
        }
        running.fill(1.0);
        running_own = 1.0;
        for (knob, (product, own)) in products.chunks_exact_mut(n).zip(own.iter_mut()).enumerate().rev() {
            product.iter_mut().zip(running.iter()).for_each(|(product, running)| *product *= running);
            *own *= running_own;
            running.iter_mut().zip(self.column(at(knob))).for_each(|(running, factor)| *running *= factor);
            running_own *= self.own[at(knob)];
        }
    }

    /// [`Self::covariances`] of the neighbour of `around`'s combination that has `level` at `knob`.
    pub(in crate::bench::method) fn step(&self, around: &Around, knob: usize, level: Level, k: &mut [f64]) -> f64 {
        let (at, rest) = (self.starts[knob] + usize::from(level), &around.products[knob * self.observations..]);
        for ((k, rest), factor) in k.iter_mut().zip(rest).zip(self.column(at)) {
            *k = rest * factor;
        }
        around.own[knob] * self.own[at]
    }
}

/// Products over all knobs but one, for one combination.
#[derive(Clone, Debug, Default)]
pub(in crate::bench::method) struct Around {
    products: Vec<f64>,
    own: Vec<f64>,
    running: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_steps_and_gram_are_products_of_factors() {
        // Entries that tell all positions apart; one factor is zero.
        let table =
            |n: usize, from: f64| -> Vec<f64> { (0..n * n).map(|at| from + (at % n + at / n) as f64).collect() };
        let tables = Tables(vec![table(2, 1.0), table(3, 0.0), table(4, 0.5)]);
        let observed = [[0, 1, 3], [1, 2, 0], [0, 0, 2], [1, 1, 1]];
        let columns: Vec<Vec<Level>> = (0..3).map(|knob| observed.iter().map(|x| x[knob]).collect()).collect();
        let covariance = |a: &[Level], b: &[Level]| -> f64 {
            let factor = |i: usize| tables.0[i][usize::from(a[i]) * (i + 2) + usize::from(b[i])];
            (0..3).map(factor).product()
        };
        let gram = tables.gram(&columns);
        let product = Product::new(&tables, 2.0, &columns);
        let (mut k, mut around) = ([0.0; 4], Around::default());
        for (i, x) in observed.iter().enumerate() {
            for (j, y) in observed[..=i].iter().enumerate() {
                assert_eq!(gram.row(i)[j], covariance(x, y));
            }
            assert_eq!(product.covariances(x, &mut k), 2.0 * covariance(x, x));
            assert_eq!(k.to_vec(), observed.map(|y| 2.0 * covariance(x, &y)));
            product.around(x, &mut around);
            for (knob, levels) in [2, 3, 4].into_iter().enumerate() {
                for level in 0..levels {
                    let mut step = *x;
                    step[knob] = level;
                    assert_eq!(product.step(&around, knob, level, &mut k), 2.0 * covariance(&step, &step));
                    assert_eq!(k.to_vec(), observed.map(|y| 2.0 * covariance(&step, &y)));
                }
            }
        }
    }
}
