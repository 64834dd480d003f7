//! Cost of a tuner on the chip: instructions of `ask` and `tell` over whole runs, bytes of RAM,
//! stack and flash.
//!
//! The images `cost_…` count on the chip and print lines of words. This module reads them, adds the
//! sizes of the images and shows tables. `cargo xtask cost` prints what the test `budget` checks.
//!
//! | line | meaning |
//! |---|---|
//! | `state CASE K T L D BYTES CACHE` | the sizes K, T, L and D (0 without projection); bytes of the tuner and of its cache |
//! | `step CASE MODE T TELL ASK KIND` | instructions of the tell that brings observation T, and of the ask after it |
//! | `stack CASE MODE BYTES` | peak of the stack over all these calls |
//! | `slice CASE RUN CALL COUNT` | the most instructions of a call that cannot be cut, over a run |
//!
//! **Choices**
//! - The images run on an STM32F405. Only the cache of 128 observations does not fit in its 128 KB,
//!   so that image runs on a machine with more memory, whose counter is right to 40 instructions.
//! - Flash is that of `minimal`, which neither prints nor logs, at three levels of optimization;
//!   everything else is built as flashed, at "s".

mod budget;
pub mod sizes;
mod tables;

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use crate::board::{MPS2_AN386, STM32F405};
use crate::image::{Image, Profile, Sizes};
use crate::qemu::Session;
pub use budget::{Budget, LEVELS, TARGETS};

/// Number of steps over which tells are summed. A tell that fits the model costs far more than one
/// that does not, and by the default schedule both occur in a window, except in a young model.
pub const WINDOW: usize = 8;

/// Ends a run that hangs: far more than a run takes on a slow machine.
const LIMIT: Duration = Duration::from_secs(300);

/// The image that needs a machine with more memory than the chip has.
const LARGE: &str = "cost_128";

/// Instructions of one step: tell, then ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Number of observations after the tell, which the ask uses.
    pub t: usize,
    /// Instructions of the ask.
    pub ask: u64,
    /// Instructions of the tell.
    pub tell: u64,
    /// Whether the tell changed neither the hyper-parameters nor the best observation.
    pub is_steady: bool,
}

impl Step {
    /// Instructions of both.
    pub fn both(&self) -> u64 {
        self.ask + self.tell
    }
}

/// How proposals are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every row from nothing: `ask`.
    Recomputing,
    /// Every row from the cache: `ask_with`.
    Incremental,
}

impl Mode {
    /// As the image calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recomputing => "recomputing",
            Self::Incremental => "incremental",
        }
    }
}

/// A whole run of one tuner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How it proposed.
    pub mode: Mode,
    /// Every step.
    pub steps: Vec<Step>,
    /// Most bytes of stack below the caller's.
    pub stack: u64,
}

impl Run {
    /// The t-th step.
    pub fn step(&self, t: usize) -> Option<Step> {
        self.steps.iter().copied().find(|step| step.t == t)
    }

    /// The cheapest and the dearest tell of the last [`WINDOW`] steps up to the t-th.
    pub fn tells(&self, t: usize) -> Option<(u64, u64)> {
        let last = self.steps.iter().filter(|step| step.t <= t && step.t + WINDOW > t).map(|step| step.tell);
        Some((last.clone().min()?, last.max()?))
    }

    /// The mean of something over all steps, rounded down.
    pub fn mean(&self, of: impl Fn(&Step) -> u64) -> u64 {
        self.steps.iter().map(of).sum::<u64>() / self.steps.len().max(1) as u64
    }

    /// The most of something over all steps.
    pub fn worst(&self, of: impl Fn(&Step) -> u64) -> u64 {
        self.steps.iter().map(of).max().unwrap_or(0)
    }

    /// The median of ask and tell together over the steady steps.
    pub fn steady(&self) -> u64 {
        let mut steady: Vec<u64> = self.steps.iter().filter(|step| step.is_steady).map(Step::both).collect();
        steady.sort_unstable();
        steady.get(steady.len() / 2).copied().unwrap_or(0)
    }
}

/// One tuner, measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The tuned problem.
    pub name: String,
    /// K, T, L and D: knobs, observations, rows and dimensions.
    pub sizes: [u64; 4],
    /// Bytes of the tuner.
    pub state: u64,
    /// Bytes of its cache.
    pub cache: u64,
    /// Its runs: recomputing, and incremental where the cache fits.
    pub runs: Vec<Run>,
}

impl Case {
    /// The run of this mode, if there is one.
    pub fn run(&self, mode: Mode) -> Option<&Run> {
        self.runs.iter().find(|run| run.mode == mode)
    }
}

/// All that was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The tuners.
    pub cases: Vec<Case>,
    /// The images with their sizes.
    pub images: Vec<(String, Sizes)>,
    /// Text and rodata of `minimal` at each of [`LEVELS`].
    pub flash: Vec<u64>,
    /// The longest slices: tuner, run, call and instructions.
    pub slices: Vec<([String; 3], u64)>,
}

impl Report {
    /// Builds the images, runs those that measure in QEMU and reads the sizes of all.
    pub fn measure() -> Result<Self> {
        let mut report = Self::default();
        let minimal = Image::find("minimal")?;
        for level in LEVELS {
            let sizes = Sizes::of(&minimal.build_at(level)?)?;
            report.flash.push(sizes.text + sizes.rodata);
        }
        // `panic_free` is there for the linker: it calls everything, and nobody flashes it. An image
        // for another board is measured by its own test.
        let is_measured =
            |image: &&Image| image.kind == "bin" && image.name != "panic_free" && image.is_for_any_board();
        for image in Image::all()?.iter().filter(is_measured) {
            let elf = image.build(Profile::Release)?;
            report.images.push((image.name.clone(), Sizes::of(&elf)?));
            if image.name.starts_with("cost_") {
                let board = if image.name == LARGE { MPS2_AN386 } else { STM32F405 };
                let elf = if board == STM32F405 { elf } else { image.build_for(board, Profile::Release)? };
                let session = Session { board, limit: LIMIT, ..Session::default() };
                let lines = session.run(&elf, &mut |_| ())?.success()?;
                let (cases, slices) = parse(&lines).with_context(|| format!("the output of {}", image.name))?;
                report.cases.extend(cases);
                report.slices.extend(slices);
            }
        }
        ensure!(!report.cases.is_empty(), "the firmware has no image `cost_…` that measures");
        report.cases.sort_by_key(|case| case.sizes[1]);
        Ok(report)
    }

    /// The tuner of this name with this number of observations.
    pub fn case(&self, name: &str, observations: u64) -> Result<&Case> {
        let found = self.cases.iter().find(|case| case.name == name && case.sizes[1] == observations);
        found.with_context(|| format!("no case `{name}` of {observations} observations was measured"))
    }

    /// The sizes of the image of this name.
    pub fn sizes(&self, name: &str) -> Result<Sizes> {
        let found = self.images.iter().find(|(image, _)| image == name);
        found.map(|(_, sizes)| *sizes).with_context(|| format!("no image `{name}` was measured"))
    }
}

/// The cases and slices that one image prints.
#[allow(clippy::type_complexity)]
fn parse(lines: &[String]) -> Result<(Vec<Case>, Vec<([String; 3], u64)>)> {
    let (mut cases, mut slices): (Vec<Case>, _) = (Vec::new(), Vec::new());
    for line in lines {
        let number = |word: &str| word.parse::<u64>().with_context(|| format!("`{word}` in `{line}`"));
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["state", name, k, t, l, d, state, cache] => {
                let sizes = [number(k)?, number(t)?, number(l)?, number(d)?];
                let (state, cache) = (number(state)?, number(cache)?);
                cases.push(Case { name: name.into(), sizes, state, cache, runs: Vec::new() });
            }
            ["step", name, mode, t, tell, ask, kind @ ("steady" | "new")] => {
                let (t, ask, tell) = (number(t)? as usize, number(ask)?, number(tell)?);
                run_of(&mut cases, name, mode)?.steps.push(Step { t, ask, tell, is_steady: kind == "steady" });
            }
            ["slice", name, run, call, count] => {
                slices.push(([name, run, call].map(String::from), number(count)?));
            }
            ["stack", name, mode, bytes] => run_of(&mut cases, name, mode)?.stack = number(bytes)?,
            _ => bail!("the image printed a line that is not about cost: `{line}`"),
        }
    }
    let is_whole = |run: &Run| run.stack > 0 && !run.steps.is_empty();
    let is_complete = |case: &Case| !case.runs.is_empty() && case.runs.iter().all(is_whole);
    ensure!(!cases.is_empty() && cases.iter().all(is_complete), "the image printed no complete measurement");
    Ok((cases, slices))
}

/// The run that a line is about; a new one if it is the first such line.
fn run_of<'c>(cases: &'c mut [Case], name: &str, mode: &str) -> Result<&'c mut Run> {
    let case = cases.iter_mut().find(|case| case.name == name).with_context(|| format!("`{name}` has no state"))?;
    let mode = [Mode::Recomputing, Mode::Incremental].into_iter().find(|own| own.name() == mode);
    let mode = mode.context("there are two modes, recomputing and incremental")?;
    let place = case.runs.iter().position(|run| run.mode == mode).unwrap_or(case.runs.len());
    if place == case.runs.len() {
        case.runs.push(Run { mode, steps: Vec::new(), stack: 0 });
    }
    Ok(&mut case.runs[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<Case>> {
        Ok(parse(&text.lines().map(String::from).collect::<Vec<_>>())?.0)
    }

    #[test]
    fn lines_are_read() {
        let cases = parsed(
            "state a 3 64 256 8 10 20\nstep a recomputing 1 3 2 new\nstep a recomputing 2 1 9 steady\nstack a \
             recomputing 40\n\
             step a incremental 1 3 1 steady\nstack a incremental 44",
        );
        let case = &cases.unwrap()[0];
        assert_eq!((case.sizes, case.state, case.cache), ([3, 64, 256, 8], 10, 20));
        let [recomputing, incremental] = [Mode::Recomputing, Mode::Incremental].map(|mode| case.run(mode).unwrap());
        assert_eq!((recomputing.stack, incremental.stack), (40, 44));
        assert_eq!(recomputing.step(1), Some(Step { t: 1, ask: 2, tell: 3, is_steady: false }));
        assert_eq!((recomputing.tells(1), recomputing.tells(2)), (Some((3, 3)), Some((1, 3))));
        assert_eq!((recomputing.tells(9), recomputing.tells(0)), (Some((1, 1)), None));
        // (3 + 2 + 1 + 9) / 2 and 1 + 9.
        assert_eq!((recomputing.mean(Step::both), recomputing.worst(Step::both), recomputing.steady()), (7, 10, 10));
    }

    #[test]
    fn the_median_is_of_steady_steps() {
        let steps = [(9, true), (1, true), (50, false), (5, true), (60, false)].into_iter().enumerate();
        let steps = steps.map(|(t, (ask, is_steady))| Step { t, ask, tell: 1, is_steady }).collect();
        assert_eq!(Run { mode: Mode::Incremental, steps, stack: 1 }.steady(), 6);
    }

    #[test]
    fn strange_lines_are_refused() {
        for bad in [
            "",
            "hello",
            "state a 10",
            "state a x 64 256 8 10 20",
            "step a recomputing 1 2 3 new",
            "state a 3 64 256 8 10 20",
            "state a 3 64 256 8 10 20\nstep a recomputing 1 2 3 new",
            "state a 3 64 256 8 10 20\nstep a recomputing 1 2 3 odd\nstack a recomputing 4",
            "state a 3 64 256 8 10 20\nstep a guessing 1 2 3 new\nstack a guessing 4",
            "state a 3 64 256 8 10 20\nstack a recomputing 4",
        ] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
