//! A log's asks, asked again: does the tuner here propose the same, to the bit?
//!
//! **Choices**
//! - An ask counts as the same if its combination and the bits of its prediction are those in the log.
//! - Some asks are not the tuner's: `--start`, `--import`, and the last measurements under noise. A log
//!   does not mark them, so another combination is taken for the user's choice as long as the model
//!   here predicts it to the bit.
//! - The first prediction that differs ends the comparison, because everything later follows from it.

use trimtab::Goal;

use super::history::History;
use super::log::Contents;
use crate::draw::number::{grouped, short, with_error};
use crate::error::Error;
use crate::session::record::{Expected, Happened, Record};
use crate::session::{Next, Session, Study};

/// What became of a log's asks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Again {
    pub(crate) asks: usize,
    /// Number of asks that are the same, to the bit.
    pub(crate) same: usize,
    /// Number of asks with a combination of somebody else's choice and the same prediction.
    pub(crate) chosen: usize,
    pub(crate) difference: Option<String>,
    /// The version that wrote the log, if it is another one.
    pub(crate) version: Option<String>,
}

impl Again {
    /// Repeats a log.
    pub(crate) fn of(contents: &Contents) -> Result<Self, Error> {
        let study = contents.header.study().map_err(Error::Failed)?;
        let asks = contents.asks();
        let mut session = Session::new(Study { budget: asks.max(1), ..study })?;
        let version =
            Some(contents.header.version().to_string()).filter(|version| version != env!("CARGO_PKG_VERSION"));
        let mut again = Self { asks, version, ..Self::default() };
        for (i, record) in contents.records.iter().enumerate() {
            // The header is line 1.
            let fault = |error: String| Error::Failed(format!("line {}: {error}", i + 2));
            if let Happened::Ask { expected } = record.happened {
                if again.ask(&mut session, record, expected)? {
                    continue;
                }
                if again.difference.is_some() {
                    break;
                }
            }
            session.apply(record.clone()).map_err(fault)?;
        }
        Ok(again)
    }

    /// Compares an ask of the log with that of a session, which keeps it only if it is the same.
    fn ask(&mut self, session: &mut Session, record: &Record, expected: Option<Expected>) -> Result<bool, Error> {
        let mut place = record.place.clone();
        place.id = None;
        let levels = session.levels(&place).map_err(Error::Failed)?;
        let is_expected = |own: &Record| {
            let Happened::Ask { expected: own } = own.happened else { return false };
            expected.is_none() || own == expected
        };
        let own = match session.ask()? {
            Next::Measure(ask) => Some(ask),
            Next::BudgetSpent | Next::NothingLeft | Next::Settled => None,
        };
        if let Some(ask) = &own {
            if ask.prediction.levels == levels && is_expected(&ask.record()) {
                self.same += 1;
                return Ok(true);
            }
            session.take_back(ask)?;
        }
        let foretold = session.foretold(&levels);
        if is_expected(&foretold.record()) {
            self.chosen += 1;
            return Ok(false);
        }
        let space = session.space();
        let said = |mean: Option<f32>, std_dev: Option<f32>| match mean.zip(std_dev) {
            Some((mean, std_dev)) => format!("{} ({mean:?} ± {std_dev:?})", with_error(mean.into(), std_dev.into())),
            None => "anything".into(),
        };
        let [here, there] = [Some(&foretold.record()), Some(record)].map(|record| match record.map(|r| &r.happened) {
            Some(Happened::Ask { expected: Some(Expected { mean, std_dev }) }) => said(*mean, *std_dev),
            _ => "anything".into(),
        });
        self.difference =
            Some(format!("the log expected {there} of {}, the tuner here expects {here}", space.short_text(&levels)));
        Ok(false)
    }

    /// Whether an ask was compared and none differed.
    pub(crate) fn is_same(&self) -> bool {
        self.difference.is_none() && self.same > 0
    }

    /// The verdict in words.
    pub(crate) fn lines(&self) -> Vec<String> {
        let Self { asks, same, chosen, .. } = *self;
        let mut lines = Vec::new();
        match &self.difference {
            Some(difference) => {
                lines.push(format!(
                    "{same} of {asks} asks match to the bit, then ask {}: {difference}",
                    same + chosen + 1
                ));
                lines.extend(
                    self.version.as_ref().map(|version| {
                        format!("version {version} wrote the log, this is {}", env!("CARGO_PKG_VERSION"))
                    }),
                );
            }
            None if asks == 0 => lines.push("nothing was asked".into()),
            None if chosen == 0 => lines.push(format!("all {asks} asks match to the bit")),
            None => lines.push(format!(
                "{same} of {asks} asks match to the bit; the model predicts the rest to the bit, but did not choose \
                 it: --start, --import, and the last measurements under noise"
            )),
        }
        lines
    }
}

/// A log and its best in two lines.
pub(crate) fn facts(contents: &Contents) -> Result<[String; 2], Error> {
    let study = contents.header.study().map_err(Error::Failed)?;
    let (goal, seed): (Goal, u64) = (study.goal, study.seed);
    let mut session = Session::new(Study { budget: contents.asks().max(1), ..study })?;
    let history = History::replay(&contents.records, &mut session).map_err(Error::Failed)?;
    let space = session.space();
    let none = match history.breaking() {
        0 => "nothing was measured with success".into(),
        _ => format!("nothing keeps {}", session.study().limits),
    };
    let best = history.best(goal).map_or(none, |(number, best)| {
        let value = short(best.value().unwrap_or(f64::NAN));
        format!("{value}  {}  (measurement {number})", space.short_text(&best.levels))
    });
    let run = format!(
        "{} of {} combinations: {} measured, {} failed, seed {seed}",
        history.done.len() - history.repeats(),
        grouped(&space.cardinality()),
        history.done.len(),
        history.failures()
    );
    Ok([run, best])
}
