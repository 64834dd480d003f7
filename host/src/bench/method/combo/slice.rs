//! Slice sampling of one variable on an interval (Neal 2003).
//!
//! u ~ U(0, p(x)); x′ uniform on {x : p(x) > u}
//!
//! **Choices**
//! - The first interval is the whole support. It shrinks towards x with every point outside the
//!   slice, which is valid for any interval chosen independently of x.
//! - The authors double an interval of width 1 until it covers the slice, and test whether each
//!   point could have been reached from the other side: the same distribution, at more evaluations
//!   per draw.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// An interval shorter than this has collapsed onto x.
const SHORTEST: f64 = 1e-9;

/// A point and the logarithm of the density there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) log_density: f64,
}

/// Draws the next point of the chain.
pub(super) fn draw(
    support: (f64, f64),
    here: Point,
    random: &mut Xoshiro256PlusPlus,
    mut log_density: impl FnMut(f64) -> f64,
) -> Point {
    let (mut low, mut high) = support;
    let height = here.log_density + libm::log(1.0 - random.random::<f64>());
    while high - low > SHORTEST {
        let x = low + (high - low) * random.random::<f64>();
        let there = Point { x, log_density: log_density(x) };
        if there.log_density > height {
            return there;
        }
        if x < here.x {
            low = x;
        } else {
            high = x;
        }
    }
    here
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// The share of draws below each limit.
    fn shares(support: (f64, f64), limits: &[f64], log_density: fn(f64) -> f64) -> Vec<f64> {
        const DRAWS: usize = 40_000;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut here = Point { x: 0.3, log_density: log_density(0.3) };
        let mut below = vec![0.0; limits.len()];
        for _ in 0..DRAWS {
            here = draw(support, here, &mut random, log_density);
            below.iter_mut().zip(limits).for_each(|(below, limit)| *below += f64::from(u8::from(here.x < *limit)));
        }
        below.iter().map(|below| below / DRAWS as f64).collect()
    }

    #[test]
    fn draws_follow_known_densities() {
        // Φ at −1, 0, 1 and 2. Draws are slightly correlated; the standard error is below 0.005.
        let normal = shares((-12.0, 20.0), &[-1.0, 0.0, 1.0, 2.0], |x| -0.5 * x * x);
        assert!(
            normal.iter().zip([0.158_655, 0.5, 0.841_345, 0.977_250]).all(|(a, b)| (a - b).abs() < 0.015),
            "{normal:?}"
        );
        // The density 2x on (0, 1) has the distribution x².
        let ramp = shares((0.0, 1.0), &[0.25, 0.5, 0.75], libm::log);
        assert!(ramp.iter().zip([0.0625, 0.25, 0.5625]).all(|(a, b)| (a - b).abs() < 0.015), "{ramp:?}");
        // Two humps of equal weight, ten deviations apart: the chain visits both.
        let humps = shares((-12.0, 12.0), &[0.0], |x| {
            libm::log(libm::exp(-0.5 * (x - 5.0) * (x - 5.0)) + libm::exp(-0.5 * (x + 5.0) * (x + 5.0)))
        });
        assert!((humps[0] - 0.5).abs() < 0.06, "{humps:?}");
    }

    #[test]
    fn a_point_of_no_density_is_left_and_a_spike_is_kept() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let nowhere = Point { x: 0.0, log_density: f64::NEG_INFINITY };
        assert_eq!(draw((-1.0, 1.0), nowhere, &mut random, |_| 0.0).log_density, 0.0);
        let spike = Point { x: 0.5, log_density: 0.0 };
        assert_eq!(draw((-1.0, 1.0), spike, &mut random, |_| f64::NEG_INFINITY), spike);
    }
}
