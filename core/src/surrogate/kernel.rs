//! The covariance of two combinations: Matérn 5/2 of their distance, plus a linear term of their
//! features.
//!
//! k = (1 − w)·k₅⸝₂(‖x − x′‖/ℓ) + w·(z·z′)/s̄, with k₅⸝₂(r) = (1 + √5·r + 5r²/3)·exp(−√5·r). The
//! paper uses Matérn 5/2 alone (section 7.1): w = 0.
//!
//! | name | meaning |
//! |---|---|
//! | ‖x − x′‖², (z·z′)/s̄ | distance and product of the two, from [`geometry`](crate::surrogate::geometry) |
//! | ℓ | length-scale |
//! | w | weight of the linear term, 0 to 1 |
//!
//! **Choices**
//! - A random map into few dimensions loses which knob did what. A linear term of the features,
//!   with a weight fitted by likelihood, restores it.
//! - The signal variance is not here: it is a factor of everything, and
//!   [`gp`](crate::surrogate::gp) has it in closed form.
//!
//! **Cost.** A root and an exponential per pair, about 60 instructions.

use crate::math::float::{Arithmetic, Math};

/// The squared distance and the product of two combinations: all that the kernel needs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Pair {
    /// ‖x − x′‖² of the embeddings.
    pub squared_distance: f32,
    /// z·z′ of the features, 1 on average for a combination with itself.
    pub product: f32,
}

/// The fitted hyper-parameters of kernel and noise.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Hyper {
    /// ℓ: the distance over which embeddings become nearly independent.
    pub length_scale: f32,
    /// w: the share of the prior variance that is linear in the features.
    pub linear_weight: f32,
    /// Variance of the measurement noise, as a share of the signal variance.
    pub noise: f32,
}

/// Matérn 5/2 of a squared distance, in length-scales.
#[inline(always)]
pub fn matern52<F: Math>(squared_distance: f32) -> f32 {
    let r = F::sqrt(5.0 * squared_distance);
    (1.0 + r + r * r * (1.0 / 3.0)) * F::exp(-r)
}

/// The derivative of [`matern52`] with respect to the squared distance: −⅚·(1 + √5·r)·exp(−√5·r),
/// which is smooth at 0.
#[inline(always)]
pub fn matern52_slope<F: Math>(squared_distance: f32) -> f32 {
    let r = F::sqrt(5.0 * squared_distance);
    (-5.0 / 6.0) * (1.0 + r) * F::exp(-r)
}

impl Hyper {
    /// The prior covariance of two combinations, as a share of the signal variance, without noise.
    #[inline(always)]
    pub fn covariance(&self, pair: Pair) -> f32 {
        let r2 = pair.squared_distance / (self.length_scale * self.length_scale);
        (1.0 - self.linear_weight) * matern52::<Arithmetic>(r2) + self.linear_weight * pair.product
    }

    /// The derivative of the covariance with respect to ‖x − x′‖². The linear term depends on
    /// features, not on x, and has none.
    #[inline(always)]
    pub fn slope(&self, squared_distance: f32) -> f32 {
        let square = self.length_scale * self.length_scale;
        (1.0 - self.linear_weight) / square * matern52_slope::<Arithmetic>(squared_distance / square)
    }

    /// The prior variance of a combination, from its pair with itself.
    pub fn variance(&self, own: Pair) -> f32 {
        1.0 - self.linear_weight + self.linear_weight * own.product
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::float::Libm;
    use crate::math::times;

    #[test]
    fn matern_of_hand_worked_distances() {
        // r = 1: √5 = 2.236068, (1 + 2.236068 + 5/3)·exp(−2.236068) = 4.902735 · 0.106878 =
        // 0.523994
        assert!((matern52::<Libm>(1.0) - 0.523_994).abs() < 1e-6);
        // r = 2: √20 = 4.472136, (1 + 4.472136 + 20/3)·exp(−4.472136) = 12.138803 · 0.011423 =
        // 0.138660
        assert!((matern52::<Libm>(4.0) - 0.138_660).abs() < 1e-6);
        assert_eq!(matern52::<Libm>(1e12), 0.0);
    }

    /// Against differences of the kernel itself in f64.
    #[test]
    fn the_slope_is_the_derivative() {
        let exact = |r2: f64| {
            let r = (5.0 * r2).sqrt();
            (1.0 + r + r * r / 3.0) * (-r).exp()
        };
        for i in (1..2000).step_by(times(1, 97)) {
            let r2 = f64::from(i) * 0.01;
            let difference = (exact(r2 + 1e-5) - exact(r2 - 1e-5)) / 2e-5;
            assert!((f64::from(matern52_slope::<Libm>(r2 as f32)) - difference).abs() < 1e-6, "at {r2}");
            assert!((f64::from(matern52_slope::<Arithmetic>(r2 as f32)) - difference).abs() < 2e-6, "at {r2}");
        }
        assert_eq!(matern52_slope::<Arithmetic>(0.0), -5.0 / 6.0);
    }

    #[test]
    fn the_fast_matern_is_exact_to_a_millionth() {
        for i in (0..100_000).step_by(times(1, 997)) {
            let r2 = i as f32 * i as f32 * 1e-7;
            assert!((matern52::<Arithmetic>(r2) - matern52::<Libm>(r2)).abs() < 1e-6, "at {r2}");
        }
    }

    #[test]
    fn covariances_by_hand() {
        let hyper = Hyper { length_scale: 2.0, linear_weight: 0.25, noise: 0.0 };
        let own = Pair { squared_distance: 0.0, product: 1.5 };
        assert_eq!((hyper.covariance(own), hyper.variance(own)), (0.75 + 0.375, 0.75 + 0.375));
        // One length-scale apart, without a linear part.
        let apart = hyper.covariance(Pair { squared_distance: 4.0, product: 0.0 });
        assert!((apart - 0.75 * 0.523_994).abs() < 1e-6);
        assert_eq!(hyper.slope(0.0), -0.75 * 5.0 / 24.0);
    }
}
