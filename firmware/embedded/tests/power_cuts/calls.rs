//! Calls of a persistent tuner that only pass on, and those that differ without a log.

use embedded_storage::nor_flash::ReadNorFlash as _;
use trimtab::{Event, Record};
use trimtab_embedded::journal::fingerprint;
use trimtab_embedded::objective::{Objective, Settled, tune};

use super::*;

type SixCache = trimtab::tuner_cache!(KNOBS, observations: 16, rows: 16);

struct Board(Option<Combination<6>>);

impl Objective<6> for Board {
    type Error = ();

    fn apply(&mut self, c: &Combination<6>) -> Result<(), ()> {
        self.0 = Some(*c);
        Ok(())
    }

    fn measure(&mut self) -> Result<f32, ()> {
        self.0.as_ref().and_then(measure).ok_or(())
    }
}

#[test]
fn an_ask_with_a_cache_proposes_the_same() {
    let (mut first, mut second, mut cache) = (Box::new(Six::new()), Box::new(Six::new()), SixCache::new());
    let (mut plain, _) = Persistent::open(&mut first, &task(), Flash::new(), LAYOUT).unwrap();
    let (mut cached, _) = Persistent::open(&mut second, &task(), Flash::new(), LAYOUT).unwrap();
    for i in 0..14 {
        let proposal = plain.ask().unwrap();
        assert_eq!(cached.ask_with(&mut cache), Ok(proposal), "measurement {i}");
        assert_eq!(cached.tell(&proposal.combination, i as f32), plain.tell(&proposal.combination, i as f32));
    }
}

/// The loop ends where that of a tuner without a log does, and at the same combination.
#[test]
fn a_run_with_a_log_settles_as_one_without() {
    type Long = trimtab::tuner!(KNOBS, observations: 60, rows: 16);
    let layout = Layout { range: 0..3 * 1024, records: 30 };
    let (mut first, mut second) = (Box::new(Long::new()), Box::new(Long::new()));
    first.init(task().space, task().config, task().seed).unwrap();
    let (mut kept, _) = Persistent::open(&mut second, &task(), RamFlash::<3, 1024, 4>::new(), layout).unwrap();
    for tolerance in [0.0, 1e9] {
        let until = Settled { tolerance, most: 30 };
        let best = tune(&mut *first, &mut Board(None), until).unwrap();
        assert_eq!(tune(&mut kept, &mut Board(None), until).unwrap(), best);
        assert!(best.is_some());
        assert_eq!(digest(kept.tuner()), digest(&first));
    }
    assert!((31..55).contains(&kept.total()), "the second run ends before its 30: {}", kept.total());
}

/// After a reset in the middle of a measurement: the combination counts as failed, in the log too.
#[test]
fn giving_up_is_a_failure_in_the_log() {
    let (mut flash, mut tuner) = (Flash::new(), Box::new(Six::new()));
    let (mut kept, _) = Persistent::open(&mut tuner, &task(), &mut flash, LAYOUT).unwrap();
    let next = kept.ask().unwrap().combination;
    drop(kept);
    let (mut kept, _) = Persistent::open(&mut tuner, &task(), &mut flash, LAYOUT).unwrap();
    assert_eq!((kept.give_up(|_| false), kept.rebuilds()), (Ok(None), 0));
    assert_eq!(kept.give_up(|c| *c == next), Ok(Some(next)));
    assert_eq!((kept.tuner().failures(), kept.total(), kept.rebuilds()), (1, 1, 0));
    assert_ne!(kept.ask().unwrap().combination, next);
    drop(kept);
    let (kept, boot) = Persistent::open(&mut tuner, &task(), &mut flash, LAYOUT).unwrap();
    assert_eq!((boot.records, kept.tuner().failures()), (1, 1));
}

#[test]
fn without_a_log_the_calls_answer_for_this_boot() {
    let layout = Layout { records: 0, ..LAYOUT };
    let mut tuner = Box::new(Six::new());
    let (mut kept, _) = Persistent::open(&mut tuner, &task(), Flash::new(), layout).unwrap();
    for told in 0..3 {
        assert_eq!((kept.total(), kept.room(), kept.rebuilds()), (told, usize::MAX, 0));
        let c = kept.ask().unwrap().combination;
        kept.tell(&c, 1.0).unwrap();
    }
    let c = kept.ask().unwrap().combination;
    assert_eq!(kept.give_up(|_| false), Ok(None));
    assert!(kept.tuner().pending().contains(&c) && kept.tuner().pending().len() == 1);
    kept.history(|_| unreachable!("there is no log")).unwrap();
    kept.restart();
    assert_eq!((kept.total(), kept.tuner().queue().len()), (0, 3));
    assert_eq!((kept.give_up(|_| false), kept.tuner().queue().len()), (Ok(None), 2));
}

/// The fingerprint in the flash is that of the sizes and the range: logs in the field have it.
#[test]
fn the_first_page_has_the_fingerprint_of_knobs_sizes_and_range() {
    type Limited = trimtab::tuner!(KNOBS, observations: 16, rows: 16, limits: 1);
    let layout = Layout { range: PAGE as u32..(PAGES * PAGE) as u32, records: 4 };
    let sizes = [6, 13, 0, 16, 16, PAGE, PAGES * PAGE, 4, 1];
    let written = |flash: &mut Flash| {
        let mut bytes = [0; 8];
        flash.read((PAGE + 16) as u32, &mut bytes).unwrap();
        u64::from_le_bytes(bytes)
    };
    let of = |sizes: &[usize]| fingerprint(&task().space, &task().config, task().seed, sizes, task().meaning);
    let mut flash = Flash::new();
    Persistent::open(&mut Box::new(Six::new()), &task(), &mut flash, layout.clone()).unwrap();
    assert_eq!(written(&mut flash), of(&sizes[..8]));
    let mut flash = Flash::new();
    let (_, boot) = Persistent::open(&mut Box::new(Limited::new()), &task(), &mut flash, layout).unwrap();
    assert_eq!((boot.trouble, written(&mut flash)), (None, of(&sizes)));
}

/// Noise where a page would be that came before the first one: of four pages, the last.
#[test]
fn garbage_before_the_first_page_is_not_part_of_the_log() {
    use trimtab_embedded::flash::Simulated as _;
    let layout = Layout { range: 0..4 * PAGE as u32, ..LAYOUT };
    let (mut flash, mut tuner) = (RamFlash::<4, PAGE, 4>::new(), Box::new(Six::new()));
    flash.poke(3 * PAGE as u32, &[0x55; PAGE]).unwrap();
    let (mut kept, boot) = Persistent::open(&mut tuner, &task(), &mut flash, layout.clone()).unwrap();
    assert_eq!(boot.found, Some(Found::Unreadable));
    kept.tell(&task().space.at(5).unwrap(), 1.0).unwrap();
    drop(kept);
    let (_, boot) = Persistent::open(&mut tuner, &task(), &mut flash, layout).unwrap();
    assert_eq!((boot.found, boot.records, boot.damaged), (Some(Found::Log), 1, 0));
}

/// Only an outcome is written as one that is anew: what replaces nothing must not replace in the log.
#[test]
fn only_an_outcome_of_a_forgotten_combination_is_written_anew() {
    let task =
        Task { config: Config { when_full: WhenFull::ForgetWorst, observations: 3, ..Config::default() }, ..task() };
    let (mut flash, mut tuner) = (Flash::new(), Box::new(Six::new()));
    let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, LAYOUT).unwrap();
    let c = |number| task.space.at(number).unwrap();
    // The fourth outcome evicts the first.
    for (number, cost) in [(0, 9.0), (1, 1.0), (2, 2.0), (3, 3.0)] {
        kept.tell(&c(number), cost).unwrap();
    }
    assert!(kept.tuner().observations().all(|o| o.combination != c(0)));
    kept.replay(&Record::new(&c(0), Event::Enqueued)).unwrap();
    kept.tell(&c(0), 0.5).unwrap();
    kept.tell(&c(1), 1.0).unwrap();
    drop(kept);
    let kinds = (0..7).map(|slot| {
        let mut kind = [0];
        flash.read(28 + 20 * slot + 1, &mut kind).unwrap();
        kind[0]
    });
    assert!(kinds.eq([0, 0, 0, 0, 0, 5, 0]), "the sixth alone is anew");
}
