//! trimtab on a microcontroller.
//!
//! The library is portable `no_std` code, so the host and the tests run exactly what the chip runs.
//! A folder uses only the ones listed above it:
//!
//! | module | what it is |
//! |---|---|
//! | [`objective`] | your hardware as a trait, and the loop that tunes it |
//! | [`flash`] | simulated NOR flash that can lose its power, for tests |
//! | [`journal`] | a log on any NOR flash |
//! | [`persistent`] | a tuner with that log: a power cut costs at most the measurement under way |
//! | [`telemetry`] | a run as a stream of small frames, watched, kept and checked on a PC |
//! | [`watchdog`] | ends a measurement that hangs, and names it after the reset |
//! | [`demo`] | what the images run: [`antenna`], [`chip`], [`level`](demo::level), [`relays`], [`selftune`], [`parity`], [`survival`] |
//! | `device` | exit, panic handler, timer, serial port: on a bare target only |
//!
//! A product uses the modules above `demo`; they know no board. Each bin is one idea: `cargo qemu`
//! lists them, and `cargo qemu antenna` builds one, runs it in QEMU and decodes its log.
#![no_std]

#[cfg(test)]
extern crate std;

// For products.
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
