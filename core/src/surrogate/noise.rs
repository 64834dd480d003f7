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
//! - Weighing is dear, so at every fourth fit only the best hypothesis, its neighbours and one other
//!   by turns are assessed; the rest keep their distance from the best. All are assessed at the first
//!   fits and when repeats show something new.
//!
//! **Cost.** A factorisation per assessed hypothesis.

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
/// For so many fits all hypotheses are weighed: there are few observations, and everything changes.
const FIRST_FITS: u8 = 16;
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
        Repeats { count, square: square / self.noise, log_noise: ln(self.noise), missing: 0.0 }
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
    /// Per hypothesis: the logarithm of its evidence and prior, in the end that of the best
    /// subtracted; and its signal variance.
    evidence: [f32; COUNT],
    signal: [f32; COUNT],
    /// The hypotheses still to be assessed, and those that were, one bit each; which was the last.
    due: u16,
    assessed: u16,
    last: u8,
}

impl Belief {
    pub(crate) const ZERO: Self = Self {
        best: 0,
        used: Hypothesis { residual: 0.0, noise: 0.0 },
        noisy: 0.0,
        doubt: 0.0,
        fits: 0,
        seen: Seen::Nothing,
        evidence: [0.0; COUNT],
        signal: [0.0; COUNT],
        due: 0,
        assessed: 0,
        last: 0,
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

    /// Begins to weigh the hypotheses, if this fit has to: every fourth does, and whenever repeats
    /// show something new. Call it once per fit.
    pub(crate) fn begin(&mut self, config: &Noise, seen: Seen) {
        let (turn, is_first) = (self.fits / EVERY, self.fits < FIRST_FITS || self.seen != seen);
        let is_due = self.fits.is_multiple_of(EVERY) || self.seen != seen;
        // Past the first ones, so that they do not come back.
        self.fits = self.fits.checked_add(1).unwrap_or(FIRST_FITS);
        (self.seen, self.due, self.assessed) = (seen, 0, 0);
        if !is_due {
            return;
        }
        let best = usize::from(self.best);
        for (i, h) in ALL.iter().enumerate() {
            let is_allowed = match (config, seen) {
                (Noise::None, _) | (_, Seen::Equal) => !h.is_noisy(),
                (_, Seen::Different) => h.is_noisy(),
                _ => true,
            };
            let is_near = i.abs_diff(best) <= 1 || i == usize::from(turn) % COUNT;
            if !is_allowed {
                self.evidence.iter_mut().skip(i).take(1).for_each(|own| *own = f32::NEG_INFINITY);
            } else if is_first || is_near {
                self.due |= 1 << i;
            }
        }
        // The others are known relative to the last best one.
        if !is_first {
            self.due |= 1 << best;
        }
    }

    /// The next hypothesis to assess.
    pub(crate) fn next(&mut self) -> Option<Hypothesis> {
        // The last best one comes last: it most often stays the best, and its factor can be used.
        let others = self.due & !(1 << self.best);
        let left = if others != 0 { others } else { self.due };
        let i = left.trailing_zeros();
        let next = ALL.get(i as usize).copied().filter(|_| left != 0)?;
        self.due &= !(1 << i);
        self.assessed |= 1 << i;
        self.last = i as u8;
        Some(next)
    }

    /// Reports the log evidence and the signal variance of the last one.
    pub(crate) fn report(&mut self, evidence: f32, signal: f32) {
        let (i, Some(h)) = (usize::from(self.last), ALL.get(usize::from(self.last))) else { return };
        let evidence = evidence + h.log_prior();
        if let (Some(own), Some(own_signal)) = (self.evidence.get_mut(i), self.signal.get_mut(i)) {
            (*own, *own_signal) = (evidence, signal);
        }
        if self.last == self.best {
            // What is known of those not assessed is relative to this one.
            let others = self.evidence.iter_mut().enumerate().filter(|(i, _)| self.assessed & (1 << i) == 0);
            others.for_each(|(_, other)| *other += evidence);
        }
    }

    /// Chooses the best, if any was assessed. Returns whether the last one assessed is in use, so
    /// that its factor can stay.
    pub(crate) fn end(&mut self) -> bool {
        if self.assessed == 0 {
            return false;
        }
        let mut best = usize::from(self.last);
        for (i, one) in self.evidence.iter().enumerate() {
            if self.evidence.get(best).is_none_or(|best| one > best) {
                best = i;
            }
        }
        let most = self.evidence.get(best).copied().filter(|most| most.is_finite()).unwrap_or(0.0);
        let (mut all, mut noisy, mut doubt) = (0.0f32, 0.0, 0.0);
        for (i, (h, (evidence, signal))) in ALL.iter().zip(self.evidence.iter_mut().zip(&self.signal)).enumerate() {
            *evidence -= most;
            if !evidence.is_finite() {
                continue;
            }
            let weight = short_exp(evidence.min(0.0));
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
        best == usize::from(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weighs with an evidence that peaks at this total noise.
    fn weighed(config: Noise, seen: Seen, peak: f32) -> (Belief, Hypothesis) {
        let (mut belief, mut last) = (Belief::START, deterministic(0.0));
        weigh(&mut belief, config, seen, peak, &mut last);
        (belief, last)
    }

    /// One fit; returns how many hypotheses were assessed.
    fn weigh(belief: &mut Belief, config: Noise, seen: Seen, peak: f32, last: &mut Hypothesis) -> usize {
        let mut count = 0;
        belief.begin(&config, seen);
        while let Some(h) = belief.next() {
            belief.report(-20.0 * (ln(h.residual + h.noise) - ln(peak)).abs(), 1.0);
            (*last, count) = (h, count + 1);
        }
        if count > 0 && !belief.end() {
            *last = belief.used;
        }
        count
    }

    /// All at the first fits, then few at every fourth; a peak that moves is followed, and what is far
    /// from it keeps little weight.
    #[test]
    fn later_fits_assess_the_neighbours_of_the_best() {
        let (mut belief, mut last) = (Belief::START, deterministic(0.0));
        let mut fit = |peak, belief: &mut Belief| weigh(belief, Noise::Auto, Seen::Nothing, peak, &mut last);
        for i in 0..FIRST_FITS {
            assert_eq!(fit(1e-3, &mut belief), if i.is_multiple_of(EVERY) { COUNT } else { 0 });
        }
        assert!((3..=4).contains(&fit(1e-3, &mut belief)));
        for _ in 0..24 {
            fit(0.301, &mut belief);
        }
        assert!((belief.used.noise - 0.3).abs() < 1e-6 && belief.noisy > 0.99, "{belief:?}");
        // A new kind of repeat: everything that it allows.
        assert_eq!(weigh(&mut belief, Noise::Auto, Seen::Different, 0.301, &mut last), 6);
    }

    #[test]
    fn the_evidence_chooses() {
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

    /// A known noise is used as it is, within bounds, and leaves no doubt.
    #[test]
    fn a_known_noise_is_set() {
        let mut belief = weighed(Noise::Auto, Seen::Nothing, 0.031).0;
        belief.set(0.25);
        assert_eq!(
            (belief.used, belief.noisy, belief.doubt),
            (Hypothesis { residual: RESIDUAL, noise: 0.25 }, 1.0, 0.0)
        );
        belief.set(2.0 * MOST);
        assert_eq!(belief.used.noise, MOST);
        belief.set(LEAST);
        assert_eq!((belief.used.noise, belief.noisy), (0.0, 0.0));
        belief.set(2.0 * LEAST);
        assert_eq!((belief.used.noise, belief.noisy), (2.0 * LEAST, 1.0));
    }

    /// The weights of all hypotheses, and the doubt they leave, in f64.
    #[test]
    fn the_doubt_is_the_weighed_variance_of_the_others() {
        let mut belief = Belief::START;
        belief.begin(&Noise::Auto, Seen::Nothing);
        let (mut all, mut noisy, mut doubt) = (0.0f64, 0.0, 0.0);
        while let Some(h) = belief.next() {
            let i = f64::from(belief.last);
            let (total, signal) = (f64::from(h.residual + h.noise), 0.4 + 0.3 * i);
            // The fifth has the most weight: an evidence against the prior.
            let evidence = 0.5 * ((total.ln() - 0.01f64.ln()) / 3.0).powi(2) - 0.2 * (i - 5.0) * (i - 5.0);
            belief.report(evidence as f32, signal as f32);
            let weight = (-0.2 * (i - 5.0) * (i - 5.0)).exp();
            let share = if h.is_noisy() { f64::from(h.noise) } else { f64::from(h.residual) };
            all += weight;
            noisy += if h.is_noisy() { weight } else { 0.0 };
            doubt += if i == 5.0 { 0.0 } else { weight * signal * share };
        }
        belief.end();
        assert_eq!(belief.used, ALL[5]);
        let close = |own: f32, exact: f64| (f64::from(own) / exact - 1.0).abs() < 1e-3;
        assert!(close(belief.noisy, noisy / all) && close(belief.doubt, doubt / all), "{belief:?} {}", doubt / all);
    }
}
