//! When a run ends: after so many measurements, or once it is settled.

use super::ask_tell::AskTell;

/// The end of [`tune`](super::tune) and [`tune_async`](super::tune_async): a number of measurements,
/// or [`Settled`].
pub trait Until {
    /// The most measurements.
    fn most(&self) -> usize;

    /// Whether the run may end before.
    fn is_over<const K: usize, A: AskTell<K>>(&self, tuner: &A) -> bool;
}

/// So many measurements.
impl Until for usize {
    fn most(&self) -> usize {
        *self
    }

    fn is_over<const K: usize, A: AskTell<K>>(&self, _: &A) -> bool {
        false
    }
}

/// Until the tuner [is settled](trimtab::Tuner::is_settled), which saves measurements that would
/// gain little.
///
/// ```
/// # use trimtab::{Combination, Config, Knob, Space};
/// # use trimtab_embedded::objective::{Objective, Settled, tune};
/// # const KNOBS: [Knob; 10] = [Knob::nominal(2); 10];
/// # type MyTuner = trimtab::tuner!(KNOBS, observations: 100, rows: 64);
/// # struct Relays(f32);
/// # impl Objective<10> for Relays {
/// #     type Error = ();
/// #     fn apply(&mut self, c: &Combination<10>) -> Result<(), ()> {
/// #         self.0 = c.levels().iter().map(|level| f32::from(*level)).sum();
/// #         Ok(())
/// #     }
/// #     fn measure(&mut self) -> Result<f32, ()> { Ok(self.0) }
/// # }
/// # let (mut tuner, mut relays) = (MyTuner::new(), Relays(0.0));
/// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
/// let best = tune(&mut tuner, &mut relays, Settled { tolerance: 0.01, most: 100 })?;
/// assert_eq!(best.map(|best| best.value), Some(0.0));
/// assert!(tuner.len() < 50);
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// A share of the standard deviation of the values: 0.01 is 1 %.
    pub tolerance: f32,
    /// The most measurements.
    pub most: usize,
}

impl Until for Settled {
    fn most(&self) -> usize {
        self.most
    }

    fn is_over<const K: usize, A: AskTell<K>>(&self, tuner: &A) -> bool {
        tuner.is_settled(self.tolerance)
    }
}
