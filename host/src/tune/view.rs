//! Progress: a moving picture on a terminal, elsewhere one line per measurement.
//!
//! ```text
//! ████████████▌             23/60  2 failed  1 min 12 s left
//! now   opt=O3,unroll=8,block=64
//! best  0.312  opt=O3,unroll=4,block=64
//! ██▆▆▆▃▃▃▂▂▂▂▁▁▁▁▁▁▁▁▁▁▁
//! ```
//!
//! **Choices**
//! - Progress goes to standard error, so that standard output holds only the result.
//! - The first cost is shown with the line that it was read from: a wrong number is noticed at once.
//! - With many knobs a line names only what differs: from the start if it is the best so far, else
//!   from the best before it.
//! - The sparkline shows the best so far.
//! - Time left: the measurements left times the mean time between outcomes since this start.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::change::{self, Start};
use super::history::{History, Trial};
use super::plan::Plan;
use crate::draw::number::{duration, grouped, short, sparkline};
use crate::session::limits;
use crate::terminal;

/// Width of the sparkline.
const WIDTH: usize = 40;
/// Most differences in a line.
const MOST_CHANGES: usize = 8;
/// Longest combination in the picture; a wrapped line would spoil it.
const MOST_LETTERS: usize = 64;

/// Shows a run.
pub(crate) struct View<'a> {
    plan: &'a Plan,
    shown: Shown,
    begun: Instant,
    /// Outcomes that were in the log already.
    before: usize,
    /// The lines that the first cost and its numbers were read from, until they are shown.
    first: Vec<String>,
    is_first_known: bool,
}

enum Shown {
    Nothing,
    Lines,
    Bar(ProgressBar),
}

impl<'a> View<'a> {
    /// The view that fits standard error.
    pub(crate) fn new(plan: &'a Plan, history: &History, is_quiet: bool) -> Self {
        let shown = match (is_quiet, terminal::is_live()) {
            (true, _) => Shown::Nothing,
            (false, true) => Shown::Bar(bar(plan.study.budget as u64)),
            (false, false) => Shown::Lines,
        };
        let view = Self {
            plan,
            shown,
            begun: Instant::now(),
            before: history.done.len(),
            first: Vec::new(),
            is_first_known: false,
        };
        let space = &plan.study.space;
        let (knobs, combinations) = (space.knobs().len(), space.cardinality());
        let plural = if knobs == 1 { "" } else { "s" };
        view.note(&format!(
            "Tuning {knobs} knob{plural}, {} combinations, {} measurements{}",
            grouped(&combinations),
            plan.study.budget,
            if plan.study.limits.is_empty() { String::new() } else { format!(", keeping {}", plan.study.limits) }
        ));
        if view.before > 0 {
            view.note(&format!("{} of them are known already", view.before));
        }
        view
    }

    /// Prints a line that stays.
    pub(crate) fn note(&self, line: &str) {
        match &self.shown {
            Shown::Nothing => {}
            Shown::Lines => terminal::note(line),
            Shown::Bar(bar) => bar.suspend(|| terminal::note(line)),
        }
    }

    /// Takes the lines that a cost was read from; the first are shown with the next outcome.
    pub(crate) fn read(&mut self, lines: Vec<String>) {
        if !std::mem::replace(&mut self.is_first_known, true) {
            self.first = lines;
        }
    }

    /// Shows that a measurement begins.
    pub(crate) fn started(&self, history: &History, trial: &Trial) {
        self.redraw(history, Some(trial));
    }

    /// Shows the outcome of a measurement; `trial` is the last of the history's outcomes.
    pub(crate) fn finished(&mut self, history: &History, trial: &Trial, failure: Option<&str>) {
        let is_again = history.done.last().is_some_and(|place| history.is_again(*place));
        let again = if is_again { "  again" } else { "" };
        let (number, budget) = (history.done.len(), self.plan.study.budget);
        let text = self.text(history, trial, true);
        let is_best = history.best(self.plan.study.goal).is_some_and(|(best, _)| best == number);
        let first = std::mem::take(&mut self.first);
        let read = match first.is_empty() {
            true => String::new(),
            false => format!("  (read from `{}`)", first.join("`, `")),
        };
        let line = match (failure, trial.value()) {
            (Some(failure), _) => format!("{number:>4} of {budget}: failed{again}  {text}  ({failure})"),
            (None, value) => {
                let value = value.map_or_else(String::new, short);
                let best = if is_best { "  best" } else { "" };
                let numbers = self.numbers(trial);
                format!("{number:>4} of {budget}: {value}{numbers}{best}{again}  {text}{read}")
            }
        };
        match &self.shown {
            Shown::Lines => self.note(&line),
            Shown::Bar(_) if failure.is_some() || !first.is_empty() => self.note(&line),
            Shown::Bar(_) | Shown::Nothing => {}
        }
        self.redraw(history, None);
    }

    /// The readings of a trial, and the limits that it breaks.
    fn numbers(&self, trial: &Trial) -> String {
        let limits = &self.plan.study.limits;
        let broken = limits::joined(&limits.broken(&trial.margins));
        match (limits.is_empty(), broken.is_empty()) {
            (true, _) => String::new(),
            (false, true) => format!("  {}", limits.readings(&trial.numbers)),
            (false, false) => format!("  {}: breaks {broken}", limits.readings(&trial.numbers)),
        }
    }

    /// A combination, or with many knobs what differs and by how much.
    fn text(&self, history: &History, trial: &Trial, has_outcome: bool) -> String {
        let (space, goal) = (&self.plan.study.space, self.plan.study.goal);
        let start = Start::of(history).filter(|_| change::is_many(space));
        // The start itself is written out once.
        let Some(start) = start.filter(|start| !has_outcome || start.levels != trial.levels) else {
            return space.short_text(&trial.levels);
        };
        let best = history.best(goal).map(|(_, best)| best).filter(|best| best.levels != trial.levels);
        let (name, from, from_value) = match best {
            Some(best) => ("best", &best.levels[..], best.value()),
            None => ("start", start.levels, start.value),
        };
        let gain = trial
            .value()
            .zip(from_value)
            .map_or_else(String::new, |(value, from)| format!("{} ", change::value(value, from)));
        format!("{gain}from {name}: {}", change::levels(space, &trial.levels, from, MOST_CHANGES))
    }

    fn redraw(&self, history: &History, now: Option<&Trial>) {
        let Shown::Bar(bar) = &self.shown else { return };
        let done = history.done.len();
        bar.set_position(done as u64);
        let mut prefix = match history.failures() {
            0 => String::new(),
            failures => format!("{failures} failed  "),
        };
        if history.breaking() > 0 {
            prefix += &format!("{} break a limit  ", history.breaking());
        }
        if let Some(left) = self.left(done) {
            prefix += &format!("{} left", duration(left.as_secs()));
        }
        bar.set_prefix(prefix);
        let mut lines = Vec::new();
        if let Some(now) = now {
            lines.push(format!("now   {}", clipped(&self.text(history, now, false))));
        }
        if let Some((_, best)) = history.best(self.plan.study.goal) {
            lines.push(format!(
                "best  {}{}",
                short(best.value().unwrap_or(f64::NAN)),
                clipped(&format!("{}  {}", self.numbers(best), self.text(history, best, false)))
            ));
            lines.push(sparkline(&history.best_so_far(self.plan.study.goal), WIDTH));
        }
        bar.set_message(terminal::plain(&lines.join("\n")).into_owned());
    }

    /// Estimated time for the rest.
    fn left(&self, done: usize) -> Option<Duration> {
        let fresh = u32::try_from(done - self.before.min(done)).ok().filter(|fresh| *fresh > 0)?;
        let rest = u32::try_from(self.plan.study.budget.saturating_sub(done)).ok()?;
        Some(self.begun.elapsed() / fresh * rest)
    }

    /// Clears the moving picture.
    pub(crate) fn finish(self) {
        if let Shown::Bar(bar) = self.shown {
            bar.finish_and_clear();
        }
    }
}

/// A progress bar on standard error, with colour if welcome.
fn bar(length: u64) -> ProgressBar {
    let colour = if terminal::has_colour() { ".cyan" } else { "" };
    let template = format!("{{bar:30{colour}}} {{pos}}/{{len}}  {{prefix}}\n{{msg}}");
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr())
        .with_style(style.progress_chars("█▉▊▋▌▍▎▏░"))
}

/// Cuts a text to fit a line of the picture.
fn clipped(text: &str) -> String {
    match text.chars().count() > MOST_LETTERS {
        true => text.chars().take(MOST_LETTERS - 1).chain(['…']).collect(),
        false => text.to_string(),
    }
}
