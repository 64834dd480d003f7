//! Other ways to lose a log: a layout that changed, a bus that stumbles.

use embedded_storage::nor_flash::{ErrorType, NorFlashError, NorFlashErrorKind, ReadNorFlash};

use super::*;

type SixPages = RamFlash<6, PAGE, 4>;

/// An update of the firmware gave the journal more, fewer or larger pages: places and slots are others,
/// so what is read would be an old part of the log.
///
/// promise: Persistent::open | another layout than the log was written with | not used: `Found::Foreign` or `Unreadable`, never an old part of it
#[test]
fn a_log_of_another_layout_is_not_read_in_part() {
    let layout = |pages: u32, records: u16| Layout { range: 0..pages * PAGE as u32, records };
    for told in [3, 9, 14, 20, 33, 50] {
        let (mut flash, mut tuner) = (SixPages::new(), Box::new(Six::new()));
        let (mut kept, _) = Persistent::open(&mut tuner, &task(), &mut flash, layout(4, 6)).unwrap();
        for number in 0..told {
            kept.tell(&task().space.at(number).unwrap(), number as f32).unwrap();
        }
        drop(kept);
        for other in [layout(3, 6), layout(5, 6), layout(6, 6), layout(4, 3), layout(4, 5), layout(4, 8)] {
            let mut flash = flash.clone();
            let (kept, boot) = Persistent::open(&mut tuner, &task(), &mut flash, other.clone()).unwrap();
            // Unreadable if every header is at another place than its number says.
            assert!(matches!(boot.found, Some(Found::Foreign | Found::Unreadable)), "{told} told, {other:?}, {boot:?}");
            assert_eq!((boot.records, kept.total()), (0, 0), "{told} told, {other:?}");
        }
        let (_, boot) = Persistent::open(&mut tuner, &task(), &mut flash, layout(4, 6)).unwrap();
        assert_eq!((boot.found, boot.damaged), (Some(Found::Log), 0), "{told} told");
    }
}

/// A bus that stumbles: a read fails, and the same one succeeds a moment later.
struct Stumbling<F> {
    flash: F,
    random: Random,
    fails: u8,
}

#[derive(Debug)]
struct Glitch;

impl NorFlashError for Glitch {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

impl<F> ErrorType for Stumbling<F> {
    type Error = Glitch;
}

impl<F: NorFlash> ReadNorFlash for Stumbling<F> {
    const READ_SIZE: usize = F::READ_SIZE;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Glitch> {
        if self.fails < 2 && self.random.below(3) == 0 {
            self.fails += 1;
            return Err(Glitch);
        }
        self.fails = 0;
        self.flash.read(offset, bytes).map_err(|_| Glitch)
    }

    fn capacity(&self) -> usize {
        self.flash.capacity()
    }
}

impl<F: NorFlash> NorFlash for Stumbling<F> {
    const WRITE_SIZE: usize = F::WRITE_SIZE;
    const ERASE_SIZE: usize = F::ERASE_SIZE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Glitch> {
        self.flash.erase(from, to).map_err(|_| Glitch)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Glitch> {
        self.flash.write(offset, bytes).map_err(|_| Glitch)
    }
}

/// promise: Persistent::open | a read of the flash fails, and succeeds when it is tried again | nothing is lost, the same bits
#[test]
fn a_read_that_fails_now_and_then_loses_nothing() {
    let (sound, _, _, expected) = uncut();
    for seed in 0..40 {
        let stumbling = |flash| Stumbling { flash, random: Random::new(seed, 0), fails: 0 };
        let mut flash = Flash::new();
        let (_, end) = boot(stumbling(&mut flash), &mut Measured::default());
        assert_eq!(end.as_ref(), Some(&expected), "seed {seed}");
        let mut flash = sound.clone();
        let (found, end) = boot(stumbling(&mut flash), &mut Measured::default());
        assert_eq!((found.found, found.damaged), (Some(Found::Log), 0), "seed {seed}");
        assert_eq!(end.as_ref(), Some(&expected), "seed {seed}");
    }
}
