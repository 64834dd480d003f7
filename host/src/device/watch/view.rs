//! Progress: a moving picture on a terminal, elsewhere one line per measurement; then the result.
//!
//! ```text
//! ███████▌                    23/64  2 failed  1 frame lost
//! last  0.62  3770 1174 0
//! best  0.31  3680 1174 0
//! █▆▆▃▃▃▂▂▁▁
//! ```
//!
//! Progress goes to standard error, so that standard output holds only the result. The sparkline
//! shows the best so far.

use std::fmt::Write;
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use trimtab::Event;
use trimtab_embedded::telemetry::{Cause, Frame};

use crate::device::stream::{Decoder, Kind, Run, Runs, Step};
use crate::draw::number::{short, sparkline};
use crate::terminal;

/// Width of the sparkline.
const WIDTH: usize = 40;
/// Longest combination in the picture; a wrapped line would spoil it.
const MOST_LETTERS: usize = 60;

/// Shows a run.
pub(super) struct View {
    shown: Shown,
    /// Number of missing frames in the last note.
    lost: u32,
    is_foreign_told: bool,
}

enum Shown {
    Nothing,
    Lines,
    Bar(ProgressBar),
}

impl View {
    /// The view that fits standard error.
    pub(super) fn new(is_quiet: bool) -> Self {
        let shown = match (is_quiet, terminal::is_live()) {
            (true, _) => Shown::Nothing,
            (false, true) => Shown::Bar(bar()),
            (false, false) => Shown::Lines,
        };
        Self { shown, lost: 0, is_foreign_told: false }
    }

    /// Prints a line that stays.
    pub(super) fn note(&self, line: &str) {
        match &self.shown {
            Shown::Nothing => {}
            Shown::Lines => terminal::note(line),
            Shown::Bar(bar) => bar.suspend(|| terminal::note(line)),
        }
    }

    /// Notes, once, that frames of another version came.
    pub(super) fn foreign(&mut self, found: u8) {
        if !std::mem::replace(&mut self.is_foreign_told, true) {
            self.note(&super::foreign(found));
        }
    }

    /// Shows a frame of the last run.
    pub(super) fn heard(&mut self, runs: &Runs, frame: &Frame<'_>) {
        let Some(run) = runs.last() else { return };
        if run.lost > self.lost {
            let (missing, be) = counted(run.lost - self.lost, "frame");
            self.note(&format!("{missing} {be} missing here; what follows cannot be checked until the next hello"));
        }
        self.lost = run.lost;
        match frame {
            Frame::Hello(_) => self.note(&headline(run)),
            Frame::End => self.note("the chip is done"),
            _ => {}
        }
        if let (Shown::Lines, Some(step)) = (&self.shown, run.steps.last())
            && matches!(frame, Frame::Measured { .. } | Frame::Happened { resumed: false, .. })
        {
            self.note(&line(run, step));
        }
    }

    /// Draws the last run as it is now.
    pub(super) fn redraw(&self, runs: &Runs, decoder: &Decoder) {
        let (Shown::Bar(bar), Some(run)) = (&self.shown, runs.last()) else { return };
        let measured = run.outcomes().count();
        let planned = run.about.as_ref().map_or(0, |about| about.budget).max(measured);
        bar.set_length(planned as u64);
        bar.set_position(measured as u64);
        let mut facts = Vec::new();
        if run.failures() > 0 {
            facts.push(format!("{} failed", run.failures()));
        }
        if decoder.lost() > 0 {
            facts.push(format!("{} lost", counted(decoder.lost(), "frame").0));
        }
        if decoder.garbled() > 0 {
            facts.push(format!("{} garbled", decoder.garbled()));
        }
        bar.set_prefix(facts.join("  "));
        let mut lines = Vec::new();
        if let Some(last) = run.outcomes().last() {
            lines.push(format!("last  {}  {}", outcome(last), clipped(&run.text(&last.levels))));
        }
        if let Some((_, best, value)) = run.best() {
            lines.push(format!("best  {}  {}", short(value.into()), clipped(&run.text(&best.levels))));
            lines.push(sparkline(&run.best_so_far(), WIDTH));
        }
        bar.set_message(terminal::plain(&lines.join("\n")).into_owned());
    }

    /// Clears the moving picture.
    pub(super) fn finish(self) {
        if let Shown::Bar(bar) = self.shown {
            bar.finish_and_clear();
        }
    }
}

/// A progress bar on standard error, with colour if welcome.
fn bar() -> ProgressBar {
    let colour = if terminal::has_colour() { ".cyan" } else { "" };
    let template = format!("{{bar:30{colour}}} {{pos}}/{{len}}  {{prefix}}\n{{msg}}");
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()).with_style(style.progress_chars("█▉▊▋▌▍▎▏░"))
}

/// The first line of a run.
fn headline(run: &Run) -> String {
    let Some(about) = &run.about else { return String::new() };
    let how = match about.cause {
        Cause::New => "starts",
        Cause::Resumed => "goes on from its log",
        Cause::Rebuilt => "starts over with other records or another configuration",
    };
    let plan = if about.budget > 0 { format!(", {} measurements planned", about.budget) } else { String::new() };
    format!("{} {how}: seed {}{plan}", run.name(), about.seed)
}

/// A step in one line.
fn line(run: &Run, step: &Step) -> String {
    let text = run.text(&step.levels);
    let what = match (step.event, step.kind) {
        (Event::Enqueued, _) => return format!("      queued: {text}"),
        (Event::Cancelled, _) => return format!("      cancelled: {text}"),
        (Event::Asked, _) => return format!("      asked: {text}"),
        (_, Kind::Told) => format!("{}, not asked for", outcome(step)),
        _ => outcome(step),
    };
    let number = run.outcomes().count();
    let budget = run.about.as_ref().map_or(0, |about| about.budget);
    let of = if budget > 0 { format!(" of {budget}") } else { String::new() };
    let is_best = run.best().is_some_and(|(best, _, _)| best == number);
    format!("{number:>4}{of}: {what}{}  {text}", if is_best { "  best" } else { "" })
}

fn outcome(step: &Step) -> String {
    let broken = if step.is_kept() { "" } else { ", breaks a limit" };
    step.value().map_or_else(|| "failed".into(), |value| format!("{}{broken}", short(value.into())))
}

/// The result in a few lines.
pub(super) fn summary(runs: &Runs, decoder: &Decoder, log: Option<&Path>, is_quiet: bool) -> String {
    let Some(run) = runs.last() else { return String::new() };
    let best = run.best().map(|(number, step, value)| (number, run.text(&step.levels), short(value.into())));
    if is_quiet {
        let none = if run.breaking() > 0 { "nothing keeps the limits\n" } else { "nothing was measured\n" };
        return best.map_or_else(|| none.into(), |(_, text, value)| format!("{value}  {text}\n"));
    }
    let mut text = String::new();
    let mut row = |name: &str, what: String| {
        let _ = writeln!(text, "{name:<9} {what}");
    };
    let (measured, failures) = (run.outcomes().count(), run.failures());
    let end = if run.is_over { "" } else { ", not at its end" };
    let broken = if run.breaking() > 0 { format!(", {} break a limit", run.breaking()) } else { String::new() };
    row("run", format!("{}: {measured} measured{broken}, {failures} failed{end}", run.name()));
    if let Some((number, levels, value)) = best {
        row("best", format!("{value}  {levels}  (measurement {number})"));
    }
    let hellos = runs.all.len();
    let others = if hellos > 1 { format!(" in {hellos} runs, of which this is the last") } else { String::new() };
    let (lost, garbled) = (decoder.lost(), decoder.garbled());
    row("stream", format!("{} frames{others}, {lost} lost, {garbled} garbled", runs.frames));
    if let Some(path) = log {
        row("log", format!("{}; check and draw it: trimtab replay {}", path.display(), path.display()));
    }
    text
}

/// A count with its noun, and the verb that goes with it.
fn counted(count: u32, noun: &str) -> (String, &'static str) {
    if count == 1 { (format!("1 {noun}"), "is") } else { (format!("{count} {noun}s"), "are") }
}

/// Cuts a text to fit a line of the picture.
fn clipped(text: &str) -> String {
    match text.chars().count() > MOST_LETTERS {
        true => text.chars().take(MOST_LETTERS - 1).chain(['…']).collect(),
        false => text.to_string(),
    }
}
