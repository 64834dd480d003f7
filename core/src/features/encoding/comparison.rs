//! Compares two combinations without their features: counts of differing knobs, and numbers for the
//! graded knobs only.
//!
//! [`geometry`](crate::surrogate::geometry) derives ‖z − z′‖² and z·z′ from these.
//!
//! **Choices**
//! - Any two levels of a nominal knob are at squared distance 1, so nominal knobs are counted, two
//!   at a time, and never encoded.
//! - One call compares a combination with many, so it decides only once how to count.
//!
//! **Cost.** Two operations per counted knob, about ten per graded feature.

use super::Encoder;
use super::block::{BIT_MEAN_SQUARE, Block};
use crate::config::Encoding;
use crate::math::float::dot;
use crate::space::knob::{Knob, Level};
use crate::space::{Combination, Space, word};

impl<const K: usize> Encoder<K> {
    /// Writes the features of the graded knobs. Distances need only these and the count of
    /// differing knobs.
    pub fn encode_graded(&self, space: &Space<K>, c: &Combination<K>, z: &mut [f32]) {
        let mut pairs = z.as_chunks_mut::<2>().0.iter_mut();
        for ((block, knob), level) in self.graded(space).zip(c.levels()).filter_map(|(b, l)| Some((b?, l))) {
            if let Some(pair) = pairs.next() {
                block.write(knob, *level, pair);
            }
        }
    }

    /// z·z′ over the graded knobs.
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

    /// The block and knob of each graded knob, `None` for the others; all `None` under `Compact`,
    /// which has only bits.
    fn graded<'a>(&'a self, space: &'a Space<K>) -> impl Iterator<Item = Option<(&'a Block, &'a Knob)>> {
        let per_knob = self.encoding == Encoding::PerKnob;
        let blocks = self.blocks.iter().zip(space.knobs());
        blocks.map(move |(block, knob)| matches!(block, Block::Graded { .. } if per_knob).then_some((block, knob)))
    }

    /// Number of nominal knobs, or bits of the index, that differ: the Hamming distance without the
    /// graded knobs.
    pub fn differing(&self, space: &Space<K>, a: &Combination<K>, b: &Combination<K>) -> u32 {
        let mut count = [0.0];
        self.count_differing(space, a, core::iter::once(b), &mut count);
        count[0] as u32
    }

    /// Writes [`differing`](Self::differing) for a combination and each of the others.
    #[inline(always)]
    pub(crate) fn count_differing<'a>(
        &self,
        space: &Space<K>,
        a: &Combination<K>,
        others: impl Iterator<Item = &'a Combination<K>>,
        counts: &mut [f32],
    ) {
        let pairs = counts.iter_mut().zip(others);
        if self.encoding == Encoding::Compact {
            let number = space.number(a);
            pairs.for_each(|(count, b)| *count = (number ^ space.number(b)).count_ones() as f32);
        } else if self.binary {
            pairs.for_each(|(count, b)| *count = differing_bits(a.all(), b.all()) as f32);
        } else {
            pairs.for_each(|(count, b)| *count = differing_levels(a.all(), b.all(), &self.counted) as f32);
        }
    }

    /// Mean of ‖z‖² over all combinations: over all features, and over those that are not graded.
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
}

/// Number of levels that differ where `counted` is 1.
#[inline(always)]
fn differing_levels<const K: usize>(a: &[Level; K], b: &[Level; K], counted: &[u8; K]) -> u32 {
    let (a, b, counted) = (a.as_chunks::<2>(), b.as_chunks::<2>(), counted.as_chunks::<2>());
    let words = a.0.iter().zip(b.0).zip(counted.0);
    // Each half of the sum counts one knob in two.
    let sum = words.fold(0u32, |sum, ((a, b), [low, high])| {
        let differ = word(*a) ^ word(*b);
        // Sets the top bit of each half that has any bit set.
        let marks = (((differ & 0x7fff_7fff) + 0x7fff_7fff) | differ) >> 15;
        sum + (marks & word([u16::from(*low), u16::from(*high)]))
    });
    let rest = a.1.iter().zip(b.1).zip(counted.1).map(|((a, b), counted)| u32::from(a != b) & u32::from(*counted));
    sum_of_halves(sum) + rest.sum::<u32>()
}

/// Number of levels that differ where all are 0 or 1: each half of the XOR is then its own count.
/// Four at a time, in two words.
#[inline(always)]
fn differing_bits<const K: usize>(a: &[Level; K], b: &[Level; K]) -> u32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<2>(), b.as_chunks::<2>());
    let ((a, a_word), (b, b_word)) = (a.as_chunks::<2>(), b.as_chunks::<2>());
    let differ = |a: &[Level; 2], b: &[Level; 2]| word(*a) ^ word(*b);
    let sum = a.iter().zip(b).fold(0, |sum, ([a, a_next], [b, b_next])| sum + differ(a, b) + differ(a_next, b_next));
    let sum = a_word.iter().zip(b_word).fold(sum, |sum, (a, b)| sum + differ(a, b));
    sum_of_halves(sum) + a_rest.iter().zip(b_rest).map(|(a, b)| u32::from(a ^ b)).sum::<u32>()
}

/// The sum of the two halves of a word.
#[inline(always)]
fn sum_of_halves(word: u32) -> u32 {
    (word & 0xffff) + (word >> 16)
}
