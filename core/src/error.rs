//! What can go wrong along the flow: one small enum an operation, and one over them all so that `?` works everywhere.

use core::fmt;

use crate::space::SpaceError;

/// Why a tuner cannot be made ready for a space.
///
/// ```
/// use trimtab::{Config, InitError, Knob, Space};
/// const BITS: [Knob; 4] = [Knob::nominal(2); 4];
/// type Bits = trimtab::tuner!(BITS, observations: 8, rows: 16); // without dimensions
/// let refused = Bits::new().init(Space::new(&BITS)?, Config::paper(), 1);
/// assert_eq!(refused, Err(InitError::TooManyFeatures { needed: 4, most: 0 }));
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum InitError {
    /// The space has more features than the tuner has room for: graded ones, or all under a random map.
    TooManyFeatures {
        /// How many this space has.
        needed: usize,
        /// How many the tuner holds.
        most: usize,
    },
    /// A random map was asked of a tuner without dimensions (D = 0).
    NoDimensions,
    /// More than 2⁶⁴ combinations under [`Encoding::Compact`](crate::Encoding::Compact), which needs an index for each;
    /// [`Encoding::PerKnob`](crate::Encoding::PerKnob) takes spaces of any size.
    TooLarge,
}

impl fmt::Display for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyFeatures { needed, most } => write!(f, "{needed} features in a tuner made for {most}"),
            Self::NoDimensions => write!(f, "a random map needs a tuner with dimensions"),
            Self::TooLarge => write!(f, "more than 2^64 combinations need Encoding::PerKnob"),
        }
    }
}

/// Why there is no proposal.
///
/// ```
/// use trimtab::{AskError, Config, Knob, Space};
/// const BIT: [Knob; 1] = [Knob::nominal(2)];
/// type Bit = trimtab::tuner!(BIT, observations: 8, rows: 16);
/// let mut tuner = Bit::new();
/// assert_eq!(tuner.ask(), Err(AskError::Uninitialised));
/// tuner.init(Space::new(&BIT)?, Config::default(), 1)?;
/// tuner.ask()?;
/// tuner.ask()?;
/// assert_eq!(tuner.ask(), Err(AskError::Exhausted)); // a bit has no third level
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum AskError {
    /// `init` was not called, or it failed.
    Uninitialised,
    /// Every feasible combination is measured or being measured: the search is complete.
    Exhausted,
    /// As many combinations as can be remembered are asked and not told.
    TooManyPending {
        /// How many.
        most: usize,
    },
    /// `ask_step` without `ask_begin`, or something was told in between.
    NotBegun,
    /// The paper's ways to ask need a tuner with a random map.
    NoMap,
    /// The nearest combination was not found within the limit of nodes.
    NodeLimit {
        /// The limit.
        nodes: u32,
    },
    /// More than 2⁶⁴ combinations: the nearest one is looked up by its index. [`ask`](crate::Tuner::ask) takes spaces of any size.
    TooLarge,
    /// No feasible combination that is not yet measured was found, but not all could be tried.
    NoneFound {
        /// How many were tried.
        tried: u32,
    },
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uninitialised => write!(f, "the tuner is not initialised, call init first"),
            Self::Exhausted => write!(f, "every feasible combination is measured or being measured"),
            Self::TooManyPending { most } => {
                write!(f, "{most} combinations are asked and not told, tell or cancel one first")
            }
            Self::NoMap => write!(f, "a tuner without dimensions has no random map, name dimensions in tuner!"),
            Self::NodeLimit { nodes } => write!(f, "the nearest combination is not among {nodes} nodes"),
            Self::TooLarge => write!(f, "more than 2^64 combinations cannot be looked up, use ask"),
            Self::NotBegun => write!(f, "no ask is under way, call ask_begin first"),
            Self::NoneFound { tried } => {
                write!(f, "no feasible combination among {tried} tried, tell the tuner one that is feasible")
            }
        }
    }
}

/// Why a measurement was not taken in. The tuner is as it was.
///
/// ```
/// use trimtab::{Config, Knob, Space, TellError};
/// const BIT: [Knob; 1] = [Knob::nominal(2)];
/// type Bit = trimtab::tuner!(BIT, observations: 8, rows: 16);
/// let mut tuner = Bit::new();
/// tuner.init(Space::new(&BIT)?, Config::default(), 1)?;
/// let other = Space::<1>::new(&[Knob::nominal(3)])?.combination(&[2])?;
/// assert_eq!(tuner.tell(&other, 1.0), Err(TellError::Foreign));
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum TellError {
    /// The cost is infinite or not a number.
    NonFinite,
    /// The combination is not one of the tuner's space.
    Foreign,
    /// The combination is ruled out by the feasibility predicate.
    Infeasible,
    /// No room for another observation.
    Full,
}

impl fmt::Display for TellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NonFinite => "the cost is not a finite number",
            Self::Foreign => "the combination belongs to another space",
            Self::Infeasible => "the combination is not feasible",
            Self::Full => "no room for another observation",
        })
    }
}

/// Why a combination was not put in the queue. The tuner is as it was.
///
/// ```
/// use trimtab::{Config, EnqueueError, Knob, Space};
/// const BIT: [Knob; 1] = [Knob::nominal(2)];
/// type Bit = trimtab::tuner!(BIT, observations: 8, rows: 16);
/// let mut tuner = Bit::new();
/// tuner.init(Space::new(&BIT)?, Config::default(), 1)?;
/// let c = tuner.ask()?.combination;
/// assert_eq!(tuner.enqueue(&c), Err(EnqueueError::Known)); // it is being measured
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum EnqueueError {
    /// The combination is not one of the tuner's space.
    Foreign,
    /// The combination is ruled out by the feasibility predicate.
    Infeasible,
    /// The combination is measured, being measured, or in the queue already.
    Known,
    /// No room in the queue.
    Full {
        /// How many the queue holds.
        most: usize,
    },
}

impl fmt::Display for EnqueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => write!(f, "the combination belongs to another space"),
            Self::Infeasible => write!(f, "the combination is not feasible"),
            Self::Known => write!(f, "the combination is measured, pending or queued already"),
            Self::Full { most } => write!(f, "the queue holds {most} combinations and is full"),
        }
    }
}

/// Any error of this crate.
///
/// ```
/// use trimtab::{Error, Knob, Space, SpaceError};
/// fn both_bits() -> Result<u64, Error> {
///     let space = Space::<2>::new(&[Knob::nominal(2); 2])?; // whichever error it is
///     Ok(space.index(&space.combination(&[1, 1, 1])?))
/// }
/// assert_eq!(both_bits(), Err(Error::Space(SpaceError::WrongLength { given: 3, knobs: 2 })));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Error {
    /// Of a space.
    Space(SpaceError),
    /// Of making a tuner ready.
    Init(InitError),
    /// Of asking.
    Ask(AskError),
    /// Of telling.
    Tell(TellError),
    /// Of putting in the queue.
    Enqueue(EnqueueError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Space(error) => error.fmt(f),
            Self::Init(error) => error.fmt(f),
            Self::Ask(error) => error.fmt(f),
            Self::Tell(error) => error.fmt(f),
            Self::Enqueue(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for InitError {}
impl core::error::Error for AskError {}
impl core::error::Error for TellError {}
impl core::error::Error for EnqueueError {}
impl core::error::Error for Error {}

macro_rules! from {
    ($($variant:ident($error:ty)),*) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}
from!(Space(SpaceError), Init(InitError), Ask(AskError), Tell(TellError), Enqueue(EnqueueError));
