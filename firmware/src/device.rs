//! The glue of every image, once: how it prints, how it ends, and what happens when it goes wrong.
//!
//! **Choices.** An image ends with an exit code, which semihosting hands to QEMU or to a debugger: 0 if it did what
//! it is for, 1 otherwise. A panic and a hard fault are failures, never a silent halt. Log frames (defmt) own
//! standard output, so what a panic has to say goes to standard error. With `semihosting-exit` alone nothing
//! is said, and no formatting is linked.
//!
//! **Cost.** A semihosting call stops the chip while the other side works: nothing timed may have one inside.

use core::panic::PanicInfo;

// Brings the critical section that defmt needs.
use cortex_m as _;
use cortex_m_rt::{ExceptionFrame, exception};

#[cfg(feature = "semihosting")]
mod console;
mod stack;
mod timer;

#[cfg(feature = "semihosting")]
pub use console::Console;
#[cfg(feature = "semihosting")]
use defmt_semihosting as _;
pub use stack::most_stack;
pub use timer::Timer;

/// Ends the image: exit code 0 if it did what it is for, 1 otherwise.
pub fn exit(success: bool) -> ! {
    semihosting::process::exit(i32::from(!success))
}

#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    #[cfg(feature = "semihosting")]
    semihosting::eprintln!("{_info}");
    exit(false)
}

/// A bus error, an undefined instruction, an access to memory that is not there.
// Unsafe by cortex-m-rt's rule: no handler of a fault may rely on the state of what it interrupted. This one does not.
#[exception]
unsafe fn HardFault(_frame: &ExceptionFrame) -> ! {
    #[cfg(feature = "semihosting")]
    semihosting::eprintln!("hard fault at {:#010x}, called from {:#010x}", _frame.pc(), _frame.lr());
    exit(false)
}
