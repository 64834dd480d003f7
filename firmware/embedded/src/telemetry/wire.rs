//! A frame as bytes, and back.
//!
//! ```text
//! COBS( version | number | frame | CRC-32 ) 0
//!       1 byte    varint   postcard  4 bytes, little endian, of all before
//! ```
//!
//! COBS (consistent overhead byte stuffing) removes the zeros, at the price of one byte in 254, so
//! a zero always ends a frame: a listener that joins late or hears garbage is in step again at the
//! next one.
//!
//! **Choices**
//! - The version is the first byte and the checksum covers all bytes, so a foreign version differs
//!   from garbage.
//! - CRC-32 (ISO-HDLC, as in Ethernet and zip): one in 2³² changed frames passes. It is computed
//!   bitwise, without a table of a kilobyte.
//!
//! **Cost.** 8 bytes around a frame; some 30 instructions per byte for the checksum.

use core::fmt;

use cobs::CobsEncoder;
use crc::{CRC_32_ISO_HDLC, Crc, NoTable};

use super::frame::Frame;

/// The version of the stream.
pub const VERSION: u8 = 1;

/// The bit of the version that says that a level takes two bytes.
const WIDE: u8 = 0x80;

/// Largest frame on the wire in bytes, for at most 88 knobs, or 44 with a range among them.
pub const MOST_BYTES: usize = 128;

/// Bytes of a frame beside its levels: version, number, kind, number of levels, proposal, event,
/// checksum, COBS and the zero.
pub const BESIDE_LEVELS: usize = 40;

const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);
const CRC_BYTES: usize = size_of::<u32>();

/// Why bytes are not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Fault {
    /// Cut short, changed on the way, or never a frame.
    Garbled,
    /// Longer than any frame.
    TooLong,
    /// Sent by another version.
    Version {
        /// That version.
        found: u8,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Garbled => f.write_str("bytes that are not a frame"),
            Self::TooLong => f.write_str("more bytes than the longest frame"),
            Self::Version { found } => {
                write!(f, "a frame of version {found}, but this program reads version {VERSION}")
            }
        }
    }
}

impl core::error::Error for Fault {}

/// Writes a frame with its final zero. Returns `None` if a buffer is too short; each must hold the
/// whole frame.
///
/// ```
/// use trimtab_embedded::telemetry::{Frame, wire};
/// let (mut plain, mut stuffed) = ([0; 32], [0; 32]);
/// let bytes = wire::encode(7, &Frame::End, &mut plain, &mut stuffed).ok_or("no room")?;
/// assert_eq!(bytes.iter().position(|byte| *byte == 0), Some(bytes.len() - 1));
/// let mut bytes = bytes[..bytes.len() - 1].to_vec();
/// assert_eq!(wire::decode(&mut bytes), Ok((7, Frame::End)));
/// # Ok::<(), &str>(())
/// ```
pub fn encode<'b>(number: u32, frame: &Frame<'_>, plain: &mut [u8], stuffed: &'b mut [u8]) -> Option<&'b [u8]> {
    let version = if frame.is_wide() { VERSION | WIDE } else { VERSION };
    let plain: &[u8] = postcard::to_slice(&(version, number, frame), plain).ok()?;
    let mut encoder = CobsEncoder::new(stuffed);
    encoder.push(plain).ok()?;
    encoder.push(&CRC.checksum(plain).to_le_bytes()).ok()?;
    let end = encoder.finalize();
    *stuffed.get_mut(end)? = 0;
    stuffed.get(..=end)
}

/// Reads a frame and its number from bytes without the final zero, decoding in place.
pub fn decode(bytes: &mut [u8]) -> Result<(u32, Frame<'_>), Fault> {
    let length = cobs::decode_in_place(bytes).map_err(|_| Fault::Garbled)?;
    let plain = bytes.get(..length).and_then(|bytes| bytes.split_last_chunk::<CRC_BYTES>());
    let (plain, sum) = plain.ok_or(Fault::Garbled)?;
    if CRC.checksum(plain) != u32::from_le_bytes(*sum) {
        return Err(Fault::Garbled);
    }
    let (version, rest) = plain.split_first().ok_or(Fault::Garbled)?;
    if version & !WIDE != VERSION {
        return Err(Fault::Version { found: *version });
    }
    let (number, frame): (u32, Frame<'_>) = match postcard::take_from_bytes(rest) {
        Ok((numbered, [])) => numbered,
        _ => return Err(Fault::Garbled),
    };
    let frame = if version & WIDE == 0 { Some(frame) } else { frame.widened() };
    frame.map(|frame| (number, frame)).ok_or(Fault::Garbled)
}
