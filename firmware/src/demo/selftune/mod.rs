//! The chip tunes its own code: one filter, written in some six hundred ways.
//!
//! y\[n\] = Σ h\[k\]·x\[n + k\], k from 0 to 31, for a block of 128 outputs: a finite impulse response (FIR) filter, the
//! loop that much of signal processing consists of. All ways give the same 128 integers; they differ in what they cost.
//!
//! | knob | levels | what it changes |
//! |---|---|---|
//! | arithmetic | 16-bit integers, pairs of them, float | how a product is summed up: [`Number`](arithmetic::Number) |
//! | outputs | 1, 2, 4, 8 | outputs computed together, in registers |
//! | taps | 1, 2, 4, 8 | taps taken together, without a loop |
//! | order | outputs outside, taps outside | which of the two loops is inside the other |
//! | samples | as they are, prepared | converted at each use, or all of them once and kept in RAM |
//! | coefficients | flash, RAM | read where they are, or copied first |
//! | symmetry | unused, used | h is symmetric: samples that share a coefficient can be added first |
//!
//! **Choices.** All samples and coefficients are integers, so small that every sum is below 2²⁴: exact in f32 too,
//! whatever the order. Level 0 of every knob is the filter as it is first written down, [`Setting::default`]. Pairs need
//! two taps at least and cannot use the symmetry: those combinations are infeasible.
//!
//! **Cost.** 304 functions: every combination is compiled, but for where the coefficients are, which is a pointer. They
//! are most of the image's flash, which `cargo xtask cost` prints. A [`Workspace`] of 4 KB.

use core::fmt;

use trimtab::{Combination, Knob, Scale, Space};

pub use code::{Code, CodeError};
pub use costs::{Costs, Replay, Unknown};
pub use filter::Workspace;
pub use variant::Variant;

pub mod arithmetic;
mod choose;
mod code;
mod costs;
pub mod filter;
pub mod search;
mod unrolled;
mod variant;

/// How many knobs there are.
pub const COUNT: usize = 7;

/// How many combinations there are, infeasible ones included.
pub const COMBINATIONS: usize = 768;

/// How many outputs, or taps, can be taken together, level by level.
pub static TOGETHER: [f32; 4] = [1.0, 2.0, 4.0, 8.0];

/// The knobs, in the order of [`Setting`]'s fields.
pub const KNOBS: [Knob; COUNT] = [
    Knob::nominal(3),
    Knob::graded(&TOGETHER, Scale::Log),
    Knob::graded(&TOGETHER, Scale::Log),
    Knob::nominal(2),
    Knob::nominal(2),
    Knob::nominal(2),
    Knob::nominal(2),
];

/// What the knobs are called, in the same order.
pub const NAMES: [&str; COUNT] = ["arithmetic", "outputs", "taps", "order", "samples", "coefficients", "symmetry"];

/// Most measurements that the tuner keeps.
pub const OBSERVATIONS: usize = 64;

/// The tuner, the same type on the host and on the chip.
pub type CodeTuner = trimtab::tuner!(KNOBS, observations: OBSERVATIONS, rows: 256);

/// All combinations; those that make no sense are infeasible.
///
/// ```
/// use trimtab_firmware::selftune::space;
/// let space = space();
/// assert_eq!(space.cardinality(), 3 * 4 * 4 * 2 * 2 * 2 * 2);
/// assert_eq!((0..768).filter_map(|i| space.at(i)).filter(|c| space.is_feasible(c)).count(), 608);
/// ```
pub fn space() -> Space<COUNT> {
    match Space::new(&KNOBS) {
        Ok(space) => space.with_feasible(&|c| Setting::of(c).is_feasible()),
        // The knobs are constants and a test makes this call.
        Err(_) => unreachable!(),
    }
}

/// How a product of coefficient and sample is summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// 16-bit integers, one product at a time.
    #[default]
    Integers,
    /// 16-bit integers, two products at a time.
    Pairs,
    /// Single-precision floating point.
    Float,
}

/// Which loop is inside the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// For each output, all taps: the sums stay in registers.
    #[default]
    OutputsOutside,
    /// For each tap, all outputs: the coefficients stay in registers.
    TapsOutside,
}

/// A way to write the filter.
///
/// ```
/// use trimtab_firmware::selftune::{Setting, space};
/// let plain = space().combination(&[0; 7])?;
/// assert_eq!(Setting::of(&plain), Setting::default());
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// How a product is summed up.
    pub arithmetic: Arithmetic,
    /// Outputs computed together: 1, 2, 4 or 8.
    pub outputs: usize,
    /// Taps taken together: 1, 2, 4 or 8.
    pub taps: usize,
    /// Which loop is inside the other.
    pub order: Order,
    /// Whether the samples are converted once and kept.
    pub prepares_samples: bool,
    /// Whether the coefficients are copied to RAM.
    pub copies_coefficients: bool,
    /// Whether samples that share a coefficient are added first.
    pub uses_symmetry: bool,
}

impl Default for Setting {
    /// The filter as it is first written down: two plain loops.
    fn default() -> Self {
        Self {
            arithmetic: Arithmetic::Integers,
            outputs: 1,
            taps: 1,
            order: Order::OutputsOutside,
            prepares_samples: false,
            copies_coefficients: false,
            uses_symmetry: false,
        }
    }
}

impl Setting {
    /// What a combination of [`space`] stands for.
    pub fn of(c: &Combination<COUNT>) -> Self {
        Self {
            arithmetic: match c.level(0) {
                0 => Arithmetic::Integers,
                1 => Arithmetic::Pairs,
                _ => Arithmetic::Float,
            },
            outputs: 1 << c.level(1),
            taps: 1 << c.level(2),
            order: if c.level(3) == 0 { Order::OutputsOutside } else { Order::TapsOutside },
            prepares_samples: c.level(4) == 1,
            copies_coefficients: c.level(5) == 1,
            uses_symmetry: c.level(6) == 1,
        }
    }

    /// Whether there is such a filter.
    pub fn is_feasible(&self) -> bool {
        self.arithmetic != Arithmetic::Pairs || self.taps >= 2 && !self.uses_symmetry
    }

    /// The code, if there is such a filter.
    // Inlined, so that hundreds of functions are compiled for an image that has this call, and for no other.
    #[inline]
    pub fn variant(&self) -> Option<Variant> {
        choose::choose(self)
    }
}

/// In words, for people.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.arithmetic {
            Arithmetic::Integers => "integers",
            Arithmetic::Pairs => "pairs",
            Arithmetic::Float => "float",
        })?;
        write!(f, ", {} by {}, ", self.outputs, self.taps)?;
        f.write_str(match self.order {
            Order::OutputsOutside => "outputs outside",
            Order::TapsOutside => "taps outside",
        })?;
        for (is_on, words) in [
            (self.prepares_samples, ", samples prepared"),
            (self.copies_coefficients, ", coefficients copied"),
            (self.uses_symmetry, ", symmetry used"),
        ] {
            if is_on {
                f.write_str(words)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
