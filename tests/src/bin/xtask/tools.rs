//! Tools that only some commands need: each installs what it lacks, in full view.

use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context as _, Result, ensure};

/// The toolchain of Miri and the fuzzer.
pub(crate) const NIGHTLY: &str = "nightly";

/// Where the firmware's portable part lives: the first of these folders that is a package. The
/// modules are those of its library that know no board.
const PORTABLE: [&str; 2] = ["firmware/embedded", "firmware"];
pub(crate) const PORTABLE_MODULES: [&str; 6] = ["flash", "journal", "objective", "persistent", "telemetry", "watchdog"];

/// The package of the firmware's portable part and its folder.
pub(crate) fn portable() -> Result<(String, &'static str)> {
    let manifest = |folder: &str| std::fs::read_to_string(trimtab_tests::root().join(folder).join("Cargo.toml"));
    let found = PORTABLE.into_iter().find_map(|folder| Some((folder, manifest(folder).ok()?)));
    let (folder, text) = found.context("no package of the firmware's portable part")?;
    let name = text.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    Ok((name.with_context(|| format!("{folder}/Cargo.toml has no name"))?.to_string(), folder))
}

/// Cargo by its name, so that rustup's knows `+nightly`, at the top of the repository.
pub(crate) fn rustup_cargo(toolchain: &str) -> Command {
    let mut command = Command::new("cargo");
    command.arg(format!("+{toolchain}")).current_dir(trimtab_tests::root());
    // Set for us by the cargo that runs xtask; they would name its toolchain.
    for variable in ["CARGO", "RUSTUP_TOOLCHAIN", "RUSTC", "RUSTDOC"] {
        command.env_remove(variable);
    }
    command
}

/// Installs a cargo subcommand from crates.io if it is not there.
pub(crate) fn subcommand(name: &str) -> Result<()> {
    let package = format!("cargo-{name}");
    if succeeds(Command::new("cargo").args([name, "--version"])) {
        return Ok(());
    }
    run(Command::new("cargo").args(["install", "--locked", &package]))
        .with_context(|| format!("{package} is missing and could not be installed: cargo install {package}"))
}

/// Installs components of a toolchain.
pub(crate) fn components(toolchain: &str, components: &[&str]) -> Result<()> {
    let mut command = Command::new("rustup");
    command.args(["component", "add", "--toolchain", toolchain]).args(components);
    run(&mut command).with_context(|| {
        let list = components.join(" ");
        format!("{list} of the toolchain {toolchain} could not be installed; needs rustup: rustup toolchain install {toolchain}")
    })
}

fn succeeds(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).output().is_ok_and(|output| output.status.success())
}

/// Runs a command in full view; it has to succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = status(command)?;
    ensure!(status.success(), "`{}` failed", shown(command));
    Ok(())
}

/// Runs a command in full view.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    let shown = shown(command);
    println!("$ {shown}");
    command.stdin(Stdio::null()).status().with_context(|| format!("cannot start `{shown}`"))
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
