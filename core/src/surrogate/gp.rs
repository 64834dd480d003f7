//! The surrogate: a Gaussian process with its mean and signal variance in closed form.
//!
//! With K the covariance of the observations (noise on its diagonal), L·Lᵀ = K, and k the
//! covariances of a combination with them (section 4; Rasmussen and Williams, section 2.7):
//!
//! mean = μ + kᵀK⁻¹(y − μ1), variance = s²·(κ − kᵀK⁻¹k + (1 − 1ᵀK⁻¹k)²/(1ᵀK⁻¹1 + λ))
//!
//! | name | meaning | in the code |
//! |---|---|---|
//! | y | standardised costs | `y` |
//! | κ | prior variance of the combination, as a share of s² | `own` |
//! | L⁻¹y, L⁻¹1 | whitened costs and ones | `costs`, `ones` |
//! | K⁻¹(y − μ1), K⁻¹1 | weights of the covariances in the mean, and in 1ᵀK⁻¹k | `weights`, `ones_weights` |
//! | μ | prior mean, itself N(0, s²/λ) | `mean` |
//! | s² | signal variance | `signal` |
//! | λ | precision of μ; infinite for a prior mean of zero | `mean_precision` |
//!
//! **Choices**
//! - μ and s² need no search: given the kernel, their best values are formulas. s² has a weak prior
//!   of `signal_weight` pseudo-observations at 1, so that two or three costs do not decide it.
//! - Everything is computed from whitened vectors (L⁻¹ times something), so a posterior takes one
//!   forward substitution and no inverse. They grow with the factor: a new observation adds one
//!   element to each and changes none.
//! - The weights give the mean before that substitution. One observation bounds the variance, and so
//!   does what was left of it with fewer observations: most candidates that cannot win are dropped
//!   there, the others on the way. Weights cost two substitutions per observation, so they are
//!   computed only where something is dropped by them.
//! - The process does not know combinations: callers pass covariances and get slopes with respect
//!   to them.
//!
//! **Cost.** t³/6 multiplications to rebuild, t²/2 to append, at most t²/2 per posterior; one
//! triangle and five vectors.

use core::ops::Range;

use crate::config::Prior;
use crate::math::cholesky::{Cholesky, CholeskyError};
use crate::math::float::{dot, ln};

/// Mean and variance of the latent function at one combination.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Posterior {
    /// Mean, in the units of `y`.
    pub mean: f32,
    /// Variance, never negative.
    pub variance: f32,
}

impl Posterior {
    /// A posterior with this mean and variance.
    pub const fn new(mean: f32, variance: f32) -> Self {
        Self { mean, variance }
    }
}

/// Measurements of combinations that were measured before, beyond the first of each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Repeats {
    /// Number of observations without a cost.
    pub missing: f32,
    /// Number of repeated measurements.
    pub count: f32,
    /// Sum of the squared deviations from the means of their combinations, divided by the noise.
    pub square: f32,
    /// Logarithm of the noise.
    pub log_noise: f32,
}

/// A Gaussian process over at most T observations.
///
/// ```
/// use trimtab::{Prior, internals::{Gp, Repeats}, sizes::triangle};
/// let mut gp = Gp::<2, { triangle(2) }>::new();
/// // Two nearly independent observations, with noise 1.
/// gp.extend(2, |i, row| row.copy_from_slice(&[&[2.0][..], &[0.1, 2.0]][i]))?;
/// gp.condition(&[-1.0, 1.0], &Prior::WEAK, Repeats::default());
/// let posterior = |k: [f32; 2]| gp.posterior(1.0, |row| row.copy_from_slice(&k));
/// let (low, high) = (posterior([1.0, 0.1]), posterior([0.1, 1.0]));
/// assert!(low.mean < 0.0 && high.mean > 0.0);
/// assert!((low.mean + high.mean).abs() < 1e-6 && (low.variance - high.variance).abs() < 1e-6);
/// # Ok::<(), trimtab::internals::CholeskyError>(())
/// ```
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Gp<const T: usize, const P: usize> {
    mean: f32,
    mean_variance: f32,
    signal: f32,
    /// Parts of −2·ln likelihood without the determinant: the part summed before it, and those of
    /// the signal's and the mean's prior, summed after it.
    misfit: (f32, f32, f32),
    /// How many of the whitened elements belong to the current factor.
    whitened: usize,
    /// How many of the two vectors of weights are known.
    weighed: u8,
    /// Whether the covariances of the next observation are written.
    is_written: bool,
    costs: [f32; T],
    ones: [f32; T],
    weights: [f32; T],
    ones_weights: [f32; T],
    /// 1/Kᵢᵢ.
    inverse_own: [f32; T],
    factor: Cholesky<P>,
}

impl<const T: usize, const P: usize> Gp<T, P> {
    /// A process without observations.
    pub const fn new() -> Self {
        const { assert!(P == crate::math::matrix::triangle(T), "P must be T(T + 1)/2: let tuner! compute it") };
        Self {
            factor: Cholesky::new(),
            costs: [0.0; T],
            ones: [0.0; T],
            whitened: 0,
            weights: [0.0; T],
            ones_weights: [0.0; T],
            weighed: 0,
            is_written: false,
            inverse_own: [0.0; T],
            mean: 0.0,
            mean_variance: 0.0,
            signal: 0.0,
            misfit: (0.0, 0.0, 0.0),
        }
    }

    /// Number of observations in the factor.
    pub fn len(&self) -> usize {
        self.factor.len()
    }

    /// Whether there are no observations.
    pub fn is_empty(&self) -> bool {
        self.factor.is_empty()
    }

    /// Removes all observations.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Keeps the first n observations. Call [`condition`](Self::condition) again before a
    /// posterior.
    #[inline(never)]
    pub fn truncate(&mut self, n: usize) {
        self.factor.truncate(n);
        self.is_written = false;
        (self.whitened, self.weighed) = (self.whitened.min(n), 0);
    }

    /// Forgets the costs, which have changed, but not the factor.
    pub(crate) fn forget_costs(&mut self) {
        (self.whitened, self.weighed) = (0, 0);
    }

    /// Extends the factor to n observations. `write(i, row)` writes the covariances of observation
    /// i with those before it and, last, with itself, noise included.
    pub fn extend(&mut self, n: usize, write: impl Fn(usize, &mut [f32])) -> Result<(), CholeskyError> {
        (self.len()..n).try_for_each(|i| {
            self.write_row(|row| write(i, row))?;
            self.append_written()
        })
    }

    /// The first half of [`extend`](Self::extend) by one observation: only writes its covariances.
    pub(crate) fn write_row(&mut self, write: impl FnOnce(&mut [f32])) -> Result<(), CholeskyError> {
        let inverse_own = self.inverse_own.get_mut(self.factor.len()).ok_or(CholeskyError::Full)?;
        self.is_written = true;
        self.factor.write(|row| {
            write(row);
            *inverse_own = row.last().map_or(0.0, |own| 1.0 / own);
        })
    }

    /// Whether the second half is to follow.
    pub(crate) fn is_written(&self) -> bool {
        self.is_written
    }

    /// The second half: the observation joins the factor.
    pub(crate) fn append_written(&mut self) -> Result<(), CholeskyError> {
        self.is_written = false;
        self.factor.append_written()
    }

    /// Conditions on the costs of all observations in the factor: mean, signal variance and
    /// likelihood. Costs of observations that were there before must be the same.
    pub fn condition(&mut self, y: &[f32], prior: &Prior, repeats: Repeats) {
        self.whiten_costs(|i, _| y.get(i).copied().unwrap_or(0.0));
        self.whiten_ones();
        self.assess(prior, repeats);
        self.weigh();
    }

    /// Keeps the cost of an observation that is not whitened yet.
    pub(crate) fn set_cost(&mut self, i: usize, cost: f32) {
        self.costs.iter_mut().skip(i).take(1).for_each(|own| *own = cost);
    }

    /// Whitens the costs that are new; `y` gets the index and what [`set_cost`](Self::set_cost) kept.
    pub(crate) fn whiten_costs(&mut self, y: impl Fn(usize, f32) -> f32) {
        let (n, known) = (self.len(), self.whitened);
        let Some(costs) = self.costs.get_mut(..n) else { return };
        costs.iter_mut().enumerate().skip(known).for_each(|(i, cost)| *cost = y(i, *cost));
        self.factor.solve_lower_rest(known, costs);
    }

    /// Whitens ones for the observations that are new; call after
    /// [`whiten_costs`](Self::whiten_costs).
    pub(crate) fn whiten_ones(&mut self) {
        let (n, known) = (self.len(), self.whitened);
        let Some(ones) = self.ones.get_mut(..n) else { return };
        ones.iter_mut().skip(known).for_each(|one| *one = 1.0);
        self.factor.solve_lower_rest(known, ones);
        (self.weighed, self.whitened) = (if known == n { self.weighed } else { 0 }, n);
    }

    /// Mean, signal variance and likelihood from what is whitened.
    #[inline(never)]
    pub(crate) fn assess(&mut self, prior: &Prior, repeats: Repeats) {
        let n = self.len();
        let (Some(costs), Some(ones)) = (self.costs.get(..n), self.ones.get(..n)) else { return };
        let ones_square = dot(ones, ones);
        self.mean_variance = 1.0 / (ones_square + prior.mean_precision);
        let together = dot(ones, costs);
        self.mean = together * self.mean_variance;
        let square = (dot(costs, costs) - together * self.mean).max(0.0) + repeats.square;
        let (count, weight) = (n as f32 - repeats.missing + repeats.count, prior.signal_weight);
        self.signal = if weight.is_finite() { ((square + weight) / (count + weight)).max(1e-12) } else { 1.0 };
        let log_signal = ln(self.signal);
        let by_signal = if weight.is_finite() { weight * (log_signal + 1.0 / self.signal) } else { 0.0 };
        let by_mean = if prior.mean_precision.is_finite() { ln(1.0 + ones_square / prior.mean_precision) } else { 0.0 };
        let by_noise = repeats.count * repeats.log_noise;
        self.misfit = (count * (LN_2_PI + log_signal) + square / self.signal + by_noise, by_signal, by_mean);
    }

    /// Mean and signal variance of other numbers than the costs, from these whitened ones.
    pub(crate) fn assess_other(&self, whitened: &[f32], prior: &Prior, missing: f32) -> (f32, f32) {
        let together = dot(self.ones.get(..self.len()).unwrap_or_default(), whitened);
        let mean = together * self.mean_variance;
        let square = (dot(whitened, whitened) - together * mean).max(0.0);
        let (count, weight) = (self.len() as f32 - missing, prior.signal_weight);
        (mean, if weight.is_finite() { ((square + weight) / (count + weight)).max(1e-12) } else { 1.0 })
    }

    /// The product of whitened covariances with whitened ones.
    pub(crate) fn sum(&self, v: &[f32]) -> f32 {
        dot(v, &self.ones)
    }

    /// Their weights K⁻¹(y − μ1).
    pub(crate) fn weigh_other(&self, whitened: &[f32; T], mean: f32, weights: &mut [f32; T]) {
        let centred = whitened.iter().zip(&self.ones).map(|(other, one)| other - mean * one);
        weights.iter_mut().zip(centred).for_each(|(weight, other)| *weight = other);
        self.factor.solve_upper(weights);
    }

    /// Computes the weights, unless they are known.
    pub(crate) fn weigh(&mut self) {
        while self.weigh_step() {}
    }

    /// Whether the weights are known.
    pub(crate) fn is_weighed(&self) -> bool {
        self.weighed == 2
    }

    /// Computes one of the two vectors of weights that is not known; returns whether it had to.
    #[inline(never)]
    pub(crate) fn weigh_step(&mut self) -> bool {
        // Element by element: copying an array calls `memmove`, which is 1.5 KB of flash.
        let weights = match self.weighed {
            0 => {
                let costs = self.costs.iter().zip(&self.ones).map(|(cost, one)| cost - self.mean * one);
                self.weights.iter_mut().zip(costs).for_each(|(weight, cost)| *weight = cost);
                &mut self.weights
            }
            1 => {
                self.ones_weights.iter_mut().zip(&self.ones).for_each(|(weight, one)| *weight = *one);
                &mut self.ones_weights
            }
            _ => return false,
        };
        self.factor.solve_upper(weights);
        self.weighed += 1;
        true
    }

    /// The logarithm of the marginal likelihood of the costs, including the prior of the signal
    /// variance if it has one.
    pub fn log_likelihood(&self) -> f32 {
        let (before, by_signal, by_mean) = self.misfit;
        -0.5 * (before + self.factor.log_determinant() + by_signal + by_mean)
    }

    /// s², in the units of y².
    pub fn signal(&self) -> f32 {
        self.signal
    }

    /// The posterior at a combination with prior variance `own`; `write` writes its covariances
    /// with the observations.
    pub fn posterior(&self, own: f32, write: impl FnOnce(&mut [f32])) -> Posterior {
        let nothing = Posterior::new(self.mean, self.signal * own);
        let mut most = f32::INFINITY;
        let write = |row: &mut [f32]| {
            write(row);
            own
        };
        self.posterior_above(write, |_| 0.0, &mut most).unwrap_or(nothing)
    }

    /// The same, or `None` once the variance is known to be below `needed(mean)`, the variance that
    /// a candidate of this mean needs. `write` also returns the combination's own variance. `most` is
    /// a bound of the share of the signal variance that is left, and becomes a sharper one.
    pub(crate) fn posterior_above(
        &self,
        write: impl FnOnce(&mut [f32]) -> f32,
        needed: impl FnOnce(f32) -> f32,
        most: &mut f32,
    ) -> Option<Posterior> {
        let mut v = [0.0; T];
        let k = v.get_mut(..self.len())?;
        let own = write(k);
        let least = self.least_share(own, k, needed, most)?;
        let mut partial = Partial::new(own);
        let is_above = self.absorb(&mut v, &mut partial, least);
        *most = most.min(partial.share);
        is_above.then(|| self.finish(&partial))
    }

    /// The share of the signal variance that a candidate must keep to have the variance that it
    /// needs; `None` if at most less is left, by the bound or by one observation alone.
    fn least_share(&self, own: f32, k: &[f32], needed: impl FnOnce(f32) -> f32, most: &mut f32) -> Option<f32> {
        let ones = 1.0 - dot(k, &self.ones_weights);
        let needed = needed(self.mean + dot(k, &self.weights)) / self.signal - ones * ones * self.mean_variance;
        // A variance is never negative, so a need of 0 or less drops nothing.
        let least = if needed > 0.0 { needed } else { return Some(f32::NEG_INFINITY) };
        if *most <= least {
            return None;
        }
        let mut explained = 0.0;
        let mut explain = |k: f32, inverse: f32| {
            let by_one = k * k * inverse;
            explained = if by_one > explained { by_one } else { explained };
        };
        let inverse = self.inverse_own.get(..k.len()).unwrap_or_default();
        let ((k, k_rest), (inverse, inverse_rest)) = (k.as_chunks::<4>(), inverse.as_chunks::<4>());
        for ([k0, k1, k2, k3], [i0, i1, i2, i3]) in k.iter().zip(inverse) {
            explain(*k0, *i0);
            explain(*k1, *i1);
            explain(*k2, *i2);
            explain(*k3, *i3);
        }
        k_rest.iter().zip(inverse_rest).for_each(|(k, inverse)| explain(*k, *inverse));
        *most = most.min(own - explained);
        (*most > least).then_some(least)
    }

    /// Whitens those covariances in `v` that `partial` does not cover yet. Returns false once the
    /// remaining share is not above `least`.
    pub(crate) fn absorb(&self, v: &mut [f32; T], partial: &mut Partial, least: f32) -> bool {
        let n = self.len();
        let Some(v) = v.get_mut(..n) else { return false };
        let known = usize::from(partial.len);
        partial.len = n as u16;
        let mut share = partial.share;
        let is_above = self.factor.solve_lower_from(known, v, |_, v| {
            share -= v * v;
            share > least
        });
        partial.share = share;
        if is_above {
            for ((v, cost), one) in v.iter().zip(&self.costs).zip(&self.ones).skip(known) {
                partial.ones += v * one;
                partial.costs += v * cost;
            }
        }
        is_above
    }

    /// The posterior, with the same bits, from the covariances `k` with the observations, and its
    /// slopes with respect to `k`. Returns the slopes of the mean and overwrites `k` with those of
    /// the variance.
    ///
    /// ∂mean/∂k = K⁻¹(y − μ1), ∂variance/∂k = −2s²·(K⁻¹k + K⁻¹1·(1 − 1ᵀK⁻¹k)/(1ᵀK⁻¹1 + λ))
    pub fn posterior_slopes(&self, own: f32, k: &mut [f32; T]) -> (Posterior, &[f32]) {
        let mut partial = Partial::new(own);
        self.absorb(k, &mut partial, f32::NEG_INFINITY);
        let posterior = self.finish(&partial);
        self.factor.solve_upper(k);
        for (v, ones_weight) in k.iter_mut().zip(&self.ones_weights) {
            *v = -2.0 * self.signal * (*v + self.mean_variance * (1.0 - partial.ones) * ones_weight);
        }
        (posterior, self.weights())
    }

    /// The posterior from the sums over all observations.
    pub(crate) fn finish(&self, partial: &Partial) -> Posterior {
        let (ones, share) = (1.0 - partial.ones, self.share(partial));
        Posterior { mean: partial.costs + self.mean * ones, variance: self.signal * share.max(0.0) }
    }

    /// The share of the signal variance that is left, that of the mean included.
    pub(crate) fn share(&self, partial: &Partial) -> f32 {
        let ones = 1.0 - partial.ones;
        partial.share + ones * ones * self.mean_variance
    }

    /// The weights of the covariances of observation j with others in the slope of the log likelihood
    /// with a hyper-parameter, given K⁻¹ there.
    #[inline(always)]
    pub(crate) fn slope_weights(&self, j: usize, others: Range<usize>, inverse: &[f32]) -> impl Iterator<Item = f32> {
        let of = |all: &[f32; T]| all.get(j).copied().unwrap_or(0.0);
        let (own, own_one, signal, mean_variance) =
            (of(&self.weights), of(&self.ones_weights), self.signal, self.mean_variance);
        let [weights, ones] =
            [&self.weights, &self.ones_weights].map(|all| all.get(others.clone()).unwrap_or_default());
        let all = weights.iter().zip(ones).zip(inverse);
        all.map(move |((weight, one), inverse)| weight * own / signal - inverse + one * own_one * mean_variance)
    }

    /// K⁻¹(y − μ).
    pub(crate) fn weights(&self) -> &[f32] {
        self.weights.get(..self.len()).unwrap_or_default()
    }

    /// Solves L·x = b in place, where the first `solved` elements of b already hold x.
    pub(crate) fn solve_lower_rest(&self, solved: usize, b: &mut [f32]) {
        self.factor.solve_lower_rest(solved, b);
    }

    /// Solves L·x = b in place, where the first `zeros` elements of b are 0.
    pub(crate) fn solve_lower_after(&self, zeros: usize, b: &mut [f32]) {
        self.factor.solve_lower_after(zeros, b);
    }

    /// The first half of column j of K⁻¹: L⁻¹ times the unit vector.
    pub(crate) fn half_column(&self, j: usize, column: &mut [f32; T]) {
        column.iter_mut().for_each(|element| *element = 0.0);
        column.iter_mut().skip(j).take(1).for_each(|one| *one = 1.0);
        self.solve_lower_after(j, column);
    }

    /// Column j of K⁻¹ from its first half, from row j on; the rows before it are not computed.
    pub(crate) fn whole_column(&self, j: usize, column: &mut [f32; T]) {
        self.factor.solve_upper_to(j, column);
    }
}

/// The sums of a posterior over the observations absorbed so far. More can be absorbed later:
/// appending to the factor does not change its rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Partial {
    /// κ − Σv²: the remaining share of the prior variance.
    share: f32,
    /// Σv·(L⁻¹1) and Σv·(L⁻¹y).
    ones: f32,
    costs: f32,
    /// Number of absorbed observations.
    len: u16,
}

impl Partial {
    /// Nothing absorbed yet, at a combination with this prior variance.
    pub(crate) const fn new(own: f32) -> Self {
        Self { share: own, ones: 0.0, costs: 0.0, len: 0 }
    }

    /// Number of absorbed observations.
    pub(crate) fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Σv·(L⁻¹1).
    pub(crate) fn ones(&self) -> f32 {
        self.ones
    }
}

impl<const T: usize, const P: usize> Default for Gp<T, P> {
    fn default() -> Self {
        Self::new()
    }
}

/// ln 2π.
const LN_2_PI: f32 = 1.837_877;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::math::matrix::triangle;

    /// One observation y = 2 with prior variance 1 and noise 1, mean 0: posterior mean 1, variance
    /// ½ at the same point.
    #[test]
    fn one_observation_by_hand() {
        let mut gp = Gp::<1, { triangle(1) }>::new();
        gp.extend(1, |_, row| row.fill(2.0)).unwrap();
        gp.condition(&[2.0], &Prior::FIXED, Repeats::default());
        let posterior = gp.posterior(1.0, |k| k.fill(1.0));
        assert!((posterior.mean - 1.0).abs() < 1e-6 && (posterior.variance - 0.5).abs() < 1e-6, "{posterior:?}");
        // ln N(2; 0, 2) = −½(ln 2π + ln 2 + 4/2) = −2.265512
        assert!((gp.log_likelihood() + 2.265_512).abs() < 1e-5);
    }

    /// Far from all observations the posterior is the prior: its mean, and its variance plus that
    /// of the mean.
    #[test]
    fn far_away_is_the_prior() {
        let mut gp = Gp::<2, { triangle(2) }>::new();
        gp.extend(2, |i, row| row.iter_mut().enumerate().for_each(|(j, k)| *k = f32::from(u8::from(i == j)))).unwrap();
        gp.condition(&[1.0, 3.0], &Prior { mean_precision: 0.0, signal_weight: f32::INFINITY }, Repeats::default());
        let posterior = gp.posterior(1.0, |k| k.fill(0.0));
        assert!((posterior.mean - 2.0).abs() < 1e-6 && (posterior.variance - 1.5).abs() < 1e-6, "{posterior:?}");
    }

    /// Every prior with the observation y and K = 1.
    #[test]
    fn priors_by_hand() {
        let conditioned = |y: f32, prior: Prior| {
            let mut gp = Gp::<1, { triangle(1) }>::new();
            gp.extend(1, |_, row| row.fill(1.0)).unwrap();
            gp.condition(&[y], &prior, Repeats::default());
            gp
        };
        let far = |gp: &Gp<1, 1>| gp.posterior(1.0, |k| k.fill(0.0)).mean;
        // A precision of 1: the observation and the prior mean of 0 weigh the same.
        assert_eq!(far(&conditioned(4.0, Prior { mean_precision: 1.0, ..Prior::FIXED })), 2.0);
        assert_eq!(far(&conditioned(4.0, Prior::FIXED)), 0.0);
        assert_eq!(conditioned(4.0, Prior::FIXED).signal(), 1.0);
        assert_eq!(conditioned(4.0, Prior::MAXIMUM_LIKELIHOOD).signal(), 16.0); // y²
        assert_eq!(conditioned(3.0, Prior { signal_weight: 1.0, ..Prior::FIXED }).signal(), 5.0); // (9 + 1)/2
        // Measured without noise, it is known.
        let own = conditioned(2.0, Prior::FIXED).posterior(1.0, |k| k.fill(1.0));
        assert_eq!(own, Posterior::new(2.0, 0.0));
    }

    #[test]
    fn appending_and_truncating_give_the_bits_of_a_fresh_factor() {
        let write = |i: usize, row: &mut [f32]| {
            row.iter_mut().enumerate().for_each(|(j, k)| *k = if i == j { 1.1 } else { 0.5 });
        };
        let posterior = |gp: &mut Gp<3, { triangle(3) }>| {
            gp.condition(&[1.0, 2.0, 3.0], &Prior::WEAK, Repeats::default());
            (gp.log_likelihood(), gp.posterior(1.0, |k| k.fill(0.25)))
        };
        let (mut at_once, mut by_ones) = (Gp::new(), Gp::new());
        at_once.extend(2, write).unwrap();
        (1..=3).for_each(|n| by_ones.extend(n, write).unwrap());
        let three = posterior(&mut by_ones);
        by_ones.truncate(2);
        assert_eq!(posterior(&mut at_once), posterior(&mut by_ones));
        at_once.extend(3, write).unwrap();
        assert_eq!(posterior(&mut at_once), three);
    }

    /// Two observations with K = I, costs 1 and 3, and one repeat: every part of the likelihood.
    #[test]
    fn the_likelihood_by_hand() {
        let mut gp = Gp::<2, { triangle(2) }>::new();
        gp.extend(2, |i, row| row.iter_mut().enumerate().for_each(|(j, k)| *k = f32::from(u8::from(i == j)))).unwrap();
        let repeats = Repeats { missing: 0.0, count: 1.0, square: 0.5, log_noise: -0.7 };
        let prior = Prior { mean_precision: 2.0, signal_weight: 1.0 };
        gp.condition(&[1.0, 3.0], &prior, repeats);
        // μ = 4/(2 + 2) = 1; the square is 10 − 4·1 + 0.5 = 6.5; s² = (6.5 + 1)/(3 + 1).
        let signal = 7.5f32 / 4.0;
        assert!((gp.signal() - signal).abs() < 1e-6);
        let (three, log_signal) = (3.0, signal.ln());
        let twice = three * (LN_2_PI + log_signal) + 6.5 / signal - 0.7 + (log_signal + 1.0 / signal) + 2.0f32.ln();
        assert!((gp.log_likelihood() + 0.5 * twice).abs() < 1e-5, "{} {}", gp.log_likelihood(), -0.5 * twice);
        // One without a cost counts as none: the square stays and is shared among fewer.
        gp.condition(&[1.0, 3.0], &prior, Repeats { missing: 1.0, ..repeats });
        assert!((gp.signal() - 7.5 / 3.0).abs() < 1e-6);
    }

    /// What is left of a variance bounds it, and becomes sharper with every call.
    #[test]
    fn a_bound_drops_a_candidate_before_it_is_solved() {
        let mut gp = Gp::<2, { triangle(2) }>::new();
        gp.extend(2, |i, row| row.iter_mut().enumerate().for_each(|(j, k)| *k = if i == j { 1.0 } else { 0.5 }))
            .unwrap();
        gp.condition(&[-1.0, 1.0], &Prior::FIXED, Repeats::default());
        let row = |row: &mut [f32]| {
            row.fill(0.6);
            1.0
        };
        // Alone each leaves 1 − 0.36; together 1 − 0.48.
        let mut most = f32::INFINITY;
        assert_eq!(gp.posterior_above(row, |_| 0.7, &mut most), None);
        assert!((most - 0.64).abs() < 1e-6, "{most}");
        assert!(gp.posterior_above(row, |_| 0.0, &mut most).is_some_and(|p| (p.variance - 0.52).abs() < 1e-6));
        assert!((most - 0.52).abs() < 1e-6, "{most}");
        assert_eq!(gp.posterior_above(row, |_| 0.6, &mut most), None);
    }
}
