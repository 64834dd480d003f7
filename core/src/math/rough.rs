//! Fast, rough functions by micromath, for a measurement's own arithmetic.
//!
//! A cost only has to rank combinations, so an error of a few per cent is harmless in, say, a level
//! in decibels. The tuner itself never calls these: a Cholesky factor needs an exact root.
//!
//! | function | largest error | instructions | of the exact one |
//! |---|---:|---:|---:|
//! | [`sqrt`], 1e-6 to 1e6 | 6.1 %, relative | 23 | 90 |
//! | [`ln`], 1e-6 to 1e6 | 0.12, absolute | 51 | 67 |
//!
//! `cargo test -p trimtab --features micromath --lib rough -- --nocapture` prints the errors,
//! `cargo qemu level` the instructions on a Cortex-M4F. micromath's exponential is not here: it
//! takes twice the instructions of [`exp`](crate::math::exp).

/// The square root.
///
/// ```
/// let error = trimtab::math::rough::sqrt(2.0) / trimtab::math::sqrt(2.0) - 1.0;
/// assert!(error != 0.0 && error.abs() < 0.07);
/// ```
pub fn sqrt(x: f32) -> f32 {
    micromath::F32(x).sqrt().0
}

/// The natural logarithm.
///
/// ```
/// let error = trimtab::math::rough::ln(2.0) - trimtab::math::ln(2.0);
/// assert!(error != 0.0 && error.abs() < 0.12);
/// ```
pub fn ln(x: f32) -> f32 {
    micromath::F32(x).ln().0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;

    /// The largest error over arguments from 1e-6 to 1e6, evenly spaced by their logarithm.
    fn worst(error: impl Fn(f32) -> f32) -> f32 {
        let (low, high) = (math::ln(1e-6), math::ln(1e6));
        (0..=100_000).map(|i| error(math::exp(low + (high - low) * i as f32 * 1e-5)).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn errors_are_as_documented() {
        let root = worst(|x| sqrt(x) / math::sqrt(x) - 1.0);
        let log = worst(|x| ln(x) - math::ln(x));
        std::println!("sqrt {root:.4}, ln {log:.4}");
        assert!((0.055..0.061).contains(&root) && (0.11..0.12).contains(&log), "{root} {log}");
    }
}
