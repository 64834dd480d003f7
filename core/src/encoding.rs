//! Combination ↔ features: the paper's m bits, or a few features a knob.
//!
//! The paper's φ₁: C → {0, 1}^m, m the smallest integer with 2^m ≥ N (section 4.1), is [`Encoding::Compact`].
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | c | a combination | up to K levels |
//! | z | its features | m numbers |
//! | z̄ | the middle of each feature | m numbers |
//!
//! **Choices.** `Compact` writes the mixed-radix index in binary, lowest bit first: two levels of one knob may then be any number
//! of bits apart, so it is there for the paper's sake. `PerKnob` keeps knobs apart: two levels are one bit; n > 2
//! nominal levels are a one-hot block scaled by 1/√2, so that any two levels are one Hamming step (squared
//! distance 1) apart, as two bits are; a graded knob is its place v on its scale and v², both centred, with the same mean square
//! as a bit: v alone could not express an optimum inside the range in the surrogate's linear term. A knob with
//! one level has no feature. On binary spaces the two encodings coincide.
//!
//! **Cost.** About ten operations a feature; 20 bytes a knob of constants, worked out once.

use crate::knob::{Knob, Level};
use crate::math::sqrt;
use crate::space::{Combination, Space};

/// How a combination becomes features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Encoding {
    /// The paper's: the index of the combination as m bits.
    Compact,
    /// The default: a block of features a knob.
    PerKnob,
}

/// Mean square of a bit about its middle: 0 or 1 about ½. Graded knobs are given the same.
const BIT_MEAN_SQUARE: f32 = 0.25;
/// Shares of v and v² in the mean square of a graded knob.
const VALUE_SHARE: f32 = 0.625;

/// Features of one knob under [`Encoding::PerKnob`].
const fn knob_features(knob: &Knob) -> usize {
    match knob.levels() {
        0 | 1 => 0,
        2 => 1,
        _ if knob.is_graded() => 2,
        levels => levels,
    }
}

/// The most features that these knobs need under any encoding: the M of a tuner.
///
/// ```
/// use trimtab::{Knob, encoding::features};
/// assert_eq!(features(&[Knob::nominal(2), Knob::nominal(5), Knob::ranked(100)]), 10);
/// ```
pub const fn features(knobs: &[Knob]) -> usize {
    let (mut per_knob, mut cardinality, mut i) = (0, 1u128, 0);
    while i < knobs.len() {
        per_knob += knob_features(&knobs[i]);
        cardinality = cardinality.saturating_mul(knobs[i].levels() as u128);
        i += 1;
    }
    let compact = bits(cardinality);
    if per_knob > compact { per_knob } else { compact }
}

/// The smallest m with 2^m ≥ n.
const fn bits(n: u128) -> usize {
    if n <= 1 { 0 } else { (u128::BITS - (n - 1).leading_zeros()) as usize }
}

/// What turns the levels of one graded knob into features.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Grade {
    middle: f32,
    /// Factors of v and of v², and the mean of v².
    value: f32,
    square: f32,
    mean_of_square: f32,
}

impl Grade {
    const ZERO: Self = Self { middle: 0.0, value: 0.0, square: 0.0, mean_of_square: 0.0 };

    /// v is centred on its mean over the levels; both features get their share of the mean square.
    fn of(knob: &Knob) -> Self {
        if !knob.is_graded() {
            return Self::ZERO;
        }
        let levels = knob.levels() as f32;
        let mean = |f: &dyn Fn(f32) -> f32| {
            (0..knob.levels()).fold(0.0, |sum, level| sum + f(knob.position(level as Level))) / levels
        };
        let middle = mean(&|v| v);
        let mean_of_square = mean(&|v| (v - middle) * (v - middle));
        let variance_of_square = mean(&|v| {
            let square = (v - middle) * (v - middle) - mean_of_square;
            square * square
        });
        // Equal values leave nothing to scale.
        let scale = |share: f32, spread: f32| if spread > 0.0 { sqrt(share * BIT_MEAN_SQUARE / spread) } else { 0.0 };
        let value = scale(VALUE_SHARE, mean_of_square);
        Self { middle, value, square: scale(1.0 - VALUE_SHARE, variance_of_square), mean_of_square }
    }

    fn features(&self, position: f32) -> [f32; 2] {
        let v = position - self.middle;
        [v * self.value, (v * v - self.mean_of_square) * self.square]
    }
}

/// An encoding made ready for a space.
///
/// ```
/// use trimtab::{Knob, Space, encoding::{Encoder, Encoding}};
/// let space = Space::<2>::new(&[Knob::nominal(3), Knob::ranked(4)])?;
/// let encoder = Encoder::new(&space, Encoding::PerKnob);
/// let c = space.combination(&[2, 1])?;
/// let mut z = [0.0; 5];
/// encoder.encode(&space, &c, &mut z);
/// assert_eq!(encoder.decode(&space, &z), Some(c));
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Encoder<const K: usize> {
    encoding: Encoding,
    grades: [Grade; K],
    features: usize,
}

impl<const K: usize> Encoder<K> {
    /// For the space of no knobs.
    pub(crate) const fn empty() -> Self {
        Self { encoding: Encoding::Compact, grades: [Grade::ZERO; K], features: 0 }
    }

    /// Works out the constants of each knob.
    pub fn new(space: &Space<K>, encoding: Encoding) -> Self {
        let mut encoder = Self { encoding, ..Self::empty() };
        encoder.features = match encoding {
            Encoding::Compact => bits(space.cardinality()),
            Encoding::PerKnob => space.knobs().iter().map(knob_features).sum(),
        };
        for (grade, knob) in encoder.grades.iter_mut().zip(space.knobs()) {
            *grade = Grade::of(knob);
        }
        encoder
    }

    /// m, the number of features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Writes z(c) into the first m elements of `z`.
    pub fn encode(&self, space: &Space<K>, c: &Combination<K>, z: &mut [f32]) {
        if self.encoding == Encoding::Compact {
            let index = space.index(c);
            let bits = (0..self.features).map(|bit| (index >> bit & 1) as f32);
            return z.iter_mut().zip(bits).for_each(|(z, bit)| *z = bit);
        }
        for (block, knob, grade, level) in self.blocks(space, z).zip(c.levels()).map(|((b, k, g), l)| (b, k, g, *l)) {
            match block {
                [] => {}
                [bit] => *bit = f32::from(level),
                [value, square] if knob.is_graded() => [*value, *square] = grade.features(knob.position(level)),
                one_hot => {
                    let hot = usize::from(level);
                    one_hot.iter_mut().enumerate().for_each(|(i, z)| *z = if i == hot { HOT } else { 0.0 });
                }
            }
        }
    }

    /// Takes the middle z̄ from each feature, so that the surrogate's linear term treats all levels alike.
    pub fn centre(&self, space: &Space<K>, z: &mut [f32]) {
        if self.encoding == Encoding::Compact {
            return z.iter_mut().take(self.features).for_each(|z| *z -= 0.5);
        }
        for (block, knob, _) in self.blocks(space, z) {
            let middle = match block.len() {
                1 => 0.5,
                _ if knob.is_graded() => 0.0,
                levels => HOT / levels as f32,
            };
            block.iter_mut().for_each(|z| *z -= middle);
        }
    }

    /// ‖z − z̄‖² averaged over all combinations: the scale of the features.
    pub fn mean_square(&self, space: &Space<K>) -> f32 {
        match self.encoding {
            Encoding::Compact => self.features as f32 * BIT_MEAN_SQUARE,
            Encoding::PerKnob => space.knobs().iter().fold(0.0, |sum, knob| {
                sum + match knob_features(knob) {
                    0 => 0.0,
                    levels if levels > 2 => 0.5 - 0.5 / levels as f32,
                    _ => BIT_MEAN_SQUARE,
                }
            }),
        }
    }

    /// The combination with these features; the nearest level for a knob whose features are no level's. None
    /// if the bits of `Compact` are past the last combination.
    pub fn decode(&self, space: &Space<K>, z: &[f32]) -> Option<Combination<K>> {
        if self.encoding == Encoding::Compact {
            let bits = z.iter().take(self.features).enumerate();
            return space.at(bits.fold(0, |index, (bit, z)| index | u64::from(*z >= 0.5) << bit));
        }
        let mut c = space.at(0)?;
        let mut rest = z;
        for (i, (knob, grade)) in space.knobs().iter().zip(&self.grades).enumerate() {
            let (block, tail) = rest.split_at_checked(knob_features(knob))?;
            rest = tail;
            let level = match block {
                [] => 0,
                [bit] => Level::from(*bit >= 0.5),
                [value, square] if knob.is_graded() => smallest(knob.levels(), |level| {
                    let [v, s] = grade.features(knob.position(level));
                    (v - value) * (v - value) + (s - square) * (s - square)
                }),
                one_hot => smallest(knob.levels(), |level| -one_hot.get(usize::from(level)).unwrap_or(&0.0)),
            };
            c = c.with(i, level);
        }
        Some(c)
    }

    /// The features of each knob, to be written.
    fn blocks<'a>(
        &'a self,
        space: &'a Space<K>,
        z: &'a mut [f32],
    ) -> impl Iterator<Item = (&'a mut [f32], &'a Knob, &'a Grade)> {
        let mut rest = z;
        space.knobs().iter().zip(&self.grades).map_while(move |(knob, grade)| {
            let (block, tail) = core::mem::take(&mut rest).split_at_mut_checked(knob_features(knob))?;
            rest = tail;
            Some((block, knob, grade))
        })
    }
}

/// 1/√2: two one-hot vectors of this height are at squared distance 1.
const HOT: f32 = core::f32::consts::FRAC_1_SQRT_2;

/// The level with the smallest cost, the first of equals.
fn smallest(levels: usize, cost: impl Fn(Level) -> f32) -> Level {
    let all = (0..levels).map(|level| level as Level);
    all.fold((0, f32::INFINITY), |best, level| {
        let cost = cost(level);
        if cost < best.1 { (level, cost) } else { best }
    })
    .0
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::knob::Scale;
    use crate::math::{dot, squared_distance};

    fn close(a: f32, b: f32) -> bool {
        (a - b).abs() < 1e-4
    }

    fn spaces() -> impl Iterator<Item = Space<3>> {
        static VALUES: [f32; 7] = [10.0, 22.0, 47.0, 100.0, 220.0, 470.0, 1000.0];
        (1..=7).flat_map(|q| {
            let graded = Knob::graded(&VALUES[..q], Scale::Log);
            let q = q as u16;
            [
                Space::new(&[Knob::nominal(q), Knob::nominal(2), graded]).unwrap(),
                Space::new(&[Knob::ranked(q), Knob::nominal(q + 1)]).unwrap(),
            ]
        })
    }

    #[test]
    fn decode_undoes_encode() {
        for space in spaces() {
            for encoding in [Encoding::Compact, Encoding::PerKnob] {
                let encoder = Encoder::new(&space, encoding);
                assert!(encoder.features() <= features(space.knobs()));
                for index in 0..=space.last_index() {
                    let c = space.at(index).unwrap();
                    let mut z = [0.0; 32];
                    encoder.encode(&space, &c, &mut z);
                    assert_eq!(encoder.decode(&space, &z), Some(c), "{space:?} {encoding:?}");
                }
            }
        }
    }

    #[test]
    fn features_are_centred_and_have_the_stated_mean_square() {
        for space in spaces() {
            let encoder = Encoder::new(&space, Encoding::PerKnob);
            let (mut sum, mut square) = ([0.0f32; 32], 0.0);
            for index in 0..=space.last_index() {
                let mut z = [0.0; 32];
                encoder.encode(&space, &space.at(index).unwrap(), &mut z);
                encoder.centre(&space, &mut z);
                sum.iter_mut().zip(&z).for_each(|(sum, z)| *sum += z);
                square += dot(&z, &z) / space.cardinality() as f32;
            }
            assert!(sum.iter().all(|sum| sum.abs() < 1e-3), "{space:?} {sum:?}");
            // A graded knob whose v² is constant (three levels, symmetric: it is not) would fall short.
            assert!(close(square, encoder.mean_square(&space)), "{space:?} {square}");
        }
    }

    #[test]
    fn one_nominal_step_is_one_hamming_step() {
        let space = Space::<2>::new(&[Knob::nominal(5), Knob::nominal(2)]).unwrap();
        let encoder = Encoder::new(&space, Encoding::PerKnob);
        let z = |levels: [Level; 2]| {
            let mut z = [0.0; 6];
            encoder.encode(&space, &space.combination(&levels).unwrap(), &mut z);
            z
        };
        assert!(close(squared_distance(&z([0, 0]), &z([3, 0])), 1.0));
        assert!(close(squared_distance(&z([0, 0]), &z([0, 1])), 1.0));
        assert!(close(squared_distance(&z([0, 0]), &z([4, 1])), 2.0));
    }

    #[test]
    fn compact_has_the_fewest_bits() {
        for (levels, m) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (256, 8)] {
            let space = Space::<1>::new(&[Knob::nominal(levels)]).unwrap();
            assert_eq!(Encoder::new(&space, Encoding::Compact).features(), m);
        }
        let widest = Space::<64>::new(&[Knob::nominal(2); 64]).unwrap();
        assert_eq!(Encoder::new(&widest, Encoding::Compact).features(), 64);
    }

    #[test]
    fn bits_past_the_last_combination_decode_to_none() {
        let space = Space::<1>::new(&[Knob::nominal(5)]).unwrap();
        assert_eq!(Encoder::new(&space, Encoding::Compact).decode(&space, &[1.0, 0.0, 1.0]), None);
    }
}
