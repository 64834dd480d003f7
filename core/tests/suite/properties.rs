//! Properties that hold for any space, seed and costs, on spaces drawn at random.

use trimtab::internals::Random;
use trimtab::{
    Acquisition, AskError, Beta, Combination, Config, Distribution, Encoding, Knob, Proposal, Scale, Space, Tuner,
};

const K: usize = 5;
static VALUES: [f32; 9] = [1.0, 3.0, 2.0, 10.0, 47.0, 100.0, 220.0, 470.0, 1000.0];

type Small = Tuner<K, 40, 10, 48, 32, { trimtab::sizes::triangle(48) }>;

fn space(random: &mut Random) -> Space<K> {
    let count = 1 + random.below(K as u32);
    let knobs: Vec<Knob> = (0..count)
        .map(|_| match random.below(4) {
            0 => Knob::nominal(1 + random.below(5) as u16),
            1 => Knob::ranked(1 + random.below(8) as u16),
            2 if random.below(2) == 0 => Knob::log_range(2.0, 1.0, 1 + random.below(9)),
            2 => Knob::range(-1.0, random.below(9) as f32, 1.0),
            _ => Knob::graded(&VALUES[..1 + random.below(9) as usize], Scale::Log),
        })
        .collect();
    Space::new(&knobs).expect("the knobs are sound")
}

fn config(random: &mut Random) -> Config {
    Config {
        encoding: [Encoding::Compact, Encoding::PerKnob][random.below(2) as usize],
        map: [Distribution::Centred, Distribution::Signs, Distribution::Uniform01][random.below(3) as usize],
        acquisition: [
            Acquisition::ExpectedImprovement,
            Acquisition::Ucb(Beta::Constant(2.0)),
            Acquisition::Ucb(Beta::Theorem { scale: 0.5, delta: 0.1 }),
        ][random.below(3) as usize],
        initial: random.below(6) as u16,
        standardise: random.below(4) > 0,
        ..Config::default()
    }
}

/// A cost with an optimum, some interaction, and now and then an outlier.
fn cost(c: &Combination<K>) -> f32 {
    let sum: f32 = c.levels().iter().enumerate().map(|(i, l)| (f32::from(*l) - i as f32).powi(2)).sum();
    let product: f32 = c.levels().iter().map(|l| f32::from(*l) - 1.5).product();
    if c.levels().iter().all(|l| *l == 0) { 1e5 } else { sum + product }
}

fn tuner(space: &Space<K>, config: Config, seed: u64) -> Box<Small> {
    let mut tuner = Box::new(Small::new());
    tuner.init(space.clone(), config, seed).expect("40 features are enough");
    tuner
}

/// Asks and tells up to the budget; returns the proposals, and the error that ended it, if any.
fn run(tuner: &mut Small, budget: usize) -> (Vec<Proposal<K>>, Option<AskError>) {
    let mut proposals = Vec::new();
    for _ in 0..budget {
        match tuner.ask() {
            Ok(proposal) => {
                tuner.tell(&proposal.combination, cost(&proposal.combination)).expect("an asked combination is taken");
                proposals.push(proposal);
            }
            Err(error) => return (proposals, Some(error)),
        }
    }
    (proposals, None)
}

/// Rules out every combination whose levels add up to a multiple of three.
fn is_safe(c: &Combination<K>) -> bool {
    !c.levels().iter().map(|l| u32::from(*l)).sum::<u32>().is_multiple_of(3)
}

#[test]
fn every_feasible_combination_is_asked_once() {
    for seed in 0..150 {
        let mut random = Random::new(seed, 1);
        let restricted = random.below(2) == 1;
        let mut space = space(&mut random);
        if restricted {
            space = space.with_feasible(&is_safe);
        }
        let mut tuner = tuner(&space, config(&mut random), seed);
        let (proposals, end) = run(&mut tuner, 48);
        for (i, p) in proposals.iter().enumerate() {
            assert!(space.contains(&p.combination) && space.is_feasible(&p.combination));
            assert!(proposals[..i].iter().all(|q| q.combination != p.combination), "seed {seed}: asked twice");
            assert!(p.std_dev >= 0.0 && p.mean.is_finite() && p.score.is_finite(), "seed {seed}: {p:?}");
            assert_eq!(p.std_dev.is_finite(), i > 0);
        }
        let feasible = (0..=space.last_index()).filter(|i| space.is_feasible(&space.at(*i).expect("an index"))).count();
        assert_eq!(proposals.len(), feasible.min(48), "seed {seed}: {space:?}");
        assert_eq!(end, (feasible < 48).then_some(AskError::Exhausted));
        let best = proposals.iter().map(|p| cost(&p.combination)).min_by(f32::total_cmp);
        assert_eq!(tuner.best_observed().map(|b| b.value), best);
    }
}

#[test]
fn tiny_spaces_are_exhausted() {
    for (knobs, n) in [(vec![Knob::nominal(1)], 1), (vec![Knob::nominal(2)], 2), (vec![Knob::ranked(2); 2], 4)] {
        let mut tuner = tuner(&Space::new(&knobs).expect("sound"), Config::default(), 3);
        let (proposals, end) = run(&mut tuner, 48);
        assert_eq!((proposals.len(), end), (n, Some(AskError::Exhausted)));
        assert_eq!(tuner.ask(), Err(AskError::Exhausted), "and stays so");
    }
}

#[test]
fn a_tuner_of_one_observation_works() {
    type One = Tuner<2, 0, 0, 1, 1, 1>;
    let mut tuner = One::new();
    tuner.init(Space::new(&[Knob::nominal(2); 2]).expect("sound"), Config::default(), 1).expect("it fits");
    let first = tuner.ask().expect("a proposal").combination;
    tuner.tell(&first, 1.0).expect("room for one");
    let second = tuner.ask().expect("asking goes on").combination;
    assert_ne!(first, second);
    assert_eq!(tuner.tell(&second, 0.0), Err(trimtab::TellError::Full));
    assert_eq!(tuner.tell(&first, 3.0), Ok(()), "a repeat needs no room");
    assert_eq!(tuner.best_observed().map(|b| (b.value, b.repeats)), Some((2.0, 2)));
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_does_not() {
    let mut different = 0;
    for seed in 0..20 {
        let mut random = Random::new(seed, 2);
        let (space, config) = (space(&mut random), config(&mut random));
        let once = run(&mut tuner(&space, config, seed), 30);
        assert_eq!(once, run(&mut tuner(&space, config, seed), 30));
        different += usize::from(once.0 != run(&mut tuner(&space, config, seed + 1), 30).0);
    }
    assert!(different > 10);
}

/// The outcomes are the state: a fresh tuner told the same continues with the same bits, however
/// often either was asked.
#[test]
fn the_measurements_rebuild_the_tuner() {
    for seed in 0..20 {
        let mut random = Random::new(seed, 3);
        let (space, config) = (space(&mut random), config(&mut random));
        let mut first = tuner(&space, config, seed);
        run(&mut first, 20);
        let mut second = tuner(&space, config, seed);
        for o in first.observations() {
            second.tell(&o.combination, o.value).expect("taken once, taken again");
        }
        assert_eq!(first.ask(), second.ask());
        assert_eq!(first.ask(), second.ask());
        assert_eq!(run(&mut first, 10), run(&mut second, 10));
    }
}

#[test]
fn repeats_are_averaged() {
    let space = Space::<K>::new(&[Knob::nominal(2); 5]).expect("sound");
    let mut tuner = tuner(&space, Config { remeasure: 1, ..Config::default() }, 5);
    run(&mut tuner, 10);
    let known = tuner.observations().nth(4).expect("ten observations");
    for cost in [known.value + 3.0, known.value - 3.0] {
        tuner.tell(&known.combination, cost).expect("a repeat is taken");
    }
    let again = tuner.observations().nth(4).expect("still there");
    assert_eq!(tuner.len(), 10);
    assert_eq!(again.repeats, 3);
    assert!((again.value - known.value).abs() < 1e-5);
    assert!(tuner.ask().is_ok_and(|p| tuner.observations().all(|o| o.combination != p.combination)));
}

/// A predicate that leaves one in a thousand of a million combinations.
#[test]
fn rare_feasible_combinations_are_found() {
    fn rare(c: &Combination<20>) -> bool {
        c.levels()[..10].iter().all(|l| *l == 1)
    }
    type Rare = Tuner<20, 0, 0, 16, 64, { trimtab::sizes::triangle(16) }>;
    let space = Space::new(&[Knob::nominal(2); 20]).expect("sound").with_feasible(&rare);
    let mut tuner = Box::new(Rare::new());
    tuner.init(space, Config::default(), 1).expect("it fits");
    for _ in 0..16 {
        let p = tuner.ask().expect("there are 1024");
        assert!(rare(&p.combination));
        tuner.tell(&p.combination, p.combination.levels().iter().map(|l| f32::from(*l)).sum()).expect("taken");
    }
    // Nothing is feasible, and the space is too large to be sure.
    let none = Space::new(&[Knob::nominal(2); 20]).expect("sound").with_feasible(&|_| false);
    tuner.init(none, Config::default(), 1).expect("it fits");
    assert!(matches!(tuner.ask(), Err(AskError::NoneFound { tried }) if tried >= 1 << 16));
}

/// 16 knobs of 8 levels have 128 features, and the random map takes all of them.
#[test]
fn spaces_of_128_features_or_2_to_the_64_combinations_are_tuned() {
    const BITS: [Knob; 64] = [Knob::nominal(2); 64];
    const WIDE: [Knob; 16] = [Knob::nominal(8); 16];
    type Wide = trimtab::tuner!(WIDE, observations: 24, rows: 32, dimensions: 16);
    type Long = trimtab::tuner!(BITS, observations: 24, rows: 32);
    let mut wide = Box::new(Wide::new());
    let mut long = Box::new(Long::new());
    wide.init(Space::new(&WIDE).expect("2^48"), Config::default(), 1).expect("128 features");
    long.init(Space::new(&BITS).expect("2^64"), Config::default(), 1).expect("64 features");
    let (mut first, mut last) = (f32::NAN, f32::NAN);
    for i in 0..24 {
        let p = wide.ask().expect("a proposal").combination;
        wide.tell(&p, p.levels().iter().map(|l| f32::from(*l)).sum()).expect("taken");
        let p = long.ask().expect("a proposal").combination;
        let cost = p.levels().iter().map(|l| f32::from(*l)).sum();
        long.tell(&p, cost).expect("taken");
        (first, last) = (if i == 0 { cost } else { first }, cost);
    }
    assert!(last < first, "64 bits, 24 measurements: {first} to {last}");
}
