//! The nominal knobs in which two combinations differ, in sets of four.

use crate::space::knob::Level;
use crate::space::word;

/// The knobs in which two combinations differ; of graded ones it says nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Differing<'a, const K: usize> {
    /// The first 32 knobs, bit i for the i-th.
    pub(super) bits: u32,
    pub(super) levels: (&'a [Level; K], &'a [Level; K]),
}

impl<'a, const K: usize> Differing<'a, K> {
    /// By comparing levels.
    #[inline(always)]
    pub(super) fn new<const M: usize>(a: &'a [Level; K], b: &'a [Level; K]) -> Self {
        Self { bits: compared::<M>(a, b, 0), levels: (a, b) }
    }

    /// The sets of four knobs that differ, one after the other; without end.
    #[inline(always)]
    pub(crate) fn sets<const M: usize>(self) -> impl Iterator<Item = usize> {
        let (Self { mut bits, levels: (a, b) }, mut first) = (self, 0);
        core::iter::from_fn(move || {
            if K > 32 && first > 0 && first % 32 == 0 {
                bits = compared::<M>(a, b, first);
            }
            first += 4;
            let set = bits & 15;
            bits >>= 4;
            Some(set as usize)
        })
    }
}

/// The knobs that differ among the 32 from `first` on.
#[inline(never)]
fn compared<const M: usize>(a: &[Level], b: &[Level], first: usize) -> u32 {
    let end = (first + 32).min(a.len());
    let (Some(a), Some(b)) = (a.get(first..end), b.get(first..end)) else { return 0 };
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let rest = differing_rest(a_rest, b_rest) as u32;
    a.iter().zip(b).rev().fold(rest, |bits, (a, b)| bits << 4 | differing::<M>(*a, *b) as u32)
}

/// The set of four knobs in which two combinations differ: bit i for the i-th.
///
/// Compares their low bytes: a nominal knob has at most 256 levels, and for a graded one the answer
/// means nothing. With M = 0 there are no others. A byte that is not zero sets its highest bit, and
/// a multiplication collects the four
/// bits.
#[inline(always)]
pub(crate) fn differing<const M: usize>([a0, a1, a2, a3]: [Level; 4], [b0, b1, b2, b3]: [Level; 4]) -> usize {
    let low = |x: u32| if M == 0 { x } else { x & 0x00ff_00ff };
    let (first, second) = (low(word([a0, a1]) ^ word([b0, b1])), low(word([a2, a3]) ^ word([b2, b3])));
    // Knobs 0, 2, 1 and 3 from the lowest byte up.
    let x = first | second << 8;
    let differs = (((x & 0x7f7f_7f7f) + 0x7f7f_7f7f) | x) >> 7 & 0x0101_0101;
    (differs.wrapping_mul(1 << 28 | 1 << 22 | 1 << 13 | 1 << 7) >> 28) as usize
}

/// The same for the knobs that are left over.
#[inline(always)]
pub(crate) fn differing_rest(a: &[Level], b: &[Level]) -> usize {
    a.iter().zip(b).rev().fold(0, |set, (a, b)| set << 1 | usize::from(a != b))
}
