//! The bytes of slots and marks, each with a checksum. [`header`](super::header) has those of a page.
//!
//! | bytes of a slot | meaning |
//! |---|---|
//! | 0 | length of the rest without the checksum |
//! | 1 | 0 a record, 1 restarted, 2 a record carried from the page that is dropped next, 3 that page is dropped, 4 the same and a restart with it, 5 an outcome of a combination that the tuner had forgotten |
//! | 2.. | the record in core's byte form, which has its own version |
//! | 4 more | CRC-32 of the fingerprint, the page's number, the slot's number and the bytes before |
//!
//! | bytes of a mark | meaning |
//! |---|---|
//! | 0..2 | 13 bits: entries of the page before it; 3 bits: boots begun since then |
//! | 2..4 | half of the CRC-32 of the fingerprint, the page's number, the mark's number and the bytes before |
//!
//! **Choices**
//! - Numbers are little endian on every chip. All kinds are padded with ones to whole words.
//! - A slot of ones is blank: a length is never 255.
//! - The numbers in the checksum tell a slot that an erase left behind from one of this page.
//! - Marks stand after the slots of a page, so that they never take the place of a record.

use crc::{CRC_32_ISO_HDLC, Crc, NoTable};
use embedded_storage::nor_flash::NorFlash;
use trimtab::{Event, Knob, Record};

use super::header::HEADER;
use super::{Entry, LEAST_MARKS, SPARE_SLOTS};

/// The longest header or slot.
pub(super) const BUFFER: usize = 320;

pub(super) const CHECK: usize = 4;
const MARK: usize = 4;

const RECORD: u8 = 0;
const RESTARTED: u8 = 1;
const CARRIED: u8 = 2;
const DROPPED: u8 = 3;
const DROPPED_RESTART: u8 = 4;
const ANEW: u8 = 5;

/// The number of a page's first mark in checksums, beyond all slots.
const FIRST_MARK: usize = 1 << 31;
/// Most boots that a mark can count.
pub(super) const MOST_BEGUN: u8 = 7;

/// Bitwise: a table would take a kilobyte to save microseconds beside a flash write.
pub(super) const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);

/// Bytes per header, slot and mark; slots and marks per page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) header: usize,
    pub(super) slot: usize,
    pub(super) slots: usize,
    pub(super) mark: usize,
    pub(super) marks: usize,
    /// The longest record.
    pub(super) record: usize,
}

/// Where a slot or a mark lies, and whose it is: part of its checksum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) fingerprint: u64,
    pub(super) page: u32,
    pub(super) slot: usize,
}

impl Sizes {
    /// For records of these knobs with so many limits; returns `None` if they do not fit.
    pub(super) fn of<F: NorFlash, const K: usize>(records: u16, knobs: &[Knob], limits: usize) -> Option<Self> {
        let record = Record::<K>::bytes_for(knobs, limits);
        Self::laid_out(F::ERASE_SIZE, F::WRITE_SIZE.max(F::READ_SIZE), record, records)
    }

    /// The same for pages, words and records of so many bytes.
    #[inline(always)]
    pub(super) fn laid_out(page: usize, word: usize, record: usize, records: u16) -> Option<Self> {
        let header = HEADER.next_multiple_of(word);
        let slot = (2 + record + CHECK).next_multiple_of(word);
        let mark = MARK.next_multiple_of(word);
        let room = page.checked_sub(header + LEAST_MARKS * mark)? / slot;
        let records = usize::from(records);
        let fits = header.max(slot) <= BUFFER && record < 254 && room >= records + SPARE_SLOTS;
        // As many spare slots as records are plenty; more would only slow a boot.
        let slots = room.min(2 * records + SPARE_SLOTS);
        let marks = (page - header - slots * slot) / mark;
        fits.then_some(Self { header, slot, slots, mark, marks: marks.min(4 * records + LEAST_MARKS), record })
    }

    /// The bytes of a slot.
    pub(super) fn slot<'a, const K: usize>(
        &self,
        buffer: &'a mut [u8; BUFFER],
        content: &Content<K>,
        spot: Spot,
    ) -> Option<&'a [u8]> {
        let (head, body) = buffer.split_at_mut_checked(2)?;
        let (kind, record) = match content {
            Content::Entry(Entry::Record(record)) => (RECORD, Some(record)),
            Content::Entry(Entry::Restarted) => (RESTARTED, None),
            Content::Anew(record) => (ANEW, Some(record)),
            Content::Carried(record) => (CARRIED, Some(record)),
            Content::Dropped { restart: false } => (DROPPED, None),
            Content::Dropped { restart: true } => (DROPPED_RESTART, None),
        };
        let length = match record {
            Some(record) => record.to_bytes(body.get_mut(..self.record)?).ok()?.len(),
            None => 0,
        };
        head.copy_from_slice(&[1 + length as u8, kind]);
        // Writing the record may have changed bytes beyond it.
        body.get_mut(length..)?.fill(0xFF);
        let end = 2 + length;
        let check = check(buffer.get(..end)?, spot);
        buffer.get_mut(end..end + CHECK)?.copy_from_slice(&check.to_le_bytes());
        buffer.get(..self.slot)
    }

    /// The bytes of a mark: `begun` boots after `counted` entries.
    pub(super) fn mark<'a>(
        &self,
        buffer: &'a mut [u8; BUFFER],
        counted: u16,
        begun: u8,
        spot: Spot,
    ) -> Option<&'a [u8]> {
        let [low, high] = (counted << 3 | u16::from(begun.min(MOST_BEGUN))).to_le_bytes();
        let [check_low, check_high, ..] = check_mark([low, high], spot);
        buffer.get_mut(..MARK)?.copy_from_slice(&[low, high, check_low, check_high]);
        buffer.get(..self.mark)
    }
}

/// The boots that a mark counts after `counted` entries, or `None` if it is another one.
pub(super) fn begun(bytes: &[u8], counted: u16, spot: Spot) -> Option<u8> {
    let [low, high, check_low, check_high] = part(bytes, 0)?;
    let [own_low, own_high, ..] = check_mark([low, high], spot);
    let value = u16::from_le_bytes([low, high]);
    let is_it = (check_low, check_high) == (own_low, own_high) && value >> 3 == counted << 3 >> 3;
    is_it.then_some(value as u8 & MOST_BEGUN)
}

fn check_mark(bytes: [u8; 2], spot: Spot) -> [u8; 4] {
    check(&bytes, Spot { slot: FIRST_MARK + spot.slot, ..spot }).to_le_bytes()
}

/// A slot as read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Slot<const K: usize> {
    /// Never written.
    Blank,
    /// A valid one.
    Holds(Content<K>),
    /// Half written or changed.
    Damaged,
}

/// The content of a slot.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content<const K: usize> {
    Entry(Entry<K>),
    /// An outcome of a combination that the tuner had forgotten: a tuner that is rebuilt from fewer
    /// records must not average it with those before.
    Anew(Record<K>),
    /// A copy of a record of the page that is dropped next.
    Carried(Record<K>),
    /// All copies are made: that page no longer counts, even if it is still there. With a restart in
    /// it, the copies in pages before this one are older than the restart and count no more either.
    Dropped {
        restart: bool,
    },
}

impl<const K: usize> Content<K> {
    pub(super) fn record(&self) -> Option<&Record<K>> {
        match self {
            Self::Entry(Entry::Record(record)) | Self::Anew(record) | Self::Carried(record) => Some(record),
            Self::Entry(Entry::Restarted) | Self::Dropped { .. } => None,
        }
    }

    /// Whether it replaces earlier outcomes of its combination: a failure, or an outcome anew.
    pub(super) fn replaces(&self) -> bool {
        matches!(self, Self::Anew(_)) || self.record().is_some_and(|record| record.event == Event::Failed)
    }
}

impl<const K: usize> Slot<K> {
    pub(super) fn read(bytes: &[u8], spot: Spot) -> Self {
        if bytes.iter().all(|byte| *byte == 0xFF) {
            return Self::Blank;
        }
        Self::content(bytes, spot).map_or(Self::Damaged, Self::Holds)
    }

    fn content(bytes: &[u8], spot: Spot) -> Option<Content<K>> {
        let end = 1 + usize::from(*bytes.first()?);
        let written = part(bytes, end)?;
        let (checked, _) = bytes.split_at_checked(end)?;
        if check(checked, spot) != u32::from_le_bytes(written) {
            return None;
        }
        match checked {
            [_, RECORD, record @ ..] => {
                Record::from_bytes(record).ok().map(|record| Content::Entry(Entry::Record(record)))
            }
            [_, RESTARTED] => Some(Content::Entry(Entry::Restarted)),
            [_, ANEW, record @ ..] => Record::from_bytes(record).ok().map(Content::Anew),
            [_, CARRIED, record @ ..] => Record::from_bytes(record).ok().map(Content::Carried),
            [_, DROPPED] => Some(Content::Dropped { restart: false }),
            [_, DROPPED_RESTART] => Some(Content::Dropped { restart: true }),
            _ => None,
        }
    }
}

fn check(bytes: &[u8], spot: Spot) -> u32 {
    let mut digest = CRC.digest();
    digest.update(&spot.fingerprint.to_le_bytes());
    digest.update(&spot.page.to_le_bytes());
    digest.update(&(spot.slot as u32).to_le_bytes());
    digest.update(bytes);
    digest.finalize()
}

pub(super) fn part<const N: usize>(bytes: &[u8], from: usize) -> Option<[u8; N]> {
    bytes.get(from..from + N)?.try_into().ok()
}
