//! Marks of boots that began a measurement, at the end of each page.
//!
//! **Choices**
//! - A mark has the number of boots, so the last one tells the count, also on the next page.
//! - A mark counts only beside the entry that it follows: the next outcome ends the count.

use embedded_storage::nor_flash::NorFlash;

use super::format::{BUFFER, begun};
use super::{Journal, Trouble};

impl<F: NorFlash, const K: usize> Journal<F, K> {
    /// Measurements that boots have begun since the last entry.
    pub fn begun(&self) -> u8 {
        self.begun
    }

    /// Writes that a boot begins a measurement. If the page has no room for it, nothing is written.
    pub fn begin(&mut self) -> Result<(), Trouble> {
        self.mark(self.begun.saturating_add(1))
    }

    /// Writes that so many boots have begun a measurement since the last entry.
    pub(super) fn mark(&mut self, boots: u8) -> Result<(), Trouble> {
        while boots > 0 && self.mark < self.sizes.marks {
            let (offset, spot) = (self.mark_offset(self.mark), self.spot(self.newest, self.mark));
            self.mark += 1;
            let mut buffer = [0xFF; BUFFER];
            let bytes = self.sizes.mark(&mut buffer, self.counted, boots, spot).ok_or(Trouble::Layout)?;
            self.flash.write(offset, bytes).map_err(|_| Trouble::Refused)?;
            if self.holds(offset, bytes)? {
                self.begun = boots;
                break;
            }
        }
        Ok(())
    }

    /// Finds the next free mark of the newest page, and the count of its last entry.
    pub(super) fn find_marks(&mut self) -> Result<(), Trouble> {
        for mark in 0..self.sizes.marks {
            let (offset, spot) = (self.mark_offset(mark), self.spot(self.newest, mark));
            let mut buffer = [0; BUFFER];
            let bytes = self.bytes(offset, self.sizes.mark, &mut buffer)?.unwrap_or(&[0]);
            if bytes.iter().any(|byte| *byte != 0xFF) {
                self.mark = mark + 1;
                self.begun = begun(bytes, self.counted, spot).unwrap_or(self.begun);
            }
        }
        Ok(())
    }

    fn mark_offset(&self, mark: usize) -> u32 {
        self.offset(self.newest, self.sizes.slots) + (mark * self.sizes.mark) as u32
    }
}
