//! NOR flash in RAM, strict about the rules.
//!
//! **Choices**
//! - Writing a word that is not erased is an error: chips with a checksum per word forbid it, and
//!   embedded-storage forbids it for all.
//! - Erasing several pages counts as one erase per page.
//! - Cells are stored inverted, so new flash is all zero and a static one takes no room in an
//!   image.
//!
//! **Cost.** Its capacity, and four bytes per page.

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};

use super::Simulated;

/// Flash of `PAGES` pages of `PAGE` bytes, written in words of `WORD` bytes.
///
/// ```
/// use embedded_storage::nor_flash::{NorFlash, ReadNorFlash};
/// use trimtab_embedded::flash::{RamFlash, RuleError};
/// let mut flash = RamFlash::<2, 64, 4>::new();
/// flash.write(8, &[1, 2, 3, 4])?;
/// assert_eq!(flash.write(8, &[1, 2, 3, 4]), Err(RuleError::NotErased));
/// flash.erase(0, 64)?;
/// let mut word = [0; 4];
/// flash.read(8, &mut word)?;
/// assert_eq!((word, flash.erases()), ([0xFF; 4], &[1, 0]));
/// # Ok::<(), RuleError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RamFlash<const PAGES: usize, const PAGE: usize, const WORD: usize> {
    /// Inverted.
    pages: [[u8; PAGE]; PAGES],
    erases: [u32; PAGES],
}

impl<const PAGES: usize, const PAGE: usize, const WORD: usize> RamFlash<PAGES, PAGE, WORD> {
    /// Erased flash, as from the factory.
    pub const fn new() -> Self {
        const { assert!(WORD > 0 && PAGE.is_multiple_of(WORD), "a page must be a whole number of words") };
        Self { pages: [[0; PAGE]; PAGES], erases: [0; PAGES] }
    }

    /// Erases per page.
    pub fn erases(&self) -> &[u32; PAGES] {
        &self.erases
    }

    fn cells(&mut self) -> &mut [u8] {
        self.pages.as_flattened_mut()
    }

    /// The cells from an offset on; the caller has checked the bounds.
    fn part(&mut self, offset: u32, length: usize) -> &mut [u8] {
        let from = offset as usize;
        self.cells().get_mut(from..from.saturating_add(length)).unwrap_or_default()
    }
}

impl<const PAGES: usize, const PAGE: usize, const WORD: usize> Default for RamFlash<PAGES, PAGE, WORD> {
    fn default() -> Self {
        Self::new()
    }
}

/// Why an operation was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum RuleError {
    /// Not a whole number of words or pages.
    NotAligned,
    /// Past the end.
    OutOfBounds,
    /// The word was written since the last erase of its page.
    NotErased,
}

impl NorFlashError for RuleError {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Self::NotAligned => NorFlashErrorKind::NotAligned,
            Self::OutOfBounds => NorFlashErrorKind::OutOfBounds,
            Self::NotErased => NorFlashErrorKind::Other,
        }
    }
}

impl From<NorFlashErrorKind> for RuleError {
    fn from(kind: NorFlashErrorKind) -> Self {
        match kind {
            NorFlashErrorKind::NotAligned => Self::NotAligned,
            _ => Self::OutOfBounds,
        }
    }
}

impl<const PAGES: usize, const PAGE: usize, const WORD: usize> ErrorType for RamFlash<PAGES, PAGE, WORD> {
    type Error = RuleError;
}

impl<const PAGES: usize, const PAGE: usize, const WORD: usize> ReadNorFlash for RamFlash<PAGES, PAGE, WORD> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), RuleError> {
        check_read(self, offset, bytes.len())?;
        let part = self.part(offset, bytes.len());
        bytes.iter_mut().zip(part).for_each(|(byte, cell)| *byte = !*cell);
        Ok(())
    }

    fn capacity(&self) -> usize {
        PAGES * PAGE
    }
}

impl<const PAGES: usize, const PAGE: usize, const WORD: usize> NorFlash for RamFlash<PAGES, PAGE, WORD> {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = PAGE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), RuleError> {
        check_erase(self, from, to)?;
        let pages = from as usize / PAGE..to as usize / PAGE;
        for (page, erases) in self.pages.iter_mut().zip(&mut self.erases).skip(pages.start).take(pages.len()) {
            page.fill(0);
            *erases += 1;
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), RuleError> {
        check_write(self, offset, bytes.len())?;
        let part = self.part(offset, bytes.len());
        if part.iter().any(|cell| *cell != 0) {
            return Err(RuleError::NotErased);
        }
        part.iter_mut().zip(bytes).for_each(|(cell, byte)| *cell = !*byte);
        Ok(())
    }
}

impl<const PAGES: usize, const PAGE: usize, const WORD: usize> Simulated for RamFlash<PAGES, PAGE, WORD> {
    fn poke(&mut self, offset: u32, bytes: &[u8]) -> Result<(), RuleError> {
        check_read(self, offset, bytes.len())?;
        self.part(offset, bytes.len()).iter_mut().zip(bytes).for_each(|(cell, byte)| *cell = !*byte);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_enforces_the_rules() {
        let mut flash = RamFlash::<3, 32, 4>::new();
        assert_eq!(flash.write(2, &[0; 4]), Err(RuleError::NotAligned));
        assert_eq!(flash.write(4, &[0; 3]), Err(RuleError::NotAligned));
        assert_eq!(flash.write(96, &[0; 4]), Err(RuleError::OutOfBounds));
        assert_eq!(flash.erase(0, 16), Err(RuleError::NotAligned));
        assert_eq!(flash.erase(64, 128), Err(RuleError::OutOfBounds));
        assert_eq!(flash.write(28, &[7; 8]), Ok(()));
        assert_eq!(flash.write(32, &[7; 4]), Err(RuleError::NotErased));
        assert_eq!(flash.erase(32, 96), Ok(()));
        let mut read = [0; 8];
        flash.read(28, &mut read).unwrap();
        assert_eq!((read, *flash.erases()), ([7, 7, 7, 7, 255, 255, 255, 255], [0, 1, 1]));
    }

    #[test]
    fn an_erase_takes_its_pages_alone() {
        let mut flash = RamFlash::<4, 32, 4>::new();
        flash.write(0, &[7; 128]).unwrap();
        flash.erase(32, 64).unwrap();
        let mut read = [0; 128];
        flash.read(0, &mut read).unwrap();
        assert_eq!((flash.capacity(), *flash.erases()), (128, [0, 1, 0, 0]));
        assert!(read.iter().enumerate().all(|(i, byte)| *byte == if i / 32 == 1 { 0xFF } else { 7 }));
    }

    #[test]
    fn torn_words_read_as_zeros_without_a_checksum() {
        fn tear(mut flash: impl Simulated<Error = RuleError>) {
            flash.tear(4, 8).unwrap();
            flash.poke(5, &[9]).unwrap();
        }
        let mut flash = RamFlash::<1, 16, 4>::new();
        tear(&mut flash);
        let mut read = [1; 16];
        flash.read(0, &mut read).unwrap();
        assert_eq!(read[..4], [0xFF; 4]);
        assert_eq!(read[4..], [0, 9, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]);
    }
}
