//! The regression's matrix X: a row a measured point, a column a feature xᵢ or xᵢxⱼ that some point has.
//!
//! | name | meaning |
//! |---|---|
//! | n, p | rows and columns |
//! | q(z) | Σᵢ cᵢ zᵢ + Σᵢ<ⱼ cᵢⱼ zᵢ zⱼ for coefficients c, one a column |
//!
//! **Choices.** Features are products of bits, so rows x, x' have the features of x ∧ x' in common:
//! (X·diag(c)·Xᵀ) at x, x' is q(x ∧ x'), and X·c at x is q(x). Bits are taken in groups of four; q is a sum over pairs of groups, each read
//! from a table of 256 sums. Which entries a pair of points reads never changes, so that is stored when a point comes.
//!
//! **Cost.** With m bits there are about m²/32 tables: 15 for 24 bits, 256 additions each to fill. q takes one addition a table, where
//! the plain sum takes p = 300. Stored: n²/2 bytes a table.

use super::quadratic::Quadratic;

/// Bits of a group.
const GROUP: usize = 4;
/// Values of a group, and sums in a table.
const VALUES: usize = 1 << GROUP;
const SUMS: usize = VALUES * VALUES;

pub(super) struct Design {
    bits: usize,
    groups: usize,
    points: Vec<Vec<bool>>,
    /// Entries to read, a byte a table, for the pairs of points (0, 0), (1, 0), (1, 1), (2, 0), …
    keys: Vec<u8>,
    /// The pair of bits of each column; the same bit twice for a linear term.
    columns: Vec<(usize, usize)>,
    /// X, column by column.
    x: Vec<f64>,
}

impl Design {
    pub(super) fn new(bits: usize) -> Self {
        // Two groups at least, so that there is a pair.
        let groups = bits.div_ceil(GROUP).max(2);
        Self { bits, groups, points: Vec::new(), keys: Vec::new(), columns: Vec::new(), x: Vec::new() }
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

    /// Adds a row.
    pub(super) fn push(&mut self, point: &[bool]) {
        self.points.push(point.to_vec());
        for other in &self.points {
            let common: Vec<u8> = (0..self.groups)
                .map(|group| {
                    let bits = (0..GROUP).filter(|i| {
                        let bit = group * GROUP + i;
                        bit < self.bits && point[bit] && other[bit]
                    });
                    bits.fold(0, |value, i| value | 1 << i)
                })
                .collect();
            self.keys.extend(pairs(self.groups).map(|(a, b)| common[a] << GROUP | common[b]));
        }
        let has = |point: &Vec<bool>, (i, j): (usize, usize)| point[i] && point[j];
        let all = (0..self.bits).flat_map(|i| (i..self.bits).map(move |j| (i, j)));
        self.columns = all.filter(|column| self.points.iter().any(|point| has(point, *column))).collect();
        let entries = self.columns.iter().flat_map(|column| self.points.iter().map(|point| has(point, *column)));
        self.x = entries.map(|has| f64::from(u8::from(has))).collect();
    }

    /// Memory for the tables.
    pub(super) fn tables(&self) -> Tables {
        let padded = self.groups * GROUP;
        Tables { square: vec![0.0; padded * padded], sums: vec![[0.0; SUMS]; pairs(self.groups).count()] }
    }

    /// Fills the tables for coefficients, one a column.
    pub(super) fn fill(&self, coefficients: &[f64], tables: &mut Tables) {
        let padded = self.groups * GROUP;
        for ((i, j), c) in self.columns.iter().zip(coefficients) {
            tables.square[i * padded + j] = *c;
        }
        for ((a, b), sums) in pairs(self.groups).zip(&mut tables.sums) {
            let block = |first: usize, second: usize| {
                let rows: [usize; GROUP] = std::array::from_fn(|i| (first * GROUP + i) * padded + second * GROUP);
                rows.map(|start| std::array::from_fn(|j| tables.square[start + j]))
            };
            // Each group's own terms are counted once: with the group after it, the last group's with the one before.
            let own = if b == a + 1 { within(&block(a, a)) } else { [0.0; VALUES] };
            let last = if b == a + 1 && b + 1 == self.groups { within(&block(b, b)) } else { [0.0; VALUES] };
            cross(&block(a, b), &own, &last, sums);
        }
    }

    /// X·c for the coefficients of the tables.
    pub(super) fn times_into(&self, tables: &Tables, result: &mut [f64]) {
        let each = tables.sums.len();
        for (i, value) in result.iter_mut().enumerate() {
            let diagonal = i * (i + 3) / 2;
            *value = tables.read(&self.keys[diagonal * each..(diagonal + 1) * each]);
        }
    }

    /// The lower half of X·diag(c)·Xᵀ for the coefficients of the tables, in an n × n square.
    pub(super) fn gram_into(&self, tables: &Tables, square: &mut [f64]) {
        let n = self.rows();
        let mut keys = self.keys.chunks_exact(tables.sums.len());
        for (i, row) in square.chunks_exact_mut(n).enumerate() {
            for (value, keys) in row[..=i].iter_mut().zip(&mut keys) {
                *value = tables.read(keys);
            }
        }
    }

    /// The quadratic of coefficients, one a column.
    pub(super) fn quadratic(&self, coefficients: &[f64]) -> Quadratic {
        let mut model = Quadratic::new(self.bits);
        self.columns.iter().zip(coefficients).for_each(|((i, j), c)| model.add(*i, *j, *c));
        model
    }
}

/// q for some coefficients: a table of sums for each pair of groups.
pub(super) struct Tables {
    /// The coefficients, the bits padded to whole groups; features that no point has stay 0.
    square: Vec<f64>,
    sums: Vec<[f64; SUMS]>,
}

impl Tables {
    fn read(&self, keys: &[u8]) -> f64 {
        // Two sums side by side wait half as long for each other.
        let ((tables, tables_rest), (keys, keys_rest)) = (self.sums.as_chunks::<2>(), keys.as_chunks::<2>());
        let mut sums = [0.0; 2];
        for (tables, keys) in tables.iter().zip(keys) {
            sums[0] += tables[0][usize::from(keys[0])];
            sums[1] += tables[1][usize::from(keys[1])];
        }
        let rest: f64 = tables_rest.iter().zip(keys_rest).map(|(table, key)| table[usize::from(*key)]).sum();
        sums[0] + sums[1] + rest
    }
}

/// Pairs of groups, the first before the second.
fn pairs(groups: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..groups).flat_map(move |a| (a + 1..groups).map(move |b| (a, b)))
}

type Block = [[f64; GROUP]; GROUP];

/// The sum of a group's own terms for each of its values.
fn within(block: &Block) -> [f64; VALUES] {
    let mut sums = [0.0; VALUES];
    for value in 1..VALUES {
        // The highest bit joins a value that was summed before.
        let top = value.ilog2() as usize;
        let rest = value ^ 1 << top;
        let joined = (0..top).filter(|i| rest >> i & 1 == 1).map(|i| block[i][top]);
        sums[value] = sums[rest] + block[top][top] + joined.sum::<f64>();
    }
    sums
}

/// The sum of all terms between two groups for each pair of values, and the groups' own.
fn cross(block: &Block, own: &[f64; VALUES], last: &[f64; VALUES], sums: &mut [f64; SUMS]) {
    let mut slopes = [[0.0; GROUP]; VALUES];
    for (value, row) in sums.as_chunks_mut::<VALUES>().0.iter_mut().enumerate() {
        if value > 0 {
            let top = value.ilog2() as usize;
            let rest = slopes[value ^ 1 << top];
            slopes[value] = std::array::from_fn(|j| rest[j] + block[top][j]);
        }
        row[0] = own[value];
        for (j, slope) in slopes[value].iter().enumerate() {
            let (known, new) = row.split_at_mut(1 << j);
            new.iter_mut().zip(known).for_each(|(new, known)| *new = *known + slope);
        }
        row.iter_mut().zip(last).for_each(|(sum, last)| *sum += last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn tables_agree_with_plain_sums() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for bits in [1, 3, 4, 7, 8, 11, 24] {
            let mut design = Design::new(bits);
            for _ in 0..9 {
                design.push(&(0..bits).map(|_| random.random_bool(0.6)).collect::<Vec<_>>());
            }
            let (n, p) = (design.rows(), design.columns().len());
            let c: Vec<f64> = (0..p).map(|_| random.random_range(-1.0..1.0)).collect();
            let mut tables = design.tables();
            design.fill(&c, &mut tables);
            let (mut product, mut gram) = (vec![0.0; n], vec![0.0; n * n]);
            design.times_into(&tables, &mut product);
            design.gram_into(&tables, &mut gram);
            for i in 0..n {
                let plain: f64 = (0..p).map(|k| design.column(k)[i] * c[k]).sum();
                assert!((product[i] - plain).abs() < 1e-12, "{bits} bits");
                assert!((design.quadratic(&c).value(&design.points[i]) - plain).abs() < 1e-12, "{bits} bits");
                for j in 0..=i {
                    let plain: f64 = (0..p).map(|k| design.column(k)[i] * c[k] * design.column(k)[j]).sum();
                    assert!((gram[i * n + j] - plain).abs() < 1e-12, "{bits} bits");
                }
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
