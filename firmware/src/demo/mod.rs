//! Demos: what the images run, and what the host and the tests share with them.

pub mod antenna;
pub mod chip;
pub mod relays;
pub mod selftune;

pub mod parity;
pub mod survival;
