//! The place of pages and slots, and reading them.

use embedded_storage::nor_flash::NorFlash;

use super::format::{BUFFER, Slot, Spot};
use super::header::{Header, HeaderFault};
use super::{Journal, Trouble};

/// How often a read is tried: what a bus that stumbles once hides would be taken for damage.
const TRIES: usize = 3;

impl<F: NorFlash, const K: usize> Journal<F, K> {
    pub(super) fn pages(&self) -> u32 {
        (self.layout.range.end - self.layout.range.start) / F::ERASE_SIZE as u32
    }

    /// The place of a page in the ring.
    pub(super) fn place(&self, number: u32) -> u32 {
        number % self.pages()
    }

    pub(super) fn start(&self, place: u32) -> u32 {
        self.layout.range.start + place * F::ERASE_SIZE as u32
    }

    pub(super) fn offset(&self, number: u32, slot: usize) -> u32 {
        self.start(self.place(number)) + (self.sizes.header + slot * self.sizes.slot) as u32
    }

    /// The header at a place. One that belongs elsewhere counts as damaged.
    pub(super) fn header(&mut self, place: u32) -> Result<Result<Header, HeaderFault>, Trouble> {
        let mut buffer = [0; BUFFER];
        let Some(bytes) = self.bytes(self.start(place), self.sizes.header, &mut buffer)? else {
            return Ok(Err(HeaderFault::Damaged));
        };
        Ok(Header::read(bytes).and_then(|header| match self.place(header.number) == place {
            true => Ok(header),
            false => Err(HeaderFault::Damaged),
        }))
    }

    pub(super) fn slot(&mut self, number: u32, slot: usize) -> Result<Slot<K>, Trouble> {
        let mut buffer = [0; BUFFER];
        let bytes = self.bytes(self.offset(number, slot), self.sizes.slot, &mut buffer)?;
        Ok(bytes.map_or(Slot::Damaged, |bytes| Slot::read(bytes, self.spot(number, slot))))
    }

    /// Reads these bytes. `None` if the flash cannot after [`TRIES`]: damage of this place, no more.
    pub(super) fn bytes<'b>(
        &mut self,
        offset: u32,
        length: usize,
        buffer: &'b mut [u8; BUFFER],
    ) -> Result<Option<&'b [u8]>, Trouble> {
        let bytes = buffer.get_mut(..length).ok_or(Trouble::Layout)?;
        let is_read = (0..TRIES).any(|_| self.flash.read(offset, bytes).is_ok());
        Ok(is_read.then_some(bytes))
    }

    /// Whether the flash answers no read at all.
    pub(super) fn is_silent(&mut self) -> bool {
        let mut word = [0; BUFFER];
        let Some(word) = word.get_mut(..F::READ_SIZE) else { return true };
        let offsets = self.layout.range.clone().step_by(F::WRITE_SIZE.max(F::READ_SIZE));
        !offsets.into_iter().any(|offset| self.flash.read(offset, word).is_ok())
    }

    /// What the checksum of a slot or mark covers besides its bytes.
    pub(super) fn spot(&self, page: u32, slot: usize) -> Spot {
        Spot { fingerprint: self.fingerprint, page, slot }
    }

    /// Whether the flash holds these bytes.
    pub(super) fn holds(&mut self, offset: u32, bytes: &[u8]) -> Result<bool, Trouble> {
        Ok(self.bytes(offset, bytes.len(), &mut [0; BUFFER])? == Some(bytes))
    }

    pub(super) fn is_blank(&mut self, place: u32) -> Result<bool, Trouble> {
        let mut buffer = [0; BUFFER];
        let (start, page) = (self.start(place), F::ERASE_SIZE);
        for done in (0..page).step_by(BUFFER) {
            let part = self.bytes(start + done as u32, BUFFER.min(page - done), &mut buffer)?;
            if part.is_none_or(|part| part.iter().any(|byte| *byte != 0xFF)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
