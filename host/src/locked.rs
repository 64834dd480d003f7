//! Files that one program at a time appends to: the logs of `tune` and `watch`.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

/// Opens a file to read and write, or creates it, and locks it. Says why if that cannot be.
pub(crate) fn open(path: &Path) -> Result<File, String> {
    // Before opening: a pipe without a reader would hang.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err("it must be a regular file; choose another --log".into());
    }
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|error| format!("{error}; choose another --log"))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err("another trimtab is writing to it; wait for it, or choose another --log".into())
        }
        // File systems without locks must do without.
        Err(TryLockError::Error(_)) | Ok(()) => Ok(file),
    }
}
