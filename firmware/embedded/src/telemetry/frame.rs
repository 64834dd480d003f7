//! The fields of a frame.
//!
//! | frame | sent |
//! |---|---|
//! | [`Frame::Hello`] | first, and whenever the tuner starts over |
//! | [`Frame::Knob`] | after the hello, one per knob; a graded knob takes one per [`MOST_VALUES`] values |
//! | [`Frame::Name`] | after the knobs, one per knob, if they have names |
//! | [`Frame::Measured`] | when a proposal has its outcome |
//! | [`Frame::Asked`] | when several are measured at once: the outcome follows |
//! | [`Frame::Happened`] | for all other events: a default enqueued, an outcome not asked for, a record of a log |
//! | [`Frame::End`] | when the run is over |
//!
//! **Choices**
//! - Numbers are the chip's bits, infinities included.
//! - A frame borrows from the bytes it was read from: no allocation.
//! - The configuration's limits (T and L) are written out, so a larger tuner proposes the same.

use heapless::Vec;
use serde::{Deserialize, Serialize};
use trimtab::{Config, Event, Knob, Proposal, Scale};

use super::levels::Levels;

/// Most values of a knob per frame.
pub const MOST_VALUES: usize = 16;

/// Most bytes of a name; a longer one is cut.
pub const MOST_NAME: usize = 16;

/// One frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Frame<'a> {
    /// A tuner starts.
    #[serde(borrow)]
    Hello(Hello<'a>),
    /// One of its knobs, or a part of one.
    Knob(KnobPart),
    /// A proposal and its outcome.
    Measured {
        /// The proposal.
        #[serde(borrow)]
        proposed: Proposed<'a>,
        /// Its outcome.
        event: Event,
    },
    /// A proposal without its outcome.
    #[serde(borrow)]
    Asked(Proposed<'a>),
    /// Any other event.
    Happened {
        /// The combination.
        #[serde(borrow)]
        levels: Levels<'a>,
        /// The event.
        event: Event,
        /// Whether it comes from a log, and was sent before.
        resumed: bool,
    },
    /// The run is over.
    End,
    /// The name of a knob.
    Name {
        /// The knob, counted from 0.
        place: u16,
        /// Its name, at most 16 bytes.
        name: &'a str,
    },
}

/// The hardware and its tuner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Hello<'a> {
    /// The version of the firmware.
    pub release: &'a str,
    /// The name of the hardware.
    pub name: &'a str,
    /// Why it starts.
    pub cause: Cause,
    /// Number of knobs.
    pub knobs: u16,
    /// Whether a predicate rules combinations out.
    pub is_restricted: bool,
    /// Rows and columns of the random map, D and M; zeros without a map.
    pub map: (u16, u16),
    /// Planned measurements; 0 if there is no plan.
    pub budget: u16,
    /// The seed.
    pub seed: u64,
    /// The configuration, with its limits of rows and observations written out.
    pub config: Config,
}

/// Why a tuner starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Cause {
    /// For the first time.
    New,
    /// It continues from a log, whose records follow.
    Resumed,
    /// It was rebuilt while it ran, from fewer records or with another configuration.
    Rebuilt,
}

/// A knob, or a part of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct KnobPart {
    /// The knob, counted from 0.
    pub place: u16,
    /// Its kind and levels.
    pub shape: Shape,
}

/// Kind and levels of a knob.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Shape {
    /// Levels without order.
    Nominal {
        /// Number of levels.
        levels: u16,
    },
    /// Levels in order.
    Ranked {
        /// Number of levels.
        levels: u16,
    },
    /// Levels with values.
    Graded {
        /// Whether the values compare by ratio.
        is_log: bool,
        /// Number of levels in all.
        levels: u16,
        /// The level of the first value here.
        first: u16,
        /// Some of the values.
        values: Vec<f32, MOST_VALUES>,
    },
    /// Levels with values by a formula.
    Range {
        /// Whether the values are at equal ratios.
        is_log: bool,
        /// The last level.
        top: u16,
        /// Its value and that of the first level, the first first.
        ends: [f32; 2],
    },
}

impl<'a> Frame<'a> {
    /// The levels in it.
    fn levels_mut(&mut self) -> Option<&mut Levels<'a>> {
        match self {
            Self::Measured { proposed, .. } | Self::Asked(proposed) => Some(&mut proposed.levels),
            Self::Happened { levels, .. } => Some(levels),
            _ => None,
        }
    }

    /// Whether its levels take two bytes each.
    pub(super) fn is_wide(&self) -> bool {
        match self {
            Self::Measured { proposed, .. } | Self::Asked(proposed) => proposed.levels.is_wide(),
            Self::Happened { levels, .. } => levels.is_wide(),
            _ => false,
        }
    }

    /// The same frame with two bytes per level; `None` if it has no levels, or half a one.
    pub(super) fn widened(mut self) -> Option<Self> {
        let levels = self.levels_mut()?;
        *levels = levels.widened()?;
        Some(self)
    }
}

impl KnobPart {
    /// All parts of a knob, in order.
    pub fn parts(place: u16, knob: Knob) -> impl Iterator<Item = Self> {
        let (all, is_log) = match knob {
            Knob::Graded { values, scale } => (values, scale == Scale::Log),
            Knob::Range { scale, .. } => (&[][..], scale == Scale::Log),
            Knob::Nominal { .. } | Knob::Ranked { .. } | Knob::Refused { .. } => (&[][..], false),
        };
        // Only a range has more than 256 levels.
        let levels = knob.levels() as u16;
        let count = all.len().div_ceil(MOST_VALUES).max(1);
        (0..count).map(move |part| {
            let first = part * MOST_VALUES;
            let shape = match knob {
                // No space has a refused knob.
                Knob::Nominal { .. } | Knob::Refused { .. } => Shape::Nominal { levels },
                Knob::Range { first, last, top, .. } => Shape::Range { is_log, top, ends: [first, last] },
                Knob::Ranked { .. } => Shape::Ranked { levels },
                Knob::Graded { .. } => Shape::Graded {
                    is_log,
                    levels,
                    first: first as u16,
                    values: all.iter().skip(first).take(MOST_VALUES).copied().collect(),
                },
            };
            Self { place, shape }
        })
    }

    /// Whether it is a part of this knob, bit by bit.
    pub fn is_of(&self, knob: Knob) -> bool {
        match (&self.shape, knob) {
            (Shape::Nominal { levels }, Knob::Nominal { levels: own }) => *levels == own,
            (Shape::Ranked { levels }, Knob::Ranked { levels: own }) => *levels == own,
            (Shape::Graded { is_log, levels, first, values }, Knob::Graded { values: own, scale }) => {
                let part = own.get(usize::from(*first)..).unwrap_or_default();
                *is_log == (scale == Scale::Log)
                    && usize::from(*levels) == own.len()
                    && values.len() <= part.len()
                    && values.iter().zip(part).all(|(a, b)| a.to_bits() == b.to_bits())
            }
            (Shape::Range { is_log, top, ends }, Knob::Range { first, last, top: own, scale }) => {
                *is_log == (scale == Scale::Log)
                    && *top == own
                    && ends.map(f32::to_bits) == [first, last].map(f32::to_bits)
            }
            _ => false,
        }
    }
}

/// A proposal for any number of knobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Proposed<'a> {
    /// The combination.
    #[serde(borrow)]
    pub levels: Levels<'a>,
    /// The predicted mean.
    pub mean: f32,
    /// The predicted standard deviation.
    pub std_dev: f32,
    /// The acquisition's score.
    pub score: f32,
}

impl<'a, const K: usize> From<&'a Proposal<K>> for Proposed<'a> {
    fn from(proposal: &'a Proposal<K>) -> Self {
        let Proposal { combination, mean, std_dev, score } = proposal;
        Self { levels: combination.levels().into(), mean: *mean, std_dev: *std_dev, score: *score }
    }
}
