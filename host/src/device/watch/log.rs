//! The frames as they came, on disk.
//!
//! **Choices.** Only whole frames are written, each with its zero, so what is on disk can always be decoded. A writer that was killed in the middle of a frame
//! leaves a torn one; the zero that every sitting begins with ends it, so that it costs nothing that comes after. The file only grows.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A file that frames are added to.
pub(super) struct Log {
    file: File,
    path: PathBuf,
}

impl Log {
    /// Opens a log, or begins it.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let file = OpenOptions::new().append(true).create(true).open(path).map_err(|error| {
            Error::Failed(format!("cannot write the log {}: {error}; choose another --log", path.display()))
        })?;
        let mut log = Self { file, path: path.into() };
        log.write(&[0])?;
        Ok(log)
    }

    /// Adds frames.
    pub(super) fn write(&mut self, frames: &[u8]) -> Result<(), Error> {
        // Not buffered: what was shown is there, whatever happens to this program.
        self.file.write_all(frames).map_err(|error| {
            Error::Failed(format!("cannot write the log {}: {error}; is the disk full?", self.path.display()))
        })
    }
}
