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

/// What to run on one instance: reading it may take a second, so all methods go together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Task {
    problem: String,
    seed: u64,
    at: usize,
}

impl Task {
    /// Our runs of some methods, `repeats` seeds each.
    fn run(&self, folder: &Path, methods: &[&str], repeats: u64) -> Vec<Vec<Ours>> {
        let instance = format!("{}_{}", self.problem, self.seed);
        let file = instances().join(format!("{instance}.json"));
        let (first, out) = (self.seed * repeats, format!("{}-{repeats}", self.at));
        let (seeds, begin, budget) = (repeats.to_string(), first.to_string(), self.at.to_string());
        let mut command = Command::new(env!("CARGO_BIN_EXE_trimtab"));
        command.args(["bench", "--quiet", "--method", &methods.join(","), "--out", &out, "--budget", &budget]);
        command.args(["--seeds", &seeds, "--first-seed", &begin, "--instance"]).arg(&file).current_dir(folder);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        let read = |method: &&str| {
            let path = |seed: u64| folder.join(format!("{out}/{instance}/{method}-{seed}.jsonl"));
            let runs: Vec<Ours> = (first..first + repeats).map(|seed| Ours::read(&path(seed))).collect();
            check_optimum(&file, &runs);
            runs
        };
        methods.iter().map(read).collect()
    }
}

/// The optimum that a run records is the one in the file, which somebody else computed.
fn check_optimum(file: &Path, runs: &[Ours]) {
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
    fn of(problem: String, method: String, both: &Both) -> Self {
        let runs = both.theirs.len();
        let pairs = || both.theirs.iter().zip(&both.ours).flat_map(|(run, own)| own.iter().map(move |own| (run, own)));
        let ours = mean(pairs().map(|(run, own)| own.best_at(run.at)));
        let theirs = mean(both.theirs.iter().map(|run| run.best));
        let optimum = mean(both.ours.iter().map(|own| own[0].optimum));
        let random = mean(both.random.iter().copied());
        let found = pairs().filter(|(run, own)| own.optimum_at(run.at).is_some()).count();
        let margin = if problem.starts_with("seesaw") { 1.0 } else { 0.1 + 0.5 / (runs as f64).sqrt() };
        let theirs_found = both.theirs.iter().filter(|run| run.optimum_at.is_some()).count();
        let found = [found, pairs().count(), theirs_found, runs];
        Self { problem, method, runs, ours, theirs, random, worse: (ours - theirs) / (random - optimum), margin, found }
    }

    pub fn is_within(&self) -> bool {
        self.worse <= self.margin
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Their runs of a problem by a method beside ours, and the mean of random search per run.
#[derive(Default)]
struct Both {
    theirs: Vec<Theirs>,
    ours: Vec<Vec<Ours>>,
    random: Vec<f64>,
}

/// Compares the runs that are wanted, ours over `repeats` seeds per instance.
pub fn compare(folder: &Path, repeats: u64, is_wanted: impl Fn(&Theirs) -> bool) -> Vec<Row> {
    let mut tasks: BTreeMap<Task, Vec<Theirs>> = BTreeMap::new();
    for run in theirs().into_iter().filter(is_wanted) {
        let task = Task { problem: run.problem.clone(), seed: run.seed, at: run.at };
        tasks.entry(task).or_default().push(run);
    }
    let mut rows: BTreeMap<(String, String), Both> = BTreeMap::new();
    for (task, runs) in tasks {
        let scale = task.run(folder, &["random"], RANDOM_SEEDS).remove(0);
        let random = mean(scale.iter().map(|own| own.best_at(task.at)));
        let methods: Vec<&str> = runs.iter().map(|run| run.method.as_str()).collect();
        for (ours, run) in task.run(folder, &methods, repeats).into_iter().zip(&runs) {
            let both = rows.entry((run.problem.clone(), run.method.clone())).or_default();
            both.theirs.push(run.clone());
            both.ours.push(ours);
            both.random.push(random);
        }
    }
    rows.into_iter().map(|((problem, method), both)| Row::of(problem, method, &both)).collect()
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
