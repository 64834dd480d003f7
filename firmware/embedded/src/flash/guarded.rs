//! For real flash with a checksum per word: an error that the chip signals becomes an error of the read.
//!
//! Chips such as STM32 L4, G4, H5, H7 and U5 raise an interrupt or set a flag when a read word has a
//! wrong checksum, but HALs copy memory and return success. [`Guarded`] asks after each read.
//!
//! **Cost.** One call per read.

use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};

/// A flash driver whose reads fail if `is_wrong` says so afterwards. `is_wrong` returns the chip's
/// flag of a wrong checksum and clears it.
///
/// ```
/// # use trimtab_embedded::flash::RamFlash;
/// # let mut hal_flash = RamFlash::<2, 64, 8>::new();
/// use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
/// use embedded_storage::nor_flash::ReadNorFlash;
/// use trimtab_embedded::flash::{Guarded, GuardedError};
///
/// static WRONG: AtomicBool = AtomicBool::new(false);
/// // In the interrupt (on an STM32G4 the NMI): clear the flag ECCD in FLASH_ECCR, then
/// // WRONG.store(true, Relaxed) and return.
///
/// let is_wrong = || WRONG.load(Relaxed) && { WRONG.store(false, Relaxed); true };
/// let mut flash = Guarded::new(hal_flash, is_wrong);
/// let mut word = [0; 8];
/// assert_eq!(flash.read(0, &mut word), Ok(()));
/// WRONG.store(true, Relaxed);
/// assert_eq!(flash.read(0, &mut word), Err(GuardedError::WrongChecksum));
/// assert_eq!(flash.read(0, &mut word), Ok(()));
/// ```
#[derive(Clone, Debug)]
pub struct Guarded<F, W> {
    flash: F,
    is_wrong: W,
}

impl<F, W: FnMut() -> bool> Guarded<F, W> {
    /// Guards a flash driver.
    pub const fn new(flash: F, is_wrong: W) -> Self {
        Self { flash, is_wrong }
    }
}

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum GuardedError<E> {
    /// A read word has a wrong checksum.
    WrongChecksum,
    /// The flash refused.
    Flash(E),
}

impl<E: NorFlashError> NorFlashError for GuardedError<E> {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Self::WrongChecksum => NorFlashErrorKind::Other,
            Self::Flash(error) => error.kind(),
        }
    }
}

impl<F: ErrorType, W> ErrorType for Guarded<F, W> {
    type Error = GuardedError<F::Error>;
}

impl<F: ReadNorFlash, W: FnMut() -> bool> ReadNorFlash for Guarded<F, W> {
    const READ_SIZE: usize = F::READ_SIZE;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        let done = self.flash.read(offset, bytes).map_err(GuardedError::Flash);
        if (self.is_wrong)() { Err(GuardedError::WrongChecksum) } else { done }
    }

    fn capacity(&self) -> usize {
        self.flash.capacity()
    }
}

impl<F: NorFlash, W: FnMut() -> bool> NorFlash for Guarded<F, W> {
    const WRITE_SIZE: usize = F::WRITE_SIZE;
    const ERASE_SIZE: usize = F::ERASE_SIZE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        self.flash.erase(from, to).map_err(GuardedError::Flash)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        self.flash.write(offset, bytes).map_err(GuardedError::Flash)
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;
    use crate::flash::{RamFlash, RuleError};

    #[test]
    fn a_guard_passes_on_what_the_flash_does_and_refuses() {
        let wrong = Cell::new(false);
        let mut flash = Guarded::new(RamFlash::<2, 64, 8>::new(), || wrong.take());
        let mut word = [0; 8];
        assert_eq!(flash.capacity(), 128);
        assert_eq!(flash.write(64, &[7; 8]), Ok(()));
        assert_eq!((flash.read(64, &mut word), word), (Ok(()), [7; 8]));
        wrong.set(true);
        assert_eq!(flash.read(64, &mut word), Err(GuardedError::WrongChecksum));
        assert_eq!(flash.read(64, &mut word), Ok(()), "the flag is cleared");
        assert_eq!(flash.read(128, &mut word), Err(GuardedError::Flash(RuleError::OutOfBounds)));
        assert_eq!(flash.write(64, &[7; 8]), Err(GuardedError::Flash(RuleError::NotErased)));
        assert_eq!(flash.erase(64, 100), Err(GuardedError::Flash(RuleError::NotAligned)));
        assert_eq!(flash.erase(64, 128), Ok(()));
        assert_eq!((flash.read(64, &mut word), word), (Ok(()), [0xFF; 8]));
    }
}
