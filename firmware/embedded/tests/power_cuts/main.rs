//! Cuts the power at every flash operation of a whole run, in every way: the end is always the
//! same.
//!
//! The run: six knobs, 44 measurements, some of which fail, a log of three pages that turns five
//! times, and a restart in the middle. Each write and erase is cut in six ways ([`DAMAGES`]). A new
//! boot finishes the run, and its end is compared with that of the uncut run, bit by bit.

use embedded_storage::nor_flash::NorFlash;
use trimtab::internals::Random;
use trimtab::{Combination, Config, Knob, Proposal, Space, WhenFull};
use trimtab_embedded::flash::{Cut, Damage, RamFlash};
use trimtab_embedded::journal::{Found, Layout, digest};
use trimtab_embedded::persistent::{Boot, ENOUGH, Persistent, Stored, Task};

mod bad_flash;
mod calls;
mod ecc;
mod hostile;
mod limits;
mod nothing_lost;
mod slices;
mod wide;

const KNOBS: [Knob; 6] =
    [Knob::nominal(2), Knob::ranked(8), Knob::nominal(4), Knob::nominal(2), Knob::ranked(5), Knob::nominal(3)];
type Six = trimtab::tuner!(KNOBS, observations: 16, rows: 16);

const PAGES: usize = 3;
const PAGE: usize = 352;
type Flash = RamFlash<PAGES, PAGE, 4>;

/// Two of three pages hold all observations of the tuner, so it loses none with a dropped page.
const LAYOUT: Layout = Layout { range: 0..(PAGES * PAGE) as u32, records: 8 };
/// Outcomes and one restart.
const BUDGET: u32 = 45;
const RESTART: u32 = 29;

const DAMAGES: [Damage; 6] =
    [Damage::Nothing, Damage::Half, Damage::AllButLast, Damage::Random(1), Damage::Random(2), Damage::All];

fn task() -> Task<6> {
    let config = Config { when_full: WhenFull::ForgetOldest, ..Config::default() };
    Task { space: Space::new(&KNOBS).unwrap(), config, seed: 7, meaning: 0 }
}

/// The cost, or `None`: a third of all combinations crash.
fn measure(c: &Combination<6>) -> Option<f32> {
    let target = [1.0, 5.0, 2.0, 0.0, 1.0, 2.0];
    let cost = c.levels().iter().zip(target).map(|(level, target)| (f32::from(*level) - target).abs()).sum();
    (c.level(1) > 0 && c.level(2) != 3).then_some(cost)
}

/// The end of a run to the bit: the observations, the hyper-parameters and the next proposals.
#[derive(Clone, Debug, PartialEq)]
struct End {
    observations: Vec<(Combination<6>, u32, u16)>,
    model: [u32; 3],
    next: Vec<(Combination<6>, [u32; 3])>,
}

/// Measurements over several boots.
#[derive(Default)]
struct Measured {
    all: usize,
    failed: usize,
}

/// Boots and runs until the budget is spent or the power is cut. Returns the end, or `None` if cut.
fn boot(flash: impl NorFlash, measured: &mut Measured) -> (Boot, Option<End>) {
    boot_in(LAYOUT, flash, measured)
}

fn boot_in(layout: Layout, flash: impl NorFlash, measured: &mut Measured) -> (Boot, Option<End>) {
    let mut tuner = Box::new(Six::new());
    let (mut kept, boot) = Persistent::open(&mut tuner, &task(), flash, layout).unwrap();
    while kept.trouble().is_none() && kept.total() < BUDGET {
        if kept.total() == RESTART {
            kept.restart();
            continue;
        }
        let c = kept.ask().unwrap().combination;
        if kept.trouble().is_some() {
            break;
        }
        measured.all += 1;
        match measure(&c) {
            Some(cost) => kept.tell(&c, cost).unwrap(),
            None => {
                measured.failed += 1;
                kept.tell_failed(&c).unwrap()
            }
        };
        // Ahead or in the next ask: the same bits.
        if kept.total() % 16 == 0 {
            kept.prepare(&mut || ());
        }
    }
    if kept.trouble().is_some() {
        return (boot, None);
    }
    let tuner = kept.tuner();
    let model = [tuner.noise(), tuner.relevance(0), tuner.relevance(5)].map(f32::to_bits);
    let bits = |p: Proposal<6>| (p.combination, [p.mean, p.std_dev, p.score].map(f32::to_bits));
    let end = End {
        observations: kept.tuner().observations().map(|o| (o.combination, o.value.to_bits(), o.repeats)).collect(),
        model,
        next: (0..3).map(|_| bits(kept.ask().unwrap())).collect(),
    };
    (boot, Some(end))
}

/// The run without a cut: its flash, operations, measurements and end.
fn uncut() -> (Flash, u32, usize, End) {
    let (mut flash, mut measured) = (Flash::new(), Measured::default());
    let mut powered = Cut::never(&mut flash);
    let (found, end) = boot(&mut powered, &mut measured);
    assert_eq!(found.found, Some(Found::Blank));
    let operations = powered.operations();
    let end = end.expect("the power stays on");
    assert!(measured.failed > 0, "a failure is among the outcomes");
    (flash, operations, measured.all, end)
}

/// promise: Persistent::tell | power lost at any flash operation, in six ways | at most one measurement is repeated, the end is the same to the bit
#[test]
fn every_cut_ends_in_the_same_bits() {
    let (_, operations, measurements, expected) = uncut();
    // 45 entries fill five pages of 8: six erases and six headers. Three pages are dropped, each with
    // a note, and two records of the restart's queue are carried over.
    assert_eq!((operations, measurements), (45 + 6 + 6 + 3 + 2, 44));
    let mut repeated = 0;
    for operation in 0..operations {
        for damage in DAMAGES {
            let (mut flash, mut measured) = (Flash::new(), Measured::default());
            let (_, end) = boot(Cut::at(&mut flash, operation, damage), &mut measured);
            assert_eq!(end, None, "operation {operation} was cut");
            let (found, end) = boot(&mut flash, &mut measured);
            assert_eq!(end.as_ref(), Some(&expected), "cut at {operation}, {damage:?}, {found:?}");
            assert!(measured.all <= measurements + 1, "cut at {operation}, {damage:?}: {} measurements", measured.all);
            assert!(found.damaged <= 1, "{found:?}");
            repeated += measured.all - measurements;
        }
    }
    // Each of 44 records is lost in all ways but the one that completes the write.
    assert_eq!(repeated, 44 * (DAMAGES.len() - 1));
}

/// A watchdog's reset may belong to another log. Then nothing is given up, and the best
/// combinations from before the restart are still asked first.
///
/// promise: Persistent::give_up | the reset belonged to another measurement | nothing is given up, no proposal changes
#[test]
fn giving_up_nothing_changes_no_proposal() {
    let mut flash = Flash::new();
    let mut tuner = Box::new(Six::new());
    let (mut kept, _) = Persistent::open(&mut tuner, &task(), &mut flash, LAYOUT).unwrap();
    for _ in 0..12 {
        let c = kept.ask().unwrap().combination;
        match measure(&c) {
            Some(cost) => kept.tell(&c, cost).unwrap(),
            None => kept.tell_failed(&c).unwrap(),
        };
    }
    kept.restart();
    let mut asked = |gives_up: bool| {
        let mut tuner = Box::new(Six::new());
        let (mut kept, _) = Persistent::open(&mut tuner, &task(), &mut flash, LAYOUT).unwrap();
        assert!(!kept.tuner().queue().is_empty());
        if gives_up {
            assert_eq!(kept.give_up(|_| false), Ok(None));
        }
        (0..4).map(|_| kept.ask().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(asked(true), asked(false));
}

/// promise: Persistent::open | power lost while recovering from a cut | the same end to the bit
#[test]
fn cuts_while_recovering_from_cuts_change_nothing_either() {
    let (_, operations, measurements, expected) = uncut();
    let mut random = Random::new(3, 0);
    for _ in 0..150 {
        let (mut flash, mut measured) = (Flash::new(), Measured::default());
        let mut cuts = 0;
        let end = loop {
            // Two cuts in quick succession, then anywhere.
            let most = if cuts == 1 { 4 } else { operations };
            let (operation, damage) = (random.below(most), DAMAGES[random.below(6) as usize]);
            let (_, end) = match cuts {
                0..4 => boot(Cut::at(&mut flash, operation, damage), &mut measured),
                _ => boot(&mut flash, &mut measured),
            };
            match end {
                Some(end) => break end,
                None => cuts += 1,
            }
        };
        assert_eq!(end, expected, "after {cuts} cuts");
        assert!(measured.all <= measurements + cuts);
    }
}

/// The history turns a listener's tuner into this one: at the start, after a dropped page, after a
/// restart.
///
/// promise: Persistent::history | dropped pages and restarts before | the records still make the same tuner
#[test]
fn the_history_makes_the_same_tuner() {
    let (mut flash, mut tuner) = (Flash::new(), Box::new(Six::new()));
    let (mut kept, _) = Persistent::open(&mut tuner, &task(), &mut flash, LAYOUT).unwrap();
    for i in 0..60 {
        if i % 25 == 11 {
            kept.restart();
        }
        let mut other = Box::new(Six::new());
        other.init(task().space, task().config, task().seed).unwrap();
        kept.history(|record| other.replay(record).unwrap()).unwrap();
        assert_eq!(digest(&other), digest(kept.tuner()), "at {i}");
        let proposal = kept.ask().unwrap();
        assert_eq!(other.ask(), Ok(proposal), "at {i}");
        kept.tell(&proposal.combination, measure(&proposal.combination).unwrap_or(9.0)).unwrap();
    }
}

#[test]
fn pages_wear_evenly() {
    let (mut flash, mut tuner) = (Flash::new(), Box::new(Six::new()));
    let (mut kept, _) = Persistent::open(&mut tuner, &task(), &mut flash, LAYOUT).unwrap();
    let mut dropped = 0;
    for i in 0..500 {
        let c = kept.ask().unwrap().combination;
        assert!(matches!(kept.tell(&c, (i % 7) as f32), Ok(Stored::Yes | Stored::PageFull)), "a tell erases nothing");
        dropped += u32::from(kept.prepare(&mut || ()) == Stored::OldestDropped);
        assert_eq!(kept.tuner().len(), 16.min(i + 1), "a dropped page loses no observation");
    }
    // 500 records turn the page 62 times; the first two drop nothing.
    assert_eq!((dropped, kept.total()), (60, 500));
    assert_eq!(flash.erases(), &[21, 21, 21]);
}

/// An erase is announced, done when the caller says so, and the watchdog is fed on the way.
#[test]
fn an_erase_is_announced_and_done_ahead() {
    let (mut flash, mut tuner) = (Flash::new(), Box::new(Six::new()));
    let mut powered = Cut::never(&mut flash);
    let (mut kept, _) = Persistent::open(&mut tuner, &task(), &mut powered, LAYOUT).unwrap();
    let mut fed = Vec::new();
    for i in 1..=40 {
        let (room, c) = (kept.room(), kept.ask().unwrap().combination);
        let stored = kept.tell(&c, 1.0).unwrap();
        assert_eq!((room, kept.room()), (8 - (i - 1) % 8, 7 - (i - 1) % 8), "record {i}");
        assert_eq!(stored, if i % 8 == 0 { Stored::PageFull } else { Stored::Yes });
        if i % 8 == 0 {
            let mut calls = 0;
            let done = kept.prepare(&mut || calls += 1);
            fed.push((done, calls));
            assert_eq!((kept.prepare(&mut || unreachable!("nothing to do")), kept.room()), (Stored::Yes, 8));
        }
    }
    // Two pages are free; then one of three is dropped and the records of the other two are replayed.
    let dropped = (Stored::OldestDropped, 2 + 16);
    assert_eq!(fed, [(Stored::Yes, 2), (Stored::Yes, 2), dropped, dropped, dropped]);
    drop(kept);
    let mut calls = 0;
    let (_, boot) = Persistent::open_with(&mut tuner, &task(), &mut flash, LAYOUT, &mut || calls += 1).unwrap();
    assert_eq!((boot.records, calls), (16, 16));
}

/// A combination takes the power down: boot after boot ends in it, until it is given up.
///
/// promise: Persistent::ask | a measurement that takes the power down, boot after boot | `is_hopeless` after five boots; told as failed, the search goes on
#[test]
fn a_measurement_that_cuts_the_power_is_given_up() {
    for records in [0, 5] {
        let (mut flash, mut tuner) = (Flash::new(), Box::new(Six::new()));
        let mut boots = 0;
        let mut last = None;
        let given_up = loop {
            let (mut kept, boot) = Persistent::open(&mut tuner, &task(), &mut flash, LAYOUT).unwrap();
            while kept.total() < records {
                let c = kept.ask().unwrap().combination;
                kept.tell(&c, 1.0).unwrap();
            }
            let c = kept.ask().unwrap().combination;
            assert!(last.is_none_or(|last| last == c), "each boot repeats the ask");
            if boot.is_hopeless() {
                kept.tell_failed(&c).unwrap();
                assert_ne!(kept.ask().unwrap().combination, c);
                break c;
            }
            // Here the power fails.
            (last, boots) = (Some(c), boots + 1);
        };
        assert_eq!((Some(given_up), boots), (last, u32::from(ENOUGH) + 1));
        let (_, boot) = Persistent::open(&mut tuner, &task(), &mut flash, LAYOUT).unwrap();
        assert_eq!((boot.begun, boot.records), (0, records + 1));
    }
}
