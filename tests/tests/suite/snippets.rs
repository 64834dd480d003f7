//! Every piece of Rust in the docs compiles: as a doctest, as a file that the docs show whole, or here, line by line.

use std::fs;

use embedded_storage::nor_flash::NorFlash;
use trimtab::{Combination, Config, Error, Event, FleetPrior, PriorState, Record, Space};
use trimtab_embedded::objective::Objective;
use trimtab_embedded::persistent::{Persistent, Stored};
use trimtab_embedded::watchdog::Watchdog;
use trimtab_tests::root;

trimtab::knobs! {
    struct Settings {
        input: u8 = nominal [0, 1, 2],
        gain: f32 = log [1.0, 2.0, 5.0],
    }
}
type MyTuner = trimtab::tuner!(Settings::KNOBS, observations: 40, rows: 16);
type Kept<'t, F> = Persistent<
    't,
    F,
    2,
    { trimtab::sizes::graded_levels(&Settings::KNOBS) },
    0,
    40,
    16,
    { trimtab::sizes::triangle(40) },
>;

#[allow(dead_code)]
fn number(c: &Combination<2>) -> u32 {
    u32::from(c.level(0)) * 3 + u32::from(c.level(1))
}

#[allow(dead_code)]
fn survival<F: NorFlash, W: Watchdog>(
    mut kept: Kept<'_, F>,
    watchdog: &mut W,
    mut hardware: impl Objective<2>,
) -> Result<(), Error> {
    if let Some(bitten) = watchdog.bitten() {
        kept.give_up(|c| number(c) == bitten)?;
    }
    loop {
        let c = kept.ask()?.combination;
        watchdog.arm(number(&c));
        let event = hardware.outcome(&c);
        watchdog.disarm();
        kept.replay(&Record::new(&c, event))?;
    }
}

/// The watchdog of a HAL.
#[allow(dead_code)]
trait Feed {
    fn feed(&mut self);
}

#[allow(dead_code)]
fn erase<F: NorFlash>(kept: &mut Kept<'_, F>, watchdog: &mut impl Feed, record: Record<2>) -> Result<(), Error> {
    if kept.replay(&record)? == Stored::PageFull {
        kept.prepare(&mut || watchdog.feed());
    }
    Ok(())
}

#[allow(dead_code)]
fn watch(uart: &mut [u8], measure: impl Fn(&Combination<2>) -> f32) -> Result<(), Box<dyn std::error::Error>> {
    use trimtab_embedded::telemetry::{About, Cause, Reporter};
    let (mut tuner, space, seed) = (MyTuner::new(), Space::new(&Settings::KNOBS)?, 1);

    let mut reporter = Reporter::new(uart);
    tuner.init(space, Config::default(), seed)?;
    reporter.hello(&tuner, &About { name: "antenna", cause: Cause::New, budget: 120 })?;
    reporter.names(&Settings::NAMES)?;
    loop {
        let proposal = tuner.ask()?;
        let value = measure(&proposal.combination);
        tuner.tell(&proposal.combination, value)?;
        reporter.measured(&proposal, Event::Told(value))?;
    }
}

type LineTuner = trimtab::tuner!(Settings::KNOBS, observations: 32, rows: 256, prior);

#[allow(dead_code)]
fn begin(tuner: &mut LineTuner, bytes: &'static [u8]) -> Result<PriorState, Error> {
    let space = Space::new(&Settings::KNOBS)?;
    match FleetPrior::read(bytes) {
        Ok(prior) => tuner.init_with_prior(space, Config::default(), &prior, 1)?,
        Err(_) => tuner.init(space, Config::default(), 1)?,
    }
    Ok(tuner.prior_state())
}

#[allow(dead_code)]
fn my_space() -> Space<2> {
    Space::new(&Settings::KNOBS).unwrap()
}

#[allow(dead_code)]
fn the_board_did_what_this_machine_does() {
    let stream = std::fs::read("run.log").unwrap();
    let checked = trimtab_embedded::telemetry::check(&mut MyTuner::new(), &my_space(), &stream).unwrap();
    assert_eq!((checked.unchecked, checked.lost), (0, 0));
}

/// Lines that depend on the user's program.
const OWN: [&str; 2] = [
    "#[test]",
    "let (mut kept, boot) = Persistent::open(TUNER.take(), &task, flash, Layout { range: 0..5 * 1024, records: 40 })?;",
];

/// The lines of the Rust in a page, without comments.
fn rust(page: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let blocks = text.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next());
    let code = |line: &str| line.split("  //").next().unwrap_or_default().trim().to_string();
    blocks.flat_map(|block| block.lines().map(code).collect::<Vec<_>>()).filter(|line| !line.is_empty()).collect()
}

#[test]
fn every_line_of_rust_in_the_docs_compiles() {
    let own = include_str!("snippets.rs");
    let compiled: Vec<&str> = own.lines().map(str::trim).collect();
    for page in ["firmware/docs/survival.md", "firmware/docs/fleet.md", "host/docs/watch.md"] {
        let lines = rust(page);
        assert!(lines.len() > 5, "{page}");
        for line in lines.iter().filter(|line| !OWN.contains(&line.as_str())) {
            assert!(compiled.contains(&line.as_str()), "{page}: `{line}` is not compiled by {}", file!());
        }
    }
    // The guide shows the template and a program of firmware/hal, which other tests compare and build; the
    // READMEs are doctests. No other page has Rust.
    let known = ["firmware/docs/survival.md", "firmware/docs/fleet.md", "host/docs/watch.md", "firmware/docs/guide.md"];
    for folder in ["firmware/docs", "host/docs", "tests/docs"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let page = format!("{folder}/{}", entry.unwrap().file_name().to_string_lossy());
            let has_rust = page.ends_with(".md") && !rust(&page).is_empty();
            assert!(!has_rust || known.contains(&page.as_str()), "{page} has Rust that nothing compiles");
        }
    }
}
