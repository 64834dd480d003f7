//! `cargo xtask paper`: the experiments of the paper's section 7, and the page, figures and tables that the README shows.
//!
//! | option | what |
//! |---|---|
//! | none | the paper's problems, all methods, 10 seeds, 100 evaluations, masked and not |
//! | `--beyond` | all problems |
//! | `--quick` | 3 seeds, 60 evaluations, masked only: a look in minutes, not for the README |
//! | `--fresh` | begins again |
//! | `--data FILE`, `--jobs N` | passed on to `trimtab bench` |
//!
//! **Choices.** Raw runs stay in `target/paper`, so a second call only draws; the whole
//! page is there too. The tables and the figures that the documentation shows are copied to `host/docs/paper` and committed.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use trimtab_tests::root;
use trimtab_tests::workspace::cargo;

use crate::shown;

/// Where the documentation has its tables and figures.
const DOCS: &str = "host/docs/paper";
/// The figures that it shows beside the best-so-far of every problem.
const SHOWN: [&str; 2] = ["seconds.svg", "lemma.svg"];

/// What to run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    quick: bool,
    beyond: bool,
    fresh: bool,
    /// Passed on to `trimtab bench`.
    more: Vec<String>,
}

impl Request {
    pub(crate) fn parse(words: &[&str]) -> Result<Self> {
        let mut request = Self { quick: false, beyond: false, fresh: false, more: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--quick" => request.quick = true,
                "--beyond" => request.beyond = true,
                "--fresh" => request.fresh = true,
                "--data" | "--jobs" => {
                    let value = words.next().with_context(|| format!("{word} needs a value"))?;
                    request.more.extend([word.to_string(), value.to_string()]);
                }
                _ => bail!(
                    "`cargo xtask paper` does not know {word}; it has --quick, --beyond, --fresh, --data FILE, --jobs N"
                ),
            }
        }
        Ok(request)
    }

    /// Arguments of `trimtab bench`, but for where the runs go.
    fn bench(&self) -> Vec<String> {
        let problems = if self.beyond { "all" } else { "paper" };
        let size = if self.quick { "--seeds 3 --budget 60 --mask on" } else { "--seeds 10 --budget 100 --mask both" };
        let words = format!("bench --problem {problems} --method all {size}");
        words.split(' ').map(String::from).chain(self.more.iter().cloned()).collect()
    }

    /// As one types it.
    fn command(&self) -> String {
        let [quick, beyond] =
            [(self.quick, " --quick"), (self.beyond, " --beyond")].map(|(on, word)| if on { word } else { "" });
        format!("cargo xtask paper{quick}{beyond}")
    }
}

/// Runs what is missing, then draws.
pub(crate) fn run(request: &Request) -> Result<ExitCode> {
    let begin = Instant::now();
    let name = if request.quick { "paper-quick" } else { "paper" };
    // Relative to the top of the repository, where cargo runs: shorter to read.
    let runs = Path::new("target").join(name);
    if request.fresh && root().join(&runs).exists() {
        fs::remove_dir_all(root().join(&runs)).with_context(|| format!("cannot empty {}", runs.display()))?;
    }
    let runs = runs.display().to_string();
    let bench = [request.bench(), words(&["--out", &runs])].concat();
    trimtab(&bench)?;
    trimtab(&words(&["report", &runs, "--command", &request.command()]))?;
    // A quick look is not what the README shows.
    if !request.quick {
        publish(&root().join(&runs), &root().join(DOCS))?;
    }
    println!("{runs}/report.html, in {}", shown(begin.elapsed()));
    Ok(ExitCode::SUCCESS)
}

/// Takes the tables and the figures that the documentation shows, and no others.
fn publish(report: &Path, docs: &Path) -> Result<()> {
    let figures = docs.join("figures");
    if docs.exists() {
        fs::remove_dir_all(docs).with_context(|| format!("cannot empty {}", docs.display()))?;
    }
    fs::create_dir_all(&figures)?;
    fs::copy(report.join("tables.md"), docs.join("tables.md"))?;
    for entry in fs::read_dir(report.join("figures"))? {
        let name = entry?.file_name();
        let text = name.to_string_lossy();
        if text.ends_with("-best.svg") || SHOWN.contains(&text.as_ref()) {
            fs::copy(report.join("figures").join(&name), figures.join(&name))?;
        }
    }
    Ok(())
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

/// Runs the optimized binary in full view.
fn trimtab(arguments: &[String]) -> Result<()> {
    println!("$ trimtab {}", arguments.join(" "));
    let run = ["run", "--quiet", "--release", "--package", "trimtab-host", "--"];
    let status = cargo().args(run).args(arguments).status().context("cannot start cargo")?;
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
        let bench = "bench --problem paper --method all --seeds 3 --budget 60 --mask on --data train.csv";
        assert_eq!(request.bench().join(" "), bench);
        assert!(Request::parse(&["--slow"]).unwrap_err().to_string().contains("--quick"));
        assert!(Request::parse(&["--data"]).is_err());
    }
}
