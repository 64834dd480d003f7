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
use trimtab::Record;

use super::format::{BUFFER, Content, Slot};
use super::header::Header;
use super::{Entry, Journal, SPARE_SLOTS, Trouble};

/// Most records that are carried from one page to another.
pub const MOST_CARRIED: usize = 16;
/// Slots of a page that no entry takes: one for a copy, one for the note.
pub(super) const RESERVED: usize = 2;

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
        let chosen = self.choose(rank)?;
        // A power cut may have left the first copies behind.
        for (slot, _) in chosen.iter().skip(self.carried) {
            let Slot::Holds(Content::Entry(Entry::Record(record)) | Content::Carried(record)) =
                self.slot(self.oldest, *slot)?
            else {
                continue;
            };
            // The last slot is for the note.
            if !self.write_before(self.sizes.slots - 1, &Content::Carried(record))? {
                break;
            }
            self.carried += 1;
        }
        // Without a slot for the note, a cut during the erase may leave records twice or not at all.
        self.is_dropped = self.write_before(self.sizes.slots, &Content::Dropped)?;
        Ok(())
    }

    /// The slots of the oldest page to carry over, best first.
    fn choose(
        &mut self,
        mut rank: impl FnMut(&Record<K>, u32) -> Option<f32>,
    ) -> Result<Vec<(usize, f32), { MOST_CARRIED + 1 }>, Trouble> {
        let mut restarts = 0;
        for page in 1..self.pages() {
            for slot in 0..self.sizes.slots {
                let content = self.slot(self.oldest.wrapping_add(page), slot)?;
                restarts += u32::from(content == Slot::Holds(Content::Entry(Entry::Restarted)));
            }
        }
        let spare = self.sizes.slots.saturating_sub(usize::from(self.layout.records) + SPARE_SLOTS - 1);
        let room = (self.carried + self.sizes.slots).saturating_sub(self.slot + 1);
        let most = MOST_CARRIED.min(spare).min(room);
        let mut chosen = Vec::new();
        for is_carried in [true, false] {
            for slot in 0..self.sizes.slots {
                let record = match (self.slot(self.oldest, slot)?, is_carried) {
                    (Slot::Holds(Content::Carried(record)), true) => record,
                    (Slot::Holds(Content::Entry(Entry::Record(record))), false) => record,
                    (Slot::Holds(Content::Entry(Entry::Restarted)), false) => {
                        chosen.clear();
                        continue;
                    }
                    _ => continue,
                };
                if let Some(own) = rank(&record, restarts) {
                    let place = chosen.iter().take_while(|(_, other)| *other <= own).count();
                    // There is room for one more than the most.
                    let _ = chosen.insert(place, (slot, own));
                    chosen.truncate(most);
                }
            }
        }
        Ok(chosen)
    }
}
