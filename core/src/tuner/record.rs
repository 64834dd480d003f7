//! The log is the state: one record per event of a tuner.
//!
//! Seed, configuration and the records, in order, rebuild a tuner bit for bit
//! ([`Tuner::replay`](crate::Tuner::replay)). Persistence, resuming, warm start and checking a
//! device's run on a PC all work this way.
//!
//! | event | when to write it |
//! |---|---|
//! | told, failed | before telling the outcome, so that a power cut loses nothing |
//! | enqueued | when a default is queued |
//! | asked | only if several are measured at once and all must survive |
//! | cancelled | when an ask that has a record is cancelled |
//!
//! **Choices**
//! - A record holds levels, not a [`Combination`]: it may come from anywhere and becomes a
//!   combination only through a space.
//! - With the feature `postcard` it has a byte form of at most [`Record::MOST_BYTES`] bytes: a
//!   version, the event, the levels.
//! - A level takes one byte. In a space with a range, a record with a level above 255 takes two per
//!   level and says so in its version: logs of other spaces stay as short as they were, byte for byte.
//!
//! **Cost.** 2K + 12 bytes in memory on a 32-bit chip; in a log at most K + 8, in a space with a range
//! 2K + 8.

use heapless::Vec;

use crate::space::knob::{Knob, Level};
use crate::space::{Combination, Space, SpaceError};
use crate::tuner::limits::Margins;

/// An event in the life of a combination.
///
/// ```
/// use trimtab::{Config, Event, Knob, Record, Space};
/// const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
/// let mut tuner = Two::new();
/// tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
/// let c = tuner.space().combination(&[3, 5])?;
/// for event in [Event::Enqueued, Event::Asked, Event::Cancelled, Event::Asked] {
///     tuner.replay(&Record::new(&c, event))?;
/// }
/// assert_eq!(tuner.pending(), [c]);
/// tuner.replay(&Record::new(&c, Event::Told(0.5)))?;
/// assert_eq!((tuner.pending().len(), tuner.len()), (0, 1));
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Event {
    /// Measured, with this value.
    Told(f32),
    /// Its measurement failed.
    Failed,
    /// Queued.
    Enqueued,
    /// Proposed.
    Asked,
    /// Proposed, but will not be told.
    Cancelled,
    /// Measured, with this value and these margins to limits.
    Measured(f32, Margins),
}

impl Event {
    /// The measured value, if it is a measurement.
    ///
    /// ```
    /// use trimtab::{Event, Margins};
    /// assert_eq!(Event::Told(0.5).value(), Some(0.5));
    /// assert_eq!(Event::Measured(0.5, Margins::default()).value(), Some(0.5));
    /// assert_eq!(Event::Failed.value(), None);
    /// ```
    pub fn value(&self) -> Option<f32> {
        match self {
            Self::Told(value) | Self::Measured(value, _) => Some(*value),
            Self::Failed | Self::Enqueued | Self::Asked | Self::Cancelled => None,
        }
    }
}

#[cfg(feature = "postcard")]
impl Event {
    /// The first version of the byte form that had it.
    fn since(&self) -> u8 {
        match self {
            Self::Measured(..) => VERSION,
            Self::Cancelled => WITHOUT_LIMITS,
            Self::Told(_) | Self::Failed | Self::Enqueued | Self::Asked => OLDEST,
        }
    }
}

/// One entry of a log: an event and the combination it happened to.
///
/// ```
/// use trimtab::{Event, Knob, Record, Space};
/// let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)])?;
/// let c = space.combination(&[3, 5])?;
/// let record = Record::new(&c, Event::Told(0.5));
/// assert_eq!(record.combination(&space), Ok(c));
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Record<const K: usize> {
    /// The event.
    pub event: Event,
    levels: Vec<Level, K>,
}

impl<const K: usize> Record<K> {
    /// Most bytes of the byte form without limits, in any space: version, event, value, number of bytes,
    /// levels.
    pub const MOST_BYTES: usize = Self::BESIDE_LEVELS + 2 * K;

    const BESIDE_LEVELS: usize = 1 + 1 + 4 + 2;

    /// Most bytes of the byte form in a space with these knobs, with so many limits: one per level, or two
    /// if a knob has more than 256 levels.
    ///
    /// ```
    /// use trimtab::{Knob, Record};
    /// assert_eq!(Record::<3>::bytes_for(&[Knob::nominal(2), Knob::ranked(256)], 0), 8 + 3);
    /// assert_eq!(Record::<3>::bytes_for(&[Knob::nominal(2), Knob::range(0.0, 4095.0, 1.0)], 0), 8 + 6);
    /// ```
    pub fn bytes_for(knobs: &[Knob], limits: usize) -> usize {
        let is_wide = knobs.iter().any(|knob| knob.levels() > NARROW);
        Self::most_bytes(limits) - if is_wide { 0 } else { K }
    }

    /// Most bytes of the byte form with so many limits, in any space: their number and the margins too.
    pub const fn most_bytes(limits: usize) -> usize {
        Self::MOST_BYTES + if limits > 0 { 1 + 4 * limits } else { 0 }
    }

    /// A record of this event.
    pub fn new(c: &Combination<K>, event: Event) -> Self {
        // A combination has at most K levels.
        Self { event, levels: Vec::from_slice(c.levels()).unwrap_or_default() }
    }

    /// The levels, not checked against any space.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The combination, if it belongs to the space.
    pub fn combination(&self, space: &Space<K>) -> Result<Combination<K>, SpaceError> {
        space.combination(&self.levels)
    }
}

/// The levels that one byte tells apart.
const NARROW: usize = 256;

/// The bit of the version that says that a level takes two bytes, the lower first.
#[cfg(feature = "postcard")]
const WIDE: u8 = 0x80;

/// The newest version of the byte form, what is written where it says the same, and the oldest that
/// can be read. Version 1 had no [`Event::Cancelled`], version 2 no [`Event::Measured`]; otherwise they
/// are the same.
#[cfg(feature = "postcard")]
const VERSION: u8 = 3;
#[cfg(feature = "postcard")]
const WITHOUT_LIMITS: u8 = 2;
#[cfg(feature = "postcard")]
const OLDEST: u8 = 1;

/// Why bytes could not be read as a record, or a record not be written.
///
/// ```
/// use trimtab::{Record, RecordError};
/// assert_eq!(Record::<2>::from_bytes(&[99, 1, 2, 3]), Err(RecordError::Version { found: 99 }));
/// ```
#[cfg(feature = "postcard")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum RecordError {
    /// Written by another version of this crate.
    Version {
        /// That version.
        found: u8,
    },
    /// Cut short, or not a record at all.
    Malformed,
    /// The buffer is shorter than the record.
    NoRoom,
}

#[cfg(feature = "postcard")]
impl core::fmt::Display for RecordError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Version { found } => {
                write!(f, "a record of version {found} cannot be read, this is version {VERSION}")
            }
            Self::Malformed => write!(f, "the bytes are cut short or not a record"),
            Self::NoRoom => write!(f, "the buffer is too short for the record"),
        }
    }
}

#[cfg(feature = "postcard")]
impl core::error::Error for RecordError {}

#[cfg(feature = "postcard")]
impl<const K: usize> Record<K> {
    /// Writes the byte form and returns the part of the buffer that it takes.
    ///
    /// ```
    /// use trimtab::{Event, Knob, Record, RecordError, Space};
    /// let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)])?;
    /// let record = Record::new(&space.combination(&[3, 5])?, Event::Told(0.5));
    /// let mut buffer = [0; Record::<2>::MOST_BYTES];
    /// let bytes = record.to_bytes(&mut buffer)?;
    /// assert_eq!(Record::from_bytes(bytes)?, record);
    /// // Cut short by a power loss:
    /// assert_eq!(Record::<2>::from_bytes(&bytes[..5]), Err(RecordError::Malformed));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn to_bytes<'a>(&self, buffer: &'a mut [u8]) -> Result<&'a [u8], RecordError> {
        let bytes = Bytes { event: self.event, levels: Levels(&self.levels) };
        let version = if matches!(self.event, Event::Measured(..)) { VERSION } else { WITHOUT_LIMITS };
        let version = if bytes.levels.is_wide() { version | WIDE } else { version };
        match postcard::to_slice(&(version, bytes), buffer) {
            Ok(bytes) => Ok(bytes),
            Err(_) => Err(RecordError::NoRoom),
        }
    }

    /// Reads the byte form.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordError> {
        let Some((version, rest)) = bytes.split_first() else { return Err(RecordError::Malformed) };
        if !(OLDEST..=VERSION).contains(&(version & !WIDE)) {
            return Err(RecordError::Version { found: *version });
        }
        let (event, levels) = match postcard::take_from_bytes::<(Event, &[u8])>(rest) {
            Ok((read, [])) => read,
            _ => return Err(RecordError::Malformed),
        };
        // An event that its version did not have yet is damage.
        if version & !WIDE < event.since() {
            return Err(RecordError::Malformed);
        }
        let mut own = Vec::new();
        let room = if version & WIDE == 0 {
            levels.iter().try_for_each(|level| own.push(Level::from(*level)))
        } else {
            let (levels, []) = levels.as_chunks::<2>() else { return Err(RecordError::Malformed) };
            levels.iter().try_for_each(|level| own.push(Level::from_le_bytes(*level)))
        };
        room.map_err(|_| RecordError::Malformed)?;
        Ok(Self { event, levels: own })
    }
}

/// What the byte form holds after its version.
#[cfg(feature = "postcard")]
#[derive(serde::Serialize)]
struct Bytes<'a> {
    event: Event,
    levels: Levels<'a>,
}

/// Levels as bytes.
#[cfg(feature = "postcard")]
struct Levels<'a>(&'a [Level]);

#[cfg(feature = "postcard")]
impl Levels<'_> {
    fn is_wide(&self) -> bool {
        self.0.iter().any(|level| usize::from(*level) >= NARROW)
    }
}

#[cfg(feature = "postcard")]
impl serde::Serialize for Levels<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeSeq;
        let width = if self.is_wide() { 2 } else { 1 };
        let mut bytes = serializer.serialize_seq(Some(width * self.0.len()))?;
        for byte in self.0.iter().flat_map(|level| level.to_le_bytes().into_iter().take(width)) {
            bytes.serialize_element(&byte)?;
        }
        bytes.end()
    }
}

#[cfg(all(test, feature = "postcard"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::space::knob::Knob;

    const EVENTS: [Event; 5] = [Event::Told(f32::MAX), Event::Failed, Event::Enqueued, Event::Asked, Event::Cancelled];

    #[test]
    fn an_outcome_has_a_value_and_no_other_event() {
        assert_eq!(EVENTS.map(|event| event.value()), [Some(f32::MAX), None, None, None, None]);
        let margins = Margins::new(&[0.5]).unwrap();
        assert_eq!(Event::Measured(3.0, margins).value(), Some(3.0));
    }

    /// promise: Record::from_bytes | bytes cut short | `Malformed`
    #[test]
    fn every_event_survives_its_byte_form() {
        let space = Space::<300>::new(&[Knob::nominal(1); 300]).unwrap();
        for event in EVENTS {
            let record = Record::new(&space.at(0).unwrap(), event);
            let mut buffer = [0; Record::<300>::MOST_BYTES];
            let bytes = record.to_bytes(&mut buffer).unwrap();
            // Only a value takes all of the room.
            assert_eq!(bytes.len() == Record::<300>::bytes_for(space.knobs(), 0), matches!(event, Event::Told(_)));
            assert_eq!(Record::<300>::from_bytes(&bytes[..bytes.len() - 1]), Err(RecordError::Malformed));
            assert_eq!(Record::from_bytes(bytes), Ok(record));
        }
    }

    /// promise: Record::from_bytes | an event that the record's version did not have yet | `Malformed`
    /// promise: Record::from_bytes | a record of another version | older ones are read, newer ones refused: `Version`
    #[test]
    fn older_records_are_read_and_newer_ones_refused() {
        let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)]).unwrap();
        let c = space.combination(&[3, 5]).unwrap();
        // Version 1: the event's number, then two levels, as in logs that are in flash today.
        assert_eq!(Record::from_bytes(&[1, 1, 2, 3, 5]), Ok(Record::new(&c, Event::Failed)));
        assert_eq!(Record::from_bytes(&[2, 4, 2, 3, 5]), Ok(Record::new(&c, Event::Cancelled)));
        let margins = Margins::new(&[0.5, -2.0]).unwrap();
        let mut buffer = [0; Record::<2>::most_bytes(2)];
        let measured = Record::new(&c, Event::Measured(1.5, margins));
        let bytes = measured.to_bytes(&mut buffer).unwrap();
        assert_eq!((bytes.len(), bytes[0]), (Record::<2>::bytes_for(space.knobs(), 2) - 1, 3));
        assert_eq!(Record::from_bytes(bytes), Ok(measured));
        assert_eq!(Record::<2>::from_bytes(&bytes[..bytes.len() - 1]), Err(RecordError::Malformed));
        let length = bytes.len();
        // Events that older versions did not have.
        let mut older = [0; Record::<2>::most_bytes(2)];
        older.copy_from_slice(&buffer);
        older[0] = 2;
        assert_eq!(Record::<2>::from_bytes(&older[..length]), Err(RecordError::Malformed));
        assert_eq!(Record::<2>::from_bytes(&[1, 4, 2, 3, 5]), Err(RecordError::Malformed));
        for found in [0, 4, 0x80, 0x84] {
            assert_eq!(Record::<2>::from_bytes(&[found, 1, 2, 3, 5]), Err(RecordError::Version { found }));
        }
    }

    /// promise: Record::to_bytes | a level above 255 | two bytes per level; other records stay as they were, byte for byte
    #[test]
    fn wide_levels_take_two_bytes_and_others_one() {
        let space = Space::<2>::new(&[Knob::range(0.0, 65_535.0, 1.0), Knob::nominal(3)]).unwrap();
        let mut buffer = [0; Record::<2>::MOST_BYTES];
        for (levels, bytes) in [([255, 2], &[2, 1, 2, 255, 2][..]), ([256, 2], &[0x82, 1, 4, 0, 1, 2, 0])] {
            let record = Record::new(&space.combination(&levels).unwrap(), Event::Failed);
            assert_eq!(record.to_bytes(&mut buffer), Ok(bytes));
            assert_eq!(Record::from_bytes(bytes), Ok(record));
            assert_eq!(Record::<2>::from_bytes(&bytes[..bytes.len() - 1]), Err(RecordError::Malformed));
        }
        // Half a level, and a level too many.
        assert_eq!(Record::<2>::from_bytes(&[0x82, 1, 3, 0, 1, 2]), Err(RecordError::Malformed));
        assert_eq!(Record::<2>::from_bytes(&[0x82, 1, 6, 0, 1, 2, 0, 0, 0]), Err(RecordError::Malformed));
        let told = Record::new(&space.combination(&[65_535, 2]).unwrap(), Event::Told(1.5));
        let bytes = told.to_bytes(&mut buffer).unwrap();
        assert!(bytes.len() < Record::<2>::MOST_BYTES && Record::<2>::bytes_for(space.knobs(), 0) == 12);
        assert_eq!(Record::from_bytes(bytes), Ok(told));
    }
}
