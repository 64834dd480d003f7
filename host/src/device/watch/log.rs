//! The frames on disk.
//!
//! **Choices**
//! - Only complete frames are written, each with its zero, so the file can always be decoded.
//! - A killed writer may leave a torn frame. Each sitting begins with a zero, which ends it, so
//!   nothing later is lost.
//! - The file only grows.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A file to append frames to.
pub(super) struct Log {
    file: File,
    path: PathBuf,
}

impl Log {
    /// Opens a log, or begins one.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let file = OpenOptions::new().append(true).create(true).open(path).map_err(|error| {
            Error::Failed(format!("cannot write the log {}: {error}; choose another --log", path.display()))
        })?;
        let mut log = Self { file, path: path.into() };
        log.write(&[0])?;
        Ok(log)
    }

    /// Appends frames.
    pub(super) fn write(&mut self, frames: &[u8]) -> Result<(), Error> {
        // Not buffered: what was shown is on disk, whatever happens to this program.
        self.file.write_all(frames).map_err(|error| {
            Error::Failed(format!("cannot write the log {}: {error}; is the disk full?", self.path.display()))
        })
    }
}
