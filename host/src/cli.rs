//! The command line: what can be asked of `trimtab`.
//!
//! **Choices.** Without a subcommand `trimtab` tunes the antenna, so the options of `trimtab antenna` work on `trimtab`
//! itself. Values are checked while they are read, so that clap names the option, shows the message and exits with 2.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use trimtab_firmware::antenna::OBSERVATIONS;

use crate::bench::{list, report, runs};
use crate::device::{replay, watch};
use crate::draw::quantity::{Frequency, Load};
use crate::error::Error;
use crate::{antenna, generate, serve, tune};

/// Tunes discrete settings by Bayesian optimization, with the code that runs on the chip.
///
/// Without a command it tunes a simulated antenna matching network: 7 switched inductors, 7 switched capacitors
/// and a topology relay, 32 768 states. It measures 120 of them and draws a picture of where.
#[derive(Debug, Parser)]
#[command(
    name = "trimtab",
    version,
    args_conflicts_with_subcommands = true,
    max_term_width = 100,
    after_help = "Examples:
  trimtab                                     tune 35-j120 ohm at 7.1 MHz
  trimtab --load 12.5+j40 --frequency 14.1M   another antenna
  trimtab --noise 0.01 --seed 7               with an SWR bridge that errs
  trimtab --json --no-svg > run.json          for a program to read
  trimtab antenna-bench                       against random and local search, over many antennas
  trimtab bench --problem paper --out runs    the paper's experiments, then: trimtab report runs"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    antenna: AntennaArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Tune a simulated antenna matching network (what `trimtab` alone does)
    Antenna(AntennaArgs),
    /// Compare trimtab with random and local search over many antennas
    ///
    /// Every method tunes the same antennas with the same seeds and the same number of measurements. The antennas are
    /// drawn from --loads-seed: a frequency in an HF amateur band, a resistance from 5 to 1000 ohm (evenly on a
    /// logarithmic scale), a reactance from -500 to 500 ohm; kept only if the best reachable SWR is below 1.5.
    AntennaBench(BenchArgs),
    /// Race methods on problems: the paper's experiments and more
    ///
    /// Every method gets the same instances, initial points and number of evaluations. A run is one file in --out, written
    /// when it is whole: after Ctrl-C the same command goes on where it stopped. `trimtab list` shows problems and methods,
    /// `trimtab report DIR` draws the runs.
    #[command(after_long_help = RACE_HELP)]
    Bench(RaceArgs),
    /// Draw the runs of `trimtab bench`, or a log of `trimtab tune`, as one HTML page
    Report(ReportArgs),
    /// List the problems and methods of `trimtab bench`
    List(ListArgs),
    /// Tune anything that a command can measure: compiler flags, parameters, instruments
    ///
    /// Chooses levels, runs the command with them, reads the cost that it prints, and learns: after some tens of measurements it has found
    /// good levels among thousands or more.
    #[command(after_long_help = tune::HELP)]
    Tune(Box<tune::TuneArgs>),
    /// Tune for a program in any language: JSON lines on standard input and output
    ///
    /// The program asks what to measure and tells what it measured, one JSON object a line; every line gets one answer. The space is in a
    /// file, or in the program's first message. What is wrong is answered with an error and changes nothing.
    #[command(after_long_help = SERVE_HELP)]
    Serve(ServeArgs),
    /// Watch a chip tune itself: its stream from a serial port or standard input, live
    ///
    /// Shows every measurement as it comes and keeps the frames in a log. Survives garbage on the line and a port that goes away.
    #[command(after_long_help = watch::HELP)]
    Watch(watch::WatchArgs),
    /// Repeat a chip's run on this machine, compare every proposal bit by bit, and draw it
    #[command(after_long_help = replay::HELP)]
    Replay(replay::ReplayArgs),
    /// Print a script that completes trimtab's commands and options
    #[command(after_help = "Example:\n  trimtab completions bash > ~/.local/share/bash-completion/completions/trimtab")]
    Completions(generate::CompletionsArgs),
    /// Print the manual page
    #[command(after_help = "Example:\n  trimtab man --out ~/.local/share/man/man1")]
    Man(generate::ManArgs),
}

const RACE_HELP: &str = "\
Examples:
  trimtab bench --problem ising --method trimtab,local-search,random --seeds 5 --out runs
  trimtab bench --problem paper --method all --mask both --out runs       the paper's section 7
  trimtab bench --problem bqp:m=16,lambda=0 --method trimtab --out runs   with other parameters
  trimtab bench --instance my.json --method all --out runs                an instance from a file

On many machines, each takes its share and all write to one directory (or to several: `trimtab report` merges them):
  Slurm        sbatch --array=0-15 --wrap 'trimtab bench --problem all --method all --out runs --shard $SLURM_ARRAY_TASK_ID/16'
  Kubernetes   an indexed Job of 16 completions whose command is
               sh -c 'trimtab bench --problem all --method all --out /runs --shard $JOB_COMPLETION_INDEX/16'";

/// Options of the race.
#[derive(Debug, Args)]
pub(crate) struct RaceArgs {
    /// Problems: names with or without parameters, `paper` for the paper's, `beyond` for the others, `all` for all
    ///
    /// Parameters follow a colon: ising:lambda=1e-4 or bqp:m=16,lambda=0. Several problems are several words or options.
    #[arg(short, long, value_name = "PROBLEM", num_args = 1.., required_unless_present = "instance")]
    pub(crate) problem: Vec<String>,
    /// Methods, with commas between them, `main` for all but some slow variants, or `all`
    #[arg(short, long, value_name = "METHOD", num_args = 1.., value_delimiter = ',', default_value = "all")]
    pub(crate) method: Vec<String>,
    /// A problem instance from a JSON file, whatever the seed
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) instance: Vec<PathBuf>,
    /// How many seeds; each has its own instance and initial points
    #[arg(short, long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) seeds: u64,
    /// The first seed
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub(crate) first_seed: u64,
    /// Evaluations a run, initial ones included
    #[arg(short, long, value_name = "N", default_value_t = 100, value_parser = count)]
    pub(crate) budget: usize,
    /// Initial evaluations, the same for all methods of a seed
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = count)]
    pub(crate) init: usize,
    /// Where the runs are kept
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Rename the levels at random, one mask a seed: `on` alone, or `both` with and without
    #[arg(long, value_name = "WHICH", default_value = "off", default_missing_value = "on", num_args = 0..=1)]
    pub(crate) mask: Masks,
    /// How many runs at once [default: one a core]
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Take every n-th run from the i-th on, i from 0, so that n machines share the work
    #[arg(long, value_name = "i/n", default_value = "0/1")]
    pub(crate) shard: Shard,
    /// The Mobile Price table (train.csv) for sparse-classification, in place of generated data
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// Show no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Which runs are masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Masks {
    /// None
    Off,
    /// All
    On,
    /// Each once with and once without
    Both,
}

/// A part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    pub(crate) index: usize,
    pub(crate) of: usize,
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((index, of)) if index < of => Ok(Self { index, of }),
            _ => Err("write i/n with i from 0 to n − 1, for example 0/4".into()),
        }
    }
}

/// Options of the report.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Directories of `trimtab bench --out`, several are merged; or one log of `trimtab tune --log`
    #[arg(required = true, value_name = "DIR|LOG")]
    pub(crate) runs: Vec<PathBuf>,
    /// Where the page and its figures go [default: the first directory; beside the log]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The command that the page names as its source
    #[arg(long, value_name = "TEXT")]
    pub(crate) command: Option<String>,
}

const SERVE_HELP: &str = "\
Example: each line that is sent, and its answer below it
  {\"op\":\"init\",\"knobs\":[{\"name\":\"opt\",\"levels\":[\"O1\",\"O2\",\"O3\"]},{\"name\":\"unroll\",\"levels\":[1,2,4,8]}],\"seed\":1}
  {\"ok\":true,\"combinations\":\"12\"}
  {\"op\":\"ask\"}
  {\"id\":1,\"config\":{\"opt\":\"O3\",\"unroll\":2},\"mean\":null,\"std_dev\":null}
  {\"op\":\"tell\",\"id\":1,\"value\":0.31}
  {\"ok\":true,\"observations\":1,\"best\":{\"config\":{\"opt\":\"O3\",\"unroll\":2},\"value\":0.31}}

Other ops: tell with \"failed\":true, enqueue, cancel, predict, best, export (which gives the init that goes on from there), quit.

Limits: 256 knobs of 256 levels, 1024 measurements, 8 asks awaited at once, 4 MiB a line.";

/// Options of the service.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The space, a TOML or JSON file [default: in the first message]
    #[arg(long, value_name = "FILE")]
    pub(crate) space: Option<PathBuf>,
    /// Seed of everything random: the same seed and outcomes give the same asks
    #[arg(short, long, default_value_t = serve::SEED, requires = "space")]
    pub(crate) seed: u64,
    /// The most measurements, from 1 to 1024
    #[arg(short, long, value_name = "N", default_value_t = serve::BUDGET, value_parser = serve_budget, requires = "space")]
    pub(crate) budget: usize,
    /// Larger values are better
    #[arg(long, requires = "space")]
    pub(crate) maximize: bool,
}

/// Options of the list.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of the antenna job.
#[derive(Debug, Args)]
pub(crate) struct AntennaArgs {
    /// The antenna's impedance in ohm, such as 35-j120, 12.5+j40 or 50
    #[arg(long, value_name = "R+jX", default_value = "35-j120", allow_hyphen_values = true)]
    pub(crate) load: Load,
    /// The frequency, such as 7.1M, 7100k, 7.1MHz or 7100000
    #[arg(short, long, value_name = "HZ", default_value = "7.1M", allow_hyphen_values = true)]
    pub(crate) frequency: Frequency,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArgs,
    /// Seed of everything random: the same seed gives the same run
    #[arg(short, long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Milliseconds that relays take to settle before a measurement [default: 15 if shown live, else 0]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(0..=10_000))]
    pub(crate) settle: Option<u64>,
    /// Write the picture here
    #[arg(long, value_name = "FILE", default_value = "out/antenna.svg", conflicts_with = "no_svg")]
    pub(crate) svg: PathBuf,
    /// Write no picture
    #[arg(long)]
    pub(crate) no_svg: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Options of the comparison.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// How many antennas
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) loads: u32,
    /// How many seeds each
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) seeds: u32,
    /// Seed that the antennas are drawn from; another one gives other antennas
    #[arg(long, value_name = "SEED", default_value_t = 2022)]
    pub(crate) loads_seed: u64,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// How a run measures.
#[derive(Debug, Args)]
pub(crate) struct MeasuringArgs {
    /// How many measurements, from 1 to 128
    #[arg(short, long, value_name = "N", default_value_t = 120, value_parser = budget, allow_hyphen_values = true)]
    pub(crate) budget: usize,
    /// Standard deviation of the SWR bridge's error in |Γ|, from 0 to 1
    #[arg(long, value_name = "SIGMA", default_value_t = 0.0, value_parser = noise, allow_hyphen_values = true)]
    pub(crate) noise: f32,
}

/// What is shown.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Show no progress, and of the result only what matters most
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl Cli {
    /// Does what was asked.
    pub(crate) fn run(self) -> Result<(), Error> {
        match self.command {
            None => antenna::run(&self.antenna),
            Some(Command::Antenna(args)) => antenna::run(&args),
            Some(Command::AntennaBench(args)) => antenna::bench::run(&args),
            Some(Command::Bench(args)) => runs::run(&args),
            Some(Command::Report(args)) if tune::report::is_log(&args) => tune::report::run(&args),
            Some(Command::Report(args)) => report::run(&args),
            Some(Command::List(args)) => list::run(&args),
            Some(Command::Tune(args)) => tune::run(&args),
            Some(Command::Serve(args)) => serve::run(&args),
            Some(Command::Watch(args)) => watch::run(&args),
            Some(Command::Replay(args)) => replay::run(&args),
            Some(Command::Completions(args)) => generate::completions(&args),
            Some(Command::Man(args)) => generate::man(&args),
        }
    }
}

fn budget(text: &str) -> Result<usize, String> {
    let most = OBSERVATIONS;
    match text.parse() {
        Ok(budget) if (1..=most).contains(&budget) => Ok(budget),
        _ => Err(format!("the tuner keeps up to {most} measurements; write a number from 1 to {most}")),
    }
}

fn serve_budget(text: &str) -> Result<usize, String> {
    let most = serve::BUDGET;
    match text.parse() {
        Ok(budget) if (1..=most).contains(&budget) => Ok(budget),
        _ => Err(format!("write a whole number from 1 to {most}")),
    }
}

fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if (1..=100_000).contains(&count) => Ok(count),
        _ => Err("write a whole number from 1 to 100 000".into()),
    }
}

fn noise(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(noise) if (0.0..=1.0).contains(&noise) => Ok(noise),
        _ => Err("write a number from 0 (exact) to 1, for example 0.01".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_work_with_and_without_the_subcommand() {
        for words in [&["trimtab", "--seed", "7", "--quiet"][..], &["trimtab", "antenna", "--seed", "7", "--quiet"]] {
            let cli = Cli::try_parse_from(words).unwrap();
            let args = match cli.command {
                Some(Command::Antenna(args)) => args,
                _ => cli.antenna,
            };
            assert!(args.seed == 7 && args.output.quiet && args.measuring.budget == 120);
        }
    }
}
