//! Reads the log in order, without what no longer counts.
//!
//! **Choices**
//! - Carried records come from pages before all others, so they are handed out first.
//! - A tuner that forgets may measure a combination anew, and the log has the outcomes from before and
//!   after. Replaying the whole log forgets the old ones again. After a page was dropped there may be room
//!   for them, so from that note on they are left out. Until then they are not: the tuner at work had
//!   them, and a boot must reach the same bits.
//! - A tuner that is rebuilt from fewer records forgets others than the one at work. If it forgot one of
//!   two outcomes that belong together, the other would pass for the whole truth. So up to that note all
//!   outcomes of a combination are handed out together, in the place of the first.
//!
//! **Cost.** Two passes over all slots, and one per record once a page was dropped.

use embedded_storage::nor_flash::NorFlash;
use trimtab::{Event, Record};

use super::format::{Content, Slot};
use super::{Entry, Journal, Trouble};

/// What the notes of dropped pages say. Pages are counted from the oldest.
pub(super) struct Notes {
    /// The first page whose copies count: those before it are older than a restart.
    pub(super) first: u32,
    /// The last page with a note.
    last: Option<u32>,
    /// Whether there is an outcome anew until there.
    anew: bool,
}

/// Where a record stands in the order of reading: copies first, then by page and slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    is_entry: bool,
    page: u32,
    slot: usize,
}

impl Place {
    fn next(self) -> Self {
        Self { slot: self.slot + 1, ..self }
    }
}

impl<F: NorFlash, const K: usize> Journal<F, K> {
    /// Hands out every entry, oldest first. Returns the number of damaged slots and of pages without
    /// anything readable.
    pub fn read(&mut self, mut entry: impl FnMut(Entry<K>)) -> Result<u32, Trouble> {
        let mut damaged = self.unreadable;
        let notes = self.notes()?;
        let mut since = Place { is_entry: false, page: 0, slot: 0 };
        for is_entry in [false, true] {
            for page in 0..=self.newest.wrapping_sub(self.oldest) {
                for slot in 0..self.sizes.slots {
                    let place = Place { is_entry, page, slot };
                    match self.at(place, &notes)? {
                        Slot::Holds(Content::Entry(Entry::Restarted)) => {
                            entry(Entry::Restarted);
                            since = place.next();
                        }
                        Slot::Holds(content) => {
                            let Some(record) = content.record() else { continue };
                            self.read_group(record, place, since, &notes, &mut entry)?;
                        }
                        Slot::Damaged if is_entry => damaged += 1,
                        Slot::Damaged | Slot::Blank => {}
                    }
                }
            }
        }
        Ok(damaged)
    }

    /// Hands out the record at this place, with those of its combination that belong to it.
    fn read_group(
        &mut self,
        record: &Record<K>,
        place: Place,
        since: Place,
        notes: &Notes,
        entry: &mut impl FnMut(Entry<K>),
    ) -> Result<(), Trouble> {
        if notes.last.is_none_or(|last| place.page > last) {
            entry(Entry::Record(record.clone()));
            return Ok(());
        }
        if !is_outcome(record) {
            // It was measured since then.
            if self.alike(record, place, notes)?.is_none() {
                entry(Entry::Record(record.clone()));
            }
            return Ok(());
        }
        let mut next = self.alike(record, since, notes)?;
        if next.as_ref().is_none_or(|(first, _)| *first != place) {
            return Ok(());
        }
        while let Some((place, record)) = next {
            next = self.alike(&record, place.next(), notes)?;
            entry(Entry::Record(record));
        }
        Ok(())
    }

    /// The first outcome of the combination of this record from a place on, until the last note or the next
    /// restart; without those that an outcome anew replaced.
    fn alike(&mut self, of: &Record<K>, from: Place, notes: &Notes) -> Result<Option<(Place, Record<K>)>, Trouble> {
        let Some(last) = notes.last else { return Ok(None) };
        for is_entry in [false, true] {
            for page in 0..=last {
                for slot in 0..self.sizes.slots {
                    let place = Place { is_entry, page, slot };
                    if place < from {
                        continue;
                    }
                    match self.at(place, notes)? {
                        Slot::Holds(Content::Entry(Entry::Restarted)) => return Ok(None),
                        Slot::Holds(content) => {
                            let alike = content.record().filter(|own| is_outcome(own) && own.levels() == of.levels());
                            let Some(record) = alike else { continue };
                            if !self.is_replaced(record, place, notes)? {
                                return Ok(Some((place, record.clone())));
                            }
                        }
                        Slot::Blank | Slot::Damaged => {}
                    }
                }
            }
        }
        Ok(None)
    }

    /// A slot, if it is read at this place: copies are read before entries.
    fn at(&mut self, place: Place, notes: &Notes) -> Result<Slot<K>, Trouble> {
        let number = self.oldest.wrapping_add(place.page);
        let counts = place.page >= notes.first && (number != self.newest || self.is_dropped);
        if !place.is_entry && !counts {
            return Ok(Slot::Blank);
        }
        let slot = self.slot(number, place.slot)?;
        let is_read = match slot {
            Slot::Holds(Content::Carried(_)) => !place.is_entry,
            Slot::Holds(Content::Dropped { .. }) => false,
            _ => place.is_entry,
        };
        Ok(if is_read { slot } else { Slot::Blank })
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
        Ok(Notes { first, last, anew: last.is_some_and(|last| anew.is_some_and(|anew| anew <= last)) })
    }

    /// Whether an outcome anew replaced this one, before a page was dropped and before the next restart.
    fn is_replaced(&mut self, record: &Record<K>, place: Place, notes: &Notes) -> Result<bool, Trouble> {
        let Some(last) = notes.last.filter(|_| notes.anew) else { return Ok(false) };
        let (page, mut from) = if place.is_entry { (place.page, place.slot + 1) } else { (0, 0) };
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
