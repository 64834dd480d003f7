//! Three ways to sum products: integers, pairs of integers, float.
//!
//! | way | a sample in a register | a product and its sum |
//! |---|---|---|
//! | [`Integers`] | one, as an i32 | one multiply-accumulate |
//! | [`Pairs`] | it and the next one, 16 bits each | two at once: SMLAD, where the chip has it |
//! | [`Float`] | one, as an f32 | a multiplication and an addition |
//!
//! **Choices**
//! - Coefficients are constants: flash holds them in the form of each way, 128 bytes each.
//! - Samples come from a converter as i16 and are converted at each use or once.
//! - Rust has no stable intrinsic for SMLAD, so thumbv7em uses one line of assembly. Elsewhere two
//!   multiplications give the same result.

use super::filter::{COEFFICIENTS, LENGTH, OUTPUTS, Scratch, TAPS, Workspace};

/// A way to sum products.
pub trait Number {
    /// The register type of a sample, a coefficient and a sum.
    type Word: Copy + 'static;
    /// Taps per product.
    const TAPS: usize;
    /// The empty sum.
    const ZERO: Self::Word;
    /// The coefficients, in flash.
    const COEFFICIENTS: &'static [Self::Word; TAPS];

    /// Borrows samples, outputs and the memory for this way separately.
    fn parts(workspace: &mut Workspace) -> Parts<'_, Self::Word>;

    /// Converts a sample and the next one.
    fn word(sample: i16, next: i16) -> Self::Word;

    /// The sum of two samples that share a coefficient.
    fn add(a: Self::Word, b: Self::Word) -> Self::Word;

    /// sum + coefficient · sample.
    fn multiply_add(sum: Self::Word, coefficient: Self::Word, sample: Self::Word) -> Self::Word;

    /// A finished sum as an output.
    fn output(sum: Self::Word) -> i32;
}

/// A workspace, borrowed in parts.
pub struct Parts<'w, N> {
    /// x.
    pub samples: &'w [i16; LENGTH],
    /// y.
    pub outputs: &'w mut [i32; OUTPUTS],
    /// Memory of the right kind.
    pub scratch: &'w mut Scratch<N>,
}

/// 16-bit integers, one product at a time.
#[derive(Clone, Copy, Debug)]
pub struct Integers;

impl Number for Integers {
    type Word = i32;
    const TAPS: usize = 1;
    const ZERO: i32 = 0;
    const COEFFICIENTS: &'static [i32; TAPS] = &{
        let mut words = [0; TAPS];
        let mut k = 0;
        while k < TAPS {
            words[k] = COEFFICIENTS[k] as i32;
            k += 1;
        }
        words
    };

    #[inline(always)]
    fn parts(w: &mut Workspace) -> Parts<'_, i32> {
        Parts { samples: &w.samples, outputs: &mut w.outputs, scratch: &mut w.integers }
    }

    #[inline(always)]
    fn word(sample: i16, _next: i16) -> i32 {
        i32::from(sample)
    }

    #[inline(always)]
    fn add(a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    #[inline(always)]
    fn multiply_add(sum: i32, coefficient: i32, sample: i32) -> i32 {
        sum.wrapping_add(coefficient.wrapping_mul(sample))
    }

    #[inline(always)]
    fn output(sum: i32) -> i32 {
        sum
    }
}

/// 16-bit integers, two products at a time: the even tap in the lower half of a word, the odd one
/// in the upper half.
#[derive(Clone, Copy, Debug)]
pub struct Pairs;

impl Number for Pairs {
    type Word = i32;
    const TAPS: usize = 2;
    const ZERO: i32 = 0;
    const COEFFICIENTS: &'static [i32; TAPS] = &{
        let mut words = [0; TAPS];
        let mut k = 0;
        while k + 1 < TAPS {
            words[k] = pair(COEFFICIENTS[k], COEFFICIENTS[k + 1]);
            k += 2;
        }
        words
    };

    #[inline(always)]
    fn parts(w: &mut Workspace) -> Parts<'_, i32> {
        Parts { samples: &w.samples, outputs: &mut w.outputs, scratch: &mut w.integers }
    }

    #[inline(always)]
    fn word(sample: i16, next: i16) -> i32 {
        pair(sample, next)
    }

    /// Half by half. No feasible setting needs it.
    #[inline(always)]
    fn add(a: i32, b: i32) -> i32 {
        pair((a as i16).wrapping_add(b as i16), ((a >> 16) as i16).wrapping_add((b >> 16) as i16))
    }

    #[inline(always)]
    fn multiply_add(sum: i32, coefficient: i32, sample: i32) -> i32 {
        multiply_add_pairs(sum, coefficient, sample)
    }

    #[inline(always)]
    fn output(sum: i32) -> i32 {
        sum
    }
}

const fn pair(low: i16, high: i16) -> i32 {
    (low as u16 as u32 | (high as u16 as u32) << 16) as i32
}

#[cfg(has_smlad)]
#[inline(always)]
fn multiply_add_pairs(sum: i32, a: i32, b: i32) -> i32 {
    let result;
    // SAFETY: SMLAD reads three registers, writes one and touches no memory. It may set the Q flag,
    // so the options do not include `preserves_flags`. The build script sets `has_smlad` only for
    // targets with the instruction.
    unsafe {
        core::arch::asm!(
            "smlad {result}, {a}, {b}, {sum}",
            result = lateout(reg) result,
            a = in(reg) a,
            b = in(reg) b,
            sum = in(reg) sum,
            options(pure, nomem, nostack)
        );
    }
    result
}

#[cfg(not(has_smlad))]
#[inline(always)]
fn multiply_add_pairs(sum: i32, a: i32, b: i32) -> i32 {
    let low = i32::from(a as i16) * i32::from(b as i16);
    let high = (a >> 16).wrapping_mul(b >> 16);
    sum.wrapping_add(low).wrapping_add(high)
}

/// Single-precision floating point.
#[derive(Clone, Copy, Debug)]
pub struct Float;

impl Number for Float {
    type Word = f32;
    const TAPS: usize = 1;
    const ZERO: f32 = 0.0;
    const COEFFICIENTS: &'static [f32; TAPS] = &{
        let mut words = [0.0; TAPS];
        let mut k = 0;
        while k < TAPS {
            words[k] = COEFFICIENTS[k] as f32;
            k += 1;
        }
        words
    };

    #[inline(always)]
    fn parts(w: &mut Workspace) -> Parts<'_, f32> {
        Parts { samples: &w.samples, outputs: &mut w.outputs, scratch: &mut w.floats }
    }

    #[inline(always)]
    fn word(sample: i16, _next: i16) -> f32 {
        f32::from(sample)
    }

    #[inline(always)]
    fn add(a: f32, b: f32) -> f32 {
        a + b
    }

    #[inline(always)]
    fn multiply_add(sum: f32, coefficient: f32, sample: f32) -> f32 {
        sum + coefficient * sample
    }

    #[inline(always)]
    fn output(sum: f32) -> i32 {
        sum as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_two_products() {
        // 100 + 3·(−7) + (−5)·11 = 24
        assert_eq!(Pairs::multiply_add(100, Pairs::word(3, -5), Pairs::word(-7, 11)), 24);
        let (most, least) = (i16::MAX, i16::MIN);
        let large = Pairs::multiply_add(0, Pairs::word(most, least), Pairs::word(most, most));
        // 32767² − 32768·32767 = −32767
        assert_eq!(large, -32767);
        assert_eq!(Pairs::add(Pairs::word(1, -1), Pairs::word(2, -3)), Pairs::word(3, -4));
    }

    #[test]
    fn coefficients_are_the_same_in_every_form() {
        for (k, h) in COEFFICIENTS.iter().enumerate() {
            assert_eq!(Integers::COEFFICIENTS[k], i32::from(*h));
            assert_eq!(Float::COEFFICIENTS[k], f32::from(*h));
            if k % 2 == 0 {
                assert_eq!(Pairs::COEFFICIENTS[k], Pairs::word(*h, COEFFICIENTS[k + 1]));
            }
        }
    }
}
