//! Simulated flash that can lose its power: the journal is tested on it, on a PC and in QEMU.
//!
//! Erased NOR flash holds ones. A write turns ones into zeros, one word at a time; only erasing a
//! whole page restores the ones. A power cut leaves an operation half done.
//!
//! - [`RamFlash`]: the memory, with the rules of NOR flash and a count of erases per page;
//! - [`Ecc`]: flash with a checksum per word, some of whose words cannot be read;
//! - [`Cut`]: cuts the power of any simulated flash at a chosen operation;
//! - [`Guarded`]: the one for a product: real flash whose reads can be wrong.
//!
//! **Choices**
//! - The traits are `embedded-storage`'s, which every maintained HAL implements: code that works
//!   here works on any NOR flash.
//! - [`Simulated`] adds what no real flash offers: setting cells to any value, as power cuts and
//!   years do.

use embedded_storage::nor_flash::NorFlash;

pub use cut::{Cut, CutError, Damage};
pub use ecc::{Ecc, EccError};
pub use guarded::{Guarded, GuardedError};
pub use ram::{RamFlash, RuleError};

mod cut;
mod ecc;
mod guarded;
mod ram;

/// Flash whose cells can be set to any value.
pub trait Simulated: NorFlash {
    /// Sets cells to these values, against all rules.
    fn poke(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Leaves words half written. Without a checksum per word they read as zeros.
    fn tear(&mut self, offset: u32, length: usize) -> Result<(), Self::Error> {
        (offset..).take(length).try_for_each(|cell| self.poke(cell, &[0]))
    }
}

impl<F: Simulated> Simulated for &mut F {
    fn poke(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        F::poke(self, offset, bytes)
    }

    fn tear(&mut self, offset: u32, length: usize) -> Result<(), Self::Error> {
        F::tear(self, offset, length)
    }
}
