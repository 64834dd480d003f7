//! The longest piece of a tuner's work that a caller cannot cut: every ask and tell one step at a
//! time, over runs that are meant to be hard.
//!
//! Prints `slice TUNER CASE CALL INSTRUCTIONS`, the most of each call over a whole run:
//!
//! | case | what is hard |
//! |---|---|
//! | `plain`, `cached` | as many observations as fit, every step of every fit |
//! | `noisy` | measuring again is weighed |
//! | `failing` | every third measurement fails, so what fails is learned too |
//! | `batch` | seven combinations are pending |
//! | `limited` | there are limits, and every third measurement fails |
//! | `infeasible` | the predicate allows nothing that is drawn at random |

use trimtab::{Cache, Combination, Config, Error, Event, FleetPrior, Space, Tuner};

use super::Meter;

/// How a run goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Plain,
    Cached,
    Noisy,
    Failing,
    Batch,
}

/// The most instructions of each call.
#[derive(Default)]
struct Longest {
    ask_begin: u32,
    ask_step: u32,
    tell_begin: u32,
    tell_step: u32,
}

impl Meter {
    /// Runs all cases on a tuner.
    pub fn slices<
        const K: usize,
        const M: usize,
        const D: usize,
        const T: usize,
        const L: usize,
        const P: usize,
        const C: usize,
    >(
        &mut self,
        tuner_name: &str,
        space: &Space<K>,
        cost: impl Fn(&Combination<K>) -> f32,
        tuner: &mut Tuner<K, M, D, T, L, P>,
        cache: &mut Cache<D, T, C>,
    ) -> Result<(), Error> {
        let cases = [
            ("plain", Case::Plain),
            ("cached", Case::Cached),
            ("noisy", Case::Noisy),
            ("failing", Case::Failing),
            ("batch", Case::Batch),
        ];
        for (name, case) in cases {
            tuner.init(space.clone(), Config::default(), 1)?;
            let longest = self.slices_of(case, &cost, tuner, cache)?;
            self.print(tuner_name, name, &longest);
        }
        tuner.init(space.clone().with_feasible(&|c| c.levels().iter().all(|l| *l == 0)), Config::default(), 1)?;
        let mut longest = Longest::default();
        let begun = self.timed(&mut longest.ask_begin, || tuner.ask_begin());
        begun?;
        // Until it gives up, or finds the only one.
        while let Ok(None) = self.timed(&mut longest.ask_step, || tuner.ask_step(1)) {}
        self.print(tuner_name, "infeasible", &longest);
        Ok(())
    }

    /// Runs the case of limits on a tuner that has room for them.
    pub fn limited_slices<
        const K: usize,
        const M: usize,
        const T: usize,
        const L: usize,
        const P: usize,
        const G: usize,
    >(
        &mut self,
        tuner_name: &str,
        space: &Space<K>,
        cost: impl Fn(&Combination<K>) -> f32,
        tuner: &mut Tuner<K, M, 0, T, L, P, 0, G>,
    ) -> Result<(), Error> {
        tuner.init(space.clone(), Config::default(), 1)?;
        let longest = self.slices_of(Case::Failing, &cost, tuner, &mut Cache::<0, T, 0>::new())?;
        self.print(tuner_name, "limited", &longest);
        Ok(())
    }

    /// Runs the cases that a prior makes dearer on a tuner with one.
    pub fn slices_with_prior<
        const K: usize,
        const M: usize,
        const D: usize,
        const T: usize,
        const L: usize,
        const P: usize,
        const N: usize,
    >(
        &mut self,
        tuner_name: &str,
        space: &Space<K>,
        cost: impl Fn(&Combination<K>) -> f32,
        tuner: &mut Tuner<K, M, D, T, L, P, N>,
        prior: &FleetPrior,
    ) -> Result<(), Error> {
        let mut cache = Cache::<D, T, 0>::new();
        for (name, case) in [("plain", Case::Plain), ("failing", Case::Failing), ("batch", Case::Batch)] {
            tuner.init_with_prior(space.clone(), Config::default(), prior, 1)?;
            let longest = self.slices_of(case, &cost, tuner, &mut cache)?;
            self.print(tuner_name, name, &longest);
        }
        Ok(())
    }

    fn slices_of<
        const K: usize,
        const M: usize,
        const D: usize,
        const T: usize,
        const L: usize,
        const P: usize,
        const N: usize,
        const C: usize,
        const G: usize,
    >(
        &mut self,
        case: Case,
        cost: &impl Fn(&Combination<K>) -> f32,
        tuner: &mut Tuner<K, M, D, T, L, P, N, G>,
        cache: &mut Cache<D, T, C>,
    ) -> Result<Longest, Error> {
        let mut longest = Longest::default();
        let together = if case == Case::Batch { 8 } else { 1 };
        // Noise without a random number generator: a different share at each measurement.
        let mut wobble = 1u32;
        for t in 0.. {
            while tuner.pending().len() < together {
                let begun = self.timed(&mut longest.ask_begin, || tuner.ask_begin());
                begun?;
                loop {
                    let step = self.timed(&mut longest.ask_step, || match case {
                        Case::Cached => tuner.ask_step_with(1, cache),
                        _ => tuner.ask_step(1),
                    });
                    if step?.is_some() {
                        break;
                    }
                }
            }
            let Some(c) = tuner.pending().first().copied() else { break };
            wobble = wobble.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let noise = if case == Case::Noisy { (wobble >> 24) as f32 * 0.05 } else { 0.0 };
            let event = if case == Case::Failing && t % 3 == 2 { Event::Failed } else { Event::Told(cost(&c) + noise) };
            let told = self.timed(&mut longest.tell_begin, || match event {
                Event::Told(value) => {
                    // Each limit is kept by a few combinations more than the one before.
                    let used = c.levels().iter().fold(0.0, |sum, level| sum + f32::from(*level));
                    let margins: [f32; G] = core::array::from_fn(|i| 10.0 + i as f32 - used);
                    tuner.tell_with_begin(&c, value, &margins)
                }
                _ => tuner.tell_failed_begin(&c),
            });
            told?;
            while self.timed(&mut longest.tell_step, || tuner.tell_step(1)) {}
            if tuner.len() + together > T || t > 2 * T {
                break;
            }
        }
        Ok(longest)
    }

    /// Counts a call and keeps the most.
    fn timed<R>(&mut self, most: &mut u32, call: impl FnOnce() -> R) -> R {
        let (result, count) = self.timer.count(call);
        *most = count.max(*most);
        result
    }

    fn print(&mut self, tuner: &str, case: &str, longest: &Longest) {
        let Longest { ask_begin, ask_step, tell_begin, tell_step } = longest;
        for (call, count) in
            [("ask_begin", ask_begin), ("ask_step", ask_step), ("tell_begin", tell_begin), ("tell_step", tell_step)]
        {
            self.console.print(format_args!("slice {tuner} {case} {call} {count}"));
        }
    }
}
