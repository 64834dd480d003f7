//! Decodes the output of an image into lines: defmt frames if it logs, plain text if it prints.
//!
//! An image that logs with defmt sends numbers, and its ELF file has the texts for them. An image
//! without such texts prints.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use defmt_decoder::{DecodeError, StreamDecoder, Table};

/// The texts of an image's log, if it logs.
pub struct Texts(Option<Table>);

impl Texts {
    /// Reads the texts from a built image.
    pub fn of(elf: &Path) -> Result<Self> {
        let bytes = fs::read(elf).with_context(|| format!("cannot read {}", elf.display()))?;
        let table = Table::parse(&bytes).with_context(|| format!("the log texts of {}", elf.display()))?;
        Ok(Self(table.filter(|table| !table.is_empty())))
    }

    /// A decoder that starts at the image's first byte.
    pub fn decoder(&self) -> Decoder<'_> {
        match &self.0 {
            Some(table) => Decoder::Frames(table.new_stream_decoder()),
            None => Decoder::Lines(Vec::new()),
        }
    }
}

/// Turns bytes into lines, as they come.
pub enum Decoder<'t> {
    /// The image logs with defmt.
    Frames(Box<dyn StreamDecoder + Send + Sync + 't>),
    /// The image prints; the bytes of the current line.
    Lines(Vec<u8>),
}

impl Decoder<'_> {
    /// Takes bytes and hands out the lines that they complete.
    pub fn receive(&mut self, bytes: &[u8], line: &mut dyn FnMut(&str)) -> Result<()> {
        match self {
            Self::Frames(frames) => {
                frames.received(bytes);
                loop {
                    match frames.decode() {
                        Ok(frame) => {
                            let level = frame.level().map_or("", |level| level.as_str());
                            line(&format!("{level:<5} {}", frame.display_message()));
                        }
                        Err(DecodeError::UnexpectedEof) => return Ok(()),
                        Err(DecodeError::Malformed) => bail!("the image sent a log frame that cannot be decoded"),
                    }
                }
            }
            Self::Lines(rest) => {
                rest.extend_from_slice(bytes);
                while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                    let text: Vec<u8> = rest.drain(..=end).collect();
                    line(String::from_utf8_lossy(&text).trim_end());
                }
                Ok(())
            }
        }
    }

    /// Hands out a last line without an end.
    pub fn finish(&mut self, line: &mut dyn FnMut(&str)) {
        if let Self::Lines(rest) = self
            && !rest.is_empty()
        {
            line(&String::from_utf8_lossy(rest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_whole_however_they_arrive() {
        let mut decoder = Decoder::Lines(Vec::new());
        let mut lines = Vec::new();
        for piece in ["one\ntw", "o\r\n", "\nlast"] {
            decoder.receive(piece.as_bytes(), &mut |line| lines.push(line.to_string())).unwrap();
        }
        decoder.finish(&mut |line| lines.push(line.to_string()));
        assert_eq!(lines, ["one", "two", "", "last"]);
    }
}
