//! How an STM32F405, F411 or F446 reaches its flash: access control register and core switches.
//!
//! | bits of FLASH_ACR, 0x4002_3C00 | purpose |
//! |---|---|
//! | 2:0 LATENCY | wait states, 0 to 7; 0 after reset |
//! | 8 PRFTEN | prefetch: reads the next line ahead |
//! | 9 ICEN | instruction cache |
//! | 10 DCEN | data cache, for constants |
//!
//! (Reference manuals RM0090 of the F405, RM0383 of the F411, RM0390 of the F446: chapter 3, flash
//! access control register.)
//!
//! **Choices**
//! - After reset these chips run at 16 MHz, which needs no wait state at any voltage, so every
//!   number of wait states is safe.
//! - A program that raises the clock must first set the wait states of the manual's table, and may
//!   then tune above them with a feasibility rule.
//! - Prefetch does not work on an STM32F405 of revision A (errata sheet ES0182): leave that knob
//!   out there.

use super::{ENABLES, Field, cortex_m};

const FLASH_ACR: usize = 0x4002_3C00;

/// Wait states, prefetch, the two caches, and the core's switches.
pub const FIELDS: [Field; 7] = {
    let [write_buffer, folding, out_of_order] = cortex_m::FIELDS;
    [
        Field {
            name: "flash wait states",
            address: FLASH_ACR,
            shift: 0,
            bits: 3,
            values: &[0, 1, 2, 3, 4, 5, 6, 7],
            reset: 0,
        },
        Field::bit("prefetch", FLASH_ACR, 8, ENABLES, 0),
        Field::bit("instruction cache", FLASH_ACR, 9, ENABLES, 0),
        Field::bit("data cache", FLASH_ACR, 10, ENABLES, 0),
        write_buffer,
        folding,
        out_of_order,
    ]
};
