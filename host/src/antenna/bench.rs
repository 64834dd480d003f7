//! trimtab against random and local search, over many antennas and seeds.
//!
//! **Choices**
//! - A run is judged by the true SWR of the state that it would leave on, divided by the lowest SWR
//!   of all 32 768 states: 1 is perfect.
//! - Antennas whose best reachable SWR is 1.5 or more are not drawn: they say nothing about a
//!   search.
//! - Antennas have their own seed: more antennas extend the list, and a default chosen on some can
//!   be checked on others.
//!
//! **Cost.** loads × seeds × methods runs, on all cores.

use std::fmt::Write;

use rayon::prelude::*;
use serde::Serialize;
use trimtab::Scale;
use trimtab_firmware::antenna::{self, Network};

use super::args::BenchArgs;
use super::live;
use super::run::Bridge;
use crate::bench::method::{Choice, Task};
use crate::bench::problem::antenna::{MATCHABLE, loads};
use crate::error::Error;
use crate::terminal;

/// A line of the table: its name, the method, and the scale of the part values.
struct Contestant {
    name: &'static str,
    method: &'static str,
    scale: Scale,
}

const CONTESTANTS: [Contestant; 4] = [
    Contestant { name: "trimtab", method: "trimtab", scale: Scale::Linear },
    Contestant { name: "trimtab, log values", method: "trimtab", scale: Scale::Log },
    Contestant { name: "local search", method: "local-search", scale: Scale::Linear },
    Contestant { name: "random search", method: "random", scale: Scale::Linear },
];

/// The runs of a contestant in numbers.
#[derive(Serialize)]
struct Row {
    method: &'static str,
    /// Median of SWR found / best SWR.
    median_ratio: f32,
    /// Nine runs in ten are at or below this.
    ninth_decile_ratio: f32,
    /// Share of the runs whose SWR is within 5 % of the best.
    within_5_percent: f32,
    median_swr: f32,
}

#[derive(Serialize)]
struct Report {
    loads: u32,
    seeds: u32,
    loads_seed: u64,
    budget: usize,
    noise: f32,
    median_best_swr: f32,
    methods: Vec<Row>,
    /// Every run, for other analyses.
    runs: Vec<Outcome>,
}

/// How one run ended.
#[derive(Serialize)]
struct Outcome {
    method: &'static str,
    resistance_ohm: f32,
    reactance_ohm: f32,
    frequency_hz: f32,
    seed: u64,
    /// The SWR that was found.
    swr: f32,
    /// The lowest SWR of all states.
    best_swr: f32,
}

/// Runs every method on every antenna and seed, and prints the table.
pub(crate) fn run(args: &BenchArgs) -> Result<(), Error> {
    let (budget, noise) = (args.measuring.budget, args.measuring.noise);
    let loads = loads(args.loads as usize, args.loads_seed);
    let jobs: Vec<_> = (0..CONTESTANTS.len())
        .flat_map(|kind| (0..loads.len()).map(move |load| (kind, load)))
        .flat_map(|(kind, load)| (1..=u64::from(args.seeds)).map(move |seed| (kind, load, seed)))
        .collect();
    let bar = (!args.output.quiet && terminal::is_live()).then(|| live::bar(jobs.len() as u64));
    let swrs: Vec<f32> = jobs
        .par_iter()
        .map(|&(kind, load, seed)| {
            let swr = found(&CONTESTANTS[kind], &loads[load].0, noise, seed, budget);
            if let Some(bar) = &bar {
                bar.inc(1);
            }
            swr
        })
        .collect::<Result<_, _>>()?;
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let runs: Vec<_> = jobs
        .iter()
        .zip(&swrs)
        .map(|(&(kind, load, seed), &swr)| {
            let (network, best_swr) = loads[load];
            Outcome {
                method: CONTESTANTS[kind].name,
                resistance_ohm: network.resistance(),
                reactance_ohm: network.reactance(),
                frequency_hz: network.frequency(),
                seed,
                swr,
                best_swr,
            }
        })
        .collect();
    let report = Report {
        loads: args.loads,
        seeds: args.seeds,
        loads_seed: args.loads_seed,
        budget,
        noise,
        median_best_swr: quantile(&sorted(loads.iter().map(|load| load.1)), 0.5),
        methods: CONTESTANTS.iter().map(|one| row(one.name, &runs)).collect(),
        runs,
    };
    terminal::print(&if args.output.json {
        serde_json::to_string(&report).map_err(|error| Error::Failed(format!("cannot write JSON: {error}")))? + "\n"
    } else {
        table(&report, args.output.quiet)
    })
}

/// Summarises the runs of one contestant.
fn row(method: &'static str, runs: &[Outcome]) -> Row {
    let own = || runs.iter().filter(move |run| run.method == method);
    let ratios = sorted(own().map(|run| run.swr / run.best_swr));
    Row {
        method,
        median_ratio: quantile(&ratios, 0.5),
        ninth_decile_ratio: quantile(&ratios, 0.9),
        within_5_percent: ratios.iter().filter(|ratio| **ratio <= 1.05).count() as f32 / ratios.len() as f32,
        median_swr: quantile(&sorted(own().map(|run| run.swr)), 0.5),
    }
}

/// The true SWR of the state that measured best.
fn found(one: &Contestant, network: &Network, noise: f32, seed: u64, budget: usize) -> Result<f32, Error> {
    let Choice(entry) = one.method.parse().map_err(Error::Failed)?;
    let knobs = antenna::knobs(one.scale);
    let mut method = (entry.start)(&Task { knobs: &knobs, seed, budget })?;
    let space = antenna::space();
    let mut bridge = Bridge::new(*network, noise, seed);
    let mut best = (f32::INFINITY, f32::INFINITY);
    for _ in 0..budget {
        let Some(levels) = method.ask()? else { break };
        let c = space.combination(&levels).map_err(|error| Error::Failed(error.to_string()))?;
        let cost = bridge.measure(&c);
        method.tell(&levels, cost.into())?;
        if cost < best.0 {
            best = (cost, network.swr(&c));
        }
    }
    Ok(best.1)
}

fn sorted(values: impl Iterator<Item = f32>) -> Vec<f32> {
    let mut values: Vec<f32> = values.collect();
    values.sort_by(f32::total_cmp);
    values
}

/// A quantile of sorted values, interpolated.
fn quantile(sorted: &[f32], share: f32) -> f32 {
    let place = share * (sorted.len() - 1) as f32;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}

fn table(report: &Report, is_quiet: bool) -> String {
    let Report { loads, seeds, budget, noise, median_best_swr, methods, .. } = report;
    let mut text = String::new();
    if !is_quiet {
        let _ = writeln!(
            text,
            "{loads} antennas × {seeds} seeds, {budget} measurements of 32768 states, noise {noise}\n\
             antennas whose best reachable SWR is below {MATCHABLE}; its median is {median_best_swr:.3}\n"
        );
    }
    let _ = writeln!(
        text,
        "{:<24} {:>12} {:>11} {:>10} {:>10}",
        "", "median ratio", "9th decile", "within 5%", "median SWR"
    );
    for row in methods {
        let share = 100.0 * row.within_5_percent;
        let _ = writeln!(
            text,
            "{:<24} {:>12.3} {:>11.2} {share:>8.0} % {:>10.3}",
            row.method, row.median_ratio, row.ninth_decile_ratio, row.median_swr
        );
    }
    if !is_quiet {
        text += "\nratio: SWR of the state found / lowest SWR of all states; 1 is perfect\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_by_hand() {
        // Four values: the median is between the second and third, the ninth decile at place 2.7.
        let values = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile(&values, 0.5), 3.0);
        assert!((quantile(&values, 0.9) - 6.8).abs() < 1e-5);
        assert_eq!((quantile(&values, 0.0), quantile(&values, 1.0), quantile(&[5.0], 0.9)), (1.0, 8.0, 5.0));
    }
}
