//! The header of a page: its bytes, and the repair of one wrong bit.
//!
//! | bytes of a header | meaning |
//! |---|---|
//! | 0..4 | `TRMJ` |
//! | 4..6, 6..8 | version of the format, and its inverse: every version keeps these eight bytes |
//! | 8..12 | number of the page |
//! | 12..16 | entries of the log before this page, including dropped ones |
//! | 16..24 | fingerprint |
//! | 24..28 | CRC-32 of the bytes before |

use super::format::{BUFFER, CHECK, CRC, Sizes, part};

/// Version of the format. Change it with the format, and with the meaning of a log.
pub(super) const VERSION: u16 = 2;

const MAGIC: [u8; 4] = *b"TRMJ";
pub(super) const HEADER: usize = 28;

/// The header of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) number: u32,
    pub(super) before: u32,
    pub(super) fingerprint: u64,
}

/// Why a page has no valid header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderFault {
    /// Another version of the format.
    Version(u16),
    /// Missing, half written or changed.
    Damaged,
}

impl Header {
    /// The bytes of a header.
    pub(super) fn write<'a>(&self, buffer: &'a mut [u8; BUFFER], sizes: &Sizes) -> Option<&'a [u8]> {
        let (number, before) = (self.number.to_le_bytes(), self.before.to_le_bytes());
        let parts = [&beginning()[..], &number, &before, &self.fingerprint.to_le_bytes()];
        let mut length = 0;
        for part in parts {
            buffer.get_mut(length..length + part.len())?.copy_from_slice(part);
            length += part.len();
        }
        let check = CRC.checksum(buffer.get(..length)?);
        buffer.get_mut(length..HEADER)?.copy_from_slice(&check.to_le_bytes());
        buffer.get(..sizes.header)
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, HeaderFault> {
        let (Some(mut bytes), Some([m0, m1, m2, m3, v0, v1, i0, i1])) = (part::<HEADER>(bytes, 0), part(bytes, 0))
        else {
            return Err(HeaderFault::Damaged);
        };
        let (version, inverted) = (u16::from_le_bytes([v0, v1]), u16::from_le_bytes([i0, i1]));
        if [m0, m1, m2, m3] == MAGIC && version == !inverted && version != VERSION {
            return Err(HeaderFault::Version(version));
        }
        Self::valid(&bytes).or_else(|| Self::repaired(&mut bytes)).ok_or(HeaderFault::Damaged)
    }

    /// The header that differs in one bit. No other does: two valid ones differ in six bits or more.
    fn repaired(bytes: &mut [u8; HEADER]) -> Option<Self> {
        let wrong: u32 = bytes.iter().zip(beginning()).map(|(byte, own)| (byte ^ own).count_ones()).sum();
        if wrong > 1 {
            return None;
        }
        (0..8 * HEADER).find_map(|bit| {
            let mask = 1 << (bit % 8);
            *bytes.get_mut(bit / 8)? ^= mask;
            let valid = Self::valid(bytes);
            *bytes.get_mut(bit / 8)? ^= mask;
            valid
        })
    }

    fn valid(bytes: &[u8; HEADER]) -> Option<Self> {
        let (checked, check) = bytes.split_last_chunk::<CHECK>()?;
        let is_valid = checked.starts_with(&beginning()) && CRC.checksum(checked) == u32::from_le_bytes(*check);
        is_valid.then_some(Self {
            number: u32::from_le_bytes(part(bytes, 8)?),
            before: u32::from_le_bytes(part(bytes, 12)?),
            fingerprint: u64::from_le_bytes(part(bytes, 16)?),
        })
    }
}

/// The first bytes of every header of this version.
pub(super) fn beginning() -> [u8; 8] {
    let ([m0, m1, m2, m3], [v0, v1], [i0, i1]) = (MAGIC, VERSION.to_le_bytes(), (!VERSION).to_le_bytes());
    [m0, m1, m2, m3, v0, v1, i0, i1]
}
