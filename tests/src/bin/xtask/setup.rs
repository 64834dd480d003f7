//! Installs the tools that the checks need besides Rust: rustup's components, the chips' targets,
//! QEMU, gcc, valgrind, python3, a browser, rp2040js. Where it may not install, the error says what to type.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use trimtab_tests::board::BOARDS;
use trimtab_tests::hal::PROGRAMS;
use trimtab_tests::machine::TARGETS;
use trimtab_tests::workspace::cargo;
use trimtab_tests::{browser, qemu, rp2040};

/// Installs the missing tools.
pub(crate) fn run() -> Result<()> {
    for component in ["rustfmt", "clippy"] {
        if !succeeds(cargo().args([component.replace("rust", ""), "--version".into()])) {
            do_it("rustup", &["component", "add", component])?;
        }
        println!("{component}: here");
    }
    for target in targets() {
        if !has_target(target)? {
            do_it("rustup", &["target", "add", target]).context("a chip's target is missing and needs rustup")?;
        }
        println!("target {target}: here");
    }
    for (program, debian) in [(qemu::PROGRAM, "qemu-system-arm"), (qemu::RISCV, "qemu-system-misc")] {
        if qemu::version_of(program).is_err() {
            install(&[debian], qemu::HOW_TO_GET)?;
        }
        println!("{program}: {}", qemu::version_of(program)?);
    }
    for program in ["gcc", "valgrind"] {
        if !succeeds(Command::new(program).arg("--version")) {
            install(&[program], "`cargo xtask bench real` needs gcc and valgrind; install them, then try again")?;
        }
        println!("{program}: here");
    }
    if !succeeds(Command::new("python3").args(["-m", "venv", "--help"])) {
        install(&["python3", "python3-venv"], "a client of `trimtab serve` is in Python; install python3")?;
    }
    println!("python3: here");
    if browser::version().is_err() {
        // Without a font a page has no text to measure.
        install(&["chromium", "fonts-dejavu-core"], browser::HOW_TO_GET)?;
    }
    println!("browser: {}", browser::version()?);
    if rp2040::package().is_err() {
        if !succeeds(Command::new("npm").arg("--version")) {
            install(&["nodejs", "npm"], rp2040::HOW_TO_GET)?;
        }
        let folder = rp2040::folder();
        std::fs::create_dir_all(&folder)?;
        let folder = folder.to_str().context("the path of target is not Unicode")?;
        do_it("npm", &["install", "--prefix", folder, "--no-save", "--no-fund", "--no-audit", rp2040::PACKAGE])
            .context(rp2040::HOW_TO_GET)?;
    }
    rp2040::package()?;
    println!("{}: here", rp2040::PACKAGE);
    Ok(())
}

/// The targets of core, of the boards and of the programs on HALs, each once.
fn targets() -> Vec<&'static str> {
    let programs = PROGRAMS.iter().map(|program| program.target);
    let mut targets: Vec<_> = BOARDS.iter().map(|board| board.target).chain(TARGETS).chain(programs).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// Whether the standard library of a target is installed, by rustup or otherwise.
fn has_target(target: &str) -> Result<bool> {
    let output = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    let output = output.context("cannot start rustc")?;
    Ok(output.status.success() && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

/// Installs Debian packages as root or by `sudo`; elsewhere the error says what to type.
pub(crate) fn install(packages: &[&str], how_to_get: &'static str) -> Result<()> {
    let sudo: &[&str] = if is_root() {
        &[]
    } else if succeeds(Command::new("sudo").args(["-n", "true"])) {
        &["sudo", "-n"]
    } else {
        bail!(how_to_get)
    };
    ensure!(succeeds(Command::new("apt-get").arg("--version")), how_to_get);
    let install = [&["install", "--yes", "--no-install-recommends"], packages].concat();
    for arguments in [&["update"][..], &install] {
        let words = [sudo, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"], arguments].concat();
        do_it(words[0], &words[1..]).context(how_to_get)?;
    }
    Ok(())
}

pub(crate) fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn succeeds(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).output().is_ok_and(|output| output.status.success())
}

/// Runs a command in full view.
fn do_it(program: &str, arguments: &[&str]) -> Result<()> {
    println!("$ {program} {}", arguments.join(" "));
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot start {program}"))?;
    ensure!(status.success(), "`{program} {}` failed", arguments.join(" "));
    Ok(())
}
