//! Short runs of methods, for the tests of this folder.

use trimtab::{Knob, Level};

use super::random::RANDOM;
use super::{Entry, Task};

/// The combinations that a method asks for, in order, until it spends the budget or exhausts the
/// space.
pub(super) fn asks(
    entry: &Entry,
    knobs: &[Knob],
    seed: u64,
    budget: usize,
    cost: impl Fn(&[Level]) -> f64,
) -> Vec<Vec<Level>> {
    let mut method = (entry.start)(&Task { knobs, seed, budget }).unwrap();
    let mut asked = Vec::new();
    while asked.len() < budget {
        let Some(levels) = method.ask().unwrap() else { break };
        method.tell(&levels, cost(&levels)).unwrap();
        asked.push(levels);
    }
    asked
}

/// Weighted number of bits that differ from a pattern that no encoding prefers. The minimum is 0.
pub(super) fn pattern(levels: &[Level]) -> f64 {
    let wrong = |(j, level): (usize, &Level)| {
        let target = 0b1_0110_0010_1101_u32 >> (j % 13) & 1;
        if u32::from(*level) == target { 0.0 } else { 1.0 + 0.1 * j as f64 }
    };
    levels.iter().enumerate().map(wrong).sum()
}

/// The smallest cost that a method finds, averaged over some seeds.
pub(super) fn mean_best(entry: &Entry, bits: usize, budget: usize, cost: fn(&[Level]) -> f64) -> f64 {
    const SEEDS: u64 = 3;
    let best = |seed| {
        let asked = asks(entry, &vec![Knob::nominal(2); bits], seed, budget, cost);
        asked.iter().map(|levels| cost(levels)).fold(f64::INFINITY, f64::min)
    };
    (0..SEEDS).map(best).sum::<f64>() / SEEDS as f64
}

/// Checks that a method finds the minimum, which must be 0, of a cost over `bits` bits, that it
/// beats random search on 14 bits, and that it asks for each combination of 4 bits exactly once.
pub(super) fn judge(entry: &Entry, bits: usize, budget: usize, cost: fn(&[Level]) -> f64) {
    assert_eq!(mean_best(entry, bits, budget, cost), 0.0, "{} misses the minimum", entry.name);
    let (own, random) = (mean_best(entry, 14, 40, cost), mean_best(&RANDOM, 14, 40, cost));
    assert!(own < random, "{} reaches {own}, random search {random}", entry.name);
    let mut asked = asks(entry, &[Knob::nominal(2); 4], 1, 20, cost);
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), 16, "{} repeats or misses combinations", entry.name);
}
