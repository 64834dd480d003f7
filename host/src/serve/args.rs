//! The options of `trimtab serve`.

use std::path::PathBuf;

use clap::Args;
use trimtab::Noise;

use crate::session::noise;
use crate::session::study::{BUDGET, SEED};

const HELP: &str = r#"Example: each line sent, with its answer below
  {"op":"init","knobs":{"opt":["O1","O2","O3"],"unroll":[1,2,4,8]},"seed":1}
  {"ok":true,"combinations":"12"}
  {"op":"ask"}
  {"id":1,"config":{"opt":"O3","unroll":2},"mean":null,"std_dev":null}
  {"op":"tell","id":1,"value":0.31}
  {"ok":true,"observations":1,"best":{"config":{"opt":"O3","unroll":2},"value":0.31,"measured":1}}

Other ops: tell with "failed":true, enqueue, cancel, predict, best, export (prints an init that continues the session),
quit.

Limits: 256 knobs of 256 levels, 1024 measurements, 64 pending asks, 4 MiB per line."#;

/// Tune for a program in any language: JSON lines on standard input and output
///
/// The program asks what to measure and tells what it measured, one JSON object per line; every
/// line gets one answer. The space is in a file or in the program's first message. A wrong message
/// gets an error and changes nothing.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct ServeArgs {
    /// The space, a TOML or JSON file [default: in the first message]
    #[arg(long, value_name = "FILE")]
    pub(crate) space: Option<PathBuf>,
    /// Seed: the same seed and outcomes give the same asks
    #[arg(short, long, default_value_t = SEED, requires = "space")]
    pub(crate) seed: u64,
    /// Most measurements, from 1 to 1024
    #[arg(short, long, value_name = "N", default_value_t = BUDGET, value_parser = budget, requires = "space")]
    pub(crate) budget: usize,
    /// Noise of the values: auto, none (nothing is asked twice), or its standard deviation
    #[arg(long, value_name = "SD", default_value = "auto", value_parser = noise::parse, requires = "space")]
    #[arg(allow_negative_numbers = true)]
    pub(crate) noise: Noise,
    /// Larger values are better
    #[arg(long, requires = "space")]
    pub(crate) maximize: bool,
    /// Begin with what earlier boards taught: a prior that trimtab learn wrote for the same knobs
    #[arg(long, value_name = "FILE", requires = "space")]
    pub(crate) prior: Option<PathBuf>,
}

fn budget(text: &str) -> Result<usize, String> {
    let most = BUDGET;
    match text.parse() {
        Ok(budget) if (1..=most).contains(&budget) => Ok(budget),
        _ => Err(format!("write a whole number from 1 to {most}")),
    }
}
