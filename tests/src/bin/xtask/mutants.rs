//! `cargo xtask mutants`: changes the code and sees whether a test notices.

use std::fs;

use anyhow::{Context as _, Result, bail};
use trimtab_tests::workspace::cargo;

use crate::tools::{self, PORTABLE_MODULES};

pub(crate) const HELP: &str = "\
Changes one place of the code at a time (a sign, a comparison, a whole function) and runs the package's own tests:
a change that no test notices is a survivor. Installs cargo-mutants. All of core and of the firmware's portable part
takes many hours; a shard is a fair sample of it.

  cargo xtask mutants                                  core and the firmware's portable part
  cargo xtask mutants --package core                   one of them: core, firmware
  cargo xtask mutants --package firmware --shard 0/40  every 40th change, beginning with the first
  cargo xtask mutants --package core --file 'core/src/math/*.rs'

Survivors are in target/mutants/PACKAGE/mutants.out/missed.txt.";

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
}

pub(crate) fn run(request: &Request) -> Result<()> {
    tools::subcommand("mutants")?;
    for package in &request.packages {
        let output = trimtab_tests::root().join("target/mutants").join(package);
        fs::create_dir_all(&output)?;
        let (portable, folder) = tools::portable()?;
        let (name, files) = match package.as_str() {
            "core" => ("trimtab".to_string(), vec!["core/src/**/*.rs".to_string()]),
            _ => {
                let file = |module: &str| [format!("{folder}/src/{module}/**"), format!("{folder}/src/{module}.rs")];
                (portable, PORTABLE_MODULES.iter().flat_map(|module| file(module)).collect())
            }
        };
        let mut command = cargo();
        command.args(["mutants", "--package", &name, "--test-package", &name, "--jobs", "1", "--output"]);
        command.arg(&output).args(["--baseline", "skip", "--timeout", "120", "--build-timeout", "300"]);
        command.args(["--no-shuffle", "--exclude-re", "impl (Debug|fmt::Display|core::error::Error)"]);
        for file in request.file.as_ref().map_or(&files[..], std::slice::from_ref) {
            command.args(["--file", file]);
        }
        if let Some(shard) = &request.shard {
            command.args(["--shard", shard]);
        }
        // Unit tests and the suite; examples in comments are compiled for minutes.
        command.args(["--", "--lib", "--tests"]);
        // It fails when a change survives, and the shares are printed then too.
        let survived = tools::run(&mut command).is_err();
        print_shares(package, &output.join("mutants.out"))?;
        if survived {
            println!("survivors: {}", output.join("mutants.out/missed.txt").display());
        }
    }
    Ok(())
}

/// Shares by the lists that cargo-mutants leaves, with a 95 % interval (Wilson's).
fn print_shares(package: &str, folder: &std::path::Path) -> Result<()> {
    let count = |name: &str| fs::read_to_string(folder.join(name)).map(|text| text.lines().count()).unwrap_or(0);
    let (caught, missed, late) = (count("caught.txt"), count("missed.txt"), count("timeout.txt"));
    let noticed = caught + late;
    let all = noticed + missed;
    anyhow::ensure!(all > 0, "no change of {package} was tested");
    let (low, high) = wilson(noticed as f64, all as f64);
    println!(
        "{package}: {noticed} of {all} changes noticed ({late} by a time-out), {:.1} %, 95 % interval {:.1} to {:.1} %; \
         {} did not compile",
        100.0 * noticed as f64 / all as f64,
        100.0 * low,
        100.0 * high,
        count("unviable.txt")
    );
    Ok(())
}

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

    /// 90 of 100: 82.6 to 94.5 %, as in tables.
    #[test]
    fn the_interval_is_wilsons() {
        let (low, high) = wilson(90.0, 100.0);
        assert!((low - 0.8256).abs() < 1e-3 && (high - 0.9448).abs() < 1e-3, "{low} {high}");
    }
}
