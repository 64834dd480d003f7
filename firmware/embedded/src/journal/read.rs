//! Reads the log in order, without what no longer counts.
//!
//! **Choices**
//! - Carried records come from pages before all others, so they are handed out first.
//! - A tuner that forgets may measure a combination anew, and the log has the outcomes from before and
//!   after. Replaying the whole log forgets the old ones again. After a page was dropped there may be room
//!   for them, so from that note on they are left out. Until then they are not: the tuner at work had
//!   them, and a boot must reach the same bits.
//!
//! **Cost.** Two passes over all slots; one more per record if the log has an outcome anew.

use embedded_storage::nor_flash::NorFlash;
use trimtab::{Event, Record};

use super::format::{Content, Slot};
use super::{Entry, Journal, Trouble};

/// What the notes of dropped pages say. Pages are counted from the oldest.
pub(super) struct Notes {
    /// The first page whose copies count: those before it are older than a restart.
    pub(super) first: u32,
    /// The last page with a note, if there is an outcome anew until there.
    anew: Option<u32>,
}

impl<F: NorFlash, const K: usize> Journal<F, K> {
    /// Hands out every entry, oldest first. Returns the number of damaged slots and of pages without
    /// anything readable.
    pub fn read(&mut self, mut entry: impl FnMut(Entry<K>)) -> Result<u32, Trouble> {
        let mut damaged = self.unreadable;
        let notes = self.notes()?;
        for is_carried in [true, false] {
            for page in 0..=self.newest.wrapping_sub(self.oldest) {
                let number = self.oldest.wrapping_add(page);
                let counts = page >= notes.first && (number != self.newest || self.is_dropped);
                for slot in 0..self.sizes.slots {
                    let (record, after) = match (self.slot(number, slot)?, is_carried) {
                        (Slot::Holds(Content::Carried(record)), true) if counts => (record, (0, 0)),
                        (Slot::Holds(Content::Entry(Entry::Record(record)) | Content::Anew(record)), false) => {
                            (record, (page, slot + 1))
                        }
                        (Slot::Holds(Content::Entry(Entry::Restarted)), false) => {
                            entry(Entry::Restarted);
                            continue;
                        }
                        (Slot::Damaged, false) => {
                            damaged += 1;
                            continue;
                        }
                        _ => continue,
                    };
                    if !self.is_replaced(&record, after, &notes)? {
                        entry(Entry::Record(record));
                    }
                }
            }
        }
        Ok(damaged)
    }

    /// Whether the log has an outcome of the combination of this record since the last restart.
    pub(crate) fn has_outcome(&mut self, of: &Record<K>) -> Result<bool, Trouble> {
        let mut found = false;
        self.read(|entry| match entry {
            Entry::Record(record) => found |= is_outcome(&record) && record.levels() == of.levels(),
            Entry::Restarted => found = false,
        })?;
        Ok(found)
    }

    pub(super) fn notes(&mut self) -> Result<Notes, Trouble> {
        let (mut first, mut last, mut anew) = (0, None, None);
        for page in 0..=self.newest.wrapping_sub(self.oldest) {
            for slot in 0..self.sizes.slots {
                match self.slot(self.oldest.wrapping_add(page), slot)? {
                    Slot::Holds(Content::Dropped { restart }) => {
                        last = Some(page);
                        first = if restart { page } else { first };
                    }
                    Slot::Holds(Content::Anew(_)) => anew = anew.or(Some(page)),
                    _ => {}
                }
            }
        }
        Ok(Notes { first, anew: last.filter(|last| anew.is_some_and(|anew| anew <= *last)) })
    }

    /// Whether an outcome anew replaced this one, before a page was dropped and before the next restart.
    fn is_replaced(&mut self, record: &Record<K>, after: (u32, usize), notes: &Notes) -> Result<bool, Trouble> {
        let Some(last) = notes.anew.filter(|_| is_outcome(record)) else { return Ok(false) };
        let (page, mut from) = after;
        for page in page..=last {
            for slot in from..self.sizes.slots {
                match self.slot(self.oldest.wrapping_add(page), slot)? {
                    Slot::Holds(Content::Anew(other)) if other.levels() == record.levels() => return Ok(true),
                    Slot::Holds(Content::Entry(Entry::Restarted)) => return Ok(false),
                    _ => {}
                }
            }
            from = 0;
        }
        Ok(false)
    }
}

fn is_outcome<const K: usize>(record: &Record<K>) -> bool {
    record.event.value().is_some() || record.event == Event::Failed
}
