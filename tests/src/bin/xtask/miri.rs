//! `cargo xtask miri`: core and the firmware's journal, interpreted, on a little- and a big-endian
//! machine.
//!
//! **Choices**
//! - Core has no `unsafe`, and neither has the journal; Miri still finds undefined behaviour of the
//!   packages they use, overflow, and what depends on the byte order.
//! - Miri is some thousand times slower than the machine, so tests repeat their arithmetic less often
//!   under it (core's `math::times`).

use anyhow::Result;
use trimtab_tests::image::PACKAGE;

use crate::tools::{self, NIGHTLY};

pub(crate) const HELP: &str = "\
Interprets the tests of core and of the firmware's journal with Miri, little- and big-endian. Installs Miri for the
nightly toolchain; without rustup it says so and ends.

  cargo xtask miri             both packages, x86-64 and s390x; takes about half an hour
  cargo xtask miri core        core alone
  cargo xtask miri journal     the journal alone";

const MACHINES: [&str; 2] = ["x86_64-unknown-linux-gnu", "s390x-unknown-linux-gnu"];

/// What to interpret.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    core: bool,
    journal: bool,
}

impl Request {
    pub(crate) fn parse(words: &[&str]) -> Result<Self> {
        match words {
            [] => Ok(Self { core: true, journal: true }),
            ["core"] => Ok(Self { core: true, journal: false }),
            ["journal"] => Ok(Self { core: false, journal: true }),
            _ => anyhow::bail!("{HELP}"),
        }
    }
}

pub(crate) fn run(request: &Request) -> Result<()> {
    tools::components(NIGHTLY, &["miri", "rust-src"])?;
    let (portable, _) = tools::portable()?;
    for machine in MACHINES {
        if request.core {
            interpret(machine, &["--package", "trimtab", "--features", "postcard", "--lib"], [].into_iter())?;
        }
        if request.journal {
            let features: &[&str] = if portable == PACKAGE { &["--no-default-features"] } else { &[] };
            let words = [&["--package", &portable, "--lib"], features].concat();
            interpret(machine, &words, ["journal::", "flash::"].into_iter())?;
        }
    }
    Ok(())
}

fn interpret<'a>(machine: &str, what: &[&str], tests: impl Iterator<Item = &'a str>) -> Result<()> {
    tools::run(
        tools::rustup_cargo(NIGHTLY)
            .args(["miri", "test", "--target", machine, "--target-dir", "target/miri"])
            .args(what)
            .arg("--")
            .args(tests),
    )
}
