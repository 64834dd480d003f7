//! The checksum of a line of a log: `{…,"crc":"89abcdef"}`, the CRC-32 of everything before it.

use std::borrow::Cow;

use crc::{CRC_32_ISO_HDLC, Crc};

static CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

const START: &[u8] = b",\"crc\":\"";
const END: &[u8] = b"\"}";
const DIGITS: usize = 8;

/// Adds the checksum to an object.
pub(super) fn close(line: &mut String) {
    if line.pop() == Some('}') {
        let check = CRC.checksum(line.as_bytes());
        line.push_str(&format!(",\"crc\":\"{check:08x}\"}}"));
    }
}

/// The line without its checksum, and whether it had one. Says so if the checksum is wrong.
pub(super) fn open(line: &[u8]) -> Result<(Cow<'_, [u8]>, bool), &'static str> {
    let parts = line
        .trim_ascii_end()
        .strip_suffix(END)
        .and_then(|line| line.split_at_checked(line.len() - DIGITS.min(line.len())));
    let Some((object, digits)) = parts.and_then(|(line, digits)| Some((line.strip_suffix(START)?, digits))) else {
        return Ok((line.into(), false));
    };
    match digits == format!("{:08x}", CRC.checksum(object)).as_bytes() {
        true => Ok(([object, b"}"].concat().into(), true)),
        false => Err("its checksum is wrong"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_added_and_taken_away() {
        let mut line = r#"{"a":1}"#.to_string();
        close(&mut line);
        // By Python's `zlib.crc32(b'{"a":1')`.
        assert_eq!(line, r#"{"a":1,"crc":"a702fc6e"}"#);
        line.push('\n');
        assert_eq!(open(line.as_bytes()), Ok((b"{\"a\":1}".to_vec().into(), true)));
        assert_eq!(open(b"{\"a\":1}\n"), Ok((b"{\"a\":1}\n".into(), false)));
        assert!(open(line.replace('1', "2").as_bytes()).is_err());
        for short in ["", "}", "\"}", "\"crc\":\"\"}"] {
            assert_eq!(open(short.as_bytes()).map(|(_, is_sealed)| is_sealed), Ok(false));
        }
    }
}
