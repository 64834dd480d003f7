//! `cargo xtask python`: builds the wheel of `host/python` in a virtual environment below `target` and
//! runs its tests there.
//!
//! | option | what |
//! |---|---|
//! | no option | the tests, with a wheel that builds quickly |
//! | `--prepare` | only the environment with maturin, pytest and Optuna, from PyPI |
//! | `--bench` | the time per ask and tell beside Optuna's TPE, with an optimized wheel |

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use trimtab_tests::root;

/// What the environment holds.
const PACKAGES: [&str; 4] = ["maturin==1.16.0", "pytest==9.2.0", "optuna==5.0.0", "numpy"];

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Test,
    Prepare,
    Bench,
}

impl Request {
    pub(crate) fn parse(words: &[&str]) -> Result<Self> {
        match words {
            [] => Ok(Self::Test),
            ["--prepare"] => Ok(Self::Prepare),
            ["--bench"] => Ok(Self::Bench),
            _ => bail!("`cargo xtask python` does not know {}; it has --prepare and --bench", words.join(" ")),
        }
    }
}

pub(crate) fn run(request: Request) -> Result<()> {
    let environment = prepare()?;
    if request == Request::Prepare {
        return Ok(());
    }
    install(&environment, if request == Request::Bench { "release" } else { "dev" })?;
    let mut command = Command::new(environment.join("bin/python"));
    // Not from within the package's folder: what is tested is what was installed.
    command.current_dir(root().join("target/python"));
    let package = root().join("host/python");
    if request == Request::Bench {
        return finished(command.arg(package.join("benches/speed.py")));
    }
    command.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"]);
    finished(command.arg(package.join("tests")))
}

/// The environment, made and filled if it is not there.
fn prepare() -> Result<PathBuf> {
    let environment = root().join("target/python/venv");
    let python = environment.join("bin/python");
    if !python.exists() {
        finished(Command::new("python3").args(["-m", "venv"]).arg(&environment)).context("python3 needs its venv")?;
    }
    let has = "import importlib.metadata as m, sys; [m.version(name.split('==')[0]) for name in sys.argv[1:]]";
    let known = Command::new(&python).args(["-c", has]).args(PACKAGES).stderr(Stdio::null()).status();
    if !known.is_ok_and(|status| status.success()) {
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        finished(Command::new(&python).args(pip).args(PACKAGES)).context("pip cannot get the packages from PyPI")?;
    }
    Ok(environment)
}

/// Builds the wheel and installs it.
fn install(environment: &Path, profile: &str) -> Result<()> {
    let wheels = root().join("target/python/wheels");
    let _ = std::fs::remove_dir_all(&wheels);
    let mut build = Command::new(environment.join("bin/maturin"));
    build.current_dir(root().join("host/python")).env("CARGO_TARGET_DIR", root().join("target/python"));
    build.args(["build", "--locked", "--profile", profile, "--interpreter"]).arg(environment.join("bin/python"));
    finished(build.arg("--out").arg(&wheels))?;
    let wheel = std::fs::read_dir(&wheels)?.next().context("maturin made no wheel")??.path();
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall"];
    finished(Command::new(environment.join("bin/python")).args(pip).arg(wheel))
}

fn finished(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    ensure!(status.success(), "{} failed", command.get_program().display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_known_or_named() {
        assert_eq!(Request::parse(&["--bench"]).unwrap(), Request::Bench);
        assert!(Request::parse(&["--quick"]).unwrap_err().to_string().contains("--quick"));
    }
}
