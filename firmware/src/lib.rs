//! Boards, demos and images: trimtab on a microcontroller, shown and tested.
//!
//! What a product uses is in [`trimtab_embedded`]; here is what we run it on. A module uses only
//! the ones listed above it:
//!
//! | module | what it is |
//! |---|---|
//! | [`demo`] | what the images run: [`antenna`], [`chip`], [`level`](demo::level), [`relays`], [`selftune`], [`parity`], [`survival`] |
//! | `device` | exit, panic handler, timer, serial port: on a bare target only |
//!
//! Each bin is one idea: `cargo qemu` lists them, and `cargo qemu antenna` builds one, runs it in
//! QEMU and decodes its log.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod demo;

// The chip.
#[cfg(all(target_os = "none", feature = "semihosting-exit"))]
pub mod device;

pub use demo::{antenna, chip, parity, relays, selftune, survival};
