//! `trimtab replay`: repeats a chip's run on this machine, compares it bit by bit, and draws it.
//!
//! ```text
//! log → runs → verdict: every proposal of the chip beside that of a tuner here
//!            └→ picture
//! ```
//!
//! | file | contents |
//! |---|---|
//! | [`verdict`] | the tuner here beside the one in the log |
//! | [`picture`] | the best so far, and where it measured |
//! | [`json`] | everything, for programs |
//!
//! **Choices**
//! - The tuner here is larger than the chip's and keeps to its limits, so it proposes the same.
//! - Exit code 0 means that at least one proposal was compared and none differed.

mod json;
mod picture;
mod verdict;

use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::device::stream::{Run, Runs};
use crate::draw::number::short;
use crate::error::Error;
use crate::locked;
use crate::terminal;
use crate::tune::again::{self, Again};
use crate::tune::log;
use verdict::Verdict;

const HELP: &str = "\
Examples:
  trimtab replay run.log                      check every proposal, draw the last run to run.svg
  trimtab replay run.log --run 2 --svg 2.svg  another run of the same log
  trimtab replay run.log --json --no-svg      all measurements, for a program to read

A log is what `trimtab watch --log` keeps, or any other file with the bytes of the serial port. Of a log of
`trimtab tune --log` every ask is checked; `trimtab report` draws it.
Exit code 0: at least one proposal was compared and none differed. 1: one differed, or none could be compared.
A log does not contain the predicate that rules combinations out, and a random map has the firmware's own size:
compare such runs in a test of your own with trimtab_embedded::telemetry::check.";

/// Largest log: millions of measurements.
const MOST_BYTES: u64 = 64 << 20;

/// Repeat a chip's run on this machine, compare every proposal bit by bit, and draw it
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct ReplayArgs {
    /// A log of `trimtab watch --log` or `trimtab tune --log`
    #[arg(value_name = "LOG")]
    pub(crate) log: PathBuf,
    /// The run to draw, counted from 1 [default: the last with a measurement]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) run: Option<u32>,
    /// Write the picture here [default: beside the log]
    #[arg(long, value_name = "FILE", conflicts_with = "no_svg")]
    pub(crate) svg: Option<PathBuf>,
    /// Write no picture
    #[arg(long)]
    pub(crate) no_svg: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Checks all runs of a log and draws one.
pub(crate) fn run(args: &ReplayArgs) -> Result<(), Error> {
    let path = args.log.display();
    let fault = |what: String| Error::Failed(format!("cannot read {path}: {what}; name a log of trimtab watch --log"));
    let mut stream = Vec::new();
    let file = File::open(&args.log).map_err(|error| fault(error.to_string()))?;
    file.take(MOST_BYTES + 1).read_to_end(&mut stream).map_err(|error| fault(error.to_string()))?;
    if stream.len() as u64 > MOST_BYTES {
        return Err(fault(format!("at most {MOST_BYTES} bytes are read")));
    }
    if stream.starts_with(log::START) {
        return tuned(args, &stream);
    }
    let (runs, garbled) = Runs::read(&stream);
    if runs.frames == 0 {
        return Err(Error::Failed(format!("{path} contains no frame; name a log of trimtab watch --log")));
    }
    let verdicts: Vec<Verdict> = runs.all.iter().map(Verdict::of).collect();
    let chosen = chosen(&runs, args)?;
    let drawn = draw(&runs.all[chosen], &verdicts[chosen], args);
    let picture = drawn.as_ref().ok().and_then(Option::as_deref);
    terminal::print(&match args.json {
        true => json::text(&runs, &verdicts, garbled, picture)?,
        false => text(&runs, &verdicts, garbled, picture),
    })?;
    drawn?;
    judged(&verdicts)
}

/// Checks a log of `trimtab tune`.
fn tuned(args: &ReplayArgs, stream: &[u8]) -> Result<(), Error> {
    let path = args.log.display();
    if args.run.is_some() || args.svg.is_some() {
        let hint = "leave out --run and --svg, or draw it with trimtab report";
        return Err(Error::Usage(format!("{path} is a log of trimtab tune: replay checks it; {hint}")));
    }
    let fault = |what: String| Error::Failed(format!("the log {path}: {what}"));
    let contents = log::read_from(&mut &stream[..]).map_err(fault)?.ok_or_else(|| fault("it is empty".into()))?;
    let of_log = |error: Error| fault(error.to_string());
    let again = Again::of(&contents).map_err(of_log)?;
    let [run, best] = again::facts(&contents).map_err(of_log)?;
    terminal::print(&if args.json {
        let Again { asks, same, chosen, difference, .. } = &again;
        format!("{}\n", json!({"asks": asks, "same": same, "chosen": chosen, "difference": difference}))
    } else {
        let checks = again.lines().into_iter().map(|line| format!("check     {line}\n")).collect::<String>();
        format!("run       {run}\nbest      {best}\n{checks}picture   trimtab report {path}\n")
    })?;
    match again.is_same() {
        true => Ok(()),
        false if again.difference.is_none() => {
            Err(Error::Failed("the tuner chose nothing that could be compared".into()))
        }
        false => Err(Error::Failed("the log and this machine differ; the lines above say where".into())),
    }
}

/// The run to draw.
fn chosen(runs: &Runs, args: &ReplayArgs) -> Result<usize, Error> {
    let count = runs.all.len();
    match args.run {
        Some(number) if number as usize <= count => Ok(number as usize - 1),
        Some(number) => Err(Error::Usage(format!("there is no run {number}; the log has {count}"))),
        None => {
            let last = runs.all.iter().rposition(|run| run.outcomes().next().is_some());
            Ok(last.unwrap_or(count - 1))
        }
    }
}

/// Draws a run unless --no-svg is given; returns the file.
fn draw(run: &Run, verdict: &Verdict, args: &ReplayArgs) -> Result<Option<PathBuf>, Error> {
    if args.no_svg || run.outcomes().next().is_none() {
        return Ok(None);
    }
    let path = args.svg.clone().unwrap_or_else(|| args.log.with_extension("svg"));
    if locked::are_one(&args.log, &path) || locked::is_log(&path) {
        return Err(Error::Usage(format!("{} would be overwritten; choose another --svg", path.display())));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let written = folder.map_or(Ok(()), std::fs::create_dir_all);
    written.and_then(|()| std::fs::write(&path, picture::draw(run, verdict))).map_err(|error| {
        let path = path.display();
        Error::Failed(format!("cannot write {path}: {error}; choose another --svg, or none with --no-svg"))
    })?;
    Ok(Some(path))
}

/// The result for people.
fn text(runs: &Runs, verdicts: &[Verdict], garbled: u32, picture: Option<&Path>) -> String {
    let mut text = String::new();
    let mut row = |name: &str, what: &str| {
        let _ = writeln!(text, "{name:<9} {what}");
    };
    for (i, (run, verdict)) in runs.all.iter().zip(verdicts).enumerate() {
        let number = if runs.all.len() > 1 { format!("run {}", i + 1) } else { "run".into() };
        let (measured, failures) = (run.outcomes().count(), run.failures());
        let seed = run.about.as_ref().map_or_else(String::new, |about| format!(", seed {}", about.seed));
        let broken = if run.breaking() > 0 { format!(", {} break a limit", run.breaking()) } else { String::new() };
        row(&number, &format!("{}: {measured} measured{broken}, {failures} failed{seed}", run.name()));
        if let Some((number, best, value)) = run.best() {
            let levels = run.text(&best.levels);
            row("best", &format!("{}  {levels}  (measurement {number})", short(value.into())));
        }
        for line in verdict.lines(run) {
            row("check", &line);
        }
    }
    if garbled > 0 {
        row("stream", &format!("{garbled} times there was garbage between frames; it was left out"));
    }
    if let Some(path) = picture {
        row("picture", &path.display().to_string());
    }
    text
}

/// Fails if a proposal differed or none was compared.
fn judged(verdicts: &[Verdict]) -> Result<(), Error> {
    let differences = verdicts.iter().filter(|verdict| verdict.difference.is_some()).count();
    let same: usize = verdicts.iter().map(|verdict| verdict.same).sum();
    match (differences, same) {
        (0, 0) => Err(Error::Failed("no proposal could be compared; the lines above say why".into())),
        (0, _) => Ok(()),
        (1, _) => Err(Error::Failed("the chip and this machine differ; the lines above say where".into())),
        (several, _) => Err(Error::Failed(format!("{several} runs differ; the lines above say where"))),
    }
}
