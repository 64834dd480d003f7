//! The options of `trimtab tune`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use regex::Regex;
use trimtab::Noise;
use trimtab_sizes::MOST_PENDING;

use crate::session::limits::{self, Limit};
use crate::session::noise;
use crate::session::record::MOST_VALUES;
use crate::session::study::BUDGET;
use crate::space::NamedKnob;

const HELP: &str = "\
Knobs:
  opt=O1,O2,O3            words have no order
  unroll=1,2,4,8          numbers have: near levels are expected to perform alike
  block=16..256:16        16 to 256 in steps of 16
  gain=log:1,10,100       by ratio instead of by difference
  mux=nominal:1,2,3       numbers without order
  unroll=on:-funroll-loops,off:   with a flag per level, or none; {flags} in the command becomes all flags
  opt=O1,*O2,O3           O2 is the default: what --start does not name has its default, or else its first level

Forbidden: =, !=, <, <=, >, >= between a knob and a level; &, |, !, parentheses. Put levels with blanks in quotes.

The command runs without a shell, once per measurement. {name} becomes a knob's level; every knob is also in the
environment, as TRIMTAB_<NAME>; {slot} is the number of the job, from 1 to --jobs. An exit code other than 0, no number, or more time than --timeout is a failed
measurement: it counts, the model learns from it, and the run goes on.

Limits: a name as the command prints it, <, <=, > or >=, and a bound; log(name) for numbers that compare by ratio. The
best is the best that keeps them all. Of `time: 5.2 ms`, `time = 5.2`, `time 5.2` or `{\"time\": 5.2}` the last counts.

Examples:
  trimtab tune --knob opt=O1,O2,O3,Os --knob unroll=1,2,4,8 --budget 16 --log run.jsonl -- ./measure.sh {opt} {unroll}
  trimtab tune --knob level=1..9 --knob threads=1,2,4,8 --time --repeat 3 -- zstd -qkf -{level} -T{threads} data.tar
  trimtab tune --knob size=1..64 --shell -- 'make -s SIZE={size} && ./bench | tail -1'
  trimtab tune --space space.toml --maximize --extract 'rate: ([0-9.]+)' --jobs 4 --log run.jsonl -- ./bench
  trimtab tune --knob clock=1..9 --knob volt=1..5 --cost time --limit 'watts<3' -- ./bench {clock} {volt}
  trimtab report run.jsonl            what was learned, as one page
  trimtab export run.jsonl --csv      the measurements, for a spreadsheet

After Ctrl-C or a crash, the same command with the same --log goes on; a larger --budget extends a finished run.";

/// Tune anything that a command can measure: compiler flags, parameters, instruments
///
/// Chooses levels, runs the command with them, reads the cost that it prints, and learns: after
/// some tens of measurements it has usually found good levels among thousands of combinations or
/// more.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct TuneArgs {
    /// A knob and its levels, such as opt=O1,O2,O3 or block=16..256:16; one option per knob
    #[arg(short, long, value_name = "NAME=LEVELS", required_unless_present = "space")]
    pub(crate) knob: Vec<NamedKnob>,
    /// Knobs and forbidden combinations from a TOML or JSON file; --knob and --forbid add to them
    #[arg(long, value_name = "FILE")]
    pub(crate) space: Option<PathBuf>,
    /// Never measure combinations such as 'opt=O1 & unroll=8'; one option per condition
    #[arg(long, value_name = "EXPRESSION")]
    pub(crate) forbid: Vec<String>,
    /// Knobs that matter only at some levels of an earlier one, such as 'unroll=on: factor,depth'
    ///
    /// Combinations that differ only in knobs that do not matter are one: measured once. Such knobs
    /// are null in a log and left out elsewhere; a placeholder gets their first level, {flags} nothing.
    #[arg(long, value_name = "NAME=LEVELS: NAMES")]
    pub(crate) only_if: Vec<String>,
    /// Measure this combination first, such as opt=O2,unroll=4; up to 8 options
    ///
    /// Knobs that it does not name have their default, the level marked with a star, or else their
    /// first. Without this option, the run starts with the defaults if a level is marked.
    #[arg(long, value_name = "NAME=LEVEL,…")]
    pub(crate) start: Vec<String>,
    /// Number of measurements, including failed ones
    #[arg(short, long, value_name = "N", default_value_t = 100, value_parser = budget)]
    pub(crate) budget: usize,
    /// Seed: the same seed and costs give the same run
    #[arg(short, long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Noise of the costs: auto, none (nothing is measured twice), or its standard deviation
    ///
    /// With auto, the model finds out. If there is noise, good combinations are measured again when
    /// that is worth more than a new one, the last tenth of the budget compares the best three, and
    /// the result is the best by the model.
    #[arg(long, value_name = "SD", default_value = "auto", value_parser = noise::parse)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) noise: Noise,
    /// Larger costs are better
    #[arg(long)]
    pub(crate) maximize: bool,
    /// Take the cost from the last match of this regular expression: its first group, or all of it
    /// [default: the last number on standard output]
    #[arg(long, value_name = "REGEX", value_parser = expression)]
    pub(crate) extract: Option<Regex>,
    /// Take the cost by the name that it is printed with, such as time in `time: 5.2 ms`
    #[arg(long, value_name = "NAME", value_parser = limits::name, conflicts_with_all = ["extract", "time"])]
    pub(crate) cost: Option<String>,
    /// Keep a further number that is printed with its name below or above a bound: 'watts<3'; up to 4 options
    ///
    /// The best is the best that keeps all limits. The cost then needs --cost, --extract or --time.
    /// 'log(errors)<1e-6' is for numbers that compare by their ratio.
    #[arg(long, value_name = "NAME<BOUND")]
    pub(crate) limit: Vec<Limit>,
    /// Take the time of the command, in seconds, as the cost
    #[arg(long, conflicts_with = "extract")]
    pub(crate) time: bool,
    /// Run the command N times per measurement
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MOST_VALUES as i64))]
    pub(crate) repeat: u32,
    /// What to make of the N costs [default: median; with --time, min]
    #[arg(long, value_enum, requires = "repeat")]
    pub(crate) by: Option<By>,
    /// End a command that takes longer, as a failed measurement: 30, 500ms, 2m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// Begin no measurement after this time, and end with the result so far: 30m, 2h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) max_time: Option<Duration>,
    /// End the run once it is settled: 25 more measurements are expected to gain less than this share
    ///
    /// A share of the standard deviation of the costs, such as 1%: the last 25 measurements gained
    /// less, and the model expects 25 more to gain less. The budget stays the limit.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) until_settled: Option<f32>,
    /// End the run when the first N measurements have all failed; 0: never
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) give_up: usize,
    /// Measure N combinations at once, up to 64
    ///
    /// Each has a slot from 1 to N of its own: {slot} in the command, or TRIMTAB_SLOT. So N boards in a
    /// rack get one measurement at a time.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = jobs)]
    pub(crate) jobs: usize,
    /// Exit codes, such as ssh's 255, that say that a board or machine was lost: measure again
    ///
    /// A signal is 128 more than its number. Such a measurement counts for nothing, and another
    /// slot repeats it. A combination that is lost
    /// three times, while others succeed, has failed; a slot that loses three in a row is not used any
    /// more. If none is left the run ends; with a log, the same command goes on.
    #[arg(long, value_name = "CODES", value_delimiter = ',', value_parser = code)]
    pub(crate) lost: Vec<i32>,
    /// Keep the run in this file; if the file exists, go on with that run
    #[arg(short, long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Begin with what earlier boards taught: a prior that trimtab learn wrote for the same knobs
    ///
    /// The best of those boards is measured first. A board unlike them is noticed within a few
    /// measurements, and the run goes on without the prior.
    #[arg(long, value_name = "FILE")]
    pub(crate) prior: Option<PathBuf>,
    /// Begin with the measurements of this table, which count: a column per knob, and the cost
    ///
    /// As spreadsheets and trimtab export write it, with the names of the columns in the first line.
    /// A number that a --limit is on has a column of its name.
    /// The cost is the column `cost`, or else `value`, or else the only one that is no knob; `failed`
    /// or nothing in it is a failed measurement.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) import: Option<PathBuf>,
    /// Run the command through a shell, its words joined by blanks
    #[arg(long)]
    pub(crate) shell: bool,
    /// Show no progress and only the best result
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// The command that measures, after --
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// How one cost is made from several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// The middle one, which outliers do not move
    Median,
    /// The average; the model is told every cost, and so the noise
    Mean,
    /// The smallest
    Min,
}

fn budget(text: &str) -> Result<usize, String> {
    let most = BUDGET;
    match text.parse() {
        Ok(budget) if (1..=most).contains(&budget) => Ok(budget),
        _ => Err(format!("the tuner keeps up to {most} measurements; write a number from 1 to {most}")),
    }
}

fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(jobs) if (1..=MOST_PENDING).contains(&jobs) => Ok(jobs),
        _ => Err(format!("write a number from 1 to {MOST_PENDING}, the most measurements that can be pending")),
    }
}

fn code(text: &str) -> Result<i32, String> {
    match text.trim().parse() {
        Ok(code) if (1..=255).contains(&code) => Ok(code),
        _ => Err("write exit codes from 1 to 255, such as 255 or 75,137; 0 is success".into()),
    }
}

fn expression(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| error.to_string())
}

/// Parses a time such as 30, 1.5s, 500ms, 2m or 1h.
fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale = match unit {
        "" | "s" => Some(1.0),
        "ms" => Some(1e-3),
        "m" | "min" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    let seconds = scale.zip(number.trim().parse::<f64>().ok()).map(|(scale, number)| scale * number);
    match seconds {
        Some(seconds) if (1e-3..=1e7).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("write a time such as 30, 1.5s, 500ms, 2m or 1h".into()),
    }
}

/// Parses a share such as 1%, 0.5 % or 0.01.
fn share(text: &str) -> Result<f32, String> {
    let (number, scale) = text.trim().strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    match number.trim().parse::<f32>().map(|number| number * scale) {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("write a share such as 1% or 0.01, above 0 and at most 100%".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_as_people_write_them() {
        for (text, expected) in [("1%", 0.01), (" 0.5 % ", 0.005), ("0.01", 0.01), ("100%", 1.0)] {
            assert_eq!(share(text), Ok(expected), "{text}");
        }
        for text in ["", "%", "0", "0%", "-1%", "101%", "2", "nan", "1%%", "one"] {
            assert!(share(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_as_people_write_them() {
        for (text, milliseconds) in
            [("30", 30_000), ("1.5s", 1500), ("500ms", 500), ("2 m", 120_000), ("1h", 3_600_000)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "s", "-1", "0", "1e300", "nan", "inf", "3 weeks", "é"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
