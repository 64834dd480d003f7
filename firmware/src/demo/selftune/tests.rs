//! Every combination computes the same filter.

extern crate std;

use std::collections::HashSet;

use super::filter::{OUTPUTS, output};
use super::search::{feasible, random, tuned};
use super::*;
use trimtab_embedded::objective::Objective;

/// The oracle is the definition, in 64-bit integers.
#[test]
fn every_combination_gives_the_same_outputs() {
    let expected: std::vec::Vec<i64> = (0..OUTPUTS)
        .map(|n| (0..filter::TAPS).map(|k| i64::from(filter::COEFFICIENTS[k]) * i64::from(filter::sample(n + k))).sum())
        .collect();
    assert!((0..OUTPUTS).all(|n| i64::from(output(n)) == expected[n]));
    let space = space();
    let mut workspace = Workspace::new();
    workspace.init();
    let mut run = 0;
    for c in feasible(&space) {
        let setting = Setting::of(&c);
        workspace.clear();
        assert!(!workspace.is_right());
        setting.variant().unwrap().run(&mut workspace);
        assert!(workspace.outputs.iter().zip(&expected).all(|(y, e)| i64::from(*y) == *e), "{setting}");
        assert!(workspace.is_right());
        run += 1;
    }
    // Integers and float: 2 · 4 · 4 · 16; pairs: 4 · 3 · 8.
    assert_eq!(run, 512 + 96);
}

#[test]
fn what_is_infeasible_has_no_code() {
    let space = space();
    assert_eq!(space.cardinality(), COMBINATIONS as u128);
    assert!(size_of::<Workspace>() <= 4096);
    for c in (0..=space.last_index()).filter_map(|index| space.at(index)) {
        assert_eq!(Setting::of(&c).variant().is_some(), space.is_feasible(&c));
    }
    for odd in [0, 3, 16] {
        assert!(Setting { outputs: odd, ..Setting::default() }.variant().is_none());
        assert!(Setting { taps: odd, ..Setting::default() }.variant().is_none());
    }
}

/// Two settings with different code share a function only if an optimizing compiler found them
/// equal.
#[test]
fn settings_are_told_apart_in_words() {
    let space = space();
    let words: HashSet<_> = feasible(&space).map(|c| std::format!("{}", Setting::of(&c))).collect();
    assert_eq!(words.len(), 608);
    assert_eq!(std::format!("{}", Setting::default()), "integers, 1 by 1, outputs outside");
    let all = Setting::of(&space.combination(&[2, 3, 1, 1, 1, 1, 1]).unwrap());
    assert_eq!(
        std::format!("{all}"),
        "float, 8 by 2, taps outside, samples prepared, coefficients copied, symmetry used"
    );
}

#[test]
fn wrong_results_and_missing_filters_have_no_cost() {
    let space = space();
    let [plain, infeasible] = [[0; COUNT], [1, 0, 0, 0, 0, 0, 0]].map(|levels| space.combination(&levels).unwrap());
    let mut workspace = Workspace::new();
    let mut runs = 0;
    let mut code = Code::new(&mut workspace, |variant, workspace| {
        runs += 1;
        variant.run(workspace);
        // The second measurement is disturbed.
        workspace.outputs[77] ^= i32::from(runs == 2);
        40 + runs
    });
    assert_eq!(code.measure(), Err(CodeError::NoSuchFilter), "nothing was applied");
    assert_eq!(code.evaluate(&plain), Ok(41.0));
    assert_eq!(code.evaluate(&plain), Err(CodeError::WrongResult));
    assert_eq!(code.evaluate(&infeasible), Err(CodeError::NoSuchFilter));
    assert_eq!(code.evaluate(&plain), Ok(43.0));
}

/// An objective from a function.
fn table(cost: impl Fn(&Combination<COUNT>) -> Option<f32>) -> Costs {
    let mut costs = Costs::new();
    costs.enumerate(cost);
    costs
}

#[test]
fn a_table_of_costs_knows_its_best() {
    let space = space();
    let cost = |c: &Combination<COUNT>| ((space.index(c) * 7919) % 1009) as f32 + 50.0;
    let mut costs = Costs::new();
    assert!(costs.best().is_none());
    let measured = costs.enumerate(|c| (c.levels() != [0; COUNT]).then(|| cost(c)));
    let plain = space.combination(&[0; COUNT]).unwrap();
    assert_eq!((measured, costs.of(&plain)), (607, None));
    assert_eq!(costs.replay().evaluate(&plain), Err(Unknown));
    let best = costs.best().unwrap();
    assert_eq!(costs.replay().evaluate(&best.combination), Ok(best.cost));
    assert!(feasible(&space).filter(|c| *c != plain).all(|c| cost(&c) >= best.cost));
    let among = feasible(&space).filter(|c| *c != plain && c.level(1) == 2).map(|c| cost(&c)).min_by(f32::total_cmp);
    assert_eq!(costs.best_with(1, 2).map(|found| (found.combination.level(1), Some(found.cost))), Some((2, among)));
    assert!(costs.best_with(1, 4).is_none());
}

#[test]
fn random_search_draws_every_feasible_setting_once() {
    struct Seen(HashSet<Combination<COUNT>>, Option<Combination<COUNT>>);
    impl Objective<COUNT> for Seen {
        type Error = ();
        fn apply(&mut self, c: &Combination<COUNT>) -> Result<(), ()> {
            assert!(Setting::of(c).is_feasible() && self.0.insert(*c));
            self.1.get_or_insert(*c);
            if c.level(0) == 0 { Err(()) } else { Ok(()) }
        }
        fn measure(&mut self) -> Result<f32, ()> {
            Ok(7.0)
        }
    }
    let mut seen = Seen(HashSet::new(), None);
    let found = random(&mut seen, 3, 10_000).unwrap();
    assert_eq!(seen.0.len(), 608);
    assert_eq!(seen.1.map(|first| Setting::of(&first)), Some(Setting::default()));
    assert!(found.combination.level(0) != 0 && found.cost == 7.0);
    assert_eq!(random(&mut table(|_| None).replay(), 3, 5), None);
}

#[test]
fn the_tuner_starts_at_the_plain_filter_and_takes_failures() {
    // All float filters are wrong.
    let costs =
        table(|c| (c.level(0) != 2).then(|| 1000.0 - 100.0 * f32::from(c.level(1)) - 60.0 * f32::from(c.level(6))));
    let (mut tuner, mut asked) = (CodeTuner::new(), std::vec::Vec::new());
    let found = tuned(&mut tuner, &mut costs.replay(), 1, 30, |step| asked.push(step.proposal.combination)).unwrap();
    assert_eq!((asked.len(), asked.iter().collect::<HashSet<_>>().len()), (30, 30));
    assert_eq!(Setting::of(&asked[0]), Setting::default());
    assert_eq!(tuner.failures(), asked.iter().filter(|c| c.level(0) == 2).count());
    let found = found.unwrap();
    assert_eq!(asked[found.measurement - 1], found.combination);
    let least = asked.iter().filter_map(|c| costs.of(c)).min_by(f32::total_cmp);
    assert_eq!((Some(found.cost), found.combination.level(1)), (least, 3));
}
