//! The only door to square root, exponential, logarithm and the error function, and the sums of products.
//!
//! | name | meaning |
//! |---|---|
//! | [`Libm`] | exact to about one unit in the last place |
//! | [`Arithmetic`] | root and exponential to 4e-7, from additions and multiplications: for the kernel |
//! | `Micromath` | fast and rough, only with the feature `micromath` |
//!
//! **Choices.** The same seed must give the same bits on a PC and on a chip, so nothing here asks the platform:
//! libm computes transcendentals in software, Rust never fuses a multiplication with an addition, and
//! sums run in one fixed order. [`dot`] keeps four running sums because a PC then uses its vector unit, in the same
//! order on a chip that has none. micromath is an extra type, never a replacement: its square root is off
//! by up to 6 %, so nothing in the surrogate uses it. An ask takes some 20 000 roots and exponentials, so the kernel
//! has its own: a third of libm's instructions, and still the same bits everywhere.
//!
//! **Cost.** On a Cortex-M4F: about 130 instructions for a root and an exponential of [`Libm`], 45 of [`Arithmetic`], 4 an element of [`dot`].

/// Square root, exponential and natural logarithm of one kind.
///
/// ```
/// use trimtab::internals::{Libm, Math};
/// fn length<F: Math>(x: f32, y: f32) -> f32 { F::sqrt(x * x + y * y) }
/// assert_eq!(length::<Libm>(3.0, 4.0), 5.0);
/// ```
pub trait Math {
    /// The square root.
    ///
    /// ```
    /// use trimtab::internals::{Libm, Math};
    /// assert_eq!(Libm::sqrt(9.0), 3.0);
    /// ```
    fn sqrt(x: f32) -> f32;
    /// e to the power of x.
    ///
    /// ```
    /// use trimtab::internals::{Libm, Math};
    /// assert!((Libm::exp(1.0) - core::f32::consts::E).abs() < 1e-6);
    /// ```
    fn exp(x: f32) -> f32;
    /// The natural logarithm.
    ///
    /// ```
    /// use trimtab::internals::{Libm, Math};
    /// assert_eq!(Libm::ln(Libm::exp(0.0)), 0.0);
    /// ```
    fn ln(x: f32) -> f32;
}

/// libm: the same bits on every target. The tuner uses only this one.
///
/// ```
/// use trimtab::internals::{Libm, Math};
/// // Not close to it: these bits, on every target.
/// assert_eq!(Libm::exp(1.0).to_bits(), 0x402d_f854);
/// ```
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

/// Root and exponential by additions and multiplications, for arguments that a kernel has. Its logarithm is libm's.
///
/// ```
/// use trimtab::internals::{Arithmetic, Libm, Math};
/// let close = |a: f32, b: f32| (a - b).abs() <= 4e-7 * b;
/// assert!((0..10_000).all(|i| close(Arithmetic::sqrt(i as f32 * 0.013), Libm::sqrt(i as f32 * 0.013))));
/// assert!((0..8_000).all(|i| close(Arithmetic::exp(i as f32 * -0.01), Libm::exp(i as f32 * -0.01))));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Arithmetic;

impl Math for Arithmetic {
    /// For 0 and normal numbers: x times its inverse root, by three steps of Newton from the well-known first guess.
    #[inline(always)]
    fn sqrt(x: f32) -> f32 {
        let half = 0.5 * x;
        let mut y = f32::from_bits(0x5f37_59df_u32.wrapping_sub(x.to_bits() >> 1));
        y *= 1.5 - half * y * y;
        y *= 1.5 - half * y * y;
        y *= 1.5 - half * y * y;
        x * y
    }

    /// For x ≤ 0: 2^k from the exponent's bits times 2^f from its series, −½ ≤ f ≤ ½. Below −87 it is 0.
    #[inline(always)]
    fn exp(x: f32) -> f32 {
        if x < -87.0 {
            return 0.0;
        }
        let k = (x * core::f32::consts::LOG2_E - 0.5) as i32;
        // ln 2 in two parts, the first short enough that its product with k is exact.
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
/// assert_eq!(trimtab::math::exp(0.0), 1.0);
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

/// e to the power of x for x ≤ 0, by [`Arithmetic`]; not inlined, for where it is not called often.
#[inline(never)]
pub(crate) fn short_exp(x: f32) -> f32 {
    Arithmetic::exp(x)
}

/// The complementary error function, to a relative error of 4e-6 down to 1e-16: the Chebyshev fit of Numerical Recipes
/// (second edition, section 6.2), a tenth of the code of libm's.
///
/// ```
/// assert!((trimtab::internals::erfc(0.0) - 1.0).abs() < 1e-6);
/// ```
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
///
/// ```
/// assert_eq!(trimtab::internals::dot(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 32.0);
/// ```
#[inline(never)]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    sum_of(a, b, |x, y| x * y)
}

/// ‖a − b‖², in the same order as [`dot`].
///
/// ```
/// assert_eq!(trimtab::internals::squared_distance(&[1.0, 2.0], &[4.0, 6.0]), 25.0);
/// ```
#[inline(never)]
pub fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    sum_of(a, b, |x, y| (x - y) * (x - y))
}

/// Four named sums, not an array of them: an optimizer for size keeps names in registers.
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

/// The power of two that brings a magnitude between 1 and 2.
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
    fn erfc_is_libms() {
        for i in -600..600 {
            let x = i as f32 * 0.01;
            let (own, exact) = (erfc(x), libm::erfcf(x));
            assert!((own - exact).abs() <= 4e-6 * exact, "at {x}: {own}, not {exact}");
        }
    }
}
