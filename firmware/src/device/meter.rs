//! The cost of a tuner over a run: instructions of every `tell` and `ask`, and the peak of the
//! stack.
//!
//! Prints lines that `cargo xtask cost` turns into tables:
//!
//! | line | meaning |
//! |---|---|
//! | `state CASE K T L D BYTES CACHE` | the sizes K, T, L and D (0 without projection); bytes of the tuner and of its cache |
//! | `step CASE MODE T TELL ASK KIND` | instructions of the tell that brings observation T, and of the ask after it |
//! | `stack CASE MODE BYTES` | peak of the stack over all these calls |
//!
//! MODE is `recomputing` (`ask`) or `incremental` (`ask_with`). KIND is `new` if the tell changed
//! the hyper-parameters or the best observation, so that the table has new rows, else `steady`.
//!
//! **Choices**
//! - Numbers are printed after a run: printing would count towards the stack.
//! - Each run repaints the free part of the stack first, so its peak does not include earlier runs;
//!   the stack of its callers is subtracted.
//!
//! **Cost.** 1.5 KB for 128 steps.

use trimtab::{AskError, Cache, Combination, Config, Error, Proposal, Space, Tuner};

use super::{Console, Timer, exit, stack};

/// The longest run.
const MOST_STEPS: usize = 128;

/// Measures runs of tuners.
pub struct Meter {
    pub(super) console: Console,
    pub(super) timer: Timer,
    steps: [Step; MOST_STEPS],
}

/// Instructions of a step.
#[derive(Clone, Copy)]
struct Step {
    tell: u32,
    ask: u32,
    is_new: bool,
}

impl Meter {
    /// The main function of an image that measures: does the work, prints an error, and exits.
    pub fn measure(work: impl FnOnce(&mut Self) -> Result<(), Error>) -> ! {
        let Ok(console) = Console::open() else { exit(false) };
        let none = Step { tell: 0, ask: 0, is_new: false };
        let mut meter = Self { console, timer: Timer::start(), steps: [none; MOST_STEPS] };
        let result = work(&mut meter);
        if let Err(error) = result {
            meter.console.print(format_args!("error: {error}"));
        }
        exit(result.is_ok())
    }

    /// Runs as many steps as the tuner holds observations, first without a cache, then with one if
    /// given.
    pub fn run<
        const K: usize,
        const M: usize,
        const D: usize,
        const T: usize,
        const L: usize,
        const P: usize,
        const C: usize,
    >(
        &mut self,
        case: &str,
        space: &Space<K>,
        cost: impl Fn(&Combination<K>) -> f32,
        tuner: &mut Tuner<K, M, D, T, L, P>,
        cache: Option<&mut Cache<D, T, C>>,
    ) -> Result<(), Error> {
        let (state, kept) = (size_of_val(tuner), size_of::<Cache<D, T, C>>());
        self.console.print(format_args!("state {case} {K} {T} {L} {D} {state} {kept}"));
        tuner.init(space.clone(), Config::default(), 1)?;
        self.steps(case, "recomputing", tuner, &cost, Tuner::ask)?;
        if let Some(cache) = cache {
            tuner.init(space.clone(), Config::default(), 1)?;
            self.steps(case, "incremental", tuner, &cost, |tuner| tuner.ask_with(cache))?;
        }
        Ok(())
    }

    #[inline(never)]
    fn steps<const K: usize, const M: usize, const D: usize, const T: usize, const L: usize, const P: usize>(
        &mut self,
        case: &str,
        mode: &str,
        tuner: &mut Tuner<K, M, D, T, L, P>,
        cost: &impl Fn(&Combination<K>) -> f32,
        mut ask: impl FnMut(&mut Tuner<K, M, D, T, L, P>) -> Result<Proposal<K>, AskError>,
    ) -> Result<(), Error> {
        let depth = stack::repaint();
        let mut c = ask(tuner)?.combination;
        for step in self.steps.iter_mut().take(T) {
            let y = cost(&c);
            let before = (tuner.rebuilds(), tuner.best_observed());
            let (told, tell) = self.timer.count(|| tuner.tell(&c, y));
            told?;
            let is_new = before != (tuner.rebuilds(), tuner.best_observed());
            let (asked, ask) = self.timer.count(|| ask(tuner));
            c = asked?.combination;
            *step = Step { tell, ask, is_new };
        }
        let stack = stack::most_stack() - depth;
        for (t, Step { tell, ask, is_new }) in (1..).zip(self.steps.iter().take(T)) {
            let kind = if *is_new { "new" } else { "steady" };
            self.console.print(format_args!("step {case} {mode} {t} {tell} {ask} {kind}"));
        }
        self.console.print(format_args!("stack {case} {mode} {stack}"));
        Ok(())
    }
}
