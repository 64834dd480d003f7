//! Our methods beside other people's implementations, on the same instances from the same first
//! point.
//!
//! `host/instances/peers.csv` has their runs, measured elsewhere; `host/instances/README.md` says by
//! which software. A row of the table is a problem and a method: the mean over their runs of the
//! best cost at the last of 25, 50 or 100 evaluations that a run reached, theirs beside ours.
//!
//! **The margin.** Ours may be worse by at most (0.1 + 0.5/√runs) of what random search leaves: the
//! mean regret of ours over 20 seeds at the same count. One run may be bad luck, five are less so.
//! On seesaw nobody is much better than random search, so the margin there is all of it. Being
//! better is never a failure.

#![allow(dead_code, unreachable_pub)] // Each user takes what it needs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const CHECKPOINTS: [usize; 3] = [25, 50, 100];
/// Runs of random search that set the scale.
const RANDOM_SEEDS: u64 = 20;

/// One of their runs.
#[derive(Clone, Debug)]
pub struct Theirs {
    pub problem: String,
    pub method: String,
    pub seed: u64,
    /// The last checkpoint that it reached, and its best cost there.
    pub at: usize,
    pub best: f64,
    pub optimum_at: Option<usize>,
}

fn instances() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("instances")
}

/// All of their runs that reached 25 evaluations.
pub fn theirs() -> Vec<Theirs> {
    let text = fs::read_to_string(instances().join("peers.csv")).unwrap();
    let run = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [problem, method, seed, _, rest @ .., optimum_at] = &fields[..] else { panic!("{line}") };
        let (at, best) = CHECKPOINTS.iter().zip(rest).rfind(|(_, best)| !best.is_empty())?;
        Some(Theirs {
            problem: (*problem).into(),
            method: (*method).into(),
            seed: seed.parse().unwrap(),
            at: *at,
            best: best.parse().unwrap(),
            optimum_at: optimum_at.parse().ok(),
        })
    };
    text.lines().skip(1).filter_map(run).collect()
}

/// One of our runs: the best so far after every evaluation, and the optimum.
struct Ours {
    bests: Vec<f64>,
    optimum: f64,
}

impl Ours {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let optimum = records[0]["optimum"].as_f64().unwrap();
        Self { bests: records.iter().map(|record| record["best"].as_f64().unwrap()).collect(), optimum }
    }

    /// The best after some evaluations; a space that was measured out has nothing more to give.
    fn best_at(&self, count: usize) -> f64 {
        self.bests[count.min(self.bests.len()) - 1]
    }

    fn optimum_at(&self, budget: usize) -> Option<usize> {
        let found = self.bests.iter().take(budget).position(|best| (best - self.optimum).abs() < 1e-9);
        found.map(|at| at + 1)
    }
}

/// Runs our method on the instance of one of their runs, with `repeats` seeds of its own.
fn ours(folder: &Path, run: &Theirs, repeats: u64) -> Vec<Ours> {
    let instance = format!("{}_{}", run.problem, run.seed);
    let file = instances().join(format!("{instance}.json"));
    let first = run.seed * repeats;
    let (file, seeds, budget) = (file.to_str().unwrap(), repeats.to_string(), run.at.to_string());
    let out = format!("{}-{}-{repeats}", run.method, run.at);
    let words = ["--instance", file, "--method", &run.method, "--seeds", &seeds, "--budget", &budget];
    let mut command = Command::new(env!("CARGO_BIN_EXE_trimtab"));
    command.args(["bench", "--first-seed", &first.to_string(), "--out", &out, "--quiet"]);
    let output = command.args(words).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let path = |seed: u64| folder.join(format!("{out}/{instance}/{}-{seed}.jsonl", run.method));
    let runs: Vec<Ours> = (first..first + repeats).map(|seed| Ours::read(&path(seed))).collect();
    check_optimum(&file.into(), &runs);
    runs
}

/// The optimum that a run records is the one in the file, which somebody else computed.
fn check_optimum(file: &PathBuf, runs: &[Ours]) {
    let instance: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    if let Some(known) = instance["f_opt"].as_f64() {
        let own = runs[0].optimum;
        assert!((own - known).abs() < 1e-9, "{}: our optimum is {own}, not {known}", file.display());
    }
}

/// A row of the table.
pub struct Row {
    problem: String,
    method: String,
    runs: usize,
    ours: f64,
    theirs: f64,
    random: f64,
    /// How much worse ours is, in what random search leaves, and the most that is allowed.
    worse: f64,
    margin: f64,
    /// The optimum found by: (ours, of, theirs, of).
    found: [usize; 4],
}

impl Row {
    pub fn is_within(&self) -> bool {
        self.worse <= self.margin
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Compares the runs that are wanted, ours over `repeats` seeds per instance.
pub fn compare(folder: &Path, repeats: u64, is_wanted: impl Fn(&Theirs) -> bool) -> Vec<Row> {
    let all = theirs();
    let random = |run: &Theirs| {
        let run = Theirs { method: "random".into(), ..run.clone() };
        mean(ours(folder, &run, RANDOM_SEEDS).iter().map(|own| own.best_at(run.at)))
    };
    let mut rows: BTreeMap<(&str, &str), Vec<&Theirs>> = BTreeMap::new();
    for run in all.iter().filter(|run| is_wanted(run)) {
        rows.entry((&run.problem, &run.method)).or_default().push(run);
    }
    let row = |((problem, method), runs): ((&str, &str), Vec<&Theirs>)| {
        let own: Vec<Vec<Ours>> = runs.iter().map(|run| ours(folder, run, repeats)).collect();
        let pairs = || runs.iter().zip(&own);
        let value = mean(pairs().flat_map(|(run, own)| own.iter().map(|own| own.best_at(run.at))));
        let other = mean(runs.iter().map(|run| run.best));
        let optimum = mean(own.iter().map(|own| own[0].optimum));
        let random = mean(runs.iter().map(|run| random(run)));
        let found = pairs().flat_map(|(run, own)| own.iter().map(|own| own.optimum_at(run.at))).flatten().count();
        let seesaw = problem.starts_with("seesaw");
        Row {
            problem: problem.into(),
            method: method.into(),
            runs: runs.len(),
            ours: value,
            theirs: other,
            random,
            worse: (value - other) / (random - optimum),
            margin: if seesaw { 1.0 } else { 0.1 + 0.5 / (runs.len() as f64).sqrt() },
            found: [
                found,
                runs.len() * repeats as usize,
                runs.iter().filter(|run| run.optimum_at.is_some()).count(),
                runs.len(),
            ],
        }
    };
    rows.into_iter().map(row).collect()
}

/// The rows as Markdown.
pub fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| problem | method | runs | ours | theirs | random | worse by | margin | optimum, ours | theirs |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let [ours, of, theirs, all] = row.found;
        text += &format!(
            "| {} | {} | {} | {:.4} | {:.4} | {:.4} | {:+.2} | {:.2}{} | {ours} of {of} | {theirs} of {all} |\n",
            row.problem,
            row.method,
            row.runs,
            row.ours,
            row.theirs,
            row.random,
            row.worse,
            row.margin,
            if row.is_within() { "" } else { " **missed**" },
        );
    }
    text
}
