//! Flash memory that can lose its power: what the journal is tested on, on a PC and in QEMU.
//!
//! NOR flash holds ones where it is erased. A write turns ones into zeros, a word at a time; only an erase of a whole
//! page brings the ones back. Power that goes away in the middle leaves neither the old nor the new.
//!
//! - [`RamFlash`]: the memory, with the rules of NOR flash and a count of erases for each page;
//! - [`Cut`]: around any simulated flash, the power that goes away at an operation of one's choice.
//!
//! **Choices.** The traits are `embedded-storage`'s, which every maintained HAL implements: what works on these works on any NOR
//! flash. [`Simulated`] adds the one thing that no real flash offers: putting cells to any value, which is what a power cut
//! and the years do.

use embedded_storage::nor_flash::NorFlash;

pub use cut::{Cut, CutError, Damage};
pub use ram::{RamFlash, RuleError};

mod cut;
mod ram;

/// Flash whose cells can be put to any value.
pub trait Simulated: NorFlash {
    /// Puts cells to these values, against all rules.
    fn poke(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error>;
}

impl<F: Simulated> Simulated for &mut F {
    fn poke(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        F::poke(self, offset, bytes)
    }
}
