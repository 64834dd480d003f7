//! The command line: parses, then dispatches. Each command's options and help live beside the
//! command.
//!
//! **Choices**
//! - Without a subcommand `trimtab` tunes the antenna, so the options of `trimtab antenna` work on
//!   `trimtab` itself.
//! - Options check their values while clap parses them, so clap names the option, shows the message
//!   and exits with 2.

use clap::{CommandFactory, Parser, Subcommand};

use crate::antenna::{self, AntennaArgs, BenchArgs};
use crate::bench::batches::{self, BatchBenchArgs};
use crate::bench::list::{self, ListArgs};
use crate::bench::report::{self, ReportArgs};
use crate::bench::runs::{self, RaceArgs};
use crate::device::replay::{self, ReplayArgs};
use crate::device::watch::{self, WatchArgs};
use crate::error::Error;
use crate::fleet::learn::{self, LearnArgs};
use crate::fleet::race::{self, FleetBenchArgs};
use crate::generate::{self, CompletionsArgs, ManArgs};
use crate::serve::{self, ServeArgs};
use crate::tune::export::{self, ExportArgs};
use crate::tune::{self, TuneArgs};

/// Tunes discrete settings by Bayesian optimization, with the code that runs on the chip.
///
/// Without a command it tunes a simulated antenna matching network: 7 switched inductors, 7
/// switched capacitors and a topology relay, 32 768 states. It measures 120 of them and draws a
/// picture of where.
#[derive(Debug, Parser)]
#[command(
    name = "trimtab",
    version,
    args_conflicts_with_subcommands = true,
    max_term_width = 100,
    after_help = "Examples:
  trimtab                                     tune 35-j120 ohm at 7.1 MHz
  trimtab --load 12.5+j40 --frequency 14.1M   another antenna
  trimtab --noise 0.01 --seed 7               with a noisy SWR bridge
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
    AntennaBench(BenchArgs),
    Bench(RaceArgs),
    BatchBench(BatchBenchArgs),
    Report(ReportArgs),
    List(ListArgs),
    Tune(Box<TuneArgs>),
    Export(ExportArgs),
    Learn(LearnArgs),
    FleetBench(FleetBenchArgs),
    Serve(ServeArgs),
    Watch(WatchArgs),
    Replay(ReplayArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

impl Cli {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Error> {
        match self.command {
            None => antenna::run(&self.antenna),
            Some(Command::Antenna(args)) => antenna::run(&args),
            Some(Command::AntennaBench(args)) => antenna::bench::run(&args),
            Some(Command::Bench(args)) => runs::run(&args),
            Some(Command::BatchBench(args)) => batches::run(&args),
            Some(Command::Report(args)) if tune::report::is_log(&args.runs) => {
                tune::report::run(&args.runs, args.out.as_deref())
            }
            Some(Command::Report(args)) => report::run(&args),
            Some(Command::List(args)) => list::run(&args),
            Some(Command::Tune(args)) => tune::run(&args),
            Some(Command::Export(args)) => export::run(&args),
            Some(Command::Learn(args)) => learn::run(&args),
            Some(Command::FleetBench(args)) => race::run(&args),
            Some(Command::Serve(args)) => serve::run(&args),
            Some(Command::Watch(args)) => watch::run(&args),
            Some(Command::Replay(args)) => replay::run(&args),
            Some(Command::Completions(args)) => generate::completions(&args, &mut Self::command()),
            Some(Command::Man(args)) => generate::man(&args, Self::command()),
        }
    }
}

/// The commands in the docs, shared with the tests.
#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
#[path = "../../tests/src/docs.rs"]
mod pages;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// The words of a command as a shell reads them, up to a pipe.
    fn words(command: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
        for c in command.chars().chain([' ']) {
            match (c, quote) {
                ('\'' | '"', None) => quote = Some(c),
                (c, Some(end)) if c == end => quote = None,
                (' ', None) => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
                _ => word.push(c),
            }
        }
        words.split(|word| word == "|").next().unwrap_or_default().to_vec()
    }

    /// Of every page: those that take hours, too.
    #[test]
    fn every_trimtab_in_the_docs_parses() {
        let (root, mut seen) = (std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), 0);
        for block in pages::blocks(&root).unwrap() {
            let commands = block.commands().into_iter().map(|command| {
                let own = command.rsplit_once("| trimtab ").map(|(_, own)| format!("trimtab {own}"));
                own.unwrap_or(command).replace("cargo run --release --", "trimtab")
            });
            for command in commands.filter(|command| command.starts_with("trimtab ")) {
                let parsed = Cli::try_parse_from(words(&command));
                assert!(parsed.is_ok(), "{}: {command}\n{}", block.page, parsed.unwrap_err());
                seen += 1;
            }
        }
        assert!(seen > 20, "{seen}");
        assert!(Cli::try_parse_from(words("trimtab tune --knbo 'a=1, 2' -- x")).is_err());
        assert_eq!(words("trimtab tune --forbid 'a=1 & b=2' | x"), ["trimtab", "tune", "--forbid", "a=1 & b=2"]);
    }

    #[test]
    fn every_command_says_what_it_does() {
        for command in Cli::command().get_subcommands() {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(about.len() > 20 && !about.starts_with("Options"), "{}: {about}", command.get_name());
        }
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
