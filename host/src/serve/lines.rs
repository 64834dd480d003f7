//! Lines of any length in bounded memory.
//!
//! **Choices**
//! - A line that is too long is refused at once, before its end has come; the rest of it is
//!   skipped.
//! - The last line needs no line feed.
//!
//! **Cost.** Memory for the longest allowed line.

use std::io::{self, BufRead, ErrorKind};

/// Capacity kept from one line to the next.
const KEPT: usize = 64 << 10;

/// One read of the input.
#[derive(Debug, PartialEq)]
pub(super) enum Line<'a> {
    /// A line without its line feed.
    Text(&'a [u8]),
    /// The line has too many bytes; the rest of it is skipped.
    TooLong,
    /// The input ended.
    End,
}

/// The lines of a reader.
pub(super) struct Lines<R> {
    reader: R,
    most: usize,
    line: Vec<u8>,
    /// Whether to skip the rest of a line.
    skipping: bool,
}

impl<R: BufRead> Lines<R> {
    /// Lines of at most `most` bytes.
    pub(super) fn new(reader: R, most: usize) -> Self {
        Self { reader, most, line: Vec::new(), skipping: false }
    }

    /// Reads the next line.
    pub(super) fn next(&mut self) -> io::Result<Line<'_>> {
        self.line.clear();
        self.line.shrink_to(KEPT);
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                return Ok(if self.line.is_empty() { Line::End } else { Line::Text(&self.line) });
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let (part, taken) = (&chunk[..end.unwrap_or(chunk.len())], end.map_or(chunk.len(), |end| end + 1));
            let is_too_long = !self.skipping && self.line.len() + part.len() > self.most;
            if !self.skipping && !is_too_long {
                self.line.extend_from_slice(part);
            }
            let was_skipping = self.skipping;
            self.skipping = end.is_none() && (was_skipping || is_too_long);
            self.reader.consume(taken);
            if is_too_long {
                return Ok(Line::TooLong);
            }
            if end.is_some() && !was_skipping {
                return Ok(Line::Text(&self.line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Read};

    /// All lines, read through a buffer of this size.
    fn all(text: &[u8], buffer: usize) -> Vec<String> {
        let mut lines = Lines::new(BufReader::with_capacity(buffer, text), 5);
        let mut all = Vec::new();
        loop {
            match lines.next().unwrap() {
                Line::Text(line) => all.push(String::from_utf8(line.to_vec()).unwrap()),
                Line::TooLong => all.push("…".into()),
                Line::End => return all,
            }
        }
    }

    #[test]
    fn lines_by_hand_whatever_the_buffer() {
        for buffer in 1..20 {
            assert_eq!(all(b"", buffer), [""; 0]);
            assert_eq!(all(b"a\n\nb", buffer), ["a", "", "b"]);
            assert_eq!(all(b"12345\n123456\n1", buffer), ["12345", "…", "1"]);
            assert_eq!(all(b"1234567890123456\nx\n", buffer), ["…", "x"]);
            assert_eq!(all(b"123456", buffer), ["…"]);
            assert_eq!(all(b"123456\n123456\n", buffer), ["…", "…"]);
        }
    }

    #[test]
    fn an_endless_line_is_refused_before_its_end() {
        let mut lines = Lines::new(BufReader::new(io::repeat(b'x')), 1000);
        assert_eq!(lines.next().unwrap(), Line::TooLong);
        let long = io::repeat(b'x').take(64 << 20).chain(&b"\nshort"[..]);
        let mut lines = Lines::new(BufReader::new(long), 1000);
        assert_eq!(lines.next().unwrap(), Line::TooLong);
        assert_eq!(lines.next().unwrap(), Line::Text(b"short"));
        assert!(lines.line.capacity() <= KEPT);
    }
}
