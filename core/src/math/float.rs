//! Square root, exponential, logarithm, error function and sums of products. Nothing else in the
//! crate calls libm.
//!
//! | name | meaning |
//! |---|---|
//! | [`Libm`] | exact to about one unit in the last place; behind [`sqrt`], [`exp`] and [`ln`] |
//! | [`Arithmetic`] | root and exponential to 4e-7, by additions and multiplications, for the kernel |
//!
//! **Choices**
//! - One seed gives the same bits everywhere, so nothing here depends on the platform: libm
//!   computes in software, Rust never fuses a multiplication with an addition, and sums run in a
//!   fixed order.
//! - [`dot`] keeps four running sums: a PC then uses its vector unit, a chip without one adds in
//!   the same order.
//! - The kernel has its own root and exponential, because an ask takes some 20 000 of them: a third
//!   of libm's instructions, still the same bits everywhere.
//!
//! **Cost.** Instructions on a Cortex-M4F: a root plus an exponential take about 130 with [`Libm`]
//! and 45 with [`Arithmetic`]; [`dot`] takes 4 per element.

/// One implementation of square root, exponential and natural logarithm.
pub trait Math {
    /// The square root.
    fn sqrt(x: f32) -> f32;
    /// e to the power of x.
    fn exp(x: f32) -> f32;
    /// The natural logarithm.
    fn ln(x: f32) -> f32;
}

/// libm: exact, and the same bits on every target. The kernel uses [`Arithmetic`] instead, and so
/// do the exponentials of the fit and of the expected improvement.
#[derive(Clone, Copy, Debug)]
pub struct Libm;

impl Math for Libm {
    fn sqrt(x: f32) -> f32 {
        libm::sqrtf(x)
    }
    fn exp(x: f32) -> f32 {
        libm::expf(x)
    }
    fn ln(x: f32) -> f32 {
        libm::logf(x)
    }
}

/// Root and exponential by additions and multiplications, for the arguments of a kernel. Its
/// logarithm is libm's.
#[derive(Clone, Copy, Debug)]
pub struct Arithmetic;

impl Math for Arithmetic {
    /// For 0 and normal numbers: x times its inverse root, from the well-known bit-level first
    /// guess and three Newton steps.
    #[inline(always)]
    fn sqrt(x: f32) -> f32 {
        let half = 0.5 * x;
        let mut y = f32::from_bits(0x5f37_59df_u32.wrapping_sub(x.to_bits() >> 1));
        y *= 1.5 - half * y * y;
        y *= 1.5 - half * y * y;
        y *= 1.5 - half * y * y;
        x * y
    }

    /// For x ≤ 0: 2^k by the bits of the exponent, times e^f by its series, |f| ≤ ½·ln 2. Returns 0
    /// below −87.
    #[inline(always)]
    fn exp(x: f32) -> f32 {
        if x < -87.0 {
            return 0.0;
        }
        let k = (x * core::f32::consts::LOG2_E - 0.5) as i32;
        // ln 2 in two parts, the first short enough for its product with k to be exact.
        let f = (x - k as f32 * 0.693_359_4) - k as f32 * -2.121_944_4e-4;
        let series =
            1.0 + f * (1.0 + f * (0.5 + f * (1.0 / 6.0 + f * (1.0 / 24.0 + f * (1.0 / 120.0 + f * (1.0 / 720.0))))));
        series * f32::from_bits(((127 + k) << 23) as u32)
    }

    fn ln(x: f32) -> f32 {
        Libm::ln(x)
    }
}

/// The square root, by libm.
///
/// ```
/// assert_eq!(trimtab::math::sqrt(9.0), 3.0);
/// ```
pub fn sqrt(x: f32) -> f32 {
    Libm::sqrt(x)
}

/// e to the power of x, by libm.
///
/// ```
/// // Not merely close: these bits, on every target.
/// assert_eq!(trimtab::math::exp(1.0).to_bits(), 0x402d_f854);
/// ```
pub fn exp(x: f32) -> f32 {
    Libm::exp(x)
}

/// The natural logarithm, by libm.
///
/// ```
/// assert_eq!(trimtab::math::ln(1.0), 0.0);
/// ```
pub fn ln(x: f32) -> f32 {
    Libm::ln(x)
}

/// e to the power of x for x ≤ 0, by [`Arithmetic`]. Not inlined: its callers are not hot, and
/// flash is small.
#[inline(never)]
pub(crate) fn short_exp(x: f32) -> f32 {
    Arithmetic::exp(x)
}

/// The complementary error function, to a relative error of 4e-6 down to 1e-16. A Chebyshev fit
/// (Numerical Recipes, second edition, section 6.2) that takes a tenth of the code of libm's.
pub fn erfc(x: f32) -> f32 {
    const COEFFICIENTS: [f32; 10] = [
        -1.265_512_2,
        1.000_023_7,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_08,
        -1.135_204,
        1.488_515_9,
        -0.822_152_2,
        0.170_872_77,
    ];
    let z = x.abs();
    let t = 1.0 / (1.0 + 0.5 * z);
    let series = COEFFICIENTS.iter().rev().fold(0.0, |sum, c| sum * t + c);
    let above = t * short_exp(series - z * z);
    if x < 0.0 { 2.0 - above } else { above }
}

/// Sum of products over the shorter of the two slices, in a fixed order.
#[inline(never)]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    sum_of(a, b, |x, y| x * y)
}

/// Subtracts x times b from a, over the shorter of the two slices.
#[inline(never)]
pub(crate) fn subtract(a: &mut [f32], b: &[f32], x: f32) {
    let n = a.len().min(b.len());
    let (Some(a), Some(b)) = (a.get_mut(..n), b.get(..n)) else { return };
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks_mut::<4>(), b.as_chunks::<4>());
    for ([a0, a1, a2, a3], [b0, b1, b2, b3]) in a.iter_mut().zip(b) {
        *a0 -= *b0 * x;
        *a1 -= *b1 * x;
        *a2 -= *b2 * x;
        *a3 -= *b3 * x;
    }
    a_rest.iter_mut().zip(b_rest).for_each(|(a, b)| *a -= *b * x);
}

/// ‖a − b‖², in the same order as [`dot`].
#[inline(never)]
pub fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    sum_of(a, b, |x, y| (x - y) * (x - y))
}

/// Four named sums, not an array: an optimizer for size keeps names in registers.
#[inline(always)]
pub(crate) fn sum_of(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    let n = a.len().min(b.len());
    let (Some(a), Some(b)) = (a.get(..n), b.get(..n)) else { return 0.0 };
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let ((a, a_four), (b, b_four)) = (a.as_chunks::<2>(), b.as_chunks::<2>());
    let (mut s0, mut s1, mut s2, mut s3) = (0.0, 0.0, 0.0, 0.0);
    let mut add = |[a0, a1, a2, a3]: &[f32; 4], [b0, b1, b2, b3]: &[f32; 4]| {
        s0 += term(*a0, *b0);
        s1 += term(*a1, *b1);
        s2 += term(*a2, *b2);
        s3 += term(*a3, *b3);
    };
    for ([a, a_next], [b, b_next]) in a.iter().zip(b) {
        add(a, b);
        add(a_next, b_next);
    }
    a_four.iter().zip(b_four).for_each(|(a, b)| add(a, b));
    let rest = a_rest.iter().zip(b_rest).fold(0.0, |sum, (x, y)| sum + term(*x, *y));
    ((s0 + s2) + (s1 + s3)) + rest
}

/// The power of two that scales a magnitude to between 1 and 2.
pub(crate) fn inverse_power_of_two(magnitude: f32) -> f32 {
    let exponent = (magnitude.to_bits() >> 23 & 0xff).clamp(1, 253);
    f32::from_bits((254 - exponent) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_of_any_length_counts_every_element_once() {
        let ones = [1.0f32; 19];
        for n in 0..=19 {
            assert_eq!(dot(&ones[..n], &ones[..n]), n as f32);
            assert_eq!(dot(&ones, &ones[..n]), n as f32);
            assert_eq!(squared_distance(&ones[..n], &[0.0; 19]), n as f32);
        }
    }

    #[test]
    fn erfc_agrees_with_libm() {
        for i in (-600..600).step_by(crate::math::times(1, 17)) {
            let x = i as f32 * 0.01;
            let (own, exact) = (erfc(x), libm::erfcf(x));
            assert!((own - exact).abs() <= 4e-6 * exact, "at {x}: {own}, not {exact}");
        }
    }

    #[test]
    fn the_kernels_root_and_exponential_agree_with_libm() {
        let close = |a: f32, b: f32| (a - b).abs() <= 4e-7 * b;
        for i in (0..10_000).step_by(crate::math::times(1, 97)) {
            let x = i as f32 * 0.013;
            assert!(close(Arithmetic::sqrt(x), sqrt(x)), "root at {x}");
            let x = i as f32 * -0.008;
            assert!(close(Arithmetic::exp(x), exp(x)), "exponential at {x}");
        }
    }
}
