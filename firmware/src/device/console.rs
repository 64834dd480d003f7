//! Plain lines to standard output, by semihosting.

use core::fmt::{self, Write as _};

use heapless::String;
use semihosting::io::{self, Stdout, Write as _};

/// Longest line in bytes. A longer one is a failure: it is never cut.
const WIDTH: usize = 256;

/// Prints lines. Do not mix it with defmt, which sends binary frames the same way.
pub struct Console {
    stdout: Stdout,
    line: String<WIDTH>,
}

impl Console {
    /// Opens standard output.
    pub fn open() -> Result<Self, io::Error> {
        Ok(Self { stdout: io::stdout()?, line: String::new() })
    }

    /// Prints a line in one call: each call is a round trip to the other side.
    pub fn print(&mut self, text: fmt::Arguments<'_>) {
        self.line.clear();
        writeln!(self.line, "{text}").expect("a line has at most 255 bytes");
        self.stdout.write_all(self.line.as_bytes()).expect("standard output accepts the line");
    }
}
