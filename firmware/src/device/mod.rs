//! What every image needs of the chip: how it prints, how it ends, and what a fault does.
//!
//! | feature | log (defmt) | a panic's message | for |
//! |---|---|---|---|
//! | `semihosting` | standard output, as frames | standard error | QEMU |
//! | `rtt` | RTT, as frames | the log | a board under `probe-rs run` or `cargo embed` |
//! | `console` | none; plain lines on standard output | standard error | QEMU |
//! | `semihosting-exit` alone | none | none | the smallest image |
//!
//! **Choices**
//! - An image ends with an exit code, which semihosting hands to QEMU or a debugger: 0 for success,
//!   1 otherwise. A panic and a hard fault are failures, never a silent halt.
//! - With `semihosting-exit` alone no formatting is linked.
//! - A board without a debugger stops where the image ends.
//! - Entry and faults have a file per processor; timer, stack and registers are a Cortex-M's.
//!
//! **Cost.** A semihosting call stops the chip while the other side works, so no timed code may
//! contain one. RTT does not stop it.

use core::panic::PanicInfo;

#[cfg(target_arch = "arm")]
mod arm;
#[cfg(feature = "console")]
mod console;
#[cfg(feature = "console")]
mod file_flash;
#[cfg(all(feature = "console", target_arch = "arm"))]
mod meter;
#[cfg(feature = "microbit")]
mod nvmc;
#[cfg(target_arch = "arm")]
mod registers;
#[cfg(target_arch = "riscv32")]
mod riscv;
#[cfg(all(feature = "console", target_arch = "arm"))]
mod slices;
#[cfg(target_arch = "arm")]
mod stack;
#[cfg(target_arch = "arm")]
mod timer;
mod uart;
#[cfg(target_arch = "arm")]
mod watchdog;

#[cfg(target_arch = "arm")]
pub use arm::entry;
#[cfg(feature = "console")]
pub use console::Console;
#[cfg(feature = "rtt")]
use defmt_rtt as _;
#[cfg(feature = "semihosting")]
use defmt_semihosting as _;
#[cfg(feature = "console")]
pub use file_flash::FileFlash;
#[cfg(all(feature = "console", target_arch = "arm"))]
pub use meter::Meter;
#[cfg(feature = "microbit")]
pub use nvmc::Nvmc;
#[cfg(target_arch = "arm")]
pub use registers::{FIELDS, Memory};
#[cfg(target_arch = "riscv32")]
pub use riscv::entry;
#[cfg(target_arch = "arm")]
pub use stack::{most_stack, repaint};
#[cfg(target_arch = "arm")]
pub use timer::Timer;
pub use uart::Uart;
#[cfg(target_arch = "arm")]
pub use watchdog::TickWatchdog;

/// Ends the image with exit code 0 for success, 1 otherwise.
pub fn exit(success: bool) -> ! {
    // The debugger reads the rest of the buffer before it lets go.
    #[cfg(feature = "rtt")]
    defmt::flush();
    semihosting::process::exit(i32::from(!success))
}

#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    #[cfg(feature = "console")]
    semihosting::eprintln!("{_info}");
    #[cfg(feature = "rtt")]
    defmt::error!("{}", defmt::Display2Format(_info));
    exit(false)
}
