//! The run that the options describe, checked before anything starts.

use std::time::Duration;

use trimtab::{Goal, Level};

use super::args::{By, TuneArgs};
use super::history::History;
use super::log::Header;
use super::measure::{Measurer, Repeat, Rule};
use super::template::Template;
use crate::error::Error;
use crate::session::prior::SessionPrior;
use crate::session::record::{Happened, Place, Record};
use crate::session::{Session, Study};
use crate::space::NamedSpace;

/// A run to make.
pub(crate) struct Plan {
    pub(crate) study: Study,
    pub(crate) measurer: Measurer,
    pub(crate) header: Header,
    /// Combinations to measure first.
    pub(crate) start: Vec<Vec<Level>>,
    pub(crate) jobs: usize,
    /// No measurement begins after this time.
    pub(crate) max_time: Option<Duration>,
    /// The run ends when it is settled at this tolerance.
    pub(crate) until_settled: Option<f32>,
    /// The run ends after so many failures without a success, unless this is 0.
    pub(crate) give_up: usize,
}

impl Plan {
    pub(crate) fn new(args: &TuneArgs) -> Result<Self, Error> {
        let space = space(args)?;
        let template = Template::parse(&args.command, args.shell, &space)?;
        let start = starts(args, &space)?;
        let rule = match &args.extract {
            Some(expression) => Rule::Extract(expression.clone()),
            None if args.time => Rule::Time,
            None => Rule::LastNumber,
        };
        let by = args.by.unwrap_or(if args.time { By::Min } else { By::Median });
        let repeat = Repeat { count: args.repeat, by };
        let cost = cost(&rule, repeat);
        let goal = if args.maximize { Goal::Maximise } else { Goal::Minimise };
        let prior = args.prior.as_deref().map(SessionPrior::read).transpose()?;
        let study =
            Study { space: space.clone(), goal, seed: args.seed, budget: args.budget, noise: args.noise, prior };
        let header = Header::new(&study, &args.command, args.shell, cost);
        let measurer = Measurer { space, template, rule, repeat, timeout: args.timeout, lost: args.lost.clone() };
        let (max_time, until_settled, give_up) = (args.max_time, args.until_settled, args.give_up);
        Ok(Self { study, measurer, header, start, jobs: args.jobs, max_time, until_settled, give_up })
    }

    /// A session with room for this many logged asks, even if that is more than the budget.
    pub(crate) fn session(&self, logged: usize) -> Result<Session, Error> {
        let budget = self.study.budget.max(logged);
        Session::new(Study { budget, ..self.study.clone() })
    }

    /// Enqueues the combinations of --start that were not asked yet.
    pub(crate) fn queue(&self, session: &mut Session, history: &History) -> Result<(), Error> {
        let is_new = |levels: &&Vec<Level>| history.trials.iter().all(|trial| trial.levels != **levels);
        for levels in self.start.iter().filter(is_new) {
            let place = Place { levels: Some(levels.clone()), ..Place::default() };
            session.apply(Record { place, happened: Happened::Enqueue {} }).map_err(|error| {
                Error::Usage(format!("--start {}: {error}; name up to 8, each once", self.study.space.text(levels)))
            })?;
        }
        Ok(())
    }
}

/// How the cost is found, in words; a log goes on with the same words only.
fn cost(rule: &Rule, repeat: Repeat) -> String {
    let by = match repeat.by {
        By::Median => "median",
        By::Mean => "mean",
        By::Min => "least",
    };
    let cost = match rule {
        Rule::LastNumber => "last number".into(),
        Rule::Extract(expression) => format!("extract {expression}"),
        Rule::Time if repeat.count == 1 => "time, least of 1".into(),
        Rule::Time => "time".into(),
    };
    match repeat.count {
        1 => cost,
        count => format!("{cost}, {by} of {count}"),
    }
}

/// The space: first the file's knobs, then those of the command line.
fn space(args: &TuneArgs) -> Result<NamedSpace, Error> {
    let file = args.space.as_deref().map(NamedSpace::read).transpose()?;
    let mut knobs = file.as_ref().map_or_else(Vec::new, |space| space.knobs().to_vec());
    knobs.extend(args.knob.iter().cloned());
    if knobs.is_empty() {
        return Err(Error::Usage("a space needs a knob; write --knob name=level,level,… or name a --space".into()));
    }
    let mut space = NamedSpace::new(knobs)?;
    for forbidden in file.iter().flat_map(NamedSpace::forbidden) {
        space.forbid(&forbidden.to_string())?;
    }
    for condition in file.iter().flat_map(NamedSpace::conditions) {
        space.only_if(&condition.to_string())?;
    }
    for text in &args.only_if {
        space.only_if(text).map_err(|error| Error::Usage(format!("--only-if: {error}")))?;
    }
    for text in &args.forbid {
        space.forbid(text).map_err(|error| Error::Usage(format!("--forbid: {error}")))?;
    }
    Ok(space)
}

/// The combinations of --start; without one, the defaults if the user marked some.
fn starts(args: &TuneArgs, space: &NamedSpace) -> Result<Vec<Vec<Level>>, Error> {
    if !args.start.is_empty() || space.knobs().iter().all(|knob| knob.default().is_none()) {
        return args.start.iter().map(|text| start(text, space)).collect();
    }
    let defaults = space.defaults();
    match space.forbidding(&defaults) {
        Some(forbidden) => Err(Error::Usage(format!(
            "the marked levels and the first of the other knobs are the start, but `{forbidden}` forbids {}; write \
             --start name=level,…, or mark other levels",
            space.text(&defaults)
        ))),
        None => Ok(vec![defaults]),
    }
}

/// Parses a combination of --start.
fn start(text: &str, space: &NamedSpace) -> Result<Vec<Level>, Error> {
    let levels = space.parse(text).map_err(|error| Error::Usage(format!("--start {text}: {error}")))?;
    match space.forbidding(&levels) {
        Some(forbidden) => Err(Error::Usage(format!("--start {text}: `{forbidden}` forbids it"))),
        None => Ok(levels),
    }
}
