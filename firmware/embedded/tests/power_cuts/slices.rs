//! A persistent tuner in slices, with a cache, and cut off between two of them.

use trimtab::{Event, Record};

use super::*;

type SixCache = trimtab::tuner_cache!(KNOBS, observations: 16, rows: 16);

/// In slices with a cache or in one go: the same log and the same bits, page turns included.
#[test]
fn slices_and_a_cache_change_no_bit() {
    let (mut first, mut second, mut cache) = (Box::new(Six::new()), Box::new(Six::new()), SixCache::new());
    let (mut whole, _) = Persistent::open(&mut first, &task(), Flash::new(), LAYOUT).unwrap();
    let (mut sliced, _) = Persistent::open(&mut second, &task(), Flash::new(), LAYOUT).unwrap();
    for i in 0..BUDGET {
        let proposal = whole.ask().unwrap();
        sliced.ask_begin().unwrap();
        let same = loop {
            if let Some(proposal) = sliced.ask_step_with(1, &mut cache).unwrap() {
                break proposal;
            }
        };
        assert_eq!(same, proposal, "measurement {i}");
        let event = measure(&proposal.combination).map_or(Event::Failed, Event::Told);
        let record = Record::new(&proposal.combination, event);
        assert_eq!(sliced.replay_begin(&record), whole.replay(&record));
        while sliced.tell_step(1) {}
        assert_eq!(digest(sliced.tuner()), digest(whole.tuner()), "measurement {i}");
    }
    assert!(whole.rebuilds() > 0, "no page was dropped");
}

/// The power fails after `replay_begin`, before any step: the outcome is in the log.
#[test]
fn an_outcome_is_in_flash_before_the_tuner_has_learned() {
    let (mut flash, mut tuner) = (Flash::new(), Box::new(Six::new()));
    for i in 0..12 {
        let (mut kept, boot) = Persistent::open(&mut tuner, &task(), &mut flash, LAYOUT).unwrap();
        assert_eq!(boot.records, i);
        let c = kept.ask().unwrap().combination;
        let event = measure(&c).map_or(Event::Failed, Event::Told);
        assert_eq!(kept.replay_begin(&Record::new(&c, event)).map(|stored| matches!(stored, Stored::No(_))), Ok(false));
    }
}
