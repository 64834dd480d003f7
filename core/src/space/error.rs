//! Why a space or a combination was refused.

use core::fmt;

use crate::space::knob::{KnobError, Level};

/// Why a space or a combination was refused.
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
    /// More knobs than the capacity K of the space.
    TooManyKnobs {
        /// Number of knobs given.
        given: usize,
        /// The capacity.
        most: usize,
    },
    /// One of the knobs cannot be used.
    Knob {
        /// Its position, counted from 0.
        position: usize,
        /// The reason.
        error: KnobError,
    },
    /// Not exactly one level per knob.
    WrongLength {
        /// Number of levels given.
        given: usize,
        /// Number of knobs.
        knobs: usize,
    },
    /// A knob does not have this level.
    NoSuchLevel {
        /// The position of the knob, counted from 0.
        position: usize,
        /// The level.
        level: Level,
    },
    /// A condition names an unknown knob or level or no level, depends on the same or a later knob, or
    /// is the second of its knob.
    Condition {
        /// Its number, counted from 0.
        number: usize,
    },
}

impl fmt::Display for SpaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKnobs => write!(f, "a space needs at least one knob"),
            Self::TooManyKnobs { given, most } => write!(f, "{given} knobs are too many for a space of at most {most}"),
            Self::Knob { position, error } => write!(f, "knob {position} {error}"),
            Self::WrongLength { given, knobs } => write!(f, "{given} levels for {knobs} knobs, give one per knob"),
            Self::NoSuchLevel { position, level } => write!(f, "knob {position} has no level {level}"),
            Self::Condition { number } => write!(
                f,
                "condition {number} must be the only one of its knob and name some levels of a knob declared before it"
            ),
        }
    }
}

impl core::error::Error for SpaceError {}
