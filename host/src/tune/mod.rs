//! `trimtab tune`: tunes the levels of anything that a command can measure.
//!
//! ```text
//! options → plan → log → ask ─→ command ─→ cost or failure ─→ log → tell → … → summary
//!                         ↑                                    │
//!                         └────────────────────────────────────┘
//! ```
//!
//! | file | contents |
//! |---|---|
//! | [`args`], [`plan`] | the options, and the run that they describe |
//! | [`template`] | the command with places for levels |
//! | [`slots`] | where measurements run, and those that a slot lost |
//! | [`process`], [`measure`], [`extract`] | one run of the command, and the cost in its output |
//! | [`log`], [`seal`], [`history`], [`keep`] | records on disk, trials in memory, and both at once |
//! | [`import`], [`export`] | measurements from a table and to one |
//! | [`unread`] | knobs that the command does not seem to read |
//! | [`finish`] | the last measurements, with noise |
//! | [`view`], [`summary`], [`change`], [`believed`] | progress, the result, what differs from the start, and the best with noise |
//! | [`again`] | the asks of a log, asked again |
//! | [`report`] | what was learned, as a page |
//!
//! **Choices**
//! - One thread owns the tuner and the log; each measurement under way has its own thread.
//! - An outcome is logged and told before the next ask, so the order of the outcomes alone decides
//!   the asks.
//! - When the user stops a run, the measurements under way stay open in the log; the same command
//!   measures them again.

pub(crate) mod again;
mod args;
mod believed;
mod change;
pub(crate) mod export;
mod extract;
mod finish;
mod history;
mod import;
mod keep;
pub(crate) mod log;
mod measure;
mod plan;
mod process;
pub(crate) mod report;
mod seal;
mod slots;
mod summary;
mod template;
mod unread;
mod view;

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

pub(crate) use args::TuneArgs;
pub(crate) use measure::{Measurer, Outcome};
pub(crate) use process::Stop;
pub(crate) use template::Template;

use trimtab::Noise;

use crate::error::Error;
use crate::session::record::{Details, Happened, Place, Record};
use crate::session::{Ask, Next, Session};
use crate::terminal;
use finish::Finish;
use history::{History, Trial};
use log::Log;
use measure::Failure;
use plan::Plan;
use slots::{Loss, Slots};
use summary::Summary;
use view::View;

/// Tunes, then prints the best.
pub(crate) fn run(args: &TuneArgs) -> Result<(), Error> {
    let plan = Plan::new(args)?;
    // The tuner may refuse the space or the start: do that before a log is begun.
    let mut session = plan.session(0)?;
    plan.queue(&mut session, &History::default())?;
    let rows = args.import.as_deref().map_or_else(|| Ok(Vec::new()), |path| import::read(path, &plan.study))?;
    let mut log = None;
    let mut history = History::default();
    if let Some(path) = &args.log {
        let (opened, contents) = Log::open(path, &plan.header)?;
        if let Some(contents) = contents {
            if contents.is_torn && !args.quiet {
                terminal::note("the last line of the log was cut off and is dropped; what it recorded happens again");
            }
            session = plan.session(contents.asks())?;
            history = History::replay(&contents.records, &mut session)
                .map_err(|error| Error::Failed(format!("the log {}: {error}; choose another --log", path.display())))?;
        }
        log = Some(opened);
    }
    if history.trials.is_empty() {
        session = plan.session(0)?;
    }
    import::apply(&rows, &plan, &mut session, &mut history, &mut log)?;
    plan.queue(&mut session, &history)?;
    let stop = Arc::new(Stop::default());
    let listener = Arc::clone(&stop);
    ctrlc::set_handler(move || listener.ask())
        .map_err(|error| Error::Failed(format!("cannot listen for Ctrl-C: {error}")))?;
    let view = View::new(&plan, &history, args.quiet || args.json);
    if let Some(warning) = unread::warning(&plan.measurer.template, &args.command, &plan.study.space) {
        view.note(&warning);
    }
    let before = history.done.len();
    let mut tuning =
        Tuning { plan: &plan, session, history, log, view, begun: Instant::now(), before, end: End::Budget };
    let ended = tuning.go_on(&stop);
    let Tuning { session, history, log, view, end, .. } = tuning;
    view.finish();
    let is_stopped = stop.is_asked();
    let summary = Summary {
        plan: &plan,
        session: &session,
        history: &history,
        log: log.as_ref().map(Log::path),
        end,
        is_stopped,
    };
    // Print the best so far even after an error.
    if ended.is_ok() || !history.done.is_empty() {
        terminal::print(&match (args.json, args.quiet) {
            (true, _) => format!("{:#}\n", summary.json()),
            (false, true) => summary.line(),
            (false, false) => summary.text(),
        })?;
    }
    ended?;
    let (done, budget) = (history.done.len(), plan.study.budget);
    if is_stopped && done < budget && !matches!(end, End::Exhausted | End::Settled) {
        let next = match &log {
            Some(_) => "the same command goes on from there",
            None => "with --log FILE the same command could go on from there",
        };
        return Err(Error::Failed(format!("stopped: {done} of {budget} measurements are done; {next}")));
    }
    if done > 0 && history.failures() == done {
        let last = history.outcomes().last().and_then(Trial::failure).unwrap_or_default();
        let hint = match end {
            End::GaveUp => "; the run ended early: correct the command, or see --give-up",
            _ => "",
        };
        return Err(Error::Failed(format!("every measurement failed, {done} of {done}: {last}{hint}")));
    }
    Ok(())
}

/// Why a run ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Budget,
    /// Every combination has an outcome.
    Exhausted,
    TimeUp,
    /// Going on is not worth it.
    Settled,
    /// Nothing but failures.
    GaveUp,
}

/// So many equal values are worth a warning.
const MANY_EQUAL: usize = 5;

/// A run under way.
struct Tuning<'a> {
    plan: &'a Plan,
    session: Session,
    history: History,
    log: Option<Log>,
    view: View<'a>,
    begun: Instant,
    /// Outcomes that were in the log already.
    before: usize,
    end: End,
}

impl Tuning<'_> {
    /// Measures until the budget or the time is spent, the space is exhausted or the run settled,
    /// everything fails, or the user stops it.
    fn go_on(&mut self, stop: &Stop) -> Result<(), Error> {
        let budget = self.plan.study.budget;
        // Measurements that were under way when the run stopped come first.
        let mut slots = Slots::new(self.plan.jobs, self.history.open());
        if !self.history.trials.is_empty() && self.history.done.len() < budget {
            self.write(Record { place: Place::default(), happened: Happened::Resume { budget } })?;
        }
        let measurer = &self.plan.measurer;
        let (sender, outcomes) = mpsc::channel();
        thread::scope(|scope| {
            let mut fault = None;
            loop {
                while fault.is_none()
                    && !stop.is_asked()
                    && slots.is_free()
                    && self.history.done.len() + slots.running() < budget
                    && self.may_begin()
                {
                    let begun = slots.begin_waiting().or_else(|| {
                        let place = self.ask().unwrap_or_else(|error| {
                            fault = Some(error);
                            None
                        })?;
                        Some((place, slots.begin(place)?))
                    });
                    let Some((place, slot)) = begun else { break };
                    self.view.started(&self.history, &self.history.trials[place]);
                    let (sender, levels) = (sender.clone(), self.history.trials[place].levels.clone());
                    scope.spawn(move || {
                        let _ = sender.send((place, slot, measurer.measure(slot, &levels, stop)));
                    });
                }
                if slots.running() == 0 {
                    return fault.map_or(Ok(()), Err);
                }
                let Ok((place, slot, outcome)) = outcomes.recv() else { return Ok(()) };
                let taken = outcome.and_then(|(outcome, seconds)| match outcome {
                    Outcome::Lost(failure) => self.lose(&mut slots, place, slot, failure, seconds),
                    outcome => {
                        slots.ended(slot);
                        self.take_in(place, outcome, seconds)
                    }
                });
                if let Err(error) = taken {
                    // End the others too; report the first error.
                    stop.ask();
                    slots.ended(slot);
                    fault = fault.or(Some(error));
                }
            }
        })
    }

    /// A slot lost a measurement: says so, and fails if that was the last slot.
    fn lose(&mut self, slots: &mut Slots, place: usize, slot: usize, lost: Failure, seconds: f64) -> Result<(), Error> {
        let (line, outcomes) = (lost.line(), self.history.done.len());
        let combination = self.plan.study.space.short_text(&self.history.trials[place].levels);
        match slots.lost(slot, outcomes) {
            Loss::Again => self.view.note(&format!("lost {combination} on slot {slot}, to be measured again: {line}")),
            Loss::Failed => {
                let why = format!("lost on three slots, while others succeed: {}", lost.why);
                self.take_in(place, Outcome::Failed(Failure { why, ..lost }), seconds)?;
            }
            Loss::SlotOut if slots.are_all_out() => {
                let (which, next) = (
                    if self.plan.jobs == 1 { "the only slot" } else { "every slot" },
                    match self.log {
                        Some(_) => "once they are back, the same command goes on",
                        None => "with --log FILE the same command could go on",
                    },
                );
                return Err(Error::Failed(format!(
                    "{which} lost its last three measurements: {line}; {next}. To count such measurements as failed, \
                     leave --lost out"
                )));
            }
            Loss::SlotOut => self.view.note(&format!(
                "slot {slot} lost its last three measurements and is not used any more; the last was {combination}: \
                 {line}"
            )),
        }
        Ok(())
    }

    /// Whether there is time for another measurement, and hope.
    fn may_begin(&mut self) -> bool {
        let fresh = self.history.done.len() - self.before;
        if self.plan.max_time.is_some_and(|limit| self.begun.elapsed() >= limit) {
            self.end = End::TimeUp;
        } else if (1..=fresh).contains(&self.plan.give_up) && self.history.failures() == self.history.done.len() {
            self.end = End::GaveUp;
        } else {
            // With several jobs, one that was under way may have succeeded after all.
            self.end = if self.end == End::GaveUp { End::Budget } else { self.end };
            return true;
        }
        false
    }

    /// Asks for the next combination; returns the place of its trial, or `None` if there is nothing to
    /// ask, for now or at all.
    fn ask(&mut self) -> Result<Option<usize>, Error> {
        let budget = self.plan.study.budget;
        let mut finish = finish::near_end(&self.session, &self.history, budget);
        if self.end == End::Settled {
            // Once settled, always: what is still under way does not begin the run again.
            finish = finish::early(&self.session, &self.history, budget);
        } else if finish == Finish::NotYet {
            let next = match self.plan.until_settled {
                Some(tolerance) => self.session.ask_until_settled(tolerance),
                None => self.session.ask(),
            };
            match next? {
                Next::Measure(ask) => return self.begin(&ask),
                Next::BudgetSpent => return Ok(None),
                Next::NothingLeft if self.history.trials.is_empty() => {
                    return Err(Error::Usage("every combination is forbidden; remove a --forbid".into()));
                }
                Next::NothingLeft => {
                    self.end = End::Exhausted;
                    finish = finish::early(&self.session, &self.history, budget);
                }
                Next::Settled => {
                    self.end = End::Settled;
                    finish = finish::early(&self.session, &self.history, budget);
                }
            }
        }
        match finish {
            Finish::Again(levels) => {
                let ask = self.session.ask_for(&levels).map_err(Error::Failed)?;
                self.begin(&ask)
            }
            Finish::NotYet | Finish::Wait => Ok(None),
        }
    }

    /// Logs an ask; returns the place of its trial.
    fn begin(&mut self, ask: &Ask) -> Result<Option<usize>, Error> {
        keep::ask(ask, &self.plan.study.space, &mut self.history, &mut self.log).map(Some)
    }

    /// Logs an outcome, tells the tuner, shows it. The log comes first: a kill while the tuner fits
    /// its model loses nothing. The tuner refuses no outcome of its own ask, since a measured value
    /// is checked when it is read.
    fn take_in(&mut self, place: usize, outcome: Outcome, seconds: f64) -> Result<(), Error> {
        let (happened, shown) = match outcome {
            Outcome::Stopped | Outcome::Lost(_) => return Ok(()),
            Outcome::Value { value, mut values, line } => {
                if let Some(line) = line {
                    self.view.read(line);
                }
                if self.plan.study.noise == Noise::None {
                    values.clear();
                }
                (Happened::Tell { value, values, seconds: Some(seconds) }, None)
            }
            Outcome::Failed(failure) => {
                let (line, Failure { why, stdout, stderr }) = (failure.line(), failure);
                let details = Details { why, stdout, stderr, seconds };
                (Happened::Failed { details: Some(Box::new(details)) }, Some(line))
            }
        };
        keep::outcome(happened, place, &mut self.session, &mut self.history, &mut self.log)?;
        self.view.finished(&self.history, &self.history.trials[place], shown.as_deref());
        let values = self.history.done.len() - self.history.failures();
        if let Some(value) = self.history.only_value().filter(|_| values == MANY_EQUAL) {
            self.view.note(&format!(
                "warning: all {values} values so far are {value}; does the command use the levels, and is this the \
                 number that you mean?"
            ));
        }
        Ok(())
    }

    fn write(&mut self, record: Record) -> Result<(), Error> {
        keep::write(record, &self.plan.study.space, &mut self.log)
    }
}

/// Any log: what is read of it is read again from its whole lines, and a session takes it or says
/// why not.
#[cfg(any(test, fuzzing))]
pub fn fuzz_log(mut bytes: &[u8]) {
    let all = bytes;
    let Ok(Some(contents)) = log::read_from(&mut bytes) else { return };
    let again = log::read_from(&mut &all[..contents.whole()]).expect("it was read before").expect("it has a header");
    assert_eq!(format!("{:?}", contents.records), format!("{:?}", again.records));
    let Ok(study) = contents.header.study() else { return };
    // A large tuner takes long to build, and nothing here depends on its size.
    if study.budget <= 64 && study.space.knobs().len() <= 16 {
        let mut session = Session::new(study).expect("a small study");
        let _ = History::replay(&contents.records, &mut session);
    }
}
