//! The flash of an nRF51 by its controller (NVMC, reference manual 6), which QEMU's microbit has.
//!
//! | register | offset | meaning |
//! |---|---|---|
//! | READY | 0x400 | 1 when the last operation is done |
//! | CONFIG | 0x504 | 0 read, 1 write, 2 erase |
//! | ERASEPAGE | 0x508 | the address of the page to erase |
//!
//! **Choices.** Only here, to run the journal on a controller's own rules: products have the driver of
//! their HAL.

use core::ptr;

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};

const NVMC: usize = 0x4001_E000;
const READY: usize = NVMC + 0x400;
const CONFIG: usize = NVMC + 0x504;
const ERASE_PAGE: usize = NVMC + 0x508;
const PAGE: usize = 1024;

/// The flash from address 0 on.
pub struct Nvmc {
    capacity: usize,
}

impl Nvmc {
    /// The flash up to this address. There must be one driver only.
    pub const fn new(capacity: usize) -> Self {
        Self { capacity }
    }

    /// Does this in a mode of the controller, then goes back to reading.
    fn in_mode(mode: u32, work: impl FnOnce()) {
        set(CONFIG, mode);
        work();
        while get(READY) & 1 == 0 {}
        set(CONFIG, 0);
    }
}

fn get(address: usize) -> u32 {
    // SAFETY: a register of the controller, or a word of flash whose bounds are checked.
    unsafe { ptr::with_exposed_provenance::<u32>(address).read_volatile() }
}

fn set(address: usize, value: u32) {
    // SAFETY: as above; the journal's pages hold neither code nor data of the image.
    unsafe { ptr::with_exposed_provenance_mut::<u32>(address).write_volatile(value) }
}

impl ErrorType for Nvmc {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Nvmc {
    const READ_SIZE: usize = 4;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        check_read(self, offset, bytes.len())?;
        for (address, part) in (offset as usize..).step_by(4).zip(bytes.chunks_exact_mut(4)) {
            part.copy_from_slice(&get(address).to_le_bytes());
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.capacity
    }
}

impl NorFlash for Nvmc {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = PAGE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        check_erase(self, from, to)?;
        (from..to).step_by(PAGE).for_each(|page| Self::in_mode(2, || set(ERASE_PAGE, page)));
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        check_write(self, offset, bytes.len())?;
        for (address, part) in (offset as usize..).step_by(4).zip(bytes.chunks_exact(4)) {
            let word = part.try_into().map(u32::from_le_bytes).map_err(|_| NorFlashErrorKind::NotAligned)?;
            Self::in_mode(1, || set(address, word));
        }
        Ok(())
    }
}
