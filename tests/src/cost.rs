//! What a step costs on the chip: instructions of `ask` and `tell`, bytes of RAM and flash.
//!
//! The bin `cost` counts on the chip and prints lines of words; this module reads them, adds the sizes of the images
//! and shows it all as a table. `cargo xtask cost` prints what `tests/budget.rs` checks.
//!
//! | line | meaning |
//! |---|---|
//! | `state CASE K T L D BYTES` | sizes by their letters, and what the tuner takes |
//! | `step CASE T TELL ASK` | instructions of the tell that brings observation T, and of the ask after it |
//! | `stack BYTES` | most stack used by all of it |

use std::fmt;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use crate::image::{Image, Profile, Sizes};
use crate::qemu;

/// Which steps the table shows.
pub const SHOWN: [usize; 5] = [1, 8, 16, 32, 64];

/// Over how many steps the tells are summed up. A tell that fits the model anew is far dearer than one that
/// does not, and by the default schedule there are both among this many, but for a young model.
pub const WINDOW: usize = 8;

/// Far more than a run takes on a slow machine; it only ends a run that hangs.
const LIMIT: Duration = Duration::from_secs(300);

/// Instructions of one step: tell, then ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// How many observations there are: `tell` brings the last of them, `ask` goes by all of them.
    pub t: usize,
    /// Instructions of the ask.
    pub ask: u64,
    /// Instructions of the tell.
    pub tell: u64,
}

/// One tuner, measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What is tuned.
    pub name: String,
    /// K, T, L and D: knobs, observations, rows and dimensions.
    pub sizes: [u64; 4],
    /// Bytes of the tuner.
    pub state: u64,
    /// Every step of the run.
    pub steps: Vec<Step>,
}

impl Case {
    /// The t-th step.
    pub fn step(&self, t: usize) -> Option<Step> {
        self.steps.iter().copied().find(|step| step.t == t)
    }

    /// The step with the dearest ask.
    pub fn dearest_ask(&self) -> Option<Step> {
        self.steps.iter().copied().max_by_key(|step| step.ask)
    }

    /// The cheapest and the dearest tell of the last [`WINDOW`] steps up to the t-th.
    pub fn tells(&self, t: usize) -> Option<(u64, u64)> {
        let last = self.steps.iter().filter(|step| step.t <= t && step.t + WINDOW > t).map(|step| step.tell);
        Some((last.clone().min()?, last.max()?))
    }
}

/// All that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The tuners.
    pub cases: Vec<Case>,
    /// Most bytes of stack.
    pub stack: u64,
    /// The images and what they take.
    pub images: Vec<(String, Sizes)>,
}

impl Report {
    /// Builds the images, runs `cost` in QEMU and reads the sizes of all.
    pub fn measure() -> Result<Self> {
        let elf = Image::find("cost")?.build(Profile::Release)?;
        let lines = qemu::run(&elf, LIMIT, &mut |_| ())?.success()?;
        let mut report = Self::parse(&lines)?;
        // `panic_free` is there for the linker: it calls everything, and nobody flashes it.
        for image in Image::all()?.iter().filter(|image| image.kind == "bin" && image.name != "panic_free") {
            report.images.push((image.name.clone(), Sizes::of(&image.build(Profile::Release)?)?));
        }
        Ok(report)
    }

    fn parse(lines: &[String]) -> Result<Self> {
        let mut report = Self { cases: Vec::new(), stack: 0, images: Vec::new() };
        for line in lines {
            let number = |word: &str| word.parse::<u64>().with_context(|| format!("`{word}` in `{line}`"));
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["state", name, k, t, l, d, bytes] => {
                    let sizes = [number(k)?, number(t)?, number(l)?, number(d)?];
                    let state = number(bytes)?;
                    report.cases.push(Case { name: name.into(), sizes, state, steps: Vec::new() });
                }
                ["step", name, t, tell, ask] => {
                    let case = report.cases.iter_mut().find(|case| case.name == name);
                    let case = case.with_context(|| format!("`{line}` comes before its state"))?;
                    let (t, ask, tell) = (number(t)? as usize, number(ask)?, number(tell)?);
                    case.steps.push(Step { t, ask, tell });
                }
                ["stack", bytes] => report.stack = number(bytes)?,
                _ => bail!("the image printed a line that is not about cost: `{line}`"),
            }
        }
        ensure!(!report.cases.is_empty() && report.stack > 0, "the image printed no complete measurement");
        ensure!(report.cases.iter().all(|case| !case.steps.is_empty()), "a case has no step");
        Ok(report)
    }

    /// The tuner of this name.
    pub fn case(&self, name: &str) -> Result<&Case> {
        self.cases.iter().find(|case| case.name == name).with_context(|| format!("no case `{name}` was measured"))
    }

    /// The sizes of the image of this name.
    pub fn sizes(&self, name: &str) -> Result<Sizes> {
        let found = self.images.iter().find(|(image, _)| image == name);
        found.map(|(_, sizes)| *sizes).with_context(|| format!("no image `{name}` was measured"))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for case in &self.cases {
            let (name, [k, t, l, d], state) = (&case.name, case.sizes, grouped(case.state));
            writeln!(f, "### {name}: {state} bytes of state\n")?;
            write!(f, "{k} knobs, at most {t} observations, {l} rows, ")?;
            match d {
                0 => writeln!(f, "no projection.\n")?,
                d => writeln!(f, "{d} dimensions.\n")?,
            }
            writeln!(f, "| observations | ask | cheapest tell | dearest tell |\n|---:|---:|---:|---:|")?;
            for step in SHOWN.iter().filter_map(|t| case.step(*t)) {
                let (cheapest, dearest) = case.tells(step.t).unwrap_or_default();
                let columns = [step.t as u64, step.ask, cheapest, dearest].map(grouped).join(" | ");
                writeln!(f, "| {columns} |")?;
            }
            if let Some(step) = case.dearest_ask() {
                writeln!(f, "\nThe dearest ask, at {} observations: {}.", step.t, grouped(step.ask))?;
            }
            writeln!(f)?;
        }
        writeln!(f, "Tells are of the last {WINDOW} steps: the dearest fits the model anew, the cheapest does not.")?;
        writeln!(f, "Most stack, printing included: {} bytes.\n", grouped(self.stack))?;
        writeln!(f, "| image | vectors | text | rodata | data | bss |\n|---|---:|---:|---:|---:|---:|")?;
        for (name, s) in &self.images {
            let columns = [s.vectors, s.text, s.rodata, s.data, s.bss].map(grouped).join(" | ");
            writeln!(f, "| {name} | {columns} |")?;
        }
        Ok(())
    }
}

/// A number with a space between its thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = (digits.len() + 2) % 3 + 1;
    let (head, tail) = digits.split_at(first);
    tail.as_bytes().chunks(3).fold(head.to_string(), |text, three| text + " " + &String::from_utf8_lossy(three))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(
            [0, 7, 42, 999, 1000, 12_288, 4_540_000].map(grouped),
            ["0", "7", "42", "999", "1 000", "12 288", "4 540 000"]
        );
    }

    #[test]
    fn lines_are_read_and_strange_ones_refused() {
        let lines = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
        let report = Report::parse(&lines("state a 3 64 256 8 10\nstep a 1 3 2\nstep a 2 1 9\nstack 40")).unwrap();
        let case = report.case("a").unwrap();
        assert_eq!((case.sizes, case.state, report.stack), ([3, 64, 256, 8], 10, 40));
        assert_eq!(case.step(1), Some(Step { t: 1, ask: 2, tell: 3 }));
        assert_eq!(case.dearest_ask(), Some(Step { t: 2, ask: 9, tell: 1 }));
        assert_eq!(
            (case.tells(1), case.tells(2), case.tells(9), case.tells(0)),
            (Some((3, 3)), Some((1, 3)), Some((1, 1)), None)
        );
        for bad in [
            "",
            "state a 10",
            "step a 1 2 3 0",
            "state a x",
            "state a 1\nstep a 1 2 3 2",
            "hello",
            "state a 10\nstack 40",
        ] {
            assert!(Report::parse(&lines(bad)).is_err(), "{bad}");
        }
    }
}
