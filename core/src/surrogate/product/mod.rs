//! The product kernel: two combinations are alike if they agree in the knobs that matter.
//!
//! k = (Π(1 + tᵢ·cᵢ) − 1)/(Π(1 + tᵢ) − 1), the heat kernel without its constant: for small t it is
//! linear in the knobs, larger ones bring in pairs, triples and so on.
//!
//! | name | meaning |
//! |---|---|
//! | cᵢ | similarity of two levels of knob i; its mean over all levels is 0, and 1 for a level with itself on average |
//! | nominal cᵢ | 1 if equal, else −1/(q − 1) with q levels |
//! | graded cᵢ | Matérn 5/2 of the difference of their positions over ℓᵢ, minus the means of its rows and columns |
//! | tᵢ | relevance of knob i: exp(g + aᵢ) up to a limit |
//! | g, aᵢ, ℓᵢ | common relevance, own relevance, length-scale: [`relevance`](crate::surrogate::relevance) fits them |
//!
//! **Choices**
//! - The paper maps all knobs into one space, where a random map loses which knob did what. Here
//!   every knob keeps its own factor, and renaming the levels of a nominal knob changes nothing.
//! - A graded knob's factor may be near zero or negative, so nothing here divides by a factor.
//! - Levels at equal steps look their Matérn up by the difference; levels with values compute it.
//! - A range has no tables: [`range`] has the means of its rows in closed form.
//!
//! **Cost.** Per pair, by estimate, 3 instructions per knob of two levels, 6 per other nominal knob, 20 per ranked, 60
//! per valued one and 130 per range; some 60 bytes per knob and 12 per graded level, none per level of
//! a range.

mod range;

use crate::error::InitError;
use crate::math::float::{Arithmetic, Math, short_exp};
use crate::space::knob::{Knob, Level};
use crate::space::{Combination, Space, word};

/// Largest tᵢ of a nominal knob, where 1 + t·c must stay above zero, and of a graded one.
const MOST_NOMINAL: f32 = 0.95;
const MOST_GRADED: f32 = 10.0;
const LN_MOST_GRADED: f32 = core::f32::consts::LN_10;
/// Bounds of aᵢ, g and ln ℓᵢ.
pub(crate) const OWN: (f32, f32) = (-4.0, 4.0);
pub(crate) const COMMON: (f32, f32) = (-9.0, 2.0);
pub(crate) const LENGTH: (f32, f32) = (-4.0, 1.5);

/// Numbers per level that a tuner without a random map keeps: the levels of its graded knobs. A range
/// counts as one level, however many it has: 0 would say that nothing is graded.
///
/// ```
/// use trimtab::{Knob, sizes::graded_levels};
/// assert_eq!(graded_levels(&[Knob::nominal(2), Knob::ranked(7), Knob::ranked(100)]), 107);
/// assert_eq!(graded_levels(&[Knob::nominal(2), Knob::range(0.0, 4095.0, 1.0)]), 1);
/// ```
pub const fn graded_levels(knobs: &[Knob]) -> usize {
    let (mut levels, mut i) = (0, 0);
    while i < knobs.len() {
        levels += tabled(&knobs[i]);
        i += 1;
    }
    levels
}

/// Numbers per level of one knob.
const fn tabled(knob: &Knob) -> usize {
    match knob {
        _ if !knob.is_graded() => 0,
        Knob::Range { .. } => 1,
        _ => knob.levels(),
    }
}

/// A fitted number and its next step; the sign of the step is that of the last gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fitted {
    pub(crate) at: f32,
    pub(crate) step: f32,
}

/// The first step of a fitted number.
const FIRST_STEP: f32 = 0.1;

impl Fitted {
    const ZERO: Self = Self { at: 0.0, step: 0.0 };

    const fn new(at: f32) -> Self {
        Self { at, step: FIRST_STEP }
    }
}

/// How the levels of a knob compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
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
    kind: Kind,
    levels: u32,
    /// Where its levels begin in the tables.
    first: u16,
    /// aᵢ and ln ℓᵢ.
    pub(crate) own: Fitted,
    pub(crate) length: Fitted,
    /// tᵢ.
    relevance: f32,
    /// The factor of two equal and of two different levels of a nominal knob. `differ` of a range is the
    /// factor of the sum of a row.
    same: f32,
    differ: f32,
    /// For a graded knob: 1/ℓᵢ, for a range √5/ℓᵢ per level; tᵢ over the mean of the diagonal of
    /// cᵢ; 1 plus the mean of its scaled
    /// Matérn; and the slope of the logarithm of that diagonal with ln ℓᵢ, negative.
    inverse_length: f32,
    scale: f32,
    base: f32,
    mean_slope: f32,
}

impl Factor {
    const ZERO: Self = Self {
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

/// The kernel with its hyper-parameters, for K knobs with M graded levels.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Product<const K: usize, const M: usize> {
    /// g.
    pub(crate) common: Fitted,
    /// The product of the nominal knobs' factors of equal levels.
    equal: f32,
    /// Π(1 + tᵢ), and 1/(that − 1).
    pub(crate) whole: f32,
    pub(crate) scale: f32,
    /// Whether the lowest bits of the first 32 levels tell which of these knobs differ, or nobody asks:
    /// all are nominal with at most two levels, or all are graded.
    lows_tell: bool,
    /// For each four knobs and each set of them that differ, the product of their factors over that
    /// of equal levels: see [`differing`]. Knobs that are not nominal count as equal.
    ratios: Fours<K>,
    factors: [Factor; K],
    /// Per graded level: see [`Kind`]; the scaled mean of its row of Matérn; the slope of that with
    /// ln ℓᵢ.
    tables: [f32; M],
    means: [f32; M],
    slopes: [f32; M],
}

impl<const K: usize, const M: usize> Product<K, M> {
    pub(crate) const fn new() -> Self {
        Self {
            factors: [Factor::ZERO; K],
            common: Fitted::ZERO,
            tables: [0.0; M],
            means: [0.0; M],
            slopes: [0.0; M],
            ratios: [[0.0; 4]; K],
            lows_tell: false,
            equal: 0.0,
            whole: 0.0,
            scale: 0.0,
        }
    }

    /// Initialises for a space; unchanged on an error.
    pub(crate) fn init(&mut self, space: &Space<K>) -> Result<(), InitError> {
        let needed = graded_levels(space.knobs());
        if needed > M {
            return Err(InitError::TooManyFeatures { needed, most: M });
        }
        let mut first = 0;
        self.factors = [Factor::ZERO; K];
        for (factor, knob) in self.factors.iter_mut().zip(space.knobs()) {
            factor.kind = match knob {
                _ if knob.levels() < 2 => Kind::Fixed,
                Knob::Graded { .. } if knob.is_graded() => Kind::Valued,
                Knob::Range { .. } if knob.is_graded() => Kind::Range,
                _ if knob.is_graded() => Kind::Ranked,
                _ => Kind::Nominal,
            };
            (factor.levels, factor.first) = (knob.levels() as u32, first as u16);
            (factor.own, factor.length) = (Fitted::new(0.0), Fitted::new(PRIOR_LENGTH));
            if M > 0 && factor.kind == Kind::Valued {
                let positions = (0..knob.levels()).map(|level| knob.position(level as Level));
                let (low, high) = positions
                    .clone()
                    .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
                let unit = if high > low { 1.0 / (high - low) } else { 0.0 };
                let own = self.tables.get_mut(first..).unwrap_or_default();
                own.iter_mut().zip(positions).for_each(|(own, position)| *own = (position - low) * unit);
            }
            first += tabled(knob);
        }
        let first = || space.knobs().iter().take(32);
        let all_graded = M > 0 && first().all(Knob::is_graded);
        self.lows_tell = all_graded || first().all(|knob| !knob.is_graded() && knob.levels() <= 2);
        self.common = Fitted::new(self.prior_common());
        self.derive();
        Ok(())
    }

    /// The prior mean of g: half a knob's worth of relevance, shared by all knobs.
    pub(crate) fn prior_common(&self) -> f32 {
        let knobs = self.factors.iter().filter(|factor| !factor.is_fixed()).count();
        crate::math::float::ln(0.5 / knobs.max(1) as f32)
    }

    /// The factors.
    pub(crate) fn factors(&self) -> &[Factor; K] {
        &self.factors
    }

    /// The factors, for a fit; call [`derive`](Self::derive) afterwards.
    pub(crate) fn factors_mut(&mut self) -> &mut [Factor; K] {
        &mut self.factors
    }

    /// Computes everything that follows from the fitted numbers.
    pub(crate) fn derive(&mut self) {
        self.derive_factors();
        let mut level = 0;
        while self.derive_tables(&mut level) {}
    }

    /// The first part of [`derive`](Self::derive): everything but the tables of graded knobs.
    #[inline(never)]
    pub(crate) fn derive_factors(&mut self) {
        self.whole = 1.0;
        for factor in self.factors.iter_mut().filter(|factor| !factor.is_fixed()) {
            let most = if factor.is_graded() { MOST_GRADED } else { MOST_NOMINAL };
            let exponent = (self.common.at + factor.own.at - LN_MOST_GRADED).min(0.0);
            factor.relevance = (MOST_GRADED * short_exp(exponent)).min(most);
            factor.same = 1.0 + factor.relevance;
            factor.differ = 1.0 - factor.relevance / factor.top();
            self.whole *= factor.same;
        }
        self.scale = if self.whole > 1.0 { 1.0 / (self.whole - 1.0) } else { 0.0 };
        self.equal = 1.0;
        for (i, factor) in self.factors.iter().enumerate() {
            let is_nominal = factor.kind == Kind::Nominal;
            let ratio = if is_nominal { factor.differ / factor.same } else { 1.0 };
            self.equal *= if is_nominal { factor.same } else { 1.0 };
            // The sets whose last knob is this one.
            let (first, bit) = (i / 4 * 16, 1 << (i % 4));
            for set in bit..2 * bit {
                let others = if set > bit { self.ratios.as_flattened().get(first + set - bit).copied() } else { None };
                if let Some(own) = self.ratios.as_flattened_mut().get_mut(first + set) {
                    *own = others.unwrap_or(1.0) * ratio;
                }
            }
            if let (1, Some(none)) = (bit, self.ratios.as_flattened_mut().get_mut(first)) {
                *none = 1.0;
            }
        }
    }

    /// The second part, in steps: one knob, or some rows of one. `level` counts the graded levels
    /// that are done, from 0; returns whether there are more.
    pub(crate) fn derive_tables(&mut self, level: &mut usize) -> bool {
        if M == 0 {
            return false;
        }
        let Self { factors, tables, means, slopes, .. } = self;
        let mut graded = factors.iter_mut().filter(|factor| factor.is_graded());
        let Some(factor) = graded.find(|factor| *level < factor.range().end) else { return false };
        let range = factor.range();
        if let (Some(tables), Some(means), Some(slopes)) =
            (tables.get_mut(range.clone()), means.get_mut(range.clone()), slopes.get_mut(range.clone()))
        {
            let row = level.saturating_sub(range.start);
            *level = range.start + factor.derive(row, tables, means, slopes);
        }
        true
    }

    /// The prior covariance of two combinations, as a share of the signal variance.
    #[inline(always)]
    pub(crate) fn covariance(&self, a: &Combination<K>, b: &Combination<K>) -> f32 {
        self.normalised(self.product(a, b, K))
    }

    /// The same of levels that are no combination.
    #[inline(always)]
    pub(crate) fn covariance_of(&self, a: &[Level; K], b: &[Level; K]) -> f32 {
        self.normalised(self.multiplied(self.nominal_product(Differing::new::<M>(a, b)), (a, b), K))
    }

    /// The covariance that belongs to a product of all factors.
    #[inline(always)]
    pub(crate) fn normalised(&self, product: f32) -> f32 {
        (product - 1.0) * self.scale
    }

    /// The product of all factors, but without that of a graded knob `without`; K leaves out none.
    #[inline(always)]
    pub(crate) fn product(&self, a: &Combination<K>, b: &Combination<K>, without: usize) -> f32 {
        self.multiplied(self.nominal_product(self.differing(a, b)), (a.all(), b.all()), without)
    }

    /// A product of nominal knobs times the factors of all graded knobs but `without`.
    #[inline(always)]
    fn multiplied(&self, mut product: f32, (a, b): (&[Level; K], &[Level; K]), without: usize) -> f32 {
        if M > 0 {
            let knobs = self.factors.iter().zip(a.iter().zip(b)).enumerate();
            let graded = knobs.filter(|(i, (factor, _))| factor.is_graded() && *i != without);
            graded.for_each(|(_, (factor, (a, b)))| product *= self.factor(factor, *a, *b));
        }
        product
    }

    /// The position of a level, from 0 to 1: of a graded knob, or of one with two levels.
    pub(crate) fn position(&self, knob: usize, level: Level) -> f32 {
        let Some(factor) = self.factors.get(knob) else { return 0.0 };
        if factor.kind == Kind::Valued {
            return self.tables.get(usize::from(factor.first) + usize::from(level)).copied().unwrap_or(0.0);
        }
        f32::from(level) / factor.top()
    }

    /// [`product`](Self::product) with each of `others`.
    #[inline(always)]
    pub(crate) fn products(&self, a: &Combination<K>, others: &[Combination<K>], without: usize, products: &mut [f32]) {
        let all = products.iter_mut().zip(others);
        all.for_each(|(product, other)| *product = self.nominal_product(self.differing(a, other)));
        if M > 0 {
            self.multiply(a.all(), others, without, products);
        }
    }

    /// Multiplies by the factors of all graded knobs but `without`.
    #[inline(never)]
    fn multiply(&self, a: &[Level; K], others: &[Combination<K>], without: usize, products: &mut [f32]) {
        let knobs = self.factors.iter().zip(a).enumerate();
        for (knob, (_, level)) in knobs.filter(|(i, (factor, _))| factor.is_graded() && *i != without) {
            self.each_factor((knob, *level), products.iter_mut().zip(others), |product, f| *product *= f);
        }
    }

    /// Calls with the factor of a graded knob at this level and at that of each of `others`.
    #[inline(always)]
    pub(crate) fn each_factor<'a, S>(
        &self,
        (knob, level): (usize, Level),
        others: impl ExactSizeIterator<Item = (S, &'a Combination<K>)>,
        mut call: impl FnMut(S, f32),
    ) {
        let Some(factor) = self.factors.get(knob) else { return };
        if M > 0 && factor.kind == Kind::Range {
            let own = factor.mean_at(level);
            others.for_each(|(s, other)| call(s, factor.beside((level, own), other.level(knob))));
            return;
        }
        let levels = factor.levels as usize;
        if levels <= ROW && levels <= others.len() {
            let mut row = [1.0; ROW];
            let all = row.iter_mut().take(levels).enumerate();
            all.for_each(|(other, f)| *f = self.factor(factor, level, other as Level));
            others.for_each(|(s, other)| call(s, row[usize::from(other.level(knob)) % ROW]));
        } else {
            others.for_each(|(s, other)| call(s, self.factor(factor, level, other.level(knob))));
        }
    }

    /// Whether a knob is graded.
    pub(crate) fn is_graded(&self, knob: usize) -> bool {
        self.factors.get(knob).is_some_and(Factor::is_graded)
    }

    /// [`factor`](Self::factor) of the knob at this index.
    #[inline(always)]
    pub(crate) fn factor_of(&self, knob: usize, a: Level, b: Level) -> f32 {
        self.factors.get(knob).map_or(1.0, |factor| self.factor(factor, a, b))
    }

    /// The bit of the lowest bits of levels that tells the level of a nominal knob, if one does.
    #[inline(always)]
    pub(crate) fn low_bit(&self, knob: usize) -> Option<u32> {
        (self.lows_tell && knob < 32 && (M == 0 || !self.is_graded(knob))).then_some(1 << (knob & 31))
    }

    /// What a product is multiplied by when a nominal knob becomes equal, and when it becomes
    /// different.
    pub(crate) fn exchange(&self, knob: usize) -> [f32; 2] {
        let nominal = self.factors.get(knob).filter(|factor| factor.kind == Kind::Nominal);
        nominal.map_or([1.0; 2], |factor| [factor.same / factor.differ, factor.differ / factor.same])
    }

    /// The nominal knobs in which two combinations differ.
    #[inline(always)]
    pub(crate) fn differing<'a>(&self, a: &'a Combination<K>, b: &'a Combination<K>) -> Differing<'a, K> {
        let levels = (a.all(), b.all());
        if self.lows_tell {
            Differing { bits: a.lows() ^ b.lows(), levels }
        } else {
            Differing::new::<M>(a.all(), b.all())
        }
    }

    /// The product of the nominal knobs' factors.
    #[inline(always)]
    pub(crate) fn nominal_product(&self, differing: Differing<'_, K>) -> f32 {
        let (mut product, mut sets) = (self.equal, differing.sets::<M>());
        let (fours, rest) = self.ratios.as_flattened().as_chunks::<16>();
        let (eights, four) = fours.as_chunks::<2>();
        let mut multiply = |ratios: &[f32], set: Option<usize>| {
            product *= set.and_then(|set| ratios.get(set)).copied().unwrap_or(1.0);
        };
        for [first, second] in eights {
            multiply(first, sets.next());
            multiply(second, sets.next());
        }
        four.iter().for_each(|four| multiply(four, sets.next()));
        if !K.is_multiple_of(4) {
            multiply(rest, sets.next());
        }
        product
    }

    /// 1 + tᵢ·cᵢ of two levels.
    #[inline(always)]
    pub(crate) fn factor(&self, factor: &Factor, a: Level, b: Level) -> f32 {
        match factor.kind {
            Kind::Fixed => 1.0,
            Kind::Nominal if a == b => factor.same,
            Kind::Nominal => factor.differ,
            Kind::Ranked | Kind::Valued | Kind::Range if M == 0 => 1.0,
            Kind::Range => factor.beside((a, factor.mean_at(a)), b),
            Kind::Ranked | Kind::Valued => {
                let first = usize::from(factor.first);
                let at = |table: &[f32; M], level| table.get(first + usize::from(level)).copied().unwrap_or(0.0);
                let whole = if factor.kind == Kind::Ranked {
                    at(&self.tables, a.abs_diff(b))
                } else {
                    let difference = (at(&self.tables, a) - at(&self.tables, b)).abs();
                    factor.base + factor.scale * matern(difference * factor.inverse_length)
                };
                whole - at(&self.means, a) - at(&self.means, b)
            }
        }
    }

    /// For each range, the mean of the row of its level and the slope of that with ln ℓᵢ.
    #[inline(always)]
    pub(crate) fn rows(&self, a: &[Level; K]) -> [[f32; 2]; K] {
        let mut rows = [[0.0; 2]; K];
        for (row, (factor, level)) in rows.iter_mut().zip(self.factors.iter().zip(a)) {
            if factor.kind == Kind::Range {
                *row = factor.row_at(*level);
            }
        }
        rows
    }

    /// [`factor`](Self::factor) of a graded knob, given its row of [`rows`](Self::rows), and its
    /// derivative with respect to ln ℓᵢ.
    #[inline(always)]
    pub(crate) fn factor_and_slope(&self, factor: &Factor, (a, row): (Level, [f32; 2]), b: Level) -> [f32; 2] {
        if factor.kind == Kind::Range {
            return factor.beside_with_slope((a, row), b);
        }
        let value = self.factor(factor, a, b);
        [value, self.slope(factor, value, a, b)]
    }

    /// The derivative of [`factor`](Self::factor) with respect to ln ℓᵢ, given its value.
    #[inline(always)]
    fn slope(&self, factor: &Factor, value: f32, a: Level, b: Level) -> f32 {
        let first = usize::from(factor.first);
        let at = |table: &[f32; M], level| table.get(first + usize::from(level)).copied().unwrap_or(0.0);
        let difference = if factor.kind == Kind::Ranked {
            f32::from(a.abs_diff(b)) * factor.step()
        } else {
            (at(&self.tables, a) - at(&self.tables, b)).abs()
        };
        // Matérn itself is in the value.
        let scaled = value + at(&self.means, a) + at(&self.means, b) - factor.base;
        scaled * slope_share(difference * factor.inverse_length) - at(&self.slopes, a) - at(&self.slopes, b)
            + (factor.relevance + value - 1.0) * factor.mean_slope
    }
}

impl Factor {
    /// Where the levels of a graded knob are in the tables.
    fn range(&self) -> core::ops::Range<usize> {
        let numbers = if self.kind == Kind::Range { 1 } else { self.levels as usize };
        usize::from(self.first)..usize::from(self.first) + numbers
    }

    /// The difference of neighbours among levels at equal steps.
    fn step(&self) -> f32 {
        1.0 / self.top()
    }

    /// The last level.
    fn top(&self) -> f32 {
        self.levels as f32 - 1.0
    }

    /// The numbers of a graded knob that follow from ℓᵢ and tᵢ, from this row on; returns the next row.
    fn derive(&mut self, row: usize, tables: &mut [f32], means: &mut [f32], slopes: &mut [f32]) -> usize {
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

/// A number for each four knobs and each set of them; the last are used in part if K is no multiple
/// of four.
pub(crate) type Fours<const K: usize> = [[f32; 4]; K];

/// The knobs in which two combinations differ; of graded ones it says nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Differing<'a, const K: usize> {
    /// The first 32 knobs, bit i for the i-th.
    bits: u32,
    levels: (&'a [Level; K], &'a [Level; K]),
}

impl<'a, const K: usize> Differing<'a, K> {
    /// By comparing levels.
    #[inline(always)]
    fn new<const M: usize>(a: &'a [Level; K], b: &'a [Level; K]) -> Self {
        Self { bits: compared::<M>(a, b, 0), levels: (a, b) }
    }

    /// The sets of four knobs that differ, one after the other; without end.
    #[inline(always)]
    pub(crate) fn sets<const M: usize>(self) -> impl Iterator<Item = usize> {
        let (Self { mut bits, levels: (a, b) }, mut first) = (self, 0);
        core::iter::from_fn(move || {
            if K > 32 && first > 0 && first % 32 == 0 {
                bits = compared::<M>(a, b, first);
            }
            first += 4;
            let set = bits & 15;
            bits >>= 4;
            Some(set as usize)
        })
    }
}

/// The knobs that differ among the 32 from `first` on.
#[inline(never)]
fn compared<const M: usize>(a: &[Level], b: &[Level], first: usize) -> u32 {
    let end = (first + 32).min(a.len());
    let (Some(a), Some(b)) = (a.get(first..end), b.get(first..end)) else { return 0 };
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let rest = differing_rest(a_rest, b_rest) as u32;
    a.iter().zip(b).rev().fold(rest, |bits, (a, b)| bits << 4 | differing::<M>(*a, *b) as u32)
}

/// The set of four knobs in which two combinations differ: bit i for the i-th.
///
/// Compares their low bytes: a nominal knob has at most 256 levels, and for a graded one the answer
/// means nothing. With M = 0 there are no others. A byte that is not zero sets its highest bit, and
/// a multiplication collects the four
/// bits.
#[inline(always)]
pub(crate) fn differing<const M: usize>([a0, a1, a2, a3]: [Level; 4], [b0, b1, b2, b3]: [Level; 4]) -> usize {
    let low = |x: u32| if M == 0 { x } else { x & 0x00ff_00ff };
    let (first, second) = (low(word([a0, a1]) ^ word([b0, b1])), low(word([a2, a3]) ^ word([b2, b3])));
    // Knobs 0, 2, 1 and 3 from the lowest byte up.
    let x = first | second << 8;
    let differs = (((x & 0x7f7f_7f7f) + 0x7f7f_7f7f) | x) >> 7 & 0x0101_0101;
    (differs.wrapping_mul(1 << 28 | 1 << 22 | 1 << 13 | 1 << 7) >> 28) as usize
}

/// The same for the knobs that are left over.
#[inline(always)]
pub(crate) fn differing_rest(a: &[Level], b: &[Level]) -> usize {
    a.iter().zip(b).rev().fold(0, |set, (a, b)| set << 1 | usize::from(a != b))
}

/// ln ¼: the prior mean of ln ℓᵢ.
pub(crate) const PRIOR_LENGTH: f32 = -1.386_294_4;
/// e⁴.
const INVERSE_SHORTEST: f32 = 54.598_15;

/// Up to so many levels, factors are computed once per level instead of once per observation.
const ROW: usize = 32;
/// Pairs of levels per step of [`Product::derive_tables`].
const PAIRS: usize = 128;

/// Matérn 5/2 at r length-scales.
fn matern(r: f32) -> f32 {
    let r = SQRT_5 * r;
    (1.0 + r + r * r * (1.0 / 3.0)) * Arithmetic::exp(-r)
}

/// The slope of its logarithm with that of the length-scale.
fn slope_share(r: f32) -> f32 {
    let r = SQRT_5 * r;
    let third = r * r * (1.0 / 3.0);
    third * (1.0 + r) / (1.0 + r + third)
}

const SQRT_5: f32 = 2.236_068;

#[cfg(test)]
mod tests;
