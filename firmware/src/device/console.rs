//! Plain lines to the standard output of whoever runs the image.

use core::fmt::{self, Write as _};

use heapless::String;
use semihosting::io::{self, Stdout, Write as _};

/// Longest line; a longer one is a failure, not a cut.
const WIDTH: usize = 256;

/// Prints lines. Not to be mixed with defmt, which sends binary frames the same way.
pub struct Console {
    stdout: Stdout,
    line: String<WIDTH>,
}

impl Console {
    /// Opens standard output.
    pub fn open() -> Result<Self, io::Error> {
        Ok(Self { stdout: io::stdout()?, line: String::new() })
    }

    /// Prints one line, in one call: each call is a round trip to the other side.
    pub fn print(&mut self, text: fmt::Arguments<'_>) {
        self.line.clear();
        writeln!(self.line, "{text}").expect("a line is at most 255 characters");
        self.stdout.write_all(self.line.as_bytes()).expect("standard output takes the line");
    }
}
