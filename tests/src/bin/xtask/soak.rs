//! `cargo xtask soak`: long random runs of the tests in `tests/tests/suite/soak`.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use trimtab_tests::workspace::cargo;

pub(crate) const HELP: &str = "\
Long random runs; the first broken promise ends them and names the seed that repeats it.

  cargo xtask soak --operations 1000000    asks (whole, cached, in slices), tells, failures, queues, cancels, replays
                                           on random spaces of 1 to 128 features; predictions against a refit in f64
  cargo xtask soak --boots 100000          a tuner with its log in flash: power cuts at any operation and any bit,
                                           rot, full pages, refused tells
  --seed N                                 where to begin; 1 if not given. Name another to see other runs.

Both may be given. `cargo xtask test` runs a few seconds of each.";

/// A long run of one test.
#[derive(Debug, PartialEq)]
struct Soak {
    test: &'static str,
    variable: &'static str,
    number: u64,
}

/// What to run, and the first seed.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    soaks: Vec<Soak>,
    seed: u64,
}

impl Request {
    pub(crate) fn parse(words: &[&str]) -> Result<Self> {
        let mut request = Self { soaks: Vec::new(), seed: 1 };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let number = words.next().with_context(|| format!("`{word}` needs a number"))?;
            let number = number.parse().with_context(|| format!("`{word}` needs a number, not `{number}`"))?;
            let (test, variable) = match *word {
                "--operations" => ("soak::operations::", "TRIMTAB_OPERATIONS"),
                "--boots" => ("soak::boots::", "TRIMTAB_BOOTS"),
                "--seed" => {
                    request.seed = number;
                    continue;
                }
                _ => bail!("there is no option `{word}`\n{HELP}"),
            };
            request.soaks.push(Soak { test, variable, number });
        }
        if request.soaks.is_empty() {
            bail!("say how long to soak\n{HELP}");
        }
        Ok(request)
    }
}

/// Runs the tests, optimized, with all checks of a debug build.
pub(crate) fn run(request: &Request) -> Result<ExitCode> {
    for Soak { test, variable, number } in &request.soaks {
        let status = cargo()
            .args(["test", "--quiet", "--profile", "soak", "--package", "trimtab-tests", "--test", "suite"])
            .args([test, "--", "--nocapture"])
            .envs([(*variable, number.to_string()), ("TRIMTAB_SEED", request.seed.to_string())])
            .status()?;
        if !status.success() {
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_soaks_and_a_seed_are_read() {
        let request = Request::parse(&["--boots", "5", "--seed", "7", "--operations", "9"]).unwrap();
        assert_eq!(request.seed, 7);
        let numbers: Vec<_> = request.soaks.iter().map(|soak| (soak.variable, soak.number)).collect();
        assert_eq!(numbers, [("TRIMTAB_BOOTS", 5), ("TRIMTAB_OPERATIONS", 9)]);
        for wrong in [&[][..], &["--boots"], &["--boots", "x"], &["--hours", "3"], &["--seed", "3"]] {
            assert!(Request::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
