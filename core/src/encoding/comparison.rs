//! Two combinations compared without their features: counts of differing knobs, and numbers for the graded ones alone.
//!
//! ‖z − z′‖² and z·z′ follow from these; see [`likeness`](crate::likeness).
//!
//! **Choices.** Any two levels of a nominal knob are at squared distance 1, so nominal knobs are counted, four at a time, and never encoded.
//!
//! **Cost.** Two operations a knob to count, about ten a graded feature.

use super::block::{BIT_MEAN_SQUARE, Block};
use super::{Encoder, Encoding};
use crate::knob::Knob;
use crate::math::dot;
use crate::space::{Combination, Space};

impl<const K: usize> Encoder<K> {
    /// Writes the features of the graded knobs alone: with the count of differing knobs all that distances need.
    ///
    /// ```
    /// use trimtab::{Knob, Space, encoding::{Encoder, Encoding}};
    /// let space = Space::<2>::new(&[Knob::nominal(3), Knob::ranked(4)])?;
    /// let (encoder, c) = (Encoder::new(&space, Encoding::PerKnob), space.combination(&[2, 1])?);
    /// let (mut all, mut graded) = ([0.0; 5], [0.0; 2]);
    /// encoder.encode(&space, &c, &mut all);
    /// encoder.encode_graded(&space, &c, &mut graded);
    /// assert_eq!(all[3..], graded);
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    pub fn encode_graded(&self, space: &Space<K>, c: &Combination<K>, z: &mut [f32]) {
        let mut pairs = z.as_chunks_mut::<2>().0.iter_mut();
        for ((block, knob), level) in self.graded(space).zip(c.levels()).filter_map(|(b, l)| Some((b?, l))) {
            if let Some(pair) = pairs.next() {
                block.write(knob, *level, pair);
            }
        }
    }

    /// z·z′ over the graded knobs alone.
    ///
    /// ```
    /// use trimtab::{Knob, Space, encoding::{Encoder, Encoding}, math::dot};
    /// let space = Space::<2>::new(&[Knob::nominal(3), Knob::ranked(4)])?;
    /// let encoder = Encoder::new(&space, Encoding::PerKnob);
    /// let (a, b) = (space.combination(&[2, 1])?, space.combination(&[0, 3])?);
    /// let [mut za, mut zb] = [[0.0; 2]; 2];
    /// encoder.encode_graded(&space, &a, &mut za);
    /// encoder.encode_graded(&space, &b, &mut zb);
    /// assert_eq!(encoder.graded_product(&space, &a, &b), dot(&za, &zb));
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
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
            return (space.number(a) ^ space.number(b)).count_ones();
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
    ///
    /// ```
    /// use trimtab::{Knob, Space, encoding::{Encoder, Encoding}};
    /// // A bit is ±½, and a graded knob is made to weigh as much.
    /// let space = Space::<2>::new(&[Knob::nominal(2), Knob::ranked(9)])?;
    /// assert_eq!(Encoder::new(&space, Encoding::PerKnob).mean_square(), (0.25 + 0.25, 0.25));
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
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
