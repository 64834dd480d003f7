//! The covariance of two combinations: Matérn 5/2 on their distance, plus a linear term on their features.
//!
//! k = (1 − w)·k₅⸝₂(‖x − x′‖/ℓ) + w·(z·z′)/s̄, with k₅⸝₂(r) = (1 + √5·r + 5r²/3)·exp(−√5·r).
//! The paper uses Matérn 5/2 alone (section 7.1): w = 0.
//!
//! | name | meaning |
//! |---|---|
//! | ‖x − x′‖², (z·z′)/s̄ | how alike the two are, from [`geometry`](crate::surrogate::geometry) |
//! | ℓ | length-scale |
//! | w | weight of the linear term, 0 to 1 |
//!
//! **Choices.** A random map into few dimensions loses which knob did what. A linear term on the features themselves, with a
//! weight fitted by likelihood, gives it back. The signal variance is not here: it is a factor of everything, and
//! [`gp`](crate::surrogate::gp) has it in closed form.
//!
//! **Cost.** A root and an exponential a pair, about 60 instructions.

use crate::math::float::{Arithmetic, Math};

/// The distance and the inner product of two combinations: all that the kernel needs to know.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Pair {
    /// ‖x − x′‖² of the embeddings.
    pub squared_distance: f32,
    /// z·z′ of the features, 1 on average for a combination with itself.
    pub product: f32,
}

/// What the likelihood decides about the kernel and the noise.
///
/// ```
/// use trimtab::{Hyper, internals::Pair};
/// let near = Pair { squared_distance: 1.0, product: 0.0 };
/// let [short, long] = [1.0, 3.0].map(|length_scale| Hyper { length_scale, linear_weight: 0.0, noise: 0.0 });
/// assert!(short.covariance(near) < long.covariance(near));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Hyper {
    /// ℓ: how far apart embeddings must be to know little of each other.
    pub length_scale: f32,
    /// w: how much of the prior variance is linear in the features.
    pub linear_weight: f32,
    /// Variance of the measurement noise, as a share of the signal variance.
    pub noise: f32,
}

/// Matérn 5/2 of a squared distance, in length-scales.
///
/// ```
/// use trimtab::internals::{Libm, matern52};
/// assert_eq!(matern52::<Libm>(0.0), 1.0);
/// assert!(matern52::<Libm>(1.0) > matern52::<Libm>(2.0));
/// ```
#[inline(always)]
pub fn matern52<F: Math>(squared_distance: f32) -> f32 {
    let r = F::sqrt(5.0 * squared_distance);
    (1.0 + r + r * r * (1.0 / 3.0)) * F::exp(-r)
}

/// The derivative of [`matern52`] with respect to the squared distance: −⅚·(1 + √5·r)·exp(−√5·r), smooth also at 0.
///
/// ```
/// use trimtab::internals::{Libm, matern52, matern52_slope};
/// let difference = (matern52::<Libm>(1.01) - matern52::<Libm>(0.99)) / 0.02;
/// assert!((matern52_slope::<Libm>(1.0) - difference).abs() < 1e-4);
/// ```
#[inline(always)]
pub fn matern52_slope<F: Math>(squared_distance: f32) -> f32 {
    let r = F::sqrt(5.0 * squared_distance);
    (-5.0 / 6.0) * (1.0 + r) * F::exp(-r)
}

impl Hyper {
    /// The prior covariance of two combinations, as a share of the signal variance; noise is not in it.
    ///
    /// ```
    /// use trimtab::{Hyper, internals::Pair};
    /// let hyper = Hyper { length_scale: 2.0, linear_weight: 0.25, noise: 0.0 };
    /// assert_eq!(hyper.covariance(Pair { squared_distance: 0.0, product: 1.0 }), 1.0);
    /// ```
    #[inline(always)]
    pub fn covariance(&self, pair: Pair) -> f32 {
        let r2 = pair.squared_distance / (self.length_scale * self.length_scale);
        (1.0 - self.linear_weight) * matern52::<Arithmetic>(r2) + self.linear_weight * pair.product
    }

    /// The derivative of the covariance with respect to ‖x − x′‖²; the linear term is one of features and has none.
    ///
    /// ```
    /// use trimtab::Hyper;
    /// let hyper = Hyper { length_scale: 2.0, linear_weight: 0.0, noise: 0.0 };
    /// assert_eq!(hyper.slope(0.0), -5.0 / 24.0);
    /// ```
    #[inline(always)]
    pub fn slope(&self, squared_distance: f32) -> f32 {
        let square = self.length_scale * self.length_scale;
        (1.0 - self.linear_weight) / square * matern52_slope::<Arithmetic>(squared_distance / square)
    }

    /// The prior variance of a combination, from its pair with itself.
    ///
    /// ```
    /// use trimtab::{Hyper, internals::Pair};
    /// let hyper = Hyper { length_scale: 2.0, linear_weight: 0.25, noise: 0.0 };
    /// let own = Pair { squared_distance: 0.0, product: 1.5 };
    /// assert_eq!(hyper.variance(own), hyper.covariance(own));
    /// ```
    pub fn variance(&self, own: Pair) -> f32 {
        1.0 - self.linear_weight + self.linear_weight * own.product
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::float::Libm;

    #[test]
    fn matern_of_hand_worked_distances() {
        // r = 1: √5 = 2.236068, (1 + 2.236068 + 5/3)·exp(−2.236068) = 4.902735 · 0.106878 = 0.523994
        assert!((matern52::<Libm>(1.0) - 0.523_994).abs() < 1e-6);
        // r = 2: √20 = 4.472136, (1 + 4.472136 + 20/3)·exp(−4.472136) = 12.138803 · 0.011423 = 0.138660
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
        for i in 1..2000 {
            let r2 = f64::from(i) * 0.01;
            let difference = (exact(r2 + 1e-5) - exact(r2 - 1e-5)) / 2e-5;
            assert!((f64::from(matern52_slope::<Libm>(r2 as f32)) - difference).abs() < 1e-6, "at {r2}");
            assert!((f64::from(matern52_slope::<Arithmetic>(r2 as f32)) - difference).abs() < 2e-6, "at {r2}");
        }
        assert_eq!(matern52_slope::<Arithmetic>(0.0), -5.0 / 6.0);
    }

    #[test]
    fn the_short_matern_is_the_exact_one_to_a_millionth() {
        for i in 0..100_000 {
            let r2 = i as f32 * i as f32 * 1e-7;
            assert!((matern52::<Arithmetic>(r2) - matern52::<Libm>(r2)).abs() < 1e-6, "at {r2}");
        }
    }
}
