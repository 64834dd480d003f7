//! The core's tuner in the sizes of a desktop: a library, so that the binary, its unit tests and
//! the other tests link one copy instead of compiling each size again.
//!
//! | module | contents |
//! |---|---|
//! | `desktop` | [`AnyTuner`]: the default tuner, for knobs that are known only when the program runs |
//! | `paper` | [`PaperTuner`]: CBO-Lookup and CBO-Recon |

mod desktop;
mod paper;

#[cfg(not(target_family = "wasm"))]
use std::thread;
use std::{fmt, io};

pub use desktop::{AnyTuner, Feasible, MOST, MOST_PENDING, Measured, Prediction, Setup, sizes, start};
pub use paper::{Dimensions, PaperTuner, Way, start_paper};

/// Why there is no tuner.
#[derive(Debug)]
pub enum StartError {
    /// No size has room.
    TooLarge(String),
    /// The core refuses the space or the configuration.
    Refused(trimtab::Error),
    /// There is no thread to build it on.
    Thread(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge(message) => f.write_str(message),
            Self::Refused(error) => write!(f, "the tuner says: {error}"),
            Self::Thread(error) => write!(f, "cannot start a thread: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

impl From<trimtab::SpaceError> for StartError {
    fn from(error: trimtab::SpaceError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<trimtab::InitError> for StartError {
    fn from(error: trimtab::InitError) -> Self {
        Self::Refused(error.into())
    }
}

/// Stack to build a tuner on: several times the largest.
#[cfg(not(target_family = "wasm"))]
const STACK: usize = 64 << 20;

/// A page has no threads; `cargo xtask web` gives its only stack the room.
#[cfg(target_family = "wasm")]
fn on_large_stack<T>(build: impl FnOnce() -> Result<T, StartError>) -> Result<T, StartError> {
    build()
}

/// Builds on a large stack: a tuner lies there before it is boxed, and the largest takes megabytes.
#[cfg(not(target_family = "wasm"))]
fn on_large_stack<T: Send>(build: impl FnOnce() -> Result<T, StartError> + Send) -> Result<T, StartError> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK);
        let thread = builder.spawn_scoped(scope, build).map_err(StartError::Thread)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
