//! `trimtab export run.jsonl --csv`: the measurements of a run as a table for a spreadsheet.
//!
//! **Choices**
//! - It reads a log of `tune` or an export of `serve`; both hold the same records.
//! - The columns are the knobs, then `cost`, `failed`, `seconds`, and the numbers that limits are on:
//!   `tune --import` reads them.
//! - A measurement with several values has a row per value, as the tuner was told.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;
use trimtab::Level;

use super::log;
use crate::error::Error;
use crate::locked;
use crate::session::csv::written;
use crate::session::limits::Numbers;
use crate::session::record::{Fields, Happened, Record};
use crate::session::{Session, Study};
use crate::space::NamedKnob;
use crate::terminal;

/// Print the measurements of a run as a table for a spreadsheet
///
/// Reads a log of `trimtab tune` or an export of `trimtab serve`. The columns are the knobs, cost,
/// failed (why), seconds and the numbers that limits are on; `trimtab tune --import` reads such a table.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  trimtab export run.jsonl --csv > run.csv")]
pub(crate) struct ExportArgs {
    /// A log of trimtab tune, or an export of trimtab serve
    file: PathBuf,
    /// As comma-separated values, which is the only form so far
    #[arg(long, required = true)]
    csv: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Prints or writes the table.
pub(crate) fn run(args: &ExportArgs) -> Result<(), Error> {
    let fault = |what: String| Error::Failed(format!("{}: {what}", args.file.display()));
    let (study, records) = match message(&args.file) {
        Some(fields) => of_message(&fields).map_err(fault)?,
        None => {
            let contents = log::read(&args.file)?;
            (contents.header.study().map_err(fault)?, contents.records)
        }
    };
    let table = table(study, records).map_err(fault)?;
    let Some(out) = &args.out else { return terminal::print(&table) };
    if locked::are_one(&args.file, out) || locked::is_log(out) {
        return Err(Error::Usage(format!("{} would be overwritten; choose another --out", out.display())));
    }
    std::fs::write(out, table)
        .map_err(|error| Error::Failed(format!("cannot write {}: {error}; choose another --out", out.display())))
}

/// An export of `serve`: one object with `records`.
pub(crate) fn message(path: &std::path::Path) -> Option<Fields> {
    let text = std::fs::read_to_string(path).ok()?;
    let fields: Fields = serde_json::from_str(&text).ok()?;
    (fields.get("op").and_then(Value::as_str) == Some("init")).then_some(fields)
}

pub(crate) fn of_message(fields: &Fields) -> Result<(Study, Vec<Record>), String> {
    let none = Vec::new();
    let records = fields.get("records").and_then(Value::as_array).unwrap_or(&none);
    let record = |(i, record): (usize, &Value)| {
        let fields = record.as_object().ok_or("it must be an object".to_string());
        fields.and_then(Record::from_fields).map_err(|error| format!("record {}: {error}", i + 1))
    };
    Ok((Study::from_fields(fields)?, records.iter().enumerate().map(record).collect::<Result<_, _>>()?))
}

/// The column of a number; names that a table has for something else are marked.
pub(super) fn column(name: &str) -> String {
    match name {
        "cost" | "value" | "failed" | "seconds" => format!("number {name}"),
        _ => name.into(),
    }
}

fn table(study: Study, records: Vec<Record>) -> Result<String, String> {
    let space = study.space.clone();
    let asks = records.iter().filter(|record| matches!(record.happened, Happened::Ask { .. })).count();
    let budget = study.budget.max(asks);
    let limits = study.limits.clone();
    let mut session = Session::new(Study { budget, ..study }).map_err(|error| error.to_string())?;
    let heads = space.knobs().iter().map(|knob| written(knob.name()).into_owned());
    let names = limits.names().into_iter().map(|name| written(&column(name)).into_owned());
    let heads = heads.chain(["cost", "failed", "seconds"].map(String::from)).chain(names);
    let mut table = heads.collect::<Vec<_>>().join(",") + "\n";
    let mut row = |levels: &[Level], rest: [String; 3], numbers: &Numbers| {
        let label = |(i, (knob, level)): (usize, (&NamedKnob, &Level))| match space.is_idle(levels, i) {
            true => String::new(),
            false => written(&knob.label(*level)).into_owned(),
        };
        let labels = space.knobs().iter().zip(levels).enumerate().map(label);
        let number = |name| numbers.get(name).map_or_else(String::new, ToString::to_string);
        let numbers = limits.names().into_iter().map(number);
        table += &(labels.chain(rest).chain(numbers).collect::<Vec<_>>().join(",") + "\n");
    };
    for (i, record) in records.into_iter().enumerate() {
        let record = session.apply(record).map_err(|error| format!("record {}: {error}", i + 1))?;
        let levels = record.place.levels.unwrap_or_default();
        match record.happened {
            Happened::Tell { value, values, numbers, seconds } => {
                let values = if values.is_empty() { vec![value] } else { values };
                let seconds = seconds.map(|seconds| seconds / values.len() as f64);
                for value in &values {
                    let seconds = seconds.map_or_else(String::new, |seconds| seconds.to_string());
                    row(&levels, [value.to_string(), String::new(), seconds], &numbers);
                }
            }
            Happened::Failed { details } => {
                let (why, seconds) =
                    details.map_or_else(Default::default, |details| (details.why.clone(), details.seconds.to_string()));
                let why = if why.is_empty() { "failed".into() } else { why };
                row(&levels, ["failed".into(), written(&why).into_owned(), seconds], &Numbers::new());
            }
            Happened::Ask { .. } | Happened::Enqueue {} | Happened::Cancel {} | Happened::Resume { .. } => {}
        }
    }
    Ok(table)
}
