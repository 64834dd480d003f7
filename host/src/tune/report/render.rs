//! The page of a log: the tuner is rebuilt, asked for its predictions, and shown.

use trimtab::Level;

use super::effects::Learned;
use super::failures;
use super::page::Page;
use crate::error::Error;
use crate::session::{Session, Study};
use crate::tune::history::{History, Trial};
use crate::tune::log::Contents;
use crate::tune::template::Template;

/// Renders the page; `effort` is the approximate number of operations for all predictions together.
pub(crate) fn html(contents: &Contents, effort: usize) -> Result<String, Error> {
    let study = contents.header.study().map_err(Error::Failed)?;
    let mut session = Session::new(Study { budget: contents.asks().max(1), ..study })?;
    let history = History::replay(&contents.records, &mut session).map_err(Error::Failed)?;
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
    let learned = Learned::new(session.space(), &predict, &measured, &failing, (effort / each).min(20_000));
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
