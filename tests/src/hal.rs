//! The programs on real HALs in `firmware/hal/`: which there are, and how to build one.
//!
//! **Choices**
//! - Each has its own lock file, outside the workspace: two HALs rarely agree on versions.
//! - They share a target folder, so that common dependencies are built once per target.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// A program on a HAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its folder in `firmware/hal/`, named after the chip.
    pub chip: &'static str,
    /// The target of rustc.
    pub target: &'static str,
}

/// All of them.
pub const PROGRAMS: [Program; 5] = [
    Program { chip: "stm32f411", target: "thumbv7em-none-eabihf" },
    Program { chip: "nrf52840", target: "thumbv7em-none-eabihf" },
    Program { chip: "rp2350", target: "thumbv8m.main-none-eabihf" },
    Program { chip: "rp2040", target: "thumbv6m-none-eabi" },
    Program { chip: "esp32c3", target: "riscv32imc-unknown-none-elf" },
];

impl Program {
    /// Its folder.
    pub fn folder(self) -> PathBuf {
        crate::root().join("firmware/hal").join(self.chip)
    }

    /// Runs cargo in its folder, with the shared target folder.
    pub fn cargo(self, words: &[&str]) -> Result<()> {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(self.folder()).env("CARGO_TARGET_DIR", target()?).env("CARGO_INCREMENTAL", "0");
        let output = cargo.args(words).output().context("cannot start cargo")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: cargo {}:\n{errors}", self.chip, words.join(" "));
        Ok(())
    }

    /// Builds it as flashed, from the versions in its lock file. Returns the path of the image.
    pub fn build(self) -> Result<PathBuf> {
        self.cargo(&["build", "--release", "--locked"])?;
        Ok(target()?.join(self.target).join("release").join(format!("tune-{}", self.chip)))
    }
}

fn target() -> Result<PathBuf> {
    Ok(crate::root().canonicalize()?.join("target/hal"))
}
