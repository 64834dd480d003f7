//! Limits on further numbers, and how likely a combination is to keep all of them.
//!
//! A measurement keeps limit j if its margin gⱼ is not negative. A margin is modelled as the costs are,
//! with their factor: the same kernel and the same share of noise.
//!
//! P = Πⱼ Φ(μⱼ/σⱼ), μⱼ and σⱼ the posterior of zⱼ = gⱼ in units of its spread, within ±3
//!
//! | name | meaning |
//! |---|---|
//! | gⱼ | the margin to limit j: 3 W − power for "below 3 W" |
//! | zⱼ | the same in units of its spread: 0 stays 0 |
//! | v | whitened covariances of a combination, see [`gp`](crate::surrogate::gp) |
//!
//! **Choices**
//! - Where a margin becomes negative matters, not how far beyond it is. So margins are cut at three
//!   times their spread, which follows from the median of their sizes: no wild margin blinds the model.
//! - No hyper-parameters of their own: a margin takes one substitution per outcome, and a candidate as
//!   much as its cost, but only a candidate that would win without limits.
//! - The number of limits is that of the first outcome, so a log alone rebuilds it.
//! - A failure has no margins: it counts as their mean, with its noise next to nothing.
//!
//! **Cost.** 3T numbers per limit.

use crate::config::Prior;
use crate::math::float::{dot, erfc, ln, sqrt};
use crate::surrogate::gp::Gp;

/// The most limits of a tuner.
pub const MOST_LIMITS: usize = 4;

/// The deviation of normal numbers over the median of their sizes.
const SPREAD: f32 = 1.4826;
/// Margins are cut at so many times their spread.
const REACH: f32 = 3.0;
/// A margin is never more certain than this share of its variance.
const LEAST_SHARE: f32 = 1e-4;

/// The margins of at most T observations to at most G limits.
#[derive(Clone, Debug)]
pub(crate) struct Limits<const T: usize, const G: usize> {
    /// Number of limits: that of the first measured outcome.
    count: u8,
    is_known: bool,
    each: [Limit<T>; G],
}

/// One limit.
#[derive(Clone, Copy, Debug)]
struct Limit<const T: usize> {
    /// The mean margin of each observation, in the user's units.
    margins: [f32; T],
    /// L⁻¹(z − centre), and its weights K⁻¹(z − centre − mean), known only where there is noise.
    whitened: [f32; T],
    weights: [f32; T],
    /// 1/unit of z; the mean of z, and what is left of it under the kernel; the signal's deviation.
    inverse_unit: f32,
    centre: f32,
    mean: f32,
    deviation: f32,
}

impl<const T: usize> Limit<T> {
    const NONE: Self = Self {
        margins: [0.0; T],
        whitened: [0.0; T],
        weights: [0.0; T],
        inverse_unit: 0.0,
        centre: 0.0,
        mean: 0.0,
        deviation: 0.0,
    };

    /// z of observation i.
    fn z(&self, i: usize) -> f32 {
        let margin = self.margins.get(i).copied().unwrap_or(0.0);
        (margin * self.inverse_unit).clamp(-REACH, REACH)
    }

    /// The unit of z and its mean, over the observations that were measured. Their sizes overwrite
    /// `sizes`.
    fn standardise(&mut self, is_measured: &dyn Fn(usize) -> bool, n: usize, sizes: &mut [f32; T]) {
        let measured = self.margins.iter().take(n).enumerate().filter(|(i, _)| is_measured(*i));
        let mut count = 0;
        for (size, (_, margin)) in sizes.iter_mut().zip(measured) {
            *size = margin.abs();
            count += 1;
        }
        let sizes = sizes.get(..count).unwrap_or_default();
        let median = median(sizes);
        let typical = if median > 0.0 { median } else { sizes.iter().copied().fold(0.0, f32::max) };
        // Two divisions: the product may vanish.
        self.inverse_unit = if typical > 0.0 { (1.0 / SPREAD / typical).min(f32::MAX) } else { 1.0 };
        self.centre = (0..n).filter(|i| is_measured(*i)).fold(0.0, |sum, i| sum + self.z(i)) / count.max(1) as f32;
    }
}

/// The median of numbers that are not negative, the larger of two, or 0 of none: bit by bit, because
/// such numbers are in the order of their bits.
fn median(numbers: &[f32]) -> f32 {
    if numbers.is_empty() {
        return 0.0;
    }
    let mut below = 0u32;
    for bit in (0..31).rev() {
        let next = below | 1 << bit;
        if numbers.iter().filter(|number| number.to_bits() < next).count() <= numbers.len() / 2 {
            below = next;
        }
    }
    f32::from_bits(below)
}

impl<const T: usize, const G: usize> Limits<T, G> {
    pub(crate) const NONE: Self = Self { count: 0, is_known: false, each: [Limit::NONE; G] };

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        (self.count, self.is_known) = (0, false);
    }

    /// Number of limits.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        if G == 0 { 0 } else { usize::from(self.count) }
    }

    /// How many margins an outcome must have; `None` before the first.
    pub(crate) fn expected(&self) -> Option<usize> {
        if G == 0 { Some(0) } else { self.is_known.then_some(self.count()) }
    }

    /// Whether there are any.
    #[inline(always)]
    pub(crate) fn is_used(&self) -> bool {
        self.count() > 0
    }

    /// The limits in use.
    fn used(&self) -> &[Limit<T>] {
        self.each.get(..self.count()).unwrap_or_default()
    }

    /// Averages the margins of a measurement, the n-th of observation i, into those before.
    pub(crate) fn record(&mut self, i: usize, n: f32, margins: &[f32]) {
        if G == 0 {
            return;
        }
        (self.count, self.is_known) = (margins.len() as u8, true);
        for (limit, margin) in self.each.iter_mut().zip(margins) {
            if let Some(own) = limit.margins.get_mut(i) {
                *own = if n > 1.0 { *own + (margin / n - *own / n) } else { *margin };
            }
        }
    }

    /// Observation i was removed; those after it move up.
    pub(crate) fn remove(&mut self, i: usize) {
        for limit in &mut self.each {
            if let Some(margins) = limit.margins.get_mut(i..) {
                let mut next = 0.0;
                margins.iter_mut().rev().for_each(|margin| core::mem::swap(margin, &mut next));
            }
        }
    }

    /// The margins of observation i, 0 for limits that are not in use.
    pub(crate) fn margins(&self, i: usize) -> [f32; G] {
        let mut all = [0.0; G];
        all.iter_mut().zip(self.used()).for_each(|(own, limit)| *own = limit.margins.get(i).copied().unwrap_or(0.0));
        all
    }

    /// Whether observation i keeps all limits, as measured.
    pub(crate) fn keeps(&self, i: usize) -> bool {
        self.used().iter().all(|limit| limit.margins.get(i).is_some_and(|margin| *margin >= 0.0))
    }

    /// Whether observation i keeps all limits as far as the model believes its margins, with noise as a
    /// share of the signal.
    pub(crate) fn is_believed_to_keep(&self, i: usize, noise: f32) -> bool {
        if noise <= 0.0 {
            return self.keeps(i);
        }
        let weight = |limit: &Limit<T>| limit.weights.get(i).copied().unwrap_or(0.0);
        self.used().iter().all(|limit| limit.z(i) - noise * weight(limit) >= 0.0)
    }

    /// How much observation i breaks the limits, at most 0.
    pub(crate) fn violation(&self, i: usize) -> f32 {
        self.used().iter().fold(0.0, |sum, limit| sum + limit.z(i).min(0.0))
    }

    /// Brings limit j up to date with the factor, in steps: the unit of its margins, one substitution,
    /// and one more for the weights. Returns whether there is a step after this one.
    #[inline(never)]
    pub(crate) fn learn<const P: usize>(
        &mut self,
        (j, step): (usize, usize),
        (gp, prior): (&Gp<T, P>, &Prior),
        is_measured: &dyn Fn(usize) -> bool,
        needs_weights: bool,
        sizes: &mut [f32; T],
    ) -> bool {
        let (n, Some(limit)) = (gp.len(), self.each.get_mut(j)) else { return false };
        match step {
            0 => limit.standardise(is_measured, n, sizes),
            1 => {
                let mut missing = 0.0;
                for i in 0..n {
                    let is_measured = is_measured(i);
                    missing += if is_measured { 0.0 } else { 1.0 };
                    let z = if is_measured { limit.z(i) - limit.centre } else { 0.0 };
                    limit.whitened.iter_mut().skip(i).take(1).for_each(|own| *own = z);
                }
                let Some(whitened) = limit.whitened.get_mut(..n) else { return false };
                gp.solve_lower_rest(0, whitened);
                let (mean, signal) = gp.assess_other(whitened, prior, missing);
                (limit.mean, limit.deviation) = (mean, sqrt(signal));
            }
            _ => gp.weigh_other(&limit.whitened, limit.mean, &mut limit.weights),
        }
        step == 0 || step == 1 && needs_weights
    }

    /// Takes the predicted margins of an imagined observation, the i-th, given its whitened covariances
    /// with those before and their product with whitened ones.
    pub(crate) fn imagine(&mut self, i: usize, v: &[f32], ones: f32) {
        for limit in self.each.iter_mut().take(usize::from(self.count)) {
            let predicted = limit.mean * (1.0 - ones) + dot(v, &limit.whitened);
            limit.whitened.iter_mut().skip(i).take(1).for_each(|own| *own = predicted);
        }
    }

    /// Whitens what is imagined: the elements from `known` on.
    pub(crate) fn whiten_imagined<const P: usize>(&mut self, gp: &Gp<T, P>, known: usize) {
        for limit in self.each.iter_mut().take(usize::from(self.count)) {
            gp.solve_lower_rest(known, limit.whitened.get_mut(..gp.len()).unwrap_or_default());
        }
    }

    /// ln P of a combination with these whitened covariances and their product with whitened ones;
    /// `share` is what is left of its variance.
    pub(crate) fn log_chance(&self, v: &[f32], ones: f32, share: f32) -> f32 {
        let root = sqrt(share.max(LEAST_SHARE));
        self.used().iter().fold(0.0, |sum, limit| {
            let mean = limit.centre + limit.mean * (1.0 - ones) + dot(v, &limit.whitened);
            sum + log_below(mean / (limit.deviation * root))
        })
    }
}

/// ln Φ(u). Below −6 by its asymptote, where Φ itself rounds.
fn log_below(u: f32) -> f32 {
    if u > -6.0 {
        return ln(0.5 * erfc(-u * core::f32::consts::FRAC_1_SQRT_2));
    }
    // 1e4 standard deviations below are as hopeless as more.
    let u = u.max(-1e4);
    -0.5 * u * u - LN_SQRT_2_PI - ln(-u)
}

/// ln √2π.
const LN_SQRT_2_PI: f32 = 0.918_938_5;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::math::matrix::triangle;
    use crate::surrogate::gp::Partial;

    #[test]
    fn the_logarithm_of_a_chance_by_hand() {
        // Φ(0) = ½, Φ(1) = 0.841345, Φ(−2) = 0.022750.
        for (u, chance) in [(0.0, 0.5f32), (1.0, 0.841_345), (-2.0, 0.022_750)] {
            assert!((log_below(u) - chance.ln()).abs() < 1e-4, "{u}: {}", log_below(u));
        }
        assert!((log_below(-5.999) - log_below(-6.001)).abs() < 0.05);
        // Above 5 a chance rounds to 1.
        let falls = |u: f32| log_below(u) > log_below(u - 0.1) || u > 5.0;
        assert!((0..2000).all(|i| falls(8.0 - 0.01 * i as f32)));
        assert!(log_below(f32::NEG_INFINITY).is_finite());
    }

    /// Three independent observations without noise: margins −1, 1 and 2.
    fn three() -> (Gp<3, { triangle(3) }>, Limits<3, 1>) {
        let (mut gp, mut limits) = (Gp::new(), Limits::NONE);
        gp.extend(3, |i, row| row.iter_mut().enumerate().for_each(|(j, k)| *k = f32::from(u8::from(i == j)))).unwrap();
        gp.condition(&[0.0; 3], &Prior::WEAK, crate::surrogate::gp::Repeats::default());
        [-1.0, 1.0, 2.0].iter().enumerate().for_each(|(i, margin)| limits.record(i, 1.0, &[*margin]));
        let mut step = 0;
        while limits.learn((0, step), (&gp, &Prior::WEAK), &|_| true, true, &mut [0.0; 3]) {
            step += 1;
        }
        (gp, limits)
    }

    #[test]
    fn measured_margins_decide_where_they_were_measured() {
        let (gp, limits) = three();
        let chance = |i: usize| {
            let (mut v, mut partial) = ([0.0; 3], Partial::new(1.0));
            v[i] = 1.0;
            gp.absorb(&mut v, &mut partial, f32::NEG_INFINITY);
            limits.log_chance(&v, partial.ones(), 0.0).exp()
        };
        assert!(chance(0) < 0.01 && chance(1) > 0.99 && chance(2) > 0.99);
        assert_eq!([0, 1, 2].map(|i| limits.keeps(i)), [false, true, true]);
        assert!(limits.violation(0) < 0.0 && limits.violation(1) == 0.0);
        assert_eq!(limits.margins(2), [2.0]);
    }

    /// Without noise a belief is what was measured; with much noise it goes to the mean, which keeps.
    #[test]
    fn noise_takes_a_margin_towards_the_others() {
        let (_, limits) = three();
        assert!(!limits.is_believed_to_keep(0, 0.0) && !limits.is_believed_to_keep(0, 1e-3));
        assert!(limits.is_believed_to_keep(0, 0.999));
    }

    #[test]
    fn one_wild_margin_does_not_blind_the_others() {
        let mut limit = Limit::<8>::NONE;
        limit.margins = [1.0, -1.0, 2.0, -0.5, 0.0, 1.5, -2.0, 1e30];
        limit.standardise(&|_| true, 8, &mut [0.0; 8]);
        assert_eq!([7, 4].map(|i| limit.z(i)), [REACH, 0.0]);
        assert!((limit.z(2) - 2.0 / (1.5 * SPREAD)).abs() < 1e-6, "{}", limit.z(2));
        limit.margins = [0.0; 8];
        limit.standardise(&|_| true, 8, &mut [0.0; 8]);
        assert!((0..8).all(|i| limit.z(i) == 0.0) && limit.centre == 0.0);
        // Of sizes beyond any square, and of none but one.
        limit.margins = [-3e38, 3e38, -1e-40, 0.0, 1e-40, 3e38, -3e38, 0.0];
        limit.standardise(&|_| true, 8, &mut [0.0; 8]);
        assert!((0..8).all(|i| limit.z(i).is_finite()) && limit.centre.is_finite());
    }

    #[test]
    fn a_median_is_the_one_of_a_sorted_list() {
        for numbers in [&[][..], &[3.0], &[0.0, 5.0], &[2.0, 1.0, 9.0], &[0.5, 0.5, 0.0, 1e-40, 3e38, 7.0]] {
            let mut sorted = numbers.to_vec();
            sorted.sort_by(f32::total_cmp);
            let expected = sorted.get(numbers.len() / 2).copied();
            assert_eq!(median(numbers), expected.unwrap_or(0.0));
        }
    }

    #[test]
    fn margins_are_averaged_and_move_up() {
        let mut limits = Limits::<3, 2>::NONE;
        assert_eq!(limits.expected(), None);
        limits.record(0, 1.0, &[9.0, 9.0]);
        limits.record(1, 1.0, &[1.0, -4.0]);
        limits.record(1, 2.0, &[3.0, -2.0]);
        assert_eq!((limits.expected(), limits.margins(1)), (Some(2), [2.0, -3.0]));
        limits.remove(0);
        assert_eq!((limits.margins(0), limits.margins(1)), ([2.0, -3.0], [0.0, 0.0]));
        limits.clear();
        assert_eq!((limits.expected(), limits.is_used()), (None, false));
    }
}
