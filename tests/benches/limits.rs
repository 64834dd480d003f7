//! Limits: measurements to the best combination that keeps a limit, told in four ways.
//!
//! Each problem has two numbers, a cost and one that must not exceed a limit. A third of all combinations
//! keep it, or fewer where the best by cost alone would be among them: it must not. So the limit runs
//! beside the best that keeps it, which is known, because all combinations are tried.
//!
//! | problem | knobs | cost and second number |
//! |---|---|---|
//! | relays | 14 of two levels | random weights and pairs |
//! | board | three of 8 ordered levels, one of 12, two modes of 4 and 3 | squares around an optimum that moves with the modes, coupled |
//! | antenna | the matching network: two banks of 128 levels, one of two | the loss with one antenna, and with another |
//!
//! | way | what the tuner is told |
//! |---|---|
//! | margins | cost and margin: `tell_with` |
//! | penalty w | the cost, plus w times the violation, both in standard deviations over all combinations |
//! | failures | the cost, or that it failed |
//! | random | nothing |

use std::thread;

use trimtab::internals::Random;
use trimtab::{Combination, Config, Knob, Noise, Space, Tuner};
use trimtab_firmware::antenna::{self, KNOBS, Network};

const BUDGET: usize = 100;
/// Counted for a run that does not get there.
const MISSED: f64 = 1.5 * BUDGET as f64;
/// The share of combinations that keep the limit.
const SHARE: f64 = 1.0 / 3.0;
const TARGETS: [f64; 2] = [0.05, 0.0];
const SEEDS: u64 = 60;
const FIRST_SEED: u64 = 1000;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Margins,
    Penalty(f64),
    Failures,
    Random,
}

const WAYS: [(&str, Way); 6] = [
    ("margins", Way::Margins),
    ("penalty 1", Way::Penalty(1.0)),
    ("penalty 3", Way::Penalty(3.0)),
    ("penalty 10", Way::Penalty(10.0)),
    ("failures", Way::Failures),
    ("random", Way::Random),
];

/// Both numbers of every combination, by index.
struct Problem {
    name: &'static str,
    knobs: Vec<Knob>,
    all: Vec<(f64, f64)>,
    limit: f64,
    /// The best cost that keeps the limit, and the mean of those that do.
    best: f64,
    mean: f64,
    /// Deviations of both numbers.
    spread: (f64, f64),
}

impl Problem {
    fn new(name: &'static str, knobs: Vec<Knob>, numbers: impl Fn(&[trimtab::Level]) -> (f64, f64)) -> Self {
        let count: usize = knobs.iter().map(Knob::levels).product();
        let mut levels = vec![0; knobs.len()];
        let all: Vec<(f64, f64)> = (0..count)
            .map(|index| {
                let mut rest = index;
                for (level, knob) in levels.iter_mut().zip(&knobs) {
                    *level = (rest % knob.levels()) as trimtab::Level;
                    rest /= knob.levels();
                }
                numbers(&levels)
            })
            .collect();
        let mut seconds: Vec<f64> = all.iter().map(|own| own.1).collect();
        seconds.sort_by(f64::total_cmp);
        let alone = all.iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or(f64::INFINITY, |own| own.1);
        let below = seconds.partition_point(|second| *second < alone);
        let limit = seconds[((SHARE * count as f64) as usize).min(below.saturating_sub(1))];
        let keeping: Vec<f64> = all.iter().filter(|own| own.1 <= limit).map(|own| own.0).collect();
        let best = keeping.iter().copied().fold(f64::INFINITY, f64::min);
        let deviation = |of: fn(&(f64, f64)) -> f64| {
            let mean = all.iter().map(of).sum::<f64>() / count as f64;
            (all.iter().map(|own| (of(own) - mean).powi(2)).sum::<f64>() / count as f64).sqrt()
        };
        let (spread, mean) = ((deviation(|own| own.0), deviation(|own| own.1)), keeping.iter().sum::<f64>());
        let mean = mean / keeping.len() as f64;
        Self { name, knobs, all, limit, best, mean, spread }
    }

    /// Measurements until within each target of the way from the mean to the best.
    fn run(&self, way: Way, seed: u64) -> [f64; 2] {
        let mut run = Run { problem: self, way, reached: [MISSED; 2], measured: 0 };
        match self.knobs.len() {
            14 => run.tune::<14, 0>(seed),
            3 => run.tune::<3, { trimtab::sizes::graded_levels(&KNOBS) }>(seed),
            _ => run.tune::<6, { 3 * 8 + 12 }>(seed),
        }
        run.reached
    }
}

/// One run.
struct Run<'a> {
    problem: &'a Problem,
    way: Way,
    reached: [f64; 2],
    measured: usize,
}

impl Run<'_> {
    /// Measures a combination: its cost and its margin.
    fn measure(&mut self, index: usize) -> (f64, f64) {
        let problem = self.problem;
        let (cost, second) = problem.all[index];
        self.measured += 1;
        for (own, target) in self.reached.iter_mut().zip(TARGETS) {
            if second <= problem.limit && cost <= problem.best + target * (problem.mean - problem.best) + 1e-9 {
                *own = own.min(self.measured as f64);
            }
        }
        (cost, problem.limit - second)
    }

    fn tune<const K: usize, const M: usize>(&mut self, seed: u64) {
        let problem = self.problem;
        if self.way == Way::Random {
            let mut random = Random::new(seed, 9);
            (0..BUDGET).for_each(|_| {
                self.measure(random.below(problem.all.len() as u32) as usize);
            });
            return;
        }
        let space = Space::<K>::new(&problem.knobs).expect("the knobs are valid");
        let mut tuner = Box::new(Tuner::<K, M, 0, BUDGET, 256, { trimtab::sizes::triangle(BUDGET) }, 0, 1>::new());
        let config = Config { noise: Noise::None, ..Config::default() };
        tuner.init(space.clone(), config, seed).expect("the space fits");
        for _ in 0..BUDGET {
            let c: Combination<K> = tuner.ask().expect("the space is larger").combination;
            let (cost, margin) = self.measure(space.index(&c) as usize);
            let told = match self.way {
                Way::Margins => tuner.tell_with(&c, cost as f32, &[margin as f32]),
                Way::Penalty(weight) => {
                    let (cost, violation) = (cost / problem.spread.0, (-margin).max(0.0) / problem.spread.1);
                    tuner.tell(&c, (cost + weight * violation) as f32)
                }
                _ if margin < 0.0 => tuner.tell_failed(&c),
                _ => tuner.tell(&c, cost as f32),
            };
            told.expect("both are finite");
        }
    }
}

/// Random weights and pairs over 14 relays, for both numbers.
fn relays(seed: u64) -> Problem {
    let mut random = Random::new(seed, 1);
    let mut weights = || -> Vec<f64> { (0..14 * 14).map(|_| f64::from(random.uniform()) - 0.5).collect() };
    let both = [weights(), weights()];
    let value = |weights: &[f64], levels: &[trimtab::Level]| -> f64 {
        let on = (0..14).filter(|i| levels[*i] == 1);
        on.clone().map(|i| on.clone().filter(|j| *j >= i).map(|j| weights[14 * i + j]).sum::<f64>()).sum()
    };
    Problem::new("relays", vec![Knob::nominal(2); 14], |levels| (value(&both[0], levels), value(&both[1], levels)))
}

/// Four ordered knobs and two modes; the optimum of both numbers moves with the modes.
fn board(seed: u64) -> Problem {
    let mut random = Random::new(seed, 2);
    let mut numbers = |n: usize| -> Vec<f64> { (0..n).map(|_| f64::from(random.uniform())).collect() };
    let both = [numbers(60), numbers(60)];
    let value = |own: &[f64], levels: &[trimtab::Level]| -> f64 {
        let at = |i: usize| f64::from(levels[i]) / [7.0, 7.0, 7.0, 11.0][i];
        let (first, second) = (usize::from(levels[4]), usize::from(levels[5]));
        let off = |i: usize| at(i) - (0.6 * own[i] + 0.4 * own[4 + 4 * first + i]);
        let squares: f64 = (0..4).map(|i| (0.5 + own[20 + i]) * off(i) * off(i)).sum();
        let coupled: f64 = (0..3).map(|i| (own[30 + i] - 0.5) * off(i) * off(i + 1)).sum();
        squares + coupled + 0.5 * own[40 + first] + 0.5 * own[50 + second]
    };
    let mut knobs = vec![Knob::ranked(8); 3];
    knobs.extend([Knob::ranked(12), Knob::nominal(4), Knob::nominal(3)]);
    Problem::new("board", knobs, |levels| (value(&both[0], levels), value(&both[1], levels)))
}

/// The matching network with one antenna, and with another that is somewhat like it.
fn antenna(seed: u64) -> Problem {
    let mut random = Random::new(seed, 3);
    let mut between = |low: f32, high: f32| low + (high - low) * random.uniform();
    let (resistance, reactance) = (between(10.0, 150.0), between(-100.0, 100.0));
    let network = |resistance, reactance| Network::new(resistance, reactance, 7.1e6).expect("a usual antenna");
    let first = network(resistance, reactance);
    let second = network(resistance * between(0.6, 1.6), reactance + between(-40.0, 40.0));
    let space = antenna::space();
    Problem::new("antenna", KNOBS.to_vec(), |levels| {
        let c = space.combination(levels).expect("the levels are valid");
        (f64::from(first.cost(&c)), f64::from(second.cost(&c)))
    })
}

fn main() {
    let problems: Vec<Problem> = [relays as fn(u64) -> Problem, board, antenna]
        .into_iter()
        .flat_map(|of| (FIRST_SEED..FIRST_SEED + SEEDS).map(of))
        .collect();
    let results: Vec<Vec<[f64; 2]>> = thread::scope(|scope| {
        let run = |way| problems.iter().zip(FIRST_SEED..).map(move |(own, seed)| own.run(way, seed)).collect();
        let threads: Vec<_> = WAYS.iter().map(|(_, way)| scope.spawn(move || run(*way))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a run does not panic")).collect()
    });
    println!("Median measurements to the best that keeps the limit, in brackets how many runs get there.");
    println!("{SEEDS} instances of each problem from seed {FIRST_SEED} on, budget {BUDGET}.");
    for (target, share) in TARGETS.iter().enumerate() {
        let names = problems.chunks(SEEDS as usize).map(|own| own[0].name).collect::<Vec<_>>().join(" | ");
        println!("\n| within {:.0} % | {names} | all, relative to margins |", 100.0 * share);
        println!("|---|---:|---:|---:|---:|");
        for ((name, _), runs) in WAYS.iter().zip(&results) {
            print!("| {name} |");
            for part in runs.chunks(SEEDS as usize) {
                let mut all: Vec<f64> = part.iter().map(|run| run[target]).collect();
                all.sort_by(f64::total_cmp);
                let (median, got) = (all[all.len() / 2], all.iter().filter(|own| **own < MISSED).count());
                let median = if median < MISSED { median.to_string() } else { format!("> {BUDGET}") };
                print!(" {median} ({got}) |");
            }
            let ratio = |(own, margins): (&[f64; 2], &[f64; 2])| (own[target] / margins[target]).ln();
            let logs: Vec<f64> = runs.iter().zip(&results[0]).map(ratio).collect();
            let n = logs.len() as f64;
            let mean = logs.iter().sum::<f64>() / n;
            let error = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();
            println!(" {:.2} ({:.2}–{:.2}) |", mean.exp(), (mean - 1.96 * error).exp(), (mean + 1.96 * error).exp());
        }
    }
}
