//! An RP2040 in rp2040js: its clocks, timer, GPIO, ADC, UART and watchdog, and a stub of its boot ROM.
//!
//! **Choices**
//! - `cargo xtask setup` installs the simulator below `target/`, in one version.
//! - `tests/assets/rp2040.cjs` runs boot after boot in one process and prints facts; they are read
//!   here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use object::{Object as _, ObjectSymbol as _};

use crate::log::Texts;

/// The simulator and its version.
pub const PACKAGE: &str = "rp2040js@1.4.1";

/// How to get it.
pub const HOW_TO_GET: &str = "rp2040js is missing: install node and npm, then `cargo xtask setup`";

/// The folder that npm installs to.
pub fn folder() -> PathBuf {
    crate::root().join("target/npm")
}

/// The installed simulator, if it has the right version.
pub fn package() -> Result<PathBuf> {
    let package = folder().join("node_modules/rp2040js");
    let manifest = fs::read_to_string(package.join("package.json")).context(HOW_TO_GET)?;
    let version = PACKAGE.rsplit('@').next().unwrap_or_default();
    ensure!(manifest.contains(&format!("\"version\": \"{version}\"")), HOW_TO_GET);
    Ok(package.canonicalize()?)
}

/// One boot of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boot {
    /// The lines of its log, and of the serial port.
    pub lines: Vec<String>,
    /// The relays at each conversion of the ADC.
    pub relays: Vec<u8>,
    /// Why it ended: `asleep`, `cut`, `bitten` or `too long`.
    pub end: String,
    /// Flash operations.
    pub operations: u32,
}

/// Runs an image by a scenario (see the script) and returns its boots.
pub fn run(elf: &Path, scenario: &str) -> Result<Vec<Boot>> {
    let bytes = fs::read(elf)?;
    let file = object::File::parse(&*bytes)?;
    let rtt = file.symbols().find(|symbol| symbol.name() == Ok("_SEGGER_RTT")).map_or(0, |symbol| symbol.address());
    let script = crate::root().join("tests/assets/rp2040.cjs");
    let mut node = Command::new("node");
    node.arg(script).arg(package()?).arg(elf).arg(rtt.to_string()).arg(scenario);
    let output = node.output().context("cannot start node")?;
    ensure!(output.status.success(), "rp2040js: {}", String::from_utf8_lossy(&output.stderr));
    let texts = Texts::of(elf)?;
    let mut boots: Vec<Boot> = Vec::new();
    let mut decoder = texts.decoder();
    for line in String::from_utf8(output.stdout)?.lines() {
        let (fact, rest) = line.split_once(' ').unwrap_or((line, ""));
        if fact == "boot" {
            boots.push(Boot::default());
            decoder = texts.decoder();
        }
        let boot = boots.last_mut().context("a fact before the first boot")?;
        match fact {
            "boot" => {}
            "rtt" => decoder.receive(&unhex(rest)?, &mut |line| boot.lines.push(line.into()))?,
            "uart" => boot.lines.push(rest.trim_end().into()),
            "relays" => boot.relays.push(rest.parse()?),
            "end" => {
                let (why, numbers) =
                    rest.rsplit_once(' ').and_then(|(rest, _)| rest.rsplit_once(' ')).context("end")?;
                (boot.end, boot.operations) = (why.into(), numbers.parse()?);
            }
            _ => anyhow::bail!("rp2040js says: {line}"),
        }
    }
    Ok(boots)
}

fn unhex(text: &str) -> Result<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?)).collect()
}
