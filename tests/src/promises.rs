//! The table of promises, collected from the tests that hold them.
//!
//! A test says what it holds in lines above it:
//!
//! ```text
//! /// promise: Tuner::tell | a cost that is not finite | refused, nothing changes
//! ```
//!
//! `cargo xtask promises` writes `tests/docs/promises.md`, and a test fails if the page is old.

use std::collections::BTreeMap;
use std::fs;
use std::io::Result;
use std::path::{Path, PathBuf};

/// The page.
pub const PAGE: &str = "tests/docs/promises.md";

const MARK: &str = "/// promise: ";
const HEAD: &str = "\
# What we promise, and the test that holds it

Written by `cargo xtask promises` from the tests; do not edit. Every row is a test that fails if the promise breaks.
Run one with `cargo test --workspace NAME`.
";

/// One promise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Promise {
    /// The call or command.
    pub call: String,
    /// What can be wrong.
    pub wrong: String,
    /// What happens.
    pub happens: String,
    /// The test, and its file from the top of the repository.
    pub test: String,
    /// The file of the test.
    pub file: PathBuf,
}

/// The promises in a source file. Says which line is no promise.
pub fn read(text: &str, file: &Path) -> std::result::Result<Vec<Promise>, String> {
    let mut found = Vec::new();
    let mut open: Vec<[String; 3]> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if let Some(promise) = line.strip_prefix(MARK) {
            let parts: Vec<String> = promise.split(" | ").map(|part| part.trim().to_string()).collect();
            let fault = |_| format!("{}, line {}: a promise has three parts", file.display(), number + 1);
            open.push(parts.try_into().map_err(fault)?);
        } else if let Some(name) = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next()) {
            for [call, wrong, happens] in open.drain(..) {
                found.push(Promise { call, wrong, happens, test: name.into(), file: file.into() });
            }
        }
    }
    Ok(found)
}

/// All promises of the repository.
pub fn collect(root: &Path) -> Result<Vec<Promise>> {
    let mut found = Vec::new();
    for file in sources(root)? {
        let short = file.strip_prefix(root).unwrap_or(&file).to_path_buf();
        // This file has the words in its documentation and its test.
        if short.ends_with("src/promises.rs") {
            continue;
        }
        found.extend(read(&fs::read_to_string(&file)?, &short).map_err(std::io::Error::other)?);
    }
    found.sort();
    Ok(found)
}

/// All source files of the repository.
pub fn sources(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in ["core", "firmware", "host", "tests"] {
        add_sources(&root.join(folder), &mut files)?;
    }
    Ok(files)
}

fn add_sources(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("target") {
            add_sources(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

/// The page, a table per call.
pub fn page(promises: &[Promise]) -> String {
    let mut calls: BTreeMap<&str, Vec<&Promise>> = BTreeMap::new();
    for promise in promises {
        calls.entry(&promise.call).or_default().push(promise);
    }
    let mut page = HEAD.to_string();
    for (call, promises) in calls {
        page += &format!("\n## `{call}`\n\n| what can be wrong | what happens | test |\n|---|---|---|\n");
        for Promise { wrong, happens, test, file, .. } in promises {
            page += &format!("| {wrong} | {happens} | [`{test}`](../../{}) |\n", file.display());
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_are_read_and_wrong_ones_named() {
        let text = "/// promise: a | b | c\n    /// promise: d | e | f\n#[test]\nfn holds() {\n";
        let found = read(text, Path::new("x.rs")).unwrap();
        assert_eq!((found.len(), found[1].call.as_str(), found[1].test.as_str()), (2, "d", "holds"));
        assert!(page(&found).contains("## `a`"));
        assert!(read("/// promise: a | b", Path::new("x.rs")).unwrap_err().contains("x.rs, line 1"));
    }
}
