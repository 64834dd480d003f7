//! The chip tunes its own code: one filter in 608 forms.
//!
//! y\[n\] = Σ h\[k\]·x\[n + k\], k from 0 to 31, for a block of 128 outputs: a finite impulse
//! response (FIR) filter, the loop of much signal processing. All forms compute the same 128
//! integers at different cost.
//!
//! | knob | levels | effect |
//! |---|---|---|
//! | arithmetic | 16-bit integers, pairs of them, float | how products are summed: [`Number`](arithmetic::Number) |
//! | outputs | 1, 2, 4, 8 | outputs computed together, in registers |
//! | taps | 1, 2, 4, 8 | taps processed together, without a loop |
//! | order | outputs outside, taps outside | which loop is inside the other |
//! | samples | as they are, prepared | converted at each use, or all once and kept in RAM |
//! | coefficients | flash, RAM | read in place, or copied first |
//! | symmetry | unused, used | h is symmetric: samples that share a coefficient can be added first |
//!
//! **Choices**
//! - Samples and coefficients are integers so small that every sum is below 2²⁴: exact in f32 too,
//!   in any order.
//! - Level 0 of every knob is the filter as first written down, [`Setting::default`].
//! - Pairs need at least two taps and cannot use the symmetry: those combinations are infeasible.
//!
//! **Cost.** 304 functions: one per combination, except that the place of the coefficients is a
//! pointer. They are most of the image's flash, which `cargo xtask cost` prints. A [`Workspace`]
//! takes 4 KB.

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

/// Number of knobs.
pub const COUNT: usize = 7;

/// Number of combinations, including infeasible ones.
pub const COMBINATIONS: usize = 768;

/// Outputs or taps processed together, per level.
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

/// The names of the knobs, in the same order.
pub const NAMES: [&str; COUNT] = ["arithmetic", "outputs", "taps", "order", "samples", "coefficients", "symmetry"];

/// Measurements that the tuner keeps.
pub const OBSERVATIONS: usize = 64;

/// The tuner, the same type on the host and on the chip.
pub type CodeTuner = trimtab::tuner!(KNOBS, observations: OBSERVATIONS, rows: 256);

/// All combinations. Those without a filter are infeasible.
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
        // The knobs are constants, and the tests make this call.
        Err(_) => unreachable!(),
    }
}

/// How products of coefficients and samples are summed.
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

/// A form of the filter.
///
/// ```
/// use trimtab_firmware::selftune::{Setting, space};
/// let plain = space().combination(&[0; 7])?;
/// assert_eq!(Setting::of(&plain), Setting::default());
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// How products are summed.
    pub arithmetic: Arithmetic,
    /// Outputs computed together: 1, 2, 4 or 8.
    pub outputs: usize,
    /// Taps processed together: 1, 2, 4 or 8.
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
    /// The filter as first written down: two plain loops.
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
    /// The setting of a combination of [`space`].
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
    // Inlined, so that only an image with this call compiles the hundreds of functions.
    #[inline]
    pub fn variant(&self) -> Option<Variant> {
        choose::choose(self)
    }
}

/// In words, for logs.
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
