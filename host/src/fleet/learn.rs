//! `trimtab learn`: pools the logs of boards into a prior.
//!
//! ```text
//! logs → boards of one space → model → prior.bin, prior.fleet, prior.html, prior.rs
//! ```
//!
//! **Choices**
//! - All logs are read and checked before anything is written.
//! - `prior.fleet` has the fleet's statistics, so that a later board is added without the old logs.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use rayon::prelude::*;
use trimtab::{Goal, Knob, Level, fleet_fingerprint};
use trimtab_embedded::journal::Geometry;

use super::log::{self, Board, Flash};
use super::model::{Log, Model};
use super::outlook::Outlook;
use super::{page, stats};
use crate::draw::number::{rough, short};
use crate::error::Error;
use crate::locked;
use crate::space::NamedSpace;
use crate::terminal;

const HELP: &str = "\
Examples:
  trimtab learn board-*.jsonl --out prior.bin            learn from the first boards
  trimtab tune --prior prior.bin …                       tune the next one with what they taught
  trimtab learn --add prior.bin board-11.jsonl           add a board later, without the old logs
  trimtab learn board-*.log --out prior.bin --rust src/prior.rs    a constant for the firmware
  trimtab learn board-*.bin --out prior.bin --flash-page 2048 --flash-word 8 --flash-records 40 \
      --space space.toml --goal minimise                 copies of the flash that a chip keeps its log in

A log is what `trimtab tune --log` or `trimtab watch --log` keeps, or an export of `trimtab serve`; one per board, all of
the same knobs in the same order. Beside prior.bin come prior.fleet, which --add needs, and prior.html.";

/// Learn from the logs of earlier boards what the next one can start with
///
/// Pools the logs into a prior of at most 2 KB: the mean of the fleet and how its boards differ. `tune`,
/// `serve` and the firmware start with it, and the best of the fleet is measured first. Prints what it
/// learned and how many measurements a next board will need.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct LearnArgs {
    /// Logs, one per board
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    /// Write the prior here
    #[arg(short, long, value_name = "FILE", required_unless_present = "add")]
    out: Option<PathBuf>,
    /// Add the boards to this prior
    #[arg(long, value_name = "FILE")]
    add: Option<PathBuf>,
    /// Also write the prior as a constant for a Rust program
    #[arg(long, value_name = "FILE")]
    rust: Option<PathBuf>,
    /// Binary logs are copies of a chip's flash, exactly its journal, with pages of so many bytes
    #[arg(long, value_name = "BYTES", requires_all = ["flash_word", "flash_records", "space", "goal"])]
    flash_page: Option<usize>,
    /// Bytes that the flash writes at once
    #[arg(long, value_name = "BYTES", requires = "flash_page")]
    flash_word: Option<usize>,
    /// Records that fill a page: `records` of the program's Layout
    #[arg(long, value_name = "COUNT", requires = "flash_page")]
    flash_records: Option<u16>,
    /// Limits of the program's tuner
    #[arg(long, value_name = "COUNT", default_value_t = 0, requires = "flash_page")]
    flash_limits: usize,
    /// The knobs of the program, in its order, for copies of a flash
    #[arg(long, value_name = "FILE", requires = "flash_page")]
    space: Option<PathBuf>,
    /// Whether the program's values are good when small or when large: a flash does not say it
    #[arg(long, value_name = "WHAT", value_parser = ["minimise", "maximise"], requires = "flash_page")]
    goal: Option<String>,
    /// Print only the files that were written
    #[arg(short, long)]
    quiet: bool,
}

/// Learns, writes and prints.
pub(crate) fn run(args: &LearnArgs) -> Result<(), Error> {
    let flash = flash(args)?;
    let boards = args.logs.par_iter().map(|path| log::read(path, flash.as_ref())).collect::<Result<Vec<_>, _>>()?;
    check(&boards)?;
    let Some(first) = boards.first() else { return Err(Error::Usage("name at least one log".into())) };
    let (names, knobs, goal) = (first.names.clone(), first.knobs.clone(), first.goal);
    let logs: Vec<Log> = boards.iter().map(|board| board.log.clone()).collect();
    let (model, names) = match &args.add {
        None => (Model::learn(&knobs, goal, &logs).map_err(Error::Failed)?, names),
        Some(path) => {
            let (mut model, names) = stats::read(&path.with_extension("fleet"))?;
            fits(&model, first)?;
            model.add(&logs);
            (model, names)
        }
    };
    let out = args.out.as_ref().or(args.add.as_ref()).cloned().unwrap_or_default();
    let numbers = model.numbers();
    let bytes = numbers.write(&model.knobs).map_err(Error::Failed)?;
    let outlook = Outlook::new(&model, &logs, &numbers.best);
    let text = text(&names, &model, &boards, &numbers.best, &outlook);
    let (statistics, html) = (out.with_extension("fleet"), out.with_extension("html"));
    let page = page::html(&names, &model, &outlook, &text);
    for path in [Some(&out), Some(&html), args.rust.as_ref()].into_iter().flatten() {
        if args.logs.iter().any(|log| locked::are_one(log, path)) || locked::is_log(path) {
            return Err(Error::Usage(format!("{} would be overwritten; choose another --out", path.display())));
        }
    }
    write(&out, &bytes)?;
    stats::write(&statistics, &names, &model)?;
    write(&html, page.as_bytes())?;
    let mut files = format!("{} ({} bytes), {}, {}", out.display(), bytes.len(), statistics.display(), html.display());
    if let Some(rust) = &args.rust {
        write(rust, constant(&bytes, model.sums.boards as u32).as_bytes())?;
        let _ = write!(files, ", {}", rust.display());
    }
    terminal::print(&if args.quiet { format!("{files}\n") } else { format!("{text}written   {files}\n") })
}

/// How copies of a flash are to be read.
fn flash(args: &LearnArgs) -> Result<Option<Flash>, Error> {
    let (Some(page), Some(word), Some(records), Some(path), Some(goal)) =
        (args.flash_page, args.flash_word, args.flash_records, &args.space, &args.goal)
    else {
        return Ok(None);
    };
    let space = NamedSpace::read(path)?;
    let is_wide = space.knobs().iter().any(|knob| knob.count() > trimtab::MOST_LISTED);
    let (knobs, limits) = (space.knobs().len(), args.flash_limits);
    let geometry = Geometry { page, word, records, knobs, is_wide, limits };
    let goal = if goal == "maximise" { Goal::Maximise } else { Goal::Minimise };
    Ok(Some(Flash { geometry, space, goal }))
}

/// Writes a whole file or leaves the old one: statistics may be all that is left of many boards.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let _ = std::fs::create_dir_all(folder);
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let written = std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        Error::Failed(format!("cannot write {}: {error}; choose another place", path.display()))
    })
}

/// Refuses boards that do not belong together.
fn check(boards: &[Board]) -> Result<(), Error> {
    let Some(first) = boards.first() else { return Ok(()) };
    for (i, board) in boards.iter().enumerate() {
        if let Some(difference) = difference(first.names.as_slice(), &first.knobs, first.goal, board) {
            return Err(Error::Usage(format!(
                "{} and {} are not of one fleet: {difference}; learn each fleet by itself",
                first.name, board.name
            )));
        }
        let twin =
            boards[..i].iter().find(|other| other.log.levels == board.log.levels && other.log.costs == board.log.costs);
        if let Some(twin) = twin {
            return Err(Error::Usage(format!(
                "{} and {} hold the same measurements; name each board once",
                twin.name, board.name
            )));
        }
        if board.log.costs.iter().all(|cost| *cost == board.log.costs[0]) {
            return Err(Error::Usage(format!(
                "{}: all its costs are equal, which teaches nothing; leave it out",
                board.name
            )));
        }
    }
    Ok(())
}

/// Whether a board belongs to a fleet that is learned already.
fn fits(model: &Model, board: &Board) -> Result<(), Error> {
    match difference(&board.names, &model.knobs, model.goal, board) {
        None => Ok(()),
        Some(difference) => Err(Error::Usage(format!("{} is of another fleet: {difference}", board.name))),
    }
}

fn difference(names: &[String], knobs: &[Knob], goal: Goal, board: &Board) -> Option<String> {
    if knobs.len() != board.knobs.len() {
        return Some(format!("one has {} knobs, the other {}", knobs.len(), board.knobs.len()));
    }
    for (i, (own, other)) in knobs.iter().zip(&board.knobs).enumerate() {
        if fleet_fingerprint(&[*own]) != fleet_fingerprint(&[*other]) {
            return Some(format!("knob {} ({}) has other levels", i + 1, board.names[i]));
        }
        if names[i] != board.names[i] {
            return Some(format!("knob {} is called {} in one and {} in the other", i + 1, names[i], board.names[i]));
        }
    }
    (goal != board.goal).then(|| "one is minimised, the other maximised".into())
}

/// What was learned, for people.
fn text(names: &[String], model: &Model, boards: &[Board], best: &[Level], outlook: &Outlook) -> String {
    let mut text = String::new();
    let measured: usize = boards.iter().map(|board| board.log.costs.len()).sum();
    let failures: usize = boards.iter().map(|board| board.failures).sum();
    let failed = if failures > 0 { format!(", {failures} failed") } else { String::new() };
    let all = model.sums.boards as usize;
    let before = if all > boards.len() { format!("; {all} with those before") } else { String::new() };
    let _ = writeln!(text, "boards    {}{before}; {measured} combinations with a cost{failed}", boards.len());
    for board in boards.iter().filter(|board| board.is_torn) {
        let _ = writeln!(text, "          {}: its end is missing; what is there was used", board.name);
    }
    let shown = |knob: &Knob, level: Level| match knob {
        Knob::Graded { values, .. } => values.get(usize::from(level)).map_or_else(String::new, f32::to_string),
        _ => format!("level {level}"),
    };
    let levels = names.iter().zip(&model.knobs).zip(best).map(|((name, knob), level)| (name, shown(knob, *level)));
    let levels: Vec<String> = levels.map(|(name, level)| format!("{name}={level}")).collect();
    let _ = writeln!(text, "first     {}  (levels without a value are counted from 0)", levels.join(", "));
    let _ = writeln!(text, "differ    by ±{} there", rough(outlook.spread));
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|a, b| outlook.knobs[*b].1.total_cmp(&outlook.knobs[*a].1));
    for i in order.into_iter().take(8) {
        let (mean, boards) = outlook.knobs[i];
        let _ =
            writeln!(text, "knob      {}: moves the cost by {}, boards by {}", names[i], short(mean), short(boards));
    }
    match outlook.quantiles() {
        Some((median, ninth)) => {
            let _ = writeln!(
                text,
                "next      a next board needs about {median} measurements, nine of ten at most {ninth} \
                 (each left out in turn)"
            );
        }
        None => text += "next      one board cannot say how the next will differ; add more\n",
    }
    if all < 10 {
        let _ = writeln!(text, "note      with fewer than ten boards a prior is rough");
    }
    text
}

/// A constant for a Rust program.
pub(super) fn constant(bytes: &[u8], boards: u32) -> String {
    let mut text = format!(
        "//! What {boards} boards taught; written by `trimtab learn`.\n\n\
         /// For `FleetPrior::read`.\npub static PRIOR: [u8; {}] = [\n",
        bytes.len()
    );
    for row in bytes.chunks(16) {
        let row: Vec<String> = row.iter().map(|byte| format!("0x{byte:02x}")).collect();
        let _ = writeln!(text, "    {},", row.join(", "));
    }
    text + "];\n"
}
