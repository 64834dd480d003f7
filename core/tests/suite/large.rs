//! Spaces beyond 2⁶⁴ combinations are tuned like any other; calls that need an index refuse them.

use std::collections::HashSet;

use trimtab::sizes::{features, graded_levels, triangle};
use trimtab::{
    AskError, Combination, Config, Distribution, Encoding, Event, InitError, Knob, Record, Region, Space, Tuner,
};

/// Two hundred knobs of 64 levels, three quarters of them graded: 64^200 = 2^1200 combinations.
const KNOBS: [Knob; 200] = {
    let mut knobs = [Knob::ranked(64); 200];
    let mut i = 0;
    while i < 50 {
        knobs[4 * i] = Knob::nominal(64);
        i += 1;
    }
    knobs
};

const T: usize = 60;

type Large = trimtab::tuner!(KNOBS, observations: T, rows: 64);
type LargeCache = trimtab::tuner_cache!(KNOBS, observations: T, rows: 64);

/// The mean of the graded knobs' distances from a target level each and of the nominal knobs at a
/// wrong level.
fn cost(c: &Combination<200>) -> f32 {
    let one = |(i, level): (usize, &trimtab::Level)| match i % 4 {
        0 => f32::from(u8::from(*level >= 32)),
        _ => (f32::from(*level) - (i % 64) as f32).abs() / 64.0,
    };
    c.levels().iter().enumerate().map(one).sum::<f32>() / 200.0
}

fn tuner(space: Space<200>) -> Box<Large> {
    let mut tuner = Box::new(Large::new());
    tuner.init(space, Config::default(), 1).expect("it fits");
    tuner
}

#[test]
fn two_hundred_knobs_of_64_levels_are_tuned() {
    let space = Space::new(&KNOBS).expect("sound");
    assert_eq!((space.cardinality(), space.is_indexed()), (u128::MAX, false));
    let (mut first, mut second) = (tuner(space.clone()), tuner(space));
    let mut cache = Box::new(LargeCache::new());
    let (mut seen, mut initial) = (HashSet::new(), Vec::new());
    for t in 0..T {
        // With and without a cache, and from the log: the same bits.
        let proposal = first.ask_with(&mut cache).expect("a proposal");
        assert_eq!(second.ask(), Ok(proposal));
        let c = proposal.combination;
        assert!(seen.insert(c), "asked twice");
        if t < 12 {
            initial.push(cost(&c));
        }
        let record = Record::new(&c, Event::Told(cost(&c)));
        first.replay(&record).expect("taken");
        second.replay(&record).expect("taken");
    }
    let best = first.best_observed().expect("a best").value;
    let early = initial.iter().copied().fold(f32::INFINITY, f32::min);
    assert!(best < early, "{best} after {T}, {early} after 12");
}

/// promise: Tuner::ask | a predicate that forbids combinations | those are never asked
#[test]
fn infeasible_combinations_are_never_asked() {
    let space =
        Space::new(&KNOBS).expect("sound").with_feasible(&|c| c.level(0) < 32 && c.level(199).is_multiple_of(2));
    let mut tuner = tuner(space);
    for _ in 0..20 {
        let c = tuner.ask().expect("a proposal").combination;
        assert!(c.level(0) < 32 && c.level(199).is_multiple_of(2));
        tuner.tell(&c, cost(&c)).expect("taken");
    }
}

/// With no feasible combination an ask gives up after a while instead of searching forever.
///
/// promise: Tuner::ask | nothing feasible is found in a space too large to try whole | `NoneFound` after a bounded search
#[test]
fn an_ask_without_feasible_combinations_ends() {
    let mut tuner = tuner(Space::new(&KNOBS).expect("sound").with_feasible(&|_| false));
    assert!(matches!(tuner.ask(), Err(AskError::NoneFound { .. })));
}

/// promise: Tuner::ask_lookup, ask_recon | more than 2⁶⁴ combinations | `TooLarge`
/// promise: Tuner::init | `Encoding::Compact` beyond 2⁶⁴ combinations | `TooLarge`
#[test]
fn calls_that_need_an_index_refuse() {
    const BITS: [Knob; 65] = [Knob::nominal(2); 65];
    type Mapped = Tuner<65, 65, 4, 8, 16, { triangle(8) }>;
    let mut tuner = Box::new(Mapped::new());
    let refused = tuner.init(Space::new(&BITS).expect("sound"), Config::paper(), 1);
    assert_eq!(refused, Err(InitError::TooLarge));
    assert!(InitError::TooLarge.to_string().contains("PerKnob"));
    // The random map needs no index; only the way back from a point does.
    let config = Config { encoding: Encoding::PerKnob, map: Distribution::Centred, ..Config::paper() };
    tuner.init(Space::new(&BITS).expect("sound"), config, 1).expect("per knob");
    let c = tuner.ask().expect("a first").combination;
    tuner.tell(&c, 1.0).expect("taken");
    assert_eq!(tuner.ask_lookup(Region::UnitBox), Err(AskError::TooLarge));
    assert!(AskError::TooLarge.to_string().contains("use ask"));
    assert!(tuner.pending().is_empty());
    let c = tuner.ask_recon(Region::UnitBox, 0.02).expect("by rounding").combination;
    tuner.tell(&c, 2.0).expect("taken");
    assert_ne!(tuner.ask().expect("a proposal").combination, c);
}

/// Exactly 2⁶⁴ combinations all have an index.
#[test]
fn the_largest_indexed_space_is_looked_up() {
    const BITS: [Knob; 64] = [Knob::nominal(2); 64];
    type Mapped = Tuner<64, 64, 4, 8, 16, { triangle(8) }>;
    let mut tuner = Box::new(Mapped::new());
    tuner.init(Space::new(&BITS).expect("sound"), Config::paper(), 1).expect("64 bits");
    let c = tuner.ask_lookup(Region::UnitBox).expect("a first").combination;
    tuner.tell(&c, 1.0).expect("taken");
    assert!(!matches!(tuner.ask_lookup(Region::UnitBox), Err(AskError::TooLarge)));
    // Where `Compact` is impossible, its bits take no room.
    assert_eq!((features(&BITS), features(&[Knob::ranked(256); 8]), features(&[Knob::ranked(256); 9])), (64, 64, 18));
    let graded = KNOBS.iter().filter(|knob| knob.is_graded()).map(|knob| knob.levels()).sum();
    assert_eq!(graded_levels(&KNOBS), graded);
}
