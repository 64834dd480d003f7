//! What a chip reads: records, flash, the stream. Each function takes any bytes and panics if a
//! promise breaks. `cargo xtask fuzz` and the tests call the same ones.

use embedded_storage::nor_flash::ReadNorFlash as _;
use trimtab::{Config, Knob, MOST_LIMITS, Record, Space, WhenFull};
use trimtab_embedded::flash::{RamFlash, Simulated as _};
use trimtab_embedded::journal::Layout;
use trimtab_embedded::persistent::{Persistent, Stored, Task};
use trimtab_embedded::telemetry::{Decoder, check, wire};

/// A function with its name.
type Target = (&'static str, fn(&[u8]));

/// All functions with their names.
#[allow(dead_code, reason = "a fuzz target calls one of them")]
pub(crate) const TARGETS: [Target; 3] = [("record", record), ("journal", journal), ("stream", stream)];

pub(crate) const KNOBS: [Knob; 3] = [Knob::nominal(4), Knob::ranked(8), Knob::nominal(3)];
pub(crate) type Three = trimtab::tuner!(KNOBS, observations: 12, rows: 8);

pub(crate) const PAGE: usize = 256;
pub(crate) type Flash = RamFlash<3, PAGE, 4>;

pub(crate) fn task() -> Task<3> {
    let config = Config { when_full: WhenFull::ForgetOldest, ..Config::default() };
    let space = Space::new(&KNOBS).unwrap_or_else(|error| panic!("{error}"));
    Task { space, config, seed: 7, meaning: 0 }
}

pub(crate) const LAYOUT: Layout = Layout { range: 0..3 * PAGE as u32, records: 3 };

/// A record that is read is written as it was read, and belongs to the space or not.
pub(crate) fn record(bytes: &[u8]) {
    let Ok(record) = Record::<3>::from_bytes(bytes) else { return };
    let mut buffer = [0; Record::<3>::most_bytes(MOST_LIMITS)];
    let written = record.to_bytes(&mut buffer).expect("what fits a record fits its buffer");
    // Debug forms, because a value may be NaN.
    let again = Record::<3>::from_bytes(written).expect("written by this version");
    assert_eq!(format!("{record:?}"), format!("{again:?}"));
    let mut tuner = Three::new();
    let task = task();
    tuner.init(task.space.clone(), task.config, task.seed).expect("the space fits");
    if tuner.replay(&record).is_ok() {
        assert!(record.combination(&task.space).is_ok());
    }
}

/// Whatever the flash holds: a boot goes on, and what it confirms is there at the next boot.
pub(crate) fn journal(bytes: &[u8]) {
    let (mut flash, task) = (Flash::new(), task());
    let length = bytes.len().min(flash.capacity());
    flash.poke(0, &bytes[..length]).expect("within the flash");
    let mut tuner = Three::new();
    let (mut kept, boot) = Persistent::open(&mut tuner, &task, &mut flash, LAYOUT).expect("the space fits");
    assert!(boot.trouble.is_none(), "{boot:?}");
    let (before, c) = (kept.total(), kept.ask().expect("combinations are left").combination);
    let stored = kept.tell(&c, 0.5).expect("it was asked");
    assert!(matches!(stored, Stored::Yes | Stored::PageFull | Stored::OldestDropped), "{stored:?}");
    assert_eq!(kept.total(), before.wrapping_add(1));
    kept.prepare(&mut || ());
    let held: Vec<_> = kept.tuner().observations().map(|o| format!("{o:?}")).collect();
    drop(kept);
    let (kept, _) = Persistent::open(&mut tuner, &task, &mut flash, LAYOUT).expect("the space fits");
    let again: Vec<_> = kept.tuner().observations().map(|o| format!("{o:?}")).collect();
    // A page that nothing led to may be found now that its neighbour is sound: more, never less.
    assert!(held.iter().all(|o| again.contains(o)), "{held:?} is {again:?}");
}

/// Frames among any bytes come out as they went in, and a tuner can be fed with them.
pub(crate) fn stream(bytes: &[u8]) {
    let mut decoder = Decoder::<512>::new();
    let (mut plain, mut stuffed) = ([0; 600], [0; 600]);
    for byte in bytes {
        if let Some(Ok(received)) = decoder.push(*byte) {
            let written = wire::encode(received.number, &received.frame, &mut plain, &mut stuffed);
            let mut second = Decoder::<600>::new();
            let mut frames = 0;
            for byte in written.expect("what was read fits") {
                if let Some(read) = second.push(*byte) {
                    let read = read.expect("just written");
                    assert_eq!(format!("{:?}", read.frame), format!("{:?}", received.frame));
                    frames += 1;
                }
            }
            assert_eq!(frames, 1);
        }
    }
    // Ending in a mismatch is fine.
    let _ = check(&mut Three::new(), &task().space, bytes);
}
