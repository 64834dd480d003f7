//! Measurements that an antenna tuner needs after its antenna has moved: four ways to continue, and
//! a cold start.
//!
//! An antenna is tuned with [`BEFORE`] measurements, then its impedance Z moves by a share of |Z|
//! in a random direction. The bench counts measurements until one gives an SWR within 5 % of the
//! new optimum. All ways have the same antennas and seeds.
//!
//! | way | what it does |
//! |---|---|
//! | cold | starts a new tuner |
//! | forget | continues; the oldest observation makes room for the newest; 128 are kept |
//! | forget sooner | the same, with the 64 newest kept |
//! | measure again | the same; the four best are measured first and their old values replaced |
//! | restart | `Persistent::restart`, as the firmware does: a new tuner that asks for the eight best first |
//!
//! **Choices.** Antennas are drawn as in `trimtab antenna-bench`, and count if the network can
//! match them before and after (SWR below 1.5).

use std::thread;

use trimtab::internals::Random;
use trimtab::{Combination, Config, WhenFull};
use trimtab_embedded::flash::RamFlash;
use trimtab_embedded::journal::Layout;
use trimtab_embedded::persistent::{Persistent, Task};
use trimtab_firmware::antenna::{AntennaTuner, Network, space};

const BEFORE: usize = 100;
/// Most measurements after the move.
const AFTER: usize = 100;
const ANTENNAS: usize = 16;
const SEEDS: u64 = 3;
const SHARES: [f32; 5] = [0.02, 0.05, 0.1, 0.2, 0.5];
const MATCHABLE: f32 = 1.5;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Cold,
    Forget { keep: u16, again: usize },
    Restart,
}

const WAYS: [(&str, Way); 5] = [
    ("cold", Way::Cold),
    ("forget", Way::Forget { keep: 128, again: 0 }),
    ("forget sooner", Way::Forget { keep: 64, again: 0 }),
    ("measure again", Way::Forget { keep: 64, again: 4 }),
    ("restart", Way::Restart),
];

/// An antenna that moves, and the SWR that is good enough afterwards.
struct Case {
    before: Network,
    after: Network,
    enough: f32,
}

fn main() {
    println!(
        "Measurements until the SWR is within 5 % of the best: median, 9th decile, share of runs within {AFTER}.\n"
    );
    print!("| moved by |");
    WAYS.iter().for_each(|(name, _)| print!(" {name} |"));
    println!("\n|---:|{}", "---|".repeat(WAYS.len()));
    for share in SHARES {
        let cases = cases(share);
        print!("| {:.0} % |", 100.0 * share);
        for (_, way) in WAYS {
            let counts = counts(&cases, way);
            let quantile = |q: usize| match counts[(counts.len() - 1) * q / 10] {
                Some(count) => count.to_string(),
                None => format!("> {AFTER}"),
            };
            let got = counts.iter().flatten().count() * 100 / counts.len();
            print!(" {}, {}, {got} % |", quantile(5), quantile(9));
        }
        println!();
    }
}

fn cases(share: f32) -> Vec<Case> {
    let mut random = Random::new(11, (1000.0 * share) as u64);
    let mut cases = Vec::new();
    while cases.len() < ANTENNAS {
        let resistance = 5.0 * (200f32.ln() * random.uniform()).exp();
        let reactance = 1000.0 * random.uniform() - 500.0;
        let frequency = 3.5e6 * (8f32.ln() * random.uniform()).exp();
        let angle = std::f32::consts::TAU * random.uniform();
        let distance = share * resistance.hypot(reactance);
        let moved = (resistance + distance * angle.cos(), reactance + distance * angle.sin());
        let networks = (Network::new(resistance, reactance, frequency), Network::new(moved.0, moved.1, frequency));
        if let (Ok(before), Ok(after)) = networks
            && best(&before) < MATCHABLE
            && best(&after) < MATCHABLE
        {
            cases.push(Case { before, after, enough: 1.05 * best(&after) });
        }
    }
    cases
}

fn best(network: &Network) -> f32 {
    network.optimum(&space()).map_or(f32::INFINITY, |c| network.swr(&c))
}

/// The counts of all antennas and seeds, sorted; runs that did not get there last.
fn counts(cases: &[Case], way: Way) -> Vec<Option<usize>> {
    let jobs: Vec<_> = cases.iter().flat_map(|case| (1..=SEEDS).map(move |seed| (case, seed))).collect();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut counts: Vec<_> = thread::scope(|scope| {
        let run = |part| scope.spawn(move || -> Vec<_> { run_all(part, way) });
        let parts: Vec<_> = jobs.chunks(jobs.len().div_ceil(threads)).map(run).collect();
        parts.into_iter().flat_map(|part| part.join().expect("a run does not panic")).collect()
    });
    counts.sort_by_key(|count| count.unwrap_or(usize::MAX));
    counts
}

fn run_all(jobs: &[(&Case, u64)], way: Way) -> Vec<Option<usize>> {
    jobs.iter().map(|(case, seed)| run(case, *seed, way)).collect()
}

/// The measurements that it took, or `None` if too many.
fn run(case: &Case, seed: u64, way: Way) -> Option<usize> {
    let keep = if let Way::Forget { keep, .. } = way { keep } else { 0 };
    let config = Config { when_full: WhenFull::ForgetOldest, observations: keep, ..Config::default() };
    let (mut flash, mut tuner) = (RamFlash::<3, 4096, 4>::new(), Box::new(AntennaTuner::new()));
    let task = Task { space: space(), config, seed, meaning: 0 };
    let layout = Layout { range: 0..3 * 4096, records: 150 };
    let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, layout).expect("it fits");
    if way != Way::Cold {
        for _ in 0..BEFORE {
            let c = kept.ask().expect("a proposal").combination;
            kept.tell(&c, case.before.cost(&c)).expect("taken");
        }
    }
    let mut measured = 0;
    let mut is_enough = |c: &Combination<3>| {
        measured += 1;
        (case.after.swr(c) <= case.enough).then_some(measured)
    };
    match way {
        Way::Cold => {}
        Way::Restart => {
            kept.restart();
        }
        Way::Forget { again, .. } => {
            let mut known: Vec<_> = kept.tuner().observations().collect();
            known.sort_by(|a, b| a.value.total_cmp(&b.value));
            for c in known.iter().take(again).map(|o| o.combination) {
                if let Some(count) = is_enough(&c) {
                    return Some(count);
                }
                // The last outcome of a combination counts after a failure, so this replaces the
                // old value.
                kept.tell_failed(&c).expect("taken");
                kept.tell(&c, case.after.cost(&c)).expect("taken");
            }
        }
    }
    for _ in 0..AFTER {
        let c = kept.ask().expect("a proposal").combination;
        if let Some(count) = is_enough(&c) {
            return Some(count).filter(|count| *count <= AFTER);
        }
        kept.tell(&c, case.after.cost(&c)).expect("taken");
    }
    None
}
