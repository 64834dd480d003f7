//! Hyper-parameters by marginal likelihood: a bounded, warm-started, deterministic search.
//!
//! max over (ln ℓ, w, ln noise) of ln p(y | ℓ, w, noise) + ln prior; μ and s² are in closed form in [`gp`](crate::surrogate::gp).
//!
//! | name | meaning |
//! |---|---|
//! | ℓ₀ | typical distance of two random embeddings |
//! | step | how far each coordinate is tried |
//!
//! **Choices.** The paper maximises the likelihood at every step with a quasi-Newton method. A chip does better with little and often: one
//! sweep tries a step along each coordinate, the other way if that was worse, and lets the step grow on success
//! and shrink on failure. The search starts where the last one ended, so sweeps add up over a run. Weak priors on
//! ln ℓ and ln noise keep the first few observations from deciding everything.
//!
//! **Cost.** At most 8 evaluations a sweep, each one factorisation.

use crate::config::Fitting;
use crate::math::float::{ln, short_exp};
use crate::surrogate::kernel::Hyper;

/// Which coordinate is which.
const WEIGHT: usize = 1;
const NOISE: usize = 2;

/// Where the search starts: ln(ℓ/ℓ₀), w, ln noise; noise is a thousandth of the signal.
const START: [f32; 3] = [0.0, 0.5, -6.907_755];
/// A length-scale within a factor of 20 of ℓ₀; a linear term that never takes all, so that Matérn can explain the rest; noise from
/// a ten-thousandth of the signal, which f32 needs, to as much as the signal.
const BOUNDS: [(f32, f32); 3] = [(-MOST_LENGTH, MOST_LENGTH), (0.0, 0.98), (-9.210_34, 0.0)];
/// The largest ln(ℓ/ℓ₀), and e to its power: [`short_exp`] takes no positive argument.
const MOST_LENGTH: f32 = 3.0;
const LARGEST: f32 = 20.085_537;
/// The first step along each coordinate, and its bounds.
const FIRST_STEP: [f32; 3] = [0.5, 0.2, 1.0];
const STEPS: [(f32, f32); 3] = [(0.05, 1.5), (0.02, 0.4), (0.1, 3.0)];

/// The state of the search: the hyper-parameters so far and the steps to try next.
///
/// ```
/// use trimtab::internals::{Fit, Fitting};
/// let search = Fitting { linear: true, priors: false, sweeps: 1 };
/// let mut fit = Fit::new(&search, 1.0);
/// let start = fit.hyper();
/// fit.sweep(&search, false, |_| 0.0);
/// assert_eq!(fit.hyper(), start); // nothing is better, so nothing moves
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// ln(ℓ/ℓ₀), w, ln noise.
    at: [f32; 3],
    /// Signed: the sign is the direction that is tried first.
    step: [f32; 3],
    typical: f32,
}

impl Fit {
    pub(crate) const ZERO: Self = Self { at: [0.0; 3], step: [0.0; 3], typical: 0.0 };

    /// Starts at the typical distance ℓ₀ of two random embeddings.
    ///
    /// ```
    /// use trimtab::internals::{Fit, Fitting};
    /// let fit = Fit::new(&Fitting { linear: true, priors: true, sweeps: 1 }, 2.0);
    /// assert!((fit.hyper().length_scale - 2.0).abs() < 1e-5);
    /// ```
    pub fn new(fitting: &Fitting, typical_distance: f32) -> Self {
        let typical = if typical_distance > 0.0 { typical_distance } else { 1.0 };
        let mut fit = Self { at: START, step: FIRST_STEP, typical };
        if !fitting.linear {
            fit.at[WEIGHT] = 0.0;
        }
        fit
    }

    /// The hyper-parameters so far.
    ///
    /// ```
    /// use trimtab::internals::{Fit, Fitting};
    /// let hyper = Fit::new(&Fitting { linear: true, priors: true, sweeps: 1 }, 2.0).hyper();
    /// assert!((hyper.noise - 1e-3).abs() < 1e-6 && hyper.linear_weight == 0.5); // where the search starts
    /// ```
    #[inline(never)]
    pub fn hyper(&self) -> Hyper {
        let [length, weight, noise] = self.at;
        let length_scale = self.typical * short_exp(length - MOST_LENGTH) * LARGEST;
        Hyper { length_scale, linear_weight: weight, noise: short_exp(noise) }
    }

    /// Ten times the noise, for a factor that broke down; false once that cannot help any more.
    ///
    /// ```
    /// use trimtab::internals::{Fit, Fitting};
    /// let mut fit = Fit::new(&Fitting { linear: true, priors: true, sweeps: 1 }, 2.0);
    /// let before = fit.hyper().noise;
    /// assert!(fit.add_noise());
    /// assert!((fit.hyper().noise / before - 10.0).abs() < 1e-4);
    /// while fit.add_noise() {}
    /// assert_eq!(fit.hyper().noise, 1.0); // as much as the signal
    /// ```
    pub fn add_noise(&mut self) -> bool {
        let [_, _, noise] = &mut self.at;
        let most = BOUNDS[NOISE].1;
        let could = *noise < most;
        *noise = (*noise + core::f32::consts::LN_10).min(most);
        could
    }

    /// Sets the noise, as a share of the signal variance, within bounds.
    ///
    /// ```
    /// use trimtab::internals::{Fit, Fitting};
    /// let mut fit = Fit::new(&Fitting { linear: true, priors: true, sweeps: 1 }, 2.0);
    /// fit.set_noise(0.02);
    /// assert!((fit.hyper().noise - 0.02).abs() < 1e-6);
    /// ```
    pub fn set_noise(&mut self, share: f32) {
        let (least, most) = BOUNDS[NOISE];
        self.at[NOISE] = ln(share.max(f32::MIN_POSITIVE)).max(least).min(most);
    }

    /// One sweep; `noise_is_known` leaves the noise as it is. `likelihood` is −∞ for hyper-parameters that cannot be used; its last call is for the ones that are kept.
    ///
    /// ```
    /// use trimtab::internals::{Fit, Fitting};
    /// let search = Fitting { linear: true, priors: false, sweeps: 1 };
    /// let mut fit = Fit::new(&search, 1.0);
    /// for _ in 0..30 {
    ///     fit.sweep(&search, false, |h| -(h.length_scale - 2.0).abs() - (h.linear_weight - 0.3).abs() - (h.noise - 0.01).abs());
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

    /// One step along coordinate i, forward or back, within bounds; the way it went is the way to go next.
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
