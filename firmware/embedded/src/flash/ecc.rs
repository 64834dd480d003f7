//! Flash with a checksum per word, as on STM32 L4, G4, H5, H7 and U5: a torn word cannot be read.
//!
//! **Choices**
//! - Reading a torn word is an error until its page is erased. Reads of other words work.
//! - The flags of all words lie beside the flash, so they outlive a reboot as the cells do.
//!
//! **Cost.** The flash, and one byte per word.

use core::ops::Range;

use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};

use super::Simulated;

/// Simulated flash of `WORDS` words, some of which cannot be read.
///
/// ```
/// use embedded_storage::nor_flash::{NorFlash, ReadNorFlash};
/// use trimtab_embedded::flash::{Cut, Damage, Ecc, EccError, RamFlash};
/// let mut flash = Ecc::<RamFlash<2, 64, 8>, 16>::new(RamFlash::new());
/// let _ = Cut::at(&mut flash, 0, Damage::Torn(1)).write(0, &[0; 8]);
/// let mut word = [0; 8];
/// assert_eq!(flash.read(0, &mut word), Err(EccError::Torn));
/// flash.read(8, &mut word)?;
/// flash.erase(0, 64)?;
/// flash.read(0, &mut word)?;
/// assert_eq!(word, [0xFF; 8]);
/// # Ok::<(), EccError<trimtab_embedded::flash::RuleError>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ecc<F, const WORDS: usize> {
    flash: F,
    torn: [bool; WORDS],
}

impl<F: NorFlash, const WORDS: usize> Ecc<F, WORDS> {
    /// Flash without a torn word.
    pub fn new(flash: F) -> Self {
        assert!(flash.capacity() == WORDS * F::WRITE_SIZE, "one flag per word");
        Self { flash, torn: [false; WORDS] }
    }

    /// The flags of all words that these cells touch.
    fn touched(&mut self, cells: Range<usize>) -> &mut [bool] {
        let words = cells.start / F::WRITE_SIZE..cells.end.div_ceil(F::WRITE_SIZE);
        self.torn.get_mut(words).unwrap_or_default()
    }

    fn cells(offset: u32, length: usize) -> Range<usize> {
        let start = offset as usize;
        start..start.saturating_add(length)
    }
}

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum EccError<E> {
    /// A word was torn by a power cut: its checksum is wrong.
    Torn,
    /// The flash refused.
    Flash(E),
}

impl<E> From<E> for EccError<E> {
    fn from(error: E) -> Self {
        Self::Flash(error)
    }
}

impl<E: NorFlashError> NorFlashError for EccError<E> {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Self::Torn => NorFlashErrorKind::Other,
            Self::Flash(error) => error.kind(),
        }
    }
}

impl<F: NorFlash, const WORDS: usize> ErrorType for Ecc<F, WORDS> {
    type Error = EccError<F::Error>;
}

impl<F: NorFlash, const WORDS: usize> ReadNorFlash for Ecc<F, WORDS> {
    const READ_SIZE: usize = F::READ_SIZE;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        if self.touched(Self::cells(offset, bytes.len())).contains(&true) {
            return Err(EccError::Torn);
        }
        Ok(self.flash.read(offset, bytes)?)
    }

    fn capacity(&self) -> usize {
        self.flash.capacity()
    }
}

impl<F: NorFlash, const WORDS: usize> NorFlash for Ecc<F, WORDS> {
    const WRITE_SIZE: usize = F::WRITE_SIZE;
    const ERASE_SIZE: usize = F::ERASE_SIZE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        self.flash.erase(from, to)?;
        self.touched(from as usize..to as usize).fill(false);
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        if self.touched(Self::cells(offset, bytes.len())).contains(&true) {
            return Err(EccError::Torn);
        }
        Ok(self.flash.write(offset, bytes)?)
    }
}

impl<F: Simulated, const WORDS: usize> Simulated for Ecc<F, WORDS> {
    fn poke(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        self.touched(Self::cells(offset, bytes.len())).fill(false);
        Ok(self.flash.poke(offset, bytes)?)
    }

    fn tear(&mut self, offset: u32, length: usize) -> Result<(), Self::Error> {
        self.touched(Self::cells(offset, length)).fill(true);
        Ok(())
    }
}
