//! Tests of the whole tuner that look at its private state.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::acquire::cache::Cache;
use crate::config::Acquisition;
use crate::config::Fitting;
use crate::config::Prior;
use crate::config::{Noise, WhenFull};
use crate::math::times;
use crate::space::knob::{Knob, Scale};
use crate::tuner::record::{Event, Record};

#[test]
fn pruning_never_changes_the_winner() {
    static VALUES: [f32; 12] = [1.0, 2.0, 4.0, 7.0, 11.0, 16.0, 22.0, 29.0, 37.0, 46.0, 56.0, 67.0];
    const KNOBS: [Knob; 7] = [
        Knob::nominal(2),
        Knob::nominal(5),
        Knob::ranked(9),
        Knob::graded(&VALUES, Scale::Log),
        Knob::nominal(2),
        Knob::nominal(3),
        Knob::nominal(2),
    ];
    type Seven = crate::tuner!(KNOBS, observations: 40, rows: 96);
    for seed in 0..times(12, 1) {
        let mut tuner = std::boxed::Box::new(Seven::new());
        let config = Config { rows: times(0, 8), ..Config::default() };
        tuner.init(Space::new(&KNOBS).unwrap(), config, seed).unwrap();
        for t in 0..times(40, 6) {
            if t >= 4 {
                let search = |prune: bool| {
                    let mut tuner = tuner.clone();
                    tuner.ask_begin().unwrap();
                    while tuner.search_step(50, prune, None::<&mut Cache<0, 40, 0>>) {}
                    tuner.search.best()
                };
                assert_eq!(search(true), search(false), "seed {seed}, t = {t}");
            }
            let c = tuner.ask().unwrap().combination;
            let cost = |(i, l): (usize, &crate::space::knob::Level)| {
                (f32::from(*l) - 1.3 * i as f32) * (f32::from(*l) - 1.3 * i as f32)
            };
            tuner.tell(&c, c.levels().iter().enumerate().map(cost).sum()).unwrap();
        }
    }
}

#[test]
fn after_an_eviction_the_factor_equals_a_rebuilt_one() {
    const KNOBS: [Knob; 4] = [Knob::nominal(3), Knob::ranked(6), Knob::nominal(2), Knob::ranked(5)];
    type Four = crate::tuner!(KNOBS, observations: 10, rows: 32);
    for when_full in [WhenFull::ForgetOldest, WhenFull::ForgetWorst] {
        let config = Config { when_full, rows: times(0, 8), ..Config::default() };
        let mut tuner = std::boxed::Box::new(Four::new());
        tuner.init(Space::new(&KNOBS).unwrap(), config, 3).unwrap();
        for i in 0..times(30, 12) {
            let c = tuner.ask().unwrap().combination;
            if i % 7 == 3 {
                tuner.tell_failed(&c).unwrap();
            } else {
                tuner.tell(&c, c.levels().iter().map(|l| (f32::from(*l) - 1.0).abs()).sum()).unwrap();
            }
            let mut fresh = tuner.clone();
            fresh.model.gp.clear();
            fresh.model.rebuild(&fresh.space, &fresh.config);
            assert_eq!(std::format!("{:?}", tuner.model.gp), std::format!("{:?}", fresh.model.gp), "{when_full:?} {i}");
        }
    }
}

/// A tuner with more room can check a run of a small chip.
#[test]
fn tuners_of_different_sizes_with_equal_limits_propose_the_same() {
    const KNOBS: [Knob; 4] = [Knob::nominal(3), Knob::ranked(6), Knob::nominal(2), Knob::ranked(5)];
    type Small = crate::tuner!(KNOBS, observations: 10, rows: 32);
    type Large = crate::tuner!(KNOBS, observations: 40, rows: 128);
    for when_full in [WhenFull::Refuse, WhenFull::ForgetOldest, WhenFull::ForgetWorst] {
        let config = Config { when_full, rows: times(32, 8), ..Config::default() };
        let (mut small, mut large) = (std::boxed::Box::new(Small::new()), std::boxed::Box::new(Large::new()));
        small.init(Space::new(&KNOBS).unwrap(), config, 3).unwrap();
        large.init(Space::new(&KNOBS).unwrap(), Config { observations: 10, ..config }, 3).unwrap();
        for _ in 0..times(30, 11) {
            let proposal = small.ask().unwrap();
            assert_eq!(large.ask(), Ok(proposal), "{when_full:?}");
            let c = proposal.combination;
            let cost = c.levels().iter().map(|l| (f32::from(*l) - 1.0).abs()).sum();
            let told = small.tell(&c, cost);
            assert_eq!(large.tell(&c, cost), told);
            if told.is_err() {
                assert_eq!((when_full, small.len()), (WhenFull::Refuse, 10));
                break;
            }
        }
    }
}

/// Draws depend on the number of pending asks, so a cancel that is missing in the log would show.
#[test]
fn a_log_with_cancels_rebuilds_the_tuner() {
    const KNOBS: [Knob; 5] = [Knob::nominal(4), Knob::ranked(8), Knob::nominal(3), Knob::ranked(6), Knob::nominal(5)];
    type Five = crate::tuner!(KNOBS, observations: 16, rows: 48);
    for seed in 0..times(20, 1) {
        let [mut first, mut second] = [(); 2].map(|()| std::boxed::Box::new(Five::new()));
        for tuner in [&mut first, &mut second] {
            tuner.init(Space::new(&KNOBS).unwrap(), Config::default(), seed).unwrap();
        }
        let mut log = std::vec::Vec::new();
        for i in 0..times(24, 8) {
            let c = first.ask().unwrap().combination;
            log.push(Record::new(&c, Event::Asked));
            let oldest = first.pending()[0];
            let event = match (i + seed) % 4 {
                0 => continue,
                1 => Event::Cancelled,
                _ => Event::Told(oldest.levels().iter().map(|l| (f32::from(*l) - 1.5).abs()).sum()),
            };
            match event {
                Event::Told(value) => first.tell(&oldest, value).unwrap(),
                _ => assert!(first.cancel(&oldest)),
            }
            log.push(Record::new(&oldest, event));
        }
        log.iter().for_each(|record| second.replay(record).unwrap());
        assert_eq!((first.noise(), first.best_posterior()), (second.noise(), second.best_posterior()));
        assert_eq!(first.pending(), second.pending());
        for _ in 0..3 {
            assert_eq!(first.ask(), second.ask(), "seed {seed}");
        }
    }
}

const PAIR: [Knob; 3] = [Knob::nominal(4), Knob::ranked(8), Knob::nominal(3)];
type Pair = crate::tuner!(PAIR, observations: 20, rows: 40);

/// A tuner that was told these values.
fn told(config: Config, values: &[f32]) -> std::boxed::Box<Pair> {
    let mut tuner = std::boxed::Box::new(Pair::new());
    tuner.init(Space::new(&PAIR).unwrap(), Config { rows: times(config.rows, 8), ..config }, 5).unwrap();
    for value in values {
        let c = tuner.ask().unwrap().combination;
        tuner.tell(&c, *value).unwrap();
    }
    tuner
}

/// The predictions for every combination, and the best one.
fn predictions(tuner: &Pair) -> std::vec::Vec<Option<Estimate<3>>> {
    let all = (0..=tuner.space.last_index()).step_by(times(1, 19)).map(|i| tuner.space.at(i).unwrap());
    all.map(|c| tuner.predict(&c)).chain([tuner.best_posterior()]).collect()
}

/// Predictions depend on the observations alone, or there are none.
#[test]
fn predictions_never_see_pending_combinations() {
    let mut tuner = told(Config::default(), &[3.0, 1.0, 4.0, 1.5, 5.0, 9.0]);
    tuner.ask().unwrap();
    tuner.ask().unwrap();
    let before = predictions(&tuner);
    tuner.ask_begin().unwrap();
    while tuner.ask_step(3).unwrap().is_none() {
        let now = predictions(&tuner);
        assert!(now == before || now.iter().all(Option::is_none));
    }
    assert_eq!((predictions(&tuner), tuner.pending().len()), (before, 3));
}

/// Outcomes alone bring back the table, though no ask has filled it.
#[test]
fn a_log_of_outcomes_brings_back_the_table() {
    const KNOBS: [Knob; 12] = [Knob::nominal(2); 12];
    type Relays = crate::tuner!(KNOBS, observations: 60, rows: 64);
    for seed in 0..times(4, 1) {
        let [mut first, mut second] = [(); 2].map(|()| std::boxed::Box::new(Relays::new()));
        for tuner in [&mut first, &mut second] {
            tuner.init(Space::new(&KNOBS).unwrap(), Config::default(), seed).unwrap();
        }
        for i in 0..times(60, 4) {
            assert_eq!(second.clone().ask(), first.clone().ask(), "seed {seed}, {i}");
            let c = first.ask().unwrap().combination;
            let levels = c.levels().iter().enumerate();
            let cost = levels.map(|(i, l)| f32::from(*l) * (i as f32 - 4.5)).sum();
            first.tell(&c, cost).unwrap();
            second.tell(&c, cost).unwrap();
        }
    }
}

/// With a factor whose diagonal is far too small, every further row breaks down.
///
/// promise: Tuner::ask | a pending combination that breaks the factor down | it is left out; no NaN
#[test]
fn a_fantasy_that_breaks_the_factor_is_left_out() {
    let mut tuner = told(Config::default(), &[3.0, 1.0, 4.0, 1.5, 5.0, 9.0]);
    tuner.ask().unwrap();
    let n = tuner.len();
    tuner.model.gp.clear();
    let tiny =
        |i: usize, row: &mut [f32]| row.iter_mut().enumerate().for_each(|(j, k)| *k = if i == j { 1e-6 } else { 0.0 });
    tuner.model.gp.extend(n, tiny).unwrap();
    let (noise, factors) = (tuner.model.noise, tuner.model.factors);
    tuner.add_fantasies();
    assert_eq!((tuner.model.gp.len(), tuner.model.observations.points().count()), (n, n + 1));
    tuner.cancel_ask();
    assert_eq!(tuner.model.observations.points().count(), n, "a fantasy is left behind");
    assert_eq!((tuner.model.noise, tuner.model.factors), (noise, factors), "a fantasy changed the fit");
}

/// promise: Tuner::predict, best_posterior | any finite costs | means, deviations and scores are numbers
#[test]
fn no_cost_leads_to_a_score_that_is_not_a_number() {
    let sizes = [f32::MAX, f32::MIN, 1e30, -1e30, 0.0, 1e19, f32::MIN_POSITIVE, -3e15, 1.0];
    for acquisition in [Acquisition::ExpectedImprovement, Config::paper().acquisition] {
        for prior in [Prior::WEAK, Prior::FIXED, Prior::MAXIMUM_LIKELIHOOD] {
            let config = Config { standardise: false, acquisition, prior, ..Config::default() };
            let mut tuner = told(config, &[]);
            for value in sizes.iter().cycle().take(times(18, 4)) {
                let p = tuner.ask().unwrap();
                assert!(!p.score.is_nan() && !p.mean.is_nan() && p.std_dev >= 0.0, "{config:?} {p:?}");
                tuner.tell(&p.combination, *value).unwrap();
            }
            let is_finite = |e: Estimate<3>| e.mean.is_finite() && e.std_dev.is_finite();
            let broken = predictions(&tuner).into_iter().find(|e| !e.is_some_and(is_finite));
            assert_eq!(broken, None, "{config:?} {:?}", tuner.model.noise);
            // The observations keep the values as told.
            assert_eq!(tuner.best_observed().map(|best| best.value), Some(f32::MIN));
        }
    }
}

/// Whatever the fit does, the factor belongs to the current hyper-parameters.
#[test]
fn a_known_noise_is_in_the_factor_even_without_sweeps() {
    for (sweeps, refit) in [(0, 8), (0, 1), (1, 8), (2, 1)].into_iter().take(times(4, 2)) {
        let fit = Fitting { sweeps, ..Config::default().fit };
        let config = Config { fit, refit, noise: Noise::Given(0.7), ..Config::default() };
        for n in 1..times(12, 3) {
            let tuner = told(config, &[3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0][..n]);
            let mut fresh = tuner.clone();
            fresh.model.gp.clear();
            fresh.model.rebuild(&fresh.space, &fresh.config);
            assert_eq!(predictions(&tuner), predictions(&fresh), "{sweeps} sweeps, {n} observations");
        }
    }
}

/// A cache with fewer rows than the table, as many, or more: the same proposals.
#[test]
fn a_cache_of_any_length_proposes_the_same() {
    const KNOBS: [Knob; 12] = [Knob::nominal(2); 12];
    type Relays = crate::tuner!(KNOBS, observations: 24, rows: 64);
    let mut tuner = std::boxed::Box::new(Relays::new());
    tuner.init(Space::new(&KNOBS).unwrap(), Config::default(), 5).unwrap();
    let (mut short, mut exact, mut long) =
        (Cache::<0, 24, 7>::new(), Cache::<0, 24, 32>::new(), Cache::<0, 24, 80>::new());
    for _ in 0..times(24, 4) {
        let [mut a, mut b, mut c] = [tuner.clone(), tuner.clone(), tuner.clone()];
        let proposal = tuner.ask().unwrap();
        assert_eq!(a.ask_with(&mut short).unwrap(), proposal);
        assert_eq!(b.ask_with(&mut exact).unwrap(), proposal);
        assert_eq!(c.ask_with(&mut long).unwrap(), proposal);
        let levels = proposal.combination.levels().iter().enumerate();
        tuner.tell(&proposal.combination, levels.map(|(i, l)| f32::from(*l) * (i as f32 - 4.5)).sum()).unwrap();
    }
}

/// ± is 1.25 times the root of the variance and of the doubt, which repeats share.
#[test]
fn the_uncertainty_of_what_is_measured_by_hand() {
    const KNOBS: [Knob; 3] = [Knob::nominal(4), Knob::ranked(6), Knob::nominal(3)];
    type Three = crate::tuner!(KNOBS, observations: 16, rows: 32);
    let mut tuner = std::boxed::Box::new(Three::new());
    tuner.init(Space::new(&KNOBS).unwrap(), Config::default(), 3).unwrap();
    for i in 0..times(12, 6) {
        let c = tuner.ask().unwrap().combination;
        tuner.tell(&c, [0.3, 1.9, 0.2, 1.1, 2.0][i % 5] + 0.1 * i as f32).unwrap();
    }
    for repeats in [1.0f32, 2.0] {
        let c = tuner.best_observed().unwrap().combination;
        let i = tuner.model.observations.find(&c).unwrap();
        let variance = tuner.model.measured(i).unwrap().variance + tuner.model.noise.doubt / repeats;
        let expected = 1.25 * variance.sqrt() * tuner.model.standard.deviation();
        let own = tuner.predict(&c).unwrap().std_dev;
        assert!((own / expected - 1.0).abs() < 1e-5, "{repeats}: {own}, not {expected}");
        let value = tuner.best_observed().unwrap().value;
        tuner.tell(&c, value - 0.01).unwrap();
    }
}

/// Under noise the best are measured again, up to the limit and not beyond, and none that is pending.
#[test]
fn repeats_reach_their_limit_and_spare_what_is_pending() {
    const KNOBS: [Knob; 3] = [Knob::nominal(3), Knob::ranked(4), Knob::nominal(2)];
    type Three = crate::tuner!(KNOBS, observations: 24, rows: 32);
    let config = Config { remeasure: 3, noise: Noise::Given(1.0), ..Config::default() };
    let mut tuner = std::boxed::Box::new(Three::new());
    tuner.init(Space::new(&KNOBS).unwrap(), config, 5).unwrap();
    let mut most = 0;
    for i in 0..40u32 {
        let Ok(first) = tuner.ask() else { break };
        if let Ok(second) = tuner.ask() {
            assert_ne!(second.combination, first.combination);
            tuner.cancel(&second.combination);
        }
        let c = first.combination;
        let exact = c.levels().iter().map(|level| f32::from(*level)).sum::<f32>();
        tuner.tell(&c, exact + [-1.0, 0.6, 1.1, -0.4, 0.2, -0.9, 0.8][i as usize % 7]).unwrap();
        most = most.max(tuner.observations().map(|o| o.repeats).max().unwrap());
    }
    assert_eq!(most, 3);
}

/// Knobs that matter only sometimes: nothing is asked twice, the cache and the pruning change no bit,
/// failures too, slices give the same, and a log brings the run back.
#[test]
fn idle_knobs_are_asked_once_whatever_the_way() {
    use crate::space::OnlyIf;
    static CONDITIONS: [OnlyIf; 3] = [
        OnlyIf { knob: 1, on: 0, levels: &[1] },
        OnlyIf { knob: 2, on: 0, levels: &[1, 2] },
        OnlyIf { knob: 4, on: 2, levels: &[3, 4] },
    ];
    const KNOBS: [Knob; 7] = [
        Knob::nominal(3),
        Knob::ranked(9),
        Knob::nominal(5),
        Knob::ranked(8),
        Knob::ranked(6),
        Knob::nominal(4),
        Knob::nominal(3),
    ];
    type Seven = crate::tuner!(KNOBS, observations: 40, rows: 64);
    type SevenCache = crate::tuner_cache!(KNOBS, observations: 40, rows: 64);
    let space = Space::new(&KNOBS).unwrap().only_if(&CONDITIONS).unwrap();
    let target = [1, 6, 3, 4, 5, 2, 0];
    let (mut same_knob_idle, mut jumps) = (0, 0);
    for seed in 0..times(6, 1) {
        let [mut plain, mut cached, mut sliced, mut replayed] = [0; 4].map(|_| std::boxed::Box::new(Seven::new()));
        let mut cache = std::boxed::Box::new(SevenCache::new());
        for tuner in [&mut plain, &mut cached, &mut sliced, &mut replayed] {
            tuner.init(space.clone(), Config { noise: Noise::None, ..Config::default() }, seed).unwrap();
        }
        let mut seen = std::vec::Vec::new();
        for t in 0..times(40, 8) {
            let proposal = plain.ask().unwrap();
            let c = proposal.combination;
            assert!(space.contains(&c) && !seen.contains(&c), "seed {seed}, t = {t}: {c:?}");
            assert_eq!(cached.ask_with(&mut cache).unwrap(), proposal, "seed {seed}, t = {t}");
            sliced.ask_begin().unwrap();
            let in_slices = loop {
                if let Some(found) = sliced.ask_step(3).unwrap() {
                    break found;
                }
            };
            assert_eq!(in_slices, proposal, "seed {seed}, t = {t}");
            same_knob_idle += usize::from(space.is_idle(&c, 1));
            jumps += usize::from(plain.search.jump.is_some());
            let off = c.levels().iter().zip(target).map(|(a, b)| f32::from(a.abs_diff(b))).sum::<f32>();
            let fails = c.level(5) == 3 && c.level(0) == 2;
            let event = if fails { Event::Failed } else { Event::Told(off * off) };
            for tuner in [&mut plain, &mut cached, &mut sliced, &mut replayed] {
                tuner.replay(&Record::new(&c, event)).unwrap();
            }
            assert_eq!(replayed.clone().ask(), plain.clone().ask(), "seed {seed}, t = {t}");
            seen.push(c);
        }
        assert!(cfg!(miri) || plain.best_observed().unwrap().value <= 9.0);
    }
    assert!(cfg!(miri) || same_knob_idle > 3 && jumps > 0, "{same_knob_idle} {jumps}");
}

/// A small space with idle knobs is exhausted after as many asks as it has combinations.
#[test]
fn a_space_with_idle_knobs_is_exhausted_once() {
    use crate::space::OnlyIf;
    const KNOBS: [Knob; 3] = [Knob::nominal(2), Knob::ranked(4), Knob::nominal(3)];
    type Three = crate::tuner!(KNOBS, observations: 16, rows: 32);
    let space = Space::new(&KNOBS).unwrap().only_if(&[OnlyIf { knob: 1, on: 0, levels: &[1] }]).unwrap();
    let mut tuner = std::boxed::Box::new(Three::new());
    tuner.init(space.clone(), Config { noise: Noise::None, ..Config::default() }, 2).unwrap();
    let mut asked = 0;
    while let Ok(proposal) = tuner.ask() {
        tuner.tell(&proposal.combination, asked as f32).unwrap();
        asked += 1;
    }
    assert_eq!((asked, space.cardinality()), (15, 15));
    assert_eq!(tuner.ask(), Err(crate::error::AskError::Exhausted));
    // A random map has no place for them.
    type Mapped = crate::tuner!(KNOBS, observations: 16, rows: 32, dimensions: 2);
    let mut mapped = std::boxed::Box::new(Mapped::new());
    assert_eq!(mapped.init(space, Config::default(), 2), Err(InitError::Conditions));
}

const LIMITED: [Knob; 3] = [Knob::ranked(6), Knob::nominal(3), Knob::ranked(5)];
type Limited = crate::tuner!(LIMITED, observations: 24, rows: 64, limits: 1);

/// The margin falls with the first knob; told until there are so many observations.
fn limited(observations: usize, config: Config) -> std::boxed::Box<Limited> {
    let mut tuner = std::boxed::Box::new(Limited::new());
    tuner.init(Space::new(&LIMITED).unwrap(), config, 9).unwrap();
    while tuner.len() < observations {
        let c = tuner.ask().unwrap().combination;
        tuner.tell_with(&c, f32::from(c.level(2)) - f32::from(c.level(0)), &[limited_margin(&c)]).unwrap();
    }
    tuner
}

fn limited_margin(c: &Combination<3>) -> f32 {
    3.5 - f32::from(c.level(0)) - 0.5 * f32::from(c.level(1))
}

/// A fantasy has the margins that the model expects: it changes no mean, and what is likely to keep the
/// limits or to break them only becomes more so.
#[test]
fn pending_combinations_do_not_change_where_limits_are() {
    let mut tuner = limited(times(14, 6), Config { noise: Noise::None, ..Config::default() });
    let space = tuner.space().clone();
    let all: std::vec::Vec<_> = (0..=space.last_index()).filter_map(|i| space.at(i)).collect();
    let chances =
        |tuner: &Limited| -> std::vec::Vec<f32> { all.iter().map(|c| tuner.model.log_chance(&space, c)).collect() };
    let before = chances(&tuner);
    for i in 0..5 {
        let c = all[17 * i + 3];
        tuner.replay(&Record::new(&c, Event::Asked)).unwrap();
    }
    tuner.add_fantasies();
    assert!(tuner.model.has_fantasies());
    let is_likely = |log_chance: f32| log_chance > -core::f32::consts::LN_2;
    for (before, after) in before.iter().zip(chances(&tuner)) {
        let rounding = 0.02 * (1.0 + before.abs());
        let is_kept = if is_likely(*before) { after > before - rounding } else { after < before + rounding };
        assert!(is_kept, "{before} {after}");
    }
    assert!(before.iter().any(|own| is_likely(*own)) && before.iter().any(|own| !is_likely(*own)));
}

/// What is left after an eviction keeps its own margins.
#[test]
fn a_forgotten_observation_takes_its_margins_with_it() {
    for when_full in [WhenFull::ForgetOldest, WhenFull::ForgetWorst] {
        let mut tuner = limited(6, Config { when_full, observations: 6, ..Config::default() });
        for _ in 0..times(10, 3) {
            let c = tuner.ask().unwrap().combination;
            tuner.tell_with(&c, f32::from(c.level(2)), &[limited_margin(&c)]).unwrap();
            for o in tuner.observations() {
                assert_eq!(tuner.margins(&o.combination), Some([limited_margin(&o.combination)]), "{when_full:?}");
            }
        }
    }
}

/// Before anything keeps the limit, sweeps begin where it is broken least.
#[test]
fn sweeps_begin_where_limits_are_broken_least() {
    let mut tuner = limited(0, Config::default());
    for (level, margin) in [(0, -3.0), (2, -1.0), (4, -2.0)] {
        let c = tuner.space().combination(&[level, 0, 0]).unwrap();
        tuner.tell_with(&c, f32::from(level), &[margin]).unwrap();
    }
    assert_eq!((tuner.by_posterior(), tuner.sweep_start(None)), (None, Some(1)));
    assert_eq!(tuner.sweep_start(Some(2)), Some(2));
}

/// What is unlikely to keep the limits is worth less: a run settles sooner, and repeats are worth more.
#[test]
fn the_expected_gain_counts_the_chance_to_keep_the_limits() {
    let mut tuner = limited(times(12, 6), Config { noise: Noise::None, ..Config::default() });
    tuner.ask().unwrap();
    let (gain, log_chance) = (tuner.expected_gain().unwrap(), tuner.search.log_chance);
    assert!(log_chance < 0.0);
    tuner.search.log_chance = log_chance - 1.0;
    let less = tuner.expected_gain().unwrap();
    assert!((gain / less - core::f32::consts::E).abs() < 0.01, "{gain} {less}");
}

/// Draws differ by purpose, by what is pending and by what was told; sweeps know nothing of the pending.
#[test]
fn every_draw_has_its_own_stream() {
    let mut tuner = told(Config::default(), &[1.0, 2.0]);
    let bits = |tuner: &Pair, purpose| tuner.random(purpose).bits();
    let mut seen = std::vec::Vec::new();
    let sweep = bits(&tuner, Purpose::Sweep);
    for _ in 0..3 {
        seen.extend([bits(&tuner, Purpose::Initial), bits(&tuner, Purpose::Scan)]);
        assert_eq!(bits(&tuner, Purpose::Sweep), sweep);
        tuner.ask().unwrap();
    }
    let c = tuner.pending()[0];
    tuner.tell(&c, 3.0).unwrap();
    seen.extend([bits(&tuner, Purpose::Initial), bits(&tuner, Purpose::Sweep), sweep]);
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), count);
}

/// Only an outcome that leaves the table as it is waits until the table is filled.
#[test]
fn a_new_best_does_not_wait_for_a_table() {
    const KNOBS: [Knob; 12] = [Knob::nominal(2); 12];
    type Relays = crate::tuner!(KNOBS, observations: 24, rows: 64);
    let mut tuner = std::boxed::Box::new(Relays::new());
    tuner.init(Space::new(&KNOBS).unwrap(), Config { refit: 2, ..Config::default() }, 5).unwrap();
    let mut waited = 0;
    for i in 0..20u32 {
        let c = tuner.space.at(u64::from(37 * i + 1)).unwrap();
        for (cost, may_wait) in [(-1.0 - i as f32, false), (100.0, true)] {
            let mut other = tuner.clone();
            other.begin_outcome(&c, Some(cost), &[]).unwrap();
            assert!(may_wait || !other.is_waiting, "{i}");
            waited += usize::from(other.is_waiting);
        }
        // Every cost is the best so far, so the table stays empty.
        tuner.tell(&c, -(i as f32)).unwrap();
    }
    assert!(waited > 3, "{waited}");
}

/// An ask that began with a cache and goes on without it finds the same.
#[test]
fn an_ask_may_lose_its_cache_on_the_way() {
    const KNOBS: [Knob; 12] = [Knob::nominal(2); 12];
    type Relays = crate::tuner!(KNOBS, observations: 40, rows: 64);
    let mut tuner = std::boxed::Box::new(Relays::new());
    tuner.init(Space::new(&KNOBS).unwrap(), Config { refit: 2, ..Config::default() }, 5).unwrap();
    let (mut cache, mut followed) = (std::boxed::Box::new(Cache::<0, 40, 64>::new()), 0);
    for _ in 0..times(36, 7) {
        let (mut plain, mut half, mut own) = (tuner.clone(), tuner.clone(), cache.clone());
        half.ask_begin().unwrap();
        let mut found = half.ask_step_with(9, &mut own).unwrap();
        followed += usize::from(half.search.path_first() > 0);
        while found.is_none() {
            found = half.ask_step(9).unwrap();
        }
        assert_eq!(found, Some(plain.ask().unwrap()));
        let c = tuner.ask_with(&mut cache).unwrap().combination;
        let levels = c.levels().iter().enumerate();
        tuner.tell(&c, levels.map(|(i, l)| f32::from(*l) * (i as f32 - 4.5)).sum()).unwrap();
    }
    assert!(cfg!(miri) || followed > 3, "{followed}");
}

/// After a failure two more steps come before the first row, and slices that start over at each step never
/// reach it.
#[test]
fn an_ask_in_slices_ends_after_one_with_a_cache() {
    const KNOBS: [Knob; 12] = [Knob::nominal(2); 12];
    type Relays = crate::tuner!(KNOBS, observations: 40, rows: 64);
    let mut tuner = std::boxed::Box::new(Relays::new());
    tuner.init(Space::new(&KNOBS).unwrap(), Config { refit: 2, ..Config::default() }, 5).unwrap();
    let (mut cache, mut followed) = (std::boxed::Box::new(Cache::<0, 40, 64>::new()), 0);
    for t in 0..times(36, 7) {
        let (mut plain, mut sliced) = (tuner.clone(), tuner.clone());
        followed += usize::from(sliced.search.path_first() > 0);
        sliced.ask_begin().unwrap();
        let found = (0..10_000).find_map(|_| sliced.ask_step(9).unwrap());
        assert_eq!(found, Some(plain.ask().unwrap()), "ask {t}");
        let c = tuner.ask_with(&mut cache).unwrap().combination;
        let levels = c.levels().iter().enumerate();
        match t % 5 {
            3 => tuner.tell_failed(&c).unwrap(),
            _ => tuner.tell(&c, levels.map(|(i, l)| f32::from(*l) * (i as f32 - 4.5)).sum()).unwrap(),
        }
    }
    assert!(cfg!(miri) || followed > 3, "{followed}");
}

/// The chance of success is that of the model's logit, and 1 before anything failed.
#[test]
fn the_chance_of_success_by_its_logit() {
    let mut tuner = told(Config::default(), &[3.0, 1.0, 4.0, 1.5, 5.0, 9.0]);
    let all = |tuner: &Pair| -> std::vec::Vec<_> { (0..96).map(|i| tuner.space.at(i).unwrap()).collect() };
    assert!(all(&tuner).iter().all(|c| tuner.chance(c) == 1.0));
    for _ in 0..2 {
        let c = tuner.ask().unwrap().combination;
        tuner.tell_failed(&c).unwrap();
    }
    let calls = tuner.model.success.calls().unwrap();
    let (mut least, mut most) = (1.0f32, 0.0f32);
    for c in all(&tuner) {
        let measured = &tuner.model.observations.combinations()[..tuner.len()];
        let logit = f64::from((calls.logit)(&tuner.model.success, &tuner.space, &c, measured));
        let own = tuner.chance(&c);
        assert!((f64::from(own) - 1.0 / (1.0 + (-logit).exp())).abs() < 1e-5, "{own} {logit}");
        (least, most) = (least.min(own), most.max(own));
    }
    assert!(least < 0.45 && most > 0.55, "{least} {most}");
}
