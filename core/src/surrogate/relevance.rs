//! Fits the product kernel: one step uphill on the marginal likelihood, knob by knob.
//!
//! With W = αα′/s² − K⁻¹ + uu′/(1ᵀK⁻¹1 + λ), α = K⁻¹(y − μ) and u = K⁻¹1, the slope of the
//! likelihood with any number θ is ½ΣΣ W·∂K/∂θ (Rasmussen and Williams, equation 5.9; the last term
//! is that of the mean's prior). For a pair with product P, and N the product Π(1 + tᵢ):
//!
//! ∂k/∂ln tᵢ = (P/fᵢ·(fᵢ − 1) − k·N·tᵢ/(1 + tᵢ))/(N − 1), with fᵢ = 1 + tᵢ·cᵢ
//!
//! | name | prior |
//! |---|---|
//! | g | N(ln(½/K), 1) |
//! | aᵢ | N(0, 0.7²) |
//! | ln ℓᵢ | N(ln ¼, 0.7²) |
//!
//! **Choices**
//! - A chip does better with little and often than with one long search: a step per fit, warm from
//!   the last one. Steps follow the sign of the slope only (Rprop, Riedmiller and Braun 1993): they
//!   grow while it stays and shrink when it flips.
//! - P/fᵢ is a product from both ends, because fᵢ may be near zero.
//! - The inverse is never stored: column after column of it is enough.
//!
//! **Cost.** n³/3 multiplications for the columns, about 3nK per column for the slopes of nominal
//! knobs and five times that for graded ones; 6K + T numbers of state.

use crate::math::float::dot;
use crate::space::Combination;
use crate::space::knob::Level;
use crate::surrogate::gp::Gp;
use crate::surrogate::product::{COMMON, Fitted, Fours, LENGTH, OWN, PRIOR_LENGTH, Product};

/// 1/0.7².
const PRECISION: f32 = 1.0 / 0.49;
/// Bounds of a step, and how it changes.
const STEPS: (f32, f32) = (0.01, 0.5);
const GROW: f32 = 1.3;
const SHRINK: f32 = 0.5;

impl Fitted {
    /// One step in the direction of the slope, never longer than the slope.
    fn climb(&mut self, slope: f32, (low, high): (f32, f32)) {
        if slope == 0.0 || !slope.is_finite() {
            return;
        }
        let kept = (slope > 0.0) == (self.step > 0.0);
        let size = if kept { (self.step.abs() * GROW).min(STEPS.1) } else { (self.step.abs() * SHRINK).max(STEPS.0) };
        self.step = if slope > 0.0 { size } else { -size };
        // `clamp` would check its bounds and panic.
        let step = self.step.max(-slope.abs()).min(slope.abs());
        self.at = (self.at + step).max(low).min(high);
    }
}

impl<const K: usize, const M: usize> Product<K, M> {
    /// One step of every fitted number along the slopes of the log likelihood;
    /// [`derive_tables`](Self::derive_tables) is to follow.
    pub(crate) fn climb(&mut self, slopes: &PairSums<K>) {
        let (relevance, length) = slopes.of(self);
        let (mut all, prior) = (0.0, self.prior_common());
        for (slope, factor) in relevance.iter().zip(self.factors()) {
            // At its limit, g no longer changes tᵢ.
            all += if factor.is_at_limit() && *slope > 0.0 { 0.0 } else { *slope };
        }
        self.common.climb(all - (self.common.at - prior), COMMON);
        for (factor, (relevance, length)) in self.factors_mut().iter_mut().zip(relevance.iter().zip(length)) {
            if factor.is_fixed() {
                continue;
            }
            let relevance = if factor.is_at_limit() { relevance.min(0.0) } else { *relevance };
            factor.own.climb(relevance - factor.own.at * PRECISION, OWN);
            if M > 0 && factor.is_graded() {
                factor.length.climb(length - (factor.length.at - PRIOR_LENGTH) * PRECISION, LENGTH);
            }
        }
        self.derive_factors();
    }
}

/// Sums over pairs of points, from which the slopes of the log likelihood follow. They grow by one
/// column of K⁻¹ at a time.
#[derive(Clone, Debug)]
pub(crate) struct PairSums<const K: usize> {
    /// Of weight times product, and of the weights.
    pairs: f32,
    weights: f32,
    /// Of weight times product, for each four knobs and each set of them that differ.
    differing: Fours<K>,
    /// The slopes of the graded knobs.
    relevance: [f32; K],
    length: [f32; K],
}

impl<const K: usize> PairSums<K> {
    pub(crate) const ZERO: Self =
        Self { pairs: 0.0, weights: 0.0, differing: [[0.0; 4]; K], relevance: [0.0; K], length: [0.0; K] };

    /// Adds the pairs of point j with those in a range from it on, given its column of K⁻¹.
    #[inline(never)]
    pub(crate) fn add_column<const M: usize, const T: usize, const P: usize>(
        &mut self,
        (kernel, points): (&Product<K, M>, &[Combination<K>]),
        gp: &Gp<T, P>,
        (j, others): (usize, core::ops::Range<usize>),
        column: &[f32; T],
    ) {
        let Some(own) = points.get(j) else { return };
        let others = others.start..others.end.min(gp.len());
        let (Some(points), Some(column)) = (points.get(others.clone()), column.get(others.clone())) else { return };
        let rows = if M > 0 { kernel.rows(own.all()) } else { [[0.0; 2]; K] };
        let weights = gp.slope_weights(j, others.clone(), column);
        for (i, (other, weight)) in others.zip(points.iter().zip(weights)) {
            // The diagonal counts once, everything else twice, and all of it by half.
            let weight = weight * if i == j { 0.5 } else { 1.0 } * kernel.scale;
            self.add(kernel, weight, (own, &rows), other);
        }
    }

    /// The slopes with every ln tᵢ and ln ℓᵢ; 0 for a knob of one level.
    fn of<const M: usize>(&self, kernel: &Product<K, M>) -> ([f32; K], &[f32; K]) {
        // What the division by N − 1 takes from every tᵢ.
        let common = (self.pairs - self.weights) * kernel.scale * kernel.whole;
        let mut relevance = self.relevance;
        for (i, (slope, factor)) in relevance.iter_mut().zip(kernel.factors()).enumerate() {
            let [equal, differ] = factor.shares();
            let sets = self.differing.as_flattened().iter().skip(i / 4 * 16).take(16).enumerate();
            let differing = sets.filter(|(set, _)| set >> (i % 4) & 1 == 1).fold(0.0, |sum, (_, pairs)| sum + pairs);
            *slope += equal * (self.pairs - differing) + differ * differing
                - common * factor.relevance() / (1.0 + factor.relevance());
        }
        (relevance, &self.length)
    }

    /// Adds one pair. A nominal knob has only two factors, so all it needs is which pairs differ.
    #[inline(always)]
    fn add<const M: usize>(
        &mut self,
        kernel: &Product<K, M>,
        weight: f32,
        (a, rows): (&Combination<K>, &[[f32; 2]; K]),
        b: &Combination<K>,
    ) {
        let differing = kernel.differing(a, b);
        let nominal = weight * kernel.nominal_product(differing);
        let product = if M > 0 { self.add_graded(kernel, nominal, (a.all(), rows), b.all()) } else { nominal };
        self.pairs += product;
        self.weights += weight;
        let mut sets = differing.sets::<M>();
        let (fours, rest) = self.differing.as_flattened_mut().as_chunks_mut::<16>();
        let (eights, four) = fours.as_chunks_mut::<2>();
        let mut add = |sums: &mut [f32]| {
            if let Some(sum) = sets.next().and_then(|set| sums.get_mut(set)) {
                *sum += product;
            }
        };
        for [first, second] in eights {
            add(first);
            add(second);
        }
        four.iter_mut().for_each(|four| add(four));
        if !K.is_multiple_of(4) {
            add(rest);
        }
    }

    /// Adds the slopes of the graded knobs, given the weighted product of the nominal ones; returns
    /// the whole product.
    fn add_graded<const M: usize>(
        &mut self,
        kernel: &Product<K, M>,
        nominal: f32,
        (a, rows): (&[Level; K], &[[f32; 2]; K]),
        b: &[Level; K],
    ) -> f32 {
        // The factor of each knob, its slope, and the product of those before it.
        let mut before = [[1.0; 3]; K];
        let mut product = nominal;
        let levels = a.iter().zip(rows).zip(b);
        for ((before, factor), ((a, row), b)) in before.iter_mut().zip(kernel.factors()).zip(levels) {
            if factor.is_graded() {
                let [value, slope] = kernel.factor_and_slope(factor, (*a, *row), *b);
                *before = [value, slope, product];
                product *= value;
            }
        }
        let mut after = 1.0;
        let slopes = before.iter().zip(self.relevance.iter_mut().zip(&mut self.length));
        let knobs = slopes.zip(kernel.factors()).rev();
        for ((before, (relevance, length)), _) in knobs.filter(|(_, factor)| factor.is_graded()) {
            let [value, slope, before] = *before;
            let others = before * after;
            *relevance += others * (value - 1.0);
            *length += others * slope;
            after *= value;
        }
        product
    }
}

impl<const T: usize, const P: usize> Gp<T, P> {
    /// Element j of K⁻¹(y − μ).
    pub(crate) fn weight(&self, j: usize) -> f32 {
        self.weights().get(j).copied().unwrap_or(0.0)
    }

    /// K⁻¹ at row and column j.
    pub(crate) fn inverse_diagonal(&self, j: usize) -> f32 {
        let mut column = [0.0; T];
        column.iter_mut().skip(j).take(1).for_each(|one| *one = 1.0);
        self.solve_lower_after(j, &mut column);
        dot(&column, &column)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Prior;
    use crate::math::matrix::triangle;
    use crate::math::random::Random;
    use crate::math::times;
    use crate::space::Space;
    use crate::space::knob::{Knob, Scale};
    use crate::surrogate::gp::Repeats;
    use crate::surrogate::product::graded_levels;

    const KNOBS: [Knob; 5] = [
        Knob::nominal(3),
        Knob::ranked(6),
        Knob::graded(&[1.0, 2.0, 5.0, 9.0], Scale::Linear),
        Knob::nominal(2),
        Knob::range(0.0, 4095.0, 1.0),
    ];
    const N: usize = 12;
    type Kernel = Product<5, { graded_levels(&KNOBS) }>;

    fn process(kernel: &Kernel, points: &[Combination<5>], y: &[f32]) -> Gp<N, { triangle(N) }> {
        let mut gp = Gp::new();
        gp.extend(N, |i, row| {
            for (j, k) in row.iter_mut().enumerate() {
                let noise = if i == j { 0.1 } else { 0.0 };
                *k = kernel.covariance(&points[i], &points[j]) + noise;
            }
        })
        .unwrap();
        gp.condition(y, &Prior::WEAK, Repeats::default());
        gp
    }

    /// The slopes of a process on these points.
    fn slopes(kernel: &Kernel, points: &[Combination<5>], y: &[f32]) -> PairSums<5> {
        let (gp, mut slopes, mut column) = (process(kernel, points, y), PairSums::ZERO, [0.0; N]);
        for j in 0..N {
            gp.half_column(j, &mut column);
            gp.whole_column(j, &mut column);
            slopes.add_column((kernel, points), &gp, (j, j..N), &column);
        }
        slopes
    }

    /// Against differences of the likelihood itself.
    #[test]
    fn slopes_are_those_of_the_likelihood() {
        let space = Space::new(&KNOBS).unwrap();
        let mut random = Random::new(3, 0);
        let points: [Combination<5>; N] = core::array::from_fn(|_| space.draw(&mut random));
        let y: [f32; N] = core::array::from_fn(|i| {
            (f32::from(points[i].level(1)) - 2.0).abs() + f32::from(points[i].level(0)) + random.uniform()
        });
        let mut kernel = Kernel::new();
        kernel.init(&space).unwrap();
        let slopes = slopes(&kernel, &points, &y);
        let (relevance, length) = slopes.of(&kernel);
        const STEP: f32 = 0.05;
        let difference = |change: fn(&mut Kernel, usize, f32), i: usize| {
            let at = |step: f32| {
                let mut moved = kernel.clone();
                change(&mut moved, i, step);
                moved.derive();
                process(&moved, &points, &y).log_likelihood()
            };
            (at(STEP) - at(-STEP)) / (2.0 * STEP)
        };
        for i in (0..5).take(times(5, 1)) {
            let by_relevance = difference(|kernel, i, step| kernel.factors_mut()[i].own.at += step, i);
            let by_length = difference(|kernel, i, step| kernel.factors_mut()[i].length.at += step, i);
            assert!((relevance[i] - by_relevance).abs() < 0.01, "{i}: {} {by_relevance}", relevance[i]);
            assert!((length[i] - by_length).abs() < 0.01, "{i}: {} {by_length}", length[i]);
        }
        assert!(
            relevance.iter().take(3).chain(&length[1..3]).all(|slope| slope.abs() > 0.02),
            "{relevance:?} {length:?}"
        );
    }

    /// One knob decides the cost; fits find out which.
    #[test]
    fn the_knob_that_matters_becomes_relevant() {
        let space = Space::new(&KNOBS).unwrap();
        let mut random = Random::new(4, 0);
        let points: [Combination<5>; N] = core::array::from_fn(|_| space.draw(&mut random));
        let y: [f32; N] = core::array::from_fn(|i| f32::from(points[i].level(0)) - 1.0);
        let mut kernel = Kernel::new();
        kernel.init(&space).unwrap();
        for _ in 0..times(20, 1) {
            kernel.climb(&slopes(&kernel, &points, &y));
            kernel.derive();
        }
        let [first, others @ ..] = kernel.factors();
        assert!(cfg!(miri) || others.iter().all(|factor| factor.relevance() < 0.3 * first.relevance()));
    }

    #[test]
    fn steps_grow_while_the_slope_stays_and_shrink_when_it_flips() {
        let mut number = Fitted { at: 0.0, step: 0.1 };
        number.climb(5.0, OWN);
        assert!((number.at - 0.13).abs() < 1e-6);
        number.climb(-5.0, OWN);
        assert!((number.at - 0.065).abs() < 1e-6);
        // Never longer than the slope, never beyond the bounds.
        number.climb(-1e-3, OWN);
        assert!((number.at - 0.064).abs() < 1e-6);
        (0..100).for_each(|_| number.climb(9.0, OWN));
        assert_eq!(number.at, OWN.1);
        number.climb(f32::NAN, OWN);
        assert_eq!(number.at, OWN.1);
    }
}
