//! The same loop with `async fn`: waits for contacts and conversions leave the processor to others.
//!
//! **Choices**
//! - No executor is named: embassy, RTIC 2 or your own will do. Futures need not be `Send`, since an
//!   executor on a chip has one thread.
//! - Between slices of an ask or a tell the loop yields, so other tasks of the same executor run in
//!   between.
//! - Every blocking [`Objective`] is used as it is, by [`Blocking`].
//!
//! **Cost.** That of the blocking loop, and one wake-up per slice.

use core::future::poll_fn;
use core::task::Poll;

use trimtab::{Combination, Error, Margins, Observation};

use super::ask_tell::AskTell;
use super::{Objective, Step, Until, is_over};

/// Hardware that is set and measured by `async` code.
///
/// ```
/// use trimtab::{Combination, Config, Knob, Space};
/// use trimtab_embedded::objective::{AsyncObjective, tune_async};
///
/// const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// type MyTuner = trimtab::tuner!(KNOBS, observations: 24, rows: 32);
///
/// struct Amplifier([u16; 2]);
///
/// impl AsyncObjective<2> for Amplifier {
///     type Error = &'static str;
///     async fn apply(&mut self, c: &Combination<2>) -> Result<(), Self::Error> {
///         self.0 = [c.level(0), c.level(1)];      // then: Timer::after_millis(5).await
///         Ok(())
///     }
///     async fn measure(&mut self) -> Result<f32, Self::Error> {
///         Ok(f32::from(self.0[1].abs_diff(5)) + f32::from(self.0[0]))     // adc.read(…).await
///     }
/// }
///
/// # fn block_on<F: Future>(future: F) -> F::Output {
/// #     let mut future = std::pin::pin!(future);
/// #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// #     loop {
/// #         if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
/// #             return output;
/// #         }
/// #     }
/// # }
/// # block_on(async {
/// let (mut tuner, mut amplifier) = (MyTuner::new(), Amplifier([0; 2]));
/// tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
/// let best = tune_async(&mut tuner, &mut amplifier, 24).await?;
/// assert_eq!(best.map(|best| best.value), Some(0.0));
/// # Ok::<(), trimtab::Error>(())
/// # })?;
/// # Ok::<(), trimtab::Error>(())
/// ```
// An executor on a chip has one thread, so nobody needs `Send` here.
#[allow(async_fn_in_trait)]
pub trait AsyncObjective<const K: usize> {
    /// An error of the hardware.
    type Error;

    /// Sets the hardware to the combination.
    async fn apply(&mut self, c: &Combination<K>) -> Result<(), Self::Error>;

    /// Measures the combination applied last. The value is a cost unless the configuration's goal
    /// says otherwise.
    async fn measure(&mut self) -> Result<f32, Self::Error>;

    /// The margins to limits of the last measurement, as in [`Objective::margins`].
    fn margins(&mut self) -> Margins {
        Margins::default()
    }
}

impl<const K: usize, O: AsyncObjective<K> + ?Sized> AsyncObjective<K> for &mut O {
    type Error = O::Error;

    async fn apply(&mut self, c: &Combination<K>) -> Result<(), Self::Error> {
        (**self).apply(c).await
    }

    async fn measure(&mut self) -> Result<f32, Self::Error> {
        (**self).measure().await
    }

    fn margins(&mut self) -> Margins {
        (**self).margins()
    }
}

/// A blocking objective in an `async` loop.
#[derive(Clone, Copy, Debug)]
pub struct Blocking<O>(pub O);

impl<const K: usize, O: Objective<K>> AsyncObjective<K> for Blocking<O> {
    type Error = O::Error;

    async fn apply(&mut self, c: &Combination<K>) -> Result<(), Self::Error> {
        self.0.apply(c)
    }

    async fn measure(&mut self) -> Result<f32, Self::Error> {
        self.0.measure()
    }

    fn margins(&mut self) -> Margins {
        self.0.margins()
    }
}

/// Steps per slice of an ask or a tell: at most 80 000 instructions with 64 observations of 24 relays.
pub const SLICE: u16 = 4;

/// [`step`](super::step) with `async` hardware: the same bits.
pub async fn step_async<const K: usize, A: AskTell<K>, O: AsyncObjective<K>>(
    tuner: &mut A,
    objective: &mut O,
) -> Result<Step<K, O::Error>, Error> {
    tuner.ask_begin()?;
    let proposal = loop {
        match tuner.ask_step(SLICE)? {
            Some(proposal) => break proposal,
            None => yield_now().await,
        }
    };
    let c = &proposal.combination;
    let outcome = match objective.apply(c).await {
        Ok(()) => objective.measure().await,
        Err(error) => Err(error),
    };
    let step = Step { proposal, outcome, margins: objective.margins() };
    tuner.tell_begin(c, step.event())?;
    while tuner.tell_step(SLICE) {
        yield_now().await;
    }
    Ok(step)
}

/// [`tune`](super::tune) with `async` hardware: the same bits.
pub async fn tune_async<const K: usize, A: AskTell<K>, O: AsyncObjective<K>>(
    tuner: &mut A,
    objective: &mut O,
    until: impl Until,
) -> Result<Option<Observation<K>>, Error> {
    for _ in 0..until.most() {
        if is_over(step_async(tuner, objective).await)? || until.is_over(tuner) {
            break;
        }
        yield_now().await;
    }
    match tuner.best() {
        Some(best) if objective.apply(&best.combination).await.is_ok() => Ok(Some(best)),
        _ => Ok(None),
    }
}

/// Lets the other tasks run once.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if core::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};
    use std::vec::Vec;

    use trimtab::{Config, Knob, Level, Space};

    use super::*;
    use crate::objective::{Settled, tune};

    const KNOBS: [Knob; 12] = [Knob::nominal(2); 12];
    type Twelve = trimtab::tuner!(KNOBS, observations: 90, rows: 32);

    fn tuner() -> Twelve {
        let mut tuner = Twelve::new();
        tuner.init(Space::new(&KNOBS).unwrap(), Config::default(), 7).unwrap();
        tuner
    }

    /// Counts ones beside a pattern, fails for some, and waits once per call.
    #[derive(Default)]
    struct Bench([Level; 12]);

    impl Objective<12> for Bench {
        type Error = &'static str;

        fn apply(&mut self, c: &Combination<12>) -> Result<(), Self::Error> {
            self.0.copy_from_slice(c.levels());
            Ok(())
        }

        fn measure(&mut self) -> Result<f32, Self::Error> {
            let off = self.0.iter().enumerate().filter(|(i, level)| (i % 3 == 0) != (**level == 1)).count();
            (off < 9).then_some(off as f32).ok_or("overload")
        }
    }

    /// Runs to the end. Returns the output and how often the future waited.
    fn run<F: Future>(future: F) -> (F::Output, usize) {
        let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
        let mut waits = 0;
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(output) => return (output, waits),
                Poll::Pending => waits += 1,
            }
        }
    }

    #[test]
    fn a_run_with_waits_has_the_bits_of_one_without() {
        let (mut plain, mut sliced) = (tuner(), tuner());
        let best = tune(&mut plain, &mut Bench::default(), 20);
        let mut bench = Blocking(Bench::default());
        let (same, waits) = run(tune_async(&mut sliced, &mut &mut bench, 20));
        assert_eq!((same, plain.failures()), (best, sliced.failures()));
        let bits =
            |tuner: &Twelve| tuner.observations().map(|o| (o.combination, o.value.to_bits())).collect::<Vec<_>>();
        assert_eq!(bits(&plain), bits(&sliced));
        assert!(waits > 60, "a slice has four of 32 rows, so other tasks ran more often than {waits} times");
        let best = best.unwrap().unwrap();
        assert_eq!(bench.0.0[..], *best.combination.levels());
    }

    /// promise: Objective | the run is settled | it ends there, at the best, blocking or not
    #[test]
    fn a_settled_run_ends() {
        let until = Settled { tolerance: 0.01, most: 90 };
        let (mut plain, mut sliced) = (tuner(), tuner());
        let best = tune(&mut plain, &mut Bench::default(), until).unwrap().unwrap();
        let (same, _) = run(tune_async(&mut sliced, &mut Blocking(Bench::default()), until));
        assert_eq!((same, plain.len()), (Ok(Some(best)), sliced.len()));
        assert_eq!(best.value, 0.0);
        assert!((26..90).contains(&plain.len()), "{}", plain.len());
    }

    #[test]
    fn an_error_of_the_tuner_ends_the_run() {
        let uninitialised = run(tune_async(&mut Twelve::new(), &mut Blocking(Bench::default()), 5)).0;
        assert_eq!(uninitialised, Err(Error::Ask(trimtab::AskError::Uninitialised)));
    }

    #[test]
    fn a_combination_that_cannot_be_applied_has_failed_and_is_not_measured() {
        struct Broken;
        impl AsyncObjective<12> for Broken {
            type Error = ();
            async fn apply(&mut self, _: &Combination<12>) -> Result<(), ()> {
                yield_now().await;
                Err(())
            }
            async fn measure(&mut self) -> Result<f32, ()> {
                unreachable!("nothing was applied")
            }
        }
        let mut tuner = tuner();
        assert_eq!(run(tune_async(&mut tuner, &mut Broken, 5)).0, Ok(None));
        assert_eq!((tuner.len(), tuner.failures()), (5, 5));
    }

    /// The margins are those of the combination, and outlive every wrapper.
    #[derive(Default)]
    struct Narrow(Bench);

    fn ones(levels: &[Level]) -> f32 {
        4.5 - levels.iter().filter(|level| **level == 1).count() as f32
    }

    impl Objective<12> for Narrow {
        type Error = &'static str;

        fn apply(&mut self, c: &Combination<12>) -> Result<(), Self::Error> {
            self.0.apply(c)
        }

        fn measure(&mut self) -> Result<f32, Self::Error> {
            self.0.measure()
        }

        fn margins(&mut self) -> Margins {
            Margins::new(&[ones(&self.0.0)]).unwrap()
        }
    }

    #[test]
    fn margins_reach_the_tuner_through_every_wrapper() {
        use crate::objective::step;
        type Limited = trimtab::tuner!(KNOBS, observations: 90, rows: 32, limits: 1);
        let mut tuners = [(); 4].map(|()| Limited::new());
        for tuner in &mut tuners {
            tuner.init(Space::new(&KNOBS).unwrap(), Config::default(), 7).unwrap();
        }
        let [plain, borrowed, blocking, wrapped] = &mut tuners;
        for _ in 0..12 {
            let mut bench = Narrow::default();
            let own = step(plain, &mut bench).unwrap();
            let same = [
                step(borrowed, &mut &mut bench).unwrap(),
                run(step_async(blocking, &mut Blocking(&mut bench))).0.unwrap(),
                run(step_async(wrapped, &mut &mut Blocking(Narrow::default()))).0.unwrap(),
            ];
            assert_eq!(same, [own; 3]);
            let c = own.proposal.combination;
            let told = own.outcome.ok().map(|_| [ones(c.levels())]);
            assert!([&*plain, borrowed, blocking, wrapped].iter().all(|tuner| tuner.margins(&c) == told));
        }
        assert!(tuners.iter().all(|tuner| tuner.len() > tuner.failures()));
    }

    #[test]
    fn a_best_that_cannot_be_applied_again_is_none() {
        /// Works so many times.
        struct Wears(Bench, usize);
        impl Objective<12> for Wears {
            type Error = &'static str;
            fn apply(&mut self, c: &Combination<12>) -> Result<(), Self::Error> {
                self.1 = self.1.checked_sub(1).ok_or("worn out")?;
                self.0.apply(c)
            }
            fn measure(&mut self) -> Result<f32, Self::Error> {
                self.0.measure()
            }
        }
        for (times, is_applied) in [(8, false), (9, true)] {
            let best = tune(&mut tuner(), &mut Wears(Bench::default(), times), 8).unwrap();
            let (same, _) = run(tune_async(&mut tuner(), &mut Blocking(Wears(Bench::default(), times)), 8));
            assert_eq!((best.is_some(), same), (is_applied, Ok(best)));
        }
    }
}
