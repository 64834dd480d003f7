//! Cargo, called from tests and commands, and its metadata.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// Cargo, run at the top of the repository, where it finds the project's own configuration (above
/// all the log level of defmt).
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(crate::root());
    command
}

/// The metadata of one package of the workspace: its targets and features.
pub fn package(name: &str) -> Result<Value> {
    let output = cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let found = metadata["packages"].as_array().into_iter().flatten().find(|package| package["name"] == name);
    found.cloned().with_context(|| format!("the workspace has no package {name}"))
}
