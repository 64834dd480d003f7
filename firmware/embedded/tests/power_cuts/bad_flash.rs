//! Bad flash: damaged, foreign, stuck.

use embedded_storage::nor_flash::ReadNorFlash as _;
use trimtab_embedded::flash::Simulated as _;
use trimtab_embedded::journal::Trouble;

use super::*;

/// After a changed bit or byte of a full flash a boot goes on, and never has an observation that
/// nobody made.
///
/// promise: Persistent::open | a changed bit or byte anywhere in the flash | the boot goes on and never has an outcome that nobody measured
#[test]
fn corrupt_flash_never_leads_to_a_wrong_answer() {
    let (sound, _, _, expected) = uncut();
    let truth: Vec<_> = (0..1920).filter_map(|index| task().space.at(index)).map(|c| (c, measure(&c))).collect();
    let mut random = Random::new(5, 0);
    let mut noticed = 0;
    for round in 0..600 {
        let mut flash = sound.clone();
        let (offset, mut byte) = (random.below((PAGES * PAGE) as u32), [0]);
        flash.read(offset, &mut byte).unwrap();
        flash
            .poke(offset, &[if round % 2 == 0 { byte[0] ^ 1 << random.below(8) } else { random.bits() as u8 }])
            .unwrap();
        let mut tuner = Box::new(Six::new());
        let (mut kept, boot) = Persistent::open(&mut tuner, &task(), &mut flash, LAYOUT).unwrap();
        assert_eq!((boot.found, boot.trouble), (Some(Found::Log), None), "two sound pages are enough");
        for o in kept.tuner().observations() {
            let (_, cost) = truth.iter().find(|(c, _)| *c == o.combination).unwrap();
            assert_eq!((!o.is_failure()).then_some(o.value), *cost);
        }
        let same = kept.tuner().observations().map(|o| o.combination).eq(expected.observations.iter().map(|o| o.0));
        noticed += u32::from(boot.damaged > 0 || !same);
        let c = kept.ask().unwrap().combination;
        assert!(!matches!(kept.tell(&c, 1.0), Ok(Stored::No(_)) | Err(_)));
    }
    assert!(noticed > 200, "only {noticed} of 600 hit something");
}

/// Flash full of zeros or noise.
///
/// promise: Persistent::open | flash full of zeros or noise | a fresh start: `Found::Unreadable`
#[test]
fn garbage_is_a_fresh_start() {
    let expected = uncut().3;
    let mut random = Random::new(9, 0);
    for round in 0..20 {
        let mut flash = Flash::new();
        let noise: Vec<u8> = (0..PAGES * PAGE).map(|_| if round == 0 { 0 } else { random.bits() as u8 }).collect();
        flash.poke(0, &noise).unwrap();
        let mut measured = Measured::default();
        let (found, end) = boot(&mut flash, &mut measured);
        assert_eq!((found.found, found.records, measured.all), (Some(Found::Unreadable), 0, 44));
        assert_eq!(end.as_ref(), Some(&expected));
    }
}

/// promise: Persistent::open | a log of another tuner, meaning or version | not used: `Found::Foreign`, `Found::Version`
#[test]
fn another_tuners_log_is_left_alone() {
    let (sound, ..) = uncut();
    let others: [fn(&mut Task<6>); 4] = [
        |task| task.seed = 8,
        |task| task.meaning = 1,
        |task| task.config.initial = 5,
        |task| {
            let mut knobs = KNOBS;
            knobs[1] = Knob::nominal(8);
            task.space = Space::new(&knobs).unwrap();
        },
    ];
    for change in others {
        let (mut flash, mut other) = (sound.clone(), task());
        change(&mut other);
        let mut tuner = Box::new(Six::new());
        let (kept, boot) = Persistent::open(&mut tuner, &other, &mut flash, LAYOUT).unwrap();
        assert_eq!((boot.found, boot.records, kept.tuner().len()), (Some(Found::Foreign), 0, 0));
        // Now the flash belongs to the other tuner, and its own log is foreign.
        for (task, found) in [(&other, Found::Log), (&task(), Found::Foreign)] {
            let (_, boot) = Persistent::open(&mut tuner, task, &mut flash, LAYOUT).unwrap();
            assert_eq!((boot.found, boot.records), (Some(found), 0));
        }
    }
    // A version from the future: bytes 4..8 of each page.
    let mut flash = sound.clone();
    for page in 0..PAGES {
        flash.poke((page * PAGE + 4) as u32, &[9, 0, !9, !0]).unwrap();
    }
    let (found, end) = boot(&mut flash, &mut Measured::default());
    assert_eq!((found.found, found.records, end), (Some(Found::Version(9)), 0, Some(uncut().3)));
}

/// Flash that has stopped working.
struct Stuck<'a> {
    flash: &'a mut Flash,
    writes: bool,
    /// It reports success and does nothing.
    silent: bool,
}

impl embedded_storage::nor_flash::ErrorType for Stuck<'_> {
    type Error = embedded_storage::nor_flash::NorFlashErrorKind;
}

impl embedded_storage::nor_flash::ReadNorFlash for Stuck<'_> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.flash.read(offset, bytes).map_err(|_| Self::Error::Other)
    }

    fn capacity(&self) -> usize {
        self.flash.capacity()
    }
}

impl NorFlash for Stuck<'_> {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = PAGE;

    fn erase(&mut self, _: u32, _: u32) -> Result<(), Self::Error> {
        if self.silent { Ok(()) } else { Err(Self::Error::Other) }
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        match (self.writes, self.silent) {
            (true, _) => self.flash.write(offset, bytes).map_err(|_| Self::Error::Other),
            (false, true) => Ok(()),
            (false, false) => Err(Self::Error::Other),
        }
    }
}

/// promise: Persistent::tell | flash that refuses or forgets writes | `Stored::No`, tuning goes on in RAM, the log stays readable
#[test]
fn flash_that_stopped_working_is_reported_and_tuning_goes_on() {
    let (sound, ..) = uncut();
    for (writes, silent, trouble) in [
        (false, false, Trouble::Refused),
        (false, true, Trouble::Worn),
        (true, false, Trouble::Refused),
        (true, true, Trouble::Worn),
    ] {
        let mut flash = sound.clone();
        let mut tuner = Box::new(Six::new());
        let stuck = Stuck { flash: &mut flash, writes, silent };
        let (mut kept, boot) = Persistent::open(&mut tuner, &task(), stuck, LAYOUT).unwrap();
        assert_eq!((boot.found, boot.records, boot.trouble), (Some(Found::Log), 22, None));
        let mut stored = Vec::new();
        for _ in 0..20 {
            let c = kept.ask().unwrap().combination;
            stored.push(match measure(&c) {
                Some(cost) => kept.tell(&c, cost).unwrap(),
                None => kept.tell_failed(&c).unwrap(),
            });
        }
        // The last page has five of eight entries. Three more fill it, and the next page cannot
        // begin.
        let good = stored.iter().take_while(|stored| !matches!(stored, Stored::No(_))).count();
        assert_eq!(stored[..good], [Stored::Yes, Stored::Yes, Stored::PageFull][..if writes { 3 } else { 0 }]);
        assert!(stored[good..].iter().all(|stored| *stored == Stored::No(trouble)), "{stored:?}");
        assert_eq!((kept.trouble(), kept.tuner().len()), (Some(trouble), 16));
        // The log is still there, and a boot with sound flash continues from it.
        let (_, boot) = Persistent::open(&mut tuner, &task(), &mut flash, LAYOUT).unwrap();
        assert!(boot.found == Some(Found::Log) && boot.records >= 15, "{boot:?}");
    }
}

/// promise: Persistent::open | a layout that does not fit | `Trouble::Layout`, tuning goes on in RAM
#[test]
fn a_layout_that_does_not_fit_is_reported_and_tuning_goes_on() {
    for layout in [
        Layout { range: 0..PAGE as u32, ..LAYOUT },
        Layout { range: 4..(2 * PAGE) as u32, ..LAYOUT },
        Layout { range: 0..(4 * PAGE) as u32, ..LAYOUT },
        Layout { records: 0, ..LAYOUT },
        Layout { records: 9, ..LAYOUT },
    ] {
        let (mut flash, mut tuner) = (Flash::new(), Box::new(Six::new()));
        let (mut kept, boot) = Persistent::open(&mut tuner, &task(), &mut flash, layout.clone()).unwrap();
        assert_eq!((boot.found, boot.trouble), (None, Some(Trouble::Layout)), "{layout:?}");
        let c = kept.ask().unwrap().combination;
        assert_eq!(kept.tell(&c, 1.0).unwrap(), Stored::No(Trouble::Layout));
    }
}

/// A stricter predicate without another `meaning`: its records are not replayed, and counted.
///
/// promise: Persistent::open | records that the tuner refuses, since its predicate has changed | left out and counted in `Boot::damaged`
#[test]
fn a_record_that_the_tuner_refuses_is_counted() {
    let (mut flash, mut tuner) = (Flash::new(), Box::new(Six::new()));
    let old = Task { space: task().space.with_feasible(&|_| true), ..task() };
    let new = Task { space: task().space.with_feasible(&|c| c.level(0) == 0), ..task() };
    let (mut kept, _) = Persistent::open(&mut tuner, &old, &mut flash, LAYOUT).unwrap();
    let tell = |kept: &mut Persistent<'_, &mut Flash, 6, 13, 0, 16, 16, 136>, levels: [trimtab::Level; 6]| {
        kept.tell(&old.space.combination(&levels).unwrap(), 1.0).unwrap();
    };
    tell(&mut kept, [0, 1, 0, 0, 0, 0]);
    tell(&mut kept, [1, 1, 0, 0, 0, 0]);
    tell(&mut kept, [1, 2, 0, 0, 0, 0]);
    drop(kept);
    let (_, boot) = Persistent::open(&mut tuner, &new, &mut flash, LAYOUT).unwrap();
    assert_eq!((boot.found, boot.records, boot.damaged), (Some(Found::Log), 1, 2));
}
