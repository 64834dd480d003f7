//! The bytes of a journal: headers and slots, each with a checksum.
//!
//! | bytes of a header | meaning |
//! |---|---|
//! | 0..4 | `TRMJ` |
//! | 4..6, 6..8 | version of the format, and its inverse: every version keeps these eight bytes |
//! | 8..12 | number of the page |
//! | 12..16 | entries of the log before this page, including dropped ones |
//! | 16..24 | fingerprint |
//! | 24..28 | CRC-32 of the bytes before |
//!
//! | bytes of a slot | meaning |
//! |---|---|
//! | 0 | length of the rest without the checksum |
//! | 1 | 0 a record, 1 restarted, 2 begun |
//! | 2.. | the record in core's byte form, which has its own version |
//! | 4 more | CRC-32 of the page's number, the slot's number and the bytes before |
//!
//! **Choices**
//! - Numbers are little endian on every chip. Both kinds are padded with ones to whole words.
//! - A slot of ones is blank: a length is never 255.
//! - The numbers in the checksum tell a slot that an erase left behind from one of this page.

use crc::{CRC_32_ISO_HDLC, Crc, NoTable};
use embedded_storage::nor_flash::NorFlash;
use trimtab::Record;

use super::{Entry, SPARE_SLOTS};

/// Version of the format. Change it with the format, and with the meaning of a log.
pub(super) const VERSION: u16 = 1;

/// The longest header or slot.
pub(super) const BUFFER: usize = 320;

const MAGIC: [u8; 4] = *b"TRMJ";
const HEADER: usize = 28;
const CHECK: usize = 4;

const RECORD: u8 = 0;
const RESTARTED: u8 = 1;
const BEGUN: u8 = 2;

/// Bitwise: a table would take a kilobyte to save microseconds beside a flash write.
const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);

/// Bytes per header and per slot, and slots per page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) header: usize,
    pub(super) slot: usize,
    pub(super) slots: usize,
}

impl Sizes {
    /// Returns `None` if they do not fit.
    pub(super) fn of<F: NorFlash, const K: usize>(records: u16) -> Option<Self> {
        let word = F::WRITE_SIZE.max(F::READ_SIZE);
        let header = HEADER.next_multiple_of(word);
        let slot = (2 + Record::<K>::MOST_BYTES + CHECK).next_multiple_of(word);
        let room = F::ERASE_SIZE.checked_sub(header)? / slot;
        let records = usize::from(records);
        let fits = header.max(slot) <= BUFFER && Record::<K>::MOST_BYTES < 254 && room >= records + SPARE_SLOTS;
        // As many spare slots as records are plenty; more would only slow a boot.
        fits.then_some(Self { header, slot, slots: room.min(2 * records + SPARE_SLOTS) })
    }

    /// The bytes of a header.
    pub(super) fn header<'a>(&self, buffer: &'a mut [u8; BUFFER], header: &Header) -> Option<&'a [u8]> {
        let (version, inverted) = (VERSION.to_le_bytes(), (!VERSION).to_le_bytes());
        let (number, before) = (header.number.to_le_bytes(), header.before.to_le_bytes());
        let parts = [&MAGIC[..], &version, &inverted, &number, &before, &header.fingerprint.to_le_bytes()];
        let mut length = 0;
        for part in parts {
            buffer.get_mut(length..length + part.len())?.copy_from_slice(part);
            length += part.len();
        }
        let check = CRC.checksum(buffer.get(..length)?);
        buffer.get_mut(length..HEADER)?.copy_from_slice(&check.to_le_bytes());
        buffer.get(..self.header)
    }

    /// The bytes of a slot.
    pub(super) fn slot<'a, const K: usize>(
        &self,
        buffer: &'a mut [u8; BUFFER],
        entry: &Entry<K>,
        page: u32,
        slot: usize,
    ) -> Option<&'a [u8]> {
        let (head, body) = buffer.split_at_mut_checked(2)?;
        let (kind, length) = match entry {
            Entry::Record(record) => (RECORD, record.to_bytes(body.get_mut(..Record::<K>::MOST_BYTES)?).ok()?.len()),
            Entry::Restarted => (RESTARTED, 0),
            Entry::Begun => (BEGUN, 0),
        };
        head.copy_from_slice(&[1 + length as u8, kind]);
        // Writing the record may have changed bytes beyond it.
        body.get_mut(length..)?.fill(0xFF);
        let end = 2 + length;
        let check = check(buffer.get(..end)?, page, slot);
        buffer.get_mut(end..end + CHECK)?.copy_from_slice(&check.to_le_bytes());
        buffer.get(..self.slot)
    }
}

/// The header of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) number: u32,
    pub(super) before: u32,
    pub(super) fingerprint: u64,
}

/// Why a page has no valid header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderFault {
    /// Another version of the format.
    Version(u16),
    /// Missing, half written or changed.
    Damaged,
}

impl Header {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, HeaderFault> {
        let (Some(magic), Some(version), Some(inverted)) = (part::<4>(bytes, 0), part(bytes, 4), part(bytes, 6)) else {
            return Err(HeaderFault::Damaged);
        };
        let version = u16::from_le_bytes(version);
        if magic != MAGIC || version != !u16::from_le_bytes(inverted) {
            return Err(HeaderFault::Damaged);
        }
        if version != VERSION {
            return Err(HeaderFault::Version(version));
        }
        let numbers = (part(bytes, 8), part(bytes, 12), part(bytes, 16), part(bytes, 24));
        let (Some(number), Some(before), Some(fingerprint), Some(check)) = numbers else {
            return Err(HeaderFault::Damaged);
        };
        if CRC.checksum(bytes.get(..24).unwrap_or_default()) != u32::from_le_bytes(check) {
            return Err(HeaderFault::Damaged);
        }
        Ok(Self {
            number: u32::from_le_bytes(number),
            before: u32::from_le_bytes(before),
            fingerprint: u64::from_le_bytes(fingerprint),
        })
    }
}

/// A slot as read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Slot<const K: usize> {
    /// Never written.
    Blank,
    /// A valid entry.
    Holds(Entry<K>),
    /// Half written or changed.
    Damaged,
}

impl<const K: usize> Slot<K> {
    pub(super) fn read(bytes: &[u8], page: u32, slot: usize) -> Self {
        if bytes.iter().all(|byte| *byte == 0xFF) {
            return Self::Blank;
        }
        Self::entry(bytes, page, slot).map_or(Self::Damaged, Self::Holds)
    }

    fn entry(bytes: &[u8], page: u32, slot: usize) -> Option<Entry<K>> {
        let end = 1 + usize::from(*bytes.first()?);
        let written = part(bytes, end)?;
        let (checked, _) = bytes.split_at_checked(end)?;
        if check(checked, page, slot) != u32::from_le_bytes(written) {
            return None;
        }
        match checked {
            [_, RECORD, record @ ..] => Record::from_bytes(record).ok().map(Entry::Record),
            [_, RESTARTED] => Some(Entry::Restarted),
            [_, BEGUN] => Some(Entry::Begun),
            _ => None,
        }
    }
}

fn check(bytes: &[u8], page: u32, slot: usize) -> u32 {
    let mut digest = CRC.digest();
    digest.update(&page.to_le_bytes());
    digest.update(&(slot as u32).to_le_bytes());
    digest.update(bytes);
    digest.finalize()
}

fn part<const N: usize>(bytes: &[u8], from: usize) -> Option<[u8; N]> {
    bytes.get(from..from + N)?.try_into().ok()
}
