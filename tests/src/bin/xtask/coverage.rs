//! `cargo xtask coverage`: the share of lines that the tests run, by package.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use trimtab_tests::workspace::cargo;

use crate::tools::{self, PORTABLE_MODULES};

pub(crate) const HELP: &str = "\
Runs the tests that need Rust alone with llvm's counters and prints the share of lines they run; fails below the
targets. Installs cargo-llvm-cov and llvm-tools. A whole report with every line is in target/llvm-cov/html.";

/// A part of the repository and the least share of its lines, in per cent.
struct Part {
    name: &'static str,
    files: Vec<String>,
    least: f64,
}

/// The parts by their folders.
fn parts() -> Result<Vec<Part>> {
    let (_, portable) = tools::portable()?;
    let of_firmware = PORTABLE_MODULES.map(|module| format!("{portable}/src/{module}")).to_vec();
    Ok(vec![
        Part { name: "core", files: vec!["core/src/".into()], least: 95.0 },
        Part { name: "firmware, portable part", files: of_firmware, least: 90.0 },
        Part { name: "host", files: vec!["host/src/".into()], least: 85.0 },
    ])
}

pub(crate) fn run() -> Result<()> {
    tools::run(std::process::Command::new("rustup").args(["component", "add", "llvm-tools"]))
        .context("llvm-tools is missing; it comes with rustup")?;
    tools::subcommand("llvm-cov")?;
    let json = trimtab_tests::root().join("target/coverage.json");
    let packages = ["--package", "trimtab", "--package", "trimtab-host", "--package", "trimtab-tests"];
    let (portable, _) = tools::portable()?;
    tools::run(cargo().args(["llvm-cov", "clean", "--workspace"]))?;
    tools::run(
        cargo()
            .args(["llvm-cov", "test", "--no-report", "--features", "trimtab/micromath,trimtab/postcard"])
            .args(packages)
            .args(["--package", &portable]),
    )?;
    tools::run(cargo().args(["llvm-cov", "report", "--json", "--output-path"]).arg(&json))?;
    tools::run(cargo().args(["llvm-cov", "report", "--html"]))?;
    let report: Value = serde_json::from_slice(&fs::read(&json)?)?;
    let files = report["data"][0]["files"].as_array().context("the report lists no files")?;
    println!("\n| part | lines | run | share | target |\n|---|---:|---:|---:|---:|");
    let mut missed = Vec::new();
    for part in parts()? {
        let (lines, covered) = counted(files, &part)?;
        let share = 100.0 * covered as f64 / lines as f64;
        println!("| {} | {lines} | {covered} | {share:.1} % | {} % |", part.name, part.least);
        if share < part.least {
            missed.push(part.name);
        }
    }
    ensure!(missed.is_empty(), "below their target: {}", missed.join(", "));
    Ok(())
}

/// Number of lines of a part, and of those that ran.
fn counted(files: &[Value], part: &Part) -> Result<(u64, u64)> {
    let root = fs::canonicalize(trimtab_tests::root())?;
    let (mut lines, mut covered) = (0, 0);
    for file in files {
        let path = Path::new(file["filename"].as_str().unwrap_or_default());
        let Ok(path) = path.strip_prefix(&root) else { continue };
        let path = path.to_string_lossy();
        if part.files.iter().any(|start| path.starts_with(start.as_str())) {
            let summary = &file["summary"]["lines"];
            lines += summary["count"].as_u64().unwrap_or(0);
            covered += summary["covered"].as_u64().unwrap_or(0);
        }
    }
    ensure!(lines > 0, "the report has no line of {}", part.name);
    Ok((lines, covered))
}
