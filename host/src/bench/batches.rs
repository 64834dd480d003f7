//! `trimtab batch-bench`: what asking for several at once costs and gains.
//!
//! Batches of 1, 4, 16 and 64: a method asks for a whole batch, then is told its costs. Random search
//! proposes the same whatever the batch.
//!
//! | table | question |
//! |---|---|
//! | equal measurements | how many measurements to a target, relative to one by one? By the [yardstick](super::yardstick) |
//! | equal rounds | how much of the regret is left after as many rounds, relative to one by one? |
//!
//! **Choices**
//! - All runs of a seed begin with the same combination. It counts as the first of the first batch.
//! - The regret is relative to that of the first combination, and averaged over problems and seeds; the
//!   ratio is that of the averages, since many runs have no regret left.
//! - Intervals are those of [`stats`](super::stats), by resampling problems and instances.

use std::fmt::Write as _;

use clap::Args;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use super::domain::Domain;
use super::method::{Choice, Method, Task};
use super::problem::{Group, Problem, Sources, Spec};
use super::stats::{Cluster, quotient};
use super::yardstick::{Field, Ratio, SHARES, Trace};
use crate::error::Error;
use crate::terminal;

/// Batches, the first being the reference.
const BATCHES: [usize; 4] = [1, 4, 16, 64];
/// Measurements of the first table.
const MEASUREMENTS: usize = 128;
/// Rounds of the second.
const ROUNDS: [usize; 3] = [2, 4, 8];
const PROBLEMS: [&str; 7] = ["board", "board:knobs=7", "antenna", "bqp:m=20", "ising", "max-sat", "contamination"];
const METHODS: [&str; 2] = ["trimtab", "random"];
/// As for a race: separates the random numbers of initial points from those of instances.
const STREAM: u64 = 0x494e_4954;

/// Compare batches of 1, 4, 16 and 64 at equal measurements and at equal rounds, beside random search
#[derive(Debug, Args)]
pub(crate) struct BatchBenchArgs {
    /// Number of seeds per problem
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// The first seed: those below 1000 chose the defaults
    #[arg(long, value_name = "SEED", default_value_t = 1000)]
    first_seed: u64,
    /// Only these problems, separated by blanks
    #[arg(long, value_name = "PROBLEM", num_args = 1..)]
    problem: Vec<String>,
}

/// The best costs of a run, and how much each round left of the regret.
struct Run {
    trace: Trace,
    left: [f64; ROUNDS.len()],
}

/// Number of measurements that a batch needs for both tables.
fn length(batch: usize) -> usize {
    MEASUREMENTS.max(batch * ROUNDS[ROUNDS.len() - 1])
}

pub(crate) fn run(args: &BatchBenchArgs) -> Result<(), Error> {
    let named: Vec<&str> = match args.problem.is_empty() {
        true => PROBLEMS.to_vec(),
        false => args.problem.iter().map(String::as_str).collect(),
    };
    let specs: Vec<Spec> = named.iter().map(|name| name.parse().map_err(Error::Usage)).collect::<Result<_, _>>()?;
    let seeds = args.first_seed..args.first_seed.saturating_add(args.seeds);
    let instances: Vec<_> =
        (0..specs.len()).flat_map(|problem| seeds.clone().map(move |seed| (problem, seed))).collect();
    let runs = |(problem, seed): &(usize, u64)| instance(*problem, &specs[*problem], *seed);
    let runs: Vec<Vec<Run>> = instances.par_iter().with_max_len(1).map(runs).collect::<Result<_, _>>()?;
    let runs: Vec<Run> = runs.into_iter().flatten().collect();
    let mut text =
        format!("Batches of {BATCHES:?}, seeds {} to {}, on {}.\n\n", seeds.start, seeds.end - 1, named.join(", "));
    text += &equal_measurements(&runs);
    text += &equal_rounds(&runs);
    terminal::print(&text)
}

/// The runs of one instance: every method with every batch.
fn instance(problem: usize, spec: &Spec, seed: u64) -> Result<Vec<Run>, Error> {
    let built = spec.build(seed, &Sources::default())?;
    let optimum = built.optimum().map(|optimum| optimum.value);
    let optimum = optimum.ok_or_else(|| Error::Usage(format!("{spec}: its optimum is unknown; name another")))?;
    let first = Domain::new(built.knobs()).random(&mut Xoshiro256PlusPlus::seed_from_u64(seed ^ STREAM));
    let mut runs = Vec::new();
    for name in METHODS {
        let Choice(entry) = name.parse().map_err(Error::Usage)?;
        let bests = |batch: usize, budget: usize| {
            let mut method = (entry.start)(&Task { knobs: built.knobs(), seed, budget })?;
            batched(&*built, &mut *method, &first, batch, budget)
        };
        // Random search learns nothing, so one run has the costs of all batches.
        let random = if name == "random" { Some(bests(1, length(BATCHES[3]))?) } else { None };
        for batch in BATCHES {
            let bests = random.clone().map_or_else(|| bests(batch, length(batch)), Ok)?;
            let start = bests[0] - optimum;
            let left = ROUNDS.map(|rounds| {
                let after = (rounds * batch).min(bests.len()) - 1;
                if start > 0.0 { (bests[after] - optimum) / start } else { 0.0 }
            });
            let bests = bests[..MEASUREMENTS.min(bests.len())].to_vec();
            let (method, group) = (runs.len(), Group::of_knobs(built.knobs()));
            let outcome = Default::default();
            let trace = Trace { method, problem, group, seed, mask: false, bests, optimum: Some(optimum), outcome };
            runs.push(Run { trace, left });
        }
    }
    Ok(runs)
}

/// The best cost after each measurement.
fn batched(
    problem: &dyn Problem,
    method: &mut dyn Method,
    first: &[trimtab::Level],
    batch: usize,
    budget: usize,
) -> Result<Vec<f64>, Error> {
    let (mut bests, mut best, mut asked) = (Vec::new(), f64::INFINITY, vec![first.to_vec()]);
    while bests.len() < budget {
        while asked.len() < batch {
            match method.ask()? {
                Some(levels) => asked.push(levels),
                None => break,
            }
        }
        if asked.is_empty() {
            break;
        }
        for levels in asked.drain(..) {
            let cost = problem.cost(&levels);
            method.tell(&levels, cost)?;
            best = best.min(cost);
            bests.push(best);
        }
    }
    Ok(bests)
}

/// The rows of both tables after the reference: their number among an instance's runs and their names.
fn rows() -> impl Iterator<Item = (usize, &'static str, usize)> {
    let all = METHODS.into_iter().flat_map(|method| BATCHES.map(|batch| (method, batch)));
    all.enumerate().map(|(number, (method, batch))| (number, method, batch))
}

fn equal_measurements(runs: &[Run]) -> String {
    let traces: Vec<Trace> = runs.iter().map(|run| run.trace.clone()).collect();
    let field = Field::new(&traces);
    let mut text =
        format!("Measurements to target relative to one by one, {MEASUREMENTS} in all; above 1 needs more\n\n");
    text += "| method | batch | rounds | all targets |";
    SHARES.iter().for_each(|share| {
        let _ = write!(text, " {:.0} % |", 100.0 * share);
    });
    text += &format!("\n|---|---:|---:|{}\n", "---:|".repeat(1 + SHARES.len()));
    // Random search needs as many whatever the batch.
    for (number, method, batch) in rows().filter(|(_, method, batch)| *method != "random" || *batch == 1) {
        let Some(ratios) = field.ratios(number, 0, |_| true) else { continue };
        let (batch, rounds) = match method {
            "random" => ("any".into(), "any".into()),
            _ => (batch.to_string(), MEASUREMENTS.div_ceil(batch).to_string()),
        };
        let all = if number == 0 { "1".into() } else { ratios.all.text() };
        let _ = write!(text, "| {method} | {batch} | {rounds} | {all} |");
        ratios.targets.iter().for_each(|ratio| {
            let _ = write!(text, " {:.2} |", ratio.mean);
        });
        text.push('\n');
    }
    text + "\n"
}

fn equal_rounds(runs: &[Run]) -> String {
    let mut text =
        String::from("Regret that is left after as many rounds, relative to trimtab one by one; below 1 is better\n\n");
    text += "| method | batch |";
    ROUNDS.iter().for_each(|rounds| {
        let _ = write!(text, " {rounds} rounds | left |");
    });
    text += &format!("\n|---|---:|{}\n", "---:|".repeat(2 * ROUNDS.len()));
    for (number, method, batch) in rows() {
        let _ = write!(text, "| {method} | {batch} |");
        for round in 0..ROUNDS.len() {
            let clusters = pairs(runs, number, round);
            let left = clusters.iter().map(|own| own.sums[0]).sum::<f64>() / clusters.len() as f64;
            let (mean, interval) = quotient(&clusters);
            let ratio = if number == 0 { "1".into() } else { Ratio { mean, interval }.text() };
            let _ = write!(text, " {ratio} | {:.1} % |", 100.0 * left);
        }
        text.push('\n');
    }
    text
}

/// What a row and the reference have left, one cluster per instance.
fn pairs(runs: &[Run], number: usize, round: usize) -> Vec<Cluster<2>> {
    let per_instance = METHODS.len() * BATCHES.len();
    let pair = |own: &[Run]| Cluster {
        problem: own[0].trace.problem,
        seed: own[0].trace.seed,
        sums: [own[number].left[round], own[0].left[round]],
        count: 1,
    };
    runs.chunks(per_instance).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_asked_before_it_is_told() {
        struct Counter {
            open: usize,
            most: usize,
            left: usize,
        }
        impl Method for Counter {
            fn ask(&mut self) -> Result<Option<Vec<trimtab::Level>>, Error> {
                if self.left == 0 {
                    return Ok(None);
                }
                (self.open, self.left) = (self.open + 1, self.left - 1);
                self.most = self.most.max(self.open);
                Ok(Some(vec![0; 20]))
            }
            fn tell(&mut self, _: &[trimtab::Level], _: f64) -> Result<(), Error> {
                self.open = self.open.saturating_sub(1);
                Ok(())
            }
        }
        let spec: Spec = "thumbs-up".parse().unwrap();
        let built = spec.build(1, &Sources::default()).unwrap();
        for (batch, left, measured, most) in [(1, 99, 12, 1), (4, 99, 12, 4), (4, 6, 7, 3), (16, 99, 16, 15)] {
            let mut counter = Counter { open: 0, most: 0, left };
            let bests = batched(&*built, &mut counter, &[1; 20], batch, 12).unwrap();
            assert_eq!((bests.len(), counter.most), (measured, most), "{batch}");
            assert_eq!(bests[0], -1.0, "the first combination counts");
        }
    }

    #[test]
    fn one_by_one_is_the_reference_and_random_search_ignores_batches() {
        let spec: Spec = "board:knobs=3".parse().unwrap();
        let runs = instance(0, &spec, 1000).unwrap();
        assert_eq!(runs.len(), 8);
        let random = &runs[4..];
        assert!(random.iter().all(|run| run.trace.bests == random[0].trace.bests));
        // Twice as many measurements as 16 rounds of 4 leave no more.
        assert!(random[1].left[1] >= random[2].left[0] && random[2].left[1] >= random[3].left[0]);
        let text = equal_measurements(&runs) + &equal_rounds(&runs);
        assert!(text.contains("| trimtab | 1 | 128 | 1 |") && text.contains("| trimtab | 1 | 1 | "), "{text}");
    }
}
