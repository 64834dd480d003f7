//! The levels of a combination in a frame: one byte each, or two where one is above 255.
//!
//! **Choices**
//! - A sender has numbers and a listener has bytes, and neither copies: both are [`Levels`].
//! - Which of the two it is, is said by the frame's version, so frames without such levels stay as they
//!   were, byte for byte.

use core::fmt;

use serde::de::Error as _;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use trimtab::Level;

/// One level per knob, from a combination or from the bytes of a frame.
///
/// ```
/// use trimtab_embedded::telemetry::Levels;
/// let levels = Levels::from(&[3, 4095][..]);
/// assert_eq!((levels.len(), levels.get(1)), (2, Some(4095)));
/// assert!(levels.iter().eq([3, 4095]));
/// ```
#[derive(Clone, Copy)]
pub struct Levels<'a>(Form<'a>);

#[derive(Clone, Copy)]
enum Form<'a> {
    Numbers(&'a [Level]),
    Bytes(&'a [u8]),
    /// The lower byte first.
    Pairs(&'a [[u8; 2]]),
}

impl<'a> Levels<'a> {
    /// Number of levels.
    pub fn len(&self) -> usize {
        match self.0 {
            Form::Numbers(levels) => levels.len(),
            Form::Bytes(levels) => levels.len(),
            Form::Pairs(levels) => levels.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The level of a knob.
    pub fn get(&self, knob: usize) -> Option<Level> {
        match self.0 {
            Form::Numbers(levels) => levels.get(knob).copied(),
            Form::Bytes(levels) => levels.get(knob).copied().map(Level::from),
            Form::Pairs(levels) => levels.get(knob).copied().map(Level::from_le_bytes),
        }
    }

    /// All levels, in the order of the knobs.
    pub fn iter(&self) -> impl Iterator<Item = Level> + use<'a> {
        let own = *self;
        (0..own.len()).map_while(move |knob| own.get(knob))
    }

    /// Whether a level takes two bytes.
    pub(super) fn is_wide(&self) -> bool {
        matches!(self.0, Form::Pairs(_)) || self.iter().any(|level| level > Level::from(u8::MAX))
    }

    /// The same bytes, two per level; `None` if their number is odd.
    pub(super) fn widened(self) -> Option<Self> {
        match self.0 {
            Form::Bytes(bytes) => match bytes.as_chunks() {
                (pairs, []) => Some(Self(Form::Pairs(pairs))),
                _ => None,
            },
            _ => Some(self),
        }
    }
}

impl<'a> From<&'a [Level]> for Levels<'a> {
    fn from(levels: &'a [Level]) -> Self {
        Self(Form::Numbers(levels))
    }
}

impl PartialEq for Levels<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Levels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Levels<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        match self.0 {
            Form::Numbers(levels) => defmt::write!(f, "{=[?]}", levels),
            Form::Bytes(levels) => defmt::write!(f, "{=[u8]}", levels),
            Form::Pairs(levels) => {
                levels.iter().for_each(|level| defmt::write!(f, "{=u16} ", u16::from_le_bytes(*level)));
            }
        }
    }
}

impl Serialize for Levels<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let width = if self.is_wide() { 2 } else { 1 };
        let mut bytes = serializer.serialize_seq(Some(width * self.len()))?;
        for byte in self.iter().flat_map(|level| level.to_le_bytes().into_iter().take(width)) {
            bytes.serialize_element(&byte)?;
        }
        bytes.end()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Levels<'a> {
    /// As one byte per level; the version of the frame may say otherwise.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&[u8]>::deserialize(deserializer).map(|bytes| Self(Form::Bytes(bytes))).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_bytes_and_pairs_are_the_same_levels() {
        let numbers = Levels::from(&[3, 255][..]);
        let bytes = Levels(Form::Bytes(&[3, 255]));
        let pairs = Levels(Form::Bytes(&[3, 0, 255, 0])).widened().unwrap();
        for levels in [numbers, bytes, pairs] {
            assert_eq!((levels.len(), levels.get(0), levels.get(1), levels.get(2)), (2, Some(3), Some(255), None));
            assert!(levels == numbers && levels != Levels::from(&[3, 254][..]) && levels != Levels::from(&[3][..]));
            assert!(!levels.is_empty() && levels.iter().eq([3, 255]));
        }
        assert!(Levels::from(&[][..]).is_empty());
        let large = Levels::from(&[3, 256][..]);
        assert_eq!([numbers, bytes, pairs, large].map(|levels| levels.is_wide()), [false, false, true, true]);
        assert_eq!((numbers.widened(), Levels(Form::Bytes(&[1, 2, 3])).widened()), (Some(numbers), None));
    }
}
