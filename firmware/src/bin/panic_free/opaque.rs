//! Values of which the compiler knows nothing but the type.
//!
//! **Choices.** `black_box` hides a value. Behind it is a generator, so that the image does
//! different things when it runs. Every other float is any 32 bits, the rest are ordinary numbers.

use core::cell::Cell;
use core::error::Error;
use core::fmt::{self, Write as _};
use core::hint::black_box;

use trimtab::{Combination, Knob, Level, Scale, Space};

/// A source of values.
pub(crate) struct Opaque(Cell<u32>);

/// Uses a result, so that its computation stays in the image.
pub(crate) fn keep<R>(result: R) {
    black_box(result);
}

/// Uses both texts of an error.
pub(crate) fn say(error: impl Error) {
    keep(write!(Sink, "{error} {error:?}"));
}

/// A sink for text.
struct Sink;

impl fmt::Write for Sink {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        keep(text);
        Ok(())
    }
}

impl Opaque {
    pub(crate) fn new() -> Self {
        Self(Cell::new(black_box(1)))
    }

    /// Any 32 bits.
    pub(crate) fn word(&self) -> u32 {
        // Numerical Recipes' generator; its high half is the better one.
        self.0.set(self.0.get().wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        black_box(self.0.get().rotate_left(16))
    }

    /// Any 64 bits.
    pub(crate) fn long(&self) -> u64 {
        u64::from(self.word()) << 32 | u64::from(self.word())
    }

    /// A count: small when the image runs, unknown to the compiler.
    pub(crate) fn size(&self) -> usize {
        black_box(self.word() as usize % 12)
    }

    /// Any float: one in two is an ordinary number.
    pub(crate) fn float(&self) -> f32 {
        let word = self.word();
        let ordinary = (word >> 8) as f32 / 4096.0 - 2048.0;
        black_box(if word & 1 == 0 { ordinary } else { f32::from_bits(word) })
    }

    /// N floats.
    pub(crate) fn floats<const N: usize>(&self) -> [f32; N] {
        core::array::from_fn(|_| self.float())
    }

    /// A prefix of any length.
    pub(crate) fn part<'a, E>(&self, whole: &'a [E]) -> &'a [E] {
        black_box(whole.get(..self.size()).unwrap_or(whole))
    }

    /// One of these.
    pub(crate) fn one_of<E: Copy>(&self, first: E, others: &[E]) -> E {
        black_box(others.get(self.word() as usize % (others.len() + 1)).copied().unwrap_or(first))
    }

    /// A knob of any kind, valid or not.
    pub(crate) fn knob(&self) -> Knob {
        static VALUES: [f32; 6] = [1.0, 2.0, 4.0, 8.0, 1e30, -1.0];
        let levels = self.size() as u16;
        let values = self.part(&VALUES);
        let (linear, log) = (Knob::graded(values, Scale::Linear), Knob::graded(values, Scale::Log));
        let range = Knob::range(self.float(), self.float(), self.float());
        let log_range = Knob::log_range(self.float(), self.float(), self.size() as u32);
        let by_hand =
            Knob::Range { first: self.float(), last: self.float(), top: self.size() as u16, scale: Scale::Log };
        let graded = [linear, log, range, log_range, by_hand];
        self.one_of(self.one_of(Knob::nominal(2), &graded), &[Knob::nominal(levels), Knob::ranked(levels), linear, log])
    }

    /// A space of at most K knobs, now and then with infeasible combinations.
    pub(crate) fn space<const K: usize>(&self) -> Option<Space<K>> {
        let knobs: [Knob; K] = core::array::from_fn(|_| self.knob());
        let drawn = Space::new(self.part(&knobs)).ok();
        let space = drawn.or_else(|| Space::new(&[Knob::nominal(3); K]).ok())?;
        let restricted = space.clone().with_feasible(&|c| black_box(c.level(0)) != 1);
        Some(if self.word() & 1 == 0 { restricted } else { space })
    }

    /// A combination, of this space or not.
    pub(crate) fn combination<const K: usize>(&self, space: &Space<K>) -> Option<Combination<K>> {
        if self.word().is_multiple_of(4) {
            return self.space::<K>()?.at(self.word().into());
        }
        let own = space.at(u64::from(self.word()) % space.last_index().max(1));
        let levels: [Level; K] = core::array::from_fn(|_| self.size() as Level);
        space.combination(self.part(&levels)).ok().or(own)
    }
}
