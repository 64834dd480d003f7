//! `cargo xtask test`: every check in turn, each an ordinary command that can be typed again.
//!
//! **Choices**
//! - Cheap steps come first, and the first failure ends the run.
//! - Steps that build the same package use the same features, so that cargo builds it once.
//! - Some steps need a tool that we do not install (cargo-deny, an older Rust), or that not every machine
//!   can install or start (Slurm, an ssh server). Without it they are skipped, and the summary says why.

use std::fmt;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

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
    /// The tool without which the step is left out, and how to ask whether it is there.
    needs: Option<(String, Vec<String>)>,
}

impl Step {
    fn new(name: impl Into<String>, arguments: &str) -> Self {
        Self { name: name.into(), environment: Vec::new(), arguments: words(arguments), needs: None }
    }

    fn with(mut self, variable: &'static str, value: &'static str) -> Self {
        self.environment.push((variable, value));
        self
    }

    /// Leaves the step out where `cargo PROBE` fails.
    fn needs(mut self, tool: &str, probe: &str) -> Self {
        self.needs = Some((tool.into(), words(probe)));
        self
    }

    /// Why the step cannot run, if it cannot: the missing tool, and what asking for it said last.
    fn missing(&self) -> Option<String> {
        let (tool, probe) = self.needs.as_ref()?;
        // By its name, not by `CARGO`: rustup's own cargo knows `+1.90`.
        let output = Command::new("cargo").args(probe).stdin(Stdio::null()).output();
        let said = match output {
            Ok(output) if output.status.success() => return None,
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().lines().last().unwrap_or_default().to_string(),
            Err(error) => error.to_string(),
        };
        Some(reason(tool, &said))
    }

    fn run(&self) -> Result<bool> {
        let mut command = if self.needs.is_some() { Command::new("cargo") } else { cargo() };
        command.current_dir(trimtab_tests::root());
        let status = command.args(&self.arguments).envs(self.environment.iter().copied()).status();
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

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(String::from).collect()
}

/// All checks, cheap ones first.
fn steps() -> Result<Vec<Step>> {
    let chip = format!("--package {PACKAGE} --target {TARGET} --no-default-features --features stm32f405,semihosting");
    let silent =
        format!("--package {PACKAGE} --target {TARGET} --no-default-features --features stm32f405,semihosting-exit");
    let panic_free =
        format!("--package {PACKAGE} --target {TARGET} --no-default-features --features stm32f405,unchecked-index");
    let riscv = format!(
        "--package {PACKAGE} --target {} --no-default-features --features console,{}",
        RISCV32_VIRT.target, RISCV32_VIRT.name
    );
    let wasm = format!("--package {PACKAGE} --target {} --no-default-features --features {}", WASM.target, WASM.name);
    let targets = TARGETS.map(|target| format!("--target {target}")).join(" ");
    let features = core_features()?;
    let all = features.iter().map(|feature| format!("trimtab/{feature}")).collect::<Vec<_>>().join(",")
        + ",trimtab-embedded/defmt";
    let oldest = package("trimtab")?["rust_version"].as_str().context("core names no rust-version")?.to_string();
    let here = "trimtab-tests/wasm,trimtab-host/browser";
    let mut steps = vec![
        Step::new("format", "fmt --all --check"),
        Step::new("licences and sources", "deny check bans licenses sources").needs("cargo-deny", "deny --version"),
        Step::new(
            "lints, this machine",
            &format!("clippy --workspace --all-targets --features {here},{all} -- -D warnings"),
        ),
        Step::new("lints, chip", &format!("clippy {chip} --lib --bins --examples -- -D warnings")),
        Step::new("lints, chip in silence", &format!("clippy {silent} --bin minimal -- -D warnings")),
        Step::new("lints, chip without panics", &format!("clippy {panic_free} --bin panic_free -- -D warnings")),
        Step::new("lints, RISC-V", &format!("clippy {riscv} --lib --bin parity --example hard_fault -- -D warnings")),
        Step::new("lints, WebAssembly", &format!("clippy {wasm} --lib --example parity_wasm -- -D warnings")),
        Step::new(
            "lints, page",
            &format!("clippy --package trimtab-web --target {} --lib -- -D warnings", WASM.target),
        ),
        Step::new(
            "docs, this machine",
            &format!("doc --workspace --no-deps --lib --features trimtab-tests/wasm,{all}"),
        )
        .with("RUSTDOCFLAGS", "-D warnings"),
        Step::new("docs, chip", &format!("doc {chip} --no-deps --lib")).with("RUSTDOCFLAGS", "-D warnings"),
        // Its tests run once, with all features: these only add.
        Step::new("core without features", "check --package trimtab --lib --profile test"),
    ];
    for feature in &features {
        steps.push(Step::new(
            format!("core with {feature} alone"),
            &format!("check --package trimtab --features {feature}"),
        ));
    }
    steps.extend([
        Step::new(
            format!("Rust {oldest}"),
            &format!("+{oldest} check --workspace --exclude {PACKAGE} --target-dir target/rust-{oldest}"),
        )
        .needs(&format!("the toolchain {oldest}"), &format!("+{oldest} --version")),
        Step::new(
            "core and embedded as they are published",
            "package --package trimtab --package trimtab-embedded --allow-dirty",
        ),
        Step::new(
            "core and embedded for every target",
            &format!("check --package trimtab --package trimtab-embedded --all-features {targets}"),
        ),
        Step::new("parity, this machine, optimized", "test --package trimtab-tests --test parity --release"),
        // Two builds: defmt's decoder, which only our tests use, changes how serde_json reads numbers.
        Step::new(
            "tests and doctests, this machine, pages in a browser",
            &format!("test --workspace --exclude trimtab-tests --features trimtab-host/browser,{all}"),
        ),
        Step::new(
            "tests across packages, in QEMU, rp2040js, and of programs on real HALs",
            &format!("test --package trimtab-tests --features trimtab-tests/wasm,{all}"),
        ),
        Step::new("the Python package", "xtask python")
            .needs("python3 with venv, pip and PyPI", "xtask python --prepare"),
        // The program that the tests used: an optimized one takes minutes to build.
        Step::new("zlib and SQLite, shortly", "xtask bench real --quick --program target/debug/trimtab"),
        Step::new("boards over ssh, GNU parallel", "xtask machines ssh --program target/debug/trimtab")
            .needs("GNU parallel or an ssh server on loopback", "xtask machines ssh --prepare"),
        Step::new("a cluster of Slurm on this machine", "xtask machines slurm --program target/debug/trimtab")
            .needs("Slurm on loopback", "xtask machines slurm --prepare"),
    ]);
    Ok(steps)
}

/// The features of core, from its manifest, so that a new one is checked without a change here.
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
    let (total, mut skipped) = (steps.len(), Vec::new());
    for (done, step) in steps.iter().enumerate() {
        println!("\n== {} of {total}: {}\n   {step}", done + 1, step.name);
        if let Some(why) = step.missing() {
            println!("   skipped: {why}");
            skipped.push(format!("skipped: {}: {why}", step.name));
            continue;
        }
        let (start, work) = (Instant::now(), processor_time());
        if !step.run()? {
            println!("\n== failed: {}. This step alone:\n   {step}", step.name);
            println!("{}", summary(done - skipped.len(), 1, &skipped));
            return Ok(ExitCode::FAILURE);
        }
        println!("   ok, {}{}", shown(start.elapsed()), since(work));
    }
    println!("\n== all checks passed in {}{}", shown(begin.elapsed()), since(Some(Duration::ZERO)));
    println!("{}", summary(total - skipped.len(), 0, &skipped));
    Ok(ExitCode::SUCCESS)
}

/// Why a step is left out.
fn reason(tool: &str, said: &str) -> String {
    let said = said.trim_start_matches("error: ");
    format!("{tool} is not there{}", if said.is_empty() { String::new() } else { format!(" ({said})") })
}

/// The last lines: each step that was left out with its reason, and the numbers.
fn summary(passed: usize, failed: usize, skipped: &[String]) -> String {
    let numbers = format!("steps: {passed} passed, {failed} failed, {} skipped", skipped.len());
    skipped.iter().cloned().chain([numbers]).collect::<Vec<_>>().join("\n")
}

/// The processor time of all commands so far; `None` where there is no `/proc`.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Fields are counted after the name, which may hold anything: these two are the time of ended
    // children, in hundredths of a second.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(13).map(|field| field.parse::<u64>().ok());
    let (user, system) = (fields.next()??, fields.next()??);
    Some(Duration::from_millis((user + system) * 10))
}

fn since(work: Option<Duration>) -> String {
    let spent = work.zip(processor_time()).map(|(before, now)| now.saturating_sub(before));
    spent.map_or(String::new(), |spent| format!(" ({} of processor time)", shown(spent)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_skipped_is_in_the_summary_with_its_reason() {
        let step = Step::new("a cluster", "xtask cost").needs("Slurm", "no-such-command-of-cargo");
        let why = step.missing().unwrap();
        assert!(why.starts_with("Slurm is not there (") && why.contains("no-such-command-of-cargo"), "{why}");
        assert!(Step::new("here", "--version").needs("cargo", "--version").missing().is_none());
        assert_eq!(reason("Slurm", "error: no idle node"), "Slurm is not there (no idle node)");
        let all = summary(3, 0, &["skipped: a cluster: no".into()]);
        assert_eq!(all, "skipped: a cluster: no\nsteps: 3 passed, 0 failed, 1 skipped");
    }
}
