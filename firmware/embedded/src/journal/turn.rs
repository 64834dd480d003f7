//! Begins the next page, and carries over what still matters in the page that it drops.
//!
//! ```text
//! full page n:   records   copies of records of page n − P + 1   "dropped"      then that page is erased
//! ```
//!
//! **Choices**
//! - Copies go into the spare slots of the full page before the erase. They count once the note
//!   "dropped" is there, and from then on the dropped page counts no more. So a power cut at any
//!   place leaves each record once, and the next boot goes on where the copying stopped.
//! - The best records come first, so the best is safe even if there is room for one only. Which ones
//!   are carried depends on the log alone.
//! - Only records since the last restart matter, or before it those of its queue.

use embedded_storage::nor_flash::NorFlash;
use heapless::Vec;
use trimtab::{Event, Record};

use super::format::{BUFFER, Content, Slot};
use super::header::Header;
use super::{Entry, Journal, SPARE_SLOTS, Trouble};

/// Most records that are carried from one page to another.
pub const MOST_CARRIED: usize = 16;
/// Slots of a page that no entry takes: one for a copy, one for the note.
pub(super) const RESERVED: usize = 2;

/// Slots with the ranks of their records, best first.
type Chosen = Vec<(usize, f32), { MOST_CARRIED + 1 }>;

impl<F: NorFlash, const K: usize> Journal<F, K> {
    /// Begins the next page of the ring. Returns whether that dropped the oldest page of the log.
    ///
    /// Of that page, the records with the smallest `rank` are carried over as far as there is room,
    /// at most [`MOST_CARRIED`]. `rank` gets a record and the number of restarts in later pages,
    /// and returns `None` for a record that does not matter.
    pub fn turn(&mut self, rank: impl FnMut(&Record<K>, u32) -> Option<f32>) -> Result<bool, Trouble> {
        let number = self.newest.wrapping_add(1);
        let dropped = number.wrapping_sub(self.oldest) == self.pages();
        if dropped {
            self.carry(rank)?;
        }
        self.oldest = self.oldest.wrapping_add(u32::from(dropped));
        let place = self.place(number);
        let from = self.start(place);
        self.flash.erase(from, from + F::ERASE_SIZE as u32).map_err(|_| Trouble::Refused)?;
        if !self.is_blank(place)? {
            return Err(Trouble::Worn);
        }
        let mut buffer = [0xFF; BUFFER];
        let (before, fingerprint) = (self.total(), self.fingerprint);
        let header = Header { number, before, fingerprint };
        let header = header.write(&mut buffer, &self.sizes).ok_or(Trouble::Layout)?;
        self.flash.write(from, header).map_err(|_| Trouble::Refused)?;
        if !self.holds(from, header)? {
            return Err(Trouble::Worn);
        }
        let begun = self.begun;
        (self.newest, self.before, self.slot, self.counted, self.mark, self.begun) = (number, before, 0, 0, 0, 0);
        (self.carried, self.is_dropped, self.unreadable) = (0, false, 0);
        self.mark(begun)?;
        Ok(dropped)
    }

    /// Copies the records of the oldest page that matter to the newest, and notes that the oldest
    /// is dropped.
    fn carry(&mut self, rank: impl FnMut(&Record<K>, u32) -> Option<f32>) -> Result<(), Trouble> {
        let (chosen, restart) = self.choose(rank)?;
        // A power cut may have left the first copies behind.
        for (slot, _) in chosen.iter().skip(self.carried) {
            let Slot::Holds(content) = self.slot(self.oldest, *slot)? else { continue };
            let Some(record) = content.record().cloned() else { continue };
            // The last slot is for the note.
            if !self.write_before(self.sizes.slots - 1, &Content::Carried(record))? {
                break;
            }
            self.carried += 1;
        }
        // Without a slot for the note, a cut during the erase may leave records twice or not at all.
        self.is_dropped = self.write_before(self.sizes.slots, &Content::Dropped { restart })?;
        Ok(())
    }

    /// The slots of the oldest page to carry over, best first, and whether a restart is in it.
    fn choose(&mut self, mut rank: impl FnMut(&Record<K>, u32) -> Option<f32>) -> Result<(Chosen, bool), Trouble> {
        let (mut restarts, mut replaced) = (0, false);
        for page in 1..self.pages() {
            for slot in 0..self.sizes.slots {
                match self.slot(self.oldest.wrapping_add(page), slot)? {
                    Slot::Holds(Content::Entry(Entry::Restarted)) => restarts += 1,
                    Slot::Holds(content) => replaced |= content.replaces(),
                    _ => {}
                }
            }
        }
        let spare = self.sizes.slots.saturating_sub(usize::from(self.layout.records) + SPARE_SLOTS - 1);
        let room = (self.carried + self.sizes.slots).saturating_sub(self.slot + 1);
        let most = MOST_CARRIED.min(spare).min(room);
        let (mut chosen, mut restart, first) = (Chosen::new(), false, self.notes()?.first);
        for is_carried in [true, false] {
            for slot in 0..self.sizes.slots {
                let Slot::Holds(content) = self.slot(self.oldest, slot)? else { continue };
                let replaces = content.replaces();
                let record = match (content, is_carried) {
                    (Content::Carried(record), true) if first == 0 => record,
                    (Content::Entry(Entry::Record(record)) | Content::Anew(record), false) => record,
                    (Content::Entry(Entry::Restarted), false) => {
                        chosen.clear();
                        restart = true;
                        continue;
                    }
                    _ => continue,
                };
                let Some(own) = rank(&record, restarts) else { continue };
                if replaces {
                    self.forget(&mut chosen, &record)?;
                }
                // Before a restart a failure replaces nothing that the restart did not see.
                let may_be_moot = replaced || record.event == Event::Failed;
                if restarts == 0 && may_be_moot && self.is_moot(&record, own, is_carried)? {
                    continue;
                }
                let place = chosen.iter().take_while(|(_, other)| *other <= own).count();
                // There is room for one more than the most.
                let _ = chosen.insert(place, (slot, own));
                chosen.truncate(most);
            }
        }
        Ok((chosen, restart))
    }

    /// Removes the records of a combination from a choice of slots of the oldest page.
    fn forget(&mut self, chosen: &mut Chosen, of: &Record<K>) -> Result<(), Trouble> {
        let mut i = 0;
        while let Some((slot, _)) = chosen.get(i) {
            match self.slot(self.oldest, *slot)? {
                Slot::Holds(content) if content.record().is_some_and(|record| record.levels() == of.levels()) => {
                    chosen.remove(i);
                }
                _ => i += 1,
            }
        }
        Ok(())
    }

    /// Whether a record of the oldest page no longer counts: a failure or an outcome anew replaced what
    /// was measured before it, and a failure that something replaced counts only while it has to
    /// replace an older outcome. Copies in later pages are older than the entries of this page and newer than its
    /// copies; those in the newest page are of this turn.
    fn is_moot(&mut self, record: &Record<K>, rank: f32, is_carried: bool) -> Result<bool, Trouble> {
        let is_failure = record.event == Event::Failed;
        let (mut is_replaced, mut replaces) = (false, rank == f32::INFINITY);
        for page in 1..self.pages() {
            for slot in 0..self.sizes.slots {
                let Slot::Holds(content) = self.slot(self.oldest.wrapping_add(page), slot)? else { continue };
                let Some(other) = content.record().filter(|other| other.levels() == record.levels()) else { continue };
                match content {
                    Content::Entry(_) | Content::Anew(_) => is_replaced |= content.replaces(),
                    _ if page == self.pages() - 1 => {}
                    _ if is_carried => is_replaced |= other.event == Event::Failed,
                    _ => replaces = true,
                }
            }
        }
        Ok(is_replaced || is_failure && !replaces)
    }
}
