//! Uniform random numbers and choices from a 32-bit generator. Nothing else in the crate draws.
//!
//! | name | meaning |
//! |---|---|
//! | seed | given by the user |
//! | stream | what the numbers are for, so that one use never shifts another's |
//!
//! **Choices**
//! - xoshiro128++ works on 32-bit words, which suits a small chip.
//! - Draws use integers of fixed width, so they are the same on every target.
//! - Each use creates a generator from (seed, stream). A tuner's draws thus depend on its seed and
//!   on its observations and pending asks, never on how often it was asked, and a log can rebuild
//!   it.
//!
//! **Cost.** 16 bytes; about 20 instructions per draw and 150 to create a generator.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro128PlusPlus;

/// A stream of random numbers.
///
/// ```
/// use trimtab::internals::Random;
/// let mut random = Random::new(1, 0);
/// assert!((0..100).all(|_| random.below(6) < 6));
/// assert_eq!(Random::new(1, 0).uniform(), Random::new(1, 0).uniform());
/// ```
#[derive(Clone, Debug)]
pub struct Random(Xoshiro128PlusPlus);

impl Random {
    /// The stream with this number under this seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        // Neighbouring streams must start apart: a large odd factor spreads them before SplitMix64
        // mixes them.
        Self(Xoshiro128PlusPlus::seed_from_u64(seed ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    /// Uniform in [0, 1), a multiple of 2⁻²⁴.
    pub fn uniform(&mut self) -> f32 {
        (self.0.next_u32() >> 8) as f32 * (1.0 / (1u32 << 24) as f32)
    }

    /// Uniform in 0..n, exactly (Lemire's method); 0 if n is 0.
    pub fn below(&mut self, n: u32) -> u32 {
        if n == 0 {
            return 0;
        }
        let surplus = n.wrapping_neg() % n;
        loop {
            let product = u64::from(self.0.next_u32()) * u64::from(n);
            if product as u32 >= surplus {
                return (product >> 32) as u32;
            }
        }
    }

    /// 64 random bits, as a seed for other streams.
    pub fn bits(&mut self) -> u64 {
        u64::from(self.0.next_u32()) << 32 | u64::from(self.0.next_u32())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "60 000 draws")]
    fn draws_are_uniform() {
        let mut random = Random::new(7, 3);
        let mut counts = [0u32; 6];
        let mut mean = 0.0;
        for _ in 0..60_000 {
            counts[random.below(6) as usize] += 1;
            mean += random.uniform() / 60_000.0;
        }
        // Six standard deviations: √(60 000 · 1/6 · 5/6) = 91, and 1/√(12 · 60 000) = 0.0012.
        assert!(counts.iter().all(|c| c.abs_diff(10_000) < 550), "{counts:?}");
        assert!((mean - 0.5).abs() < 0.0072, "{mean}");
    }

    #[test]
    fn streams_differ_and_bounds_hold() {
        assert_ne!(Random::new(1, 0).below(1 << 30), Random::new(1, 1).below(1 << 30));
        let mut random = Random::new(1, 0);
        for n in [1, 2, 6, 255, u32::MAX] {
            assert!((0..50).all(|_| random.below(n) < n));
        }
        assert_eq!(random.below(0), 0);
        assert_ne!(random.bits(), random.bits());
    }
}
