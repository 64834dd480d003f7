//! The registers of the board's chip, see [`chip`](crate::demo::chip).

use core::ptr;

use cortex_m::asm;

#[cfg(feature = "nrf52840")]
pub use crate::demo::chip::nrf52840::FIELDS;
#[cfg(feature = "rp2350")]
pub use crate::demo::chip::rp2350::FIELDS;
#[cfg(any(feature = "stm32f405", feature = "stm32f411", feature = "stm32f446"))]
pub use crate::demo::chip::stm32f4::FIELDS;
// What is no chip still has a core.
#[cfg(not(any(
    feature = "nrf52840",
    feature = "rp2350",
    feature = "stm32f405",
    feature = "stm32f411",
    feature = "stm32f446"
)))]
pub use crate::demo::chip::cortex_m::FIELDS;
use crate::demo::chip::{Bus, Field};

/// The chip's own registers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory;

impl Bus for Memory {
    fn read(&mut self, field: &Field) -> u32 {
        // SAFETY: a field's address is one of a table in `chip`, aligned, and its register has no side effect when it
        // is read.
        unsafe { ptr::without_provenance::<u32>(field.address()).read_volatile() }
    }

    fn write(&mut self, field: &Field, register: u32) {
        // SAFETY: as above; whatever a field of the table holds is safe for the chip, and memory is the same before and
        // after.
        unsafe { ptr::without_provenance_mut::<u32>(field.address()).write_volatile(register) };
        // What follows is run the new way.
        asm::dsb();
        asm::isb();
    }
}
