//! What can go wrong on the host, and which exit code says so.
//!
//! | error | exit code |
//! |---|---|
//! | [`Error::Usage`] | 2: the command line must be written differently |
//! | [`Error::Failed`] | 1: the command line was right, the work was not done |
//! | [`Error::Closed`] | 0: the reader of the output went away, as `head` does |
//!
//! **Choices.** Clap reports most usage errors itself, with the same code. Every message says the next step.

use std::fmt;
use std::process::ExitCode;

use crate::terminal;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Error {
    /// The arguments do not fit together.
    Usage(String),
    /// Something outside went wrong.
    Failed(String),
    /// Nobody reads the output any more.
    Closed,
}

/// What is wrong and what to do.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Failed(message) => f.write_str(message),
            Self::Closed => f.write_str("nobody reads the output any more"),
        }
    }
}

impl Error {
    /// Prints the message and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let (message, code) = match self {
            Self::Usage(message) => (message, 2),
            Self::Failed(message) => (message, 1),
            Self::Closed => return ExitCode::SUCCESS,
        };
        terminal::note(&format!("error: {message}"));
        ExitCode::from(code)
    }
}
