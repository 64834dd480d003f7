//! `cargo xtask machines`: the commands of `host/docs/many.md`, over ssh and by Slurm, on this machine
//! alone.
//!
//! | option | what |
//! |---|---|
//! | `ssh`, `slurm` | which of the two |
//! | `--prepare` | only installs what is missing, and tries whether it starts |
//! | `--program FILE` | this `trimtab` instead of an optimized one, which takes minutes to build |
//!
//! **Choices**
//! - Daemons listen on loopback alone, on ports of their own, with keys and files in a temporary folder;
//!   the machine's own are not touched. They end with the test.
//! - Blocks of the page run as they stand, but for smaller numbers.
//! - Packages that bring servers are installed only where that starts none: without systemd, or in CI.
//! - Every wait has a limit.

mod slurm;
mod ssh;

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use trimtab_tests::workspace::cargo;
use trimtab_tests::{docs, root};

use crate::setup;

/// The page whose commands run here, and its examples.
const PAGE: &str = "host/docs/many.md";
const EXAMPLES: &str = "host/docs/examples/many";
/// Nothing takes longer.
const LIMIT: Duration = Duration::from_secs(60);

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    what: What,
    prepare: bool,
    program: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Ssh,
    Slurm,
}

impl Request {
    pub(crate) fn parse(words: &[&str]) -> Result<Self> {
        let what = match words.first() {
            Some(&"ssh") => What::Ssh,
            Some(&"slurm") => What::Slurm,
            _ => bail!("name one: `cargo xtask machines ssh` or `cargo xtask machines slurm`"),
        };
        let (mut request, mut words) = (Self { what, prepare: false, program: None }, words[1..].iter());
        while let Some(word) = words.next() {
            match *word {
                "--prepare" => request.prepare = true,
                "--program" => request.program = Some(words.next().context("--program needs a file")?.into()),
                _ => bail!("`cargo xtask machines` does not know {word}; it has --prepare and --program FILE"),
            }
        }
        Ok(request)
    }
}

pub(crate) fn run(request: &Request) -> Result<()> {
    match (request.what, request.prepare) {
        (What::Ssh, true) => ssh::prepare(),
        (What::Slurm, true) => slurm::prepare(),
        (What::Ssh, false) => ssh::run(&program(request)?),
        (What::Slurm, false) => slurm::run(&program(request)?),
    }
}

/// The program to run, by its whole path: it runs in another folder.
fn program(request: &Request) -> Result<PathBuf> {
    if let Some(program) = &request.program {
        return program.canonicalize().with_context(|| format!("there is no {}", program.display()));
    }
    ensure!(cargo().args(["build", "--release", "--package", "trimtab-host"]).status()?.success(), "no trimtab");
    Ok(root().join("target/release/trimtab").canonicalize()?)
}

/// Installs packages that bring servers. Where the system would start those, on all its addresses, the user decides.
fn install(packages: &[&str], how_to_get: &'static str) -> Result<()> {
    let starts_servers = Path::new("/run/systemd/system").exists() && std::env::var_os("CI").is_none();
    ensure!(!starts_servers, "{how_to_get}; not done here, because those packages start servers");
    setup::install(packages, how_to_get)
}

/// A temporary folder with the examples, and the daemons of a test; both end with it.
struct Place {
    folder: PathBuf,
    daemons: Vec<Child>,
    environment: Vec<(&'static str, String)>,
}

impl Place {
    fn new(name: &str) -> Result<Self> {
        // Below the system's folder for such things: the path of a socket must be short.
        let folder = std::env::temp_dir().join(format!("trimtab-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("bin"))?;
        let folder = folder.canonicalize()?;
        for entry in fs::read_dir(root().join(EXAMPLES))? {
            let entry = entry?;
            fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
        Ok(Self { folder, daemons: Vec::new(), environment: Vec::new() })
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Puts the program first on the path.
    fn install(&mut self, program: &Path) -> Result<()> {
        fs::copy(program, self.folder.join("bin/trimtab"))?;
        let path = std::env::var("PATH").unwrap_or_default();
        self.environment.push(("PATH", format!("{}:{path}", self.path("bin"))));
        Ok(())
    }

    /// Writes a file that can be run.
    fn script(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join(name);
        fs::write(&path, text)?;
        done(Command::new("chmod").arg("+x").arg(path))
    }

    /// Starts a daemon that stays in the foreground.
    fn start(&mut self, words: &[&str]) -> Result<()> {
        let log =
            fs::File::create(self.folder.join(format!("{}.out", words[0].rsplit('/').next().unwrap_or("daemon"))))?;
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(&self.folder).envs(self.environment.iter().cloned());
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        self.daemons.push(command.spawn().with_context(|| format!("cannot start {}", words[0]))?);
        Ok(())
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(&self.folder).envs(self.environment.iter().cloned());
        command.stdin(Stdio::null());
        command
    }

    /// Standard output of a command that must succeed.
    fn output(&self, words: &[&str]) -> Result<String> {
        let output = self.command(words).output().with_context(|| format!("cannot start {}", words[0]))?;
        ensure!(output.status.success(), "`{}` failed: {}", words.join(" "), said(&output));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Runs a block of the page, after these replacements: each must have something to replace.
    fn block(&self, begin: &str, replacements: &[(&str, &str)]) -> Result<String> {
        let mut blocks = docs::blocks(&root())?.into_iter().filter(|block| block.page == PAGE);
        let block = blocks.find(|block| block.text.starts_with(begin));
        let mut text = block.with_context(|| format!("{PAGE} has no block that begins with {begin}"))?.text;
        for (from, to) in replacements {
            ensure!(text.contains(from), "{PAGE}: there is no {from} in\n{text}");
            text = text.replace(from, to);
        }
        println!("{}", text.trim_end().lines().map(|line| format!("$ {line}")).collect::<Vec<_>>().join("\n"));
        let limit = LIMIT.as_secs().to_string();
        self.output(&["timeout", &limit, "sh", "-euc", &text])
    }

    /// The lines of a log of `tune` that have an event, without those of resumptions.
    fn events(&self, log: &str) -> Result<Vec<Value>> {
        let text = fs::read_to_string(self.folder.join(log))?;
        // The last line may be half written.
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        let lines = whole.lines().skip(1).map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>()?;
        Ok(lines.into_iter().filter(|line| line["event"] != "resume").collect())
    }

    /// How often each event is in a log.
    fn counts(&self, log: &str) -> Result<BTreeMap<String, usize>> {
        let mut counts = BTreeMap::new();
        for line in self.events(log)? {
            *counts.entry(line["event"].as_str().unwrap_or_default().to_string()).or_insert(0) += 1;
        }
        Ok(counts)
    }

    /// What a race found, without times: the tables of its report, and all its records.
    fn race(&self, folder: &str) -> Result<(String, BTreeMap<String, Vec<Value>>)> {
        self.output(&["trimtab", "report", folder])?;
        let tables = fs::read_to_string(self.folder.join(folder).join("tables.md"))?;
        let tables = tables.split("## Seconds per suggestion").next().unwrap_or_default();
        let tables = tables.replace(&format!("trimtab report {folder}\n"), "");
        ensure!(tables.contains("## Evaluations to target"), "no table in\n{tables}");
        let mut runs = BTreeMap::new();
        for problem in fs::read_dir(self.folder.join(folder))? {
            let problem = problem?.path();
            if !problem.is_dir() || problem.ends_with("figures") {
                continue;
            }
            for run in fs::read_dir(&problem)? {
                let run = run?.path();
                if run.extension().is_none_or(|ending| ending != "jsonl") {
                    continue;
                }
                let mut records = Vec::new();
                for line in fs::read_to_string(&run)?.lines() {
                    let mut record: Value = serde_json::from_str(line)?;
                    for seconds in ["optimizer_seconds", "objective_seconds"] {
                        record[seconds].take();
                    }
                    records.push(record);
                }
                let name = run.strip_prefix(self.folder.join(folder))?.display().to_string();
                runs.insert(name, records);
            }
        }
        Ok((tables, runs))
    }
}

/// Fails at the first difference of two races.
fn same_race(place: &Place, own: &str, whole: &str) -> Result<usize> {
    let ((own, own_runs), (whole, whole_runs)) = (place.race(own)?, place.race(whole)?);
    for (own, whole) in own.lines().zip(whole.lines()) {
        ensure!(own == whole, "shares of a race and the whole differ:\n{own}\n{whole}");
    }
    ensure!(own.lines().count() == whole.lines().count(), "the tables have other numbers of lines");
    for (name, records) in &whole_runs {
        ensure!(own_runs.get(name) == Some(records), "{name} differs from that of one process");
    }
    ensure!(own_runs.len() == whole_runs.len(), "there are more runs: {:?}", own_runs.keys());
    Ok(whole_runs.len())
}

impl Drop for Place {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            let _ = Command::new("kill").args(["-TERM", &daemon.id().to_string()]).status();
            let _ = wait_for("the end of a daemon", Duration::from_secs(5), || Ok(daemon.try_wait()?.is_some()));
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A port of loopback that nobody listens on.
fn port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn done(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    ensure!(output.status.success(), "{} failed: {}", command.get_program().display(), said(&output));
    Ok(())
}

/// The end of what a command said.
fn said(output: &Output) -> String {
    let all = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = all.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

fn wait_for(what: &str, limit: Duration, mut is_true: impl FnMut() -> Result<bool>) -> Result<()> {
    let begin = Instant::now();
    while !is_true()? {
        ensure!(begin.elapsed() < limit, "no {what} within {} s", limit.as_secs());
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_others_refused() {
        let request = Request::parse(&["slurm", "--program", "target/debug/trimtab"]).unwrap();
        assert!(request.what == What::Slurm && !request.prepare && request.program.is_some());
        assert!(Request::parse(&["ssh", "--prepare"]).unwrap().prepare);
        for words in [&[][..], &["k8s"], &["ssh", "--slow"], &["ssh", "--program"]] {
            assert!(Request::parse(words).is_err(), "{words:?}");
        }
    }
}
