//! RISC-V: the entry point and the exception handler.

pub use riscv_rt::entry;

/// A bus error, an undefined instruction, an access to missing memory.
// SAFETY: riscv-rt calls the exception handler by this name, with a pointer to the saved registers.
#[unsafe(export_name = "ExceptionHandler")]
extern "C" fn exception(_frame: &riscv_rt::TrapFrame) -> ! {
    #[cfg(feature = "console")]
    semihosting::eprintln!("exception at {:#010x}, called from {:#010x}", riscv::register::mepc::read(), _frame.ra);
    super::exit(false)
}
