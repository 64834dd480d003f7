//! Frames out of bytes, whatever is between them, and how many are missing.
//!
//! **Choices.** Bytes come one at a time, as from a serial port; a zero ends a frame. What is no frame is counted and left out. Frames are numbered from
//! the hello, which is 0: a jump tells how many are missing, and a number that is too small tells that a hello is among them.
//!
//! **Cost.** The longest frame; a frame is decoded in place.

use super::frame::Frame;
use super::wire::{self, Fault};

/// A frame that arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct Received<'a> {
    /// What it says.
    pub frame: Frame<'a>,
    /// Its number, counted from the hello.
    pub number: u32,
    /// How many are missing right before it.
    pub lost: u32,
}

/// Finds the frames of at most BYTES bytes.
///
/// ```
/// use trimtab_firmware::telemetry::{Decoder, Frame, wire};
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
    /// How many bytes came since the last zero; more than there is room for if they are too many.
    length: usize,
    next: u32,
    garbled: u32,
    lost: u32,
}

impl<const BYTES: usize> Decoder<BYTES> {
    /// Nothing came yet.
    pub const fn new() -> Self {
        Self { buffer: [0; BYTES], length: 0, next: 0, garbled: 0, lost: 0 }
    }

    /// How often something came that was no frame.
    pub fn garbled(&self) -> u32 {
        self.garbled
    }

    /// How many frames are missing.
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// Whether nothing came since the last zero.
    pub fn is_between(&self) -> bool {
        self.length == 0
    }

    /// Takes a byte; if it ends a frame, the frame.
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
                    // A hello and what came after it.
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
