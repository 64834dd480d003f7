//! A fixed piece of work to measure a chip by: constants read from flash, branches, stores,
//! divisions.
//!
//! **Choices**
//! - [`run`] must return [`CHECKSUM`]. Another result means that a setting does not suit the chip,
//!   and the measurement fails.
//! - Sums and divisions of f32 round as IEEE 754 says, so every machine agrees.

use core::hint::black_box;

/// The result of [`run`].
pub const CHECKSUM: u32 = 0x79DB_31F5;

/// Passes over the constants: enough for a cache to fill and then to help.
const ROUNDS: u32 = 8;

/// Constants in flash, 1 KiB: more than a line of any cache.
static TABLE: [u32; 256] = table();

/// Numbers without a visible pattern, by a linear congruential generator.
const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    let mut x: u32 = 1;
    while i < 256 {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        table[i] = x >> 8;
        i += 1;
    }
    table
}

/// Does the work.
#[inline(never)]
pub fn run() -> u32 {
    let table = black_box(&TABLE);
    let mut kept = [0.0_f32; 16];
    let mut sum: u32 = 0;
    for round in 0..ROUNDS {
        for x in table {
            // Jumps about in the table, so that reading ahead helps only half of the time.
            let other = table[(x ^ sum) as usize % table.len()];
            sum = if other & 1 == 0 { sum.rotate_left(5) ^ other } else { sum.wrapping_add(other) };
            let place = &mut kept[other as usize % 16];
            *place = (*place + *x as f32) / (1 + round) as f32;
        }
    }
    kept.iter().fold(sum, |sum, x| sum.rotate_left(1) ^ x.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_has_its_checksum() {
        assert_eq!(run(), CHECKSUM, "{:#010x}", run());
    }
}
