//! The project's own commands: `cargo xtask`, `cargo qemu`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use trimtab_tests::cost::Report;
use trimtab_tests::template;

mod coverage;
mod emulate;
mod flash;
mod fuzz;
mod machines;
mod miri;
mod mutants;
mod paper;
mod python;
mod real;
mod setup;
mod soak;
mod steps;
mod tools;
mod web;

const HELP: &str = "\
The project's own commands.

  cargo xtask test             set up, then every check: format, lints, docs, host tests, cross builds, QEMU
  cargo xtask setup            install the tools that `test` needs: rustup components, targets, QEMU, a browser, rp2040js
  cargo xtask cost             instructions per step and bytes of RAM and flash, counted in QEMU
  cargo xtask cost --profile   where the instructions of a step go, from QEMU's trace
  cargo xtask cost --sizes     flash on four processors, and what each feature adds to it
  cargo xtask bench batches    batches of 1, 4, 16 and 64, at equal measurements and at equal rounds
  cargo xtask bench drift      measurements that an antenna tuner needs after its antenna moved
  cargo xtask bench fleet      measurements that board 2, 11 and 101 of a fleet need, with what the others taught
  cargo xtask bench idle       knobs that matter only sometimes, with and without saying so
  cargo xtask bench limits     a limit on a second number, beside a penalty in the cost and beside failures
  cargo xtask bench nearest    the exact lookup beside a scan and the paper's table, here and in QEMU
  cargo xtask bench peers      the baselines beside other people's implementations, on the same instances
  cargo xtask bench real       GCC's flags for zlib and SQLite's settings, beside Optuna's TPE; --quick, --prepare
  cargo xtask bench serve      an ask and a tell through `trimtab serve`, beside Optuna's TPE if Python is there
  cargo xtask paper            the paper's experiments and their report; --quick for 3 seeds, --beyond for more problems,
                               --publish to write host/docs/paper, --shard i/n for a share of the runs
  cargo xtask machines ssh     the commands of host/docs/many.md over ssh and GNU parallel, on this machine
  cargo xtask machines slurm   the same by Slurm, whose daemons it starts
  cargo xtask soak             random calls and power cuts for as long as you like; `--help` after this and the next
                               four says more
  cargo xtask fuzz             libFuzzer on everything that is read
  cargo xtask miri             core and the journal, interpreted, little- and big-endian
  cargo xtask coverage         share of lines that the tests run
  cargo xtask mutants          share of changes to the code that the tests notice
  cargo xtask promises         write tests/docs/promises.md from the tests
  cargo xtask python           build the wheel of host/python and test it; --bench for its time beside Optuna's TPE
  cargo xtask web              the page that runs the tuner in a browser, into target/web
  cargo xtask flash BOARD IMAGE
                               build an image for a board, flash it with probe-rs, show its log
  cargo xtask new FOLDER       make a project of your own from the template
  cargo xtask qemu             list the firmware's images
  cargo xtask qemu IMAGE       build one, run it in QEMU, decode its log; `cargo qemu IMAGE` for short

Options of qemu:
  --board NAME                 another machine than the stm32f405, such as mps2-an386
  --debug                      build without optimization
  --folder FOLDER              where the image finds and leaves its files; the current one if not given
  --uart                       standard output gets the serial port, for `trimtab watch -`; standard error the log
  --limit SECONDS              stop an image that does not end by itself; 600 if not given

Plain cargo works too: `cargo run --release` tunes a simulated antenna on this machine, and `cargo test` runs
all tests that need nothing but Rust and python3.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(words: &[&str]) -> Result<ExitCode> {
    parse(words)?()
}

/// What a command does, once its words are understood.
type Task = Box<dyn FnOnce() -> Result<ExitCode>>;

/// Understands a command without doing it.
fn parse(words: &[&str]) -> Result<Task> {
    Ok(match words {
        [] | ["help" | "--help" | "-h", ..] => print(HELP),
        ["test"] => Box::new(steps::test),
        ["setup"] => done(setup::run),
        ["cost"] => done(cost),
        ["cost", "--profile"] => done(|| {
            print!("{}", trimtab_tests::profile::tables()?);
            Ok(())
        }),
        ["cost", "--sizes"] => done(|| {
            print!("{}", trimtab_tests::cost::sizes::tables()?);
            Ok(())
        }),
        ["cost", ..] => bail!("`cargo xtask cost` takes nothing, `--profile` or `--sizes`"),
        ["bench", "batches"] => done(|| own_bench(&["batch-bench"])),
        ["bench", "drift"] => done(|| bench("trimtab-tests", "drift")),
        ["bench", "fleet"] => done(bench_fleet),
        ["bench", "idle"] => done(|| bench("trimtab-tests", "idle")),
        ["bench", "limits"] => done(|| bench("trimtab-tests", "limits")),
        ["bench", "nearest"] => Box::new(bench_nearest),
        ["bench", "peers"] => done(|| bench("trimtab-host", "peers")),
        ["bench", "serve"] => done(|| bench("trimtab-host", "serve")),
        ["bench", "real", rest @ ..] => {
            let request = real::Request::parse(rest)?;
            done(move || real::run(&request))
        }
        ["bench", ..] => {
            bail!(
                "there are nine benches: `cargo xtask bench batches`, `… drift`, `… fleet`, `… idle`, `… limits`, \
                 `… nearest`, `… peers`, `… real` and `… serve`"
            )
        }
        ["paper", rest @ ..] => {
            let request = paper::Request::parse(rest)?;
            Box::new(move || paper::run(&request))
        }
        ["machines", rest @ ..] => {
            let request = machines::Request::parse(rest)?;
            done(move || machines::run(&request))
        }
        ["soak", "help" | "--help" | "-h"] => print(soak::HELP),
        ["soak", rest @ ..] => {
            let request = soak::Request::parse(rest)?;
            Box::new(move || soak::run(&request))
        }
        ["fuzz", "help" | "--help" | "-h"] => print(fuzz::HELP),
        ["fuzz", rest @ ..] => {
            let request = fuzz::Request::parse(rest)?;
            done(move || fuzz::run(&request))
        }
        ["miri", "help" | "--help" | "-h"] => print(miri::HELP),
        ["miri", rest @ ..] => {
            let request = miri::Request::parse(rest)?;
            done(move || miri::run(&request))
        }
        ["coverage", "help" | "--help" | "-h"] => print(coverage::HELP),
        ["coverage"] => done(coverage::run),
        ["mutants", "help" | "--help" | "-h"] => print(mutants::HELP),
        ["mutants", rest @ ..] => {
            let request = mutants::Request::parse(rest)?;
            done(move || mutants::run(&request))
        }
        ["web"] => done(|| web::run().map(drop)),
        ["python", rest @ ..] => {
            let request = python::Request::parse(rest)?;
            done(move || python::run(request))
        }
        ["promises"] => done(promises),
        ["flash", rest @ ..] => {
            let request = flash::Request::parse(rest)?;
            Box::new(move || flash::run(&request))
        }
        ["new", folder] => {
            let folder = PathBuf::from(folder);
            done(move || new(&folder))
        }
        ["new", ..] => bail!("name a folder: cargo xtask new ../my-board"),
        ["qemu"] => done(|| {
            print!("{}", emulate::overview()?);
            Ok(())
        }),
        ["qemu", rest @ ..] => {
            let request = emulate::Request::parse(rest)?;
            Box::new(move || emulate::run(&request))
        }
        _ => bail!("there is no `cargo xtask {}`. `cargo xtask` lists the commands.", words.join(" ")),
    })
}

fn print(text: &'static str) -> Task {
    done(move || {
        println!("{text}");
        Ok(())
    })
}

/// A task that succeeds if it ends.
fn done(task: impl FnOnce() -> Result<()> + 'static) -> Task {
    Box::new(|| task().map(|()| ExitCode::SUCCESS))
}

fn new(folder: &Path) -> Result<()> {
    // Cargo keeps the current directory of its caller, so a relative path works.
    template::create(folder)?;
    println!("{} is ready: `cargo run --release` there runs it in QEMU, and its README has the rest", folder.display());
    Ok(())
}

/// Writes the page of promises.
fn promises() -> Result<()> {
    let page = trimtab_tests::promises::page(&trimtab_tests::promises::collect(&trimtab_tests::root())?);
    std::fs::write(trimtab_tests::root().join(trimtab_tests::promises::PAGE), &page)?;
    println!("{} has {} promises", trimtab_tests::promises::PAGE, page.matches("](../../").count());
    Ok(())
}

fn cost() -> Result<()> {
    let report = Report::measure()?;
    println!("## Cost of a step on a Cortex-M4F\n");
    println!("By `cargo xtask cost`: instructions counted in QEMU (not cycles), bytes read from the ELF files.\n");
    print!("{report}");
    Ok(())
}

/// The bench on this machine, then the same query on the chip.
fn bench_nearest() -> Result<ExitCode> {
    bench("trimtab-tests", "nearest")?;
    println!("\nOn a Cortex-M4F, instructions counted in QEMU (not cycles), 24 bits, 20 dimensions:\n");
    emulate::run(&emulate::Request::parse(&["nearest"])?)
}

/// The race of priors, with its rival, and how learning grows.
fn bench_fleet() -> Result<()> {
    ["--rgpe", "--growth"].into_iter().try_for_each(|options| own_bench(&["fleet-bench", options]))
}

/// A bench that is a command of `trimtab`.
fn own_bench(words: &[&str]) -> Result<()> {
    let words = [&["run", "--quiet", "--release", "--package", "trimtab-host", "--"], words].concat();
    if !trimtab_tests::workspace::cargo().args(&words).status()?.success() {
        bail!("the bench failed: cargo {}", words.join(" "));
    }
    Ok(())
}

/// A bench of a package.
fn bench(package: &str, name: &str) -> Result<()> {
    let words = ["bench", "--quiet", "--package", package, "--bench", name];
    if !trimtab_tests::workspace::cargo().args(words).status()?.success() {
        bail!("the bench failed: cargo {}", words.join(" "));
    }
    Ok(())
}

/// A duration for people.
fn shown(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{}.{} s", seconds, time.subsec_millis() / 100),
        seconds => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trimtab_tests::docs;

    #[test]
    fn every_xtask_in_the_docs_is_one() {
        let mut seen = 0;
        for block in docs::blocks(&trimtab_tests::root()).unwrap() {
            // The page makes this folder first.
            for command in block.commands().iter().map(|command| command.replace("/tmp/chip", ".")) {
                let words: Vec<&str> = command.split_whitespace().take_while(|word| *word != "|").collect();
                let parsed = match words[..] {
                    ["cargo", "xtask", ..] => parse(&words[2..]),
                    ["cargo", "qemu", ..] => parse(&words[1..]),
                    _ => continue,
                };
                assert!(parsed.is_ok(), "{}: {command}: {:#}", block.page, parsed.err().unwrap());
                seen += 1;
            }
        }
        assert!(seen > 8, "{seen}");
        assert!(parse(&["tset"]).is_err() && parse(&["bench", "rael"]).is_err());
    }
}
