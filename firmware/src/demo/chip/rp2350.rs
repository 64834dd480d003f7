//! How an RP2350 reaches its external flash: the cache, the clock of the serial bus, and the core's
//! switches.
//!
//! | bits | purpose |
//! |---|---|
//! | 0 EN_SECURE of XIP_CTRL.CTRL, 0x400C_8000 | cache of the flash, for secure code; on after reset |
//! | 7:0 CLKDIV of QMI.M0_TIMING, 0x400D_000C | system clocks per flash clock; may change at any time |
//!
//! (RP2350 data sheet, sections 4.4.5, XIP_CTRL, and 12.14, QMI.) A Cortex-M33 has no write buffer
//! to switch off.
//!
//! **Choices**
//! - Before clocks are set up, the chip runs from its ring oscillator at about 11 MHz, and every
//!   flash keeps up with a divider of 2.
//! - A divider of 1 is left out: the sampling time of the data would have to change with it.
//! - The register starts with 4; the boot ROM may leave another value.

use super::{ENABLES, Field, cortex_m};

const XIP_CTRL: usize = 0x400C_8000;
const QMI_M0_TIMING: usize = 0x400D_000C;

/// The cache, the divider, and the core's switches.
pub const FIELDS: [Field; 4] = {
    let [_, folding, out_of_order] = cortex_m::FIELDS;
    [
        Field::bit("flash cache", XIP_CTRL, 0, ENABLES, 1),
        Field {
            name: "flash clock divider",
            address: QMI_M0_TIMING,
            shift: 0,
            bits: 8,
            values: &[2, 3, 4, 6, 8, 12],
            reset: 2,
        },
        folding,
        out_of_order,
    ]
};
