//! What must hold of a tuner after any call.

use std::fmt::Debug;

use trimtab::{AskError, Config, Noise, Observation, Proposal, Space, Tuner};

use super::refit::Refit;

/// How far a prediction may be from its refit in f64, in standard deviations of the prior, plus a
/// share of the largest cost for costs that hardly differ. The factor of core is f32: a residual of
/// 1e-4 beside a signal of 1 costs it four of its seven digits.
pub(super) const TOLERANCE: f64 = 0.005;
pub(super) const OF_LARGEST: f64 = 1e-5;

/// The largest distances seen, in standard deviations of the prior, and the number of comparisons.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worst {
    pub(super) mean: f64,
    pub(super) std_dev: f64,
    pub(super) compared: u64,
}

/// All digits of everything that has a `Debug` form.
pub(super) fn bits(what: &impl Debug) -> String {
    format!("{what:?}")
}

/// The tuner before a proposal.
pub(super) struct Before<const K: usize> {
    observations: Vec<Observation<K>>,
    pending: Vec<trimtab::Combination<K>>,
}

impl<const K: usize> Before<K> {
    pub(super) fn new<const M: usize, const D: usize, const T: usize, const L: usize, const P: usize>(
        tuner: &Tuner<K, M, D, T, L, P>,
    ) -> Self {
        Self { observations: tuner.observations().collect(), pending: tuner.pending().to_vec() }
    }

    /// A proposal is feasible, new (or worth measuring again), and its numbers are numbers.
    pub(super) fn check(&self, space: &Space<K>, config: &Config, proposal: &Proposal<K>) {
        let Proposal { combination: c, mean, std_dev, score } = proposal;
        assert!(space.contains(c) && space.is_feasible(c), "asked an infeasible {c:?}");
        assert!(!self.pending.contains(c), "{c:?} is asked already");
        // Beside costs near the largest f32 a mean may leave its range; it is never NaN.
        assert!(!mean.is_nan() && *std_dev >= 0.0 && !score.is_nan(), "{proposal:?}");
        if let Some(known) = self.observations.iter().find(|o| o.combination == *c) {
            let may_repeat = config.noise != Noise::None && config.remeasure > 1;
            assert!(!known.is_failure(), "asked a failure again");
            assert!(may_repeat && known.repeats < config.remeasure, "asked {known:?} again under {:?}", config.noise);
        }
    }

    /// A refused ask has its reason.
    pub(super) fn check_refusal(&self, space: &Space<K>, error: AskError) {
        let known = (self.observations.len() + self.pending.len()) as u128;
        match error {
            AskError::TooManyPending { most } => assert_eq!(self.pending.len(), most),
            // Without a predicate only a space that is known whole is exhausted.
            AskError::Exhausted => assert!(space.is_restricted() || known >= space.cardinality(), "{known} known"),
            AskError::NoneFound { .. } => assert!(space.is_restricted()),
            other => panic!("{other:?} for no reason"),
        }
    }
}

/// Predictions are numbers, and those of a tuner without a random map agree with a refit in f64.
pub(super) fn predictions<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
>(
    tuner: &Tuner<K, M, D, T, L, P>,
    candidates: impl Iterator<Item = trimtab::Combination<K>>,
    worst: &mut Worst,
) {
    let observations: Vec<_> = tuner.observations().collect();
    let refit = if D == 0 { Refit::new(tuner.space(), tuner.config(), &observations, tuner.inspect()) } else { None };
    for c in candidates {
        let Some(got) = tuner.predict(&c) else {
            assert!(observations.is_empty(), "no prediction beside observations");
            continue;
        };
        assert!(!got.mean.is_nan() && got.std_dev >= 0.0, "{got:?}");
        let Some(refit) = &refit else { continue };
        if observations.iter().any(|o| o.combination == c) {
            continue;
        }
        let (mean, std_dev) = refit.predict(&c);
        // Costs that are not normal numbers have few digits.
        let slack = OF_LARGEST * refit.standard().largest + f64::from(f32::MIN_POSITIVE);
        let unit = refit.prior_deviation();
        // Costs near the largest f32 may be predicted beyond it.
        let limit = |a: f64| a.clamp(f64::from(f32::MIN), f64::from(f32::MAX));
        let off = |a: f64, b: f32| ((limit(a) - limit(b.into())).abs() - slack).max(0.0) / unit;
        let (by_mean, by_deviation) = (off(mean, got.mean), off(std_dev, got.std_dev));
        assert!(by_mean <= TOLERANCE && by_deviation <= TOLERANCE, "{got:?}, in f64 {mean} ± {std_dev}, unit {unit}");
        worst.mean = worst.mean.max(by_mean);
        worst.std_dev = worst.std_dev.max(by_deviation);
        worst.compared += 1;
    }
}
