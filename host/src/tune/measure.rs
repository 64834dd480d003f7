//! One measurement: run the command with its levels and find the cost in its output.
//!
//! | failure | when |
//! |---|---|
//! | exit code 3, ended by signal 11 | the command failed or was killed |
//! | no number, not finite | its standard output has no cost |
//! | more than 30 s | `--timeout` |
//!
//! An exit code of `--lost` is no failure: the machine that measured was lost, and the combination is measured again.
//!
//! **Choices**
//! - A failure is an outcome like any other.
//! - A program that is missing ends the run, unless its name depends on a knob: it would fail every
//!   time. Levels that cannot be passed to it (a NUL, too long) are a failure.
//! - The last 64 KiB of each output of a failure are kept.

use std::io::ErrorKind;
use std::time::Duration;

use regex::Regex;
use trimtab::Level;

use super::args::By;
use super::extract;
use super::history::last_line;
use super::process::{self, Ended, Finished, Stop};
use super::template::Template;
use crate::error::Error;
use crate::space::NamedSpace;

/// Bytes kept from the end of each output of a failure.
pub(super) const MOST_KEPT: usize = 64 << 10;

/// How to find the cost.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    LastNumber,
    Extract(Regex),
    /// Wall time in seconds.
    Time,
}

/// How often the command runs per measurement, and what becomes of the costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeat {
    pub(crate) count: u32,
    pub(crate) by: By,
}

impl Repeat {
    /// One cost from several.
    fn cost(self, costs: &[f64]) -> f64 {
        let mut sorted = costs.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match (self.by, &sorted[..]) {
            (_, []) => f64::NAN,
            (By::Min, [least, ..]) => *least,
            (By::Mean, _) => costs.iter().map(|cost| cost / costs.len() as f64).sum(),
            (By::Median, _) if sorted.len().is_multiple_of(2) => sorted[middle - 1] / 2.0 + sorted[middle] / 2.0,
            (By::Median, _) => sorted[middle],
        }
    }
}

/// Measures combinations.
#[derive(Clone, Debug)]
pub(crate) struct Measurer {
    pub(crate) space: NamedSpace,
    pub(crate) template: Template,
    pub(crate) rule: Rule,
    pub(crate) repeat: Repeat,
    pub(crate) timeout: Option<Duration>,
    /// Exit codes that say that the measurement was lost.
    pub(crate) lost: Vec<i32>,
}

/// The result of a measurement.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The cost, the costs that it is the mean of, and the line that the last was read from.
    Value {
        value: f64,
        values: Vec<f64>,
        line: Option<String>,
    },
    Failed(Failure),
    /// The board or machine was lost, and the measurement with it.
    Lost(Failure),
    /// The user stopped it.
    Stopped,
}

/// Why there is no value, and the end of what the command printed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) why: String,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Failure {
    /// The reason, with the last line of standard error.
    pub(crate) fn line(&self) -> String {
        match last_line(&self.stderr) {
            Some(last) => format!("{}: {last}", self.why),
            None => self.why.clone(),
        }
    }
}

impl Measurer {
    /// Runs a command once and takes its last number.
    pub(crate) fn of(space: NamedSpace, template: Template) -> Self {
        Self {
            space,
            template,
            rule: Rule::LastNumber,
            repeat: Repeat { count: 1, by: By::Median },
            timeout: None,
            lost: Vec::new(),
        }
    }

    /// Measures a combination on a slot; also returns the total seconds that the command took.
    pub(crate) fn measure(&self, slot: usize, levels: &[Level], stop: &Stop) -> Result<(Outcome, f64), Error> {
        let (mut costs, mut last, mut total) = (Vec::new(), None, 0.0);
        for _ in 0..self.repeat.count {
            let finished = match process::run(&mut self.template.command(slot, &self.space, levels), self.timeout, stop)
            {
                Ok(finished) => finished,
                Err(error) => return Ok((self.not_started(levels, &error)?, total)),
            };
            let seconds = finished.time.as_secs_f64();
            total += seconds;
            match self.judge(finished) {
                Outcome::Value { value, line, .. } => {
                    costs.push(value);
                    last = line;
                }
                other => return Ok((other, total)),
            }
        }
        let value = self.repeat.cost(&costs);
        let values = if self.repeat.by == By::Mean && costs.len() > 1 { costs } else { Vec::new() };
        Ok((Outcome::Value { value, values, line: last }, total))
    }

    /// Judges one run of the command.
    fn judge(&self, finished: Finished) -> Outcome {
        let text = String::from_utf8_lossy(&finished.stdout);
        let text = if finished.is_cut { extract::whole(&text) } else { &text };
        let is_lost = matches!(finished.ended, Ended::ByItself(status) if self.lost.contains(&code(status)));
        let read = |cost: extract::Cost| (cost.value, Some(cost.line));
        let cost = match finished.ended {
            Ended::Stopped => return Outcome::Stopped,
            Ended::TimedOut => Err(format!("more than {} s", self.timeout.unwrap_or_default().as_secs_f64())),
            Ended::ByItself(status) if !status.success() => Err(ending(status)),
            Ended::ByItself(_) => match &self.rule {
                Rule::LastNumber => extract::last_number(text).map(read),
                Rule::Extract(expression) => extract::extracted(text, expression).map(read),
                Rule::Time => Ok((finished.time.as_secs_f64(), None)),
            },
        };
        match cost {
            Ok((value, line)) => Outcome::Value { value, values: Vec::new(), line },
            Err(why) => {
                let failure = Failure { why, stdout: kept(&finished.stdout), stderr: kept(&finished.stderr) };
                match is_lost {
                    true => Outcome::Lost(failure),
                    false => Outcome::Failed(failure),
                }
            }
        }
    }

    /// A failure if another combination may start another program, else an error.
    fn not_started(&self, levels: &[Level], error: &std::io::Error) -> Result<Outcome, Error> {
        let program = self.template.filled(&self.space, levels).swap_remove(0);
        let why = format!("cannot start `{program}`: {error}");
        // The machine's trouble, not the combination's.
        if matches!(error.kind(), ErrorKind::OutOfMemory | ErrorKind::WouldBlock) || is_out_of_files(error) {
            return Err(Error::Failed(format!("{why}; free some, or use fewer --jobs: the same command goes on")));
        }
        let is_missing = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied);
        match is_missing && self.template.has_fixed_program() {
            true => {
                Err(Error::Failed(format!("{why}; write the path of a program, or use --shell for a shell command")))
            }
            false => Ok(Outcome::Failed(Failure { why, stdout: String::new(), stderr: String::new() })),
        }
    }
}

/// Whether this process or the machine has no room for another open file.
#[cfg(unix)]
fn is_out_of_files(error: &std::io::Error) -> bool {
    use nix::errno::Errno;
    let full = [Errno::EMFILE, Errno::ENFILE].map(|errno| errno as i32);
    error.raw_os_error().is_some_and(|code| full.contains(&code))
}

#[cfg(not(unix))]
fn is_out_of_files(_: &std::io::Error) -> bool {
    false
}

/// The exit code; for a signal what a shell says, 128 more than its number.
fn code(status: std::process::ExitStatus) -> i32 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128 + signal;
    }
    status.code().unwrap_or_default()
}

/// An exit code or signal in words.
fn ending(status: std::process::ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("ended by signal {signal}");
    }
    status.code().map_or_else(|| "ended without an exit code".into(), |code| format!("exit code {code}"))
}

/// The end of an output as text.
fn kept(bytes: &[u8]) -> String {
    let start = bytes.len().saturating_sub(MOST_KEPT);
    String::from_utf8_lossy(&bytes[start..]).into_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const ONCE: Repeat = Repeat { count: 1, by: By::Median };

    fn measured(script: &str, rule: Rule, repeat: Repeat) -> Outcome {
        let space = NamedSpace::new(vec!["x=1,2".parse().unwrap()]).unwrap();
        let words = ["sh", "-c", script].map(String::from);
        let template = Template::parse(&words, false, &space).unwrap();
        let measurer =
            Measurer { space, template, rule, repeat, timeout: Some(Duration::from_millis(300)), lost: vec![75, 143] };
        measurer.measure(1, &[1], &Stop::default()).unwrap().0
    }

    fn why(script: &str) -> String {
        match measured(script, Rule::LastNumber, ONCE) {
            Outcome::Failed(failure) => failure.line(),
            other => panic!("{script}: {other:?}"),
        }
    }

    #[test]
    fn every_kind_of_failure_says_why() {
        assert_eq!(why("echo 1; echo no >&2; exit 3"), "exit code 3: no");
        assert_eq!(why("echo nothing"), "it printed no number");
        assert_eq!(why("echo nan"), "`nan` is not finite, or too large");
        assert_eq!(why("kill -9 $$"), "ended by signal 9");
        assert_eq!(why("sleep 5"), "more than 0.3 s");
        let lost = measured("echo gone >&2; exit 75", Rule::LastNumber, ONCE);
        assert!(matches!(lost, Outcome::Lost(failure) if failure.line() == "exit code 75: gone"));
        let lost = measured("kill -15 $$", Rule::LastNumber, ONCE);
        assert!(matches!(lost, Outcome::Lost(failure) if failure.line() == "ended by signal 15"));
    }

    #[test]
    fn levels_come_by_word_and_by_environment() {
        let outcome = measured("echo {x} $TRIMTAB_X$TRIMTAB_X", Rule::LastNumber, ONCE);
        assert!(matches!(outcome, Outcome::Value { value: 22.0, .. }));
        let outcome = measured("sleep 0.05", Rule::Time, Repeat { count: 2, by: By::Min });
        let Outcome::Value { value, .. } = outcome else { panic!("no time") };
        assert!(value >= 0.05);
    }

    #[test]
    fn one_cost_is_made_from_several() {
        let cost = |by, costs: &[f64]| Repeat { count: costs.len() as u32, by }.cost(costs);
        assert_eq!(cost(By::Median, &[9.0, 1.0, 2.0]), 2.0);
        assert_eq!(cost(By::Median, &[9.0, 1.0, 2.0, 4.0]), 3.0);
        assert_eq!(cost(By::Mean, &[9.0, 1.0, 2.0]), 4.0);
        assert_eq!(cost(By::Min, &[9.0, 1.0, 2.0]), 1.0);
        assert_eq!((cost(By::Mean, &[1e308; 4]), cost(By::Median, &[1e308; 4])), (1e308, 1e308));
    }

    #[test]
    fn a_program_that_is_missing_is_fatal_unless_a_knob_names_it() {
        let space = NamedSpace::new(vec!["x=1,2".parse().unwrap()]).unwrap();
        let measure = |word: &str| {
            let template = Template::parse(&[word.to_string()], false, &space).unwrap();
            let measurer = Measurer::of(space.clone(), template);
            measurer.measure(1, &[0], &Stop::default())
        };
        assert!(measure("/no/such").unwrap_err().to_string().contains("cannot start `/no/such`"));
        assert!(matches!(measure("/no/such{x}"), Ok((Outcome::Failed(_), _))));
    }

    #[test]
    fn a_level_that_cannot_be_started_is_a_failed_measurement() {
        let long = "x".repeat(4 << 20);
        for level in ["a\0b", &long] {
            let knob = crate::space::NamedKnob::new("x", vec![level.into(), "short".into()], None).unwrap();
            let space = NamedSpace::new(vec![knob]).unwrap();
            let template = Template::parse(&["echo".into(), "1{x}".into()], false, &space).unwrap();
            let measurer = Measurer::of(space, template);
            let (outcome, _) = measurer.measure(1, &[0], &Stop::default()).unwrap();
            assert!(matches!(outcome, Outcome::Failed(failure) if failure.why.starts_with("cannot start `echo`")));
        }
    }
}
