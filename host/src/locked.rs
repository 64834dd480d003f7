//! Files that one program at a time appends to: the logs of `tune` and `watch`.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(30);

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
    // A command that a killed trimtab was just starting holds the lock for a moment.
    for _ in 0..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            // File systems without locks must do without.
            Err(TryLockError::Error(_)) | Ok(()) => return Ok(file),
        }
    }
    Err("another trimtab is writing to it; wait for it, or choose another --log".into())
}

/// Whether two paths lead to one file, however they are written: `./run.log`, a link.
pub(crate) fn are_one(a: &Path, b: &Path) -> bool {
    // A hard link has another name and the same file.
    let is_linked = cfg!(unix) && File::open(a).is_ok_and(|a| is_at(&a, b));
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    a == b || is_linked || real(a).is_some_and(|a| real(b) == Some(a))
}

/// Whether the file holds measurements: a log of `tune` or `watch`, or an export of `serve`. A page, a
/// picture or a table never takes its place.
pub(crate) fn is_log(path: &Path) -> bool {
    let mut begin = Vec::new();
    // Not a device or a pipe, which may have no end and no beginning.
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    let read = is_file && File::open(path).and_then(|file| file.take(16).read_to_end(&mut begin)).is_ok();
    read && [&b"{\"trimtab\":"[..], b"{\"op\":\"init\"", b"\0"].iter().any(|log| begin.starts_with(log))
}

/// Whether the path still leads to this file.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let same = |a: std::fs::Metadata, b: std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    // What cannot be found out is no reason to stop.
    let Ok(own) = file.metadata() else { return true };
    std::fs::metadata(path).is_ok_and(|found| same(own, found))
}

/// Whether there still is a file.
#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}
