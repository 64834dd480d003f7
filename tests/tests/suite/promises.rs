//! The page of promises is that of the tests, and no call is without one.

use std::fs;

use trimtab_tests::{golden, promises, root};

#[test]
fn the_page_of_promises_is_current() {
    let page = promises::page(&promises::collect(&root()).unwrap());
    let path = root().join(promises::PAGE);
    if std::env::var_os(golden::REWRITE).is_some_and(|value| !value.is_empty()) {
        fs::write(&path, &page).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap_or_default() == page, "the page is old: cargo xtask promises");
}

/// Every call that can be refused, and every command, has a promise.
#[test]
fn every_call_and_command_has_a_promise() {
    let found = promises::collect(&root()).unwrap();
    let calls = [
        "Knob, Space::new",
        "Space::combination",
        "Tuner::init",
        "Tuner::ask",
        "Tuner::ask_begin, ask_step",
        "Tuner::ask_with",
        "Tuner::tell",
        "Tuner::tell_failed",
        "Tuner::enqueue",
        "Tuner::cancel",
        "Tuner::replay",
        "Tuner::ask_lookup, ask_recon",
        "Tuner::predict, best_posterior",
        "Record::from_bytes",
        "Persistent::open",
        "Persistent::tell",
        "Persistent::ask",
        "Persistent::restart",
        "Persistent::give_up",
        "Persistent::history",
        "Objective",
        "telemetry::check",
        "telemetry::Decoder",
        "watchdog",
        "trimtab tune",
        "trimtab serve",
        "trimtab watch",
        "trimtab replay",
        "trimtab report",
        "trimtab bench",
        "trimtab",
    ];
    for call in calls {
        assert!(found.iter().any(|promise| promise.call == call), "nothing is promised of `{call}`");
    }
}

/// Every test that the page of evidence names is there.
#[test]
fn the_tests_that_the_evidence_names_exist() {
    let page = fs::read_to_string(root().join("tests/docs/evidence.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with('|'));
    // Names of tests are words joined by underscores, four at least.
    let is_name = |word: &&str| word.matches('_').count() >= 3 && !word.contains([' ', '-', '.', '/', '=']);
    let names: Vec<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).filter(is_name).collect();
    assert!(names.len() > 30, "only {} names", names.len());
    let sources = promises::sources(&root()).unwrap();
    let texts: Vec<String> = sources.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    for name in names {
        let head = format!("fn {name}()");
        assert!(texts.iter().any(|text| text.contains(&head)), "no test is called {name}");
    }
}
