//! Flash with a checksum per word: a torn word cannot be read, and costs its slot, not the log.

use embedded_storage::nor_flash::{ErrorType, NorFlashErrorKind, ReadNorFlash};
use trimtab_embedded::flash::{Ecc, Simulated as _};
use trimtab_embedded::journal::Trouble;

use super::*;

/// As on STM32 L4 and G4: words of eight bytes.
const WORD: usize = 8;
const ECC_PAGE: usize = 440;
const WORDS: usize = PAGES * ECC_PAGE / WORD;
type EccFlash = Ecc<RamFlash<PAGES, ECC_PAGE, WORD>, WORDS>;
const ECC_LAYOUT: Layout = Layout { range: 0..(PAGES * ECC_PAGE) as u32, records: 8 };

fn flash() -> EccFlash {
    Ecc::new(RamFlash::new())
}

fn uncut() -> (EccFlash, u32, usize, End) {
    let (mut flash, mut measured) = (flash(), Measured::default());
    let mut powered = Cut::never(&mut flash);
    let (_, end) = boot_in(ECC_LAYOUT, &mut powered, &mut measured);
    let operations = powered.operations();
    (flash, operations, measured.all, end.expect("the power stays on"))
}

#[test]
fn a_torn_write_or_erase_repeats_at_most_one_measurement() {
    let (_, operations, measurements, expected) = uncut();
    assert_eq!(operations, 62, "as on flash without checksums");
    for operation in 0..operations {
        for seed in 0..6 {
            let (mut flash, mut measured) = (flash(), Measured::default());
            let cut = Cut::at(&mut flash, operation, Damage::Torn(seed));
            assert_eq!(boot_in(ECC_LAYOUT, cut, &mut measured).1, None, "operation {operation} was cut");
            let (found, end) = boot_in(ECC_LAYOUT, &mut flash, &mut measured);
            assert_eq!(end.as_ref(), Some(&expected), "torn at {operation}, {seed}, {found:?}");
            assert!(measured.all <= measurements + 1, "torn at {operation}, {seed}: {} measured", measured.all);
            assert!(found.damaged <= 1, "{found:?}");
        }
    }
}

#[test]
fn torn_words_in_the_recovery_from_torn_words_change_nothing_either() {
    let (_, operations, measurements, expected) = uncut();
    let mut random = Random::new(4, 0);
    for _ in 0..100 {
        let (mut flash, mut measured) = (flash(), Measured::default());
        let mut cuts = 0;
        let end = loop {
            let most = if cuts == 1 { 4 } else { operations };
            let (operation, seed) = (random.below(most), random.bits());
            let (_, end) = match cuts {
                0..4 => boot_in(ECC_LAYOUT, Cut::at(&mut flash, operation, Damage::Torn(seed)), &mut measured),
                _ => boot_in(ECC_LAYOUT, &mut flash, &mut measured),
            };
            match end {
                Some(end) => break end,
                None if cuts < 4 => cuts += 1,
                None => panic!("the log is given up after {cuts} cuts"),
            }
        };
        assert_eq!(end, expected, "after {cuts} cuts");
        assert!(measured.all <= measurements + cuts);
    }
}

/// Years, not cuts: any word of a full log becomes unreadable. Its slot is passed over and counted,
/// and the page is sound again when the ring has come round.
#[test]
fn an_unreadable_word_costs_its_slot_and_is_repaired_by_page_turns() {
    let (sound, .., expected) = uncut();
    let records = |end: &End| end.observations.len();
    let mut counted = 0;
    for word in 0..WORDS {
        let mut flash = sound.clone();
        flash.tear((word * WORD) as u32, WORD).unwrap();
        let mut tuner = Box::new(Six::new());
        let (mut kept, boot) = Persistent::open(&mut tuner, &task(), &mut flash, ECC_LAYOUT).unwrap();
        assert_eq!((boot.found, boot.trouble), (Some(Found::Log), None), "word {word}");
        assert!(boot.damaged <= 1, "word {word}: {boot:?}");
        let has = kept.tuner().observations().filter(|o| expected.observations.iter().any(|e| e.0 == o.combination));
        assert!(has.count() + 1 >= records(&expected), "word {word} took more than its slot");
        counted += boot.damaged;
        for _ in 0..24 {
            let c = kept.ask().unwrap().combination;
            assert!(!matches!(kept.tell(&c, 1.0).unwrap(), Stored::No(_)), "word {word}");
        }
        let mut tuner = Box::new(Six::new());
        let (_, boot) = Persistent::open(&mut tuner, &task(), &mut flash, ECC_LAYOUT).unwrap();
        assert_eq!((boot.found, boot.damaged), (Some(Found::Log), 0), "word {word} after three page turns");
    }
    // Slots of three words, 14 per page: most of the flash is slots, and each torn one is counted.
    assert!(counted >= 3 * 3 * 14 - 9, "only {counted} of {WORDS} were counted");
}

/// Flash that answers no read at all, such as a chip on a bus that is not up yet.
struct Silent<'a>(&'a mut EccFlash);

impl ErrorType for Silent<'_> {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Silent<'_> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, _: u32, _: &mut [u8]) -> Result<(), Self::Error> {
        Err(NorFlashErrorKind::Other)
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

impl NorFlash for Silent<'_> {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = ECC_PAGE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        self.0.erase(from, to).map_err(|_| NorFlashErrorKind::Other)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.write(offset, bytes).map_err(|_| NorFlashErrorKind::Other)
    }
}

#[test]
fn a_flash_that_answers_nothing_is_left_alone() {
    let (mut flash, .., expected) = uncut();
    let before = flash.clone();
    let mut tuner = Box::new(Six::new());
    let (mut kept, boot) = Persistent::open(&mut tuner, &task(), Silent(&mut flash), ECC_LAYOUT).unwrap();
    assert_eq!((boot.found, boot.trouble), (None, Some(Trouble::Refused)));
    let c = kept.ask().unwrap().combination;
    assert_eq!(kept.tell(&c, 1.0).unwrap(), Stored::No(Trouble::Refused));
    assert!(flash == before, "not a byte of the log has changed");
    assert_eq!(boot_in(ECC_LAYOUT, &mut flash, &mut Measured::default()).1, Some(expected));
}
