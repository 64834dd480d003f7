//! NOR flash in a file on the PC, by semihosting: it outlives a power cut.
//!
//! **Choices**
//! - Semihosting opens the file in QEMU's working folder. A file that is too short is filled up
//!   with erased flash.
//! - The rules are those of [`RamFlash`](trimtab_embedded::flash::RamFlash), except that a word may be written
//!   twice, as on most chips.
//!
//! **Cost.** Two semihosting calls per operation, while the chip stands still.

use core::ffi::CStr;

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};
use semihosting::fs::{File, OpenOptions};
use semihosting::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use trimtab_embedded::flash::Simulated;

/// Bytes erased per call.
const CHUNK: usize = 64;

/// Flash of `PAGES` pages of `PAGE` bytes, written in words of four bytes.
pub struct FileFlash<const PAGES: usize, const PAGE: usize> {
    file: File,
}

impl<const PAGES: usize, const PAGE: usize> FileFlash<PAGES, PAGE> {
    /// Opens or creates the file.
    pub fn open(path: &CStr) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let file = options.open(path).or_else(|_| options.create(true).truncate(true).open(path))?;
        let length = file.metadata()?.len() as usize;
        let mut flash = Self { file };
        flash.fill(length, PAGES * PAGE)?;
        Ok(flash)
    }

    /// Writes ones from here to there.
    fn fill(&mut self, from: usize, to: usize) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(from as u64))?;
        for done in (from..to).step_by(CHUNK) {
            self.file.write_all([0xFF; CHUNK].get(..CHUNK.min(to - done)).unwrap_or_default())?;
        }
        Ok(())
    }

    fn put(&mut self, offset: u32, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(u64::from(offset)))?;
        self.file.write_all(bytes)
    }
}

impl<const PAGES: usize, const PAGE: usize> ErrorType for FileFlash<PAGES, PAGE> {
    type Error = NorFlashErrorKind;
}

impl<const PAGES: usize, const PAGE: usize> ReadNorFlash for FileFlash<PAGES, PAGE> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        check_read(self, offset, bytes.len())?;
        self.file.seek(SeekFrom::Start(u64::from(offset))).map_err(other)?;
        self.file.read_exact(bytes).map_err(other)
    }

    fn capacity(&self) -> usize {
        PAGES * PAGE
    }
}

impl<const PAGES: usize, const PAGE: usize> NorFlash for FileFlash<PAGES, PAGE> {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = PAGE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        check_erase(self, from, to)?;
        self.fill(from as usize, to as usize).map_err(other)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        check_write(self, offset, bytes.len())?;
        // A write only turns ones into zeros.
        for (at, new) in (offset..).step_by(CHUNK).zip(bytes.chunks(CHUNK)) {
            let mut cells = [0; CHUNK];
            let cells = cells.get_mut(..new.len()).unwrap_or_default();
            self.read(at, cells)?;
            cells.iter_mut().zip(new).for_each(|(cell, new)| *cell &= new);
            self.put(at, cells).map_err(other)?;
        }
        Ok(())
    }
}

impl<const PAGES: usize, const PAGE: usize> Simulated for FileFlash<PAGES, PAGE> {
    fn poke(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        check_read(self, offset, bytes.len())?;
        self.put(offset, bytes).map_err(other)
    }
}

fn other(_: io::Error) -> NorFlashErrorKind {
    NorFlashErrorKind::Other
}
