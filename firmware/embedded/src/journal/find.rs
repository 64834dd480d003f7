//! Finds a log in the flash when it is opened.
//!
//! **Choices**
//! - The pages of a log have consecutive numbers, so the others tell the number of a page without a
//!   readable header, and one valid record confirms it.
//! - What cannot be read is damaged, whatever the flash says of it: on flash with a checksum per word a
//!   torn write is an error of every later read. Only a flash that answers nothing is trouble.
//! - A header knows how many entries are before its page. With none, the log begins there, and what
//!   older pages hold is somebody else's.

use embedded_storage::nor_flash::NorFlash;

use super::format::{Content, Slot};
use super::header::{Header, HeaderFault};
use super::{Found, Journal, Trouble};

impl<F: NorFlash, const K: usize> Journal<F, K> {
    /// Finds the newest page, the pages before it that belong to it, and the end of the log.
    pub(super) fn find(&mut self) -> Result<Found, Trouble> {
        let mut newest: Option<Header> = None;
        let mut other = Found::Blank;
        for place in 0..self.pages() {
            match self.header(place)? {
                Ok(header) => newest = newest.filter(|newest| newest.number > header.number).or(Some(header)),
                Err(HeaderFault::Version(version)) => other = Found::Version(version),
                Err(HeaderFault::Damaged) if other == Found::Blank && !self.is_blank(place)? => {
                    other = Found::Unreadable;
                }
                Err(HeaderFault::Damaged) => {}
            }
        }
        let Some(newest) = newest else {
            // A chip that does not answer may hold a log: nothing is erased.
            if self.is_silent() {
                return Err(Trouble::Refused);
            }
            // As if a page had been full, so that the first page gets number 0.
            (self.newest, self.oldest) = (u32::MAX, 0);
            return Ok(other);
        };
        (self.newest, self.oldest) = (newest.number, newest.number);
        if newest.fingerprint != self.fingerprint {
            self.oldest = newest.number.wrapping_add(1);
            return Ok(Found::Foreign);
        }
        self.before = newest.before;
        self.find_end()?;
        self.find_beginning()?;
        self.find_marks()?;
        Ok(Found::Log)
    }

    /// Finds the newest page and its last entry, from the page with the newest header on.
    fn find_end(&mut self) -> Result<(), Trouble> {
        loop {
            let (mut entries, mut used) = (0, 0);
            (self.carried, self.is_dropped) = (0, false);
            for slot in 0..self.sizes.slots {
                let Slot::Holds(content) = self.slot(self.newest, slot)? else { continue };
                used = slot + 1;
                match content {
                    Content::Entry(_) | Content::Anew(_) => entries += 1,
                    Content::Carried(_) => self.carried += 1,
                    Content::Dropped { .. } => self.is_dropped = true,
                }
            }
            (self.counted, self.slot) = (entries, used);
            match self.next_with_records()? {
                Some(next) => (self.newest, self.before) = (next, self.total()),
                None => {
                    self.unreadable = u32::from(self.is_unreadable(self.newest.wrapping_add(1))?);
                    return Ok(());
                }
            }
        }
    }

    /// Finds the oldest page.
    fn find_beginning(&mut self) -> Result<(), Trouble> {
        self.oldest = self.newest;
        // The page that the newest one has dropped may be half erased.
        let most = self.pages() - 1 - u32::from(self.is_dropped);
        let mut is_first = self.before == 0;
        for _ in 0..most {
            let older = self.oldest.wrapping_sub(1);
            let header = self.header(self.place(older))?;
            let is_ours = match header {
                Ok(header) => header.number == older && header.fingerprint == self.fingerprint,
                Err(_) => self.is_unreadable(older)?,
            };
            if is_first || !is_ours {
                break;
            }
            self.oldest = older;
            is_first = header.is_ok_and(|header| header.before == 0);
        }
        // If the ring is full, the next place is that of the oldest page, whose slots are read.
        if self.newest.wrapping_sub(self.oldest) == self.pages() - 1 {
            self.unreadable = 0;
        }
        Ok(())
    }

    /// The next page without a header but with records. Pages without anything readable may stand
    /// before it.
    fn next_with_records(&mut self) -> Result<Option<u32>, Trouble> {
        for ahead in 1..self.pages() {
            let number = self.newest.wrapping_add(ahead);
            if !self.is_unreadable(number)? {
                break;
            }
            if self.has_records(number)? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// Whether the place of this page holds something without a header.
    fn is_unreadable(&mut self, number: u32) -> Result<bool, Trouble> {
        let place = self.place(number);
        Ok(self.header(place)? == Err(HeaderFault::Damaged) && !self.is_blank(place)?)
    }

    fn has_records(&mut self, number: u32) -> Result<bool, Trouble> {
        for slot in 0..self.sizes.slots {
            if let Slot::Holds(_) = self.slot(number, slot)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
