//! X·c and X·diag(c)·Xᵀ from tables of sums, for points that share many bits.
//!
//! q(z) = Σᵢ cᵢ zᵢ + Σᵢ<ⱼ cᵢⱼ zᵢ zⱼ for coefficients c. Features are products of bits, so rows x,
//! x' share the features of x ∧ x': (X·diag(c)·Xᵀ) at x, x' is q(x ∧ x'), and X·c at x is q(x).
//!
//! **Choices**
//! - Bits form groups of four. q is a sum over pairs of groups, each read from a table of 256 sums.
//! - The entries that a pair of points reads never change, so they are stored when a point is
//!   added.
//!
//! **Cost.** With m bits there are about m²/32 tables: 15 for 24 bits, 256 additions each to fill.
//! q takes one addition per table, where the plain sum takes p = 300. Stored: n²/2 bytes per table.

/// Bits per group.
const GROUP: usize = 4;
/// Values of a group, and sums per table.
const VALUES: usize = 1 << GROUP;
const SUMS: usize = VALUES * VALUES;

/// The table entries that each pair of points reads.
pub(super) struct Keys {
    bits: usize,
    groups: usize,
    /// Entries to read, one byte per table, for the pairs of points (0, 0), (1, 0), (1, 1), (2, 0),
    /// …
    keys: Vec<u8>,
}

impl Keys {
    pub(super) fn new(bits: usize) -> Self {
        // At least two groups, so that there is a pair.
        Self { bits, groups: bits.div_ceil(GROUP).max(2), keys: Vec::new() }
    }

    /// Adds the keys of the last point with all points.
    pub(super) fn push(&mut self, points: &[Vec<bool>]) {
        let Some(point) = points.last() else { return };
        for other in points {
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
    }

    /// Allocates the tables.
    pub(super) fn tables(&self) -> Tables {
        let padded = self.groups * GROUP;
        Tables { square: vec![0.0; padded * padded], sums: vec![[0.0; SUMS]; pairs(self.groups).count()] }
    }

    /// Fills the tables for coefficients, one per column.
    pub(super) fn fill(&self, columns: &[(usize, usize)], coefficients: &[f64], tables: &mut Tables) {
        let padded = self.groups * GROUP;
        for ((i, j), c) in columns.iter().zip(coefficients) {
            tables.square[i * padded + j] = *c;
        }
        for ((a, b), sums) in pairs(self.groups).zip(&mut tables.sums) {
            let block = |first: usize, second: usize| {
                let rows: [usize; GROUP] = std::array::from_fn(|i| (first * GROUP + i) * padded + second * GROUP);
                rows.map(|start| std::array::from_fn(|j| tables.square[start + j]))
            };
            // Each group's own terms count once: with the group after it, and the last group's with
            // the one before.
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
    pub(super) fn gram_into(&self, n: usize, tables: &Tables, square: &mut [f64]) {
        let mut keys = self.keys.chunks_exact(tables.sums.len());
        for (i, row) in square.chunks_exact_mut(n).enumerate() {
            for (value, keys) in row[..=i].iter_mut().zip(&mut keys) {
                *value = tables.read(keys);
            }
        }
    }
}

/// q for given coefficients: one table of sums per pair of groups.
#[derive(Default)]
pub(super) struct Tables {
    /// The coefficients, with the bits padded to whole groups; features that no point has stay 0.
    square: Vec<f64>,
    sums: Vec<[f64; SUMS]>,
}

impl Tables {
    fn read(&self, keys: &[u8]) -> f64 {
        // Two independent sums shorten the chain of additions.
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
        // The value without its highest bit was summed before.
        let top = value.ilog2() as usize;
        let rest = value ^ 1 << top;
        let joined = (0..top).filter(|i| rest >> i & 1 == 1).map(|i| block[i][top]);
        sums[value] = sums[rest] + block[top][top] + joined.sum::<f64>();
    }
    sums
}

/// The sum of all terms between two groups for each pair of values, plus the groups' own terms.
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
