//! `cargo xtask test`: every check, one after the other, each an ordinary command that can be typed again.

use std::fmt;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result};
use trimtab_tests::image::{PACKAGE, TARGET};
use trimtab_tests::machine::{RISCV32_VIRT, TARGETS, WASM};
use trimtab_tests::workspace::{cargo, package};

use crate::{setup, shown};

/// One check: a cargo command.
#[derive(Debug)]
struct Step {
    name: String,
    environment: Vec<(&'static str, &'static str)>,
    arguments: Vec<String>,
}

impl Step {
    fn new(name: impl Into<String>, arguments: &str) -> Self {
        let arguments = arguments.split_whitespace().map(String::from).collect();
        Self { name: name.into(), environment: Vec::new(), arguments }
    }

    fn with(mut self, variable: &'static str, value: &'static str) -> Self {
        self.environment.push((variable, value));
        self
    }

    fn run(&self) -> Result<bool> {
        let status = cargo().args(&self.arguments).envs(self.environment.iter().copied()).status();
        Ok(status.context("cannot start cargo")?.success())
    }
}

/// As one would type it.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (variable, value) in &self.environment {
            write!(f, "{variable}=\"{value}\" ")?;
        }
        write!(f, "cargo {}", self.arguments.join(" "))
    }
}

/// All checks, cheap ones first.
fn steps() -> Result<Vec<Step>> {
    let chip = format!("--package {PACKAGE} --target {TARGET} --features semihosting");
    let silent = format!("--package {PACKAGE} --target {TARGET} --features semihosting-exit");
    let panic_free = format!("--package {PACKAGE} --target {TARGET} --features unchecked-index");
    let riscv = format!(
        "--package {PACKAGE} --target {} --no-default-features --features console,{}",
        RISCV32_VIRT.target, RISCV32_VIRT.name
    );
    let wasm = format!("--package {PACKAGE} --target {} --no-default-features --features {}", WASM.target, WASM.name);
    let targets = TARGETS.map(|target| format!("--target {target}")).join(" ");
    let tests = "--package trimtab-tests";
    let mut steps = vec![
        Step::new("format", "fmt --all --check"),
        Step::new(
            "lints, this machine",
            "clippy --workspace --all-targets --features trimtab-tests/wasm,trimtab-host/browser -- -D warnings",
        ),
        Step::new(
            "lints, core with all features",
            "clippy --package trimtab --all-targets --all-features -- -D warnings",
        ),
        Step::new("lints, chip", &format!("clippy {chip} --lib --bins --examples -- -D warnings")),
        Step::new("lints, chip in silence", &format!("clippy {silent} --bin minimal -- -D warnings")),
        Step::new("lints, chip without panics", &format!("clippy {panic_free} --bin panic_free -- -D warnings")),
        Step::new("lints, RISC-V", &format!("clippy {riscv} --lib --bin parity --example hard_fault -- -D warnings")),
        Step::new("lints, WebAssembly", &format!("clippy {wasm} --lib --example parity_wasm -- -D warnings")),
        Step::new("docs, this machine", "doc --workspace --no-deps --lib --features trimtab-tests/wasm")
            .with("RUSTDOCFLAGS", "-D warnings"),
        Step::new("docs, chip", &format!("doc {chip} --no-deps --lib")).with("RUSTDOCFLAGS", "-D warnings"),
        Step::new("core without features", "test --package trimtab"),
    ];
    for feature in core_features()? {
        steps.push(Step::new(
            format!("core with {feature} alone"),
            &format!("test --package trimtab --features {feature}"),
        ));
    }
    steps.extend([
        Step::new(
            "tests and doctests, this machine, pages in a browser",
            "test --workspace --features trimtab-host/browser",
        ),
        Step::new("parity, this machine, optimized", &format!("test {tests} --test parity --release")),
        Step::new("core for every target", &format!("build --package trimtab --all-features {targets}")),
        Step::new("core for the chip, release", &format!("build --package trimtab --target {TARGET} --release")),
        Step::new("images, debug", &format!("build {chip} --bins --examples --profile unoptimized")),
        Step::new("images, as flashed", &format!("build {chip} --bins --examples --profile firmware")),
        Step::new(
            "tests in QEMU",
            &format!(
                "test {tests} --features wasm --lib --bins --test parity --test boards --test device --test budget --test panic_free --test selftune --test stream --test survival"
            ),
        ),
    ]);
    Ok(steps)
}

/// The features of core, from its manifest: a new one is checked alone by being there.
fn core_features() -> Result<Vec<String>> {
    let core = package("trimtab")?;
    Ok(core["features"].as_object().context("cargo lists no features")?.keys().cloned().collect())
}

/// Runs all checks up to the first that fails.
pub(crate) fn test() -> Result<ExitCode> {
    let begin = Instant::now();
    println!("\n== setup");
    setup::run()?;
    let steps = steps()?;
    let total = steps.len();
    for (done, step) in steps.iter().enumerate() {
        println!("\n== {} of {total}: {}\n   {step}", done + 1, step.name);
        let start = Instant::now();
        if !step.run()? {
            println!("\n== failed: {}. This step alone:\n   {step}", step.name);
            println!("steps: {done} passed, 1 failed");
            return Ok(ExitCode::FAILURE);
        }
        println!("   ok, {}", shown(start.elapsed()));
    }
    println!("\n== all checks passed in {}", shown(begin.elapsed()));
    println!("steps: {total} passed, 0 failed");
    Ok(ExitCode::SUCCESS)
}
