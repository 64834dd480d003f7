//! trimtab on a microcontroller.
//!
//! The library is portable `no_std` code, the same on a PC and on the chip, so that the host and the tests use
//! exactly what the chip runs:
//!
//! - [`antenna`]: the physics of an antenna matching network, and the tuner for it;
//! - [`chip`]: registers that decide how a chip runs its code, as knobs;
//! - [`objective`]: what is tuned, as a trait, and the loop around it;
//! - [`persistent`]: a tuner whose log is in flash, so that a power cut costs at most the measurement under way;
//! - [`journal`]: that log, on any NOR flash; [`flash`]: flash for its tests, which can be cut off at every write;
//! - [`watchdog`]: what ends a measurement that hangs, and tells the next boot;
//! - [`relays`]: the reference problem, 24 relays, on which budgets of memory and time are stated;
//! - [`parity`]: fixed runs printed bit by bit, to show that the chip and the PC agree;
//! - [`selftune`]: a filter written in hundreds of ways, and the search for the cheapest;
//! - [`telemetry`]: a run as a stream of small frames, to be watched, kept and checked on a PC.
//!
//! What needs a chip (the way out, the panic handler, the timer) is in `device`, built for a bare target only.
//! Each bin is one idea: `cargo qemu` lists them, `cargo qemu antenna` builds one, runs it in QEMU and decodes its log.
#![no_std]

#[cfg(test)]
extern crate std;

// For products: no board, no demo. A folder uses only the ones above it.
pub mod objective;

pub mod flash;
pub mod journal;
pub mod persistent;

pub mod telemetry;
pub mod watchdog;

// Demos.
pub mod demo;

// The chip.
#[cfg(all(target_os = "none", feature = "semihosting-exit"))]
pub mod device;

pub use demo::{antenna, chip, parity, relays, selftune, survival};
