//! trimtab on a microcontroller.
//!
//! The library is portable `no_std` code, the same on a PC and on the chip, so that the host and the tests use
//! exactly what the chip runs:
//!
//! - [`antenna`]: the physics of an antenna matching network, and the tuner for it;
//! - [`objective`]: what is tuned, as a trait, and the loop around it;
//! - [`relays`]: the reference problem, 24 relays, on which budgets of memory and time are stated;
//! - [`parity`]: fixed runs printed bit by bit, to show that the chip and the PC agree.
//!
//! What needs a chip (the way out, the panic handler, the timer) is in `device`, built for a bare target only.
//! Each bin is one idea: `cargo qemu` lists them, `cargo qemu antenna` builds one, runs it in QEMU and decodes its log.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod antenna;
#[cfg(all(target_os = "none", feature = "semihosting-exit"))]
pub mod device;
pub mod objective;
pub mod parity;
pub mod relays;
