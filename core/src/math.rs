//! The only door to square root, exponential, logarithm and the error function, and the sums of products.
//!
//! | name | meaning |
//! |---|---|
//! | [`Libm`] | exact to about one unit in the last place, the same bits on every target |
//! | `Micromath` | fast and rough, only with the feature `micromath` |
//!
//! **Choices.** The same seed must give the same bits on a PC and on a chip, so nothing here asks the platform:
//! libm computes every transcendental in software, Rust never fuses a multiplication with an addition, and
//! sums run in one fixed order. [`dot`] keeps four running sums because a PC then uses its vector unit, in the same
//! order on a chip that has none. micromath is an extra type, never a replacement: its square root is off
//! by up to 6 %, so nothing in the surrogate uses it.
//!
//! **Cost.** On a Cortex-M4F: about 50 instructions a root, 60 an exponential, 4 an element of [`dot`].

/// Square root, exponential and natural logarithm of one kind.
pub trait Math {
    /// The square root.
    fn sqrt(x: f32) -> f32;
    /// e to the power of x.
    fn exp(x: f32) -> f32;
    /// The natural logarithm.
    fn ln(x: f32) -> f32;
}

/// libm: the same bits on every target. The tuner uses only this one.
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

/// micromath: for a caller's own code, where an error of some per cent is harmless.
///
/// ```
/// use trimtab::math::{Libm, Math, Micromath};
/// let error = |x: f32| (Micromath::sqrt(x) - Libm::sqrt(x)).abs() / Libm::sqrt(x);
/// assert!((1..1000).all(|i| error(i as f32 * 0.37) < 0.07));
/// ```
#[cfg(feature = "micromath")]
#[derive(Clone, Copy, Debug)]
pub struct Micromath;

#[cfg(feature = "micromath")]
impl Math for Micromath {
    fn sqrt(x: f32) -> f32 {
        micromath::F32(x).sqrt().0
    }
    fn exp(x: f32) -> f32 {
        micromath::F32(x).exp().0
    }
    fn ln(x: f32) -> f32 {
        micromath::F32(x).ln().0
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

/// The complementary error function, by libm.
///
/// ```
/// assert_eq!(trimtab::math::erfc(0.0), 1.0);
/// ```
pub fn erfc(x: f32) -> f32 {
    libm::erfcf(x)
}

/// Sum of products over the shorter of the two slices, in a fixed order.
///
/// ```
/// assert_eq!(trimtab::math::dot(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 32.0);
/// ```
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    sum_of(a, b, |x, y| x * y)
}

/// ‖a − b‖², in the same order as [`dot`].
///
/// ```
/// assert_eq!(trimtab::math::squared_distance(&[1.0, 2.0], &[4.0, 6.0]), 25.0);
/// ```
pub fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    sum_of(a, b, |x, y| (x - y) * (x - y))
}

#[inline(always)]
fn sum_of(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    let (a, b) = (a.get(..b.len()).unwrap_or(a), b.get(..a.len()).unwrap_or(b));
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0f32; 4];
    for (x, y) in a.iter().zip(b) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += term(*x, *y);
        }
    }
    let rest = a_rest.iter().zip(b_rest).fold(0.0, |sum, (x, y)| sum + term(*x, *y));
    ((sums[0] + sums[2]) + (sums[1] + sums[3])) + rest
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
}
