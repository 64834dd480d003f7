//! The hardware that you tune: it takes a combination, then it can be measured.
//!
//! You write an [`Objective`], or an [`AsyncObjective`] with `async fn`; [`step`] and [`tune`] are
//! the loop around it, [`step_async`] and [`tune_async`] the same with waits:
//!
//! ```text
//! tuner ── ask ──► apply ──► measure ──► tell, or tell_failed ──► tuner
//! ```
//!
//! **Choices**
//! - Applying and measuring are separate: the best combination is applied at the end without being
//!   measured, and some loops settle between the two.
//! - An error of the hardware, or a value that is not finite, is an outcome: the combination counts
//!   as failed and is never asked again. The [`Step`] carries the error.
//! - [`Objective::outcome`] returns the event for a [`Record`](trimtab::Record), because a log is
//!   written between measuring and telling.
//!
//! **Cost.** Two calls of yours and two of the tuner.

use trimtab::{AskError, Combination, Error, Event, Margins, Observation, Proposal};

mod ask_tell;
mod asynchronous;
mod switches;
mod until;

pub use ask_tell::AskTell;
pub use asynchronous::{AsyncObjective, Blocking, SLICE, step_async, tune_async};
pub use switches::{SwitchError, Switches};
pub use until::{Settled, Until};

/// Hardware that can be set and measured.
///
/// ```
/// use trimtab::{Combination, Config, Knob, Space};
/// use trimtab_embedded::objective::{Objective, tune};
///
/// const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// type MyTuner = trimtab::tuner!(KNOBS, observations: 24, rows: 32);
///
/// /// An amplifier with four inputs and eight gains; input 0 is not connected.
/// struct Amplifier {
///     input: u16,
///     gain: u16,
/// }
///
/// impl Objective<2> for Amplifier {
///     type Error = &'static str;
///     fn apply(&mut self, c: &Combination<2>) -> Result<(), Self::Error> {
///         (self.input, self.gain) = (c.level(0), c.level(1));
///         Ok(())
///     }
///     fn measure(&mut self) -> Result<f32, Self::Error> {
///         match self.input {
///             0 => Err("no signal"),
///             input => Ok(f32::from(self.gain.abs_diff(5)) + f32::from(input)),
///         }
///     }
/// }
///
/// let (mut tuner, mut amplifier) = (MyTuner::new(), Amplifier { input: 0, gain: 0 });
/// tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
/// let best = tune(&mut tuner, &mut amplifier, 24)?;
/// assert_eq!(best.map(|best| best.value), Some(1.0));
/// assert_eq!((amplifier.input, amplifier.gain), (1, 5)); // the best is applied
/// # Ok::<(), trimtab::Error>(())
/// ```
pub trait Objective<const K: usize> {
    /// An error of the hardware.
    type Error;

    /// Sets the hardware to the combination.
    fn apply(&mut self, c: &Combination<K>) -> Result<(), Self::Error>;

    /// Measures the combination applied last. The value is a cost unless the configuration's goal
    /// says otherwise.
    fn measure(&mut self) -> Result<f32, Self::Error>;

    /// The margins to limits of the last measurement, if there are limits: not negative where a limit
    /// was kept. See [`Tuner::tell_with`](trimtab::Tuner::tell_with).
    fn margins(&mut self) -> Margins {
        Margins::default()
    }

    /// Applies, then measures.
    fn evaluate(&mut self, c: &Combination<K>) -> Result<f32, Self::Error> {
        self.apply(c)?;
        self.measure()
    }

    /// Applies, then measures. Returns the outcome in the form of a log.
    fn outcome(&mut self, c: &Combination<K>) -> Event {
        let outcome = self.evaluate(c);
        event(&outcome, self.margins())
    }
}

impl<const K: usize, O: Objective<K> + ?Sized> Objective<K> for &mut O {
    type Error = O::Error;

    fn apply(&mut self, c: &Combination<K>) -> Result<(), Self::Error> {
        (**self).apply(c)
    }

    fn measure(&mut self) -> Result<f32, Self::Error> {
        (**self).measure()
    }

    fn margins(&mut self) -> Margins {
        (**self).margins()
    }
}

/// One measurement: the proposal and its outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Step<const K: usize, E> {
    /// The proposal, with the prediction.
    pub proposal: Proposal<K>,
    /// The measured value, or the error of the hardware.
    pub outcome: Result<f32, E>,
    /// Its margins to limits.
    pub margins: Margins,
}

impl<const K: usize, E> Step<K, E> {
    /// The event that the tuner was told.
    pub fn event(&self) -> Event {
        event(&self.outcome, self.margins)
    }
}

/// One turn of the loop: ask, apply, measure, tell. Returns errors of the tuner; an error of the
/// hardware is in the step.
pub fn step<const K: usize, A: AskTell<K>, O: Objective<K>>(
    tuner: &mut A,
    objective: &mut O,
) -> Result<Step<K, O::Error>, Error> {
    let proposal = tuner.ask_whole()?;
    let outcome = objective.evaluate(&proposal.combination);
    let step = Step { proposal, outcome, margins: objective.margins() };
    tuner.learn(&proposal.combination, step.event())?;
    Ok(step)
}

/// Makes this many measurements, fewer if the space is exhausted or the run [`Settled`], and leaves
/// the hardware at the best combination. Returns `None` if every measurement failed, or if the best cannot be applied
/// again.
pub fn tune<const K: usize, A: AskTell<K>, O: Objective<K>>(
    tuner: &mut A,
    objective: &mut O,
    until: impl Until,
) -> Result<Option<Observation<K>>, Error> {
    for _ in 0..until.most() {
        if is_over(step(tuner, objective))? || until.is_over(tuner) {
            break;
        }
    }
    Ok(tuner.best().filter(|best| objective.apply(&best.combination).is_ok()))
}

/// Whether there is nothing left to measure.
fn is_over<R>(step: Result<R, Error>) -> Result<bool, Error> {
    match step {
        Ok(_) => Ok(false),
        Err(Error::Ask(AskError::Exhausted)) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Errors and values that are not finite are failures.
fn event<E>(outcome: &Result<f32, E>, margins: Margins) -> Event {
    match outcome {
        Ok(value) if !value.is_finite() || !margins.iter().all(|margin| margin.is_finite()) => Event::Failed,
        Ok(value) if margins.is_empty() => Event::Told(*value),
        Ok(value) => Event::Measured(*value, margins),
        Err(_) => Event::Failed,
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use trimtab::{Config, Knob, Level, Record, Space, TellError};

    use super::*;

    const KNOBS: [Knob; 2] = [Knob::nominal(3), Knob::ranked(4)];
    type Small = trimtab::tuner!(KNOBS, observations: 12, rows: 16);

    fn tuner() -> Small {
        let mut tuner = Small::new();
        tuner.init(Space::new(&KNOBS).unwrap(), Config::default(), 7).unwrap();
        tuner
    }

    /// Cannot be applied at level 0 of the first knob, and measures NaN at level 3 of the second.
    #[derive(Default)]
    struct Bench {
        applied: Vec<[Level; 2]>,
        measured: usize,
    }

    impl Objective<2> for Bench {
        type Error = &'static str;

        fn apply(&mut self, c: &Combination<2>) -> Result<(), Self::Error> {
            if c.level(0) == 0 {
                return Err("stuck");
            }
            self.applied.push([c.level(0), c.level(1)]);
            Ok(())
        }

        fn measure(&mut self) -> Result<f32, Self::Error> {
            self.measured += 1;
            let [a, b] = *self.applied.last().ok_or("nothing applied")?;
            Ok(if b == 3 { f32::NAN } else { f32::from(a) * 10.0 - f32::from(b) })
        }
    }

    #[test]
    fn a_run_to_the_end_measures_each_once_and_applies_the_best() {
        let (mut tuner, mut bench) = (tuner(), Bench::default());
        let best = tune(&mut tuner, &mut bench, 100).unwrap().unwrap();
        // Of 12 combinations 4 cannot be applied, and 2 of the other 8 measure NaN. The least of
        // the rest is 10·1 − 2.
        assert_eq!((best.value, best.combination.levels()), (8.0, &[1, 2][..]));
        assert_eq!((tuner.len(), tuner.failures(), bench.measured), (12, 6, 8));
        assert_eq!((bench.applied.len(), bench.applied.last()), (9, Some(&[1, 2])));
    }

    /// promise: Objective | a measurement returns an error | told as a failure, and handed to the caller
    #[test]
    fn a_step_carries_the_error_and_tells_a_failure() {
        let (mut tuner, mut bench) = (tuner(), Bench::default());
        for t in 1..=12 {
            let step = step(&mut tuner, &mut bench).unwrap();
            let c = step.proposal.combination;
            match (c.level(0), c.level(1)) {
                (0, _) => assert_eq!((step.outcome, step.event()), (Err("stuck"), Event::Failed)),
                (_, 3) => assert!(step.outcome.unwrap().is_nan() && step.event() == Event::Failed),
                (a, b) => assert_eq!(step.event(), Event::Told(f32::from(a) * 10.0 - f32::from(b))),
            }
            assert_eq!((tuner.len(), tuner.pending().len()), (t, 0));
        }
        assert_eq!(step(&mut tuner, &mut bench), Err(Error::Ask(AskError::Exhausted)));
    }

    #[test]
    fn a_log_of_outcomes_rebuilds_the_run() {
        let (mut first, mut second, mut bench) = (tuner(), tuner(), Bench::default());
        for _ in 0..10 {
            let c = first.ask().unwrap().combination;
            let record = Record::new(&c, bench.outcome(&c));
            first.replay(&record).unwrap();
            assert_eq!(step(&mut second, &mut &mut bench).unwrap().event(), record.event);
        }
        assert_eq!(first.ask(), second.ask());
    }

    #[test]
    fn an_error_of_the_tuner_ends_the_run() {
        let mut fresh = Small::new();
        let uninitialised = tune(&mut fresh, &mut Bench::default(), 5);
        assert_eq!(uninitialised, Err(Error::Ask(AskError::Uninitialised)));
        let mut short = <trimtab::tuner!(KNOBS, observations: 3, rows: 16)>::new();
        short.init(Space::new(&KNOBS).unwrap(), Config::default(), 7).unwrap();
        assert_eq!(tune(&mut short, &mut Bench::default(), 5), Err(Error::Tell(TellError::Full)));
    }

    /// promise: Objective | every measurement fails | no best, no panic
    #[test]
    fn hardware_that_always_fails_has_no_best() {
        struct Broken;
        impl Objective<2> for Broken {
            type Error = ();
            fn apply(&mut self, _: &Combination<2>) -> Result<(), ()> {
                Err(())
            }
            fn measure(&mut self) -> Result<f32, ()> {
                Ok(0.0)
            }
        }
        let mut tuner = tuner();
        assert_eq!(tune(&mut tuner, &mut Broken, 5), Ok(None));
        assert_eq!((tuner.len(), tuner.failures()), (5, 5));
    }
}
