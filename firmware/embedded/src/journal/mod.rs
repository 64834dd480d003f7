//! The log of a tuner in flash, which outlives a power cut.
//!
//! ```text
//! page     header: magic, version, number n, fingerprint, checksum      slot 0   slot 1   …   mark 0   mark 1   …
//! slot     length, kind, record as bytes, checksum                      written once, in order
//! ring     page n is at place n mod P:      n − 2      n − 1      n: records go here      n − 3: erased next
//! ```
//!
//! | name | meaning |
//! |---|---|
//! | page | the unit that the flash erases |
//! | P | pages of the journal, at least two |
//! | n | number of a page, counting up; records go to the page with the largest |
//! | fingerprint | of everything that gives a log its meaning: knobs, configuration, seed, sizes |
//! | N | records that fill a page; it has more slots than that |
//!
//! **Choices**
//! - Every operation is whole or has no effect: a slot or header counts only if its CRC-32 is
//!   right, which covers the page's and the slot's number too. No word is written twice.
//! - A header with one wrong bit is repaired by its checksum. A page with a worse one is read by the
//!   checksums of its records.
//! - A slot, header or mark that cannot be read (a torn word of flash with a checksum per word) is
//!   damaged like one with a wrong checksum: counted, passed over, and gone when its page is erased.
//! - A write spoiled by a power cut costs a spare slot. A page is full after N *records*, so pages
//!   end at the same records, and the same ones are dropped, with and without cuts.
//! - A full ring erases its oldest page, so all pages wear evenly. Records that still matter are
//!   carried over before, see [`turn`](Journal::turn).
//! - An outcome of a combination that the tuner had forgotten is marked as such: once the tuner is
//!   rebuilt from fewer records, older outcomes of it count no more, see `read`.
//! - A boot that ended in its first measurement leaves a mark, in words that no record can use: marks
//!   evict nothing. If a page has no room for another mark, such boots are not counted until the
//!   next page.
//! - Each write is read back. If the flash does not hold it, the next slot is tried, then
//!   `Trouble::Worn`.
//!
//! Pages with another fingerprint or version are never replayed, and stay until the ring reaches
//! them. Why not sequential-storage, the usual queue in flash: it promises that *its* pages survive a
//! cut, not that the same records are dropped after it, and it is asynchronous.
//!
//! **Cost.** A dozen words and the flash driver; K + 14 bytes of flash per record, 2K + 14 if a knob
//! has more than 256 levels, 1 more and 4 per limit with limits, rounded up to words. Opening reads every
//! slot once.

use core::marker::PhantomData;
use core::ops::Range;

use embedded_storage::nor_flash::NorFlash;
use trimtab::{Knob, Record};

pub use fingerprint::{digest, fingerprint};
use format::{BUFFER, Content, Sizes, Slot};
pub use image::{Geometry, ImageError, read_image};
pub use report::{Found, Trouble};
pub use turn::MOST_CARRIED;

mod find;
mod fingerprint;
mod format;
mod header;
mod image;
mod marks;
mod read;
mod report;
mod ring;
mod turn;

/// Spare slots that a page must have beyond its records: for writes that a power cut spoils, for
/// carried records, and for the note that a page is dropped.
pub const SPARE_SLOTS: usize = 6;
/// Marks of begun measurements that a page must have room for.
pub const LEAST_MARKS: usize = 8;

/// Where a journal lies in the flash, and how many records fill a page.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Layout {
    /// Its part of the flash: whole pages, at least two.
    pub range: Range<u32>,
    /// Records that fill a page. A tuner that keeps T observations wants T / (P − 1) or more, so
    /// that only forgotten records are dropped. Large pages may stay partly unused: fewer records
    /// are replayed faster. A page has room for [`LEAST_MARKS`] unfinished boots, and for more if
    /// fewer records fill it.
    pub records: u16,
}

/// The range of the journal as the linker script has it, for a [`Layout`].
///
/// The script defines `_journal_start` and `_journal_end` as offsets in the flash, and asserts that
/// the image ends before them:
///
/// ```text
/// MEMORY
/// {
///   FLASH   : ORIGIN = 0x08000000, LENGTH = 256K     /* shortened by the journal */
///   JOURNAL : ORIGIN = 0x08040000, LENGTH = 256K
///   RAM     : ORIGIN = 0x20000000, LENGTH = 128K
/// }
/// _journal_start = ORIGIN(JOURNAL) - ORIGIN(FLASH);
/// _journal_end = _journal_start + LENGTH(JOURNAL);
/// ASSERT(ORIGIN(FLASH) + LENGTH(FLASH) <= ORIGIN(JOURNAL), "the image must end before the journal: shorten FLASH");
/// ```
#[macro_export]
macro_rules! journal_range {
    () => {{
        unsafe extern "C" {
            safe static _journal_start: u8;
            safe static _journal_end: u8;
        }
        (&raw const _journal_start) as u32..(&raw const _journal_end) as u32
    }};
}

/// The content of a slot.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Entry<const K: usize> {
    /// An event of a combination.
    Record(Record<K>),
    /// The records before are out of date: the hardware has changed.
    Restarted,
}

/// A log in flash.
///
/// ```
/// use trimtab::{Event, Knob, Record, Space};
/// use trimtab_embedded::flash::RamFlash;
/// use trimtab_embedded::journal::{Entry, Found, Journal, Layout};
/// let mut flash = RamFlash::<2, 256, 4>::new();
/// let layout = Layout { range: 0..512, records: 4 };
/// let c = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)])?.combination(&[3, 5])?;
/// let entry = Entry::Record(Record::new(&c, Event::Told(0.5)));
///
/// let (mut journal, found) = Journal::<_, 2>::open(&mut flash, layout.clone(), 1)?;
/// assert_eq!(found, Found::Blank);
/// journal.append(&entry)?;
///
/// let (mut journal, found) = Journal::<_, 2>::open(&mut flash, layout.clone(), 1)?; // after a power cut
/// assert_eq!(found, Found::Log);
/// journal.read(|read| assert_eq!(read, entry))?;
///
/// let (mut journal, found) = Journal::<_, 2>::open(&mut flash, layout, 2)?; // for another tuner
/// assert_eq!(found, Found::Foreign);
/// journal.read(|_| unreachable!())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Journal<F, const K: usize> {
    flash: F,
    layout: Layout,
    sizes: Sizes,
    fingerprint: u64,
    /// Numbers of the oldest page of the log and of the page that records go to.
    oldest: u32,
    newest: u32,
    /// In the newest page: the next slot, the counted entries, the next mark, and the boots begun
    /// since the last entry.
    slot: usize,
    counted: u16,
    mark: usize,
    begun: u8,
    /// Records carried to the newest page, and whether the page that they come from is dropped.
    carried: usize,
    is_dropped: bool,
    /// Pages after the newest one with neither a header nor a record.
    unreadable: u32,
    /// Counted entries before the newest page.
    before: u32,
    levels: PhantomData<Record<K>>,
}

impl<F: NorFlash, const K: usize> Journal<F, K> {
    /// Opens the journal of the tuner with this [`fingerprint`]. Begins a new log if there is none,
    /// and the next page if the last one is full.
    /// Its slots have one byte per level: see [`open_for`](Self::open_for) for ranges.
    pub fn open(flash: F, layout: Layout, fingerprint: u64) -> Result<(Self, Found), Trouble> {
        Self::open_for(flash, layout, fingerprint, (&[], 0))
    }

    /// [`open`](Self::open) for the records of these knobs, with room for the margins to so many limits in
    /// each. Slots have two bytes per level if a knob has more than 256 levels.
    pub fn open_for(
        flash: F,
        layout: Layout,
        fingerprint: u64,
        (knobs, limits): (&[Knob], usize),
    ) -> Result<(Self, Found), Trouble> {
        let sizes = Sizes::of::<F, K>(layout.records, knobs, limits).ok_or(Trouble::Layout)?;
        let page = F::ERASE_SIZE as u32;
        let Range { start, end } = layout.range;
        let fits = start.is_multiple_of(page) && end.is_multiple_of(page) && end as usize <= flash.capacity();
        if !fits || end.saturating_sub(start) < 2 * page || layout.records == 0 {
            return Err(Trouble::Layout);
        }
        let (oldest, newest, before, levels) = (0, 0, 0, PhantomData);
        let (slot, counted, mark, begun, carried, is_dropped, unreadable) = (0, 0, 0, 0, 0, false, 0);
        let mut journal = Self {
            flash,
            layout,
            sizes,
            fingerprint,
            oldest,
            newest,
            slot,
            counted,
            mark,
            begun,
            carried,
            is_dropped,
            unreadable,
            before,
            levels,
        };
        let found = journal.find()?;
        if found != Found::Log {
            journal.turn(|_, _| None)?;
        }
        Ok((journal, found))
    }

    /// Appends an entry and reads it back. Returns false if the page has no room: call
    /// [`turn`](Self::turn) first.
    pub fn append(&mut self, entry: &Entry<K>) -> Result<bool, Trouble> {
        self.append_content(&Content::Entry(entry.clone()))
    }

    /// The same for an outcome of a combination that the tuner had forgotten: it is never averaged with
    /// those that the log still has of it.
    pub(crate) fn append_anew(&mut self, record: &Record<K>) -> Result<bool, Trouble> {
        self.append_content(&Content::Anew(record.clone()))
    }

    fn append_content(&mut self, content: &Content<K>) -> Result<bool, Trouble> {
        let is_written = !self.is_full() && self.write_before(self.last_slots(), content)?;
        if is_written {
            (self.counted, self.begun) = (self.counted.saturating_add(1), 0);
        }
        Ok(is_written)
    }

    /// Writes to the next blank slot before `end`. Returns whether the flash holds it.
    fn write_before(&mut self, end: usize, content: &Content<K>) -> Result<bool, Trouble> {
        while self.slot < end {
            let (page, slot) = (self.newest, self.slot);
            self.slot += 1;
            if self.slot(page, slot)? == Slot::Blank && self.write(content, page, slot)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes to a slot. Returns whether the flash holds it.
    fn write(&mut self, content: &Content<K>, page: u32, slot: usize) -> Result<bool, Trouble> {
        let mut buffer = [0xFF; BUFFER];
        let bytes = self.sizes.slot(&mut buffer, content, self.spot(page, slot)).ok_or(Trouble::Layout)?;
        let offset = self.offset(page, slot);
        Ok(self.flash.write(offset, bytes).is_ok() && self.holds(offset, bytes)?)
    }

    /// Entries that the last page has room for.
    pub fn room(&self) -> usize {
        let records = usize::from(self.layout.records.saturating_sub(self.counted));
        records.min(self.last_slots().saturating_sub(self.slot))
    }

    /// Whether the last page has no room: call [`turn`](Self::turn) before the next entry.
    pub fn is_full(&self) -> bool {
        self.room() == 0
    }

    /// The first of the slots that only a turn writes to.
    fn last_slots(&self) -> usize {
        self.sizes.slots.saturating_sub(turn::RESERVED)
    }

    /// Records and restarts since the log began, including dropped ones.
    pub fn total(&self) -> u32 {
        self.before.wrapping_add(u32::from(self.counted))
    }

    /// The flash driver.
    pub fn flash(&self) -> &F {
        &self.flash
    }
}

#[cfg(test)]
mod tests;
