//! `trimtab report run.jsonl`: what a tuning run learned, as one page that needs no network.
//!
//! ```text
//! log → tuner and history → effects, pairs, expectations → page
//! ```
//!
//! **Choices**
//! - The tuner is rebuilt from the log, so the page shows the model that chose.
//! - "Predicted and measured" uses the predictions in the log, made before the measurement: a fair
//!   test of the model.
//! - The page is written beside the log.

mod effects;
mod failures;
mod figures;
mod page;
mod render;

use std::path::{Path, PathBuf};

use super::log;
use crate::error::Error;
use crate::locked;
use crate::terminal;

/// Approximate number of operations for all predictions together.
const EFFORT: usize = 4_000_000_000;

/// Whether the paths of a report are logs, not directories of runs.
pub(crate) fn is_log(paths: &[PathBuf]) -> bool {
    paths.iter().any(|path| path.is_file())
}

/// Reads a log and writes its page.
pub(crate) fn run(paths: &[PathBuf], out: Option<&Path>) -> Result<(), Error> {
    let [path] = paths else {
        return Err(Error::Usage(
            "a report shows one log of trimtab tune; name one file, or directories of runs".into(),
        ));
    };
    let fault = |what: Error| Error::Failed(format!("the log {}: {what}", path.display()));
    let page = render::html(&log::read(path)?, EFFORT).map_err(fault)?;
    let mut file = path.with_extension("html");
    if let Some(folder) = out {
        let fault =
            |error| Error::Failed(format!("cannot write to {}: {error}; choose another --out", folder.display()));
        std::fs::create_dir_all(folder).map_err(fault)?;
        file = folder.join(file.file_name().unwrap_or_default());
    }
    if locked::are_one(path, &file) || locked::is_log(&file) {
        return Err(Error::Usage(format!("{} would be overwritten; choose another --out", file.display())));
    }
    std::fs::write(&file, page)
        .map_err(|error| Error::Failed(format!("cannot write {}: {error}; choose another --out", file.display())))?;
    terminal::print(&format!("{}\n", file.display()))
}
