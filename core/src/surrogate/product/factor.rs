//! The factor of one knob in the product kernel: how two of its levels compare, and everything that
//! follows from its fitted numbers.
//!
//! Graded: cᵢ is Matérn 5/2 of the difference of positions over ℓᵢ, minus the means of its rows and
//! columns, scaled to a diagonal of 1 on average.
//!
//! **Cost.** Levels with values: one exponential per pair of levels and fit, in steps of [`PAIRS`].
//! Ranked levels: one per level.

use crate::math::float::{Arithmetic, Math, short_exp};

/// Largest tᵢ of a nominal knob, where 1 + t·c must stay above zero, and of a graded one.
pub(super) const MOST_NOMINAL: f32 = 0.95;
pub(super) const MOST_GRADED: f32 = 10.0;
pub(super) const LN_MOST_GRADED: f32 = core::f32::consts::LN_10;
/// Bounds of aᵢ, g and ln ℓᵢ.
pub(crate) const OWN: (f32, f32) = (-4.0, 4.0);
pub(crate) const COMMON: (f32, f32) = (-9.0, 2.0);
pub(crate) const LENGTH: (f32, f32) = (-4.0, 1.5);

/// ln ¼: the prior mean of ln ℓᵢ.
pub(crate) const PRIOR_LENGTH: f32 = -1.386_294_4;
/// e⁴.
const INVERSE_SHORTEST: f32 = 54.598_15;

/// Pairs of levels per step of [`Product::derive_tables`].
const PAIRS: usize = 128;

/// A fitted number and its next step; the sign of the step is that of the last gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fitted {
    pub(crate) at: f32,
    pub(crate) step: f32,
}

/// The first step of a fitted number.
const FIRST_STEP: f32 = 0.1;

impl Fitted {
    pub(super) const ZERO: Self = Self { at: 0.0, step: 0.0 };

    pub(super) const fn new(at: f32) -> Self {
        Self { at, step: FIRST_STEP }
    }
}

/// How the levels of a knob compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A single level.
    Fixed,
    Nominal,
    /// Equal steps: `tables` holds 1 + tᵢ·cᵢ by the difference, before the means of rows are taken.
    Ranked,
    /// `tables` holds positions.
    Valued,
    /// Equal steps, and nothing per level.
    Range,
}

/// The factor of one knob.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    pub(super) kind: Kind,
    pub(super) levels: u32,
    /// Where its levels begin in the tables.
    pub(super) first: u16,
    /// aᵢ and ln ℓᵢ.
    pub(crate) own: Fitted,
    pub(crate) length: Fitted,
    /// tᵢ.
    pub(super) relevance: f32,
    /// The factor of two equal and of two different levels of a nominal knob. `differ` of a range is the
    /// factor of the sum of a row.
    pub(super) same: f32,
    pub(super) differ: f32,
    /// For a graded knob: 1/ℓᵢ, for a range √5/ℓᵢ per level; tᵢ over the mean of the diagonal of
    /// cᵢ; 1 plus the mean of its scaled
    /// Matérn; and the slope of the logarithm of that diagonal with ln ℓᵢ, negative.
    pub(super) inverse_length: f32,
    pub(super) scale: f32,
    pub(super) base: f32,
    pub(super) mean_slope: f32,
}

impl Factor {
    pub(super) const ZERO: Self = Self {
        kind: Kind::Fixed,
        levels: 0,
        first: 0,
        own: Fitted::ZERO,
        length: Fitted::ZERO,
        relevance: 0.0,
        same: 0.0,
        differ: 0.0,
        inverse_length: 0.0,
        scale: 0.0,
        base: 0.0,
        mean_slope: 0.0,
    };

    pub(crate) fn is_graded(&self) -> bool {
        matches!(self.kind, Kind::Ranked | Kind::Valued | Kind::Range)
    }

    pub(crate) fn is_fixed(&self) -> bool {
        self.kind == Kind::Fixed
    }

    /// tᵢ.
    pub(crate) fn relevance(&self) -> f32 {
        self.relevance
    }

    /// For a nominal knob, (f − 1)/f of its factor f of two equal and of two different levels: the
    /// slope of ln f with ln tᵢ. 0 for others.
    pub(crate) fn shares(&self) -> [f32; 2] {
        let share = |f: f32| if self.kind == Kind::Nominal { (f - 1.0) / f } else { 0.0 };
        [share(self.same), share(self.differ)]
    }

    /// Whether tᵢ is at its limit, where aᵢ and g no longer change it.
    pub(crate) fn is_at_limit(&self) -> bool {
        self.relevance >= if self.is_graded() { MOST_GRADED } else { MOST_NOMINAL }
    }
}

impl Factor {
    /// Where the levels of a graded knob are in the tables.
    pub(super) fn range(&self) -> core::ops::Range<usize> {
        let numbers = if self.kind == Kind::Range { 1 } else { self.levels as usize };
        usize::from(self.first)..usize::from(self.first) + numbers
    }

    /// The difference of neighbours among levels at equal steps.
    pub(super) fn step(&self) -> f32 {
        1.0 / self.top()
    }

    /// The last level.
    pub(super) fn top(&self) -> f32 {
        self.levels as f32 - 1.0
    }

    /// The numbers of a graded knob that follow from ℓᵢ and tᵢ, from this row on; returns the next row.
    pub(super) fn derive(&mut self, row: usize, tables: &mut [f32], means: &mut [f32], slopes: &mut [f32]) -> usize {
        if row == 0 {
            // ln ℓ is at least −4, and [`short_exp`] takes no positive argument.
            self.inverse_length = short_exp(LENGTH.0 - self.length.at) * INVERSE_SHORTEST;
            means.fill(0.0);
            slopes.fill(0.0);
        }
        if self.kind == Kind::Range {
            self.derive_range();
            return 1;
        }
        let levels = tables.len();
        let next = if self.kind == Kind::Ranked {
            let step = self.step() * self.inverse_length;
            for (difference, ((table, mean), slope)) in tables.iter_mut().zip(&mut *means).zip(&mut *slopes).enumerate()
            {
                let r = difference as f32 * step;
                *table = matern(r);
                (*mean, *slope) = (*table, *table * slope_share(r));
            }
            sum_rows(means, 1.0);
            sum_rows(slopes, 0.0);
            levels
        } else {
            let mut next = row;
            let mut pairs = 0;
            while next < levels && pairs < PAIRS {
                pairs += next + 1;
                self.add_row(next, tables, means, slopes);
                next += 1;
            }
            next
        };
        if next == levels {
            self.scale_tables(tables, means, slopes);
        }
        next
    }

    /// Adds the pairs of a level with itself and those before it to the sums of both rows.
    fn add_row(&self, row: usize, positions: &[f32], means: &mut [f32], slopes: &mut [f32]) {
        let own = positions.get(row).copied().unwrap_or(0.0);
        let (mut mean, mut slope) = (0.0, 0.0);
        for ((position, other), other_slope) in positions.iter().zip(&mut *means).zip(&mut *slopes).take(row) {
            let r = (own - position).abs() * self.inverse_length;
            let value = matern(r);
            let by_length = value * slope_share(r);
            *other += value;
            *other_slope += by_length;
            mean += value;
            slope += by_length;
        }
        if let (Some(own), Some(own_slope)) = (means.get_mut(row), slopes.get_mut(row)) {
            (*own, *own_slope) = (*own + mean + 1.0, *own_slope + slope);
        }
    }

    /// Makes means of the sums of rows, and scales everything by tᵢ.
    fn scale_tables(&mut self, tables: &mut [f32], means: &mut [f32], slopes: &mut [f32]) {
        let inverse = 1.0 / self.levels as f32;
        let mean_of = |sums: &[f32]| sums.iter().fold(0.0, |sum, row| sum + row) * inverse * inverse;
        let (mean, mean_slope) = (mean_of(means), mean_of(slopes));
        // The mean of 1 − 2·mean + mean over the levels. Equal values have no spread at all.
        let inverse_diagonal = if mean < 1.0 - 1e-6 { 1.0 / (1.0 - mean) } else { 0.0 };
        self.scale = self.relevance * inverse_diagonal;
        self.base = 1.0 + self.scale * mean;
        self.mean_slope = mean_slope * inverse_diagonal;
        let by_row = self.scale * inverse;
        means.iter_mut().chain(slopes).for_each(|sum| *sum *= by_row);
        if self.kind == Kind::Ranked {
            tables.iter_mut().for_each(|table| *table = self.base + self.scale * *table);
        }
    }
}

/// For levels at equal steps, given a number per difference: its sum over each row. `diagonal` is
/// that of no difference.
fn sum_rows(numbers: &mut [f32], diagonal: f32) {
    let mut sum = 0.0;
    for number in numbers.iter_mut() {
        sum += *number;
        *number = sum;
    }
    // Row a has the differences up to a on one side and up to n − 1 − a on the other.
    let n = numbers.len();
    for a in 0..n.div_ceil(2) {
        if let (Some(left), Some(right)) = (numbers.get(a), numbers.get(n - 1 - a)) {
            let sum = left + right - diagonal;
            for row in [a, n - 1 - a] {
                numbers.get_mut(row).into_iter().for_each(|number| *number = sum);
            }
        }
    }
}

/// Matérn 5/2 at r length-scales.
pub(super) fn matern(r: f32) -> f32 {
    let r = SQRT_5 * r;
    (1.0 + r + r * r * (1.0 / 3.0)) * Arithmetic::exp(-r)
}

/// The slope of its logarithm with that of the length-scale.
pub(super) fn slope_share(r: f32) -> f32 {
    let r = SQRT_5 * r;
    let third = r * r * (1.0 / 3.0);
    third * (1.0 + r) / (1.0 + r + third)
}

pub(super) const SQRT_5: f32 = 2.236_068;
