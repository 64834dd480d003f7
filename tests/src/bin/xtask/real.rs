//! `cargo xtask bench real`: zlib under 29 flags of GCC and SQLite with 14 settings, tuned by trimtab,
//! Optuna's TPE, 1-step local search and random search.
//!
//! | option | what |
//! |---|---|
//! | no option | 12 seeds, 60 measurements each; SQLite also with noise |
//! | `--quick` | one seed, 6 measurements, without Optuna: whether it works |
//! | `--program FILE` | this `trimtab` instead of an optimized one, which takes minutes to build |
//! | `--prepare` | only the folders `target/real/zlib` and `target/real/sqlite`, for `trimtab tune` |
//!
//! **Choices**
//! - The sources come from the registry, out of the packages that bundle them: nothing of them is in
//!   this repository.
//! - zlib is measured in instructions, counted by valgrind, and SQLite mostly in calls of the system
//!   that a simulated memory card charges: a busy machine measures nearly the same.
//! - Every combination is measured once and kept, so a second call only prints.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use trimtab_tests::root;
use trimtab_tests::workspace::cargo;

/// Names the packages whose sources are measured.
const MANIFEST: &str = "\
[package]
name = \"sources\"
version = \"0.0.0\"
edition = \"2024\"

[lib]
path = \"lib.rs\"

[dependencies]
libz-sys = \"=1.1.22\"
libsqlite3-sys = \"=0.35.0\"

[workspace]
";

/// The options.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    quick: bool,
    prepare: bool,
    program: Option<PathBuf>,
}

impl Request {
    pub(crate) fn parse(words: &[&str]) -> Result<Self> {
        let (mut request, mut words) = (Self::default(), words.iter());
        while let Some(word) = words.next() {
            match *word {
                "--quick" => request.quick = true,
                "--prepare" => request.prepare = true,
                "--program" => request.program = Some(words.next().context("--program needs a file")?.into()),
                _ => bail!("`cargo xtask bench real` does not know {word}; it has --quick, --prepare and --program"),
            }
        }
        Ok(request)
    }

    /// The races: the example, its instance, the folder of its runs, more options of `trimtab bench`.
    fn races(&self) -> Vec<[&'static str; 4]> {
        const FULL: &str = "--method trimtab,local-search,random,optuna-tpe --first-seed 1000 --seeds 12 --budget 60";
        const NOISY: &str =
            "--method trimtab,local-search,random,optuna-tpe --first-seed 1000 --seeds 12 --budget 60 --noise 0.1";
        const QUICK: &str = "--method trimtab,random --seeds 1 --budget 6";
        match self.quick {
            true => vec![["zlib", "zlib.json", "quick", QUICK], ["sqlite", "decibel.json", "quick", QUICK]],
            false => vec![
                ["sqlite", "sqlite.json", "runs", FULL],
                ["sqlite", "decibel.json", "runs", FULL],
                ["sqlite", "decibel.json", "noisy", NOISY],
                ["zlib", "zlib.json", "runs", FULL],
            ],
        }
    }
}

impl Request {
    /// The program to race, by its whole path: it runs in another folder.
    fn program(&self) -> Result<PathBuf> {
        if let Some(program) = &self.program {
            return program.canonicalize().with_context(|| format!("there is no {}", program.display()));
        }
        ensure!(cargo().args(["build", "--release", "--package", "trimtab-host"]).status()?.success(), "no trimtab");
        Ok(root().join("target/release/trimtab"))
    }
}

pub(crate) fn run(request: &Request) -> Result<()> {
    for (tool, debian) in [("gcc", "gcc"), ("valgrind", "valgrind")] {
        ensure!(
            Command::new(tool).arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success()),
            "{tool} is missing: apt-get install {debian}"
        );
    }
    let folder = prepare()?;
    if request.prepare {
        println!("target/real/zlib and target/real/sqlite are ready: `cd` there and tune");
        return Ok(());
    }
    let trimtab = request.program()?;
    for [example, instance, out, options] in request.races() {
        println!("$ cd target/real/{example}; trimtab bench --instance {instance} {options} --out {out}");
        let mut command = Command::new(&trimtab);
        command.current_dir(folder.join(example)).env("CARGO_TARGET_DIR", root().join("target"));
        command.args(["bench", "--instance", instance, "--out", out]);
        let status = command.args(options.split(' ')).status()?;
        ensure!(status.success(), "the race failed; the same command goes on where it stopped");
    }
    Ok(())
}

/// Copies examples and sources, and builds what need not be built per measurement.
fn prepare() -> Result<PathBuf> {
    let folder = root().join("target/real");
    for example in ["zlib", "sqlite"] {
        copy(&root().join("host/docs/examples").join(example), &folder.join(example))?;
    }
    fs::write(folder.join("Cargo.toml"), MANIFEST)?;
    fs::write(folder.join("lib.rs"), "")?;
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "cargo cannot get the sources of zlib and SQLite");
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    copy(&sources(&metadata, "libz-sys")?.join("src/zlib"), &folder.join("zlib/zlib"))?;
    copy(&sources(&metadata, "libsqlite3-sys")?.join("sqlite3"), &folder.join("sqlite/sqlite3"))?;
    for example in ["zlib", "sqlite"] {
        let status = Command::new("sh").arg("prepare.sh").current_dir(folder.join(example)).status()?;
        ensure!(status.success(), "gcc does not build {example}");
    }
    Ok(folder)
}

/// Where the sources of a package are.
fn sources(metadata: &Value, name: &str) -> Result<PathBuf> {
    let package = metadata["packages"].as_array().into_iter().flatten().find(|package| package["name"] == name);
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    Ok(Path::new(manifest.with_context(|| format!("cargo does not list {name}"))?).with_file_name(""))
}

/// Copies the files of a folder; folders in it are left out.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_others_refused() {
        let full = Request::parse(&[]).unwrap();
        let is_full = |race: &[&str; 4]| race[3].contains("optuna-tpe") && race[3].contains("--seeds 12");
        assert!(full.races().iter().all(is_full));
        assert_eq!(Request::parse(&["--quick"]).unwrap().races().len(), 2);
        assert!(Request::parse(&["--slow"]).unwrap_err().to_string().contains("--quick"));
        let own = Request::parse(&["--quick", "--program", "no/such/file"]).unwrap();
        assert!(own.quick && own.program().unwrap_err().to_string().contains("no/such/file"));
        assert!(Request::parse(&["--program"]).is_err());
    }
}
