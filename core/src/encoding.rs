//! Combination ↔ features: the paper's m bits, or a few features a knob.
//!
//! The paper's φ₁: C → {0, 1}^m, m the smallest integer with 2^m ≥ N (section 4.1), is [`Encoding::Compact`].
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | c | a combination | up to K levels |
//! | b | the paper's bits, 0 or 1 | m |
//! | z | features, each with mean 0 over all levels: z = b − ½ for a bit | m numbers |
//!
//! **Choices.** `Compact` writes the mixed-radix index in binary, lowest bit first: two levels of one knob may then be any number
//! of bits apart, so it is there for the paper's sake. `PerKnob` keeps knobs apart: two levels are one bit; n > 2
//! nominal levels are a one-hot block scaled by 1/√2, so that any two levels are one Hamming step (squared
//! distance 1) apart, as two bits are; a graded knob is its place v on its scale and v², with the same mean square
//! as a bit: v alone could not express an optimum inside the range in the surrogate's linear term. A knob with
//! one level has no feature. On binary spaces the two encodings coincide. Features are centred, which changes no
//! distance, so that the surrogate's linear term treats all levels alike.
//!
//! Most of this never becomes numbers: any two levels of a nominal knob are at squared distance 1, so distances and products
//! over nominal knobs follow from the count of knobs that differ ([`Encoder::differing`]), four knobs at a time.
//!
//! **Cost.** About ten operations a feature, two a knob to count; 21 bytes a knob of constants, worked out once.

use crate::knob::{Knob, Level};
use crate::math::{dot, sqrt, squared_distance};
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

/// The most features that these knobs have under any encoding: the M of a tuner with a random map.
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

/// How many features of these knobs are graded: the numbers that a tuner without projection keeps of a combination.
///
/// ```
/// use trimtab::{Knob, encoding::graded_features};
/// assert_eq!(graded_features(&[Knob::nominal(2), Knob::nominal(5), Knob::ranked(100)]), 2);
/// ```
pub const fn graded_features(knobs: &[Knob]) -> usize {
    let (mut graded, mut i) = (0, 0);
    while i < knobs.len() {
        if knobs[i].is_graded() {
            graded += knob_features(&knobs[i]);
        }
        i += 1;
    }
    graded
}

/// The smallest m with 2^m ≥ n.
const fn bits(n: u128) -> usize {
    if n <= 1 { 0 } else { (u128::BITS - (n - 1).leading_zeros()) as usize }
}

/// How one knob becomes features.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Block {
    /// One level: no feature.
    Fixed,
    /// Two levels: one feature, ±½.
    Bit,
    /// Nominal levels: one feature each.
    OneHot { levels: u16 },
    /// Graded levels: v and v², each less its mean and times a factor.
    Graded { middle: f32, mean_of_square: f32, value: f32, square: f32 },
}

impl Block {
    fn of(knob: &Knob) -> Self {
        match knob.levels() {
            0 | 1 => Self::Fixed,
            2 => Self::Bit,
            levels if !knob.is_graded() => Self::OneHot { levels: levels as u16 },
            levels => {
                let mean = |f: &dyn Fn(f32) -> f32| {
                    (0..levels).fold(0.0, |sum, level| sum + f(knob.position(level as Level))) / levels as f32
                };
                let middle = mean(&|v| v);
                let mean_of_square = mean(&|v| (v - middle) * (v - middle));
                let variance_of_square = mean(&|v| {
                    let square = (v - middle) * (v - middle) - mean_of_square;
                    square * square
                });
                // Equal values leave nothing to scale.
                let factor = |share: f32, spread: f32| {
                    if spread > 0.0 { sqrt(share * BIT_MEAN_SQUARE / spread) } else { 0.0 }
                };
                let value = factor(VALUE_SHARE, mean_of_square);
                let square = factor(1.0 - VALUE_SHARE, variance_of_square);
                Self::Graded { middle, mean_of_square, value, square }
            }
        }
    }

    fn features(&self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Bit => 1,
            Self::OneHot { levels } => usize::from(*levels),
            Self::Graded { .. } => 2,
        }
    }

    /// Writes the features of a level.
    fn write(&self, knob: &Knob, level: Level, z: &mut [f32]) {
        match self {
            Self::Fixed => {}
            Self::Bit => z.iter_mut().for_each(|z| *z = f32::from(level) - 0.5),
            Self::OneHot { levels } => {
                z.fill(-HOT / f32::from(*levels));
                z.iter_mut().skip(usize::from(level)).take(1).for_each(|z| *z += HOT);
            }
            Self::Graded { middle, mean_of_square, value, square } => {
                let v = knob.position(level) - middle;
                let features = [v * value, (v * v - mean_of_square) * square];
                z.iter_mut().zip(features).for_each(|(z, feature)| *z = feature);
            }
        }
    }

    /// Mean of ‖z‖² over the levels.
    fn mean_square(&self) -> f32 {
        match self {
            Self::Fixed => 0.0,
            Self::OneHot { levels } => 0.5 - 0.5 / f32::from(*levels),
            Self::Bit | Self::Graded { .. } => BIT_MEAN_SQUARE,
        }
    }
}

/// Features that take their values apart from all others, as a digit of the index does: a bit under `Compact`, else a knob.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Digit {
    /// Which bit, or which knob.
    number: u16,
    pub(crate) levels: u16,
    pub(crate) features: u16,
    /// The first of its features.
    pub(crate) start: u16,
    /// What one level more adds to the index.
    pub(crate) place: u64,
}

impl Digit {
    /// Where its features are.
    pub(crate) fn range(&self) -> core::ops::Range<usize> {
        usize::from(self.start)..usize::from(self.start) + usize::from(self.features)
    }

    /// Whether its features have the sum 0 at every level.
    pub(crate) fn is_one_hot(&self) -> bool {
        self.features > 2
    }

    /// How many steps its range has: of a graded knob one less than levels, else one.
    pub(crate) fn steps(&self) -> f32 {
        if self.features == 2 { f32::from(self.levels) - 1.0 } else { 1.0 }
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
    blocks: [Block; K],
    /// 1 for the knobs whose levels count as equal or different, 0 for graded ones.
    counted: [u8; K],
    features: usize,
}

impl<const K: usize> Encoder<K> {
    /// For the space of no knobs.
    pub(crate) const fn empty() -> Self {
        Self { encoding: Encoding::Compact, blocks: [Block::Fixed; K], counted: [0; K], features: 0 }
    }

    /// Works out the constants of each knob.
    pub fn new(space: &Space<K>, encoding: Encoding) -> Self {
        let mut encoder = Self { encoding, ..Self::empty() };
        encoder.blocks.iter_mut().zip(space.knobs()).for_each(|(block, knob)| *block = Block::of(knob));
        for (counted, block) in encoder.counted.iter_mut().zip(&encoder.blocks) {
            *counted = u8::from(matches!(block, Block::Bit | Block::OneHot { .. }));
        }
        encoder.features = match encoding {
            Encoding::Compact => bits(space.cardinality()),
            Encoding::PerKnob => encoder.blocks.iter().map(Block::features).sum(),
        };
        encoder
    }

    /// Which encoding this is.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// m, the number of features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// How many of the features are graded.
    pub fn graded_features(&self) -> usize {
        match self.encoding {
            Encoding::Compact => 0,
            Encoding::PerKnob => 2 * self.blocks.iter().filter(|block| matches!(block, Block::Graded { .. })).count(),
        }
    }

    /// Writes z(c) into the first m elements of `z`.
    #[inline(never)]
    pub fn encode(&self, space: &Space<K>, c: &Combination<K>, z: &mut [f32]) {
        if self.encoding == Encoding::Compact {
            let index = space.index(c);
            let bits = (0..self.features).map(|bit| f32::from((index >> bit & 1) as u8) - 0.5);
            return z.iter_mut().zip(bits).for_each(|(z, bit)| *z = bit);
        }
        let mut rest = z;
        for ((block, knob), level) in self.blocks.iter().zip(space.knobs()).zip(c.levels()) {
            let Some((z, tail)) = core::mem::take(&mut rest).split_at_mut_checked(block.features()) else { return };
            block.write(knob, *level, z);
            rest = tail;
        }
    }

    /// Writes the digits that have features, from the least to the most significant, which is the order of their features. How many
    /// there are.
    pub(crate) fn digits(&self, space: &Space<K>, digits: &mut [Digit]) -> usize {
        let (mut place, mut start) = (1u64, 0u16);
        let mut next = |number: usize, levels: usize, features: usize| {
            let (number, levels, features) = (number as u16, levels as u16, features as u16);
            let digit = Digit { number, levels, features, start, place };
            place = place.wrapping_mul(u64::from(levels));
            start = start.wrapping_add(features);
            digit
        };
        let write = |(own, digit): (&mut Digit, Digit)| *own = digit;
        if self.encoding == Encoding::Compact {
            return digits.iter_mut().zip((0..self.features).map(|bit| next(bit, 2, 1))).map(write).count();
        }
        let knobs = self.blocks.iter().zip(space.knobs()).enumerate();
        let all = knobs.map(|(i, (block, knob))| next(i, knob.levels(), block.features()));
        digits.iter_mut().zip(all.filter(|digit| digit.features > 0)).map(write).count()
    }

    /// Writes the features of one level of a digit; `z` is as long as the digit has features.
    pub(crate) fn write_digit(&self, space: &Space<K>, digit: &Digit, level: Level, z: &mut [f32]) {
        let number = usize::from(digit.number);
        match (self.blocks.get(number), space.knobs().get(number)) {
            (Some(block), Some(knob)) if self.encoding == Encoding::PerKnob => block.write(knob, level, z),
            _ => Block::Bit.write(&Knob::nominal(2), level, z),
        }
    }

    /// Writes the features of the graded knobs alone: with the count of differing knobs all that distances need.
    pub fn encode_graded(&self, space: &Space<K>, c: &Combination<K>, z: &mut [f32]) {
        let mut pairs = z.as_chunks_mut::<2>().0.iter_mut();
        for ((block, knob), level) in self.graded(space).zip(c.levels()).filter_map(|(b, l)| Some((b?, l))) {
            if let Some(pair) = pairs.next() {
                block.write(knob, *level, pair);
            }
        }
    }

    /// z·z′ over the graded knobs alone.
    pub fn graded_product(&self, space: &Space<K>, a: &Combination<K>, b: &Combination<K>) -> f32 {
        let levels = a.levels().iter().zip(b.levels());
        self.graded(space).zip(levels).fold(0.0, |sum, (block, (a, b))| {
            let Some((block, knob)) = block else { return sum };
            let [mut za, mut zb] = [[0.0; 2]; 2];
            block.write(knob, *a, &mut za);
            block.write(knob, *b, &mut zb);
            sum + dot(&za, &zb)
        })
    }

    /// The block and knob of each graded knob, None for the others; all None under `Compact`, which knows bits only.
    fn graded<'a>(&'a self, space: &'a Space<K>) -> impl Iterator<Item = Option<(&'a Block, &'a Knob)>> {
        let per_knob = self.encoding == Encoding::PerKnob;
        let blocks = self.blocks.iter().zip(space.knobs());
        blocks.map(move |(block, knob)| matches!(block, Block::Graded { .. } if per_knob).then_some((block, knob)))
    }

    /// How many nominal knobs, or bits of the index, differ: the Hamming distance without the graded knobs.
    ///
    /// ```
    /// use trimtab::{Knob, Space, encoding::{Encoder, Encoding}};
    /// let space = Space::<3>::new(&[Knob::nominal(3), Knob::ranked(4), Knob::nominal(2)])?;
    /// let encoder = Encoder::new(&space, Encoding::PerKnob);
    /// let (a, b) = (space.combination(&[2, 1, 0])?, space.combination(&[0, 3, 0])?);
    /// assert_eq!(encoder.differing(&space, &a, &b), 1);
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    #[inline(always)]
    pub fn differing(&self, space: &Space<K>, a: &Combination<K>, b: &Combination<K>) -> u32 {
        if self.encoding == Encoding::Compact {
            return (space.index(a) ^ space.index(b)).count_ones();
        }
        let (a, b) = (a.all().as_chunks::<4>(), b.all().as_chunks::<4>());
        let counted = self.counted.as_chunks::<4>();
        let words = a.0.iter().zip(b.0).zip(counted.0);
        // Each byte of the sum counts one knob in four; 255 words would overflow it, so a thousand knobs are the most.
        let sum = words.fold(0u32, |sum, ((a, b), counted)| {
            let differ = u32::from_ne_bytes(*a) ^ u32::from_ne_bytes(*b);
            // The top bit of a byte becomes set if any bit of it is.
            let marks = (((differ & 0x7f7f_7f7f) + 0x7f7f_7f7f) | differ) >> 7;
            sum + (marks & u32::from_ne_bytes(*counted))
        });
        let rest = a.1.iter().zip(b.1).zip(counted.1).map(|((a, b), counted)| u32::from(a != b) & u32::from(*counted));
        let pairs = (sum & 0x00ff_00ff) + (sum >> 8 & 0x00ff_00ff);
        (pairs & 0xffff) + (pairs >> 16) + rest.sum::<u32>()
    }

    /// Mean of ‖z‖² over all combinations: of all features, and of those that are not graded.
    pub fn mean_square(&self) -> (f32, f32) {
        if self.encoding == Encoding::Compact {
            let all = self.features as f32 * BIT_MEAN_SQUARE;
            return (all, all);
        }
        self.blocks.iter().zip(&self.counted).fold((0.0, 0.0), |(all, nominal), (block, counted)| {
            let own = block.mean_square();
            (all + own, if *counted == 1 { nominal + own } else { nominal })
        })
    }

    /// Writes what the paper's b has more than z: ½ for a bit, 0 for features that the paper does not know.
    ///
    /// ```
    /// use trimtab::{Knob, Space, encoding::{Encoder, Encoding}};
    /// let space = Space::<2>::new(&[Knob::nominal(2), Knob::ranked(4)])?;
    /// let mut offset = [0.0; 3];
    /// Encoder::new(&space, Encoding::PerKnob).offset(&mut offset);
    /// assert_eq!(offset, [0.5, 0.0, 0.0]);
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    pub fn offset(&self, offset: &mut [f32]) {
        if self.encoding == Encoding::Compact {
            return offset.iter_mut().take(self.features).for_each(|offset| *offset = 0.5);
        }
        let mut rest = offset;
        for block in &self.blocks {
            let Some((own, tail)) = core::mem::take(&mut rest).split_at_mut_checked(block.features()) else { return };
            own.fill(if *block == Block::Bit { 0.5 } else { 0.0 });
            rest = tail;
        }
    }

    /// The least and the largest r·z over all combinations, feasible or not, to rounding.
    ///
    /// ```
    /// use trimtab::{Knob, Space, encoding::{Encoder, Encoding}};
    /// let space = Space::<2>::new(&[Knob::nominal(2), Knob::nominal(2)])?;
    /// assert_eq!(Encoder::new(&space, Encoding::PerKnob).extent(&space, &[3.0, -1.0]), (-2.0, 2.0));
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    pub fn extent(&self, space: &Space<K>, r: &[f32]) -> (f32, f32) {
        if self.encoding == Encoding::Compact {
            let most = |sign: f32| most_of_bits(r.iter().take(self.features).map(|r| sign * r), space.last_index());
            return (-most(-1.0), most(1.0));
        }
        let (mut extent, mut rest) = ((0.0, 0.0), r);
        for (block, knob) in self.blocks.iter().zip(space.knobs()) {
            let Some((r, tail)) = rest.split_at_checked(block.features()) else { break };
            rest = tail;
            let products = (0..knob.levels()).map(|level| {
                let mut own = [0.0; crate::knob::MOST_LEVELS];
                block.write(knob, level as Level, own.get_mut(..r.len()).unwrap_or_default());
                dot(r, &own)
            });
            let own = products.map(|p| (p, p)).reduce(|own, p| (own.0.min(p.0), own.1.max(p.1)));
            extent = own.map_or(extent, |own| (extent.0 + own.0, extent.1 + own.1));
        }
        extent
    }

    /// The combination with these features; for a knob whose features are no level's, the nearest level, the first of equals.
    /// None if the bits of `Compact` are past the last combination.
    pub fn decode(&self, space: &Space<K>, z: &[f32]) -> Option<Combination<K>> {
        if self.encoding == Encoding::Compact {
            let bits = z.iter().take(self.features).enumerate();
            return space.at(bits.fold(0, |index, (bit, z)| index | u64::from(*z >= 0.0) << bit));
        }
        let mut c = space.at(0)?;
        let mut rest = z;
        for (i, (block, knob)) in self.blocks.iter().zip(space.knobs()).enumerate() {
            let (z, tail) = rest.split_at_checked(block.features())?;
            rest = tail;
            let distance = |level: Level| {
                let mut own = [0.0; crate::knob::MOST_LEVELS];
                block.write(knob, level, own.get_mut(..z.len()).unwrap_or_default());
                squared_distance(&own, z)
            };
            let levels = (0..knob.levels()).map(|level| (level as Level, distance(level as Level)));
            let nearest = levels.reduce(|best, other| if other.1 < best.1 { other } else { best });
            c = c.with(i, nearest.map_or(0, |(level, _)| level));
        }
        Some(c)
    }
}

/// The largest r·z over the bits of the numbers 0 to `last`, lowest bit first. Of the bits so far, `free` is the largest over all
/// patterns and `bound` over those not above the same bits of `last`: with a 0 where `last` has a 1, the lower bits are free.
fn most_of_bits(r: impl Iterator<Item = f32>, last: u64) -> f32 {
    let bits = r.zip((0..u64::BITS).map(|bit| last >> bit & 1 == 1));
    let (_, bound) = bits.fold((0.0f32, 0.0f32), |(free, bound), (r, one)| {
        let half = 0.5 * r;
        (free + half.abs(), if one { (bound + half).max(free - half) } else { bound - half })
    });
    bound
}

/// 1/√2: two one-hot vectors of this height are at squared distance 1.
const HOT: f32 = core::f32::consts::FRAC_1_SQRT_2;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::knob::Scale;

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
    fn digits_are_the_features_and_the_index() {
        for space in spaces() {
            for encoding in [Encoding::Compact, Encoding::PerKnob] {
                let encoder = Encoder::new(&space, encoding);
                let mut digits = [Digit::default(); 32];
                let count = encoder.digits(&space, &mut digits);
                for index in 0..=space.last_index() {
                    let ([mut z, mut own], mut sum) = ([[0.0; 32]; 2], 0);
                    encoder.encode(&space, &space.at(index).unwrap(), &mut z);
                    for digit in &digits[..count] {
                        let level = index / digit.place % u64::from(digit.levels);
                        encoder.write_digit(&space, digit, level as Level, &mut own[digit.range()]);
                        sum += level * digit.place;
                    }
                    assert_eq!((own, sum), (z, index), "{space:?} {encoding:?}");
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
                sum.iter_mut().zip(&z).for_each(|(sum, z)| *sum += z);
                square += dot(&z, &z) / space.cardinality() as f32;
            }
            assert!(sum.iter().all(|sum| sum.abs() < 1e-3), "{space:?} {sum:?}");
            assert!(close(square, encoder.mean_square().0), "{space:?} {square}");
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

    /// What the surrogate computes from counts and graded features is what the features themselves give.
    #[test]
    fn counting_is_the_same_as_computing() {
        for space in spaces() {
            for encoding in [Encoding::Compact, Encoding::PerKnob] {
                let encoder = Encoder::new(&space, encoding);
                let nominal_square = encoder.mean_square().1;
                let of = |index: u64| {
                    let (c, mut z, mut g) = (space.at(index).unwrap(), [0.0; 32], [0.0; 4]);
                    encoder.encode(&space, &c, &mut z);
                    encoder.encode_graded(&space, &c, &mut g);
                    (c, z, g)
                };
                for i in 0..=space.last_index() {
                    for j in (0..=i).step_by(3) {
                        let ((a, za, ga), (b, zb, gb)) = (of(i), of(j));
                        let differing = encoder.differing(&space, &a, &b) as f32;
                        let distance = differing + squared_distance(&ga, &gb);
                        assert!(close(squared_distance(&za, &zb), distance), "{space:?} {a:?} {b:?}");
                        let product = nominal_square - 0.5 * differing + dot(&ga, &gb);
                        assert!(close(dot(&za, &zb), product), "{space:?} {a:?} {b:?}");
                        assert!(close(encoder.graded_product(&space, &a, &b), dot(&ga, &gb)));
                    }
                }
            }
        }
    }

    #[test]
    fn the_extent_is_that_of_all_combinations() {
        let mut random = crate::random::Random::new(3, 0);
        for space in spaces() {
            for encoding in [Encoding::Compact, Encoding::PerKnob] {
                let encoder = Encoder::new(&space, encoding);
                let r: [f32; 32] = core::array::from_fn(|_| random.uniform() - 0.5);
                let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
                for index in 0..=space.last_index() {
                    let mut z = [0.0; 32];
                    encoder.encode(&space, &space.at(index).unwrap(), &mut z);
                    let product = dot(&z, &r);
                    (least, most) = (least.min(product), most.max(product));
                }
                let own = encoder.extent(&space, &r);
                assert!(close(own.0, least) && close(own.1, most), "{space:?} {encoding:?} {own:?} {least} {most}");
            }
        }
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
        assert_eq!(Encoder::new(&space, Encoding::Compact).decode(&space, &[0.5, -0.5, 0.5]), None);
    }
}
