//! Runs into an undefined instruction, to show that a fault ends with a failure and says where.
#![no_std]
#![no_main]

use core::arch::asm;

use trimtab_firmware::device::entry;

#[entry]
fn main() -> ! {
    // SAFETY: an instruction that no processor has does nothing; the fault's handler does not come back.
    #[cfg(target_arch = "arm")]
    unsafe {
        asm!("udf #0", options(noreturn))
    }
    // SAFETY: as above.
    #[cfg(target_arch = "riscv32")]
    unsafe {
        asm!("unimp", options(noreturn))
    }
}
