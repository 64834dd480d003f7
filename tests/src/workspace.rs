//! Cargo, run from within, and what it knows of the packages.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// Cargo, at the top of the repository. There it finds the project's own configuration (the log level of
/// defmt above all), wherever the caller is.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(crate::root());
    command
}

/// What cargo knows of one package of the workspace: its targets and features.
pub fn package(name: &str) -> Result<Value> {
    let output = cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let found = metadata["packages"].as_array().into_iter().flatten().find(|package| package["name"] == name);
    found.cloned().with_context(|| format!("the workspace has no package {name}"))
}
