//! The registers of the board's chip, as listed in [`chip`](crate::demo::chip).

use core::ptr;

use cortex_m::asm;

#[cfg(feature = "nrf52840")]
pub use crate::demo::chip::nrf52840::FIELDS;
#[cfg(feature = "rp2350")]
pub use crate::demo::chip::rp2350::FIELDS;
#[cfg(any(feature = "stm32f405", feature = "stm32f411", feature = "stm32f446"))]
pub use crate::demo::chip::stm32f4::FIELDS;
// Other machines have only the core's switches.
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
        // SAFETY: a field's address comes from a table in `chip`, is aligned, and reading its
        // register has no side effect.
        unsafe { ptr::without_provenance::<u32>(field.address()).read_volatile() }
    }

    fn write(&mut self, field: &Field, register: u32) {
        // SAFETY: as above; every value of a field is safe for the chip and leaves memory
        // unchanged.
        unsafe { ptr::without_provenance_mut::<u32>(field.address()).write_volatile(register) };
        // The next instructions run with the new setting.
        asm::dsb();
        asm::isb();
    }
}
