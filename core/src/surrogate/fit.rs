//! Hyper-parameters by marginal likelihood: a bounded, warm-started, deterministic search.
//!
//! max over (ln ℓ, w, ln noise) of ln p(y | ℓ, w, noise) + ln prior; [`gp`](crate::surrogate::gp)
//! has μ and s² in closed form.
//!
//! | name | meaning |
//! |---|---|
//! | ℓ₀ | typical distance of two random embeddings |
//! | step | how far the search moves along each coordinate |
//!
//! **Choices**
//! - The paper maximises the likelihood at every step with a quasi-Newton method. A chip does
//!   better with little and often: one sweep tries a step along each coordinate, and the opposite
//!   one if that was worse.
//! - Steps grow on success and shrink on failure. Each search starts where the last one ended, so
//!   sweeps add up over a run.
//! - Weak priors on ln ℓ and ln noise keep the first few observations from deciding everything.
//!
//! **Cost.** At most 8 evaluations per sweep, each one a factorisation.

use crate::config::Fitting;
use crate::math::float::{ln, short_exp};
use crate::surrogate::kernel::Hyper;

/// Indices of the coordinates.
const WEIGHT: usize = 1;
const NOISE: usize = 2;

/// The start: ln(ℓ/ℓ₀), w, ln noise. The noise is a thousandth of the signal.
const START: [f32; 3] = [0.0, 0.5, -6.907_755];
/// The length-scale stays within a factor of 20 of ℓ₀. The linear term never takes all, so that
/// Matérn can explain the rest. Noise goes from a ten-thousandth of the signal, which f32 needs, to
/// as much as the signal.
const BOUNDS: [(f32, f32); 3] = [(-MOST_LENGTH, MOST_LENGTH), (0.0, 0.98), (-9.210_34, 0.0)];
/// The largest ln(ℓ/ℓ₀), and e to its power: [`short_exp`] takes no positive argument.
const MOST_LENGTH: f32 = 3.0;
const LARGEST: f32 = 20.085_537;
/// The first step along each coordinate, and its bounds.
const FIRST_STEP: [f32; 3] = [0.5, 0.2, 1.0];
const STEPS: [(f32, f32); 3] = [(0.05, 1.5), (0.02, 0.4), (0.1, 3.0)];

/// The state of the search: the current hyper-parameters and the steps to try next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// ln(ℓ/ℓ₀), w, ln noise.
    at: [f32; 3],
    /// Signed: the sign is the direction to try first.
    step: [f32; 3],
    typical: f32,
}

impl Fit {
    pub(crate) const ZERO: Self = Self { at: [0.0; 3], step: [0.0; 3], typical: 0.0 };

    /// Starts with the typical distance ℓ₀ of two random embeddings as length-scale.
    pub fn new(fitting: &Fitting, typical_distance: f32) -> Self {
        let typical = if typical_distance > 0.0 { typical_distance } else { 1.0 };
        let mut fit = Self { at: START, step: FIRST_STEP, typical };
        if !fitting.linear {
            fit.at[WEIGHT] = 0.0;
        }
        fit
    }

    /// The current hyper-parameters.
    #[inline(never)]
    pub fn hyper(&self) -> Hyper {
        let [length, weight, noise] = self.at;
        let length_scale = self.typical * short_exp(length - MOST_LENGTH) * LARGEST;
        Hyper { length_scale, linear_weight: weight, noise: short_exp(noise) }
    }

    /// Multiplies the noise by ten, for a factor that broke down. Returns false once the noise is
    /// at its upper bound.
    pub fn add_noise(&mut self) -> bool {
        let [_, _, noise] = &mut self.at;
        let most = BOUNDS[NOISE].1;
        let could = *noise < most;
        *noise = (*noise + core::f32::consts::LN_10).min(most);
        could
    }

    /// Sets the noise, as a share of the signal variance, within its bounds.
    pub fn set_noise(&mut self, share: f32) {
        let (least, most) = BOUNDS[NOISE];
        self.at[NOISE] = ln(share.max(f32::MIN_POSITIVE)).max(least).min(most);
    }

    /// One sweep; `noise_is_known` leaves the noise alone. `likelihood` returns −∞ for
    /// hyper-parameters that cannot be used; its last call is for the ones that are kept.
    ///
    /// ```
    /// use trimtab::{Fitting, internals::Fit};
    /// let fitting = Fitting { linear: true, priors: false, sweeps: 1 };
    /// let mut fit = Fit::new(&fitting, 1.0);
    /// for _ in 0..30 {
    ///     fit.sweep(&fitting, false, |hyper| {
    ///         -(hyper.length_scale - 2.0).abs() - (hyper.linear_weight - 0.3).abs()
    ///     });
    /// }
    /// assert!((fit.hyper().length_scale - 2.0).abs() < 0.2);
    /// assert!((fit.hyper().linear_weight - 0.3).abs() < 0.05);
    /// ```
    pub fn sweep(&mut self, fitting: &Fitting, noise_is_known: bool, mut likelihood: impl FnMut(&Hyper) -> f32) {
        let mut value = |fit: &Self| likelihood(&fit.hyper()) + if fitting.priors { fit.log_prior() } else { 0.0 };
        let mut best = value(self);
        let mut last_is_best = true;
        for i in 0..3 {
            if (i == WEIGHT && !fitting.linear) || (i == NOISE && noise_is_known) {
                continue;
            }
            let mut improved = false;
            for direction in [1.0, -1.0] {
                let tried = self.moved(i, direction);
                if tried.at == self.at {
                    continue;
                }
                let at = value(&tried);
                last_is_best = at > best;
                if last_is_best {
                    (best, improved) = (at, true);
                    *self = tried;
                    break;
                }
            }
            self.rescale(i, if improved { 1.5 } else { 0.5 });
        }
        if !last_is_best {
            value(self);
        }
    }

    /// One step along coordinate i, forward or back, within bounds. The direction taken becomes the
    /// one to try next.
    fn moved(&self, i: usize, direction: f32) -> Self {
        let mut moved = *self;
        if let (Some(at), Some(step), Some((low, high))) = (moved.at.get_mut(i), moved.step.get_mut(i), BOUNDS.get(i)) {
            *step *= direction;
            *at = (*at + *step).max(*low).min(*high);
        }
        moved
    }

    fn rescale(&mut self, i: usize, factor: f32) {
        if let (Some(step), Some((least, most))) = (self.step.get_mut(i), STEPS.get(i)) {
            let size = (step.abs() * factor).max(*least).min(*most);
            *step = if *step < 0.0 { -size } else { size };
        }
    }

    /// ln(ℓ/ℓ₀) ~ N(0, 1), ln noise ~ N(ln 1e-3, 2²).
    fn log_prior(&self) -> f32 {
        let [length, _, noise] = self.at;
        let noise = (noise - START[NOISE]) * 0.5;
        -0.5 * (length * length + noise * noise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Fitting = Fitting { linear: true, priors: false, sweeps: 1 };

    #[test]
    fn the_search_starts_as_stated_and_stays_where_nothing_is_better() {
        let mut fit = Fit::new(&ALL, 2.0);
        let start = fit.hyper();
        assert!((start.length_scale - 2.0).abs() < 1e-5 && start.linear_weight == 0.5);
        assert!((start.noise - 1e-3).abs() < 1e-6);
        fit.sweep(&ALL, false, |_| 0.0);
        assert_eq!(fit.hyper(), start);
    }

    #[test]
    fn a_sweep_leaves_alone_what_is_not_fitted() {
        let matern_alone = Fitting { linear: false, ..ALL };
        let mut fit = Fit::new(&matern_alone, 1.0);
        fit.sweep(&matern_alone, false, |hyper| hyper.linear_weight);
        assert_eq!(fit.hyper().linear_weight, 0.0);
        let before = fit.hyper().noise;
        fit.sweep(&ALL, true, |hyper| hyper.noise);
        assert_eq!(fit.hyper().noise, before);
        fit.sweep(&ALL, false, |hyper| hyper.noise);
        assert!(fit.hyper().noise > before);
    }

    #[test]
    fn the_last_likelihood_is_that_of_the_kept_hyper_parameters() {
        let mut fit = Fit::new(&ALL, 1.0);
        for _ in 0..10 {
            let mut last = None;
            fit.sweep(&ALL, false, |h| {
                last = Some(*h);
                -(h.length_scale - 2.0).abs() - (h.noise - 0.01).abs()
            });
            assert_eq!(last, Some(fit.hyper()));
        }
    }

    #[test]
    fn noise_grows_tenfold_and_is_set_within_bounds() {
        let mut fit = Fit::new(&ALL, 2.0);
        assert!(fit.add_noise() && (fit.hyper().noise - 1e-2).abs() < 1e-5);
        while fit.add_noise() {}
        assert_eq!(fit.hyper().noise, 1.0);
        for (share, noise) in [(0.02, 0.02), (7.0, 1.0), (0.0, 1e-4)] {
            fit.set_noise(share);
            assert!((fit.hyper().noise - noise).abs() < 1e-6, "{share}");
        }
    }
}
