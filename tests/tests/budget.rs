//! Limits on the memory and time that the tuner takes on a small chip, as `cargo xtask cost` prints
//! them.

use std::sync::LazyLock;

use trimtab_tests::cost::{LEVELS, Mode, Report, TARGETS};

/// A limit per target: the target where it is met, else a little above the current number, so that
/// it does not get worse.
const LIMITS: [(&str, u64); TARGETS.len()] = [
    ("state, recomputing", 24 * 1024),
    ("state, incremental", 92 * 1024),
    ("stack", 2 * 1024),
    ("flash", 26_200), // the target is 12 KB
    ("steady `ask` + `tell`, incremental", 150_000),
    ("steady `ask` + `tell`, recomputing", 600_000),
    ("mean `ask` + `tell`", 700_000),
    ("worst `ask` + `tell`", 3_500_000),
    ("longest slice", 20_000),
];
/// Flash of the smallest image at each level of optimization.
const FLASH: [(&str, u64); LEVELS.len()] = [("3", 54_700), ("'z'", 26_000), ("'s'", 26_200)];
/// Instructions of the most expensive proposal of a whole run, recomputing.
const PROPOSAL: u64 = 1_600_000;
/// Bytes of stack with 128 observations.
const LARGE_STACK: u64 = 2_100;
/// Bytes of variables with an initial value. A tuner among them would take flash as well as RAM.
const DATA: u64 = 64;

static REPORT: LazyLock<Report> = LazyLock::new(|| Report::measure().unwrap());

#[test]
fn every_budget_is_kept() {
    for (budget, (name, most)) in REPORT.budgets().unwrap().iter().zip(LIMITS) {
        let (what, reached) = (budget.target.what, budget.reached);
        assert!(what.starts_with(name), "{name} is not about {what}");
        assert!(reached <= most, "{what}: {reached}, the limit is {most}");
    }
}

#[test]
fn limits_of_met_targets_are_the_targets() {
    for (budget, (name, most)) in REPORT.budgets().unwrap().iter().zip(LIMITS) {
        assert!(!budget.is_met() || most == budget.target.most, "{name} meets its target: make that the limit");
    }
}

#[test]
fn flash_fits_at_every_level() {
    for ((level, most), (measured, bytes)) in FLASH.iter().zip(LEVELS.iter().zip(&REPORT.flash)) {
        assert_eq!(level, measured);
        assert!(bytes <= most, "{bytes} bytes of text and rodata at opt-level {level}, the limit is {most}");
    }
}

#[test]
fn a_proposal_is_quick_enough_without_a_cache() {
    let worst = REPORT.case("relays", 64).unwrap().run(Mode::Recomputing).unwrap().worst(|step| step.ask);
    assert!(worst <= PROPOSAL, "{worst} instructions, the limit is {PROPOSAL}");
}

#[test]
fn the_stack_of_large_tuners_is_small() {
    for run in &REPORT.case("relays", 128).unwrap().runs {
        assert!(run.stack <= LARGE_STACK, "{} bytes of stack, the limit is {LARGE_STACK}", run.stack);
    }
}

/// Every call in every run meant to be hard; the steps of the first two are there.
#[test]
fn slices_were_measured() {
    for tuner in ["relays", "dials"] {
        let count = |run: &str, call: &str| {
            let slices = REPORT.slices.iter().filter(|slice| slice.0 == [tuner, run, call]);
            slices.map(|slice| slice.1).sum::<u64>()
        };
        for run in ["plain", "cached", "noisy", "failing", "batch"] {
            let calls = ["ask_begin", "ask_step", "tell_begin", "tell_step"];
            assert!(calls.iter().all(|call| count(run, call) > 1000), "{tuner} {run}");
        }
        assert!(count("infeasible", "ask_step") > 100);
        assert!(tuner == "dials" || count("limited", "ask_step").min(count("limited", "tell_step")) > 1000);
    }
}

/// Both modes of every tuner, with all steps.
#[test]
fn everything_was_measured() {
    for (name, sizes) in [("relays", [24, 32, 64, 0]), ("relays", [24, 64, 256, 0]), ("relays", [24, 128, 256, 0])] {
        let case = REPORT.case(name, sizes[1]).unwrap();
        assert_eq!((case.sizes, case.runs.len()), (sizes, 2));
        for run in &case.runs {
            let steps: Vec<u64> = run.steps.iter().map(|step| step.t as u64).collect();
            assert_eq!(steps, (1..=sizes[1]).collect::<Vec<_>>());
            // With few observations every tell brings a fit.
            assert!(run.steady() > 0 || sizes[1] < 64, "{name} has no steady step");
        }
    }
}

#[test]
fn tuners_start_as_zero_and_take_no_flash() {
    for (name, sizes) in &REPORT.images {
        assert!(sizes.data <= DATA, "{name} has {} bytes of data", sizes.data);
    }
}
