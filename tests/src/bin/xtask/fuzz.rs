//! `cargo xtask fuzz`: libFuzzer on everything that is read.

use std::fs;

use anyhow::{Context as _, Result, bail, ensure};

use crate::tools::{self, NIGHTLY};

pub(crate) const HELP: &str = "\
Feeds everything that reads bytes with what libFuzzer thinks of; installs cargo-fuzz and a nightly Rust's sources.

  cargo xtask fuzz --seconds 60            every target for a minute
  cargo xtask fuzz --seconds 600 journal   one target: record, journal, stream, lines, space, expression, dimacs,
                                           csv, log

New inputs go to tests/fuzz/target/corpus, not to the committed corpus. A crash stays in tests/fuzz/artifacts, and
`cargo +nightly fuzz run TARGET FILE --fuzz-dir tests/fuzz` repeats it. Where there is no nightly Rust,
`cargo test -p trimtab-tests --test suite fuzz` and `cargo test -p trimtab-host --bin trimtab fuzz` run the same
functions with seeded input; `cargo xtask test` does.";

/// How long, and which target if not all.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    seconds: u64,
    target: Option<String>,
}

impl Request {
    pub(crate) fn parse(words: &[&str]) -> Result<Self> {
        let (seconds, target) = match words {
            ["--seconds", seconds] => (seconds, None),
            ["--seconds", seconds, target] | [target, "--seconds", seconds] => (seconds, Some(target.to_string())),
            _ => bail!("say how long: --seconds N\n{HELP}"),
        };
        let seconds = seconds.parse().with_context(|| format!("`--seconds` needs a number, not `{seconds}`"))?;
        Ok(Self { seconds, target })
    }
}

/// The names of all targets, from the manifest.
fn targets() -> Result<Vec<String>> {
    let manifest = fs::read_to_string(trimtab_tests::root().join("tests/fuzz/Cargo.toml"))?;
    let bins = manifest.split("[[bin]]").skip(1);
    Ok(bins.filter_map(|bin| Some(bin.split_once("name = \"")?.1.split_once('"')?.0.to_string())).collect())
}

pub(crate) fn run(request: &Request) -> Result<()> {
    let all = targets()?;
    let chosen = match &request.target {
        None => all,
        Some(target) => {
            ensure!(all.contains(target), "there is no target `{target}`; there are {}", all.join(", "));
            vec![target.clone()]
        }
    };
    tools::components(NIGHTLY, &["rust-src"])?;
    tools::subcommand("fuzz")?;
    for target in chosen {
        // The first folder gets new inputs, the second only starts them.
        let grown = trimtab_tests::root().join("tests/fuzz/target/corpus").join(&target);
        fs::create_dir_all(&grown)?;
        let (grown, own) = (grown.display().to_string(), format!("tests/fuzz/corpus/{target}"));
        let most = format!("-max_total_time={}", request.seconds);
        // A space leaks its predicate on purpose: core needs it for as long as the program runs.
        tools::run(
            tools::rustup_cargo(NIGHTLY)
                .env("ASAN_OPTIONS", "detect_leaks=0")
                .args(["fuzz", "run", "--fuzz-dir", "tests/fuzz", &target, &grown, &own, "--", &most])
                .args(["-timeout=20", "-print_final_stats=1", "-verbosity=0"]),
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_and_a_target_are_read() {
        let all = Request::parse(&["--seconds", "5"]).unwrap();
        assert_eq!(all, Request { seconds: 5, target: None });
        assert_eq!(Request::parse(&["log", "--seconds", "5"]).unwrap().target.as_deref(), Some("log"));
        assert!(Request::parse(&[]).is_err() && Request::parse(&["--seconds", "x"]).is_err());
        assert_eq!(targets().unwrap().len(), 9);
        let unknown = Request { seconds: 1, target: Some("x".into()) };
        assert!(run(&unknown).unwrap_err().to_string().contains("there are record, journal"));
    }
}
