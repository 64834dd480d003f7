//! A knob: one discrete setting of the hardware. Its levels have no order, an order, or values.
//!
//! The nominal knob is the paper's variable cᵢ with Nᵢ values (section 3); ranked and graded knobs
//! go beyond it.
//!
//! | name | meaning |
//! |---|---|
//! | level | the setting of a knob, counted from 0 |
//! | value | what a graded level stands for: picofarad, a divider, wait states |
//!
//! **Choices**
//! - Most hardware settings have values, and a model that knows them needs far fewer measurements,
//!   so a knob can be ranked or graded where the paper has only nominal variables.
//! - A level is one byte, which keeps observations and table in kilobytes. A setting with more than
//!   256 levels becomes two knobs, coarse and fine.
//! - A knob with a single level is allowed: a setting that is fixed today.
//!
//! **Cost.** 16 bytes per knob on a 32-bit chip, however many levels: the values are borrowed from
//! a static.

/// The setting of a knob, counted from 0.
pub type Level = u8;

/// The largest magnitude of a value on a linear scale: squares of differences stay finite.
const LARGEST: f32 = 1e18;

/// The largest number of levels of one knob.
pub const MOST_LEVELS: usize = Level::MAX as usize + 1;

/// How the values of a graded knob compare.
///
/// ```
/// use trimtab::{Knob, Scale};
/// let step = |knob: Knob, from| knob.position(from + 1) - knob.position(from);
/// let linear = Knob::graded(&[1.0, 2.0, 3.0], Scale::Linear);
/// let log = Knob::graded(&[1.0, 2.0, 4.0], Scale::Log);
/// assert_eq!(step(linear, 0), step(linear, 1));
/// assert!((step(log, 0) - step(log, 1)).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Scale {
    /// Equal differences matter equally: an offset, wait states.
    Linear,
    /// Equal ratios matter equally: a capacitance, a gain. All values must be above zero.
    Log,
}

/// One discrete setting of the hardware.
///
/// ```
/// use trimtab::{Knob, Scale};
/// const MUX: Knob = Knob::nominal(4);
/// const WAIT_STATES: Knob = Knob::ranked(8);
/// const CAPACITOR: Knob = Knob::graded(&[10.0, 22.0, 47.0, 100.0], Scale::Log);
/// assert_eq!((MUX.levels(), WAIT_STATES.levels(), CAPACITOR.levels()), (4, 8, 4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Knob {
    /// Levels without order: any two are equally far apart.
    Nominal {
        /// Number of levels.
        levels: u16,
    },
    /// Levels in order, evenly spaced.
    Ranked {
        /// Number of levels.
        levels: u16,
    },
    /// Levels with values.
    Graded {
        /// The value of each level, in any order.
        values: &'static [f32],
        /// How the values compare.
        scale: Scale,
    },
}

impl Knob {
    /// A knob whose levels have no order, such as a mux input or a pin mapping.
    pub const fn nominal(levels: u16) -> Self {
        Self::Nominal { levels }
    }

    /// A knob whose levels are in order and evenly spaced, such as wait states.
    pub const fn ranked(levels: u16) -> Self {
        Self::Ranked { levels }
    }

    /// A knob whose levels have values, such as a capacitor bank in picofarad.
    pub const fn graded(values: &'static [f32], scale: Scale) -> Self {
        Self::Graded { values, scale }
    }

    /// Number of levels.
    pub const fn levels(&self) -> usize {
        match self {
            Self::Nominal { levels } | Self::Ranked { levels } => *levels as usize,
            Self::Graded { values, .. } => values.len(),
        }
    }

    /// Whether the levels have an order or values that the model can use. Two levels never do: they
    /// are one bit.
    pub const fn is_graded(&self) -> bool {
        !matches!(self, Self::Nominal { .. }) && self.levels() > 2
    }

    /// The position of a level on the scale of the knob: its rank, its value, or the logarithm of
    /// its value.
    ///
    /// ```
    /// use trimtab::{Knob, Scale};
    /// assert_eq!(Knob::ranked(8).position(5), 5.0);
    /// assert_eq!(Knob::graded(&[1.0, 10.0], Scale::Log).position(0), 0.0);
    /// ```
    pub fn position(&self, level: Level) -> f32 {
        match self {
            Self::Nominal { .. } | Self::Ranked { .. } => f32::from(level),
            Self::Graded { values, scale } => {
                let value = values.get(usize::from(level)).copied().unwrap_or(0.0);
                match scale {
                    Scale::Linear => value,
                    Scale::Log => crate::math::float::ln(value),
                }
            }
        }
    }

    /// The reason why the knob cannot be used, if there is one.
    pub(crate) fn fault(&self) -> Option<KnobError> {
        if self.levels() == 0 {
            return Some(KnobError::NoLevels);
        }
        if self.levels() > MOST_LEVELS {
            return Some(KnobError::TooManyLevels);
        }
        match self {
            Self::Graded { values, scale } => values.iter().find_map(|value| match scale {
                _ if !value.is_finite() => Some(KnobError::ValueNotFinite),
                Scale::Log if *value <= 0.0 => Some(KnobError::ValueNotPositive),
                Scale::Linear if value.abs() > LARGEST => Some(KnobError::ValueTooLarge),
                _ => None,
            }),
            _ => None,
        }
    }
}

/// Why a knob cannot be used.
///
/// ```
/// use trimtab::{Knob, KnobError, Scale, Space, SpaceError};
/// let refused = Space::<1>::new(&[Knob::graded(&[0.0, 1.0], Scale::Log)]).err();
/// assert_eq!(refused, Some(SpaceError::Knob { position: 0, error: KnobError::ValueNotPositive }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum KnobError {
    /// A knob needs at least one level.
    NoLevels,
    /// More than [`MOST_LEVELS`] levels.
    TooManyLevels,
    /// A value is infinite or not a number.
    ValueNotFinite,
    /// A value on a logarithmic scale is zero or negative.
    ValueNotPositive,
    /// A value on a linear scale is beyond ±1e18.
    ValueTooLarge,
}

impl core::fmt::Display for KnobError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::NoLevels => "has no levels, give it at least one",
            Self::TooManyLevels => "has more than 256 levels, split it into a coarse and a fine knob",
            Self::ValueNotFinite => "has a value that is infinite or not a number",
            Self::ValueNotPositive => "has a value that is zero or negative, use a linear scale",
            Self::ValueTooLarge => {
                "has a value beyond 1e18, give its values in a larger unit or on a logarithmic scale"
            }
        })
    }
}

impl core::error::Error for KnobError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_named() {
        assert_eq!(Knob::nominal(0).fault(), Some(KnobError::NoLevels));
        assert_eq!(Knob::nominal(1).fault(), None);
        assert_eq!(Knob::ranked(256).fault(), None);
        assert_eq!(Knob::ranked(257).fault(), Some(KnobError::TooManyLevels));
        assert_eq!(Knob::graded(&[], Scale::Linear).fault(), Some(KnobError::NoLevels));
        assert_eq!(Knob::graded(&[0.0, 1.0], Scale::Linear).fault(), None);
        assert_eq!(Knob::graded(&[0.0, 1.0], Scale::Log).fault(), Some(KnobError::ValueNotPositive));
        assert_eq!(Knob::graded(&[f32::NAN], Scale::Linear).fault(), Some(KnobError::ValueNotFinite));
        assert_eq!(Knob::graded(&[1.0, -2e18, 0.0], Scale::Linear).fault(), Some(KnobError::ValueTooLarge));
        assert_eq!(Knob::graded(&[1.0, -1e18, 1e18], Scale::Linear).fault(), None);
        assert_eq!(Knob::graded(&[1.0, 1e30, 2e18], Scale::Log).fault(), None);
    }

    #[test]
    fn two_levels_are_a_bit_and_equal_steps_are_ranks() {
        assert!(Knob::ranked(3).is_graded() && !Knob::ranked(2).is_graded() && !Knob::nominal(4).is_graded());
        let (ranked, graded) = (Knob::ranked(4), Knob::graded(&[0.0, 1.0, 2.0, 3.0], Scale::Linear));
        assert!((0..4).all(|level| ranked.position(level) == graded.position(level)));
    }
}
