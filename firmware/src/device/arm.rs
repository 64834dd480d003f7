//! Cortex-M: the entry point and the hard fault handler.

// Provides the critical section that defmt needs.
use cortex_m as _;
pub use cortex_m_rt::entry;
use cortex_m_rt::{ExceptionFrame, exception};

/// A bus error, an undefined instruction, an access to missing memory.
// Unsafe by cortex-m-rt's rule: a fault handler must not rely on the state it interrupted. This one
// does not.
#[exception]
unsafe fn HardFault(_frame: &ExceptionFrame) -> ! {
    #[cfg(feature = "console")]
    semihosting::eprintln!("hard fault at {:#010x}, called from {:#010x}", _frame.pc(), _frame.lr());
    #[cfg(feature = "rtt")]
    defmt::error!("hard fault at {=u32:#010x}, called from {=u32:#010x}", _frame.pc(), _frame.lr());
    super::exit(false)
}
