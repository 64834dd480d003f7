//! The last two sectors of the board's own flash, see [`sectors`](crate::demo::chip::sectors).
//!
//! | board | sectors | address |
//! |---|---|---|
//! | STM32F405xG, 1 MiB | 10 and 11 | 0x080C_0000 |
//! | STM32F411xE, F446xE, 512 KiB | 6 and 7 | 0x0804_0000 |
//!
//! **Choices.** There are none if the image itself reaches that far. QEMU's flash cannot be written, so this is for
//! boards alone.

use core::ptr;

use crate::demo::chip::sectors::{Controller, Register, Sectors};

#[cfg(feature = "stm32f405")]
const PLACE: (u32, usize) = (10, 0x080C_0000);
#[cfg(not(feature = "stm32f405"))]
const PLACE: (u32, usize) = (6, 0x0804_0000);

/// FLASH_KEYR, FLASH_SR and FLASH_CR: see `chip::sectors`.
const REGISTERS: [usize; 3] = [0x4002_3C04, 0x4002_3C0C, 0x4002_3C10];

unsafe extern "C" {
    /// Where the first values of the variables are in flash: the last that an image has there. A linker symbol: only
    /// its address means something.
    static __sidata: u32;
    static __sdata: u32;
    static __edata: u32;
}

/// The two sectors, if nothing of the image is in them.
pub fn sectors() -> Option<Sectors<OwnFlash>> {
    let [values, begin, end] = [&raw const __sidata, &raw const __sdata, &raw const __edata].map(|p| p as usize);
    (values + (end - begin) <= PLACE.1).then_some(Sectors::new(OwnFlash(()), PLACE.0))
}

/// The chip's own flash and its controller. Only [`sectors`] makes one.
#[derive(Debug)]
pub struct OwnFlash(());

fn register(register: Register) -> *mut u32 {
    let [key, status, control] = REGISTERS;
    ptr::without_provenance_mut(match register {
        Register::Key => key,
        Register::Status => status,
        Register::Control => control,
    })
}

impl Controller for OwnFlash {
    fn read(&mut self, name: Register) -> u32 {
        // SAFETY: an address of the table in the manual, aligned, without a side effect when it is read.
        unsafe { register(name).read_volatile() }
    }

    fn write(&mut self, name: Register, value: u32) {
        // SAFETY: as above; `Sectors` commands an erase of its two sectors alone, in which nothing of the image is.
        unsafe { register(name).write_volatile(value) };
    }

    fn load(&mut self, offset: usize) -> u8 {
        // SAFETY: `Sectors` checks that the offset is within the two sectors, which are memory that can be read.
        unsafe { ptr::with_exposed_provenance::<u8>(PLACE.1 + offset).read_volatile() }
    }

    fn store(&mut self, offset: usize, word: u32) {
        // SAFETY: as above, aligned, and nothing of the image is there.
        unsafe { ptr::with_exposed_provenance_mut::<u32>(PLACE.1 + offset).write_volatile(word) };
    }
}
