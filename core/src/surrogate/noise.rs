//! How noisy the measurements are: nine hypotheses, weighed by their evidence.
//!
//! K = C + p·\[same combination\] + (r/n)·I for the mean of n measurements, C the kernel's
//! covariances:
//!
//! | hypotheses | p: what the kernel cannot explain | r: noise of one measurement |
//! |---|---|---|
//! | deterministic | 1e-4, 1e-3, 1e-2 | 0 |
//! | noisy | 1e-3 | 0.01, 0.03, 0.1, 0.3, 1, 3 |
//!
//! All are shares of the signal variance. The prior is N(ln 0.01, 3²) on ln(p + r).
//!
//! **Choices**
//! - A fitted noise collapses to its lower bound or believes everything is noise: with some tens of
//!   measurements the likelihood has several peaks. A short grid finds the highest one.
//! - Repeats decide: once one differed, the deterministic hypotheses are out, and while all were
//!   equal, the noisy ones are.
//! - Candidates are scored by the best hypothesis alone. The uncertainty that we report includes
//!   what the other hypotheses would add.
//!
//! **Cost.** A factorisation per hypothesis, at every fourth fit.

use crate::config::Noise;
use crate::math::float::{ln, short_exp};
use crate::surrogate::gp::Repeats;

/// One hypothesis, in shares of the signal variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hypothesis {
    /// p: what the kernel cannot explain about a combination.
    pub(crate) residual: f32,
    /// r: the variance of the noise of one measurement.
    pub(crate) noise: f32,
}

const fn deterministic(residual: f32) -> Hypothesis {
    Hypothesis { residual, noise: 0.0 }
}

const fn noisy(noise: f32) -> Hypothesis {
    Hypothesis { residual: RESIDUAL, noise }
}

/// Bounds of a noise that the user gives.
const LEAST: f32 = 1e-7;
const MOST: f32 = 1e4;
/// The residual beside a noise.
const RESIDUAL: f32 = 1e-3;
/// Number of hypotheses.
pub(crate) const COUNT: usize = 9;
/// All hypotheses, from the smallest noise to the largest.
const ALL: [Hypothesis; COUNT] = [
    deterministic(1e-4),
    deterministic(1e-3),
    deterministic(1e-2),
    noisy(0.01),
    noisy(0.03),
    noisy(0.1),
    noisy(0.3),
    noisy(1.0),
    noisy(3.0),
];
/// Every how many fits the hypotheses are weighed.
const EVERY: u8 = 4;
/// The start: a thousandth of the signal.
const FIRST: u8 = 1;

impl Hypothesis {
    pub(crate) fn is_noisy(&self) -> bool {
        self.noise > 0.0
    }

    /// What is added to the prior variance of a mean of n measurements.
    pub(crate) fn of_mean(&self, n: f32) -> f32 {
        self.residual + self.noise / n
    }

    fn log_prior(&self) -> f32 {
        let z = (ln(self.residual + self.noise) - LN_TYPICAL) * (1.0 / 3.0);
        -0.5 * z * z
    }

    /// The repeats of this many measurements and this sum of squares, in standardised units.
    pub(crate) fn repeats(&self, count: f32, square: f32) -> Repeats {
        if !self.is_noisy() {
            return Repeats::default();
        }
        Repeats { count, square: square / self.noise, log_noise: ln(self.noise) }
    }
}

/// ln 0.01.
const LN_TYPICAL: f32 = -4.605_170_2;

/// What repeated measurements have shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Nothing,
    Equal,
    Different,
}

/// The best hypothesis and the weight of the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Belief {
    best: u8,
    /// The hypothesis in use: the best one, or the one that the user gave.
    pub(crate) used: Hypothesis,
    /// Total weight of the noisy hypotheses.
    pub(crate) noisy: f32,
    /// The variance that the other hypotheses add to what is known of a combination measured once,
    /// in standardised units.
    pub(crate) doubt: f32,
    /// Number of fits, and what repeats had shown at the last one.
    fits: u8,
    seen: Seen,
}

impl Belief {
    pub(crate) const ZERO: Self = Self {
        best: 0,
        used: Hypothesis { residual: 0.0, noise: 0.0 },
        noisy: 0.0,
        doubt: 0.0,
        fits: 0,
        seen: Seen::Nothing,
    };

    pub(crate) const START: Self = Self { best: FIRST, ..Self::of(deterministic(1e-3)) };

    /// Believes in this hypothesis alone.
    pub(crate) const fn of(used: Hypothesis) -> Self {
        Self { used, ..Self::ZERO }
    }

    /// Uses a known noise, as a share of the signal variance.
    pub(crate) fn set(&mut self, noise: f32) {
        // A smaller share is lost in rounding.
        let noise = if noise > LEAST { noise.min(MOST) } else { 0.0 };
        self.used = Hypothesis { residual: RESIDUAL, noise };
        (self.noisy, self.doubt) = (f32::from(u8::from(self.used.is_noisy())), 0.0);
    }

    /// Goes to the next larger noise, for a factor that broke down. Returns false at the largest.
    pub(crate) fn increase(&mut self) -> bool {
        let next = ALL.get(usize::from(self.best) + 1);
        if let Some(next) = next {
            self.best += 1;
            self.used = Hypothesis { residual: next.residual + next.noise, noise: self.used.noise };
        }
        next.is_some()
    }

    /// Whether a fit has to weigh the hypotheses: every fourth, and whenever repeats show something
    /// new. Call it once per fit.
    pub(crate) fn is_due(&mut self, seen: Seen) -> bool {
        let is_due = self.fits.is_multiple_of(EVERY) || self.seen != seen;
        (self.fits, self.seen) = (self.fits.wrapping_add(1), seen);
        is_due
    }

    /// Weighs all hypotheses that the repeats allow. `assess` returns the log evidence and the
    /// signal variance of one, and is called for the one that is kept last.
    pub(crate) fn weigh(&mut self, config: &Noise, seen: Seen, mut assess: impl FnMut(&Hypothesis) -> (f32, f32)) {
        let allowed = |h: &Hypothesis| match (config, seen) {
            (Noise::None, _) | (_, Seen::Equal) => !h.is_noisy(),
            (_, Seen::Different) => h.is_noisy(),
            _ => true,
        };
        let mut found = [(f32::NEG_INFINITY, 0.0); COUNT];
        let before = usize::from(self.best);
        let mut weigh = |i: usize| {
            let (Some(h), Some(found)) = (ALL.get(i), found.get_mut(i)) else { return };
            if allowed(h) {
                let (evidence, signal) = assess(h);
                *found = (evidence + h.log_prior(), signal);
            }
        };
        // The last one assessed is the last best one, which most often stays the best.
        (0..COUNT).filter(|i| *i != before).for_each(&mut weigh);
        weigh(before);
        let mut best = before;
        for (i, one) in found.iter().enumerate() {
            if found.get(best).is_none_or(|best| one.0 > best.0) {
                best = i;
            }
        }
        let most = found.get(best).map_or(0.0, |best| best.0);
        if best != before
            && let Some(h) = ALL.get(best)
        {
            assess(h);
        }
        let (mut all, mut noisy, mut doubt) = (0.0f32, 0.0, 0.0);
        for (i, (h, (evidence, signal))) in ALL.iter().zip(&found).enumerate() {
            if !evidence.is_finite() {
                continue;
            }
            let weight = short_exp((evidence - most).min(0.0));
            all += weight;
            noisy += if h.is_noisy() { weight } else { 0.0 };
            // The best one's own noise is in the posterior already.
            let share = if !h.is_noisy() {
                h.residual
            } else if i == best {
                0.0
            } else {
                h.noise
            };
            doubt += weight * signal * share;
        }
        self.best = best as u8;
        self.used = ALL.get(best).copied().unwrap_or(self.used);
        let all = if all > 0.0 { all } else { 1.0 };
        (self.noisy, self.doubt) = (noisy / all, doubt / all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weighs with an evidence that peaks at this total noise.
    fn weighed(config: Noise, seen: Seen, peak: f32) -> (Belief, Hypothesis) {
        let (mut belief, mut last) = (Belief::START, deterministic(0.0));
        belief.weigh(&config, seen, |h| {
            last = *h;
            (-20.0 * (ln(h.residual + h.noise) - ln(peak)).abs(), 1.0)
        });
        (belief, last)
    }

    #[test]
    fn the_evidence_chooses_and_the_last_assessed_is_used() {
        for (peak, noisy) in [(1e-4, false), (0.031, true), (1.001, true), (3.001, true)] {
            let (belief, last) = weighed(Noise::Auto, Seen::Nothing, peak);
            assert_eq!((belief.used.is_noisy(), belief.used), (noisy, last), "{peak}");
            assert!((belief.used.residual + belief.used.noise - peak).abs() < 0.1 * peak, "{belief:?}");
            assert!((belief.noisy > 0.97) == noisy);
        }
    }

    #[test]
    fn repeats_and_the_user_rule_hypotheses_out() {
        assert!(!weighed(Noise::Auto, Seen::Equal, 1.0).0.used.is_noisy());
        assert!(!weighed(Noise::None, Seen::Different, 1.0).0.used.is_noisy());
        let different = weighed(Noise::Auto, Seen::Different, 1e-4).0;
        assert!(different.used.is_noisy() && different.noisy == 1.0);
    }

    /// Two measurements of one combination, 0 and 2, at a noise of 2: the sum of squares is 2, so
    /// its share is 1.
    #[test]
    fn repeats_in_units_of_the_noise() {
        let repeats = noisy(2.0).repeats(1.0, 2.0);
        assert_eq!((repeats.count, repeats.square), (1.0, 1.0));
        assert_eq!(deterministic(0.1).repeats(1.0, 2.0), Repeats::default());
        assert_eq!(Hypothesis { residual: 0.5, noise: 2.0 }.of_mean(4.0), 1.0);
    }

    #[test]
    fn a_factor_that_breaks_down_gets_more_until_the_largest() {
        let mut belief = Belief::START;
        let steps = core::iter::repeat_with(|| belief.increase()).take_while(|more| *more).count();
        assert_eq!(steps, COUNT - 1 - usize::from(FIRST));
        assert!(belief.used.residual > 3.0);
    }
}
