//! Tunes a product's own hardware with [`trimtab`], on any chip and any HAL.
//!
//! Portable `no_std` code without a target's dependencies: the chip runs exactly what the host and
//! the tests run. A module uses only the ones listed above it:
//!
//! | module | what it is |
//! |---|---|
//! | [`objective`] | your hardware as a trait, and the loop that tunes it |
//! | [`flash`] | simulated NOR flash that can lose its power, for tests; a guard for real flash with ECC |
//! | [`journal`] | a log on any NOR flash |
//! | [`persistent`] | a tuner with that log: a power cut costs at most the measurement under way |
//! | [`telemetry`] | a run as a stream of small frames, watched, kept and checked on a PC |
//! | [`watchdog`] | ends a measurement that hangs, and names it after the reset |
#![no_std]

#[cfg(test)]
extern crate std;

/// The code in the README of the registry compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod objective;

pub mod flash;
pub mod journal;
pub mod persistent;

pub mod telemetry;
pub mod watchdog;
