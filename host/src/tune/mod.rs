//! `trimtab tune`: tunes the levels of anything that a command can measure.
//!
//! ```text
//! options → plan → log → ask ─→ command ─→ cost or failure ─→ tell → log → … → summary
//!                         ↑                                    │
//!                         └────────────────────────────────────┘
//! ```
//!
//! | file | what |
//! |---|---|
//! | [`args`], [`plan`] | what is asked for |
//! | [`template`] | the command with places for levels |
//! | [`process`], [`measure`], [`extract`] | one run of it, and the cost in what it printed |
//! | [`log`], [`history`] | what happened, on disk and in memory |
//! | [`view`], [`summary`], [`number`] | what is shown meanwhile and at the end |
//! | [`report`] | what was learned, as a page |
//!
//! **Choices.** One thread owns the tuner and the log; each measurement under way has a thread of its own. An outcome is logged, told, and
//! only then something new is asked, so the order of the outcomes alone decides what is asked: the same order, the same run. When the user stops a
//! run, the measurements under way are given up and stay open in the log: the same command measures them again and goes on as if
//! nothing had been.

mod args;
mod extract;
mod history;
mod log;
mod measure;
mod plan;
mod process;
pub(crate) mod report;
mod summary;
mod template;
mod view;

use std::collections::VecDeque;
use std::sync::{Arc, mpsc};
use std::thread;

pub(crate) use args::TuneArgs;

use crate::error::Error;
use crate::session::Session;
use crate::terminal;
use history::{History, Trial};
use log::{Entry, Log};
use measure::Outcome;
use plan::Plan;
use process::Stop;
use summary::Summary;
use view::View;

/// Tunes, then prints the best.
pub(crate) fn run(args: &TuneArgs) -> Result<(), Error> {
    let plan = Plan::new(args)?;
    // Whatever the tuner refuses is refused before a log is begun.
    let mut session = plan.session(0)?;
    plan.queue(&mut session, &History::default())?;
    let mut log = None;
    let mut history = History::default();
    if let Some(path) = &args.log {
        let (opened, contents) = Log::open(path, &plan.header)?;
        if let Some(contents) = contents {
            if contents.is_torn && !args.quiet {
                terminal::note("the last line of the log was cut off: it is dropped, and what it said happens again");
            }
            let asks = contents.entries.iter().filter(|entry| matches!(entry, Entry::Ask { .. })).count();
            session = plan.session(asks)?;
            history = History::replay(&contents.entries, &mut session)
                .map_err(|error| Error::Failed(format!("the log {}: {error}; choose another --log", path.display())))?;
            plan.queue(&mut session, &history)?;
        }
        log = Some(opened);
    }
    let stop = Arc::new(Stop::default());
    let listener = Arc::clone(&stop);
    ctrlc::set_handler(move || listener.ask())
        .map_err(|error| Error::Failed(format!("cannot listen for Ctrl-C: {error}")))?;
    let view = View::new(&plan, &history, args.quiet || args.json);
    let mut tuning = Tuning { plan: &plan, session, history, log, view, is_exhausted: false };
    let ended = tuning.go_on(&stop);
    let Tuning { session, history, log, view, is_exhausted, .. } = tuning;
    view.finish();
    let is_stopped = stop.is_asked();
    let summary = Summary {
        plan: &plan,
        session: &session,
        history: &history,
        log: log.as_ref().map(Log::path),
        is_exhausted,
        is_stopped,
    };
    // Whatever went wrong, what was found so far is not lost.
    if ended.is_ok() || !history.done.is_empty() {
        terminal::print(&match (args.json, args.quiet) {
            (true, _) => format!("{:#}\n", summary.json()),
            (false, true) => summary.line(),
            (false, false) => summary.text(),
        })?;
    }
    ended?;
    let (done, budget) = (history.done.len(), plan.task.budget);
    if is_stopped && done < budget && !is_exhausted {
        let next = match &log {
            Some(_) => "the same command goes on from there",
            None => "with --log FILE the same command could go on from there",
        };
        return Err(Error::Failed(format!("stopped: {done} of {budget} measurements are done; {next}")));
    }
    if done > 0 && history.failures() == done {
        return Err(Error::Failed(format!("all {done} measurements failed{}", last_failure(&history))));
    }
    Ok(())
}

fn last_failure(history: &History) -> String {
    let why = history.outcomes().last().and_then(|trial| trial.outcome.clone()?.err());
    why.map_or_else(String::new, |why| format!("; the last: {why}"))
}

/// A run under way.
struct Tuning<'a> {
    plan: &'a Plan,
    session: Session,
    history: History,
    log: Option<Log>,
    view: View<'a>,
    is_exhausted: bool,
}

impl Tuning<'_> {
    /// Measures until the budget is spent, nothing is left, or the user wants to stop.
    fn go_on(&mut self, stop: &Stop) -> Result<(), Error> {
        let budget = self.plan.task.budget;
        // What was under way when the run was stopped comes first.
        let mut again: VecDeque<usize> = self.history.open().into();
        if !self.history.trials.is_empty() && self.history.done.len() < budget {
            self.write(&Entry::Resume { budget })?;
        }
        let measurer = &self.plan.measurer;
        let (sender, outcomes) = mpsc::channel();
        thread::scope(|scope| {
            let mut running = 0;
            let mut fault = None;
            loop {
                while fault.is_none()
                    && !stop.is_asked()
                    && running < self.plan.jobs
                    && self.history.done.len() + running < budget
                {
                    let place = match again.pop_front() {
                        Some(place) => Some(place),
                        None => self.ask().unwrap_or_else(|error| {
                            fault = Some(error);
                            None
                        }),
                    };
                    let Some(place) = place else { break };
                    self.view.started(&self.history, &self.history.trials[place]);
                    let (sender, levels) = (sender.clone(), self.history.trials[place].levels.clone());
                    scope.spawn(move || {
                        let _ = sender.send((place, measurer.measure(&levels, stop)));
                    });
                    running += 1;
                }
                if running == 0 {
                    return fault.map_or(Ok(()), Err);
                }
                let Ok((place, outcome)) = outcomes.recv() else { return Ok(()) };
                running -= 1;
                if let Err(error) = outcome.and_then(|(outcome, seconds)| self.take_in(place, outcome, seconds)) {
                    // The others end too, and the first error is the one that is told.
                    stop.ask();
                    fault = fault.or(Some(error));
                }
            }
        })
    }

    /// Asks for something new; the place of its trial, or none if there is nothing left to ask.
    fn ask(&mut self) -> Result<Option<usize>, Error> {
        let Some(asked) = self.session.ask()? else {
            self.is_exhausted = true;
            if self.history.trials.is_empty() {
                return Err(Error::Usage("every combination is forbidden; take a --forbid away".into()));
            }
            return Ok(None);
        };
        let trial = Trial::new(&asked);
        let config = self.plan.task.space.named(&trial.levels);
        self.write(&Entry::Ask { id: trial.id, config, mean: trial.mean, std_dev: trial.std_dev })?;
        self.history.trials.push(trial);
        Ok(Some(self.history.trials.len() - 1))
    }

    /// Logs an outcome, tells the tuner, shows it.
    fn take_in(&mut self, place: usize, outcome: Outcome, seconds: f64) -> Result<(), Error> {
        let (id, levels) = (self.history.trials[place].id, self.history.trials[place].levels.clone());
        let config = self.plan.task.space.named(&levels);
        let shown = match outcome {
            Outcome::Stopped => return Ok(()),
            Outcome::Value(value) => {
                self.write(&Entry::Tell { id, config, value, seconds })?;
                self.session.tell(&levels, value)?;
                self.history.finish(place, Ok(value), seconds);
                None
            }
            Outcome::Failed(failure) => {
                let (line, why) = (failure.line(), failure.why.clone());
                let (stdout, stderr) = (failure.stdout, failure.stderr);
                self.write(&Entry::Failed { id, config, why: failure.why, stdout, stderr, seconds })?;
                self.session.tell_failed(&levels)?;
                self.history.finish(place, Err(why), seconds);
                Some(line)
            }
        };
        self.view.finished(&self.history, &self.history.trials[place], shown.as_deref());
        Ok(())
    }

    fn write(&mut self, entry: &Entry) -> Result<(), Error> {
        self.log.as_mut().map_or(Ok(()), |log| log.write(entry))
    }
}
