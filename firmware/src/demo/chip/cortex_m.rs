//! The auxiliary control register: the switches of a Cortex-M4, most of them also in a Cortex-M33.
//!
//! | bit of ACTLR, 0xE000_E008 | what it switches off |
//! |---|---|
//! | 1 DISDEFWBUF | the write buffer: the core waits for each store |
//! | 2 DISFOLD | folding of IT instructions into their neighbours; on a Cortex-M33, two instructions at a time |
//! | 9 DISOOFP | floating-point instructions that end out of order, after integer ones |
//!
//! (Cortex-M4 technical reference manual, section 4.2.)
//!
//! **Choices.** The other bits stay as they are: DISMCYCINT (0) concerns interrupts, DISFPCA (8)
//! would lose registers.

use super::{DISABLES, Field};

pub(super) const ACTLR: usize = 0xE000_E008;

/// The write buffer, folding, floating point out of order.
pub const FIELDS: [Field; 3] = [
    Field::bit("write buffer", ACTLR, 1, DISABLES, 1),
    Field::bit("folding", ACTLR, 2, DISABLES, 1),
    Field::bit("floating point out of order", ACTLR, 9, DISABLES, 1),
];
