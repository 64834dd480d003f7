//! Where output goes: results to standard output, everything else to standard error.
//!
//! **Choices**
//! - A closed pipe is not our error, so nothing here panics as `println!` does.
//! - `NO_COLOR`, if not empty, removes the colour but keeps live progress.

use std::io::{self, ErrorKind, IsTerminal, Write};

use crate::error::Error;

/// Writes a result to standard output.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Error::Closed,
        _ => Error::Failed(format!("cannot write to standard output: {error}; is the disk full?")),
    })
}

/// Writes a line to standard error, whether or not anybody reads it.
pub(crate) fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Whether standard error is a terminal that can redraw.
pub(crate) fn is_live() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether the user allows colour.
pub(crate) fn has_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
