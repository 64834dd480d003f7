//! Proposals and predictions, in the user's units.

use crate::space::Combination;

/// The next combination to measure, with the model's prediction for it.
///
/// ```
/// # use trimtab::{Config, Knob, Space};
/// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
/// # let mut tuner = Two::new();
/// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
/// let first = tuner.ask()?;
/// assert_eq!((first.mean, first.std_dev), (0.0, f32::INFINITY)); // nothing is known yet
/// tuner.tell(&first.combination, 2.5)?;
/// assert!(tuner.ask()?.std_dev.is_finite());
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Proposal<const K: usize> {
    /// The combination to measure next.
    pub combination: Combination<K>,
    /// The predicted value, in the user's units and sign; 0 before the first observation.
    pub mean: f32,
    /// The standard deviation of the prediction; infinite before the first observation.
    pub std_dev: f32,
    /// The acquisition's score, in standardised units; the smallest wins. 0 if the combination was
    /// not chosen by its score.
    pub score: f32,
}

/// The model's prediction for a combination.
///
/// ```
/// # use trimtab::{Config, Knob, Space};
/// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
/// # let mut tuner = Two::new();
/// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
/// let (measured, other) = (tuner.ask()?.combination, tuner.space().combination(&[3, 7])?);
/// tuner.tell(&measured, 2.5)?;
/// let estimates = tuner.predict(&measured).zip(tuner.predict(&other));
/// assert!(estimates.is_some_and(|(measured, other)| measured.std_dev < other.std_dev));
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Estimate<const K: usize> {
    /// The combination.
    pub combination: Combination<K>,
    /// The predicted value, in the user's units and sign.
    pub mean: f32,
    /// The standard deviation of the prediction.
    pub std_dev: f32,
}
