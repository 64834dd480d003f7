//! Executes an undefined instruction, to test that a fault ends with a failure and its address.
#![no_std]
#![no_main]

use core::arch::asm;

use trimtab_firmware::device::entry;

#[entry]
fn main() -> ! {
    // SAFETY: the undefined instruction has no effect but the fault, whose handler does not return.
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
