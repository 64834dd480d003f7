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

mod differing;
mod factor;
mod range;

use crate::error::InitError;
use crate::math::float::short_exp;
use crate::space::knob::{Knob, Level};
use crate::space::{Combination, Space};

use differing::Differing;
pub(crate) use differing::{differing, differing_rest};
pub(crate) use factor::{COMMON, Factor, Fitted, LENGTH, OWN, PRIOR_LENGTH};
use factor::{Kind, LN_MOST_GRADED, MOST_GRADED, MOST_NOMINAL, matern, slope_share};

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

/// Up to so many levels, factors are computed once per level instead of once per observation.
const ROW: usize = 32;
/// A number for each four knobs and each set of them; the last are used in part if K is no multiple
/// of four.
pub(crate) type Fours<const K: usize> = [[f32; 4]; K];

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

#[cfg(test)]
mod tests;
