//! Optuna's tree-structured Parzen estimator, in its own Python process.
//!
//! Akiba, Sano, Yanase, Ohta and Koyama, *Optuna*, KDD 2019; Bergstra, Bardenet, Bengio and Kégl,
//! *Algorithms for Hyper-Parameter Optimization*, NeurIPS 2011.
//!
//! | setting | value |
//! |---|---|
//! | sampler | `TPESampler(seed)`, all else as Optuna has it: 10 random trials first, then all knobs at once |
//! | nominal knob | categorical |
//! | graded knob | an integer, the level |
//! | repeats | as Optuna likes |
//!
//! **Choices**
//! - Not one of `--method all`: it needs python3 and, for the first run, a network. Named
//!   explicitly, it installs Optuna into a virtual environment, `optuna` in cargo's target
//!   directory.
//! - The seconds of a run are those of this process, not of Python; `cargo xtask bench serve` times
//!   Optuna.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};
use trimtab::Level;

use super::{Entry, Method, Task};
use crate::error::Error;

pub(crate) const OPTUNA: Entry = Entry {
    name: "optuna-tpe",
    about: "Optuna's tree-structured Parzen estimator, through Python",
    source: "Akiba et al., KDD 2019; Bergstra et al., NeurIPS 2011; Optuna 5.0.0 itself",
    fallback: "Optuna's own choice",
    start: |task| Ok(Box::new(Optuna::new(task)?)),
};

const PACKAGE: &str = "optuna==5.0.0";
const SCRIPT: &str = include_str!("../../../assets/optuna_tpe.py");

struct Optuna {
    child: Child,
    /// `None` once the process is told to end.
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Optuna {
    fn new(task: &Task<'_>) -> Result<Self, Error> {
        static PYTHON: OnceLock<Result<PathBuf, String>> = OnceLock::new();
        let python = PYTHON.get_or_init(install).clone();
        let python = python.map_err(|why| Error::Usage(format!("Optuna cannot be used: {why}; leave it out")))?;
        let mut command = Command::new(python);
        let command = command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| lost(&error.to_string()))?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(lost("it has no pipes"));
        };
        let mut optuna = Self { child, to: Some(to), from: BufReader::new(from) };
        let knobs: Vec<Value> =
            task.knobs.iter().map(|knob| json!({"levels": knob.levels(), "graded": knob.is_graded()})).collect();
        // NumPy takes seeds of 32 bits.
        optuna.send(&json!({"knobs": knobs, "seed": task.seed as u32}))?;
        Ok(optuna)
    }

    fn send(&mut self, message: &Value) -> Result<(), Error> {
        let Some(to) = &mut self.to else { return Err(lost("it has ended")) };
        to.write_all(format!("{message}\n").as_bytes()).map_err(|error| lost(&error.to_string()))
    }
}

impl Method for Optuna {
    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        self.send(&json!({"ask": true}))?;
        let mut line = String::new();
        self.from.read_line(&mut line).map_err(|error| lost(&error.to_string()))?;
        serde_json::from_str(&line).map(Some).map_err(|error| lost(&error.to_string()))
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        self.send(&json!({"levels": levels, "cost": cost}))
    }
}

impl Drop for Optuna {
    fn drop(&mut self) {
        // The end of its input ends the script.
        self.to = None;
        let _ = self.child.wait();
    }
}

fn lost(why: &str) -> Error {
    Error::Failed(format!("Optuna does not answer: {why}; its own message is above"))
}

/// Python with Optuna, installed if needed.
fn install() -> Result<PathBuf, String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let folder = std::path::absolute(target.join("optuna")).map_err(|error| error.to_string())?;
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python3" });
    let run = |command: &mut Command| match command.stdout(Stdio::null()).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_string()),
        Err(error) => Err(error.to_string()),
    };
    if run(Command::new(&python).args(["-c", "import optuna"])).is_err() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))
            .map_err(|error| format!("no python3 with venv: {error}"))?;
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", PACKAGE]))
            .map_err(|error| format!("pip did not install {PACKAGE}: {error}"))?;
    }
    Ok(python)
}
