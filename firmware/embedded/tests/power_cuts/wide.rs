//! Ranges: levels above 255 in flash and on the wire.

use super::*;
use trimtab::Event;
use trimtab_embedded::telemetry::{About, Cause, Reporter, check};

const WIDE: [Knob; 3] = [Knob::range(0.0, 4095.0, 1.0), Knob::nominal(3), Knob::log_range(1.0, 1e4, 65_536)];
type Wide = trimtab::tuner!(WIDE, observations: 12, rows: 32);

fn wide_task() -> Task<3> {
    Task { space: Space::new(&WIDE).unwrap(), config: Config::default(), seed: 3, meaning: 0 }
}

fn cost(c: &Combination<3>) -> f32 {
    (f32::from(c.level(0)) - 3000.0).abs() + f32::from(c.level(1)) + f32::from(c.level(2)) * 0.01
}

/// promise: Persistent::open | a space with a range, after a power cut | all levels are back, to the last of 65 536
#[test]
fn wide_levels_survive_a_reboot() {
    let mut flash = RamFlash::<3, 512, 4>::new();
    let layout = Layout { range: 0..3 * 512, records: 8 };
    let mut tuner = Box::new(Wide::new());
    let (mut kept, _) = Persistent::open(&mut tuner, &wide_task(), &mut flash, layout.clone()).unwrap();
    let last = wide_task().space.combination(&[4095, 2, 65_535]).unwrap();
    kept.tell(&last, 9.0).unwrap();
    for _ in 0..7 {
        let c = kept.ask().unwrap().combination;
        kept.tell(&c, cost(&c)).unwrap();
    }
    drop(kept);
    let before: Vec<_> = tuner.observations().collect();
    assert!(before.iter().any(|own| own.combination == last));
    let mut again = Box::new(Wide::new());
    let (mut kept, boot) = Persistent::open(&mut again, &wide_task(), &mut flash, layout).unwrap();
    assert_eq!((boot.records, boot.damaged), (8, 0));
    let next = kept.ask().unwrap();
    drop(kept);
    assert_eq!(again.observations().collect::<Vec<_>>(), before);
    assert_eq!(tuner.ask().unwrap(), next);
}

/// A PC repeats the run of a chip with ranges from its frames, to the bit.
#[test]
fn a_stream_of_wide_levels_is_repeated() {
    let mut tuner = Box::new(Wide::new());
    tuner.init(wide_task().space, Config::default(), 3).unwrap();
    let mut room = [0; 2048];
    let mut port = &mut room[..];
    let mut reporter = Reporter::new(&mut port);
    reporter.hello(&tuner, &About { name: "wide", cause: Cause::New, budget: 10 }).unwrap();
    for _ in 0..10 {
        let proposal = tuner.ask().unwrap();
        let value = cost(&proposal.combination);
        tuner.tell(&proposal.combination, value).unwrap();
        reporter.measured(&proposal, Event::Told(value)).unwrap();
    }
    reporter.end().unwrap();
    let checked = check(&mut Wide::new(), &wide_task().space, &room);
    assert_eq!(checked.map(|checked| (checked.proposals, checked.lost)), Ok((10, 0)));
    // Another range is another knob.
    let other = Space::new(&[Knob::range(0.0, 4094.0, 1.0), WIDE[1], WIDE[2]]).unwrap();
    assert!(check(&mut Wide::new(), &other, &room).is_err());
}
