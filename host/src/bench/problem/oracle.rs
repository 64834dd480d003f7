//! Slow and simple references for the tests of problems.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::{Problem, Spec};
use crate::bench::domain::Domain;
use crate::error::Error;

pub(super) fn build(spec: &str, seed: u64) -> Box<dyn Problem> {
    spec.parse::<Spec>().unwrap().build(seed, &Default::default()).unwrap()
}

/// The error message of a problem that cannot be built.
pub(super) fn refusal(spec: &str) -> String {
    match spec.parse::<Spec>().unwrap().build(0, &Default::default()) {
        Err(Error::Usage(message) | Error::Failed(message)) => message,
        _ => panic!("{spec} should be refused"),
    }
}

/// Compares a problem's optimum with exhaustive search.
pub(super) fn check_optimum(spec: &str, seed: u64) {
    let problem = build(spec, seed);
    let domain = Domain::new(problem.knobs());
    let all = (0..domain.cardinality()).filter_map(|index| domain.at(index));
    let least = all.map(|levels| problem.cost(&levels)).fold(f64::INFINITY, f64::min);
    let optimum = problem.optimum().unwrap();
    assert_eq!(problem.cost(&optimum.levels), optimum.value, "{spec}, seed {seed}");
    // Up to rounding: two combinations may differ only in the order of a sum.
    assert!((optimum.value - least).abs() <= 1e-12 * least.abs().max(1.0), "{spec}, seed {seed}: {least} {optimum:?}");
}

/// The cost at the end of a steepest descent from a random combination.
pub(super) fn descend(problem: &dyn Problem, seed: u64) -> f64 {
    let domain = Domain::new(problem.knobs());
    let mut levels: Vec<Level> = domain.random(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    let mut cost = problem.cost(&levels);
    loop {
        let steps = domain.neighbours(&levels).into_iter().map(|step| (problem.cost(&step), step));
        match steps.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((less, step)) if less < cost => (cost, levels) = (less, step),
            _ => return cost,
        }
    }
}
