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

use std::path::{Path, PathBuf};

use trimtab::Level;

use super::history::{History, Trial};
use super::log;
use super::template::Template;
use crate::error::Error;
use crate::locked;
use crate::session::{Session, Study};
use crate::terminal;
use effects::Learned;
use page::Page;

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
    let page = html(path)?;
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

/// Renders the page of a log.
fn html(path: &Path) -> Result<String, Error> {
    let fault = |what: String| Error::Failed(format!("the log {}: {what}", path.display()));
    let contents = log::read(path)?;
    let study = contents.header.study().map_err(fault)?;
    let mut session = Session::new(Study { budget: contents.asks().max(1), ..study })?;
    let history = History::replay(&contents.records, &mut session).map_err(fault)?;
    let template = Template::parse(&contents.header.command, contents.header.shell, session.space())?;
    let mut measured: Vec<Vec<Level>> = Vec::new();
    for trial in history.outcomes().filter(|trial| Trial::value(trial).is_some()) {
        if !measured.contains(&trial.levels) {
            measured.push(trial.levels.clone());
        }
    }
    let predict = |levels: &[Level]| {
        let prediction = session.tuner().predict(levels)?;
        Some((f64::from(prediction.mean), f64::from(prediction.std_dev)))
    };
    let observations = history.done.len();
    let each = (observations * (observations + 4 * session.space().knobs().len())).max(1);
    let failing = failures::failing(&history, session.space());
    let learned = Learned::new(session.space(), &predict, &measured, &failing, (EFFORT / each).min(20_000));
    let page = Page {
        header: &contents.header,
        session: &session,
        history: &history,
        learned: Some(&learned).filter(|_| measured.len() > 1),
        template: &template,
        is_torn: contents.is_torn,
    };
    Ok(page.html())
}
