//! Repeats a streamed run with another tuner: every proposal must be the same, bit by bit.
//!
//! **Choices**
//! - The tuner starts from the hello's seed and configuration, asks whenever the chip asked, and
//!   learns what the chip learned. It may be larger than the chip's: the limits are in the
//!   configuration.
//! - The caller brings the space, because the feasibility predicate is not in the frames.
//! - After a missing frame nothing can be compared until the next hello; frames until then are
//!   counted.
//!
//! **Cost.** One ask and one tell per measurement, and 2 KB of stack.

use core::fmt;

use trimtab::settings::Settings;
use trimtab::{Error, Level, Proposal, Record, Space, Tuner};

use super::decoder::Decoder;
use super::frame::{Frame, Hello, Proposed};

/// The longest frame, of a thousand knobs.
const MOST_BYTES: usize = 1100;

/// The result of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Checked {
    /// Starts of a tuner.
    pub runs: u32,
    /// Proposals that are the same, bit by bit.
    pub proposals: u32,
    /// Frames that could not be compared, because one before them is missing.
    pub unchecked: u32,
    /// Missing frames.
    pub lost: u32,
    /// Sequences that were not a frame.
    pub garbled: u32,
}

/// Where the chip and this tuner differ.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Mismatch {
    /// The run, counted from 1.
    pub run: u32,
    /// The frame of the run, counted from 0.
    pub number: u32,
    /// The difference.
    pub difference: Difference,
}

/// A difference between the chip and this tuner.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Difference {
    /// The chip has another number of knobs.
    Knobs {
        /// Knobs of the chip.
        chip: u16,
        /// Knobs of the caller's space.
        own: u16,
    },
    /// The chip has another knob at this place.
    Knob {
        /// Counted from 0.
        place: u16,
    },
    /// Only one of the two has a feasibility predicate.
    Predicate,
    /// The chip's tuner has another random map, or more rows or observations than this one.
    Size,
    /// The chip proposed another level.
    Level {
        /// The knob, counted from 0.
        knob: u16,
        /// The chip's value.
        chip: Level,
        /// This tuner's value.
        own: Level,
    },
    /// The predicted means differ.
    Mean {
        /// The chip's value.
        chip: f32,
        /// This tuner's value.
        own: f32,
    },
    /// The predicted standard deviations differ.
    StdDev {
        /// The chip's value.
        chip: f32,
        /// This tuner's value.
        own: f32,
    },
    /// The scores differ.
    Score {
        /// The chip's value.
        chip: f32,
        /// This tuner's value.
        own: f32,
    },
    /// This tuner refuses an event that the chip's accepted.
    Refused(Error),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Knobs { chip, own } => write!(f, "the chip has {chip} knobs, the space to check with has {own}"),
            Self::Knob { place } => write!(f, "the chip has another knob {place}"),
            Self::Predicate => {
                f.write_str("only one of the chip and the space to check with has a feasibility predicate")
            }
            Self::Size => f.write_str(
                "the chip's tuner has another random map, or more rows or observations; check with a tuner of its type",
            ),
            Self::Level { knob, chip, own } => {
                write!(f, "the chip proposed level {chip} of knob {knob}, this tuner level {own}")
            }
            Self::Mean { chip, own } => bits(f, "expected", *chip, *own),
            Self::StdDev { chip, own } => bits(f, "had a standard deviation of", *chip, *own),
            Self::Score { chip, own } => bits(f, "gave a score of", *chip, *own),
            Self::Refused(error) => write!(f, "this tuner refuses an event that the chip's accepted: {error}"),
        }
    }
}

fn bits(f: &mut fmt::Formatter<'_>, what: &str, chip: f32, own: f32) -> fmt::Result {
    let (chip_bits, own_bits) = (chip.to_bits(), own.to_bits());
    write!(f, "the chip {what} {chip} ({chip_bits:#010x}), this tuner {own} ({own_bits:#010x})")
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, number, difference } = self;
        write!(f, "run {run}, frame {number}: {difference}")
    }
}

impl core::error::Error for Difference {}
impl core::error::Error for Mismatch {}

/// Repeats a stream with a tuner as large as the chip's or larger.
///
/// ```
/// use trimtab::{Knob, Space};
/// use trimtab_embedded::telemetry;
/// const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
/// # let stream = [];
/// // let stream = std::fs::read("run.log")?;
/// let checked = telemetry::check(&mut Two::new(), &Space::new(&KNOBS)?, &stream)?;
/// assert_eq!(checked.unchecked, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
    const N: usize,
    const G: usize,
    const A: usize,
    S: Settings,
>(
    tuner: &mut Tuner<K, M, D, T, L, P, N, G, A, S>,
    space: &Space<K>,
    stream: &[u8],
) -> Result<Checked, Mismatch> {
    let mut decoder = Decoder::<MOST_BYTES>::new();
    let mut checked = Checked::default();
    let mut is_whole = false;
    for byte in stream {
        let Some(Ok(received)) = decoder.push(*byte) else { continue };
        let is_hello = matches!(received.frame, Frame::Hello(_));
        checked.runs += u32::from(is_hello);
        is_whole = is_hello || is_whole && received.lost == 0;
        if !is_whole {
            checked.unchecked += 1;
            continue;
        }
        let done = match &received.frame {
            Frame::Hello(hello) => start(tuner, space, hello).map(|()| false),
            frame => repeat(tuner, frame),
        };
        match done {
            Ok(is_proposal) => checked.proposals += u32::from(is_proposal),
            Err(difference) => {
                return Err(Mismatch { run: checked.runs, number: received.number, difference });
            }
        }
    }
    (checked.lost, checked.garbled) = (decoder.lost(), decoder.garbled());
    Ok(checked)
}

/// Initialises a tuner from a hello.
pub fn start<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
    const N: usize,
    const G: usize,
    const A: usize,
    S: Settings,
>(
    tuner: &mut Tuner<K, M, D, T, L, P, N, G, A, S>,
    space: &Space<K>,
    hello: &Hello<'_>,
) -> Result<(), Difference> {
    let own = space.knobs().len() as u16;
    if hello.knobs != own {
        return Err(Difference::Knobs { chip: hello.knobs, own });
    }
    if hello.is_restricted != space.is_restricted() {
        return Err(Difference::Predicate);
    }
    let map = if D == 0 { (0, 0) } else { (D as u16, M as u16) };
    let config = hello.config;
    if hello.map != map || usize::from(config.rows) > L || usize::from(config.observations) > T {
        return Err(Difference::Size);
    }
    tuner.init(space.clone(), config, hello.seed).map_err(|error| Difference::Refused(error.into()))
}

/// Repeats a frame after the hello. Returns whether it was a proposal, which was then the same.
pub fn repeat<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
    const N: usize,
    const G: usize,
    const A: usize,
    S: Settings,
>(
    tuner: &mut Tuner<K, M, D, T, L, P, N, G, A, S>,
    frame: &Frame<'_>,
) -> Result<bool, Difference> {
    match frame {
        Frame::Measured { proposed, event } => {
            let own = tuner.ask().map_err(|error| Difference::Refused(error.into()))?;
            compare(proposed, &own)?;
            tuner.replay(&Record::new(&own.combination, *event)).map_err(Difference::Refused)?;
            Ok(true)
        }
        Frame::Asked(proposed) => {
            let own = tuner.ask().map_err(|error| Difference::Refused(error.into()))?;
            compare(proposed, &own)?;
            Ok(true)
        }
        Frame::Happened { levels, event, .. } => {
            let own: heapless::Vec<Level, K> = levels.iter().take(K).collect();
            if own.len() < levels.len() {
                return Err(Difference::Knobs { chip: levels.len() as u16, own: K as u16 });
            }
            let c = tuner.space().combination(&own).map_err(|error| Difference::Refused(error.into()))?;
            tuner.replay(&Record::new(&c, *event)).map_err(Difference::Refused)?;
            Ok(false)
        }
        Frame::Knob(part) => {
            let knob = tuner.space().knobs().get(usize::from(part.place));
            let is_same = knob.is_some_and(|knob| part.is_of(*knob));
            if is_same { Ok(false) } else { Err(Difference::Knob { place: part.place }) }
        }
        Frame::Hello(_) | Frame::Name { .. } | Frame::End => Ok(false),
    }
}

/// Compares bit by bit, so a NaN equals itself.
fn compare<const K: usize>(chip: &Proposed<'_>, own: &Proposal<K>) -> Result<(), Difference> {
    let levels = own.combination.levels();
    if chip.levels.len() != levels.len() {
        return Err(Difference::Knobs { chip: chip.levels.len() as u16, own: levels.len() as u16 });
    }
    let differs = chip.levels.iter().zip(levels).position(|(chip, own)| chip != *own);
    if let Some(knob) = differs
        && let (Some(chip), Some(own)) = (chip.levels.get(knob), levels.get(knob))
    {
        return Err(Difference::Level { knob: knob as u16, chip, own: *own });
    }
    let is_same = |chip: f32, own: f32| chip.to_bits() == own.to_bits();
    match () {
        () if !is_same(chip.mean, own.mean) => Err(Difference::Mean { chip: chip.mean, own: own.mean }),
        () if !is_same(chip.std_dev, own.std_dev) => Err(Difference::StdDev { chip: chip.std_dev, own: own.std_dev }),
        () if !is_same(chip.score, own.score) => Err(Difference::Score { chip: chip.score, own: own.score }),
        () => Ok(()),
    }
}
