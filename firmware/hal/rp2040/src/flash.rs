//! The flash of an RP2040 as a `NorFlash`: rp2040-hal has none, rp2040-flash has its two operations.

use cortex_m::interrupt;
use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};
use rp2040_flash::flash::{flash_range_erase, flash_range_program};

/// The second stage of the boot, which sets the flash up for reading.
#[unsafe(link_section = ".boot2")]
#[used]
static BOOT2: [u8; 256] = rp2040_boot2::BOOT_LOADER_W25Q080;

const BASE: usize = 0x1000_0000;
const SIZE: usize = 2 * 1024 * 1024;
/// The chip programs whole pages; ones leave a cell as it is.
const PAGE: usize = 256;

/// The flash that the program runs from. The second core must not run while it writes or erases.
pub struct OwnFlash;

impl ErrorType for OwnFlash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for OwnFlash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        check_read(self, offset, bytes.len())?;
        for (i, byte) in bytes.iter_mut().enumerate() {
            // Within the flash, which is mapped for reading.
            *byte = unsafe { ((BASE + offset as usize + i) as *const u8).read_volatile() };
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        SIZE
    }
}

impl NorFlash for OwnFlash {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 4096;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        check_erase(self, from, to)?;
        // Nothing reads the flash meanwhile: interrupts are off, and the routine runs from RAM.
        interrupt::free(|_| unsafe { flash_range_erase(from, to - from, true) });
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        check_write(self, offset, bytes.len())?;
        let (mut at, mut rest) = (offset as usize, bytes);
        while !rest.is_empty() {
            let (page, from) = (at - at % PAGE, at % PAGE);
            let (now, later) = rest.split_at(rest.len().min(PAGE - from));
            let mut cells = [0xFF; PAGE];
            cells[from..from + now.len()].copy_from_slice(now);
            // As above.
            interrupt::free(|_| unsafe { flash_range_program(page as u32, &cells, true) });
            (at, rest) = (page + PAGE, later);
        }
        Ok(())
    }
}
