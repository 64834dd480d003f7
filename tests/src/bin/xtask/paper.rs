//! `cargo xtask paper`: the experiments of the paper's section 7, with their page, figures and
//! tables.
//!
//! | option | what |
//! |---|---|
//! | no option | the paper's problems, all methods, 10 seeds, 100 evaluations, masked and not |
//! | `--beyond` | the other problems too |
//! | `--quick` | 3 seeds, 60 evaluations, masked only: a look in minutes, not for the README |
//! | `--fresh` | deletes earlier runs first |
//! | `--publish` | copies tables and figures to the documentation; needs `--beyond` and full runs |
//! | `--shard i/n` | every n-th run from the i-th on, and no report: for array jobs |
//! | `--out FOLDER` | instead of `target`, or `target/quick` |
//! | `--program FILE` | this `trimtab` instead of an optimized one |
//! | `--data FILE`, `--jobs N` | passed on to `trimtab bench` |
//!
//! Raw runs and the page stay in `target/paper`, so a second call only draws. The tables and
//! figures that the documentation shows are copied to `host/docs/paper` by `--publish` alone, and
//! committed.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use trimtab_tests::root;
use trimtab_tests::workspace::cargo;

use crate::shown;

/// The tables and figures of the documentation.
const DOCS: &str = "host/docs/paper";
/// The figures that it shows besides the best-so-far and the test error of every problem.
const SHOWN: [&str; 2] = ["seconds.svg", "lemma.svg"];

/// The options.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    quick: bool,
    beyond: bool,
    fresh: bool,
    publish: bool,
    /// Only a share of the runs.
    is_share: bool,
    out: Option<String>,
    program: Option<PathBuf>,
    /// Passed on to `trimtab bench`.
    more: Vec<String>,
}

impl Request {
    pub(crate) fn parse(words: &[&str]) -> Result<Self> {
        let mut request = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--quick" => request.quick = true,
                "--beyond" => request.beyond = true,
                "--fresh" => request.fresh = true,
                "--publish" => request.publish = true,
                "--data" | "--jobs" | "--shard" | "--out" | "--program" => {
                    let value = words.next().with_context(|| format!("{word} needs a value"))?;
                    match *word {
                        "--out" => {
                            request.out = Some(value.to_string());
                            continue;
                        }
                        "--program" => {
                            request.program = Some(value.into());
                            continue;
                        }
                        _ => request.is_share |= *word == "--shard",
                    }
                    request.more.extend([word.to_string(), value.to_string()]);
                }
                _ => bail!(
                    "`cargo xtask paper` does not know {word}; it has --quick, --beyond, --fresh, --publish, --data \
                     FILE, --jobs N, --shard i/n, --out FOLDER, --program FILE"
                ),
            }
        }
        // The documentation shows all problems in full.
        let is_whole = request.beyond && !request.quick;
        ensure!(!request.publish || is_whole, "--publish needs --beyond, and full runs without --quick");
        ensure!(!request.is_share || !request.publish && !request.fresh, "--shard goes without --publish and --fresh");
        Ok(request)
    }

    /// The runs, as arguments of `trimtab bench`, each with its output folder.
    fn benches(&self) -> Vec<(Vec<String>, String)> {
        let size = if self.quick { "--seeds 3 --budget 60 --mask on" } else { "--seeds 10 --budget 100 --mask both" };
        let own = if self.quick { "target/quick" } else { "target" };
        let folder = self.out.as_deref().unwrap_or(own);
        let problems = ["paper", "beyond"].into_iter().take(if self.beyond { 2 } else { 1 });
        let bench = |problems| {
            // Relative to the top of the repository, where cargo runs: shorter to read.
            let out = format!("{folder}/{problems}");
            let words = format!("bench --problem {problems} --method all {size} --out {out}");
            (words.split(' ').map(String::from).chain(self.more.iter().cloned()).collect(), out)
        };
        problems.map(bench).collect()
    }

    /// As one types it.
    fn command(&self) -> String {
        let words = [(self.quick, " --quick"), (self.beyond, " --beyond"), (self.publish, " --publish")];
        let words = words.map(|(on, word)| if on { word } else { "" }).concat();
        format!("cargo xtask paper{words}")
    }
}

/// Runs the missing jobs, then draws.
pub(crate) fn run(request: &Request) -> Result<ExitCode> {
    let begin = Instant::now();
    let benches = request.benches();
    let runs: Vec<&str> = benches.iter().map(|(_, out)| out.as_str()).collect();
    for (bench, out) in &benches {
        let folder = root().join(out);
        if request.fresh && folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {out}"))?;
        }
        trimtab(request, bench)?;
    }
    if request.is_share {
        println!(
            "a share of the runs, in {}; without --shard the same command makes the report",
            shown(begin.elapsed())
        );
        return Ok(ExitCode::SUCCESS);
    }
    let command = request.command();
    let report = [&["report"], &runs[..], &["--command", &command]].concat();
    trimtab(request, &report.iter().map(|word| word.to_string()).collect::<Vec<_>>())?;
    if request.publish {
        publish(&root().join(runs[0]), &root().join(DOCS))?;
    }
    println!("{}/report.html, in {}", runs[0], shown(begin.elapsed()));
    Ok(ExitCode::SUCCESS)
}

/// Takes the tables and the figures that the documentation shows, and no others.
fn publish(report: &Path, docs: &Path) -> Result<()> {
    let figures = docs.join("figures");
    fs::create_dir_all(&figures)?;
    // Pages that people wrote stay, and so do figures of other runs.
    for name in shown_in(&figures)? {
        fs::remove_file(figures.join(name))?;
    }
    fs::copy(report.join("tables.md"), docs.join("tables.md"))?;
    for name in shown_in(&report.join("figures"))? {
        fs::copy(report.join("figures").join(&name), figures.join(&name))?;
    }
    Ok(())
}

/// The figures of a folder that the documentation shows.
fn shown_in(folder: &Path) -> Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let text = name.to_string_lossy();
        if ["-best.svg", "-test.svg"].iter().any(|end| text.ends_with(end)) || SHOWN.contains(&text.as_ref()) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Runs the optimized binary in full view.
fn trimtab(request: &Request, arguments: &[String]) -> Result<()> {
    println!("$ trimtab {}", arguments.join(" "));
    let run = ["run", "--quiet", "--release", "--package", "trimtab-host", "--"];
    let mut command = match &request.program {
        Some(program) => Command::new(program),
        None => cargo(),
    };
    if request.program.is_none() {
        command.args(run);
    }
    let status = command.current_dir(root()).args(arguments).status().context("cannot start trimtab")?;
    ensure!(status.success(), "`trimtab {}` failed; the same command goes on where it stopped", arguments.join(" "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_others_refused() {
        let request = Request::parse(&["--quick", "--data", "train.csv"]).unwrap();
        assert_eq!(request.command(), "cargo xtask paper --quick");
        let (bench, out) = request.benches().remove(0);
        let words = "bench --problem paper --method all --seeds 3 --budget 60 --mask on --out target/quick/paper \
                     --data train.csv";
        assert_eq!((bench.join(" ").as_str(), out.as_str()), (words, "target/quick/paper"));
        assert_eq!(Request::parse(&["--beyond"]).unwrap().benches().len(), 2);
        assert!(Request::parse(&["--slow"]).unwrap_err().to_string().contains("--quick"));
        assert!(Request::parse(&["--data"]).is_err());
        let share = Request::parse(&["--beyond", "--shard", "3/16", "--out", "scratch"]).unwrap();
        let benches = share.benches();
        assert!(share.is_share && benches.len() == 2);
        assert!(benches.iter().all(|(bench, _)| bench.join(" ").ends_with("--shard 3/16")));
        assert_eq!(benches[1].1, "scratch/beyond");
        assert!(Request::parse(&["--shard", "0/2", "--beyond", "--publish"]).is_err());
        assert!(Request::parse(&["--shard", "0/2", "--fresh"]).is_err());
        assert!(Request::parse(&["--publish"]).is_err());
        assert!(Request::parse(&["--publish", "--beyond", "--quick"]).is_err());
        let published = Request::parse(&["--beyond", "--publish"]).unwrap();
        assert_eq!(published.command(), "cargo xtask paper --beyond --publish");
        assert!(!Request::parse(&["--beyond"]).unwrap().publish, "docs are written only on request");
    }
}
