//! Golden files: expected text, committed, reviewed as a diff.
//!
//! To accept an intended change, run the test with `TRIMTAB_REWRITE=1` and review `git diff`.

use std::path::PathBuf;
use std::{env, fs};

/// The environment variable that makes tests rewrite golden files.
pub const REWRITE: &str = "TRIMTAB_REWRITE";

/// The path of a golden file.
pub fn path(name: &str) -> PathBuf {
    crate::root().join("tests/golden").join(name)
}

/// Compares text with a golden file, or rewrites the file. A failure names the first line that
/// differs. Lines of the file that start with `#` are notes: kept, not compared.
#[track_caller]
pub fn check(name: &str, text: &str) {
    let path = path(name);
    let old = fs::read_to_string(&path).unwrap_or_default();
    if env::var_os(REWRITE).is_some_and(|value| !value.is_empty()) {
        let notes = old.lines().filter(|line| line.starts_with('#'));
        let new: String = notes.chain(text.lines()).flat_map(|line| [line, "\n"]).collect();
        fs::write(&path, new).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        return;
    }
    let expected: Vec<&str> = old.lines().filter(|line| !line.starts_with('#')).collect();
    let got: Vec<&str> = text.lines().collect();
    if let Some(difference) = first_difference(&expected, &got) {
        panic!(
            "tests/golden/{name} and this run differ at {difference}\n\
             If the change is intended, run the test again with {REWRITE}=1 and review the diff."
        );
    }
}

/// Compares bytes with a golden file, or rewrites the file.
#[track_caller]
pub fn check_bytes(name: &str, bytes: &[u8]) {
    let path = path(name);
    if env::var_os(REWRITE).is_some_and(|value| !value.is_empty()) {
        fs::write(&path, bytes).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        return;
    }
    let expected = fs::read(&path).unwrap_or_default();
    let place = expected.iter().zip(bytes).position(|(a, b)| a != b);
    assert!(
        expected == bytes,
        "tests/golden/{name} and this run differ at byte {}\n\
         If the change is intended, run the test again with {REWRITE}=1.",
        place.unwrap_or(expected.len().min(bytes.len()))
    );
}

/// The first line in which two texts differ, with both versions, or `None` if they are equal.
///
/// ```
/// use trimtab_tests::golden::first_difference;
/// assert_eq!(first_difference(&["a", "b"], &["a", "b"]), None);
/// let told = first_difference(&["a", "b"], &["a", "c"]).unwrap();
/// assert_eq!(told, "line 2:\n  expected: b\n  got:      c");
/// assert_eq!(first_difference(&["a"], &[""; 0]).unwrap(), "line 1:\n  expected: a\n  got:      (no such line)");
/// ```
pub fn first_difference(expected: &[impl AsRef<str>], got: &[impl AsRef<str>]) -> Option<String> {
    (0..expected.len().max(got.len())).find_map(|i| {
        let (expected, got) = (expected.get(i).map(AsRef::as_ref), got.get(i).map(AsRef::as_ref));
        let none = "(no such line)";
        (expected != got).then(|| {
            format!("line {}:\n  expected: {}\n  got:      {}", i + 1, expected.unwrap_or(none), got.unwrap_or(none))
        })
    })
}
