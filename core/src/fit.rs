//! Hyper-parameters by marginal likelihood: a bounded, warm-started, deterministic search.
//!
//! max over (ln ℓ, w, ln noise) of ln p(y | ℓ, w, noise) + ln prior; μ and s² are in closed form in [`gp`](crate::gp).
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

use crate::kernel::Hyper;
use crate::math::{exp, ln};

/// Which hyper-parameters are searched, and what is believed of them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Search {
    /// Whether the kernel has a linear term, whose weight is then searched too.
    pub linear: bool,
    /// Whether weak priors on length-scale and noise join the likelihood.
    pub priors: bool,
}

/// Noise as a share of the signal: where the search starts and its bounds.
const NOISE: (f32, f32, f32) = (1e-4, 1e-3, 1.0);
/// ℓ/ℓ₀ lies between the inverse of this and this.
const LENGTH_RANGE: f32 = 20.0;
/// The linear term never takes all: Matérn must be able to explain the rest.
const WEIGHT: (f32, f32, f32) = (0.0, 0.5, 0.98);

const FIRST_STEP: [f32; 3] = [0.5, 0.2, 1.0];
const LEAST_STEP: [f32; 3] = [0.05, 0.02, 0.1];
const MOST_STEP: [f32; 3] = [1.5, 0.4, 3.0];

/// The state of the search: the hyper-parameters so far and the steps to try next.
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
    pub fn new(search: &Search, typical_distance: f32) -> Self {
        let weight = if search.linear { WEIGHT.1 } else { 0.0 };
        let typical = if typical_distance > 0.0 { typical_distance } else { 1.0 };
        Self { at: [0.0, weight, ln(NOISE.1)], step: FIRST_STEP, typical }
    }

    /// The hyper-parameters so far.
    pub fn hyper(&self) -> Hyper {
        let [length, weight, noise] = self.at;
        Hyper { length_scale: self.typical * exp(length), linear_weight: weight, noise: exp(noise) }
    }

    /// Ten times the noise, for a factor that broke down; false once that cannot help any more.
    pub fn add_noise(&mut self) -> bool {
        let [_, _, noise] = &mut self.at;
        *noise += core::f32::consts::LN_10;
        *noise < 10.0
    }

    /// One sweep. `likelihood` is −∞ for hyper-parameters that cannot be used; its last call is for the ones that are kept.
    ///
    /// ```
    /// use trimtab::fit::{Fit, Search};
    /// let search = Search { linear: true, priors: false };
    /// let mut fit = Fit::new(&search, 1.0);
    /// for _ in 0..30 {
    ///     fit.sweep(&search, |h| -(h.length_scale - 2.0).abs() - (h.linear_weight - 0.3).abs() - (h.noise - 0.01).abs());
    /// }
    /// assert!((fit.hyper().length_scale - 2.0).abs() < 0.2);
    /// assert!((fit.hyper().linear_weight - 0.3).abs() < 0.05);
    /// ```
    pub fn sweep(&mut self, search: &Search, mut likelihood: impl FnMut(&Hyper) -> f32) {
        let mut value = |fit: &Self| likelihood(&fit.hyper()) + if search.priors { fit.log_prior() } else { 0.0 };
        let mut best = value(self);
        let mut last_is_best = true;
        for i in 0..3 {
            if i == 1 && !search.linear {
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
        let bounds = [(-ln(LENGTH_RANGE), ln(LENGTH_RANGE)), (WEIGHT.0, WEIGHT.2), (ln(NOISE.0), ln(NOISE.2))];
        let mut moved = *self;
        for (((at, step), (low, high)), _) in
            moved.at.iter_mut().zip(&mut moved.step).zip(bounds).zip(0..).filter(|(_, j)| *j == i)
        {
            *step *= direction;
            *at = (*at + *step).clamp(low, high);
        }
        moved
    }

    fn rescale(&mut self, i: usize, factor: f32) {
        let limits = LEAST_STEP.iter().zip(&MOST_STEP);
        for ((step, (least, most)), _) in self.step.iter_mut().zip(limits).zip(0..).filter(|(_, j)| *j == i) {
            let size = (step.abs() * factor).clamp(*least, *most);
            *step = if *step < 0.0 { -size } else { size };
        }
    }

    /// ln(ℓ/ℓ₀) ~ N(0, 1), ln noise ~ N(ln 1e-3, 2²).
    fn log_prior(&self) -> f32 {
        let [length, _, noise] = self.at;
        let noise = (noise - ln(NOISE.1)) * 0.5;
        -0.5 * (length * length + noise * noise)
    }
}
