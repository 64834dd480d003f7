//! Cortex-M: the way in, and what a hard fault ends with.

// Brings the critical section that defmt needs.
use cortex_m as _;
pub use cortex_m_rt::entry;
use cortex_m_rt::{ExceptionFrame, exception};

/// A bus error, an undefined instruction, an access to memory that is not there.
// Unsafe by cortex-m-rt's rule: no handler of a fault may rely on the state of what it interrupted. This one does not.
#[exception]
unsafe fn HardFault(_frame: &ExceptionFrame) -> ! {
    #[cfg(feature = "console")]
    semihosting::eprintln!("hard fault at {:#010x}, called from {:#010x}", _frame.pc(), _frame.lr());
    #[cfg(feature = "rtt")]
    defmt::error!("hard fault at {=u32:#010x}, called from {=u32:#010x}", _frame.pc(), _frame.lr());
    super::exit(false)
}
