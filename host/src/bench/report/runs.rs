//! The runs of a report: every `*.jsonl` below some directories, merged and ordered.
//!
//! **Choices**
//! - Problems and methods follow `trimtab list`; unknown ones come last.
//! - Shards may overlap: a run that is there twice counts once and must agree in everything but its
//!   times.
//! - A run that ended before others of its problem had exhausted the space, so it keeps its best.
//!
//! **Cost.** Reads all files on all cores; keeps a few numbers per evaluation.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use trimtab::Level;

use super::information;
use super::style::{self, Style};
use crate::bench::problem::{BEYOND, FAMILIES, Group, PAPER};
use crate::bench::runs::evaluation::{self, Evaluation};
use crate::bench::runs::outcome;
use crate::bench::stats::{Estimate, evaluations_to};
use crate::bench::yardstick::{Outcome, Trace};
use crate::error::Error;

/// The parts of a run that a report needs.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) seed: u64,
    pub(super) values: Vec<f64>,
    pub(super) bests: Vec<f64>,
    /// Number of initial evaluations, which the method did not ask for.
    pub(super) initial: usize,
    /// The method's seconds for each evaluation.
    pub(super) seconds: Vec<f64>,
    pub(super) optimum: Option<f64>,
    /// The best combination's error on test data.
    pub(super) test: Option<f64>,
    /// The same for the best so far after every evaluation; empty without test data.
    tests: Vec<f64>,
    /// Information gain after every evaluation, see [`information`]; empty for most methods.
    pub(super) information: Vec<f64>,
    pub(super) outcome: Outcome,
    /// Number of asks that the method's fallback answered.
    fallbacks: usize,
    /// The largest evaluated level of each knob.
    highest: Vec<Level>,
}

impl Run {
    pub(super) fn of(records: &[Evaluation]) -> Self {
        let mut highest = vec![0; records.first().map_or(0, |first| first.combination.len())];
        for record in records {
            highest.iter_mut().zip(&record.combination).for_each(|(most, level)| *most = (*most).max(*level));
        }
        let best = records.iter().reduce(|best, record| if record.value < best.value { record } else { best });
        let combinations: Vec<&[Level]> = records.iter().map(|record| &record.combination[..]).collect();
        let mut incumbent = (f64::INFINITY, None);
        let mut test_so_far = |record: &Evaluation| {
            if record.value < incumbent.0 {
                incumbent = (record.value, record.test);
            }
            incumbent.1
        };
        Self {
            seed: records.first().map_or(0, |first| first.seed),
            values: records.iter().map(|record| record.value).collect(),
            bests: records.iter().map(|record| record.best).collect(),
            initial: records.iter().filter(|record| record.initial).count(),
            seconds: records.iter().map(|record| record.optimizer_seconds).collect(),
            optimum: best.and_then(|best| best.optimum),
            test: best.and_then(|best| best.test),
            tests: records.iter().map_while(&mut test_so_far).collect(),
            information: records.first().map_or_else(Vec::new, |run| information::gains(&run.method, &combinations)),
            outcome: outcome(records),
            fallbacks: records.iter().filter(|record| record.fallback).count(),
            highest,
        }
    }

    /// The best after `t` evaluations. A run that ended earlier keeps its last.
    pub(super) fn best(&self, t: usize) -> f64 {
        let last = self.bests.len().saturating_sub(1);
        self.bests.get(t.saturating_sub(1).min(last)).copied().unwrap_or(f64::NAN)
    }

    /// The test error of the best after `t` evaluations, as [`Self::best`].
    pub(super) fn test_at(&self, t: usize) -> f64 {
        let last = self.tests.len().saturating_sub(1);
        self.tests.get(t.saturating_sub(1).min(last)).copied().unwrap_or(f64::NAN)
    }

    /// The share of asks that the method's fallback answered.
    pub(super) fn fallback_share(&self) -> Option<f64> {
        let asks = self.values.len().checked_sub(self.initial).filter(|asks| *asks > 0)?;
        Some(self.fallbacks as f64 / asks as f64)
    }

    pub(super) fn last(&self) -> f64 {
        self.best(usize::MAX)
    }

    /// The evaluation that found the optimum, or infinity if none did; `None` if the optimum is not
    /// known.
    pub(super) fn solved_at(&self) -> Option<f64> {
        let optimum = self.optimum?;
        Some(evaluations_to(optimum, &self.bests).map_or(f64::INFINITY, |t| t as f64))
    }
}

/// All runs of a problem, either masked or not: the unit of comparison.
#[derive(Clone, Debug, Default)]
pub(super) struct Race {
    /// Runs per method, in the report's order, sorted by seed; empty where there are none.
    pub(super) runs: Vec<Vec<Run>>,
}

impl Race {
    pub(super) fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().flatten()
    }

    /// The most evaluations of any run.
    pub(super) fn horizon(&self) -> usize {
        self.all().map(|run| run.bests.len()).max().unwrap_or(0)
    }

    /// Pairs of two methods' final values with their seeds, on the seeds that both have.
    fn seeded_pairs(&self, own: usize, other: usize) -> impl Iterator<Item = (u64, (f64, f64))> {
        let rival = move |seed: u64| self.runs[other].iter().find(|run| run.seed == seed);
        self.runs[own].iter().filter_map(move |run| Some((run.seed, (run.last(), rival(run.seed)?.last()))))
    }

    /// Pairs of two methods' final values on the seeds that both have.
    pub(super) fn pairs(&self, own: usize, other: usize) -> Vec<(f64, f64)> {
        self.seeded_pairs(own, other).map(|(_, pair)| pair).collect()
    }

    /// A number of each of a method's runs that has it.
    pub(super) fn numbers(&self, method: usize, f: impl Fn(&Run) -> Option<f64>) -> Vec<f64> {
        self.runs[method].iter().filter_map(f).collect()
    }

    pub(super) fn final_value(&self, method: usize) -> Option<Estimate> {
        Estimate::of(&self.numbers(method, |run| Some(run.last())))
    }

    /// Whether the optimum of every run is known.
    pub(super) fn has_optimum(&self) -> bool {
        !self.is_empty() && self.all().all(|run| run.optimum.is_some())
    }
}

/// A problem and its runs, not masked and masked.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) name: String,
    pub(super) races: [Race; 2],
}

impl Problem {
    /// The races that have runs, each with whether it is masked.
    pub(super) fn there(&self) -> impl Iterator<Item = (bool, &Race)> {
        [false, true].into_iter().zip(&self.races).filter(|(_, race)| !race.is_empty())
    }

    pub(super) fn horizon(&self) -> usize {
        self.races.iter().map(Race::horizon).max().unwrap_or(0)
    }

    /// Pairs of two methods' final values, one per seed that both have: the means of its masked and
    /// its unmasked run, which are not independent.
    pub(super) fn pairs(&self, own: usize, other: usize) -> Vec<(f64, f64)> {
        let mut seeds: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
        for (seed, pair) in self.races.iter().flat_map(|race| race.seeded_pairs(own, other)) {
            seeds.entry(seed).or_default().push(pair);
        }
        let mean = |pairs: Vec<(f64, f64)>| {
            let n = pairs.len() as f64;
            (pairs.iter().map(|pair| pair.0).sum::<f64>() / n, pairs.iter().map(|pair| pair.1).sum::<f64>() / n)
        };
        seeds.into_values().map(mean).collect()
    }

    /// The largest level of each knob that any run tried.
    fn highest(&self) -> Vec<Level> {
        let mut highest: Vec<Level> = Vec::new();
        for run in self.races.iter().flat_map(Race::all) {
            highest.resize(highest.len().max(run.highest.len()), 0);
            highest.iter_mut().zip(&run.highest).for_each(|(most, level)| *most = (*most).max(*level));
        }
        highest
    }

    pub(super) fn has_optimum(&self) -> bool {
        self.there().all(|(_, race)| race.has_optimum())
    }

    pub(super) fn has_test(&self) -> bool {
        self.there().any(|(_, race)| race.all().any(|run| run.test.is_some()))
    }

    /// ln N as far as the runs show it: N is the product over knobs of the levels that were tried.
    pub(super) fn log_cardinality(&self) -> f64 {
        self.highest().iter().map(|level| (f64::from(*level) + 1.0).ln()).sum()
    }

    /// The problem's description in `trimtab list`.
    pub(super) fn about(&self) -> Option<&'static str> {
        let family = self.name.split(':').next().unwrap_or_default();
        FAMILIES.iter().find(|own| own.name == family).map(|own| own.about)
    }
}

/// All runs that were read.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    pub(super) problems: Vec<Problem>,
    pub(super) methods: Vec<(String, Style)>,
}

impl Runs {
    /// The index of a method.
    pub(super) fn method(&self, name: &str) -> Option<usize> {
        self.methods.iter().position(|(own, _)| own == name)
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.methods.iter().map(|(name, _)| name.clone()).collect()
    }

    /// All runs for the yardstick.
    pub(super) fn traces(&self) -> Vec<Trace> {
        let mut traces = Vec::new();
        for (problem, own) in self.problems.iter().enumerate() {
            let group = Group::of(&own.name, &own.highest());
            for (mask, race) in own.there() {
                for (method, run) in race.runs.iter().enumerate().flat_map(|(i, runs)| runs.iter().map(move |r| (i, r)))
                {
                    let (bests, optimum, outcome) = (run.bests.clone(), run.optimum, run.outcome.clone());
                    traces.push(Trace { method, problem, group, seed: run.seed, mask, bests, optimum, outcome });
                }
            }
        }
        traces
    }

    /// Every race, with its problem and whether it is masked.
    pub(super) fn races(&self) -> impl Iterator<Item = (&Problem, bool, &Race)> {
        self.problems.iter().flat_map(|problem| problem.there().map(move |(mask, race)| (problem, mask, race)))
    }

    pub(super) fn count(&self) -> usize {
        self.races().map(|(_, _, race)| race.all().count()).sum()
    }

    /// The fewest and the most seeds of a method in a race.
    pub(super) fn seeds(&self) -> (usize, usize) {
        let counts = || self.races().flat_map(|(_, _, race)| race.runs.iter().map(Vec::len).filter(|n| *n > 0));
        (counts().min().unwrap_or(0), counts().max().unwrap_or(0))
    }

    /// Reads every run below the directories.
    pub(super) fn read(folders: &[PathBuf]) -> Result<Self, Error> {
        let mut files = Vec::new();
        for folder in folders {
            let before = files.len();
            find(folder, &mut files)?;
            if files.len() == before {
                let folder = folder.display();
                return Err(Error::Failed(format!("no runs in {folder}; run `trimtab bench --out {folder}` first")));
            }
        }
        files.sort();
        // A directory may be named twice, or lie in another.
        files.dedup();
        let read: Vec<_> = files.par_iter().map(|path| evaluation::read(path)).collect::<Result<_, _>>()?;
        let mut found: BTreeMap<_, (&PathBuf, &Vec<Evaluation>)> = BTreeMap::new();
        for (path, records) in files.iter().zip(&read) {
            let Some(first) = records.first() else { continue };
            let key = (&first.problem, first.mask, &first.method, first.seed);
            match found.get(&key) {
                Some((other, there)) => check_same(other, there, path, records)?,
                None => {
                    found.insert(key, (path, records));
                }
            }
        }
        Ok(Self::arrange(found.into_values().map(|(_, records)| records.as_slice())))
    }

    fn arrange<'a>(all: impl Iterator<Item = &'a [Evaluation]>) -> Self {
        let all: Vec<(&Evaluation, Run)> =
            all.filter_map(|records| Some((records.first()?, Run::of(records)))).collect();
        let methods = style::ordered(all.iter().map(|(first, _)| first.method.clone()));
        let mut names: Vec<&String> = all.iter().map(|(first, _)| &first.problem).collect();
        names.sort_by_key(|name| place(name));
        names.dedup();
        let problem = |name: &String| {
            let mut races = [const { Race { runs: Vec::new() } }; 2];
            races.iter_mut().for_each(|race| race.runs = vec![Vec::new(); methods.len()]);
            for (first, run) in all.iter().filter(|(first, _)| first.problem == *name) {
                if let Some(method) = methods.iter().position(|(method, _)| *method == first.method) {
                    races[usize::from(first.mask)].runs[method].push(run.clone());
                }
            }
            races.iter_mut().flat_map(|race| &mut race.runs).for_each(|runs| runs.sort_by_key(|run| run.seed));
            Problem { name: name.clone(), races }
        };
        Self { problems: names.into_iter().map(problem).collect(), methods }
    }
}

/// Sort key of a problem: its family, then its place in the list of all, then its name.
fn place(name: &str) -> (usize, usize, String) {
    let family = name.split(':').next().unwrap_or_default();
    let family = FAMILIES.iter().position(|own| own.name == family).unwrap_or(usize::MAX);
    let listed = PAPER.iter().chain(BEYOND).position(|own| *own == name).unwrap_or(usize::MAX);
    (family, listed, name.to_string())
}

fn check_same(path: &Path, there: &[Evaluation], other: &Path, records: &[Evaluation]) -> Result<(), Error> {
    let differ = there.len() != records.len() || there.iter().zip(records).any(|(a, b)| !a.agrees(b));
    if !differ {
        return Ok(());
    }
    let (one, two) = (path.display(), other.display());
    let next = "remove one of them, or report on one directory at a time";
    Err(Error::Failed(format!("{one} and {two} are the same run with different evaluations; {next}")))
}

/// Adds every `*.jsonl` below a folder.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    let cannot = |error| {
        let folder = folder.display();
        Error::Failed(format!("cannot read {folder}: {error}; name a directory of `trimtab bench --out`"))
    };
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        // Links are not followed, because they may lead back here.
        if entry.file_type().map_err(cannot)?.is_dir() {
            find(&entry.path(), files)?;
        } else if entry.path().extension().is_some_and(|extension| extension == "jsonl") {
            files.push(entry.path());
        }
    }
    Ok(())
}
