//! Knobs that matter only sometimes: measurements to a target with and without saying so.
//!
//! A mode of three, three knobs of eight levels for each mode, and two knobs that always matter. The
//! cost has an optimum inside the range of each knob that moves with its neighbours; knobs of other modes
//! do nothing. With the rule there are 3·8³·48 combinations, without it 3·8⁹·48.

use trimtab::internals::Random;
use trimtab::{Combination, Config, Knob, Noise, OnlyIf, Space};

const KNOBS: [Knob; 12] = {
    let mut knobs = [Knob::ranked(8); 12];
    knobs[0] = Knob::nominal(3);
    knobs[11] = Knob::nominal(6);
    knobs
};
const BUDGET: usize = 100;
const SEEDS: u64 = 40;
const FIRST_SEED: u64 = 1000;

static CONDITIONS: [OnlyIf; 9] = {
    const LEVELS: [&[trimtab::Level]; 3] = [&[0], &[1], &[2]];
    let mut conditions = [OnlyIf { knob: 1, on: 0, levels: LEVELS[0] }; 9];
    let mut i = 0;
    while i < 9 {
        conditions[i] = OnlyIf { knob: 1 + i, on: 0, levels: LEVELS[i / 3] };
        i += 1;
    }
    conditions
};

type Twelve = trimtab::tuner!(KNOBS, observations: BUDGET, rows: 256);

/// A board: where the optimum of each knob lies, and how good each mode can be.
struct Board {
    at: [f32; 12],
    mode: [f32; 3],
    last: [f32; 6],
}

impl Board {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let mut next = || random.uniform();
        Self {
            at: core::array::from_fn(|_| 7.0 * next()),
            mode: core::array::from_fn(|_| 10.0 * next()),
            last: core::array::from_fn(|_| 10.0 * next()),
        }
    }

    fn cost(&self, level: impl Fn(usize) -> trimtab::Level) -> f32 {
        let mode = usize::from(level(0));
        let first = 1 + 3 * mode;
        let off = |knob: usize| f32::from(level(knob)) - self.at[knob];
        let own: f32 = (first..first + 3).map(|knob| off(knob) * off(knob)).sum();
        let coupled: f32 = (first..first + 2).map(|knob| off(knob) * off(knob + 1)).sum();
        own + 0.8 * coupled + off(10) * off(10) + self.mode[mode] + self.last[usize::from(level(11))]
    }

    /// The least cost and the mean over all combinations, by trying all.
    fn extremes(&self) -> (f32, f32) {
        let (mut least, mut sum, mut count) = (f32::INFINITY, 0.0, 0.0);
        for mode in 0..3 {
            for rest in 0..8 * 8 * 8 * 8 * 6u32 {
                let levels = |knob: usize| match knob {
                    0 => mode,
                    10 => (rest / 512 % 8) as trimtab::Level,
                    11 => (rest / 4096) as trimtab::Level,
                    knob => (rest >> (3 * ((knob - 1) % 3)) & 7) as trimtab::Level,
                };
                let cost = self.cost(levels);
                (least, sum, count) = (least.min(cost), sum + f64::from(cost), count + 1.0);
            }
        }
        (least, (sum / count) as f32)
    }
}

/// Measurements until within a share of the way from the mean to the best, for each share; the budget
/// and half of it where it is not reached.
fn run(board: &Board, space: Space<12>, seed: u64, shares: [f32; 3]) -> [f64; 3] {
    let (least, mean) = board.extremes();
    let mut tuner = Box::new(Twelve::new());
    let config = Config { noise: Noise::None, ..Config::default() };
    tuner.init(space, config, seed).expect("the space is valid");
    let mut reached = [1.5 * BUDGET as f64; 3];
    for t in 1..=BUDGET {
        let c: Combination<12> = tuner.ask().expect("the space is large").combination;
        let cost = board.cost(|knob| c.level(knob));
        tuner.tell(&c, cost).expect("the cost is finite");
        for (own, share) in reached.iter_mut().zip(shares) {
            if cost <= least + share * (mean - least) {
                *own = own.min(t as f64);
            }
        }
    }
    reached
}

fn main() {
    let plain = || Space::<12>::new(&KNOBS).expect("the knobs are valid");
    let shares = [0.1, 0.05, 0.02];
    println!(
        "Measurements with the rule relative to without, {SEEDS} boards from seed {FIRST_SEED} on, budget {BUDGET}.\n"
    );
    println!("| target, of the way from mean to best | without, median | with, median | ratio, 95 % interval |");
    println!("|---|---:|---:|---:|");
    let mut runs = [const { Vec::new() }; 3];
    for seed in FIRST_SEED..FIRST_SEED + SEEDS {
        let board = Board::new(seed);
        let without = run(&board, plain(), seed, shares);
        let with = run(&board, plain().only_if(&CONDITIONS).expect("the conditions are valid"), seed, shares);
        for (i, runs) in runs.iter_mut().enumerate() {
            runs.push((without[i], with[i]));
        }
    }
    for (share, runs) in shares.iter().zip(runs) {
        let median = |of: fn(&(f64, f64)) -> f64| {
            let mut all: Vec<f64> = runs.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let logs: Vec<f64> = runs.iter().map(|(without, with)| (with / without).ln()).collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let error = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();
        println!(
            "| {:.0} % | {} | {} | {:.2} ({:.2}–{:.2}) |",
            100.0 * (1.0 - share),
            median(|run| run.0),
            median(|run| run.1),
            mean.exp(),
            (mean - 1.96 * error).exp(),
            (mean + 1.96 * error).exp()
        );
    }
}
