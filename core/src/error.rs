//! Errors: one small enum per operation, and [`Error`] over all of them so that `?` works
//! everywhere.

use core::fmt;

use crate::space::SpaceError;

/// Why a tuner cannot be initialised for a space.
///
/// ```
/// use trimtab::{Config, InitError, Knob, Space};
/// type Bits = trimtab::tuner!([Knob::nominal(2); 4], observations: 8, rows: 16);
/// let refused = Bits::new().init(Space::new(&[Knob::ranked(9)])?, Config::default(), 1);
/// assert_eq!(refused, Err(InitError::TooManyFeatures { needed: 9, most: 0 }));
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum InitError {
    /// The space needs more numbers than the tuner has room for: one per level of a graded knob, or
    /// one per feature under a random map.
    TooManyFeatures {
        /// How many this space needs.
        needed: usize,
        /// How many the tuner has room for.
        most: usize,
    },
    /// [`Encoding::Compact`](crate::Encoding::Compact) needs an index for each combination, and
    /// there are more than 2⁶⁴. [`Encoding::PerKnob`](crate::Encoding::PerKnob) takes spaces of any
    /// size.
    TooLarge,
    /// The prior is of another space or another goal.
    OtherFleet,
    /// Knobs that matter only sometimes ([`Space::only_if`](crate::Space::only_if)) need a tuner
    /// without a random map and without a prior.
    Conditions,
    /// The tuner is built for another configuration, see [`settings`](crate::settings).
    OtherConfig,
}

impl fmt::Display for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyFeatures { needed, most } => {
                write!(f, "the space needs {needed} graded levels or features, the tuner has room for {most}")
            }
            Self::TooLarge => write!(f, "more than 2^64 combinations need Encoding::PerKnob"),
            Self::OtherFleet => write!(f, "the prior was learned on other knobs, or for another goal"),
            Self::Conditions => {
                write!(f, "knobs that matter only sometimes need a tuner without a random map and without a prior")
            }
            Self::OtherConfig => write!(f, "the type of the tuner has another configuration: give `init` that one"),
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
    /// Every feasible combination is measured or pending: the search is complete.
    Exhausted,
    /// As many combinations are pending, asked and not told, as the tuner has room for:
    /// [`MOST_PENDING`](crate::MOST_PENDING) unless `tuner!` was given another number.
    TooManyPending {
        /// That limit.
        most: usize,
    },
    /// `ask_step` without `ask_begin`, or another call in between ended the ask.
    NotBegun,
    /// `ask_lookup` and `ask_recon` need a tuner with a random map.
    NoMap,
    /// The search for the nearest combination reached its limit of nodes.
    NodeLimit {
        /// The limit.
        nodes: u32,
    },
    /// `ask_lookup` finds a combination by its index, and there are more than 2⁶⁴.
    /// [`ask`](crate::Tuner::ask) takes spaces of any size.
    TooLarge,
    /// Found no feasible combination that is not measured yet, but could not try all of them.
    NoneFound {
        /// Number of combinations tried.
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

/// Why a measurement was refused. The tuner is unchanged.
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
    /// The value or a margin is infinite or not a number.
    NonFinite,
    /// The combination does not belong to the tuner's space.
    Foreign,
    /// The feasibility predicate rules the combination out.
    Infeasible,
    /// No room for another observation.
    Full,
    /// As many margins as the first outcome had are expected, or at most as many as the tuner has room
    /// for: `tuner!` with `limits`.
    Margins {
        /// How many were given.
        given: usize,
        /// How many are expected.
        expected: usize,
    },
}

impl fmt::Display for TellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NonFinite => "the cost or a margin is not a finite number",
            Self::Foreign => "the combination belongs to another space",
            Self::Infeasible => "the combination is not feasible",
            Self::Full => "the tuner has no room for another observation",
            Self::Margins { given, expected } => {
                return write!(f, "{given} margins to limits were told, {expected} are expected");
            }
        })
    }
}

/// Why a combination was not queued. The tuner is unchanged.
///
/// ```
/// use trimtab::{Config, EnqueueError, Knob, Space};
/// const BIT: [Knob; 1] = [Knob::nominal(2)];
/// type Bit = trimtab::tuner!(BIT, observations: 8, rows: 16);
/// let mut tuner = Bit::new();
/// tuner.init(Space::new(&BIT)?, Config::default(), 1)?;
/// let c = tuner.ask()?.combination;
/// assert_eq!(tuner.enqueue(&c), Err(EnqueueError::Known)); // it is pending
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum EnqueueError {
    /// The combination does not belong to the tuner's space.
    Foreign,
    /// The feasibility predicate rules the combination out.
    Infeasible,
    /// The combination is already measured, pending or queued.
    Known,
    /// The queue is full.
    Full {
        /// Capacity of the queue.
        most: usize,
    },
}

impl fmt::Display for EnqueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => write!(f, "the combination belongs to another space"),
            Self::Infeasible => write!(f, "the combination is not feasible"),
            Self::Known => write!(f, "the combination is already measured, pending or queued"),
            Self::Full { most } => write!(f, "the queue is full, it holds at most {most} combinations"),
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
    /// From building a space or a combination.
    Space(SpaceError),
    /// From `init`.
    Init(InitError),
    /// From asking.
    Ask(AskError),
    /// From telling.
    Tell(TellError),
    /// From `enqueue`, or from replaying a record of an ask.
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
