use std::vec::Vec;

use embedded_storage::nor_flash::{NorFlash, ReadNorFlash as _};
use trimtab::{Event, Knob, Space};

use super::header::{Header, HeaderFault};
use super::*;
use crate::flash::{Cut, Damage, RamFlash, Simulated as _};

const LAYOUT: Layout = Layout { range: 0..512, records: 4 };

fn entry(value: f32) -> Entry<2> {
    let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)]).unwrap();
    Entry::Record(Record::new(&space.combination(&[3, 5]).unwrap(), Event::Told(value)))
}

fn entries<F: NorFlash>(journal: &mut Journal<F, 2>) -> (Vec<Entry<2>>, u32) {
    let mut read = Vec::new();
    let damaged = journal.read(|entry| read.push(entry)).unwrap();
    (read, damaged)
}

/// Appends, after turning a full page. Returns whether a page was dropped.
fn append<F: NorFlash>(journal: &mut Journal<F, 2>, entry: &Entry<2>) -> bool {
    let dropped = journal.is_full() && journal.turn(|_, _| None).unwrap();
    assert_eq!(journal.append(entry), Ok(true));
    dropped
}

/// The bytes by hand, checksums by Python's `zlib.crc32`: logs in the field have this layout.
#[test]
fn bytes_are_those_of_version_2() {
    let mut flash = RamFlash::<2, 256, 1>::new();
    let (mut journal, _) = Journal::<_, 2>::open(&mut flash, LAYOUT, 0x1122_3344_5566_7788).unwrap();
    for entry in [entry(0.5), Entry::Restarted] {
        journal.append(&entry).unwrap();
    }
    (0..2).for_each(|_| journal.begin().unwrap());
    let mut bytes = [0; 256];
    flash.read(0, &mut bytes).unwrap();
    let (header, slots) = bytes.split_at(28);
    assert_eq!(
        header,
        [
            0x54, 0x52, 0x4D, 0x4A, 2, 0, 0xFD, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22,
            0x11, 0x38, 0xF9, 0xC7, 0x49
        ]
    );
    // Length, record; the record's version, told, 0.5, two levels; checksum; ones.
    assert_eq!(slots[..16], [10, 0, 2, 0, 0, 0, 0, 0x3F, 2, 3, 5, 0x9D, 0x76, 0xE5, 0x79, 0xFF]);
    assert_eq!(slots[16..22], [1, 1, 0x37, 0xFE, 0x5D, 0x91]);
    // After twelve slots: two entries, then one boot; checksum. The same with two boots.
    let (slots, marks) = slots.split_at(12 * 16);
    assert_eq!(marks[..8], [0x11, 0, 0xD5, 0x14, 0x12, 0, 0xB3, 0x94]);
    assert!(slots[22..].iter().chain(&marks[8..]).all(|byte| *byte == 0xFF));
}

/// Words of any size, from single bytes to the 32 of the largest chips.
#[test]
fn every_word_size_works() {
    fn check<const WORD: usize>() {
        let mut flash = RamFlash::<3, 1024, WORD>::new();
        let layout = Layout { range: 1024..3072, records: 4 };
        for round in 0..10 {
            let (mut journal, found) = Journal::<_, 2>::open(&mut flash, layout.clone(), 1).unwrap();
            assert_eq!((found, journal.total()), if round == 0 { (Found::Blank, 0) } else { (Found::Log, round) });
            append(&mut journal, &entry(round as f32));
        }
        // Ten records in two pages of four: the last six are left, four of them in a full page.
        let (mut journal, _) = Journal::<_, 2>::open(&mut flash, layout, 1).unwrap();
        assert_eq!(entries(&mut journal), ((4..10).map(|value| entry(value as f32)).collect(), 0));
        assert_eq!(flash.erases(), &[0, 2, 1], "pages outside the range stay untouched");
    }
    check::<1>();
    check::<2>();
    check::<4>();
    check::<8>();
    check::<16>();
    check::<32>();
}

#[test]
fn spoiled_slots_are_passed_over_and_do_not_count() {
    let mut flash = RamFlash::<2, 256, 4>::new();
    Journal::<_, 2>::open(&mut flash, LAYOUT, 1).unwrap().0.append(&entry(1.0)).unwrap();
    // The next slot, and one far after it.
    for slot in [1, 9] {
        flash.poke(28 + slot * 16 + 3, &[0x7F]).unwrap();
    }
    let (mut journal, _) = Journal::<_, 2>::open(&mut flash, LAYOUT, 1).unwrap();
    for value in [2.0, 3.0] {
        assert_eq!(journal.append(&entry(value)), Ok(true));
    }
    assert!(!journal.is_full());
    assert_eq!(journal.append(&entry(4.0)), Ok(true));
    assert!(journal.is_full(), "four records, however many slots are spoiled");
    assert_eq!(entries(&mut journal), ([1.0, 2.0, 3.0, 4.0].map(entry).into(), 2));
}

#[test]
fn marks_are_counted_until_there_is_a_record() {
    let mut flash = RamFlash::<2, 256, 4>::new();
    let mut begun = |entry: Option<Entry<2>>| {
        let (mut journal, _) = Journal::<_, 2>::open(&mut flash, LAYOUT, 1).unwrap();
        match entry {
            Some(entry) => drop(journal.append(&entry).unwrap()),
            None => journal.begin().unwrap(),
        }
        Journal::<_, 2>::open(&mut flash, LAYOUT, 1).unwrap().0.begun()
    };
    assert_eq!([None, None, Some(entry(1.0)), None].map(&mut begun), [1, 2, 0, 1]);
}

#[test]
fn the_count_of_begun_boots_survives_a_page_turn() {
    let mut flash = RamFlash::<2, 256, 4>::new();
    let (mut journal, _) = Journal::<_, 2>::open(&mut flash, LAYOUT, 1).unwrap();
    journal.append(&entry(1.0)).unwrap();
    (0..3).for_each(|_| journal.begin().unwrap());
    assert_eq!(journal.turn(|_, _| None), Ok(false));
    assert_eq!(journal.begun(), 3);
    let (mut journal, _) = Journal::<_, 2>::open(&mut flash, LAYOUT, 1).unwrap();
    assert_eq!((journal.begun(), entries(&mut journal).0), (3, [entry(1.0)].into()));
}

/// Marks have words of their own; when these are used up, nothing is counted and nothing is lost.
#[test]
fn marks_take_no_slot() {
    let mut flash = RamFlash::<2, 256, 4>::new();
    let (mut journal, _) = Journal::<_, 2>::open(&mut flash, LAYOUT, 1).unwrap();
    for value in [1.0, 2.0, 3.0] {
        journal.append(&entry(value)).unwrap();
        (0..40).for_each(|_| journal.begin().unwrap());
    }
    assert_eq!(journal.append(&entry(4.0)), Ok(true));
    assert_eq!(entries(&mut journal), ([1.0, 2.0, 3.0, 4.0].map(entry).into(), 0));
}

/// A page of 1024 bytes has room for more: twice as many slots as records and the spare ones.
#[test]
fn sizes_by_hand() {
    let sizes = Sizes::of::<RamFlash<2, 1024, 1>, 2>(4, &[], 0).unwrap();
    // A slot: length, kind, ten bytes of a record at most, checksum.
    let slot = 2 + Record::<2>::bytes_for(&[], 0) + 4;
    assert_eq!(
        sizes,
        Sizes { header: 28, slot, slots: 2 * 4 + SPARE_SLOTS, mark: 4, marks: 4 * 4 + LEAST_MARKS, record: 10 }
    );
    // Two limits: their number and eight bytes. A range: one byte more per knob.
    assert_eq!(Sizes::of::<RamFlash<2, 1024, 1>, 2>(4, &[], 2).map(|own| own.slot), Some(slot + 1 + 8));
    let range = [trimtab::Knob::range(0.0, 4095.0, 1.0)];
    assert_eq!(Sizes::of::<RamFlash<2, 1024, 1>, 2>(4, &range, 0).map(|own| own.slot), Some(slot + 2));
    assert_eq!(Sizes::of::<RamFlash<2, 256, 1>, 2>(1000, &[], 0), None);
}

/// Any one bit of a header may change; two in its beginning may not.
#[test]
fn a_header_with_a_wrong_bit_is_repaired() {
    let header = Header { number: 7, before: 300, fingerprint: 0x1122_3344_5566_7788 };
    let (mut buffer, sizes) = ([0xFF; BUFFER], Sizes::of::<RamFlash<2, 256, 1>, 2>(4, &[], 0).unwrap());
    let bytes = header.write(&mut buffer, &sizes).unwrap().to_vec();
    for bit in (0..8 * 28).step_by(if cfg!(miri) { 61 } else { 1 }) {
        let mut wrong = bytes.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(Header::read(&wrong), Ok(header), "bit {bit}");
        if bit >= 8 {
            wrong[0] ^= 0x22;
            assert_eq!(Header::read(&wrong), Err(HeaderFault::Damaged), "bit {bit} and two more");
        }
    }
}

/// Of the page that is dropped, all records that matter and fit are carried over, best first.
#[test]
fn a_dropped_page_leaves_its_best_records() {
    const WIDE: Layout = Layout { range: 0..2048, records: 4 };
    let value = |record: &Record<2>| match record.event {
        Event::Told(value) => value,
        _ => f32::NAN,
    };
    for (most, carried) in [(9.0, &[1.0, 2.0, 3.0, 4.0][..]), (2.5, &[1.0, 2.0]), (0.0, &[])] {
        let mut flash = RamFlash::<2, 1024, 4>::new();
        let (mut journal, _) = Journal::<_, 2>::open(&mut flash, WIDE, 1).unwrap();
        [4.0, 2.0, 3.0, 1.0, 5.0, 6.0, 7.0, 8.0]
            .into_iter()
            .for_each(|value| assert!(!append(&mut journal, &entry(value))));
        assert_eq!(journal.turn(|record, _| Some(value(record)).filter(|value| *value < most)), Ok(true));
        journal.append(&entry(9.0)).unwrap();
        let kept: Vec<Entry<2>> = carried.iter().chain(&[5.0, 6.0, 7.0, 8.0, 9.0]).map(|value| entry(*value)).collect();
        assert_eq!(entries(&mut journal), (kept.clone(), 0));
        let (mut journal, _) = Journal::<_, 2>::open(&mut flash, WIDE, 1).unwrap();
        assert_eq!(entries(&mut journal), (kept, 0));
    }
}

/// A copy of the flash read on a PC has what the chip itself reads, after every append, restart and page
/// turn, and with damaged slots; with any other layout it is refused.
///
/// promise: journal::read_image | a size of pages or words with which no checksum fits | refused: `OtherRange`, `OtherLayout`, `Length` or `Geometry`
#[test]
#[cfg_attr(miri, ignore = "every blank header is tried with each bit changed, which takes Miri too long")]
fn a_copy_of_the_flash_is_read_as_the_chip_reads_it() {
    let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)]).unwrap();
    let layout = Layout { range: 0..768, records: 4 };
    let geometry = Geometry { page: 256, word: 4, records: 4, knobs: 2, is_wide: false, limits: 0 };
    let mut flash = RamFlash::<3, 256, 4>::new();
    let copied = |flash: &mut RamFlash<3, 256, 4>| {
        let mut bytes = [0; 768];
        flash.read(0, &mut bytes).unwrap();
        bytes
    };
    let of_copy = |bytes: &[u8], geometry| {
        let mut read = Vec::new();
        read_image::<64>(bytes, geometry, |entry| {
            read.push(match entry {
                Entry::Record(record) => Some((record.levels().to_vec(), record.event)),
                Entry::Restarted => None,
            });
        })
        .map(|damaged| (read, damaged))
    };
    let mut most = 0;
    // The second time with copies of what was measured before a restart.
    for (i, since) in (0..60u16).map(|i| (i, true)).chain((0..60).map(|i| (i, false))) {
        if (i, since) == (0, false) {
            flash = RamFlash::new();
        }
        let (mut journal, _) = Journal::<_, 2>::open(&mut flash, layout.clone(), 7).unwrap();
        let c = space.combination(&[i % 4, i / 4 % 8]).unwrap();
        let event = if i % 7 == 3 { Event::Failed } else { Event::Told(f32::from(i % 11)) };
        let next = if i == 25 { Entry::Restarted } else { Entry::Record(Record::new(&c, event)) };
        if journal.is_full() {
            journal.turn(|record, restarts| record.event.value().filter(|_| restarts == 0 || !since)).unwrap();
        }
        assert_eq!(journal.append(&next), Ok(true));
        let (own, damaged) = entries(&mut journal);
        let own = own.into_iter().map(|entry| match entry {
            Entry::Record(record) => Some((record.levels().to_vec(), record.event)),
            Entry::Restarted => None,
        });
        let own: Vec<_> = own.collect();
        most = most.max(own.len());
        assert_eq!(of_copy(&copied(&mut flash), geometry), Ok((own, damaged)), "after {i}");
    }
    assert!(most > 8, "the ring was never full: {most}");
    let mut bytes = copied(&mut flash);
    let (whole, _) = of_copy(&bytes, geometry).unwrap();
    let newest = whole.last().cloned().unwrap();
    let last = (0..768).rev().find(|i| bytes[*i] != 0xFF).unwrap();
    bytes[last] ^= 1;
    let (rest, damaged) = of_copy(&bytes, geometry).unwrap();
    assert!(damaged == 1 && rest.len() + 1 == whole.len(), "{newest:?} {rest:?}");
    let refused = |geometry| of_copy(&copied(&mut flash.clone()), geometry).unwrap_err();
    assert_eq!(refused(Geometry { page: 384, ..geometry }), ImageError::OtherRange);
    assert_eq!(refused(Geometry { page: 512, ..geometry }), ImageError::Length);
    assert_eq!(refused(Geometry { word: 8, ..geometry }), ImageError::OtherLayout);
    assert_eq!(refused(Geometry { knobs: 30, ..geometry }), ImageError::Geometry);
    assert_eq!(refused(Geometry { knobs: 9, ..geometry }), ImageError::Geometry);
    assert_eq!(refused(Geometry { word: 3, ..geometry }), ImageError::Geometry);
    assert_eq!(of_copy(&[0xFF; 512], geometry), Err(ImageError::NoJournal));
    // A journal that has a page and no entry yet.
    let mut empty = RamFlash::<3, 256, 4>::new();
    Journal::<_, 2>::open(&mut empty, layout, 7).unwrap().0.turn(|_, _| None).unwrap();
    assert_eq!(of_copy(&copied(&mut empty), geometry), Ok((Vec::new(), 0)));
}

/// However many slots are spoiled, the last one is left for the note that the oldest page is dropped.
#[test]
fn the_last_slot_is_for_the_note() {
    let mut flash = RamFlash::<2, 256, 4>::new();
    let (mut journal, _) = Journal::<_, 2>::open(&mut flash, LAYOUT, 1).unwrap();
    for value in 0..7 {
        assert!(!append(&mut journal, &entry(value as f32)));
    }
    let slots = journal.sizes.slots;
    assert_eq!((slots, journal.slot), (12, 3));
    // Three slots before the last entry, and two that copies would take.
    for slot in [3, 4, 5, 8, 9] {
        journal.flash.poke(256 + 28 + slot * 16 + 3, &[0x7F]).unwrap();
    }
    assert!(!append(&mut journal, &entry(7.0)));
    let page = journal.newest;
    assert!(journal.is_full() && journal.turn(|_, _| Some(0.0)).unwrap());
    let held = |slot: usize, journal: &mut Journal<_, 2>| journal.slot(page, slot).unwrap();
    for slot in [7, 10] {
        assert!(matches!(held(slot, &mut journal), Slot::Holds(Content::Carried(_))), "{slot}");
    }
    assert_eq!(held(11, &mut journal), Slot::Holds(Content::Dropped { restart: false }));
}

/// Two outcomes of a combination, carried to different pages, stay together when the first copy is carried on:
/// only a failure would replace it.
#[test]
fn a_later_copy_does_not_replace_an_earlier_one() {
    let layout = Layout { range: 0..1024, records: 4 };
    let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)]).unwrap();
    let told = |level: u16, event: Event| Entry::Record(Record::new(&space.combination(&[level, 0]).unwrap(), event));
    let mut flash = RamFlash::<4, 256, 4>::new();
    let (mut journal, _) = Journal::<_, 2>::open(&mut flash, layout, 1).unwrap();
    // Twice the same combination, in the first and in the second page; others and a failure around them.
    let is_kept = |record: &Record<2>| record.levels()[0] == 3;
    for i in 0..if cfg!(miri) { 5 } else { 30u16 } {
        let next = match i {
            0 => told(3, Event::Told(1.0)),
            4 => told(3, Event::Told(3.0)),
            _ if i % 4 == 3 => told(1, Event::Failed),
            _ => told(2, Event::Told(f32::from(i))),
        };
        if journal.is_full() {
            journal.turn(|record, _| is_kept(record).then_some(1.0)).unwrap();
        }
        assert_eq!(journal.append(&next), Ok(true));
        let (read, _) = entries(&mut journal);
        let mut own: Vec<_> = read
            .into_iter()
            .filter_map(|entry| match entry {
                Entry::Record(record) if is_kept(&record) => record.event.value(),
                _ => None,
            })
            .collect();
        // A copy that was carried on is read later.
        own.sort_by(f32::total_cmp);
        assert_eq!(own, if i < 4 { &[1.0][..] } else { &[1.0, 3.0] }, "after {i}");
    }
}

/// A page that is filled by its records, by hand, with room for more slots and marks, and a word too short.
#[test]
fn a_page_is_used_to_its_last_word() {
    // A header of 28 bytes, slots of 2 + 10 + 4, marks of 4.
    let page = |slots: usize, marks: usize| 28 + slots * 16 + marks * 4;
    let shared = |page: usize, records: u16| {
        Sizes::laid_out(page, 4, 10, records).map(|own| (own.header, own.slot, own.mark, own.slots, own.marks))
    };
    for records in [1, 4, 20_u16] {
        let (least, most) = (usize::from(records) + 6, (2 * usize::from(records) + 6, 4 * usize::from(records) + 8));
        assert_eq!(shared(page(least, 8), records), Some((28, 16, 4, least, 8)));
        assert_eq!(shared(page(least, 8) - 4, records), None);
        assert_eq!(shared(page(most.0, most.1), records), Some((28, 16, 4, most.0, most.1)));
        assert_eq!(shared(page(most.0, most.1) - 4, records), Some((28, 16, 4, most.0, most.1 - 1)));
        assert_eq!(shared(page(most.0, most.1) + 2000, records), Some((28, 16, 4, most.0, most.1)));
    }
    // The length of a slot is one byte, and 255 is a blank one.
    assert_eq!(Sizes::laid_out(1 << 14, 4, 253, 4).map(|own| own.slot), Some(260));
    assert_eq!(Sizes::laid_out(1 << 14, 4, 254, 4), None);
    assert_eq!(Sizes::laid_out(59, 4, 10, 1), None);
}

#[test]
fn a_layout_is_whole_pages_in_the_flash() {
    let opened = |start: u32, end: u32, records: u16| {
        let layout = Layout { range: start..end, records };
        Journal::<_, 2>::open(RamFlash::<4, 256, 4>::new(), layout, 1).map(|(_, found)| found)
    };
    for (start, end) in [(0, 512), (256, 1024), (0, 1024)] {
        assert_eq!(opened(start, end, 6), Ok(Found::Blank), "{start}..{end}");
    }
    for (start, end) in [(128, 1024), (0, 640), (0, 1280), (256, 512), (512, 256), (0, 0)] {
        assert_eq!(opened(start, end, 6), Err(Trouble::Layout), "{start}..{end}");
    }
    assert_eq!((opened(0, 512, 0), opened(0, 512, 7)), (Err(Trouble::Layout), Err(Trouble::Layout)));
}

#[test]
fn marks_stay_in_their_page() {
    let mut flash = RamFlash::<2, 256, 4>::new();
    let (mut journal, _) = Journal::<_, 2>::open(&mut flash, LAYOUT, 1).unwrap();
    assert_eq!(journal.sizes.marks, 9);
    (0..40).for_each(|_| journal.begin().unwrap());
    assert_eq!((journal.begun(), journal.mark), (9, 9));
    let mut bytes = [0; 512];
    flash.read(0, &mut bytes).unwrap();
    assert!(bytes[252..256] != [0xFF; 4] && bytes[256..] == [0xFF; 256]);
}

/// The entries of a copy of three pages of 256 bytes, by their costs.
fn copied(flash: &mut RamFlash<3, 256, 4>) -> Result<(Vec<f32>, u32), ImageError> {
    let geometry = Geometry { page: 256, word: 4, records: 4, knobs: 2, is_wide: false, limits: 0 };
    let (mut bytes, mut costs) = ([0; 768], Vec::new());
    flash.read(0, &mut bytes).unwrap();
    let damaged = read_image::<2>(&bytes, geometry, |entry| match entry {
        Entry::Record(Record { event: Event::Told(cost), .. }) => costs.push(cost),
        other => panic!("{other:?}"),
    })?;
    Ok((costs, damaged))
}

/// Outcomes before and after the tuner forgot a combination are all of one board.
#[test]
fn a_copy_has_an_outcome_anew_once() {
    let mut flash = RamFlash::<3, 256, 4>::new();
    let layout = Layout { range: 0..768, records: 4 };
    let (mut journal, _) = Journal::<_, 2>::open(&mut flash, layout, 1).unwrap();
    let Entry::Record(anew) = entry(2.0) else { unreachable!() };
    journal.append(&entry(1.0)).unwrap();
    journal.append_anew(&anew).unwrap();
    journal.append(&entry(3.0)).unwrap();
    assert_eq!(entries(&mut journal), ([1.0, 2.0, 3.0].map(entry).into(), 0));
    assert_eq!(copied(&mut flash), Ok(([1.0, 2.0, 3.0].into(), 0)));
}

#[test]
fn a_copy_is_read_from_where_its_newest_log_begins() {
    let mut flash = RamFlash::<3, 256, 4>::new();
    let layout = Layout { range: 0..768, records: 4 };
    let (mut journal, _) = Journal::<_, 2>::open(&mut flash, layout.clone(), 1).unwrap();
    for cost in 0..6 {
        append(&mut journal, &entry(cost as f32));
    }
    let (mut journal, found) = Journal::<_, 2>::open(&mut flash, layout.clone(), 2).unwrap();
    assert_eq!((found, journal.total()), (Found::Foreign, 0));
    append(&mut journal, &entry(9.0));
    assert_eq!(copied(&mut flash), Ok(([9.0].into(), 0)));
    // Without a header a page is counted, not read; here the chip still reads it by its records.
    flash.poke(512, &[0; 28]).unwrap();
    assert_eq!(copied(&mut flash), Ok(([0.0, 1.0, 2.0, 3.0, 4.0, 5.0].into(), 1)));
    for page in 0..3 {
        flash.poke(256 * page, &[0x54, 0x52, 0x4D, 0x4A, 9, 0, !9, !0]).unwrap();
    }
    assert_eq!(copied(&mut flash), Err(ImageError::Version(9)));
}

/// Of a dropped page, an outcome is carried over unless a later failure or an outcome anew replaced it, in
/// whatever page.
#[test]
fn a_replaced_outcome_is_not_carried() {
    let layout = Layout { range: 0..768, records: 4 };
    let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)]).unwrap();
    let record = |level: u16, event: Event| Record::new(&space.combination(&[level, 0]).unwrap(), event);
    let carried = |later: &Content<2>, place: u16| {
        let mut flash = RamFlash::<3, 256, 4>::new();
        let (mut journal, _) = Journal::<_, 2>::open(&mut flash, layout.clone(), 1).unwrap();
        for i in 0..12 {
            if journal.is_full() {
                journal.turn(|_, _| None).unwrap();
            }
            let content = match i {
                0 => Content::Entry(Entry::Record(record(3, Event::Told(1.0)))),
                i if i == place => later.clone(),
                _ => Content::Entry(Entry::Record(record(i % 3, Event::Failed))),
            };
            assert_eq!(journal.append_content(&content), Ok(true));
        }
        let page = journal.newest;
        journal.turn(|record, _| record.event.value().filter(|_| record.levels()[0] == 3)).unwrap();
        (0..journal.sizes.slots)
            .filter(|slot| matches!(journal.slot(page, *slot).unwrap(), Slot::Holds(Content::Carried(_))))
            .count()
    };
    for place in [4, 7, 8, 11] {
        let entry = |level, event| Content::Entry(Entry::Record(record(level, event)));
        assert_eq!(carried(&Content::Anew(record(3, Event::Told(2.0))), place), 0, "{place}");
        assert_eq!(carried(&entry(3, Event::Failed), place), 0, "{place}");
        // A repeat, and others.
        for other in [entry(3, Event::Told(2.0)), entry(2, Event::Failed), Content::Anew(record(2, Event::Told(2.0)))] {
            assert_eq!(carried(&other, place), 1, "{place}: {other:?}");
        }
    }
}

/// No more than so many copies are made, the best of the page first, wherever in it they were.
#[test]
fn the_most_that_are_carried_are_the_best() {
    const LARGE: Layout = Layout { range: 0..8192, records: 40 };
    let mut flash = RamFlash::<2, 4096, 4>::new();
    let (mut journal, _) = Journal::<_, 2>::open(&mut flash, LARGE, 1).unwrap();
    (0..80).rev().for_each(|value| assert!(!append(&mut journal, &entry(value as f32))));
    let page = journal.newest;
    assert_eq!(journal.turn(|record, _| record.event.value()), Ok(true));
    let carried = (0..journal.sizes.slots).filter_map(|slot| match journal.slot(page, slot).unwrap() {
        Slot::Holds(Content::Carried(record)) => record.event.value(),
        _ => None,
    });
    assert!(carried.eq((40..40 + MOST_CARRIED).map(|value| value as f32)));
}

/// The power fails at any write or erase of a page turn: the copy has what the next boot reads.
#[test]
#[cfg_attr(miri, ignore = "every blank header is tried with each bit changed, which takes Miri too long")]
fn a_copy_from_the_middle_of_a_turn_is_read_as_the_chip_reads_it() {
    let layout = Layout { range: 0..768, records: 4 };
    let mut full = RamFlash::<3, 256, 4>::new();
    let (mut journal, _) = Journal::<_, 2>::open(&mut full, layout.clone(), 1).unwrap();
    for cost in [4.0, 2.0, 3.0, 1.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0] {
        assert!(!append(&mut journal, &entry(cost)));
    }
    let rank = |record: &Record<2>, _| record.event.value().filter(|value| *value < 4.0);
    let mut seen = Vec::new();
    for at in 0..7 {
        let mut flash = full.clone();
        let cut = Cut::at(&mut flash, at, Damage::Nothing);
        let (mut journal, _) = Journal::<_, 2>::open(cut, layout.clone(), 1).unwrap();
        let turned = journal.turn(rank);
        assert_eq!(turned.is_ok(), at == 6, "{at}: {turned:?}");
        let (mut journal, _) = Journal::<_, 2>::open(&mut flash, layout.clone(), 1).unwrap();
        let own = entries(&mut journal);
        let (costs, damaged) = copied(&mut flash).unwrap();
        assert_eq!((costs.iter().map(|cost| entry(*cost)).collect(), damaged), own, "{at}");
        seen.push(costs.len());
        let (mut journal, _) = Journal::<_, 2>::open(&mut flash, layout.clone(), 1).unwrap();
        // The next turn goes on where that one stopped, and no copy is made twice.
        if journal.is_full() {
            journal.turn(rank).unwrap();
        }
        let ended = [1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0].map(entry);
        assert_eq!(entries(&mut journal), (ended.into(), 0), "{at}");
    }
    // Three copies, the note, an erase and a header: with the note the copies count, and the dropped page no more.
    assert_eq!(seen, [12, 12, 12, 12, 11, 11, 11]);
}

/// Whole pages that begin at another page of the journal.
#[test]
fn a_copy_of_another_range_is_refused() {
    let mut flash = RamFlash::<3, 256, 4>::new();
    let (mut journal, _) = Journal::<_, 2>::open(&mut flash, Layout { range: 0..768, records: 4 }, 1).unwrap();
    (0..12).for_each(|cost| _ = append(&mut journal, &entry(cost as f32)));
    let mut bytes = [0; 768];
    flash.read(0, &mut bytes).unwrap();
    let geometry = Geometry { page: 256, word: 4, records: 4, knobs: 2, is_wide: false, limits: 0 };
    let read = |bytes: &[u8]| read_image::<2>(bytes, geometry, |_| ());
    assert_eq!(read(&bytes), Ok(0));
    assert_eq!(read(&bytes[256..]), Err(ImageError::OtherRange));
    bytes.rotate_left(256);
    assert_eq!(read(&bytes), Err(ImageError::OtherRange));
}

/// The newest page of a ring that has turned lost its header: its own records are read, and each once.
#[test]
fn the_newest_page_of_a_full_ring_needs_no_header() {
    let layout = Layout { range: 0..768, records: 4 };
    let mut flash = RamFlash::<3, 256, 4>::new();
    let (mut journal, _) = Journal::<_, 2>::open(&mut flash, layout.clone(), 1).unwrap();
    (0..18).for_each(|cost| _ = append(&mut journal, &entry(cost as f32)));
    assert_eq!((journal.newest, journal.oldest, journal.slot), (4, 2, 2));
    flash.poke(256, &[0; 28]).unwrap();
    let (mut journal, found) = Journal::<_, 2>::open(&mut flash, layout, 1).unwrap();
    assert_eq!((found, journal.newest, journal.oldest, journal.total()), (Found::Log, 4, 2, 18));
    assert_eq!(entries(&mut journal), ((8..18).map(|cost| entry(cost as f32)).collect(), 0));
}

/// A record of the oldest page and one of the same combination in a later page, copies or not: which are
/// carried, by their places there.
#[test]
fn copies_and_entries_of_a_combination_replace_each_other_in_their_order() {
    let layout = Layout { range: 0..1024, records: 4 };
    let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)]).unwrap();
    let record = |level: u16, event: Event| Record::new(&space.combination(&[level, 0]).unwrap(), event);
    let entry = |level, event| Content::Entry(Entry::Record(record(level, event)));
    // Which records of a first page of four are copied by the turn that drops it; `later` is in that page.
    let carried = |oldest: [&Content<2>; 4], later: Option<(u32, &Content<2>)>, rank: f32| {
        let mut flash = RamFlash::<4, 256, 4>::new();
        let (mut journal, _) = Journal::<_, 2>::open(&mut flash, layout.clone(), 1).unwrap();
        for i in 0..16 {
            if journal.is_full() {
                journal.turn(|_, _| None).unwrap();
            }
            let other = entry(2, Event::Told(9.0));
            let content = match (i, later) {
                (0..4, _) => oldest[i as usize],
                (i, Some((page, later))) if i == 4 * page + 1 => later,
                _ => &other,
            };
            assert_eq!(journal.append_content(content), Ok(true));
        }
        let (page, slots) = (journal.newest, journal.sizes.slots);
        let first = journal.slot;
        journal.turn(|record, _| (record.levels()[0] != 2).then(|| record.event.value().unwrap_or(rank))).unwrap();
        (first..slots)
            .filter_map(|slot| match journal.slot(page, slot).unwrap() {
                Slot::Holds(Content::Carried(record)) => Some((record.levels()[0], record.event)),
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    let (told, failed, other) = (entry(3, Event::Told(1.0)), entry(3, Event::Failed), entry(2, Event::Told(9.0)));
    let [told_copy, failed_copy] = [Event::Told(1.0), Event::Failed].map(|event| Content::Carried(record(3, event)));
    let one = |oldest, later, rank| carried([oldest, &other, &other, &other], Some(later), rank).len();
    for page in [1, 2, 3] {
        // A failure that something replaced counts while there is an older copy to replace, which is not of this turn.
        assert_eq!(one(&failed, (page, &told_copy), 1.0), usize::from(page != 3), "{page}");
        assert_eq!(one(&failed, (page, &told), 1.0), 0, "{page}");
        assert_eq!(one(&failed, (page, &told), f32::INFINITY), 1, "{page}");
        // Copies are newer than the copies of this page and older than its entries.
        assert_eq!(one(&told_copy, (page, &failed_copy), 1.0), usize::from(page == 3), "{page}");
        assert_eq!(one(&told, (page, &failed_copy), 1.0), 1, "{page}");
    }
    // In one page, a failure takes the place of what was chosen of its combination before, and of nothing else.
    let first = entry(1, Event::Told(0.5));
    let kept = [(1, Event::Told(0.5)), (3, Event::Failed)];
    assert_eq!(carried([&first, &told, &failed, &other], None, f32::INFINITY), kept);
    assert_eq!(carried([&told, &failed, &first, &other], None, f32::INFINITY), kept);
}

/// Of a page that is dropped, each record is ranked with the number of restarts in later pages.
#[test]
fn restarts_in_later_pages_are_counted() {
    let mut flash = RamFlash::<3, 256, 4>::new();
    let (mut journal, _) = Journal::<_, 2>::open(&mut flash, Layout { range: 0..768, records: 4 }, 1).unwrap();
    for i in 0..12 {
        append(&mut journal, &if [5, 10].contains(&i) { Entry::Restarted } else { entry(i as f32) });
    }
    let mut seen = Vec::new();
    journal
        .turn(|record, restarts| {
            seen.push((record.event.value(), restarts));
            None
        })
        .unwrap();
    assert_eq!(seen, [0.0, 1.0, 2.0, 3.0].map(|value| (Some(value), 2)));
}
