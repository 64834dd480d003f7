//! Where the instructions of an ask and a tell go: QEMU's trace of the image `profile`, summed by
//! part of the method.
//!
//! QEMU prints a block of instructions when it translates it, and the block's address and function
//! whenever it runs. The sum over all blocks is the number of instructions.
//!
//! **Choices**
//! - A part is a set of functions, by name. What the compiler inlined counts for its caller.
//! - The image marks tells, asks and steps that fill the table anew by functions of its own.

use std::collections::HashMap;
use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};

use crate::image::{Image, Profile as Build};
use crate::qemu::Session;

/// The parts, each with names of its modules and functions; the first that matches counts.
const PARTS: [(&str, &[&str]); 6] = [
    ("memory", &["compiler_builtins", "__aeabi_mem", "memcpy", "memset", "memclr"]),
    ("functions", &["libm", "short_exp", "math5float4sqrt", "math5float2ln"]),
    ("kernel", &["surrogate4path", "surrogate7product", "Inputs$LT$"]),
    ("solve", &["math8cholesky", "surrogate2gp", "math5float3dot", "math5float8subtract", "posterior"]),
    ("fit", &["surrogate5learn", "surrogate9relevance", "surrogate5noise", "surrogate5costs", "Model$LT$"]),
    ("rows", &["tuner", "acquire", "space", "observations", "math6random", "math4list"]),
];
const OTHER: usize = PARTS.len();

/// Instructions per part.
type Counts = [u64; PARTS.len() + 1];

/// One tell and the ask after it. A new one changed the hyper-parameters or the best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Step {
    ask: Counts,
    tell: Counts,
    is_new: bool,
}

/// What the image is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Other,
    Ask,
    Tell,
}

/// Reads the trace line by line.
#[derive(Debug)]
struct Reader {
    /// Instructions per block, by its address.
    blocks: HashMap<u64, u64>,
    /// The block that is being listed.
    listed: Option<u64>,
    parts: HashMap<String, usize>,
    phase: Phase,
    steps: Vec<Step>,
}

impl Reader {
    fn new() -> Self {
        Self {
            blocks: HashMap::new(),
            listed: None,
            parts: HashMap::new(),
            phase: Phase::Other,
            steps: vec![Step::default()],
        }
    }

    fn line(&mut self, line: &str) {
        if let Some(trace) = line.strip_prefix("Trace ") {
            self.executed(trace);
        } else if line.starts_with("IN:") {
            self.listed = None;
        } else if let Some(address) = line.strip_prefix("0x").and_then(|line| line.split(':').next()) {
            let Ok(address) = u64::from_str_radix(address, 16) else { return };
            let block = *self.listed.get_or_insert(address);
            let count = self.blocks.entry(block).or_default();
            *count = if block == address { 1 } else { *count + 1 };
        }
    }

    /// `0: 0x7f… [flags/address/flags/flags] function`
    fn executed(&mut self, trace: &str) {
        let Some((place, name)) = trace.split_once(']') else { return };
        let address = place.split('/').nth(1).and_then(|word| u64::from_str_radix(word, 16).ok());
        let count = address.and_then(|address| self.blocks.get(&address)).copied().unwrap_or(0);
        let name = name.trim();
        if name.contains("profiled_") {
            self.mark(name);
        }
        let part = match self.parts.get(name) {
            Some(part) => *part,
            None => *self.parts.entry(name.into()).or_insert(part_of(name)),
        };
        let Some(step) = self.steps.last_mut() else { return };
        match self.phase {
            Phase::Ask => step.ask[part] += count,
            Phase::Tell => step.tell[part] += count,
            Phase::Other => {}
        }
    }

    fn mark(&mut self, name: &str) {
        let is = |word: &str| name.contains(word);
        if is("profiled_ask") {
            self.phase = Phase::Ask;
        } else if is("profiled_tell") {
            self.phase = Phase::Tell;
        } else if self.phase != Phase::Other {
            self.phase = Phase::Other;
            self.steps.last_mut().into_iter().for_each(|step| step.is_new = is("profiled_new"));
            self.steps.push(Step::default());
        }
    }

    /// All steps that came to their end.
    fn finish(mut self) -> Vec<Step> {
        self.steps.pop();
        self.steps
    }
}

fn part_of(name: &str) -> usize {
    PARTS.iter().position(|(_, names)| names.iter().any(|own| name.contains(own))).unwrap_or(OTHER)
}

/// Builds and traces the image; returns the tables.
pub fn tables() -> Result<String> {
    let elf = Image::find("profile")?.build(Build::Release)?;
    let mut reader = Reader::new();
    Session::default().trace(&elf, &mut |line| reader.line(line))?;
    let steps = reader.finish();
    ensure!(steps.len() >= 8, "the trace has {} steps", steps.len());
    show(&steps)
}

fn show(steps: &[Step]) -> Result<String> {
    let last = steps.len();
    let steady = (1..).zip(steps).filter(|(_, step)| !step.is_new).collect::<Vec<(u64, &Step)>>();
    ensure!(!steady.is_empty(), "no step of the run is steady");
    let late: Vec<Step> = steady.iter().map(|(_, step)| **step).collect();
    let dearest = steps.iter().max_by_key(|step| step.tell.iter().sum::<u64>()).context("the trace has no steps")?;
    let columns = [
        mean(steps, |step| step.ask),
        mean(steps, |step| step.tell),
        mean(&late, |step| step.ask),
        mean(&late, |step| step.tell),
        dearest.tell,
    ];
    let mut text = format!(
        "### Where the instructions go: 24 relays, {last} observations, 128 candidates, no cache\n\n\
         | part | ask, mean | tell, mean | ask, steady | tell, steady | the dearest tell |\n\
         |---|---:|---:|---:|---:|---:|\n"
    );
    let names = PARTS.iter().map(|(name, _)| *name).chain(["other"]);
    for (i, name) in names.enumerate() {
        let cells: String = columns.iter().map(|column| format!(" {} |", column[i])).collect();
        writeln!(text, "| {name} |{cells}")?;
    }
    let total = |column: &Counts| column.iter().sum::<u64>();
    let cells: String = columns.iter().map(|column| format!(" {} |", total(column))).collect();
    writeln!(text, "| all |{cells}")?;
    // A mean and a row of covariances per candidate, one solved candidate, one row of the factor.
    let candidates = 128;
    let least = steady.iter().map(|(n, _)| 2 * candidates * n + n * n).sum::<u64>() / steady.len() as u64;
    let spent = total(&columns[2]) + total(&columns[3]);
    writeln!(
        text,
        "\nThe {} steady steps cannot do with fewer than {least} multiply-adds on average: a row of covariances and a \
         mean for each of {candidates} candidates, one solved candidate, one row of the factor. They take {spent} \
         instructions, {:.1} per multiply-add.",
        steady.len(),
        spent as f64 / least as f64
    )?;
    Ok(text)
}

fn mean(steps: &[Step], of: fn(&Step) -> Counts) -> Counts {
    let mut sums = Counts::default();
    steps.iter().for_each(|step| sums.iter_mut().zip(of(step)).for_each(|(sum, own)| *sum += own));
    sums.map(|sum| sum / (steps.len() as u64).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two blocks of two and one instructions; the first runs twice in an ask, the second once in a
    /// tell.
    const TRACE: &str = "\
----------------
IN: profiled_ask
0x00000010:  4685  mov
----------------
IN: _ZN7trimtab9surrogate4path2goE
0x00000020:  4685  mov
0x00000022:  4685  mov
----------------
IN: _ZN7trimtab5tuner4tellE
0x00000030:  4685  mov
Trace 0: 0x7f [00000000/00000099/00000110/ff] profiled_tell
Trace 0: 0x7f [00000000/00000030/00000110/ff] _ZN7trimtab5tuner4tellE
Trace 0: 0x7f [00000000/00000010/00000110/ff] profiled_ask
Trace 0: 0x7f [00000000/00000020/00000110/ff] _ZN7trimtab9surrogate4path2goE
Trace 0: 0x7f [00000000/00000020/00000110/ff] _ZN7trimtab9surrogate4path2goE
Trace 0: 0x7f [00000000/00000099/00000110/ff] profiled_new
Trace 0: 0x7f [00000000/00000020/00000110/ff] _ZN7trimtab9surrogate4path2goE";

    #[test]
    fn instructions_count_for_their_part_and_phase() {
        let mut reader = Reader::new();
        TRACE.lines().for_each(|line| reader.line(line));
        let steps = reader.finish();
        assert_eq!(steps.len(), 1);
        let at = |counts: &Counts, part| counts[PARTS.iter().position(|(name, _)| *name == part).unwrap_or(OTHER)];
        let [step] = steps[..] else { panic!("one step") };
        assert_eq!((at(&step.ask, "kernel"), at(&step.ask, "other"), at(&step.ask, "rows")), (4, 1, 0));
        assert_eq!((at(&step.tell, "rows"), at(&step.tell, "kernel")), (1, 0));
        assert!(step.is_new);
    }
}
