//! `trimtab report`: the runs of `trimtab bench` as one page, with figures and tables.
//!
//! ```text
//! records → runs → stats → figures, tables, verdict → page
//! ```
//!
//! | file | content |
//! |---|---|
//! | report.html | everything, in one file that needs no network |
//! | figures/….svg | the figures, each with its legend |
//! | tables.md | the tables, each with the command that made it |
//!
//! **Choices**
//! - Only records are read: a report shows the results, whoever ran them.
//! - The first table is the ratio of evaluations to target, see [`crate::bench::yardstick`].
//! - Where trimtab loses, the page says so first.
//!
//! **Cost.** A few seconds for thousands of runs; the page takes some tens of kilobytes per
//! problem.

mod figure;
mod information;
mod page;
mod panel;
mod runs;
mod style;
mod tables;
#[cfg(test)]
mod tests;
mod theory;
mod verdict;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::Error;
use crate::terminal;

use page::Page;
use runs::Runs;
use style::OWN;

/// Draw the runs of `trimtab bench`, or a log of `trimtab tune`, as one HTML page
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Directories of `trimtab bench --out`, merged if several; or one log of `trimtab tune --log`
    #[arg(required = true, value_name = "DIR|LOG")]
    pub(crate) runs: Vec<PathBuf>,
    /// Directory for the page and its figures [default: the first directory, or that of the log]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The method that all others are compared with
    #[arg(long, value_name = "METHOD", default_value = OWN)]
    pub(crate) reference: String,
    /// The command that the page names as its source
    #[arg(long, value_name = "TEXT")]
    pub(crate) command: Option<String>,
}

/// Reads the runs and writes the report.
pub(crate) fn run(args: &ReportArgs) -> Result<(), Error> {
    let first = args.runs.first().ok_or_else(|| Error::Usage("name a directory of `trimtab bench --out`".into()))?;
    let out = args.out.as_ref().unwrap_or(first);
    let names: Vec<String> = args.runs.iter().map(|folder| folder.display().to_string()).collect();
    let reference = if args.reference == OWN { String::new() } else { format!(" --reference {}", args.reference) };
    let command = args.command.clone().unwrap_or_else(|| format!("trimtab report {}{reference}", names.join(" ")));
    let page = write(&args.runs, out, &args.reference, &command)?;
    terminal::print(&format!("{}\n", page.display()))
}

/// Writes the report on some directories into another, and returns the page's path.
fn write(folders: &[PathBuf], out: &Path, reference: &str, command: &str) -> Result<PathBuf, Error> {
    let runs = Runs::read(folders)?;
    if reference != OWN && runs.method(reference).is_none() {
        let names = runs.names().join(", ");
        return Err(Error::Usage(format!("there are no runs of `{reference}`; --reference must be one of {names}")));
    }
    let page = Page::of(&runs, reference, command);
    let figures = out.join("figures");
    fs::create_dir_all(&figures).map_err(|error| cannot(&figures, &error))?;
    for figure in page.figures() {
        put(&figures.join(format!("{}.svg", figure.id)), &figure.file())?;
    }
    put(&out.join("tables.md"), &page.markdown())?;
    let path = out.join("report.html");
    put(&path, &page.html())?;
    Ok(path)
}

fn put(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|error| cannot(path, &error))
}

fn cannot(path: &Path, error: &std::io::Error) -> Error {
    Error::Failed(format!("cannot write {}: {error}; choose another directory with --out", path.display()))
}

/// A name for paths and addresses: letters, digits and `.`, `_`, `+` stay, everything else becomes
/// `-`.
fn slug(name: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '_' | '+') { c } else { '-' };
    name.chars().map(keep).collect()
}
