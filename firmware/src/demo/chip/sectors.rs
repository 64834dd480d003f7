//! The last two sectors of an STM32F4's own flash, as any NOR flash is used: where a board keeps its journal.
//!
//! | register | what for |
//! |---|---|
//! | FLASH_KEYR | two keys, in order, open the control register |
//! | FLASH_SR | bit 16 busy; bits 1 and 4 to 8 what went wrong, cleared by writing them |
//! | FLASH_CR | bit 0 program, 1 erase a sector, 6:3 which, 9:8 the width (2: a word), 16 start, 31 lock |
//!
//! (Reference manuals RM0090 of the F405, RM0383 of the F411, RM0390 of the F446: chapter 3, flash control.)
//!
//! **Choices.** How the registers are reached is a trait, so that the steps are tested on a model of the controller.
//! The control register is locked again after each operation, also after one that failed. Words are written at once,
//! which needs a supply of 2.7 V or more. The data cache must be off, as it is after reset: it would keep what was
//! there before. Not tried on silicon.
//!
//! **Cost.** A sector is 128 KiB, and erasing one takes about a second, in which the chip, whose code is in the same
//! flash, stands still: a watchdog must be slower than that.

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};

/// Bytes of a sector.
pub const SECTOR: usize = 128 * 1024;
const SECTORS: usize = 2;
const WORD: usize = size_of::<u32>();

const KEYS: [u32; 2] = [0x4567_0123, 0xCDEF_89AB];
const BUSY: u32 = 1 << 16;
const FAULTS: u32 = 0x1F2;
const PROGRAM: u32 = 1;
const ERASE: u32 = 1 << 1;
const BY_WORDS: u32 = 2 << 8;
const START: u32 = 1 << 16;
const LOCK: u32 = 1 << 31;
/// Reads of a busy status before giving up: seconds at any clock.
const PATIENCE: u32 = 1 << 28;

/// A register of the flash controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// FLASH_KEYR.
    Key,
    /// FLASH_SR.
    Status,
    /// FLASH_CR.
    Control,
}

/// How the controller and the memory are reached: the chip's own, or a model of them in a test.
pub trait Controller {
    /// Reads a register.
    fn read(&mut self, register: Register) -> u32;

    /// Writes a register.
    fn write(&mut self, register: Register, value: u32);

    /// The byte at an offset from the start of the two sectors.
    fn load(&mut self, offset: usize) -> u8;

    /// Writes the word at an offset, a multiple of four, from the start of the two sectors.
    fn store(&mut self, offset: usize, word: u32);
}

/// Two sectors, one after the other.
#[derive(Clone, Debug)]
pub struct Sectors<C> {
    controller: C,
    first: u32,
}

impl<C: Controller> Sectors<C> {
    /// By the number of the first.
    pub const fn new(controller: C, first: u32) -> Self {
        Self { controller, first }
    }

    /// Does something with the control register open, and locks it again whatever comes of it.
    fn unlocked(&mut self, work: impl FnOnce(&mut Self) -> Result<(), FlashError>) -> Result<(), FlashError> {
        // What went wrong before is forgotten.
        self.status()?;
        self.controller.write(Register::Status, FAULTS);
        if self.controller.read(Register::Control) & LOCK != 0 {
            KEYS.into_iter().for_each(|key| self.controller.write(Register::Key, key));
        }
        let done = work(self);
        self.controller.write(Register::Control, LOCK);
        done
    }

    /// Waits for the end of an operation; what went wrong with it.
    fn ready(&mut self) -> Result<(), FlashError> {
        match self.status()? & FAULTS {
            0 => Ok(()),
            faults => Err(FlashError::Fault(faults)),
        }
    }

    /// The status once nothing is under way.
    fn status(&mut self) -> Result<u32, FlashError> {
        let mut reads = (0..PATIENCE).map(|_| self.controller.read(Register::Status));
        reads.find(|status| status & BUSY == 0).ok_or(FlashError::Busy)
    }
}

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashError {
    /// Not whole words or sectors, or beyond the end.
    Rule(NorFlashErrorKind),
    /// The controller says so: bits of its status.
    Fault(u32),
    /// The controller does not come to an end.
    Busy,
}

impl From<NorFlashErrorKind> for FlashError {
    fn from(kind: NorFlashErrorKind) -> Self {
        Self::Rule(kind)
    }
}

impl NorFlashError for FlashError {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Self::Rule(kind) => *kind,
            _ => NorFlashErrorKind::Other,
        }
    }
}

impl<C> ErrorType for Sectors<C> {
    type Error = FlashError;
}

impl<C: Controller> ReadNorFlash for Sectors<C> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), FlashError> {
        check_read(self, offset, bytes.len())?;
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = self.controller.load(offset as usize + i);
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        SECTORS * SECTOR
    }
}

impl<C: Controller> NorFlash for Sectors<C> {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), FlashError> {
        check_erase(self, from, to)?;
        let size = SECTOR as u32;
        (from / size..to / size).try_for_each(|sector| {
            let command = ERASE | (self.first + sector) << 3 | BY_WORDS;
            self.unlocked(|flash| {
                flash.controller.write(Register::Control, command);
                flash.controller.write(Register::Control, command | START);
                flash.ready()
            })
        })
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), FlashError> {
        check_write(self, offset, bytes.len())?;
        self.unlocked(|flash| {
            flash.controller.write(Register::Control, PROGRAM | BY_WORDS);
            for (i, word) in bytes.as_chunks::<WORD>().0.iter().enumerate() {
                flash.controller.store(offset as usize + i * WORD, u32::from_le_bytes(*word));
                flash.ready()?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// The controller as the manual has it: locked until both keys came in order, strict about commands.
    struct Model {
        cells: Vec<u8>,
        control: u32,
        status: u32,
        keys: Vec<u32>,
        /// Reads of the status until an operation has ended.
        busy: u32,
        /// A bit that the next operation ends with.
        fault: u32,
        erased: Vec<u32>,
    }

    impl Model {
        fn new() -> Self {
            let cells = std::vec![0; SECTORS * SECTOR];
            Self { cells, control: LOCK, status: 0, keys: Vec::new(), busy: 0, fault: 0, erased: Vec::new() }
        }

        fn operate(&mut self) {
            assert_eq!(self.busy, 0, "one operation at a time");
            self.busy = 3;
            self.status |= core::mem::take(&mut self.fault);
        }
    }

    impl Controller for &mut Model {
        fn read(&mut self, register: Register) -> u32 {
            match register {
                Register::Key => panic!("keys cannot be read"),
                Register::Control => self.control,
                Register::Status => {
                    let is_busy = self.busy > 0;
                    self.busy = self.busy.saturating_sub(1);
                    self.status | if is_busy { BUSY } else { 0 }
                }
            }
        }

        fn write(&mut self, register: Register, value: u32) {
            assert_eq!(self.busy, 0, "nothing is written while the controller is busy");
            match register {
                Register::Key => {
                    self.keys.push(value);
                    if self.keys.ends_with(&[0x4567_0123, 0xCDEF_89AB]) {
                        self.control &= !LOCK;
                    }
                }
                Register::Status => self.status &= !value,
                Register::Control if self.control & LOCK != 0 => panic!("the control register is locked"),
                Register::Control => {
                    self.control = value;
                    if value & START != 0 {
                        // Sectors 10 and 11 in bits 6:3, words in bits 9:8, and nothing else.
                        let sector = value >> 3 & 0xF;
                        assert_eq!(value, 1 << 16 | 2 << 8 | sector << 3 | 1 << 1);
                        let from = (sector as usize - 10) * SECTOR;
                        self.cells[from..from + SECTOR].fill(0xFF);
                        self.erased.push(sector);
                        self.operate();
                    }
                }
            }
        }

        fn load(&mut self, offset: usize) -> u8 {
            assert_eq!(self.busy, 0, "a read would wait");
            self.cells[offset]
        }

        fn store(&mut self, offset: usize, word: u32) {
            assert_eq!(self.control, 2 << 8 | 1, "programming by words must be on");
            assert_eq!(offset % 4, 0);
            for (cell, byte) in self.cells[offset..offset + 4].iter_mut().zip(word.to_le_bytes()) {
                *cell &= byte;
            }
            self.operate();
        }
    }

    #[test]
    fn what_is_erased_and_written_reads_back_and_the_lock_is_on_again() {
        let mut model = Model::new();
        let mut flash = Sectors::new(&mut model, 10);
        flash.erase(0, 2 * SECTOR as u32).unwrap();
        flash.write(SECTOR as u32 - 4, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        let mut bytes = [0; 10];
        flash.read(SECTOR as u32 - 5, &mut bytes).unwrap();
        assert_eq!(bytes, [0xFF, 1, 2, 3, 4, 5, 6, 7, 8, 0xFF]);
        assert_eq!((model.control, model.erased.as_slice()), (LOCK, &[10, 11][..]));
    }

    #[test]
    fn a_fault_is_told_once_and_locks_too() {
        let mut model = Model::new();
        // Write protection, bit 4.
        model.fault = 1 << 4;
        let mut flash = Sectors::new(&mut model, 10);
        assert_eq!(flash.erase(0, SECTOR as u32), Err(FlashError::Fault(1 << 4)));
        assert_eq!(flash.controller.control, LOCK);
        // The next operation clears it first.
        assert_eq!(flash.erase(0, SECTOR as u32), Ok(()));
    }

    #[test]
    fn rules_are_checked_before_anything_is_touched() {
        let mut model = Model::new();
        let mut flash = Sectors::new(&mut model, 10);
        let end = 2 * SECTOR as u32;
        assert_eq!(flash.write(2, &[0; 4]), Err(FlashError::Rule(NorFlashErrorKind::NotAligned)));
        assert_eq!(flash.write(end, &[0; 4]), Err(FlashError::Rule(NorFlashErrorKind::OutOfBounds)));
        assert_eq!(flash.erase(0, 1024), Err(FlashError::Rule(NorFlashErrorKind::NotAligned)));
        assert_eq!(flash.read(end - 1, &mut [0; 2]), Err(FlashError::Rule(NorFlashErrorKind::OutOfBounds)));
        assert_eq!((model.keys.len(), model.control), (0, LOCK));
    }
}
