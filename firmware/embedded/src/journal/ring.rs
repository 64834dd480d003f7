//! The place of pages and slots, and reading them.

use embedded_storage::nor_flash::NorFlash;

use super::format::{BUFFER, Slot, Spot};
use super::header::{Header, HeaderFault};
use super::{Journal, Trouble};

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
        let bytes = buffer.get_mut(..self.sizes.header).ok_or(Trouble::Layout)?;
        self.flash.read(self.start(place), bytes).map_err(|_| Trouble::Refused)?;
        Ok(Header::read(bytes).and_then(|header| match self.place(header.number) == place {
            true => Ok(header),
            false => Err(HeaderFault::Damaged),
        }))
    }

    pub(super) fn slot(&mut self, number: u32, slot: usize) -> Result<Slot<K>, Trouble> {
        let mut buffer = [0; BUFFER];
        let bytes = buffer.get_mut(..self.sizes.slot).ok_or(Trouble::Layout)?;
        self.flash.read(self.offset(number, slot), bytes).map_err(|_| Trouble::Refused)?;
        Ok(Slot::read(bytes, self.spot(number, slot)))
    }

    /// What the checksum of a slot or mark covers besides its bytes.
    pub(super) fn spot(&self, page: u32, slot: usize) -> Spot {
        Spot { fingerprint: self.fingerprint, page, slot }
    }

    /// Whether the flash holds these bytes.
    pub(super) fn holds(&mut self, offset: u32, bytes: &[u8]) -> Result<bool, Trouble> {
        let mut buffer = [0; BUFFER];
        let read = buffer.get_mut(..bytes.len()).ok_or(Trouble::Layout)?;
        self.flash.read(offset, read).map_err(|_| Trouble::Refused)?;
        Ok(read == bytes)
    }

    pub(super) fn is_blank(&mut self, place: u32) -> Result<bool, Trouble> {
        let mut buffer = [0; BUFFER];
        let (start, page) = (self.start(place), F::ERASE_SIZE);
        for done in (0..page).step_by(BUFFER) {
            let part = buffer.get_mut(..BUFFER.min(page - done)).ok_or(Trouble::Layout)?;
            self.flash.read(start + done as u32, part).map_err(|_| Trouble::Refused)?;
            if part.iter().any(|byte| *byte != 0xFF) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
