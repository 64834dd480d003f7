//! `trimtab fleet-bench`: how many measurements board 2, 11 and 101 of a simulated fleet need.
//!
//! | method | what it does |
//! |---|---|
//! | cold | trimtab without a prior |
//! | golden | the best of the first board is measured first, then cold |
//! | shortlist | the best of the first eight boards are measured first, then cold |
//! | prior | trimtab with the prior that the earlier boards taught |
//! | RGPE | the published rival, in f64 |
//!
//! **Choices**
//! - Earlier boards leave what a cold tuner measured, 60 combinations each.
//! - Until within 5 % of the board's own best, by its true cost; not reached counts as more than the
//!   budget of 80.
//! - Fleets 1, 3, 4, 5, 6, 8 and 9 chose the constants of `learn`; fleets 2 and 6 were published with earlier
//!   ones, fleet 7 with these.

use std::fmt::Write;

use clap::Args;
use rand::SeedableRng;
use rayon::prelude::*;
use trimtab::{Config, Event, FleetPrior, Goal, Knob, Level, PriorState};
use trimtab_sizes::Setup;

use super::board::{Board, DESIGNS, Design, Random, Region, normal};
use super::format;
use super::model::{Log, Model};
use super::rgpe::Ensemble;
use crate::error::Error;
use crate::terminal;

const LOGGED: usize = 60;
const BUDGET: usize = 80;
/// Test boards are numbered from here.
const TESTS: u64 = 1000;

/// Compare priors from earlier boards with cold starts, over three simulated fleets
#[derive(Debug, Args)]
pub(crate) struct FleetBenchArgs {
    /// Number of the fleets: 1, 3, 4 and 5 chose the constants
    #[arg(long, default_value_t = 6)]
    fleet: u64,
    /// Number of boards that are tested per cell
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..=200))]
    tests: u64,
    /// Only this fleet: antenna, equaliser or relays
    #[arg(long)]
    only: Option<String>,
    /// Also the rival RGPE, which takes minutes
    #[arg(long)]
    rgpe: bool,
    /// Write the prior of a hundred boards of the fleet --only as a constant for Rust, and nothing else
    #[arg(long, value_name = "FILE", requires = "only")]
    rust: Option<std::path::PathBuf>,
    /// Only fleets in which some combinations fail
    #[arg(long)]
    failing: bool,
    /// Only how the time of learning grows with the boards
    #[arg(long)]
    growth: bool,
}

/// How a board was tuned.
struct Outcome {
    needed: usize,
    failed: usize,
    is_given_up: bool,
}

/// What the measured cost adds to the true one: 1 % of the distance from the median to the best.
struct Noise {
    random: Random,
    size: f64,
}

impl Noise {
    fn next(&mut self) -> f64 {
        if self.size > 0.0 { self.size * normal(&mut self.random) } else { 0.0 }
    }
}

/// Tunes a board; stops at the target if asked to.
fn tune(
    knobs: &[Knob],
    board: &dyn Board,
    (prior, first): (Option<FleetPrior>, &[Vec<Level>]),
    (seed, budget, noise): (u64, usize, f64),
    stops: bool,
) -> Result<(Log, Outcome), Error> {
    let setup =
        Setup { knobs, conditions: &[], config: Config::default(), seed, observations: budget, feasible: None, prior };
    let mut tuner = trimtab_sizes::start(setup)?;
    let fault = |error: trimtab::Error| Error::Failed(format!("the tuner says: {error}"));
    for levels in first {
        tuner.replay(levels, Event::Enqueued).map_err(fault)?;
    }
    let mut noise = Noise { random: Random::seed_from_u64(seed), size: noise };
    let (mut log, mut needed) = (Log::default(), BUDGET + 1);
    let mut values: Vec<(f64, f64)> = Vec::new();
    for count in 1..=budget {
        let asked = tuner.ask().map_err(|error| fault(error.into()))?;
        let Some(levels) = asked.map(|asked| asked.levels) else { break };
        let cost = board.cost(&levels);
        if cost.is_infinite() {
            tuner.replay(&levels, Event::Failed).map_err(fault)?;
            log.failed.push(levels);
            continue;
        }
        let told = cost + noise.next();
        tuner.replay(&levels, Event::Told(told as f32)).map_err(fault)?;
        match log.levels.iter().position(|own| *own == levels) {
            Some(i) => {
                let (sum, n) = values[i];
                let mean = sum / n;
                log.again += 1.0;
                log.square += (told - mean) * (told - mean) * n / (n + 1.0);
                values[i] = (sum + told, n + 1.0);
                log.costs[i] = values[i].0 / values[i].1;
            }
            None => {
                log.levels.push(levels);
                log.costs.push(told);
                values.push((told, 1.0));
            }
        }
        if cost <= board.target() && needed > BUDGET {
            needed = count;
            if stops {
                break;
            }
        }
    }
    let is_given_up = matches!(tuner.prior(), PriorState::GivenUp { .. });
    let failed = log.failed.len();
    Ok((log, Outcome { needed, failed, is_given_up }))
}

/// The median and the ninth decile.
fn cell(outcomes: &[usize]) -> String {
    let mut sorted = outcomes.to_vec();
    sorted.sort_unstable();
    let shown = |share: f64| match sorted.get((share * sorted.len() as f64) as usize) {
        Some(needed) if *needed <= BUDGET => needed.to_string(),
        _ => format!(">{BUDGET}"),
    };
    format!("{}/{}", shown(0.5), shown(0.9))
}

fn best(log: &Log) -> Vec<Level> {
    let i = (0..log.costs.len()).min_by(|a, b| log.costs[*a].total_cmp(&log.costs[*b]));
    i.map(|i| log.levels[i].clone()).unwrap_or_default()
}

struct Race<'a> {
    design: &'a Design,
    knobs: Vec<Knob>,
    fleet: u64,
    tests: u64,
}

impl Race<'_> {
    fn logs(&self, count: u64, noise: f64) -> Result<Vec<Log>, Error> {
        let boards = (0..count).into_par_iter().map(|number| {
            let board = self.design.board(self.fleet, number, false);
            let noise = noise * board.spread();
            Ok(tune(&self.knobs, board.as_ref(), (None, &[]), (number, LOGGED, noise), false)?.0)
        });
        boards.collect()
    }

    fn runs(
        &self,
        is_strange: bool,
        noise: f64,
        prior: Option<FleetPrior>,
        first: &[Vec<Level>],
    ) -> Result<(Vec<usize>, usize), Error> {
        let runs = (0..self.tests).into_par_iter().map(|number| {
            let board = self.design.board(self.fleet, TESTS + number, is_strange);
            let noise = noise * board.spread();
            Ok(tune(&self.knobs, board.as_ref(), (prior, first), (number, BUDGET, noise), true)?.1)
        });
        let runs: Vec<Outcome> = runs.collect::<Result<_, Error>>()?;
        let given_up = runs.iter().filter(|run| run.is_given_up).count();
        Ok((runs.iter().map(|run| run.needed).collect(), given_up))
    }

    fn prior(&self, logs: &[Log]) -> Result<FleetPrior, Error> {
        let model = Model::learn(&self.knobs, Goal::Minimise, logs).map_err(Error::Failed)?;
        let bytes = model.numbers().write(&self.knobs).map_err(Error::Failed)?;
        format::read(&bytes).map_err(|error| Error::Failed(error.to_string()))
    }

    /// The rows of one fleet in which some combinations fail: measurements, and failures per board.
    fn failing(&self, name: &str, fails: Region) -> Result<String, Error> {
        let board = |number| self.design.failing(fails, self.fleet, number);
        let logs = (0..100)
            .into_par_iter()
            .map(|number| Ok(tune(&self.knobs, board(number).as_ref(), (None, &[]), (number, LOGGED, 0.0), false)?.0));
        let logs: Vec<Log> = logs.collect::<Result<_, Error>>()?;
        let without = |log: &Log| Log { failed: Vec::new(), ..log.clone() };
        let without: Vec<Log> = logs.iter().map(without).collect();
        let runs = |prior: Option<FleetPrior>| -> Result<String, Error> {
            let runs = (0..self.tests).into_par_iter().map(|number| {
                Ok(tune(&self.knobs, board(TESTS + number).as_ref(), (prior, &[]), (number, BUDGET, 0.0), true)?.1)
            });
            let runs: Vec<Outcome> = runs.collect::<Result<_, Error>>()?;
            let failed = runs.iter().map(|run| run.failed).sum::<usize>() as f64 / self.tests as f64;
            Ok(format!("{}, {failed:.1}", cell(&runs.iter().map(|run| run.needed).collect::<Vec<_>>())))
        };
        let (cold, mut text) = (runs(None)?, String::new());
        let _ = writeln!(text, "| {}, {name} | cold | {cold} | {cold} |", self.design.name);
        for (method, logs) in [("prior without the failures", &without), ("**prior**", &logs)] {
            let of = |boards: usize| runs(Some(self.prior(&logs[..boards])?));
            let _ = writeln!(text, "| | {method} | {} | {} |", of(10)?, of(100)?);
        }
        Ok(text)
    }

    /// The rows of one fleet.
    fn table(&self, has_rgpe: bool) -> Result<String, Error> {
        let logs = self.logs(100, 0.0)?;
        let name = self.design.name;
        let mut text = String::new();
        let cold = self.runs(false, 0.0, None, &[])?.0;
        let _ = writeln!(text, "| {name} | cold | {0} | {0} | {0} |", cell(&cold));
        let golden = cell(&self.runs(false, 0.0, None, &[best(&logs[0])])?.0);
        let _ = writeln!(text, "| | golden board first | {golden} | {golden} | {golden} |");
        let mut shortlist: Vec<Vec<Level>> = Vec::new();
        for log in &logs[..8] {
            let own = best(log);
            if !shortlist.contains(&own) {
                shortlist.push(own);
            }
        }
        let short = cell(&self.runs(false, 0.0, None, &shortlist)?.0);
        let _ = writeln!(text, "| | shortlist of 8 first | | {short} | {short} |");
        if has_rgpe {
            let of = |boards: usize| -> Result<String, Error> {
                let ensemble = Ensemble::new(&self.knobs, &logs[..boards])?;
                let runs = (0..self.tests).into_par_iter().map(|number| {
                    let board = self.design.board(self.fleet, TESTS + number, false);
                    ensemble.run(board.as_ref(), &mut || 0.0, number, BUDGET)
                });
                Ok(cell(&runs.collect::<Vec<_>>()))
            };
            let _ = writeln!(text, "| | RGPE, f64 | {} | {} | {} |", of(1)?, of(10)?, of(100)?);
        }
        let (mut cells, mut strange, mut given_up) = (Vec::new(), Vec::new(), Vec::new());
        for boards in [1, 10, 100] {
            let prior = self.prior(&logs[..boards])?;
            let (needed, lost) = self.runs(false, 0.0, Some(prior), &[])?;
            let (odd, found) = self.runs(true, 0.0, Some(prior), &[])?;
            cells.push(cell(&needed));
            strange.push(cell(&odd));
            given_up.push(format!("{lost} and {found} of {}", self.tests));
        }
        let _ = writeln!(text, "| | **prior** | {} |", cells.join(" | "));
        let cold = cell(&self.runs(false, 0.01, None, &[])?.0);
        let _ = writeln!(text, "| | cold, 1 % noise | {cold} | {cold} | {cold} |");
        let noisy = self.logs(100, 0.01)?;
        let of = |boards: usize| -> Result<String, Error> {
            Ok(cell(&self.runs(false, 0.01, Some(self.prior(&noisy[..boards])?), &[])?.0))
        };
        let _ = writeln!(text, "| | prior, 1 % noise | {} | {} | {} |", of(1)?, of(10)?, of(100)?);
        let odd = cell(&self.runs(true, 0.0, None, &[])?.0);
        let _ = writeln!(text, "| | strange board, cold | {odd} | {odd} | {odd} |");
        let _ = writeln!(text, "| | strange board, prior | {} |", strange.join(" | "));
        let _ = writeln!(text, "| | prior given up: fleet and strange | {} |", given_up.join(" | "));
        Ok(text)
    }
}

/// Runs the race and prints its tables.
pub(crate) fn run(args: &FleetBenchArgs) -> Result<(), Error> {
    if args.growth {
        return growth(args.fleet);
    }
    let designs: Vec<_> =
        DESIGNS.iter().filter(|design| args.only.as_ref().is_none_or(|only| only == design.name)).collect();
    if designs.is_empty() {
        return Err(Error::Usage("there are antenna, equaliser and relays".into()));
    }
    if let (Some(path), [design]) = (&args.rust, &designs[..]) {
        let race = Race { design, knobs: (design.knobs)(), fleet: args.fleet, tests: args.tests };
        let model = Model::learn(&race.knobs, Goal::Minimise, &race.logs(100, 0.0)?).map_err(Error::Failed)?;
        let bytes = model.numbers().write(&race.knobs).map_err(Error::Failed)?;
        return super::learn::write(path, super::learn::constant(&bytes, 100).as_bytes());
    }
    if args.failing {
        terminal::print(&format!(
            "fleet {}, {} test boards per cell; measurements, median/ninth decile, and failed ones per board\n\n\
             | fleet | method | board 11 | board 101 |\n|---|---|---:|---:|\n",
            args.fleet, args.tests
        ))?;
        for design in designs {
            let race = Race { design, knobs: (design.knobs)(), fleet: args.fleet, tests: args.tests };
            for (name, fails) in design.fails {
                terminal::print(&race.failing(name, *fails)?)?;
            }
        }
        return Ok(());
    }
    terminal::print(&format!(
        "fleet {}, {} test boards per cell; measurements until within 5 % of the board's own best, median/ninth decile\n\n\
         | fleet | method | board 2 | board 11 | board 101 |\n|---|---|---:|---:|---:|\n",
        args.fleet, args.tests
    ))?;
    for design in designs {
        let race = Race { design, knobs: (design.knobs)(), fleet: args.fleet, tests: args.tests };
        terminal::print(&race.table(args.rgpe)?)?;
    }
    Ok(())
}

/// How the time of learning grows: logs are repeated with other costs, because simulating thousands of
/// boards takes longer than learning from them.
fn growth(fleet: u64) -> Result<(), Error> {
    let design = &DESIGNS[2];
    let race = Race { design, knobs: (design.knobs)(), fleet, tests: 1 };
    let some = race.logs(50, 0.0)?;
    terminal::print("| boards | seconds |\n|---:|---:|\n")?;
    for count in [10, 100, 1000, 10_000] {
        let logs: Vec<Log> = (0..count)
            .map(|i| {
                let mut log = some[i % some.len()].clone();
                log.costs.iter_mut().for_each(|cost| *cost *= 1.0 + 1e-3 * (i / some.len()) as f64 / count as f64);
                log
            })
            .collect();
        let begun = std::time::Instant::now();
        let model = Model::learn(&race.knobs, Goal::Minimise, &logs).map_err(Error::Failed)?;
        model.numbers().write(&race.knobs).map_err(Error::Failed)?;
        terminal::print(&format!("| {count} | {:.1} |\n", begun.elapsed().as_secs_f64()))?;
    }
    Ok(())
}
