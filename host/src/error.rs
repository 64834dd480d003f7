//! Why a command ended early, and its exit code.
//!
//! | error | exit code |
//! |---|---|
//! | [`Error::Usage`] | 2: change the command line |
//! | [`Error::Failed`] | 1: the command line is right, but the work was not done |
//! | [`Error::Closed`] | 0: the reader of the output went away, as `head` does |
//!
//! Clap reports most usage errors itself, with the same code. Every message says what to do next.

use std::fmt;

use trimtab_sizes::StartError;

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

impl Error {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Failed(_) => 1,
            Self::Closed => 0,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Failed(message) => f.write_str(message),
            Self::Closed => f.write_str("nobody reads the output any more"),
        }
    }
}

impl From<StartError> for Error {
    fn from(error: StartError) -> Self {
        match error {
            StartError::TooLarge(message) => Self::Usage(message),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<trimtab::AskError> for Error {
    fn from(error: trimtab::AskError) -> Self {
        trimtab::Error::from(error).into()
    }
}

impl From<trimtab::Error> for Error {
    fn from(error: trimtab::Error) -> Self {
        Self::Failed(format!("the tuner says: {error}"))
    }
}
