//! Combination ↔ features: the paper's m bits, or a few features per knob.
//!
//! The paper's φ₁: C → {0, 1}^m, m the smallest integer with 2^m ≥ N (section 4.1), is
//! [`Encoding::Compact`].
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | c | a combination | up to K levels |
//! | b | the paper's bits, 0 or 1 | m |
//! | z | features, each with mean 0 over all levels: z = b − ½ for a bit | m numbers |
//!
//! `PerKnob` keeps the knobs apart. A knob with one level has no feature and two levels are one
//! bit; with n > 2 levels, a nominal knob is a one-hot block and a graded knob is its position v on
//! its scale and v². On binary spaces the two encodings coincide.
//!
//! **Choices**
//! - `Compact` writes the mixed-radix index in binary, lowest bit first. Two levels of one knob may
//!   then be any number of bits apart, so it exists only to reproduce the paper.
//! - One-hot blocks are scaled by 1/√2, so any two levels are one Hamming step (squared distance 1)
//!   apart, like two bits.
//! - A graded knob has v² because v alone could not express an optimum inside the range in the
//!   surrogate's linear term. Together they have the mean square of a bit.
//! - Features are centred. Distances stay the same, and the linear term treats all levels alike.
//! - Distances and products over nominal knobs come from the number of differing knobs
//!   ([`Encoder::differing`]), counted two knobs at a time, four if none has more than two
//!   levels.
//!
//! **Cost.** About ten operations per feature, two per counted knob; 21 bytes of constants per
//! knob, computed once.

mod block;
mod comparison;

use crate::config::Encoding;
use crate::math::float::{dot, squared_distance};
use crate::space::knob::{Knob, Level, MOST_LISTED};
use crate::space::{Combination, Space};

use block::{Block, knob_features};

/// Most features that these knobs have under any encoding: the M of a tuner with a random map.
///
/// ```
/// use trimtab::{Knob, sizes::features};
/// assert_eq!(features(&[Knob::nominal(2), Knob::nominal(5), Knob::ranked(100)]), 10);
/// ```
pub const fn features(knobs: &[Knob]) -> usize {
    let (mut per_knob, mut cardinality, mut i) = (0, 1u128, 0);
    while i < knobs.len() {
        per_knob += knob_features(&knobs[i]);
        cardinality = cardinality.saturating_mul(knobs[i].levels() as u128);
        i += 1;
    }
    // `Compact` needs an index for every combination.
    let compact = if cardinality <= 1 << 64 { bits(cardinality) } else { 0 };
    if per_knob > compact { per_knob } else { compact }
}

/// The smallest m with 2^m ≥ n.
const fn bits(n: u128) -> usize {
    if n <= 1 { 0 } else { (u128::BITS - (n - 1).leading_zeros()) as usize }
}

/// A group of features that varies independently of all others, like a digit of the index: a bit
/// under `Compact`, otherwise a knob.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Digit {
    /// Which bit, or which knob.
    number: u16,
    /// The last level.
    top: u16,
    pub(crate) features: u16,
    /// Position of its first feature.
    pub(crate) start: u16,
    /// Place value: how much one level more adds to the index.
    pub(crate) place: u64,
}

impl Digit {
    /// The positions of its features.
    pub(crate) fn range(&self) -> core::ops::Range<usize> {
        usize::from(self.start)..usize::from(self.start) + usize::from(self.features)
    }

    /// Its levels.
    pub(crate) fn levels(&self) -> core::ops::RangeInclusive<Level> {
        0..=self.top
    }

    /// The level that a combination with this index has.
    #[cfg(test)]
    pub(crate) fn level(&self, index: u64) -> Level {
        // `max(1)` tells the compiler that the division cannot fail.
        (index / self.place.max(1) % (u64::from(self.top) + 1)) as Level
    }

    /// Whether its features sum to 0 at every level.
    pub(crate) fn is_one_hot(&self) -> bool {
        self.features > 2
    }

    /// Number of steps across its range: one less than its levels for a graded knob, otherwise one.
    pub(crate) fn steps(&self) -> f32 {
        if self.features == 2 { f32::from(self.top) } else { 1.0 }
    }
}

/// An encoding with its constants for one space.
///
/// ```
/// use trimtab::{Encoding, Knob, Space, internals::Encoder};
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
    /// 1 for knobs whose levels only count as equal or different, 0 for graded ones.
    counted: [u8; K],
    /// Whether no knob has more than two levels.
    binary: bool,
    features: usize,
}

impl<const K: usize> Encoder<K> {
    /// The encoder of the space without knobs.
    pub(crate) const fn empty() -> Self {
        Self { encoding: Encoding::Compact, blocks: [Block::Fixed; K], counted: [0; K], binary: false, features: 0 }
    }

    /// Computes the constants of each knob.
    pub fn new(space: &Space<K>, encoding: Encoding) -> Self {
        let mut encoder = Self { encoding, ..Self::empty() };
        encoder.blocks.iter_mut().zip(space.knobs()).for_each(|(block, knob)| *block = Block::of(knob));
        for (counted, block) in encoder.counted.iter_mut().zip(&encoder.blocks) {
            *counted = u8::from(matches!(block, Block::Bit | Block::OneHot { .. }));
        }
        encoder.binary = encoder.blocks.iter().all(|block| matches!(block, Block::Fixed | Block::Bit));
        encoder.features = match encoding {
            // The smallest m with 2^m ≥ N is the length of N − 1.
            Encoding::Compact => (u64::BITS - space.last_index().leading_zeros()) as usize,
            Encoding::PerKnob => encoder.blocks.iter().map(Block::features).sum(),
        };
        encoder
    }

    /// The encoding.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// m, the number of features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Number of graded features.
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
            let index = space.number(c);
            let bits = (0..self.features).map(|bit| f32::from((index >> bit & 1) as u8) - 0.5);
            return z.iter_mut().zip(bits).for_each(|(z, bit)| *z = bit);
        }
        // If every knob is a bit, the result is the same without a match per knob.
        if self.binary && self.features == c.levels().len() {
            return z.iter_mut().zip(c.levels()).for_each(|(z, level)| *z = f32::from(*level) - 0.5);
        }
        let mut rest = z;
        for ((block, knob), level) in self.blocks.iter().zip(space.knobs()).zip(c.levels()) {
            let Some((z, tail)) = core::mem::take(&mut rest).split_at_mut_checked(block.features()) else { return };
            block.write(knob, *level, z);
            rest = tail;
        }
    }

    /// Writes the digits that have features, from the least to the most significant, which is also
    /// the order of their features. Returns their number.
    pub(crate) fn digits(&self, space: &Space<K>, digits: &mut [Digit]) -> usize {
        let (mut place, mut start) = (1u64, 0u16);
        let mut next = |number: usize, levels: usize, features: usize| {
            let (number, top, features) = (number as u16, levels.saturating_sub(1) as u16, features as u16);
            let digit = Digit { number, top, features, start, place };
            place = place.wrapping_mul(levels as u64);
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

    /// Writes the features of one level of a digit; `z` has the length of the digit.
    pub(crate) fn write_digit(&self, space: &Space<K>, digit: &Digit, level: Level, z: &mut [f32]) {
        let number = usize::from(digit.number);
        match (self.blocks.get(number), space.knobs().get(number)) {
            (Some(block), Some(knob)) if self.encoding == Encoding::PerKnob => block.write(knob, level, z),
            _ => Block::Bit.write(&Knob::nominal(2), level, z),
        }
    }

    /// Writes the paper's b minus z: ½ for a bit, 0 for features that the paper does not have.
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

    /// The smallest and the largest r·z over all combinations, feasible or not, to rounding.
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
                let mut own = [0.0; MOST_LISTED];
                block.write(knob, level as Level, own.get_mut(..r.len()).unwrap_or_default());
                dot(r, &own)
            });
            let own = products.map(|p| (p, p)).reduce(|own, p| (own.0.min(p.0), own.1.max(p.1)));
            extent = own.map_or(extent, |own| (extent.0 + own.0, extent.1 + own.1));
        }
        extent
    }

    /// The combination with these features. Features that fit no level become the nearest level,
    /// the first of equals. Returns `None` if the bits of `Compact` are past the last combination.
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
                let mut own = [0.0; MOST_LISTED];
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

/// The largest r·z over the bits of the numbers 0 to `last`, lowest bit first. Over the bits so
/// far, `free` is the largest among all patterns and `bound` among those not above the same bits of
/// `last`: after a 0 where `last` has a 1, the lower bits are free.
fn most_of_bits(r: impl Iterator<Item = f32>, last: u64) -> f32 {
    let bits = r.zip((0..u64::BITS).map(|bit| last >> bit & 1 == 1));
    let (_, bound) = bits.fold((0.0f32, 0.0f32), |(free, bound), (r, one)| {
        let half = 0.5 * r;
        (free + half.abs(), if one { (bound + half).max(free - half) } else { bound - half })
    });
    bound
}

#[cfg(test)]
mod tests;
