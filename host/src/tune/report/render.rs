//! The page of a log: the tuner is rebuilt, asked for its predictions, and shown.

use trimtab::{Goal, Level};

use super::effects::Learned;
use super::page::Page;
use super::{failures, figures};
use crate::error::Error;
use crate::session::{Session, Study};
use crate::tune::history::{History, Trial};
use crate::tune::log::{Contents, Header};
use crate::tune::template::Template;

/// The styles of the figures.
const FIGURE: &str = include_str!("../../draw/figure.css");
const TUNE: &str = include_str!("tune.css");

/// Renders the page of a log; `effort` is the approximate number of operations for all predictions
/// together.
pub(crate) fn html(contents: &Contents, effort: usize) -> Result<String, Error> {
    let study = contents.header.study().map_err(Error::Failed)?;
    let mut session = Session::new(Study { budget: contents.asks().max(1), ..study })?;
    let history = History::replay(&contents.records, &mut session).map_err(Error::Failed)?;
    page(&contents.header, &session, &history, contents.is_torn, effort)
}

/// Renders the page of a session and its history.
pub(crate) fn page(
    header: &Header,
    session: &Session,
    history: &History,
    is_torn: bool,
    effort: usize,
) -> Result<String, Error> {
    let template = Template::parse(&header.command, header.shell, session.space())?;
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
    let failing = failures::failing(history, session.space());
    let learned = Learned::new(session.space(), &predict, &measured, &failing, (effort / each).min(20_000));
    let learned = Some(&learned).filter(|_| measured.len() > 1);
    Ok(Page { header, session, history, learned, template: &template, is_torn }.html())
}

/// Every value and the best so far, as a picture that stands alone.
#[allow(dead_code)] // The command draws whole pages only.
pub(crate) fn picture(session: &Session, history: &History) -> String {
    let goal = session.study().goal;
    let cost = if goal == Goal::Minimise { "cost" } else { "gain" };
    let style = format!("<style>\n{FIGURE}{TUNE}</style>\n<title>");
    figures::progress(history, &history.best_so_far(goal), cost).replacen("<title>", &style, 1)
}
