//! How an nRF52840 reaches its flash: the instruction cache, and the core's switches.
//!
//! | bit of NVMC.ICACHECNF, 0x4001_E540 | purpose |
//! |---|---|
//! | 0 CACHEEN | instruction cache; off after reset |
//!
//! (nRF52840 product specification, chapter NVMC.) Its wait states and its clock, 64 MHz, are
//! fixed.

use super::{ENABLES, Field, cortex_m};

const ICACHECNF: usize = 0x4001_E540;

/// The instruction cache, and the core's switches.
pub const FIELDS: [Field; 4] = {
    let [write_buffer, folding, out_of_order] = cortex_m::FIELDS;
    [Field::bit("instruction cache", ICACHECNF, 0, ENABLES, 0), write_buffer, folding, out_of_order]
};
