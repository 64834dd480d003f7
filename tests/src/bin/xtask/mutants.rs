//! `cargo xtask mutants`: changes the code and sees whether a test notices.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use trimtab_tests::workspace::cargo;

use crate::tools::{self, PORTABLE_MODULES};

pub(crate) const HELP: &str = "\
Changes one place of the code at a time (a sign, a comparison, a whole function) and runs the package's own tests,
first its unit tests and then the others: a change that no test notices is a survivor. Installs cargo-mutants. All of core and of the firmware's portable part
takes many hours; a shard is a fair sample of it.

  cargo xtask mutants                                  core and the firmware's portable part
  cargo xtask mutants --package core                   one of them: core, firmware
  cargo xtask mutants --package firmware --shard 0/40  every 40th change, beginning with the first
  cargo xtask mutants --package core --file 'core/src/math/*.rs'

Logs of every change are in target/mutants/PACKAGE.";

/// What to change.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    packages: Vec<String>,
    shard: Option<String>,
    file: Option<String>,
}

impl Request {
    pub(crate) fn parse(words: &[&str]) -> Result<Self> {
        let mut request = Self { packages: vec!["core".into(), "firmware".into()], shard: None, file: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("`{word}` needs a value\n{HELP}"))?.to_string();
            match *word {
                "--package" if ["core", "firmware"].contains(&value.as_str()) => request.packages = vec![value],
                "--package" => bail!("there is no package `{value}`; there are core and firmware"),
                "--shard" => request.shard = Some(value),
                "--file" => request.file = Some(value),
                _ => bail!("there is no option `{word}`\n{HELP}"),
            }
        }
        Ok(request)
    }

    /// Every so many-th change: cargo-mutants' own shards are slices of neighbours.
    fn shard_words(&self) -> Vec<&str> {
        self.shard.as_ref().map_or(Vec::new(), |shard| vec!["--shard", shard, "--sharding", "round-robin"])
    }
}

pub(crate) fn run(request: &Request) -> Result<()> {
    tools::subcommand("mutants")?;
    for package in &request.packages {
        let output = trimtab_tests::root().join("target/mutants").join(package);
        if output.exists() {
            fs::remove_dir_all(&output).with_context(|| format!("cannot empty {}", output.display()))?;
        }
        fs::create_dir_all(&output)?;
        let mut count = Count::default();
        for (pass, tests) in PASSES.iter().filter(|(pass, _)| package == "core" || *pass != TRACE) {
            let folder = output.join(pass);
            fs::create_dir_all(&folder)?;
            let mut command = command(request, package, &folder, *pass == TRACE)?;
            // On a busy machine the suites take minutes.
            command.args(["--timeout", if *pass == PASSES[0].0 { "90" } else { "600" }]);
            // Not after `--`, which the tests get but not their build.
            command.args(tests.iter().map(|word| format!("--cargo-arg={word}")));
            match &count.survivors[..] {
                _ if *pass == PASSES[0].0 => command.args(request.shard_words()),
                [] => break,
                survivors => command.args(survivors.iter().map(|name| format!("--re=^{}$", escaped(name)))),
            };
            count.pass(&mut command, &folder.join("mutants.out"))?;
        }
        println!("{package}: {}", count.text()?);
        count.survivors.iter().for_each(|name| println!("  survived: {name}"));
    }
    Ok(())
}

/// First the unit tests, which are built and run in seconds; then the golden trace and the suite, on what
/// survived. Examples in comments would be compiled for minutes.
const PASSES: [(&str, &[&str]); 3] =
    [("unit", &["--lib"]), (TRACE, &["--test", "parity"]), ("suite", &["--test", "*"])];
/// The golden trace is of another package, and only core can change it.
const TRACE: &str = "trace";

fn command(request: &Request, package: &str, output: &Path, is_trace: bool) -> Result<Command> {
    let (portable, folder) = tools::portable()?;
    let (name, files, features) = match package {
        "core" => ("trimtab".to_string(), vec!["core/src/**/*.rs".to_string()], "postcard,micromath"),
        _ => {
            let file = |module: &str| [format!("{folder}/src/{module}/**"), format!("{folder}/src/{module}.rs")];
            (portable, PORTABLE_MODULES.iter().flat_map(|module| file(module)).collect(), "")
        }
    };
    let mut command = cargo();
    let tested = if is_trace { "trimtab-tests" } else { &name };
    command.args(["mutants", "--package", &name, "--test-package", tested, "--jobs", "1", "--output"]);
    command.arg(output).args(["--build-timeout", "600"]);
    // cargo-mutants looks for the baseline's tests in the changed package.
    command.args(if is_trace { ["--baseline", "skip"] } else { ["--features", features] });
    command.args(["--no-shuffle", "--exclude-re", "impl (Debug|fmt::Display|core::error::Error)"]);
    for file in request.file.as_ref().map_or(&files[..], std::slice::from_ref) {
        command.args(["--file", file]);
    }
    Ok(command)
}

/// A name as a regular expression that fits nothing else.
fn escaped(name: &str) -> String {
    // Not `<` and `>`: with a backslash these are the ends of words.
    let is_special = |c: char| r".+*?()[]{}|^$\".contains(c);
    name.chars().flat_map(|c| is_special(c).then_some('\\').into_iter().chain([c])).collect()
}

/// Changes by what became of them.
#[derive(Debug, Default)]
struct Count {
    caught: usize,
    late: usize,
    unviable: usize,
    /// Names of those that no test has noticed yet.
    survivors: Vec<String>,
}

impl Count {
    /// Adds a pass over the survivors of the one before.
    fn pass(&mut self, command: &mut Command, folder: &Path) -> Result<()> {
        let status = tools::status(command)?;
        // 2: a change survived; 3: a time-out. With anything else the tests fail on unchanged code.
        ensure!(matches!(status.code(), Some(0 | 2 | 3)), "cargo-mutants ended with {status}");
        // cargo-mutants 27 tries removed fields whatever `--re` says.
        let asked = std::mem::take(&mut self.survivors);
        let names = |file: &str| -> Vec<String> {
            let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
            let names = text.lines().map(str::to_string);
            names.filter(|name| asked.is_empty() || asked.contains(name)).collect()
        };
        self.caught += names("caught.txt").len();
        self.late += names("timeout.txt").len();
        self.unviable += names("unviable.txt").len();
        self.survivors = names("missed.txt");
        Ok(())
    }

    /// The share with a 95 % interval.
    fn text(&self) -> Result<String> {
        let noticed = self.caught + self.late;
        let all = noticed + self.survivors.len();
        ensure!(all > 0, "no change was tested");
        let (low, high) = wilson(noticed as f64, all as f64);
        Ok(format!(
            "{noticed} of {all} changes noticed ({} by a time-out), {:.1} %, 95 % interval {:.1} to {:.1} %; {} did \
             not compile",
            self.late,
            100.0 * noticed as f64 / all as f64,
            100.0 * low,
            100.0 * high,
            self.unviable
        ))
    }
}

/// Wilson's interval of a share.
fn wilson(hits: f64, n: f64) -> (f64, f64) {
    let (p, z) = (hits / n, 1.96);
    let centre = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    ((centre - half) / scale, (centre + half) / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_and_shards_are_read() {
        let request = Request::parse(&["--package", "core", "--shard", "1/8"]).unwrap();
        assert_eq!((request.packages, request.shard.as_deref()), (vec!["core".to_string()], Some("1/8")));
        assert_eq!(Request::parse(&[]).unwrap().packages.len(), 2);
        assert!(Request::parse(&["--package", "host"]).is_err() && Request::parse(&["--shard"]).is_err());
    }

    #[test]
    fn a_name_fits_itself_alone() {
        let name = "a/b.rs:8:9: replace || with && in A<K>::f -> f32";
        assert_eq!(escaped(name), r"a/b\.rs:8:9: replace \|\| with && in A<K>::f -> f32");
    }

    #[test]
    fn a_time_out_is_noticed() {
        let survivors = vec!["x".to_string(); 10];
        let count = Count { caught: 89, late: 1, unviable: 3, survivors };
        let text =
            "90 of 100 changes noticed (1 by a time-out), 90.0 %, 95 % interval 82.6 to 94.5 %; 3 did not compile";
        assert_eq!(count.text().unwrap(), text);
        assert!(Count::default().text().is_err());
    }

    /// 90 of 100: 82.6 to 94.5 %, as in tables.
    #[test]
    fn the_interval_is_wilsons() {
        let (low, high) = wilson(90.0, 100.0);
        assert!((low - 0.8256).abs() < 1e-3 && (high - 0.9448).abs() < 1e-3, "{low} {high}");
    }
}
