//! The options of `trimtab bench`.

use std::path::PathBuf;

use clap::Args;

const HELP: &str = "\
Examples:
  trimtab bench --problem ising --method trimtab,local-search,random --seeds 5 --out runs
  trimtab bench --problem paper --method all --mask both --out runs       the paper's section 7
  trimtab bench --problem bqp:m=16,lambda=0 --method trimtab --out runs   with other parameters
  trimtab bench --instance my.json --method all --out runs                an instance from a file
  trimtab bench --problem board --method trimtab,heat --noise 0.5 --out noisy   noisy measurements
  trimtab bench --problem board --method trimtab,heat --fail --out failing      half of them fail

On many machines, each takes its share; all write to one directory, or to several that `trimtab report` merges:
  ssh          seq 0 15 | parallel -S 4/host1,4/host2 trimtab bench --problem all --out runs --shard {}/16
  Slurm        sbatch --array=0-15 \\
               --wrap 'trimtab bench --problem all --method all --out runs --shard $SLURM_ARRAY_TASK_ID/16'
  Kubernetes   an indexed Job of 16 completions whose command is
               sh -c 'trimtab bench --problem all --method all --out /runs --shard $JOB_COMPLETION_INDEX/16'";

/// Race methods on problems: the paper's experiments and more
///
/// Every method gets the same instances, initial points and number of evaluations. Each run is one
/// file in --out, written when the run is complete: after Ctrl-C the same command goes on where it
/// stopped. `trimtab list` shows problems and methods, `trimtab report DIR` draws the runs.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct RaceArgs {
    /// Problems: names with or without parameters, `paper`, `beyond` (the others) or `all`
    ///
    /// Parameters follow a colon: ising:lambda=1e-4 or bqp:m=16,lambda=0. Separate problems by
    /// commas or blanks: ising,bqp:m=16,lambda=0,labs.
    #[arg(short, long, value_name = "PROBLEM", num_args = 1.., required_unless_present = "instance")]
    pub(crate) problem: Vec<String>,
    /// Methods, separated by commas, or `all`
    #[arg(short, long, value_name = "METHOD", num_args = 1.., value_delimiter = ',', default_value = "all")]
    pub(crate) method: Vec<String>,
    /// A problem instance from a JSON file, the same for every seed
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) instance: Vec<PathBuf>,
    /// Number of seeds; each has its own instance and initial points
    #[arg(short, long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) seeds: u64,
    /// The first seed
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub(crate) first_seed: u64,
    /// Evaluations per run, including the initial ones
    #[arg(short, long, value_name = "N", default_value_t = 100, value_parser = count)]
    pub(crate) budget: usize,
    /// Initial evaluations, the same for all methods of a seed
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = count)]
    pub(crate) init: usize,
    /// Directory for the runs
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Rename the levels at random, one mask per seed: `on`, or `both` for runs with and without
    #[arg(long, value_name = "WHICH", default_value = "off", default_missing_value = "on", num_args = 0..=1)]
    pub(crate) mask: Masks,
    /// Add noise to what methods are told: its standard deviation, in those of random costs
    ///
    /// The spread of random costs is measured once per instance, on 1000 random combinations. All
    /// methods of a seed meet the same noise. Runs then also record what the method recommends
    /// after 30, 60 and 100 % of the budget.
    #[arg(long, value_name = "SD", value_parser = deviation)]
    pub(crate) noise: Option<f64>,
    /// Draw the noise from Student's t with 3 degrees of freedom, scaled to the same deviation
    #[arg(long, requires = "noise")]
    pub(crate) heavy_tails: bool,
    /// Let a half-space of combinations fail, with the optimum just outside: their share, or 0.5
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "0.5", value_parser = share)]
    pub(crate) fail: Option<f64>,
    /// Number of parallel runs [default: one per core]
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Take every n-th run from the i-th on, i from 0, so that n machines share the work
    #[arg(long, value_name = "i/n", default_value = "0/1")]
    pub(crate) shard: Shard,
    /// The Mobile Price table (train.csv) for sparse-classification, instead of generated data
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

fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if (1..=100_000).contains(&count) => Ok(count),
        _ => Err("write a whole number from 1 to 100 000".into()),
    }
}

fn deviation(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(sd) if sd > 0.0 && sd <= 100.0 => Ok(sd),
        _ => Err("write a number above 0 and up to 100, such as 0.5".into()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.05..=0.95).contains(&share) => Ok(share),
        _ => Err("write a number from 0.05 to 0.95".into()),
    }
}
