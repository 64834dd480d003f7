//! The frames on disk.
//!
//! **Choices**
//! - Only complete frames are written, each with its zero, so the file can always be decoded.
//! - A killed writer may leave a torn frame. Each sitting begins with a zero, which ends it, so
//!   nothing later is lost.
//! - The file only grows, and one program at a time writes to it.
//! - A file without a frame is somebody else's, unless it is so short that its first frame may be
//!   torn.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::device::stream::{MOST_BYTES, Runs};
use crate::error::Error;
use crate::locked;

/// Bytes that are searched for a frame.
const SEARCHED: u64 = 1 << 20;

/// A file to append frames to.
pub(super) struct Log {
    file: File,
    path: PathBuf,
}

impl Log {
    /// Opens a log, or begins one.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let fault = |what: String| Error::Failed(format!("the log {}: {what}", path.display()));
        let mut file = locked::open(path).map_err(fault)?;
        let mut found = Vec::new();
        let read = (&file).take(SEARCHED).read_to_end(&mut found).and_then(|_| file.seek(SeekFrom::End(0)));
        read.map_err(|error| fault(error.to_string()))?;
        let is_torn = found.first() == Some(&0) && found.len() <= MOST_BYTES;
        if !found.is_empty() && !is_torn && Runs::read(&found).0.frames == 0 {
            return Err(fault("this file is not a log of trimtab watch; choose another --log".into()));
        }
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
