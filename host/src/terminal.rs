//! Where output goes: results to standard output, everything else to standard error.
//!
//! **Choices**
//! - A closed pipe is not our error, so nothing here panics as `println!` does.
//! - What commands, files and chips say is shown without control characters: they could move the
//!   cursor, change the title or hide text.
//! - `NO_COLOR`, if not empty, removes the colour but keeps live progress.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::LazyLock;

use regex::Regex;

use crate::error::Error;

/// Writes a result to standard output.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    // A program that reads it gets every byte.
    let text = if out.is_terminal() { plain(text) } else { text.into() };
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Error::Closed,
        _ => Error::Failed(format!("cannot write to standard output: {error}; is the disk full?")),
    })
}

/// Writes a line to standard error, whether or not anybody reads it.
pub(crate) fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{}", plain(line));
}

/// A terminal's escape sequences: CSI with its parameters, OSC and its like up to their end, others.
static ESCAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?:\x1b\[|\u{9b})[0-?]*[ -/]*[@-~]?",
        r"|(?:\x1b[\]PX^_]|[\u{9d}\u{90}\u{98}\u{9e}\u{9f}])[^\x07\x1b\u{9c}\n]*(?:\x07|\x1b\\|\u{9c})?",
        r"|\x1b[ -/]*[0-~]?",
    ))
    .ok()
});

/// The text without escape sequences.
pub(crate) fn without_escapes(text: &str) -> Cow<'_, str> {
    ESCAPE.as_ref().map_or(Cow::Borrowed(text), |escape| escape.replace_all(text, ""))
}

/// The text as a terminal may show it: without escape sequences and other control characters.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let is_harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    match text.chars().all(is_harmless) {
        true => text.into(),
        false => without_escapes(text).chars().filter(|c| is_harmless(*c)).collect::<String>().into(),
    }
}

/// Whether standard error is a terminal that can redraw.
pub(crate) fn is_live() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether the user allows colour.
pub(crate) fn has_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_the_cursor_is_shown() {
        for (text, wanted) in [
            ("a\u{1b}[1;31mb\u{1b}[0m", "ab"),
            ("\u{1b}]0;title\u{7}x\u{1b}]8;;url\u{1b}\\y", "xy"),
            ("\u{9b}2Jx\u{1b}(By\u{1b}", "xy"),
            ("x\ry\u{8}\u{7f}z\u{85}", "xyz"),
            ("\tab\n", "\tab\n"),
            ("µ −5 é", "µ −5 é"),
        ] {
            assert_eq!(plain(text), wanted, "{text:?}");
        }
        assert_eq!(without_escapes("1\r\u{1b}[K2\n"), "1\r2\n");
    }
}
