//! The command line: what can be asked of `trimtab`.
//!
//! **Choices.** Without a subcommand `trimtab` tunes the antenna, so the options of `trimtab antenna` work on `trimtab`
//! itself. Values are checked while they are read, so that clap names the option, shows the message and exits with 2.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use trimtab_firmware::antenna::OBSERVATIONS;

use crate::antenna::{self, bench};
use crate::error::Error;
use crate::quantity::{Frequency, Load};

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
  trimtab antenna-bench                       against random and local search, over many antennas"
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
            Some(Command::AntennaBench(args)) => bench::run(&args),
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
