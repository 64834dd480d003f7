//! CBO-Recon's left inverse: the Moore-Penrose inverse of R, then rounding at a threshold.
//!
//! φ⁻¹(x) = round(R⁺·x) to {0, 1}^m (section 4.1): b is scaled to [0, 1] (section 6), and what is above
//! 0.02 is 1 (section 7.1).
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | R, R⁺ | the random map and its [pseudo-inverse](crate::paper::pseudo_inverse) | D × M, M × D |
//! | o | [`Encoder::offset`]: ½ for a bit, otherwise 0 | m |
//! | x, z | embedding and features, centred: x = R·z | d, m |
//! | b | the paper's coordinates, z + o | m |
//!
//! **Choices**
//! - *Offset*: the paper's point is R·b = x + R·o, so b = R⁺·(x + R·o). With d < m that is a
//!   projection of the bits and shorter than they are; the low threshold makes up for it.
//! - *Scaling*: if a bit's coordinate is outside [0, 1], the smallest becomes 0 and the largest 1. The
//!   paper has no formula for it. Inside, b is left alone, so that d ≥ m inverts exactly.
//! - *Other features* of [`Encoding::PerKnob`] have offset 0 and are not rounded: the knob takes
//!   the level nearest to R⁺·(x + R·o).
//! - *No such combination*: bits past the last index of [`Encoding::Compact`] become the index in
//!   range whose bits differ by the smallest sum of |b − threshold|, the nearest to b if the
//!   threshold is ½.
//! - *Visited or infeasible* combinations are not avoided; the paper's method may propose one
//!   again.
//! - [`Distribution::Identity`](crate::Distribution::Identity) has no R: there x is z, and
//!   [`Encoder::decode`] is the inverse.
//!
//! **Cost.** d·m multiplications per reconstruction besides the inverse; D(M + 1) numbers.

use crate::config::Encoding;
use crate::features::encoding::Encoder;
use crate::features::random_map::RandomMap;
use crate::math::float::dot;
use crate::math::matrix::Matrix;
use crate::paper::pseudo_inverse::pseudo_inverse;
use crate::space::{Combination, Space};

/// The paper's threshold for [`Tuner::ask_recon`](crate::Tuner::ask_recon): b above it is a 1.
pub const THRESHOLD: f32 = 0.02;

/// The left inverse of a random map.
///
/// ```
/// use trimtab::internals::{Encoder, RandomMap, Reconstruction};
/// use trimtab::{Distribution, Encoding, Knob, Space, THRESHOLD};
/// let space = Space::<3>::new(&[Knob::nominal(2); 3])?;
/// let encoder = Encoder::new(&space, Encoding::Compact);
/// let mut map = RandomMap::<4, 3>::new();
/// map.draw(Distribution::Uniform01, encoder.features(), 1);
/// let mut recon = Reconstruction::new();
/// recon.init(&map, &encoder);
/// // With d ≥ m the inverse is exact.
/// let c = space.combination(&[1, 0, 1])?;
/// let (mut z, mut x) = ([0.0; 3], [0.0; 4]);
/// encoder.encode(&space, &c, &mut z);
/// map.embed(&z, &mut x);
/// assert_eq!(recon.reconstruct(&space, &encoder, THRESHOLD, &x), Some(c));
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reconstruction<const D: usize, const M: usize> {
    inverse: Matrix<M, D>,
    offset: [f32; D],
}

impl<const D: usize, const M: usize> Reconstruction<D, M> {
    /// All zero, until [`init`](Self::init).
    pub const fn new() -> Self {
        Self { inverse: Matrix::new(), offset: [0.0; D] }
    }

    /// Inverts this map.
    pub fn init<const K: usize>(&mut self, map: &RandomMap<D, M>, encoder: &Encoder<K>) {
        pseudo_inverse(map.matrix(), &mut self.inverse);
        self.offset = map.offset(encoder);
    }

    /// b = R⁺·(x + R·o), before any rounding.
    pub fn coordinates(&self, x: &[f32; D]) -> [f32; M] {
        let (mut paper, mut b) = (*x, [0.0; M]);
        paper.iter_mut().zip(&self.offset).for_each(|(x, offset)| *x += offset);
        b.iter_mut().zip(self.inverse.rows()).for_each(|(b, row)| *b = dot(row, &paper));
        b
    }

    /// The combination that x stands for; x is in our coordinates, as [`RandomMap::embed`] writes
    /// it. Returns `None` only if the encoder is not that of [`init`](Self::init) and has more than
    /// M features.
    pub fn reconstruct<const K: usize>(
        &self,
        space: &Space<K>,
        encoder: &Encoder<K>,
        threshold: f32,
        x: &[f32; D],
    ) -> Option<Combination<K>> {
        let mut b = self.coordinates(x);
        let mut offset = [0.0; M];
        encoder.offset(&mut offset);
        scale(&mut b, &offset);
        if encoder.encoding() == Encoding::Compact {
            return space.at(nearest_index(b.get(..encoder.features())?, threshold, space.last_index()));
        }
        for (b, _) in b.iter_mut().zip(&offset).filter(|(_, offset)| **offset > 0.0) {
            *b = if *b > threshold { 0.5 } else { -0.5 };
        }
        encoder.decode(space, &b)
    }
}

/// Scales the coordinates of bits, which have an offset, to [0, 1] if one is outside.
fn scale(b: &mut [f32], offset: &[f32]) {
    // What rounding leaves of a 0 or a 1.
    const ROUNDING: f32 = 1e-3;
    let bits = b.iter().zip(offset).filter(|(_, offset)| **offset > 0.0).map(|(b, _)| *b);
    let (low, high) = bits.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), b| (low.min(b), high.max(b)));
    if high > low && (low < -ROUNDING || high > 1.0 + ROUNDING) {
        let bits = b.iter_mut().zip(offset).filter(|(_, offset)| **offset > 0.0);
        bits.for_each(|(b, _)| *b = (*b - low) / (high - low));
    }
}

impl<const D: usize, const M: usize> Default for Reconstruction<D, M> {
    fn default() -> Self {
        Self::new()
    }
}

/// The number in 0 to `last` whose bits differ from the rounded b by the smallest sum of |b −
/// threshold|; the smallest number wins a tie. Of the bits so far, `wanted` holds the rounded ones,
/// `index` the best choice that is not above the same bits of `last`, and `cost` its sum.
fn nearest_index(b: &[f32], threshold: f32, last: u64) -> u64 {
    let (mut wanted, mut index, mut cost) = (0, 0, 0.0);
    for (bit, b) in (0..u64::BITS).zip(b) {
        let one = 1u64 << bit;
        let is_one = *b > threshold;
        let change = (b - threshold).abs();
        let (to_zero, to_one) = if is_one { (change, 0.0) } else { (0.0, change) };
        if last & one == 0 {
            cost += to_zero;
        } else if cost + to_one < to_zero {
            (index, cost) = (index | one, cost + to_one);
        } else {
            (index, cost) = (wanted, to_zero);
        }
        wanted |= if is_one { one } else { 0 };
    }
    index
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Distribution;
    use crate::math::random::Random;
    use crate::math::times;
    use crate::space::knob::Knob;

    /// Ones of a one-hot digit have no offset: they are compared with each other, not with 0 and 1.
    #[test]
    fn only_bits_with_an_offset_are_scaled() {
        let scaled = |mut b: [f32; 4]| {
            scale(&mut b, &[0.5, 0.0, 0.5, 0.5]);
            b
        };
        assert_eq!(scaled([-1.0, 5.0, 3.0, 1.0]), [0.0, 5.0, 1.0, 0.5]);
        assert_eq!(scaled([0.0, 5.0, 0.9, 1.0]), [0.0, 5.0, 0.9, 1.0]);
        assert_eq!(scaled([2.0; 4]), [2.0; 4]);
    }

    /// Embeds every combination and expects it back.
    fn there_and_back<const D: usize>(space: &Space<3>, encoding: Encoding, map: Distribution, seed: u64) {
        let encoder = Encoder::new(space, encoding);
        let mut r = RandomMap::<D, 8>::new();
        r.draw(map, encoder.features(), seed);
        let mut recon = Reconstruction::default();
        recon.init(&r, &encoder);
        for index in 0..=space.last_index() {
            let (c, mut z, mut x) = (space.at(index).unwrap(), [0.0; 8], [0.0; D]);
            encoder.encode(space, &c, &mut z);
            r.embed(&z, &mut x);
            assert_eq!(recon.reconstruct(space, &encoder, THRESHOLD, &x), Some(c), "{space:?} {encoding:?} {map:?}");
        }
    }

    #[test]
    fn with_enough_dimensions_every_combination_comes_back() {
        let spaces = [
            Space::<3>::new(&[Knob::nominal(2); 3]).unwrap(),
            Space::<3>::new(&[Knob::nominal(3), Knob::ranked(4), Knob::nominal(2)]).unwrap(),
            Space::<3>::new(&[Knob::nominal(5), Knob::nominal(1), Knob::ranked(7)]).unwrap(),
        ];
        for space in &spaces {
            for encoding in [Encoding::Compact, Encoding::PerKnob] {
                for seed in 0..times(5, 1) {
                    there_and_back::<12>(space, encoding, Distribution::Uniform01, seed);
                    there_and_back::<12>(space, encoding, Distribution::Centred, seed);
                }
            }
        }
    }

    /// With fewer dimensions than bits: the paper's formula on the paper's bits, R⁺·(R·b) scaled to
    /// [0, 1] where it is not, above the threshold.
    #[test]
    fn bits_follow_the_papers_formula() {
        let space = Space::<10>::new(&[Knob::nominal(2); 10]).unwrap();
        for encoding in [Encoding::Compact, Encoding::PerKnob] {
            let encoder = Encoder::new(&space, encoding);
            let (mut map, mut recon) = (RandomMap::<4, 10>::new(), Reconstruction::new());
            map.draw(Distribution::Uniform01, 10, 3);
            recon.init(&map, &encoder);
            for index in (0..1024).step_by(7) {
                let c = space.at(index).unwrap();
                let (mut z, mut x, mut x_paper) = ([0.0; 10], [0.0; 4], [0.0; 4]);
                encoder.encode(&space, &c, &mut z);
                map.embed(&z, &mut x);
                map.embed(&z.map(|z| z + 0.5), &mut x_paper);
                let b: [f32; 10] = core::array::from_fn(|i| dot(recon.inverse.row(i), &x_paper));
                let (low, high) = b.iter().fold((1.0f32, 0.0f32), |(low, high), b| (low.min(*b), high.max(*b)));
                let is_outside = low < -1e-3 || high > 1.001;
                let b = b.map(|b| if is_outside { (b - low) / (high - low) } else { b });
                let own = recon.reconstruct(&space, &encoder, THRESHOLD, &x).unwrap();
                for (b, level) in b.iter().zip(own.levels()) {
                    assert!((*b > THRESHOLD) == (*level == 1) || (b - THRESHOLD).abs() < 1e-5);
                }
            }
        }
    }

    /// With d < m any x gives a combination of the space.
    #[test]
    fn any_point_has_a_combination() {
        let space = Space::<3>::new(&[Knob::nominal(5), Knob::ranked(7), Knob::nominal(3)]).unwrap();
        let mut random = Random::new(4, 4);
        for encoding in [Encoding::Compact, Encoding::PerKnob] {
            let encoder = Encoder::new(&space, encoding);
            let (mut map, mut recon) = (RandomMap::<3, 10>::new(), Reconstruction::new());
            map.draw(Distribution::Centred, encoder.features(), 3);
            recon.init(&map, &encoder);
            for _ in 0..300 {
                let x = core::array::from_fn(|_| 20.0 * random.uniform() - 10.0);
                assert!(space.contains(&recon.reconstruct(&space, &encoder, 0.5, &x).unwrap()));
            }
            assert!(space.contains(&recon.reconstruct(&space, &encoder, 0.5, &[f32::NAN; 3]).unwrap()));
            // An encoder with more features than there is room for.
            let small = Reconstruction::<3, 4>::new();
            assert_eq!(small.reconstruct(&space, &encoder, 0.5, &[0.0; 3]), None);
        }
    }

    /// R = diag(2, 4): R⁺ = diag(½, ¼), and the embedding of the bits (1, 0) is R·(½, −½).
    #[test]
    fn coordinates_and_threshold_by_hand() {
        let space = Space::<2>::new(&[Knob::nominal(2); 2]).unwrap();
        let encoder = Encoder::new(&space, Encoding::Compact);
        let mut recon = Reconstruction::new();
        assert_eq!(recon.coordinates(&[1.0, 2.0]), [0.0; 2]);
        recon.init(&RandomMap::from_rows(&[[2.0, 0.0], [0.0, 4.0]]), &encoder);
        assert_eq!(recon.coordinates(&[0.0, 0.0]), [0.5, 0.5]);
        assert_eq!(recon.coordinates(&[1.0, -2.0]), [1.0, 0.0]);
        // b = x/2 + ½ and x/4 + ½.
        let levels = |b: f32, threshold| {
            recon.reconstruct(&space, &encoder, threshold, &[2.0 * b - 1.0, 4.0 * b - 2.0]).unwrap().levels().to_vec()
        };
        assert_eq!((levels(0.01, THRESHOLD), levels(0.03, THRESHOLD)), (std::vec![0, 0], std::vec![1, 1]));
        assert_eq!(levels(0.03, 0.5), [0, 0]);
    }

    #[test]
    fn bits_past_the_last_combination_become_the_nearest() {
        let mut random = Random::new(2, 2);
        for last in [0, 1, 4, 6, 9, 12, 31] {
            for _ in 0..50 {
                let b: [f32; 5] = core::array::from_fn(|_| random.uniform() * 1.4 - 0.2);
                let b = &b[..(64 - u64::leading_zeros(last)) as usize];
                let distance = |index: u64| {
                    let bits = b.iter().enumerate().map(|(bit, b)| (index >> bit & 1) as f32 - b);
                    bits.map(|d| f64::from(d * d)).sum::<f64>()
                };
                let nearest = (0..=last).min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap();
                assert_eq!(nearest_index(b, 0.5, last), nearest, "{b:?} {last}");
            }
        }
        assert_eq!(nearest_index(&[f32::NAN; 64], 0.5, u64::MAX), 0);
        assert_eq!(nearest_index(&[1.0; 64], 0.5, u64::MAX), u64::MAX);
    }
}
