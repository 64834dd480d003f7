//! The options of `trimtab antenna` and `trimtab antenna-bench`.

use std::path::PathBuf;

use clap::Args;
use trimtab_firmware::antenna::OBSERVATIONS;

use crate::draw::quantity::{Frequency, Load};

// No doc comment: `trimtab` itself flattens these options, and clap would take it for the help of
// `trimtab`.
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
    /// Seed: the same seed gives the same run
    #[arg(short, long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Milliseconds for the relays to settle before a measurement [default: 15 on a live terminal,
    /// else 0]
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

/// Compare trimtab with random and local search over many antennas
///
/// Every method tunes the same antennas with the same seeds and the same number of measurements.
/// The antennas are drawn from --loads-seed: a frequency in an HF amateur band, a resistance from 5
/// to 1000 ohm (evenly on a logarithmic scale), a reactance from -500 to 500 ohm; kept only if the
/// best reachable SWR is below 1.5.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Number of antennas
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) loads: u32,
    /// Number of seeds per antenna
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) seeds: u32,
    /// Seed of the antennas; another one draws other antennas
    #[arg(long, value_name = "SEED", default_value_t = 2022)]
    pub(crate) loads_seed: u64,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

// How a run measures.
#[derive(Debug, Args)]
pub(crate) struct MeasuringArgs {
    /// Number of measurements, from 1 to 128
    #[arg(short, long, value_name = "N", default_value_t = 120, value_parser = budget, allow_hyphen_values = true)]
    pub(crate) budget: usize,
    /// Standard deviation of the SWR bridge's error in |Γ|, from 0 to 1
    #[arg(long, value_name = "SIGMA", default_value_t = 0.0, value_parser = noise, allow_hyphen_values = true)]
    pub(crate) noise: f32,
}

// What to print.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Show no progress and only the essential result
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
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
