//! The browser that the report is tested in.

use std::process::Command;

use anyhow::{Result, anyhow, ensure};

/// Names under which it is installed.
const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// How to get one, for every system on which we know.
pub const HOW_TO_GET: &str = "\
No browser is installed (no `chromium` on the path). Get it with:

  Debian, Ubuntu   sudo apt-get install chromium
  Fedora           sudo dnf install chromium
  Arch             sudo pacman -S chromium
  macOS            brew install --cask chromium";

/// The version of the first that is there.
pub fn version() -> Result<String> {
    let output = PROGRAMS.iter().find_map(|program| Command::new(program).arg("--version").output().ok());
    let output = output.ok_or_else(|| anyhow!(HOW_TO_GET))?;
    ensure!(output.status.success(), "the browser does not start: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).trim().into())
}
