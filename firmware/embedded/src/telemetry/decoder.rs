//! Finds frames among other bytes, and counts the missing ones.
//!
//! **Choices**
//! - Bytes arrive one at a time, as from a serial port; a zero ends a frame. Bytes that form no
//!   frame are counted and skipped.
//! - Frames are numbered from the hello, which is 0. A jump tells how many are missing; a number
//!   that is too small tells that a hello is among them.
//!
//! **Cost.** The longest frame, which is decoded in place.

use super::frame::Frame;
use super::wire::{self, Fault};

/// A frame as it arrived.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Received<'a> {
    /// The frame.
    pub frame: Frame<'a>,
    /// Its number, counted from the hello.
    pub number: u32,
    /// Frames missing right before it.
    pub lost: u32,
}

/// Finds frames of at most `BYTES` bytes.
///
/// ```
/// use trimtab_embedded::telemetry::{Decoder, Frame, wire};
/// let (mut plain, mut stuffed) = ([0; 32], [0; 32]);
/// let bytes = wire::encode(0, &Frame::End, &mut plain, &mut stuffed).ok_or("no room")?;
/// let mut decoder = Decoder::<64>::new();
/// // Garbage up to a zero, then a frame.
/// let mut ends = 0;
/// for byte in b"boot: ok\0".iter().chain(bytes) {
///     ends += u32::from(decoder.push(*byte).is_some_and(|frame| frame.is_ok()));
/// }
/// assert_eq!((ends, decoder.garbled()), (1, 1));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder<const BYTES: usize> {
    buffer: [u8; BYTES],
    /// Bytes since the last zero, counted past the end of the buffer.
    length: usize,
    next: u32,
    garbled: u32,
    lost: u32,
}

impl<const BYTES: usize> Decoder<BYTES> {
    /// A decoder before its first byte.
    pub const fn new() -> Self {
        Self { buffer: [0; BYTES], length: 0, next: 0, garbled: 0, lost: 0 }
    }

    /// Sequences that were not a frame.
    pub fn garbled(&self) -> u32 {
        self.garbled
    }

    /// Missing frames.
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// Whether the last byte ended a frame.
    pub fn is_between(&self) -> bool {
        self.length == 0
    }

    /// Takes a byte. Returns the frame if the byte ends one.
    pub fn push(&mut self, byte: u8) -> Option<Result<Received<'_>, Fault>> {
        if byte != 0 {
            if let Some(place) = self.buffer.get_mut(self.length) {
                *place = byte;
            }
            self.length = self.length.saturating_add(1);
            return None;
        }
        let length = core::mem::take(&mut self.length);
        if length == 0 {
            return None;
        }
        let decoded = match self.buffer.get_mut(..length) {
            Some(bytes) => wire::decode(bytes),
            None => Err(Fault::TooLong),
        };
        Some(match decoded {
            Ok((number, frame)) => {
                let lost = match number.checked_sub(self.next) {
                    _ if matches!(frame, Frame::Hello(_)) => 0,
                    Some(lost) => lost,
                    // The hello and the frames after it.
                    None => number,
                };
                self.next = number.wrapping_add(1);
                self.lost = self.lost.saturating_add(lost);
                Ok(Received { frame, number, lost })
            }
            Err(fault) => {
                self.garbled = self.garbled.saturating_add(1);
                Err(fault)
            }
        })
    }
}

impl<const BYTES: usize> Default for Decoder<BYTES> {
    fn default() -> Self {
        Self::new()
    }
}
