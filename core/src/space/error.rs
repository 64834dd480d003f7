//! Why there is no such space or combination.

use core::fmt;

use crate::space::knob::{KnobError, Level};

/// Why there is no such space or combination.
///
/// ```
/// use trimtab::{Knob, KnobError, Space, SpaceError};
/// let refused = Space::<2>::new(&[Knob::nominal(2), Knob::nominal(0)]).err();
/// assert_eq!(refused, Some(SpaceError::Knob { position: 1, error: KnobError::NoLevels }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SpaceError {
    /// A space needs at least one knob.
    NoKnobs,
    /// More knobs than the space's capacity K.
    TooManyKnobs {
        /// How many were given.
        given: usize,
        /// The capacity.
        most: usize,
    },
    /// One of the knobs cannot be used.
    Knob {
        /// Which, counted from 0.
        position: usize,
        /// What is wrong with it.
        error: KnobError,
    },
    /// Not one level for each knob.
    WrongLength {
        /// How many levels were given.
        given: usize,
        /// How many knobs there are.
        knobs: usize,
    },
    /// A level its knob does not have.
    NoSuchLevel {
        /// Which knob, counted from 0.
        position: usize,
        /// The level.
        level: Level,
    },
}

impl fmt::Display for SpaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKnobs => write!(f, "a space needs at least one knob"),
            Self::TooManyKnobs { given, most } => write!(f, "{given} knobs in a space made for {most}"),
            Self::Knob { position, error } => write!(f, "knob {position} {error}"),
            Self::WrongLength { given, knobs } => write!(f, "{given} levels for {knobs} knobs"),
            Self::NoSuchLevel { position, level } => write!(f, "knob {position} has no level {level}"),
        }
    }
}

impl core::error::Error for SpaceError {}
