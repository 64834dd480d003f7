//! How a tuner copes with real hardware: defaults, failures, noise, parallel measurements, drift,
//! power cuts.

use trimtab::internals::Random;
use trimtab::settings::Settings;
use trimtab::{
    AskError, Combination, Config, EnqueueError, Event, Goal, InitError, Knob, Noise, Record, Space, WhenFull,
};

const KNOBS: [Knob; 6] =
    [Knob::nominal(2), Knob::ranked(8), Knob::nominal(4), Knob::nominal(2), Knob::ranked(5), Knob::nominal(3)];
type Six = trimtab::tuner!(KNOBS, observations: 24, rows: 64);

fn tuner(config: Config) -> Box<Six> {
    let mut tuner = Box::new(Six::new());
    tuner.init(Space::new(&KNOBS).expect("sound"), config, 7).expect("it fits");
    tuner
}

fn cost(c: &Combination<6>) -> f32 {
    let target = [1.0, 5.0, 2.0, 0.0, 1.0, 2.0];
    c.levels().iter().zip(target).map(|(l, t)| (f32::from(*l) - t).abs()).sum()
}

/// With a table of the whole space the proposal has the smallest score, failures included.
#[test]
fn the_proposal_has_the_smallest_score_of_all() {
    const SMALL: [Knob; 3] = [Knob::nominal(4), Knob::ranked(4), Knob::nominal(4)];
    type Small = trimtab::tuner!(SMALL, observations: 40, rows: 64);
    let mut tuner = Box::new(Small::new());
    let space = Space::new(&SMALL).expect("sound");
    tuner.init(space.clone(), Config { noise: Noise::None, ..Config::default() }, 3).expect("it fits");
    let mut compared = 0;
    while tuner.len() < 40 {
        let proposal = tuner.ask().expect("a proposal");
        let c = proposal.combination;
        if let Some(own) = tuner.score(&c) {
            assert!((own - proposal.score).abs() < 1e-3, "{own} {}", proposal.score);
            let open =
                (0..64).filter_map(|i| space.at(i)).filter(|c| tuner.observations().all(|o| o.combination != *c));
            let least = open.filter_map(|c| tuner.score(&c)).fold(f32::INFINITY, f32::min);
            assert!(own <= least + 1e-3, "{own} {least} after {}", tuner.len());
            compared += usize::from(tuner.failures() > 0);
        }
        if c.level(2) == 3 {
            tuner.tell_failed(&c).expect("taken");
        } else {
            let cost = c.levels().iter().map(|level| f32::from(*level)).sum();
            tuner.tell(&c, cost).expect("taken");
        }
    }
    assert!(compared > 20, "{compared}");
}

/// promise: Tuner::enqueue | nothing | asked before all others, in order
#[test]
fn the_queue_is_asked_first_and_in_order() {
    let mut tuner = tuner(Config::default());
    let defaults: Vec<_> = (0..3).map(|i| tuner.space().combination(&[0, i, 0, 0, i, 0]).expect("valid")).collect();
    for c in &defaults {
        tuner.enqueue(c).expect("room");
    }
    assert_eq!(tuner.enqueue(&defaults[0]), Err(EnqueueError::Known));
    // A queued combination that is told meanwhile is not asked.
    tuner.tell(&defaults[1], 3.0).expect("taken");
    assert_eq!(tuner.ask().map(|p| p.combination), Ok(defaults[0]));
    assert_eq!(tuner.ask().map(|p| p.combination), Ok(defaults[2]));
    assert_eq!(tuner.enqueue(&defaults[2]), Err(EnqueueError::Known), "it is being measured");
    assert!(tuner.ask().is_ok_and(|p| !defaults.contains(&p.combination)));
    let mut index = 1000;
    let full = loop {
        index += 1;
        if let Err(error) = tuner.enqueue(&tuner.space().at(index).expect("an index").clone()) {
            break error;
        }
    };
    assert_eq!(full, EnqueueError::Full { most: trimtab::MOST_PENDING });
}

/// promise: Tuner::tell_failed | a measurement that crashes or hangs | never asked again; the model avoids its like
#[test]
fn failures_are_counted_avoided_and_never_asked_again() {
    let mut tuner = tuner(Config::default());
    // Every combination with the third knob at level 3 crashes.
    let crashes = |c: &Combination<6>| c.level(2) == 3;
    let mut late = 0;
    for i in 0..24 {
        let c = tuner.ask().expect("a proposal").combination;
        assert!(tuner.observations().all(|o| o.combination != c));
        if crashes(&c) {
            tuner.tell_failed(&c).expect("taken");
            late += usize::from(i >= 12);
        } else {
            tuner.tell(&c, cost(&c)).expect("taken");
        }
    }
    let failed = tuner.observations().filter(|o| o.is_failure() && o.value.is_nan()).count();
    assert_eq!(tuner.failures(), failed);
    assert!(tuner.best_observed().is_some_and(|b| !crashes(&b.combination) && !b.is_failure()));
    // A quarter of the space crashes: of twelve, three by chance.
    assert!(late <= 2, "{late} of the last 12 crashed");
}

/// promise: Tuner::ask | every measurement failed so far | it still proposes
#[test]
fn it_still_proposes_when_every_measurement_failed() {
    let mut tuner = tuner(Config::default());
    for n in 1..=20 {
        let p = tuner.ask().expect("a proposal");
        assert!(p.mean.is_finite() && !p.std_dev.is_nan() && p.score.is_finite());
        tuner.tell_failed(&p.combination).expect("taken");
        assert_eq!((tuner.failures(), tuner.len(), tuner.best_observed()), (n, n, None));
    }
    assert!(tuner.best_posterior().is_none());
}

/// promise: Tuner::tell_failed | a combination that both failed and was measured | the last outcome counts
#[test]
fn the_last_outcome_counts() {
    let mut tuner = tuner(Config::default());
    let c = tuner.ask().expect("a proposal").combination;
    tuner.tell_failed(&c).expect("taken");
    tuner.tell(&c, 2.0).expect("it works after all");
    assert_eq!(tuner.best_observed().map(|b| (b.value, b.repeats)), Some((2.0, 1)));
    tuner.tell_failed(&c).expect("and fails again");
    assert_eq!((tuner.best_observed(), tuner.failures(), tuner.len()), (None, 1, 1));
}

/// promise: Tuner::ask | eight asked and not told | `TooManyPending`; none is asked twice
/// promise: Tuner::cancel | a combination that is not pending | returns false, nothing changes
#[test]
fn several_can_be_measured_at_once() {
    let mut tuner = tuner(Config::default());
    for _ in 0..6 {
        let c = tuner.ask().expect("a proposal").combination;
        tuner.tell(&c, cost(&c)).expect("taken");
    }
    let first = tuner.ask().expect("a proposal");
    let alone = tuner.predict(&first.combination).expect("a model");
    let mut asked = vec![first.combination];
    for _ in 1..8 {
        let p = tuner.ask().expect("eight at once");
        assert!(!asked.contains(&p.combination));
        asked.push(p.combination);
    }
    assert_eq!(tuner.pending(), asked);
    assert_eq!(tuner.ask(), Err(AskError::TooManyPending { most: 8 }));
    assert_eq!(tuner.predict(&first.combination), Some(alone), "fantasies are gone after an ask");
    assert!(tuner.cancel(&asked[3]) && !tuner.cancel(&asked[3]));
    let again = tuner.ask().expect("room for one").combination;
    for c in asked.iter().filter(|c| **c != asked[3]).chain([&again]) {
        tuner.tell(c, cost(c)).expect("outcomes may come in any order");
    }
    assert!(tuner.pending().is_empty() && tuner.len() == 14);
}

/// Without fantasies a second ask would sit next to the first.
#[test]
fn pending_combinations_are_scored_as_if_measured() {
    let mut tuner = tuner(Config::default());
    for _ in 0..8 {
        let c = tuner.ask().expect("a proposal").combination;
        tuner.tell(&c, cost(&c)).expect("taken");
    }
    let first = tuner.ask().expect("a proposal");
    let before = tuner.ask().expect("another");
    tuner.tell(&first.combination, first.mean).expect("taken");
    let after = tuner.predict(&before.combination).expect("a model");
    // The fantasy gave the first combination its predicted cost. The real outcome is the same, so
    // little changes.
    assert!((after.std_dev - before.std_dev).abs() < 0.25 * before.std_dev, "{} {}", after.std_dev, before.std_dev);
}

/// Up to eight, more room changes nothing; beyond, asks go on until the room or the space ends.
/// promise: Tuner::ask | as many are pending as there is room for | `TooManyPending` with that number
#[test]
fn pending_combinations_are_a_capacity() {
    type Wide = trimtab::tuner!(KNOBS, observations: 32, rows: 64, pending: 24);
    let (mut narrow, mut wide) = (tuner(Config::default()), Box::new(Wide::new()));
    wide.init(Space::new(&KNOBS).expect("a space"), Config::default(), narrow.seed()).expect("it fits");
    for _ in 0..8 {
        let c = narrow.ask().expect("a proposal").combination;
        assert_eq!(wide.ask().map(|p| p.combination), Ok(c));
        narrow.tell(&c, cost(&c)).expect("taken");
        wide.tell(&c, cost(&c)).expect("taken");
    }
    for _ in 0..trimtab::MOST_PENDING {
        assert_eq!(wide.ask(), narrow.ask());
    }
    assert_eq!(narrow.ask(), Err(AskError::TooManyPending { most: trimtab::MOST_PENDING }));
    while wide.pending().len() < 24 {
        let c = wide.ask().expect("there is room").combination;
        assert_eq!(wide.pending().iter().filter(|own| **own == c).count(), 1);
    }
    assert_eq!(wide.ask(), Err(AskError::TooManyPending { most: 24 }));
    for c in wide.pending().to_vec() {
        wide.tell(&c, cost(&c)).expect("taken");
    }
    assert!(wide.len() == 32 && wide.pending().is_empty());
}

/// A tuner with room for one pending combination links no fantasies; its bits are those of a larger
/// one, noise, repeats and interrupted asks included.
#[test]
fn one_at_a_time_has_the_bits_of_a_larger_room() {
    type One = trimtab::tuner!(KNOBS, observations: 24, rows: 64, pending: 1);
    let config = Config { noise: Noise::Given(0.3), when_full: WhenFull::ForgetWorst, ..Config::default() };
    let (mut one, mut many) = (Box::new(One::new()), tuner(config));
    one.init(Space::new(&KNOBS).expect("a space"), config, many.seed()).expect("it fits");
    let mut repeats = 0;
    for i in 0..50 {
        // Interrupted in the middle, and cancelled once it was proposed.
        one.ask_begin().expect("there is room");
        let _ = one.ask_step(3 + i % 20).expect("it was begun");
        for c in one.pending().to_vec() {
            assert!(one.cancel(&c));
        }
        assert_eq!(one.best_posterior(), many.best_posterior());
        let a = one.ask().expect("a proposal");
        assert_eq!(many.ask(), Ok(a), "{i}");
        assert_eq!(one.ask(), Err(AskError::TooManyPending { most: 1 }));
        let c = a.combination;
        repeats += usize::from(many.observations().any(|o| o.combination == c));
        let value = cost(&c) + [0.3, -0.4, 0.1, -0.2, 0.2][usize::from(i) % 5];
        one.tell(&c, value).expect("taken");
        many.tell_begin(&c, value).expect("taken");
        while many.tell_step(1) {}
    }
    assert!(one.len() == many.len() && repeats > 0, "{} {repeats}", one.len());
}

/// promise: Tuner::init | another configuration than the tuner's type has | `OtherConfig`, the tuner stays as it was
#[test]
fn a_configuration_in_the_type_has_the_bits_of_the_same_one_at_run_time() {
    const CONFIG: Config =
        Config { goal: Goal::Maximise, noise: Noise::None, when_full: WhenFull::ForgetOldest, ..Config::DEFAULT };
    #[derive(Clone, Copy, Debug)]
    struct Fixed;
    impl Settings for Fixed {
        const FIXED: Option<Config> = Some(CONFIG);
    }
    type Small = trimtab::tuner!(KNOBS, observations: 24, rows: 64, config: Fixed);
    let (mut small, mut free) = (Box::new(Small::new()), tuner(CONFIG));
    let space = || Space::new(&KNOBS).expect("a space");
    small.init(space(), CONFIG, free.seed()).expect("it fits");
    for i in 0..40 {
        if i == 20 {
            assert_eq!(small.init(space(), Config::default(), 1), Err(InitError::OtherConfig));
        }
        let a = small.ask().expect("a proposal");
        assert_eq!(free.ask(), Ok(a), "{i}");
        small.tell(&a.combination, cost(&a.combination)).expect("taken");
        free.tell(&a.combination, cost(&a.combination)).expect("taken");
    }
    assert_eq!((small.config(), small.len(), small.best_posterior()), (free.config(), 24, free.best_posterior()));
}

#[test]
fn maximising_is_minimising_with_the_other_sign() {
    let mut down = tuner(Config::default());
    let mut up = tuner(Config { goal: Goal::Maximise, ..Config::default() });
    for _ in 0..20 {
        let (a, b) = (down.ask().expect("a proposal"), up.ask().expect("a proposal"));
        assert_eq!((a.combination, a.std_dev, a.score), (b.combination, b.std_dev, b.score));
        assert_eq!(a.mean, -b.mean);
        down.tell(&a.combination, cost(&a.combination)).expect("taken");
        up.tell(&b.combination, -cost(&b.combination)).expect("taken");
    }
    let (a, b) = (down.best_observed().expect("twenty"), up.best_observed().expect("twenty"));
    assert_eq!((a.combination, a.value), (b.combination, -b.value));
    assert!(up.observations().all(|o| o.value <= b.value));
    let (a, b) = (down.best_posterior().expect("a model"), up.best_posterior().expect("a model"));
    assert_eq!((a.combination, a.mean), (b.combination, -b.mean));
}

/// Noise of deviation 1: the sum of twelve uniform draws, centred.
fn noise(random: &mut Random) -> f32 {
    (0..12).map(|_| random.uniform()).sum::<f32>() - 6.0
}

/// With noise the best are measured again, but only if allowed, and never more often than allowed.
#[test]
fn an_incumbent_in_doubt_is_measured_again() {
    for (remeasure, is_none) in [(1, false), (4, false), (4, true)] {
        let noise_is = if is_none { Noise::None } else { Noise::Given(0.3) };
        let mut repeats = 0;
        for seed in 0..8 {
            let config = Config { remeasure, noise: noise_is, when_full: WhenFull::ForgetWorst, ..Config::default() };
            let (mut tuner, mut random) = (tuner(config), Random::new(seed, 0));
            for _ in 0..60 {
                let c = tuner.ask().expect("a proposal").combination;
                repeats += usize::from(tuner.observations().any(|o| o.combination == c));
                tuner.tell(&c, cost(&c) + 0.3 * noise(&mut random)).expect("there is always room");
            }
            assert!(tuner.observations().all(|o| o.repeats <= remeasure));
        }
        assert_eq!(repeats > 0, remeasure > 1 && !is_none, "{repeats} repeats");
    }
}

#[test]
fn a_given_noise_is_respected() {
    // With noise as large as the signal, the posterior of a measured combination must not equal its
    // value.
    let fit = |noise| {
        let mut tuner = tuner(Config { noise, ..Config::default() });
        for _ in 0..20 {
            let c = tuner.ask().expect("a proposal").combination;
            tuner.tell(&c, cost(&c)).expect("taken");
        }
        tuner.noise()
    };
    assert!(
        (fit(Noise::Given(3.0)) / 3.0 - 1.0).abs() < 0.3 && fit(Noise::Given(0.0)) == 0.0 && fit(Noise::None) == 0.0
    );
}

/// promise: Tuner::tell | no room, under `ForgetOldest` or `ForgetWorst` | the oldest or worst goes
#[test]
fn a_full_tuner_evicts_by_its_policy() {
    for when_full in [WhenFull::ForgetOldest, WhenFull::ForgetWorst] {
        let mut tuner = tuner(Config { when_full, ..Config::default() });
        let mut told = Vec::new();
        for _ in 0..60 {
            let c = tuner.ask().expect("a proposal").combination;
            tuner.tell(&c, cost(&c)).expect("there is always room");
            told.push(c);
        }
        assert_eq!(tuner.len(), 24);
        let kept: Vec<_> = tuner.observations().map(|o| o.combination).collect();
        match when_full {
            WhenFull::ForgetOldest => assert_eq!(kept, told[36..]),
            _ => {
                let best = told.iter().map(cost).min_by(f32::total_cmp);
                assert_eq!(tuner.best_observed().map(|b| b.value), best);
            }
        }
    }
}

/// Random histories with every kind of event: the records rebuild a tuner that continues with the
/// same bits.
///
/// promise: Tuner::replay | a power cut | the records rebuild the tuner to the bit
#[test]
fn the_log_rebuilds_the_tuner() {
    type Small = trimtab::tuner!(KNOBS, observations: 12, rows: 32);
    for seed in 0..40 {
        let mut random = Random::new(seed, 9);
        let when_full = [WhenFull::Refuse, WhenFull::ForgetOldest, WhenFull::ForgetWorst][random.below(3) as usize];
        let remeasure = 1 + random.below(3) as u16;
        let config = Config { when_full, remeasure, ..Config::default() };
        let fresh = || {
            let mut tuner = Box::new(Small::new());
            tuner.init(Space::new(&KNOBS).expect("sound"), config, seed).expect("it fits");
            tuner
        };
        let mut first = fresh();
        let mut log: Vec<Record<6>> = Vec::new();
        for _ in 0..40 {
            let any = first.space().at(random.bits() % 1920).expect("an index");
            let record = match random.below(6) {
                0 => Record::new(&any, Event::Enqueued),
                1 => Record::new(&any, Event::Told(cost(&any))),
                2 => match first.ask() {
                    Ok(p) => {
                        log.push(Record::new(&p.combination, Event::Asked));
                        continue;
                    }
                    Err(_) => continue,
                },
                outcome => match first.pending().first().copied() {
                    Some(c) if outcome == 3 => Record::new(&c, Event::Failed),
                    Some(c) => Record::new(&c, Event::Told(cost(&c))),
                    None => continue,
                },
            };
            // Refused calls are not in the log.
            if first.replay(&record).is_ok() {
                log.push(record);
            }
        }
        let mut second = fresh();
        for record in &log {
            second.replay(record).expect("taken once, taken again");
        }
        assert_eq!(
            first.observations().map(|o| format!("{o:?}")).collect::<Vec<_>>(),
            second.observations().map(|o| format!("{o:?}")).collect::<Vec<_>>()
        );
        assert_eq!((first.noise(), first.best_posterior()), (second.noise(), second.best_posterior()));
        for _ in 0..3 {
            assert_eq!(first.ask(), second.ask(), "seed {seed}");
        }
    }
}

/// promise: Tuner::ask_begin, ask_step | a tell between two slices | the ask ends with `NotBegun`; otherwise the bits of a whole ask
#[test]
fn slices_give_the_same_bits_and_a_tell_ends_them() {
    let (mut whole, mut sliced) = (tuner(Config::default()), tuner(Config::default()));
    assert_eq!(sliced.ask_step(1), Err(AskError::NotBegun));
    let mut random = Random::new(1, 1);
    for i in 0..20 {
        let proposal = whole.ask().expect("a proposal");
        sliced.ask_begin().expect("begun");
        if i == 10 {
            // Abandoned half way and begun again.
            assert_eq!(sliced.ask_step(3), Ok(None));
            sliced.ask_begin().expect("begun again");
        }
        let same = loop {
            if let Some(p) = sliced.ask_step(1 + random.below(7) as u16).expect("under way") {
                break p;
            }
        };
        assert_eq!(proposal, same);
        for tuner in [&mut whole, &mut sliced] {
            tuner.tell(&proposal.combination, cost(&proposal.combination)).expect("taken");
        }
    }
    sliced.ask_begin().expect("begun");
    sliced.tell_failed(&sliced.space().at(77).expect("an index").clone()).expect("taken");
    assert_eq!(sliced.ask_step(5), Err(AskError::NotBegun));
    assert!(sliced.ask().is_ok());
}

/// With a cache a tuner proposes the same bits, whatever happens in between.
///
/// promise: Tuner::ask_with | a cache of another tuner or an older state | not used; the bits of `ask`
#[test]
fn a_cache_changes_nothing_but_the_time() {
    let mut cache = Box::new(<trimtab::tuner_cache!(KNOBS, observations: 24, rows: 64)>::new());
    for when_full in [WhenFull::ForgetOldest, WhenFull::ForgetWorst] {
        let config = Config { when_full, ..Config::default() };
        let (mut plain, mut quick) = (tuner(config), tuner(config));
        let mut random = Random::new(5, 5);
        for i in 0..60 {
            let proposal = plain.ask().expect("a proposal");
            assert_eq!(quick.ask_with(&mut cache), Ok(proposal), "at {i}");
            let c = match random.below(8) {
                // A repeat, a combination never asked, one that stays pending: each changes what a
                // cache may hold.
                0 => plain.observations().next().map_or(proposal.combination, |o| o.combination),
                1 => plain.space().at(random.bits() % 1920).expect("an index"),
                2 if plain.pending().len() < 4 => continue,
                _ => proposal.combination,
            };
            for tuner in [&mut plain, &mut quick] {
                if c.level(0) == 1 && c.level(3) == 1 {
                    tuner.tell_failed(&c).expect("taken");
                } else {
                    tuner.tell(&c, cost(&c)).expect("taken");
                }
                if c != proposal.combination {
                    tuner.cancel(&proposal.combination);
                }
            }
        }
    }
}

/// A measurement repeated with an equal value shows that there is no noise: nothing is repeated
/// again.
///
/// promise: Tuner::ask | an exact repeat | nothing is measured twice from then on
#[test]
fn after_an_equal_repeat_nothing_is_measured_again() {
    const BITS: [Knob; 20] = [Knob::nominal(2); 20];
    type Thumbs = trimtab::tuner!(BITS, observations: 64, rows: 256);
    let mut tuner = Box::new(Thumbs::new());
    for seed in 0..8 {
        tuner.init(Space::new(&BITS).expect("sound"), Config::default(), seed).expect("it fits");
        let mut repeats = 0;
        for _ in 0..64 {
            let c = tuner.ask().expect("a proposal").combination;
            repeats += usize::from(tuner.observations().any(|o| o.combination == c));
            let up = c.levels().iter().filter(|level| **level == 1).count();
            tuner.tell(&c, -(up as f32) / 20.0).expect("taken");
        }
        assert!(repeats <= 1, "seed {seed}: {repeats} repeats");
    }
}
