//! Nothing measured is lost: refused tells, dropped pages, damaged headers, unfinished boots.

use embedded_storage::nor_flash::ReadNorFlash as _;
use trimtab::TellError;
use trimtab_embedded::flash::Simulated as _;

use super::*;

type Large = trimtab::tuner!(KNOBS, observations: 24, rows: 16);
type FourPages = RamFlash<4, PAGE, 4>;
const FOUR_PAGES: Layout = Layout { range: 0..(4 * PAGE) as u32, records: 8 };

fn task_when(when_full: WhenFull) -> Task<6> {
    Task { config: Config { when_full, ..Config::default() }, ..task() }
}

/// Tells the first combinations of the space their own number.
fn tell_numbers<F: NorFlash>(kept: &mut Persistent<'_, F, 6, 13, 0, 24, 16, 300>, numbers: std::ops::Range<u64>) {
    for number in numbers {
        kept.tell(&task().space.at(number).unwrap(), number as f32).unwrap();
    }
}

fn bytes<const PAGES: usize>(flash: &mut RamFlash<PAGES, PAGE, 4>) -> Vec<u8> {
    let mut bytes = vec![0; PAGES * PAGE];
    flash.read(0, &mut bytes).unwrap();
    bytes
}

/// promise: Persistent::tell | an outcome that the tuner refuses | no byte of the flash changes
#[test]
fn a_refused_tell_leaves_the_flash_alone() {
    let (mut flash, mut tuner) = (FourPages::new(), Box::new(Large::new()));
    let task = task_when(WhenFull::Refuse);
    let odd = |c: &Combination<6>| c.level(0) == 0 || c.level(1) < 7;
    let odd: &'static (dyn Fn(&Combination<6>) -> bool + Sync) = Box::leak(Box::new(odd));
    let task = Task { space: task.space.with_feasible(odd), ..task };
    let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
    let feasible: Vec<_> = (0..).filter_map(|i| task.space.at(i)).filter(|c| odd(c)).take(34).collect();
    for (i, c) in feasible.iter().take(24).enumerate() {
        kept.tell(c, i as f32).unwrap();
    }
    assert_eq!(kept.prepare(&mut || ()), Stored::Yes);
    drop(kept);
    let before = bytes(&mut flash);
    let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
    for c in &feasible[24..] {
        assert_eq!(kept.tell(c, 99.0), Err(TellError::Full.into()));
        assert_eq!(kept.tell_failed(c), Err(TellError::Full.into()));
    }
    let mut knobs = KNOBS;
    knobs[1] = Knob::ranked(200);
    let other = Space::<6>::new(&knobs).unwrap().combination(&[0, 199, 0, 0, 0, 0]).unwrap();
    let infeasible = (0..1920).filter_map(|i| task.space.at(i)).find(|c| !odd(c)).unwrap();
    for _ in 0..40 {
        assert!(kept.tell(&other, 99.0).is_err());
        assert_eq!(kept.tell(&infeasible, 99.0), Err(TellError::Infeasible.into()));
        assert_eq!(kept.tell(&feasible[0], f32::NAN), Err(TellError::NonFinite.into()));
    }
    assert_eq!(kept.tuner().best_observed().map(|best| best.value), Some(0.0));
    assert_eq!((kept.tuner().len(), kept.total()), (24, 24));
    drop(kept);
    assert!(bytes(&mut flash) == before, "no byte of the flash has changed");
}

/// promise: Persistent::ask | any number of unfinished boots | no outcome is evicted
#[test]
fn unfinished_boots_evict_no_outcome() {
    let (mut flash, mut tuner) = (FourPages::new(), Box::new(Large::new()));
    let task = task_when(WhenFull::ForgetOldest);
    let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
    tell_numbers(&mut kept, 0..20);
    drop(kept);
    for boots in 0..200 {
        let (mut kept, boot) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
        assert_eq!((boot.records, boot.begun), (20, ENOUGH.min(boots)), "boot {boots}");
        kept.ask().unwrap();
    }
}

/// promise: Persistent::tell | the flash is full, page after page | the best measured combination stays
#[test]
fn the_best_survives_every_page_turn() {
    for when_full in [WhenFull::ForgetWorst, WhenFull::Refuse, WhenFull::ForgetOldest] {
        let (mut flash, mut tuner) = (FourPages::new(), Box::new(Large::new()));
        let task = task_when(when_full);
        let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
        for i in 0..200_u64 {
            // After the first 24 a tuner that refuses is told the outcomes of known combinations.
            let (number, value) = match when_full {
                WhenFull::Refuse if i >= 24 => (1 + i % 23, 50.0),
                // The best is still held by the tuner that forgets the oldest, page after page.
                WhenFull::ForgetOldest => (i % 20, (i % 20) as f32),
                _ => (i, i as f32),
            };
            kept.tell(&task.space.at(number).unwrap(), value).unwrap();
            let best = kept.tuner().best_observed().unwrap();
            assert_eq!((best.combination, best.value), (task.space.at(0).unwrap(), 0.0), "{when_full:?} at {i}");
        }
        drop(kept);
        let (kept, _) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
        assert_eq!(kept.tuner().best_observed().map(|best| best.value), Some(0.0), "{when_full:?}");
    }
}

/// The tuner forgot a combination with a bad outcome and measured it again: a tuner that is rebuilt from
/// fewer records has room for the forgotten outcome, and must not average both.
///
/// promise: Persistent::tell | a combination that was forgotten and is measured again | only the new outcomes count, after page turns and cuts too
#[test]
fn a_forgotten_outcome_is_not_averaged_with_a_new_one() {
    let task = task_when(WhenFull::ForgetWorst);
    let task = Task { config: Config { observations: 8, ..task.config }, ..task };
    let run = |flash: &mut Cut<&mut FourPages>| {
        let mut tuner = Box::new(Large::new());
        let (mut kept, _) = Persistent::open(&mut tuner, &task, flash, FOUR_PAGES).unwrap();
        while kept.trouble().is_none() && kept.total() < 44 {
            let i = u64::from(kept.total());
            let (number, value) = match i {
                // The tuner is full of numbers, and the next one evicts this.
                8 => (100, 1000.0),
                10 => (100, 0.0),
                // Measured again, and not forgotten in between.
                13 => (100, 0.5),
                // Better than all before, so that these are not carried.
                _ => (i, 100.0 - i as f32),
            };
            kept.tell(&task.space.at(number).unwrap(), value).unwrap();
            if let Some(best) = kept.tuner().best_observed().filter(|_| i >= 10) {
                assert_eq!(best.combination, task.space.at(100).unwrap(), "after {i}");
                // Until the page of the second one is dropped, both measurements since then are averaged.
                let is_expected = if (13..36).contains(&i) { best.value == 0.25 } else { best.value <= 0.5 };
                assert!(is_expected, "{best:?} after {i}");
            }
        }
        let mut history = Box::new(Large::new());
        history.init(task.space.clone(), task.config, task.seed).unwrap();
        let _ = kept.history(|record| history.replay(record).unwrap());
        let has_trouble = kept.trouble().is_some();
        assert!(has_trouble || digest(&history) == digest(kept.tuner()), "the history makes the same tuner");
        (kept.trouble().is_none(), digest(kept.tuner()))
    };
    let mut flash = FourPages::new();
    let mut powered = Cut::never(&mut flash);
    let expected = run(&mut powered);
    let operations = powered.operations();
    assert!(expected.0);
    for at in 0..operations {
        let mut flash = FourPages::new();
        for damage in [Damage::Half, Damage::All] {
            run(&mut Cut::at(&mut flash, at, damage));
        }
        assert_eq!(run(&mut Cut::never(&mut flash)), expected, "cut at {at}");
    }
}

/// Copies are made before the erase, and a boot after any cut has each record once.
///
/// promise: Persistent::tell | power lost while a page is dropped | the same end to the bit
#[test]
fn a_cut_while_records_are_carried_changes_nothing() {
    for when_full in [WhenFull::ForgetWorst, WhenFull::ForgetOldest] {
        let run = |flash: &mut Cut<&mut FourPages>| {
            let mut tuner = Box::new(Large::new());
            let (mut kept, _) = Persistent::open(&mut tuner, &task_when(when_full), flash, FOUR_PAGES).unwrap();
            while kept.trouble().is_none() && kept.total() < 50 {
                // The first combinations again and again, so that repeats are carried too.
                let (i, number) = (u64::from(kept.total()), u64::from(kept.total()) % 40 / 2);
                if i == 27 {
                    kept.restart();
                    continue;
                }
                kept.tell(&task().space.at(number).unwrap(), (i * 7 % 11) as f32).unwrap();
            }
            let observations: Vec<_> =
                kept.tuner().observations().map(|o| (o.combination, o.value.to_bits(), o.repeats)).collect();
            (kept.trouble().is_none(), digest(kept.tuner()), observations, kept.tuner().queue().to_vec())
        };
        let mut flash = FourPages::new();
        let mut powered = Cut::never(&mut flash);
        let expected = run(&mut powered);
        let operations = powered.operations();
        assert!(expected.0 && operations > 50 + 2 * 7 + 3, "some records were carried: {operations} operations");
        for operation in 0..operations {
            for damage in DAMAGES {
                let mut flash = FourPages::new();
                assert!(!run(&mut Cut::at(&mut flash, operation, damage)).0);
                assert_eq!(run(&mut Cut::never(&mut flash)), expected, "{when_full:?}: {operation}, {damage:?}");
            }
        }
    }
}

/// promise: Persistent::open | one wrong bit in a page header | repaired, nothing lost
#[test]
fn a_flipped_bit_in_a_header_loses_nothing() {
    let (mut sound, mut tuner) = (FourPages::new(), Box::new(Large::new()));
    let task = task_when(WhenFull::ForgetOldest);
    let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut sound, FOUR_PAGES).unwrap();
    tell_numbers(&mut kept, 0..28);
    let expected = (digest(kept.tuner()), kept.total());
    for page in 0..4 {
        for bit in 0..28 * 8 {
            let mut flash = sound.clone();
            let (offset, mut byte) = ((page * PAGE + bit / 8) as u32, [0]);
            flash.read(offset, &mut byte).unwrap();
            flash.poke(offset, &[byte[0] ^ 1 << (bit % 8)]).unwrap();
            let (kept, boot) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
            assert_eq!((boot.found, boot.damaged), (Some(Found::Log), 0), "page {page}, bit {bit}");
            assert_eq!((digest(kept.tuner()), kept.total()), expected, "page {page}, bit {bit}");
        }
    }
}

/// The records of a page whose header is gone have their own checksums.
///
/// promise: Persistent::open | a destroyed page header | its records are read by their own checksums; what cannot be read is counted
#[test]
fn a_page_without_a_header_is_read_by_its_records() {
    let (mut sound, mut tuner) = (FourPages::new(), Box::new(Large::new()));
    let task = task_when(WhenFull::ForgetOldest);
    let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut sound, FOUR_PAGES).unwrap();
    tell_numbers(&mut kept, 0..28);
    let expected = (digest(kept.tuner()), kept.total());
    for page in 0..4 {
        let mut flash = sound.clone();
        flash.poke((page * PAGE) as u32, &[0; 28]).unwrap();
        let (kept, boot) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
        assert_eq!((boot.found, boot.damaged, boot.records), (Some(Found::Log), 0, 28), "page {page}");
        assert_eq!((digest(kept.tuner()), kept.total()), expected, "page {page}");
        // Without its records, too, the page is at least counted.
        let mut flash = sound.clone();
        flash.poke((page * PAGE) as u32, &[0; PAGE]).unwrap();
        let (_, boot) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
        let others = if page == 3 { 24 } else { 20 };
        assert_eq!(boot.records, others, "page {page}");
        assert!(boot.damaged > 0, "page {page}");
    }
}

/// Boots with cuts at random operations, refused tells and repeats: whatever a call confirmed, the
/// best of it is known to every later boot.
#[test]
fn random_cuts_never_lose_the_best() {
    let mut random = Random::new(11, 0);
    let task = task_when(WhenFull::ForgetWorst);
    for run in 0..10 {
        let (mut flash, mut best, mut number) = (FourPages::new(), f32::INFINITY, 0);
        for boot in 0..30 {
            let mut tuner = Box::new(Large::new());
            let (operation, damage) = (random.below(24), DAMAGES[random.below(6) as usize]);
            let cut = Cut::at(&mut flash, operation, damage);
            let (mut kept, found) = Persistent::open(&mut tuner, &task, cut, FOUR_PAGES).unwrap();
            // A cut while opening says so.
            let known = kept.tuner().best_observed().map_or(f32::INFINITY, |best| best.value);
            assert!(found.trouble.is_some() || known <= best, "run {run}, boot {boot}: {known} after {best}");
            while kept.trouble().is_none() {
                let (c, value) = (task.space.at(number % 1900).unwrap(), (random.below(1000) + 1) as f32);
                assert!(kept.tell(&c, f32::NAN).is_err());
                number += 1;
                if matches!(kept.tell(&c, value), Ok(Stored::Yes | Stored::PageFull | Stored::OldestDropped)) {
                    best = best.min(value);
                }
                assert!(kept.trouble().is_some() || kept.tuner().best_observed().unwrap().value <= best);
            }
        }
    }
}

/// A flaky measurement that failed, worked at the second try and is the best: a page with room for
/// one copy carries the value over, not the failure.
///
/// promise: Persistent::tell | the best combination had failed before | its value survives every page turn
#[test]
fn a_failure_before_the_best_does_not_replace_it() {
    let (mut flash, mut tuner) = (FourPages::new(), Box::new(Large::new()));
    let task = task_when(WhenFull::ForgetWorst);
    let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
    let best = task.space.at(0).unwrap();
    kept.tell_failed(&best).unwrap();
    kept.tell(&best, 0.0).unwrap();
    for number in 1..200 {
        kept.tell(&task.space.at(number).unwrap(), number as f32).unwrap();
        assert_eq!(kept.tuner().best_observed().map(|best| best.value), Some(0.0), "after {number}");
    }
}

/// A failure after a copied outcome is carried too: the outcome must not come back to life.
///
/// promise: Persistent::tell | an outcome that a later failure replaced | it does not come back when pages are dropped
#[test]
fn an_outcome_that_a_failure_replaced_stays_replaced() {
    let (mut flash, mut tuner) = (FourPages::new(), Box::new(Large::new()));
    let task = task_when(WhenFull::ForgetWorst);
    let layout = Layout { records: 4, ..FOUR_PAGES };
    let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, layout).unwrap();
    let flaky = task.space.at(0).unwrap();
    kept.tell(&flaky, 0.0).unwrap();
    tell_numbers(&mut kept, 1..16);
    // Its page is dropped and its outcome copied. From now on it fails, then works again.
    kept.tell_failed(&flaky).unwrap();
    kept.tell(&flaky, 2.0).unwrap();
    for number in 16..60 {
        kept.tell(&task.space.at(number).unwrap(), number as f32).unwrap();
        let held = kept.tuner().observations().find(|o| o.combination == flaky).unwrap();
        assert_eq!((held.value, held.repeats), (2.0, 1), "after {number}");
    }
}

/// A record rots in the page that the next boot drops: the boot says so.
///
/// promise: Persistent::open | a damaged record in a page that this boot drops | counted in `Boot::damaged`
#[test]
fn damage_in_a_page_that_a_boot_drops_is_counted() {
    let (mut flash, mut tuner) = (FourPages::new(), Box::new(Large::new()));
    let task = task_when(WhenFull::ForgetWorst);
    let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
    tell_numbers(&mut kept, 0..31);
    drop(kept);
    // The power fails after the entry that fills the last page, before the first page is dropped.
    let cut = Cut::at(&mut flash, 0, Damage::All);
    let (mut kept, _) = Persistent::open(&mut tuner, &task, cut, FOUR_PAGES).unwrap();
    assert!(matches!(kept.tell(&task.space.at(31).unwrap(), 31.0), Ok(Stored::No(_))));
    drop(kept);
    let mut byte = [0];
    flash.read(30, &mut byte).unwrap();
    flash.poke(30, &[byte[0] ^ 1]).unwrap();
    let (_, boot) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
    assert!(boot.damaged > 0, "{boot:?}");
}

/// Outcomes from before a restart are kept to rebuild its queue. They must not come back as current
/// ones when the page with the restart is dropped, nor push out what was measured since.
///
/// promise: Persistent::restart | the page with the restart is dropped | what was measured before it stays forgotten
#[test]
fn outcomes_from_before_a_restart_stay_forgotten() {
    for records in 1..5 {
        let (mut flash, mut tuner) = (FourPages::new(), Box::new(Large::new()));
        let task = task_when(WhenFull::ForgetWorst);
        let layout = Layout { records, ..FOUR_PAGES };
        let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, layout).unwrap();
        tell_numbers(&mut kept, 0..8);
        kept.restart();
        for number in 100..160 {
            kept.tell(&task.space.at(number).unwrap(), number as f32).unwrap();
            let least = kept.tuner().observations().map(|o| o.value).fold(f32::INFINITY, f32::min);
            assert_eq!(least, 100.0, "{records} records per page, after {number}");
        }
    }
}
