//! A session for Python: study, asks and outcomes as JSON, and a log as `tune` writes it.
//!
//! **Choices**
//! - A session is locked while it works, and Python's other threads go on.
//! - What is told without having been asked is asked first, as `tune --import` does, so that a log
//!   holds it.
//! - A value and its numbers are checked before they are logged: a refused call changes neither tuner nor log.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use trimtab::Level;
use trimtab_sizes::Prediction;

use crate::error::Error;
use crate::session::limits::Numbers;
use crate::session::record::{Details, Fields, Happened, Place, Record};
use crate::session::{Ask, Next, Session as Host, Study};
use crate::tune::believed::noisy_best;
use crate::tune::history::{History, Trial};
use crate::tune::log::{self, Header, Log};
use crate::tune::{keep, report};

create_exception!(_trimtab, TrimtabError, PyValueError, "What trimtab refuses, in the words of its command line.");

/// Operations for the predictions of a report, as `trimtab report` has them.
const EFFORT: usize = 4_000_000_000;
/// The cost in a log's first line.
const COST: &str = "value that a Python program told";

pub(crate) fn fault(message: impl ToString) -> PyErr {
    TrimtabError::new_err(message.to_string())
}

struct State {
    session: Host,
    history: History,
    header: Header,
    log: Option<Log>,
    /// Ids of asks that were given up.
    cancelled: HashSet<u64>,
}

/// A session of any size.
#[pyclass(frozen)]
pub(crate) struct Session(Mutex<State>);

impl Session {
    /// Works on the state while other threads of Python run.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut State) -> Result<T, Error> + Send) -> PyResult<T> {
        py.detach(|| work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))).map_err(fault)
    }
}

#[pymethods]
impl Session {
    /// Begins a session, or goes on with its log.
    #[new]
    #[pyo3(signature = (study, log=None))]
    fn new(py: Python<'_>, study: &str, log: Option<PathBuf>) -> PyResult<Self> {
        py.detach(|| State::new(study, log)).map(|state| Self(Mutex::new(state))).map_err(fault)
    }

    /// Goes on with a log of this class or of `trimtab tune`.
    #[staticmethod]
    fn resume(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| State::resume(path)).map(|state| Self(Mutex::new(state))).map_err(fault)
    }

    /// The next ask, or why there is none.
    fn ask(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| {
            let end = |why: &str| Ok(json!({"end": why}).to_string());
            match state.session.ask()? {
                Next::Measure(ask) => {
                    keep::ask(&ask, state.session.space(), &mut state.history, &mut state.log)?;
                    Ok(state.shown(&ask).to_string())
                }
                Next::NothingLeft => end("exhausted"),
                Next::BudgetSpent => end("budget"),
                Next::Settled => end("settled"),
            }
        })
    }

    /// Asks for a combination of the caller's choice.
    fn ask_for(&self, py: Python<'_>, place: &str) -> PyResult<String> {
        self.with(py, |state| {
            let levels = state.levels(place)?;
            let ask = state.session.ask_for(&levels).map_err(Error::Failed)?;
            keep::ask(&ask, state.session.space(), &mut state.history, &mut state.log)?;
            Ok(state.shown(&ask).to_string())
        })
    }

    /// Tells one value or several of one combination, and the numbers that limits are on.
    fn tell(&self, py: Python<'_>, place: &str, values: Vec<f64>, numbers: Numbers) -> PyResult<()> {
        self.with(py, |state| {
            let value = values.iter().sum::<f64>() / values.len().max(1) as f64;
            if values.is_empty() {
                return Err(Error::Usage("a tell needs a value".into()));
            }
            if let Some(bad) = values.iter().find(|value| !(**value as f32).is_finite()) {
                return Err(Error::Usage(format!(
                    "the value must be a finite number, not {bad}; tell a failure by failed"
                )));
            }
            state.session.study().limits.margins(&numbers).map_err(Error::Usage)?;
            let trial = state.trial(place)?;
            let values = if values.len() > 1 { values } else { Vec::new() };
            state.outcome(trial, Happened::Tell { value, values, numbers, seconds: None })
        })
    }

    /// Tells a failure.
    fn failed(&self, py: Python<'_>, place: &str, why: String) -> PyResult<()> {
        self.with(py, |state| {
            let trial = state.trial(place)?;
            let details = Details { why, stdout: String::new(), stderr: String::new(), seconds: 0.0 };
            state.outcome(trial, Happened::Failed { details: Some(Box::new(details)) })
        })
    }

    /// Makes a combination the next to be asked.
    fn enqueue(&self, py: Python<'_>, place: &str) -> PyResult<()> {
        self.with(py, |state| {
            let place = Place { levels: Some(state.levels(place)?), ..Place::default() };
            state.session.apply(Record { place, happened: Happened::Enqueue {} }).map(drop).map_err(Error::Failed)
        })
    }

    /// Gives up an ask. A log of `tune` has no such event.
    fn cancel(&self, py: Python<'_>, place: &str) -> PyResult<()> {
        self.with(py, |state| {
            if state.log.is_some() {
                return Err(Error::Usage("with a log an ask cannot be cancelled; tell its failure instead".into()));
            }
            let levels = state.levels(place)?;
            let place = Place { levels: Some(levels.clone()), ..Place::default() };
            let done = state.session.apply(Record { place, happened: Happened::Cancel {} }).map_err(Error::Failed)?;
            state.cancelled.extend(done.place.id);
            Ok(())
        })
    }

    /// The measurement that breaks the limits least. Null without limits or measurements.
    fn nearest(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| {
            let study = state.session.study();
            let nearest = state.history.nearest(study.goal).filter(|_| !study.limits.is_empty());
            Ok(json!(nearest.map(|(_, trial)| state.row(trial))).to_string())
        })
    }

    /// The best: by the model if there is noise, else by observation. Null before the first value that
    /// keeps all limits.
    fn best(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| {
            let (session, space) = (&state.session, state.session.space());
            if let Some(best) = noisy_best(session) {
                let (prediction, measured) = (best.prediction, best.measured);
                return Ok(json!({
                    "config": space.named(&prediction.levels), "value": prediction.mean,
                    "std_dev": prediction.std_dev, "measured": measured.repeats,
                    "numbers": session.readings(&prediction.levels).cloned().unwrap_or_default(),
                })
                .to_string());
            }
            let best = state.history.best(session.study().goal).map(|(_, best)| {
                let measured = session.tuner().measured(&best.levels).map(|measured| measured.repeats);
                json!({
                    "config": space.named(&best.levels), "value": best.value(), "std_dev": null, "measured": measured,
                    "numbers": best.numbers,
                })
            });
            Ok(json!(best).to_string())
        })
    }

    /// The prediction for a combination. Null before the first outcome.
    fn predict(&self, py: Python<'_>, place: &str) -> PyResult<String> {
        self.with(py, |state| {
            let (levels, tuner) = (state.levels(place)?, state.session.tuner());
            let is_limited = !state.session.study().limits.is_empty();
            let chance = tuner.keep_chance(&levels).filter(|_| is_limited);
            let shown = |own: Prediction| json!({"mean": own.mean, "std_dev": own.std_dev, "keep_chance": chance});
            let shown = tuner.predict(&levels).map(shown);
            Ok(json!(shown).to_string())
        })
    }

    /// Asks without an outcome, as after a stop.
    fn pending(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| {
            let open = state.waiting();
            let all = open.iter().map(|place| state.row(&state.history.trials[*place]));
            Ok(Value::from(all.collect::<Vec<_>>()).to_string())
        })
    }

    /// All outcomes in their order.
    fn history(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| {
            let all = state.history.outcomes().map(|trial| state.row(trial));
            Ok(Value::from(all.collect::<Vec<_>>()).to_string())
        })
    }

    /// The study, as a log's first line has it.
    fn study(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| Ok(Value::from(state.session.study().to_fields()).to_string()))
    }

    /// Number of outcomes.
    fn measured(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |state| Ok(state.history.done.len()))
    }

    fn noise(&self, py: Python<'_>) -> PyResult<f32> {
        self.with(py, |state| Ok(state.session.tuner().noise()))
    }

    fn expected_gain(&self, py: Python<'_>) -> PyResult<Option<f32>> {
        self.with(py, |state| Ok(state.session.tuner().expected_gain()))
    }

    fn is_settled(&self, py: Python<'_>, tolerance: f32) -> PyResult<bool> {
        self.with(py, |state| Ok(state.session.tuner().is_settled(tolerance)))
    }

    /// Every value and the best so far, as SVG.
    fn plot(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| Ok(report::render::picture(&state.session, &state.history)))
    }

    /// What was learned, as the page of `trimtab report`.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| report::render::page(&state.header, &state.session, &state.history, false, EFFORT))
    }
}

impl State {
    fn new(study: &str, path: Option<PathBuf>) -> Result<Self, Error> {
        let fields: Fields = serde_json::from_str(study).map_err(|error| Error::Usage(error.to_string()))?;
        let study = Study::from_fields(&fields).map_err(Error::Usage)?;
        let header = Header::new(&study, &["python".into()], false, COST.into());
        Self::open(study, header, path)
    }

    fn resume(path: PathBuf) -> Result<Self, Error> {
        let header = log::read(&path)?.header;
        let study = header.study().map_err(|error| Error::Failed(format!("the log {}: {error}", path.display())))?;
        Self::open(study, header, Some(path))
    }

    fn open(study: Study, header: Header, path: Option<PathBuf>) -> Result<Self, Error> {
        // The tuner may refuse the space: do that before a log is begun.
        let mut session = Host::new(study.clone())?;
        let (mut log, mut history) = (None, History::default());
        if let Some(path) = path {
            let (opened, contents) = Log::open(&path, &header)?;
            if let Some(contents) = contents {
                session = Host::new(Study { budget: study.budget.max(contents.asks()), ..study })?;
                let fault = |error| Error::Failed(format!("the log {}: {error}", path.display()));
                history = History::replay(&contents.records, &mut session).map_err(fault)?;
            }
            log = Some(opened);
        }
        Ok(Self { session, history, header, log, cancelled: HashSet::new() })
    }

    /// The combination that `id`, `config` or `levels` names.
    fn levels(&self, place: &str) -> Result<Vec<Level>, Error> {
        let fields: Fields = serde_json::from_str(place).map_err(|error| Error::Usage(error.to_string()))?;
        Place::from_fields(&fields).and_then(|place| self.session.levels(&place)).map_err(Error::Usage)
    }

    /// Places of trials that still wait for an outcome.
    fn waiting(&self) -> Vec<usize> {
        let mut open = self.history.open();
        open.retain(|place| !self.cancelled.contains(&self.history.trials[*place].id));
        open
    }

    /// The open trial of a combination; if there is none, it is asked for.
    fn trial(&mut self, place: &str) -> Result<usize, Error> {
        let levels = self.levels(place)?;
        let open = self.waiting();
        if let Some(trial) = open.into_iter().find(|trial| self.history.trials[*trial].levels == levels) {
            return Ok(trial);
        }
        let ask = self.session.ask_for(&levels).map_err(Error::Failed)?;
        keep::ask(&ask, self.session.space(), &mut self.history, &mut self.log)
    }

    fn outcome(&mut self, trial: usize, happened: Happened) -> Result<(), Error> {
        keep::outcome(happened, trial, &mut self.session, &mut self.history, &mut self.log)
    }

    fn shown(&self, ask: &Ask) -> Value {
        self.row(&Trial::new(ask))
    }

    fn row(&self, trial: &Trial) -> Value {
        let (value, failed) = match &trial.outcome {
            Some(Ok(value)) => (json!(value), Value::Null),
            Some(Err(why)) => (Value::Null, json!(why)),
            None => (Value::Null, Value::Null),
        };
        json!({
            "id": trial.id, "config": self.session.space().named(&trial.levels), "mean": trial.mean,
            "std_dev": trial.std_dev, "value": value, "failed": failed, "numbers": trial.numbers,
            "keeps": trial.value().is_some() && trial.is_kept(),
        })
    }
}
