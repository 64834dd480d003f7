//! The log is the state: what happened to a tuner, one record an event.
//!
//! Seed, configuration and the records, in order, rebuild a tuner bit for bit ([`Tuner::replay`](crate::Tuner::replay)): persistence,
//! resuming, warm start, and checking a device's run on a PC are all the same thing.
//!
//! | event | when it is written |
//! |---|---|
//! | told, failed | before the outcome is told, so that a power cut loses nothing |
//! | enqueued | when a default is put in the queue |
//! | asked | only if several are measured at once and all shall survive |
//! | cancelled | when an ask that has a record is given up |
//!
//! **Choices.** A record holds levels, not a [`Combination`]: it may come from anywhere, and becomes one only through a
//! space. With the feature `postcard` it has a byte form: a version, the event, the levels, at most [`Record::MOST_BYTES`] bytes.
//!
//! **Cost.** K + 8 bytes in memory, at most K + 9 in a log.

use heapless::Vec;

use crate::space::knob::Level;
use crate::space::{Combination, Space, SpaceError};

/// What happened to a combination.
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
    /// It was measured, with this value.
    Told(f32),
    /// Its measurement failed.
    Failed,
    /// It was put in the queue.
    Enqueued,
    /// It was proposed.
    Asked,
    /// It was proposed, and will not be told.
    Cancelled,
}

/// One event of a tuner.
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
    /// What happened.
    pub event: Event,
    levels: Vec<Level, K>,
}

impl<const K: usize> Record<K> {
    /// The most bytes of its byte form: version, event, value, number of levels, levels.
    ///
    /// ```
    /// // Whatever happened to twenty knobs, 28 bytes hold it.
    /// assert_eq!(trimtab::Record::<20>::MOST_BYTES, 20 + 8);
    /// ```
    pub const MOST_BYTES: usize = 1 + 1 + 4 + 2 + K;

    /// What happened to a combination.
    ///
    /// ```
    /// use trimtab::{Event, Knob, Record, Space};
    /// let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)])?;
    /// assert_eq!(Record::new(&space.combination(&[3, 5])?, Event::Failed).event, Event::Failed);
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    pub fn new(c: &Combination<K>, event: Event) -> Self {
        // A combination has at most K levels.
        Self { event, levels: Vec::from_slice(c.levels()).unwrap_or_default() }
    }

    /// The levels, of whatever space they are.
    ///
    /// ```
    /// use trimtab::{Event, Knob, Record, Space};
    /// let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)])?;
    /// assert_eq!(Record::new(&space.combination(&[3, 5])?, Event::Failed).levels(), [3, 5]);
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The combination, if it is one of the space.
    ///
    /// ```
    /// use trimtab::{Event, Knob, Record, Space, SpaceError};
    /// let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)])?;
    /// let record = Record::new(&space.combination(&[3, 5])?, Event::Failed);
    /// let other = Space::<2>::new(&[Knob::nominal(2), Knob::ranked(8)])?;
    /// assert_eq!(record.combination(&other), Err(SpaceError::NoSuchLevel { position: 0, level: 3 }));
    /// # Ok::<(), SpaceError>(())
    /// ```
    pub fn combination(&self, space: &Space<K>) -> Result<Combination<K>, SpaceError> {
        space.combination(&self.levels)
    }
}

/// The version of the byte form, and the oldest that is read: 1 knew no [`Event::Cancelled`] and was the same otherwise.
#[cfg(feature = "postcard")]
const VERSION: u8 = 2;
#[cfg(feature = "postcard")]
const OLDEST: u8 = 1;

/// Why bytes are not a record.
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
            Self::Version { found } => write!(f, "a record of version {found}, this is version {VERSION}"),
            Self::Malformed => write!(f, "not a record"),
            Self::NoRoom => write!(f, "no room for the record"),
        }
    }
}

#[cfg(feature = "postcard")]
impl core::error::Error for RecordError {}

#[cfg(feature = "postcard")]
impl<const K: usize> Record<K> {
    /// Writes the byte form, and gives the part of the buffer that it takes.
    ///
    /// ```
    /// use trimtab::{Event, Knob, Record, Space};
    /// let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)])?;
    /// let record = Record::new(&space.combination(&[3, 5])?, Event::Told(0.5));
    /// let mut buffer = [0; Record::<2>::MOST_BYTES];
    /// let bytes = record.to_bytes(&mut buffer).map_err(|_| trimtab::SpaceError::NoKnobs)?;
    /// assert_eq!(Record::from_bytes(bytes), Ok(record));
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    pub fn to_bytes<'a>(&self, buffer: &'a mut [u8]) -> Result<&'a [u8], RecordError> {
        match postcard::to_slice(&(VERSION, self), buffer) {
            Ok(bytes) => Ok(bytes),
            Err(_) => Err(RecordError::NoRoom),
        }
    }

    /// Reads the byte form.
    ///
    /// ```
    /// use trimtab::{Event, Knob, Record, RecordError, Space};
    /// let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)])?;
    /// let record = Record::new(&space.combination(&[3, 5])?, Event::Failed);
    /// let mut buffer = [0; Record::<2>::MOST_BYTES];
    /// let bytes = record.to_bytes(&mut buffer).unwrap_or_default();
    /// assert_eq!(Record::from_bytes(bytes), Ok(record));
    /// assert_eq!(Record::<2>::from_bytes(&bytes[..bytes.len() - 1]), Err(RecordError::Malformed)); // cut by a power loss
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordError> {
        match bytes.split_first() {
            None => Err(RecordError::Malformed),
            Some((OLDEST..=VERSION, rest)) => match postcard::take_from_bytes(rest) {
                Ok((record, [])) => Ok(record),
                _ => Err(RecordError::Malformed),
            },
            Some((found, _)) => Err(RecordError::Version { found: *found }),
        }
    }
}

#[cfg(all(test, feature = "postcard"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::space::knob::Knob;

    const EVENTS: [Event; 5] = [Event::Told(f32::MAX), Event::Failed, Event::Enqueued, Event::Asked, Event::Cancelled];

    #[test]
    fn every_event_comes_back_from_its_bytes_and_fits() {
        let space = Space::<300>::new(&[Knob::nominal(1); 300]).unwrap();
        for event in EVENTS {
            let record = Record::new(&space.at(0).unwrap(), event);
            let mut buffer = [0; Record::<300>::MOST_BYTES];
            let bytes = record.to_bytes(&mut buffer).unwrap();
            // Only a told value takes all of the room.
            assert_eq!(bytes.len() == Record::<300>::MOST_BYTES, matches!(event, Event::Told(_)));
            assert_eq!(Record::from_bytes(bytes), Ok(record));
        }
    }

    #[test]
    fn the_version_before_is_read_and_the_one_after_is_named() {
        let space = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)]).unwrap();
        let c = space.combination(&[3, 5]).unwrap();
        // Version 1: the event's number, then two levels. This is the layout of logs that are in flash.
        assert_eq!(Record::from_bytes(&[1, 1, 2, 3, 5]), Ok(Record::new(&c, Event::Failed)));
        assert_eq!(Record::from_bytes(&[2, 4, 2, 3, 5]), Ok(Record::new(&c, Event::Cancelled)));
        for found in [0, 3] {
            assert_eq!(Record::<2>::from_bytes(&[found, 1, 2, 3, 5]), Err(RecordError::Version { found }));
        }
    }
}
