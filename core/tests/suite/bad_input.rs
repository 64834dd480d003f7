//! Bad input gives a small error and leaves the tuner unchanged.

use trimtab::{AskError, Combination, Config, InitError, Knob, KnobError, Scale, Space, SpaceError, TellError, Tuner};

type Small = Tuner<3, 8, 2, 4, 16, { trimtab::sizes::triangle(4) }>;

fn space() -> Space<3> {
    fn is_safe(c: &Combination<3>) -> bool {
        c.levels() != [0, 0]
    }
    Space::new(&[Knob::nominal(3), Knob::ranked(4)]).expect("sound").with_feasible(&is_safe)
}

fn tuner() -> Small {
    let mut tuner = Small::new();
    tuner.init(space(), Config::default(), 1).expect("it fits");
    tuner
}

/// The whole state of the tuner.
fn state(tuner: &Small) -> String {
    format!("{tuner:?}")
}

/// promise: Knob, Space::new | no levels, too many, values that are not finite or not positive on a log scale, too many knobs | refused with the reason
#[test]
fn bad_spaces_are_refused() {
    let refused = |knobs: &[Knob]| Space::<3>::new(knobs).expect_err("refused");
    let knob = |error| SpaceError::Knob { position: 0, error };
    assert_eq!(refused(&[]), SpaceError::NoKnobs);
    assert_eq!(refused(&[Knob::nominal(2); 4]), SpaceError::TooManyKnobs { given: 4, most: 3 });
    assert_eq!(refused(&[Knob::nominal(0)]), knob(KnobError::NoLevels));
    assert_eq!(refused(&[Knob::graded(&[], Scale::Linear)]), knob(KnobError::NoLevels));
    assert_eq!(refused(&[Knob::ranked(300)]), knob(KnobError::TooManyLevels));
    assert_eq!(refused(&[Knob::graded(&[1.0, f32::INFINITY], Scale::Linear)]), knob(KnobError::ValueNotFinite));
    assert_eq!(refused(&[Knob::graded(&[0.0, 1.0], Scale::Log)]), knob(KnobError::ValueNotPositive));
    assert_eq!(refused(&[Knob::graded(&[0.0, 1.0, 1e19], Scale::Linear)]), knob(KnobError::ValueTooLarge));
    assert_eq!(Space::<3>::new(&[Knob::nominal(1)]).expect("one level is a space").cardinality(), 1);
}

/// promise: Space::combination | too few levels, a level that the knob lacks | refused: `WrongLength`, `NoSuchLevel`
#[test]
fn bad_combinations_are_refused() {
    assert_eq!(space().combination(&[3, 0]), Err(SpaceError::NoSuchLevel { position: 0, level: 3 }));
    assert_eq!(space().combination(&[0]), Err(SpaceError::WrongLength { given: 1, knobs: 2 }));
    assert_eq!(space().combination(&[0, 0, 0]), Err(SpaceError::WrongLength { given: 3, knobs: 2 }));
}

/// promise: Tuner::tell | NaN, an infinite cost, a combination of another space | refused, every bit of the tuner stays
#[test]
fn bad_costs_and_foreign_combinations_change_nothing() {
    let mut tuner = tuner();
    let c = tuner.ask().expect("a proposal").combination;
    tuner.tell(&c, 1.0).expect("taken");
    let before = state(&tuner);
    for cost in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(tuner.tell(&c, cost), Err(TellError::NonFinite));
    }
    let wider = Space::<3>::new(&[Knob::nominal(3), Knob::ranked(9)]).expect("sound");
    assert_eq!(tuner.tell(&wider.combination(&[1, 8]).expect("its own"), 1.0), Err(TellError::Foreign));
    let longer = Space::<3>::new(&[Knob::nominal(3), Knob::ranked(4), Knob::nominal(2)]).expect("sound");
    assert_eq!(tuner.tell(&longer.combination(&[1, 1, 1]).expect("its own"), 1.0), Err(TellError::Foreign));
    assert_eq!(tuner.tell(&space().combination(&[0, 0]).expect("valid"), 1.0), Err(TellError::Infeasible));
    assert_eq!(state(&tuner), before);
}

/// promise: Tuner::tell | no room, under `WhenFull::Refuse` | `Full`; known combinations are still averaged
#[test]
fn a_full_tuner_refuses_and_changes_nothing() {
    let mut tuner = tuner();
    for _ in 0..4 {
        let c = tuner.ask().expect("a proposal").combination;
        tuner.tell(&c, f32::from(c.level(0))).expect("room for four");
    }
    let c = tuner.ask().expect("asking goes on").combination;
    let before = state(&tuner);
    assert_eq!(tuner.tell(&c, 1.0), Err(TellError::Full));
    assert_eq!(tuner.tell_failed(&c), Err(TellError::Full));
    assert_eq!(state(&tuner), before);
}

/// promise: Tuner::ask | no `init` before | `Uninitialised`
#[test]
fn an_uninitialised_tuner_says_so() {
    let mut tuner = Small::new();
    assert_eq!(tuner.ask(), Err(AskError::Uninitialised));
    assert_eq!(tuner.tell(&space().combination(&[1, 1]).expect("valid"), 1.0), Err(TellError::Foreign));
    assert!(tuner.best_observed().is_none() && tuner.is_empty());
}

/// promise: Tuner::init | more graded levels or features than there is room for | `TooManyFeatures`, the tuner stays as it was
#[test]
fn a_space_too_large_for_the_tuner_changes_nothing() {
    let mut tuner = tuner();
    let c = tuner.ask().expect("a proposal").combination;
    tuner.tell(&c, 1.0).expect("taken");
    let before = state(&tuner);
    let wide = Space::new(&[Knob::nominal(9)]).expect("sound");
    assert_eq!(tuner.init(wide, Config::default(), 1), Err(InitError::TooManyFeatures { needed: 9, most: 8 }));
    assert_eq!(state(&tuner), before);

    // Without a random map, the levels of graded knobs need room.
    type Flat = Tuner<1, 8, 0, 4, 16, { trimtab::sizes::triangle(4) }>;
    let fine = Space::new(&[Knob::ranked(9)]).expect("sound");
    assert_eq!(Flat::new().init(fine, Config::default(), 1), Err(InitError::TooManyFeatures { needed: 9, most: 8 }));
}

/// promise: Tuner::tell | costs of 1e30, 1e-30, equal ones | the model stays finite
#[test]
fn extreme_costs_do_not_break_the_model() {
    for costs in [[f32::MAX, f32::MIN, f32::MAX, 0.0], [0.0; 4], [f32::MIN_POSITIVE; 4], [1e-38, 1e38, -1e38, 1.0]] {
        let mut tuner = tuner();
        for cost in costs {
            let p = tuner.ask().expect("a proposal");
            assert!(!p.mean.is_nan() && !p.std_dev.is_nan() && !p.score.is_nan(), "{p:?}");
            tuner.tell(&p.combination, cost).expect("finite costs are taken");
        }
        let p = tuner.ask().expect("a proposal");
        assert!(!p.mean.is_nan() && !p.std_dev.is_nan() && !p.score.is_nan(), "{p:?}");
    }
}

#[test]
fn messages_are_lower_case_without_a_full_stop() {
    let messages = [
        SpaceError::NoKnobs.to_string(),
        SpaceError::Knob { position: 2, error: KnobError::NoLevels }.to_string(),
        AskError::NoneFound { tried: 7 }.to_string(),
        TellError::Full.to_string(),
        InitError::TooLarge.to_string(),
        InitError::OtherConfig.to_string(),
    ];
    assert!(messages.iter().all(|m| !m.ends_with('.') && m.chars().next().is_some_and(|c| !c.is_uppercase())));
    assert_eq!(messages[1], "knob 2 has no levels, give it at least one");
}
