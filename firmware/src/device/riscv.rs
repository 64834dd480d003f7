//! RISC-V: the way in, and what an exception ends with.

pub use riscv_rt::entry;

/// A bus error, an undefined instruction, an access to memory that is not there.
// SAFETY: riscv-rt calls the handler of exceptions by this name, with a pointer to the registers saved, which is not used.
#[unsafe(export_name = "ExceptionHandler")]
extern "C" fn exception(_frame: &riscv_rt::TrapFrame) -> ! {
    #[cfg(feature = "console")]
    semihosting::eprintln!("exception at {:#010x}, called from {:#010x}", riscv::register::mepc::read(), _frame.ra);
    super::exit(false)
}
