//! A knob: one discrete setting of the hardware, with levels that have no order or have values.
//!
//! The paper's variable cᵢ with Nᵢ values (section 3) is the nominal knob; graded knobs go beyond it.
//!
//! | name | meaning |
//! |---|---|
//! | level | which setting a knob is at, counted from 0 |
//! | value | what a graded level stands for: picofarad, a divider, wait states |
//!
//! **Choices.** The paper knows only nominal variables. Most hardware settings have values, and a model
//! that knows them needs far fewer measurements, so a knob is nominal *or* graded. A level is one byte:
//! at most 256 levels a knob keeps the observations and the table in kilobytes; a wider setting is two
//! knobs, coarse and fine. A knob with a single level is allowed (a setting that is fixed today).
//!
//! **Cost.** A knob borrows its values from a static: 16 bytes on a 32-bit chip, whatever the number of levels.

/// Which setting a knob is at, counted from 0.
pub type Level = u8;

/// Most levels one knob can have.
pub const MOST_LEVELS: usize = Level::MAX as usize + 1;

/// How the values of a graded knob are to be compared.
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
        /// How many levels there are.
        levels: u16,
    },
    /// Levels in order, evenly spaced.
    Ranked {
        /// How many levels there are.
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

    /// How many levels the knob has.
    pub const fn levels(&self) -> usize {
        match self {
            Self::Nominal { levels } | Self::Ranked { levels } => *levels as usize,
            Self::Graded { values, .. } => values.len(),
        }
    }

    /// Whether the levels have an order or values that the model can use. Two levels never do: they are one bit.
    pub const fn is_graded(&self) -> bool {
        !matches!(self, Self::Nominal { .. }) && self.levels() > 2
    }

    /// The place of a level on the knob's scale: its rank, its value, or the logarithm of its value.
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
                    Scale::Log => crate::math::ln(value),
                }
            }
        }
    }

    /// Why the knob cannot be used, if it cannot.
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
                _ => None,
            }),
            _ => None,
        }
    }
}

/// What is wrong with a knob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum KnobError {
    /// A knob needs at least one level.
    NoLevels,
    /// More than [`MOST_LEVELS`] levels.
    TooManyLevels,
    /// A value is infinite or not a number.
    ValueNotFinite,
    /// A value on a logarithmic scale is zero or below.
    ValueNotPositive,
}

impl core::fmt::Display for KnobError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::NoLevels => "has no levels, give it at least one",
            Self::TooManyLevels => "has more than 256 levels, split it into a coarse and a fine knob",
            Self::ValueNotFinite => "has a value that is not finite",
            Self::ValueNotPositive => "has a value that is not above zero, which its logarithmic scale needs",
        })
    }
}

impl core::error::Error for KnobError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named() {
        assert_eq!(Knob::nominal(0).fault(), Some(KnobError::NoLevels));
        assert_eq!(Knob::nominal(1).fault(), None);
        assert_eq!(Knob::ranked(256).fault(), None);
        assert_eq!(Knob::ranked(257).fault(), Some(KnobError::TooManyLevels));
        assert_eq!(Knob::graded(&[], Scale::Linear).fault(), Some(KnobError::NoLevels));
        assert_eq!(Knob::graded(&[0.0, 1.0], Scale::Linear).fault(), None);
        assert_eq!(Knob::graded(&[0.0, 1.0], Scale::Log).fault(), Some(KnobError::ValueNotPositive));
        assert_eq!(Knob::graded(&[f32::NAN], Scale::Linear).fault(), Some(KnobError::ValueNotFinite));
    }
}
