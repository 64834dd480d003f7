//! Progress of a bench: a bar with the time left on a terminal, occasional lines elsewhere.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::job::Job;
use crate::terminal;

/// Interval between lines where there is no bar.
const LINE_EVERY: Duration = Duration::from_secs(20);

pub(crate) struct Progress {
    bar: ProgressBar,
    /// When the last line was written; `None` if no lines are shown.
    lines: Option<Mutex<Instant>>,
}

impl Progress {
    pub(crate) fn new(jobs: usize, done: usize, is_quiet: bool) -> Self {
        let is_live = terminal::is_live() && !is_quiet;
        let target = if is_live { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(jobs as u64), target).with_position(done as u64);
        bar.reset_eta();
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {eta} left  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("█▌░"));
        bar.enable_steady_tick(Duration::from_millis(500));
        if done > 0 && !is_quiet {
            terminal::note(&format!("{done} of {jobs} runs are already done"));
        }
        let lines = (!is_live && !is_quiet).then(|| Mutex::new(Instant::now()));
        Self { bar, lines }
    }

    /// Counts one more run.
    pub(crate) fn done(&self, job: &Job) {
        self.bar.inc(1);
        self.bar.set_message(job.to_string());
        let Some(lines) = &self.lines else { return };
        let mut last = lines.lock().unwrap_or_else(|lock| lock.into_inner());
        if last.elapsed() >= LINE_EVERY {
            *last = Instant::now();
            let (done, jobs) = (self.bar.position(), self.bar.length().unwrap_or(0));
            terminal::note(&format!("{done} of {jobs} runs, {} s left", self.bar.eta().as_secs()));
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
