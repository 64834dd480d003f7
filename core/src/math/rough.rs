//! Fast, rough functions by micromath, for the arithmetic of a measurement.
//!
//! A cost only has to rank combinations, so a few per cent of error do no harm in, say, a level in
//! decibels. The tuner itself never calls these: a Cholesky factor needs an exact root.
//!
//! | function | for x in | largest error |
//! |---|---|---:|
//! | [`sqrt`] | 1e-6 to 1e6 | 6.1 %, relative |
//! | [`exp`] | −10 to 10 | 0.25 %, relative |
//! | [`ln`] | 1e-6 to 1e6 | 0.12, absolute |

/// The square root.
///
/// ```
/// let error = trimtab::math::rough::sqrt(2.0) / trimtab::math::sqrt(2.0) - 1.0;
/// assert!(error != 0.0 && error.abs() < 0.07);
/// ```
pub fn sqrt(x: f32) -> f32 {
    micromath::F32(x).sqrt().0
}

/// e to the power of x.
pub fn exp(x: f32) -> f32 {
    micromath::F32(x).exp().0
}

/// The natural logarithm.
pub fn ln(x: f32) -> f32 {
    micromath::F32(x).ln().0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;

    /// The largest error over a fine grid.
    fn worst(low: f32, high: f32, error: impl Fn(f32) -> f32) -> f32 {
        (0..=100_000).map(|i| error(low + (high - low) * i as f32 * 1e-5).abs()).fold(0.0, f32::max)
    }

    /// `cargo test -p trimtab --features micromath --lib rough -- --nocapture` prints the numbers
    /// of the table.
    #[test]
    fn errors_are_as_documented() {
        let log_scale = (math::ln(1e-6), math::ln(1e6));
        let root = worst(log_scale.0, log_scale.1, |l| sqrt(math::exp(l)) / math::sqrt(math::exp(l)) - 1.0);
        let power = worst(-10.0, 10.0, |x| exp(x) / math::exp(x) - 1.0);
        let log = worst(log_scale.0, log_scale.1, |l| ln(math::exp(l)) - math::ln(math::exp(l)));
        std::println!("sqrt {root:.4}, exp {power:.4}, ln {log:.5}");
        assert!((0.05..0.061).contains(&root) && power < 0.0025 && log < 0.12);
    }
}
