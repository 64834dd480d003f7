//! Limits: margins in every way that an outcome can come, and the best that keeps them.

use trimtab::{
    AskError, Combination, Config, Error, Event, Goal, Knob, Margins, Noise, Record, Space, TellError, WhenFull,
};

const KNOBS: [Knob; 4] = [Knob::ranked(8), Knob::nominal(3), Knob::ranked(6), Knob::nominal(2)];
type Limited = trimtab::tuner!(KNOBS, observations: 40, rows: 128, limits: 2);
type LimitedCache = trimtab::tuner_cache!(KNOBS, observations: 40, rows: 128);

fn tuner(config: Config, seed: u64) -> Box<Limited> {
    let mut tuner = Box::new(Limited::new());
    tuner.init(Space::new(&KNOBS).expect("a space"), config, seed).expect("it fits");
    tuner
}

/// Falls with the first and the third knob; the second number rises with them.
fn cost(c: &Combination<4>) -> f32 {
    let level = |i| f32::from(c.level(i));
    10.0 - level(0) - 0.7 * level(2) + [0.0, 1.5, 3.0][usize::from(c.level(1))] + 0.3 * level(3)
}

/// Below 3 W, and no more than two of something else.
fn margins(c: &Combination<4>) -> [f32; 2] {
    let level = |i| f32::from(c.level(i));
    let watts = 0.4 * level(0) + 0.05 * level(0) * level(2) + 0.2 * level(1) + 0.1 * level(2);
    [3.0 - watts, 2.0 - (level(2) - 3.0).abs() - level(3)]
}

fn keeps(c: &Combination<4>) -> bool {
    margins(c).iter().all(|margin| *margin >= 0.0)
}

/// The best of all combinations that keep both limits.
fn best() -> f32 {
    let space = Space::<4>::new(&KNOBS).expect("a space");
    let all = (0..=space.last_index()).filter_map(|i| space.at(i));
    all.filter(keeps).map(|c| cost(&c)).fold(f32::INFINITY, f32::min)
}

fn run(tuner: &mut Limited, measurements: usize) {
    for _ in 0..measurements {
        let c = tuner.ask().expect("a proposal").combination;
        tuner.tell_with(&c, cost(&c), &margins(&c)).expect("taken");
    }
}

#[test]
fn the_best_that_keeps_both_limits_is_found() {
    let found = (0..10).filter(|seed| {
        let mut tuner = tuner(Config { noise: Noise::None, ..Config::default() }, *seed);
        run(&mut tuner, 40);
        let own = tuner.best_observed().expect("some keep them");
        assert!(keeps(&own.combination));
        assert_eq!(tuner.margins(&own.combination), Some(margins(&own.combination)));
        own.value <= best() + 1e-6
    });
    assert!(found.count() >= 9);
}

/// promise: Tuner::best_observed | a better value breaks a limit | it is not the best; before one keeps all limits there is none
#[test]
fn what_breaks_a_limit_is_never_the_best() {
    let mut tuner = tuner(Config::default(), 1);
    let [bad, good] = [[7, 0, 5, 0], [0, 0, 3, 0]].map(|levels| tuner.space().combination(&levels).expect("valid"));
    assert!(!keeps(&bad) && keeps(&good));
    tuner.tell_with(&bad, cost(&bad), &margins(&bad)).expect("taken");
    assert_eq!((tuner.best_observed(), tuner.best_posterior()), (None, None));
    tuner.tell_with(&good, cost(&good), &margins(&good)).expect("taken");
    assert_eq!(tuner.best_observed().map(|best| best.combination), Some(good));
    assert_eq!(tuner.best_posterior().map(|best| best.combination), Some(good));
    // A second measurement of it breaks a limit by more than the first kept it.
    tuner.tell_with(&good, cost(&good), &[-9.0, 1.0]).expect("taken");
    assert_eq!(tuner.best_observed(), None);
}

/// promise: Tuner::tell_with | another number of margins than before, or more than there is room for | `TellError::Margins`, unchanged
/// promise: Tuner::tell_with | a margin that is not finite | `TellError::NonFinite`, unchanged
#[test]
fn wrong_margins_are_refused_and_change_nothing() {
    let mut tuner = tuner(Config::default(), 2);
    let c = tuner.ask().expect("a proposal").combination;
    let refused = tuner.tell_with(&c, 1.0, &[1.0; 3]);
    assert_eq!(refused, Err(TellError::Margins { given: 3, expected: 2 }));
    assert_eq!(tuner.tell_with(&c, 1.0, &[1.0, f32::NAN]), Err(TellError::NonFinite));
    assert_eq!((tuner.len(), tuner.limits(), tuner.pending()), (0, 0, &[c][..]));
    // A failure says nothing about how many there are.
    tuner.tell_failed(&c).expect("taken");
    let c = tuner.ask().expect("a proposal").combination;
    tuner.tell_with(&c, 1.0, &[1.0]).expect("taken");
    assert_eq!(tuner.limits(), 1);
    let next = tuner.ask().expect("a proposal").combination;
    assert_eq!(tuner.tell(&next, 1.0), Err(TellError::Margins { given: 0, expected: 1 }));
    let record = Record::new(&next, Event::Measured(1.0, Margins::new(&[1.0, 2.0]).expect("two")));
    assert_eq!(tuner.replay(&record), Err(Error::Tell(TellError::Margins { given: 2, expected: 1 })));
    assert_eq!((tuner.len(), tuner.pending()), (2, &[next][..]));
    // The other way round: told without margins first.
    tuner.restart();
    tuner.tell(&c, 1.0).expect("taken");
    assert_eq!(tuner.tell_with(&next, 1.0, &[1.0]), Err(TellError::Margins { given: 1, expected: 0 }));
    // And a tuner without room for any.
    let mut plain = <trimtab::tuner!(KNOBS, observations: 4, rows: 8)>::new();
    plain.init(Space::new(&KNOBS).expect("a space"), Config::default(), 1).expect("it fits");
    assert_eq!(plain.tell_with(&c, 1.0, &[1.0]), Err(TellError::Margins { given: 1, expected: 0 }));
    plain.tell_with(&c, 1.0, &[]).expect("no margins are a plain tell");
}

/// Slices, a cache, and the log: the same bits, with failures and with pending asks.
#[test]
fn slices_caches_and_replays_have_the_same_bits() {
    for seed in 0..4 {
        let config = Config { noise: if seed % 2 == 0 { Noise::None } else { Noise::Auto }, ..Config::default() };
        let [mut whole, mut sliced, mut cached] = [0; 3].map(|_| tuner(config, seed));
        let mut cache = Box::new(LimitedCache::new());
        let mut log = Vec::new();
        for t in 0..36 {
            let proposal = whole.ask().expect("a proposal");
            assert_eq!(cached.ask_with(&mut cache), Ok(proposal), "{seed} {t}");
            sliced.ask_begin().expect("begun");
            let same = loop {
                if let Some(same) = sliced.ask_step(1).expect("under way") {
                    break same;
                }
            };
            assert_eq!(same, proposal, "{seed} {t}");
            let c = proposal.combination;
            if t % 9 == 4 {
                // Another one is asked before the first is told.
                let other = whole.ask().expect("a proposal").combination;
                assert_eq!(cached.ask_with(&mut cache).map(|same| same.combination), Ok(other), "{seed} {t}");
                assert_eq!(sliced.ask().map(|same| same.combination), Ok(other), "{seed} {t}");
                [&mut whole, &mut sliced, &mut cached].into_iter().for_each(|tuner| assert!(tuner.cancel(&other)));
            }
            let event = match t % 7 {
                6 => Event::Failed,
                _ => Event::Measured(cost(&c) + (t as f32).sin() * 0.01, Margins::new(&margins(&c)).expect("two")),
            };
            log.push(Record::new(&c, event));
            whole.replay(&log[t]).expect("taken");
            cached.replay(&log[t]).expect("taken");
            sliced.replay_begin(&log[t]).expect("taken");
            while sliced.tell_step(1) {}
            assert_eq!((whole.best_posterior(), whole.score(&c)), (sliced.best_posterior(), sliced.score(&c)));
            assert_eq!(whole.keep_chance(&c), cached.keep_chance(&c));
        }
        let mut rebuilt = tuner(config, seed);
        log.iter().for_each(|record| rebuilt.replay(record).expect("taken"));
        assert_eq!(rebuilt.ask(), whole.ask(), "{seed}");
    }
}

/// The proposal has the smallest score, its chance to keep the limits included.
#[test]
fn the_chance_to_keep_the_limits_is_in_the_score() {
    let mut tuner = tuner(Config { noise: Noise::None, ..Config::default() }, 5);
    run(&mut tuner, 25);
    let proposal = tuner.ask().expect("a proposal");
    let score = tuner.score(&proposal.combination).expect("the model chose");
    assert!((score - proposal.score).abs() < 1e-2 * (1.0 + score.abs()), "{score} {}", proposal.score);
    let space = Space::<4>::new(&KNOBS).expect("a space");
    let all: Vec<_> = (0..=space.last_index()).filter_map(|i| space.at(i)).collect();
    let chance = |c: &Combination<4>| tuner.keep_chance(c).expect("there are observations");
    assert!(all.iter().all(|c| (0.0..=1.0).contains(&chance(c))));
    // After 25 measurements the model tells most combinations right.
    let right = all.iter().filter(|c| (chance(c) > 0.5) == keeps(c)).count();
    assert!(right * 100 > all.len() * 85, "{right} of {}", all.len());
}

/// While nothing keeps the limits, the search goes where they are broken least.
#[test]
fn a_narrow_region_is_found() {
    let mut tuner = tuner(Config { noise: Noise::None, ..Config::default() }, 3);
    let narrow = |c: &Combination<4>| {
        let off = |i: usize, at: f32| (f32::from(c.level(i)) - at).abs();
        0.5 - off(0, 6.0) - off(2, 1.0) - off(1, 2.0)
    };
    let mut first = None;
    for t in 0..30 {
        let c = tuner.ask().expect("a proposal").combination;
        let margin = narrow(&c);
        tuner.tell_with(&c, cost(&c), &[margin]).expect("taken");
        first = first.or((margin >= 0.0).then_some(t));
    }
    // Two of 288 combinations.
    assert!(first.is_some_and(|t| t < 25), "{first:?}");
}

/// promise: WhenFull::ForgetWorst | limits | what breaks one goes first, so the best that keeps them stays
#[test]
fn the_best_that_keeps_the_limits_is_not_forgotten() {
    let config = Config { when_full: WhenFull::ForgetWorst, observations: 5, ..Config::default() };
    let mut tuner = tuner(config, 4);
    let good = tuner.space().combination(&[0, 2, 3, 0]).expect("valid");
    tuner.tell_with(&good, 100.0, &[1.0]).expect("taken");
    for i in 1..12u16 {
        let bad = tuner.space().combination(&[i % 8, 0, i % 6, 1]).expect("valid");
        tuner.tell_with(&bad, f32::from(i), &[-1.0]).expect("taken");
    }
    assert_eq!(tuner.best_observed().map(|best| best.combination), Some(good));
}

#[test]
fn maximising_with_limits_is_minimising_with_the_other_sign() {
    let mut down = tuner(Config::default(), 7);
    let mut up = tuner(Config { goal: Goal::Maximise, ..Config::default() }, 7);
    for _ in 0..20 {
        let c = down.ask().expect("a proposal").combination;
        assert_eq!(up.ask().map(|same| same.combination), Ok(c));
        down.tell_with(&c, cost(&c), &margins(&c)).expect("taken");
        up.tell_with(&c, -cost(&c), &margins(&c)).expect("taken");
    }
    let values = [&up, &down].map(|tuner| tuner.best_observed().map(|best| best.value));
    assert_eq!(values[0].map(|value| -value), values[1]);
}

/// Margins of any size, all equal or all zero, never make a number that is not finite.
#[test]
fn odd_margins_are_taken() {
    for margin in [0.0, -0.0, 1e-40, -3e38, 3e38, 1.0] {
        let mut tuner = tuner(Config::default(), 6);
        for t in 0..20 {
            let c = tuner.ask().expect("a proposal");
            assert!(t < 4 || c.score.is_finite(), "{margin} {t} {c:?}");
            let sign = if t % 3 == 0 { -1.0 } else { 1.0 };
            tuner.tell_with(&c.combination, cost(&c.combination), &[margin, sign * margin]).expect("taken");
        }
    }
}

/// To the last combination, whether any keeps the limits or not.
#[test]
fn a_small_space_is_exhausted() {
    const SMALL: [Knob; 2] = [Knob::nominal(3), Knob::ranked(4)];
    for margin in [-1.0, 1.0] {
        let mut tuner = <trimtab::tuner!(SMALL, observations: 12, rows: 16, limits: 1)>::new();
        tuner.init(Space::new(&SMALL).expect("a space"), Config::default(), 1).expect("it fits");
        for _ in 0..12 {
            let c = tuner.ask().expect("a proposal").combination;
            tuner.tell_with(&c, f32::from(c.level(1)), &[margin]).expect("taken");
        }
        assert_eq!(tuner.ask(), Err(AskError::Exhausted));
        assert_eq!(tuner.best_observed().is_some(), margin > 0.0);
    }
}
