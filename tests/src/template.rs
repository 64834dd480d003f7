//! Copies the firmware's template to a new project.
//!
//! **Choices**
//! - The template refers to trimtab by paths within this repository; a copy gets paths of this
//!   machine.
//! - A copy gets the lock file too, so it is built from tested versions.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

/// Where the template is.
const FOLDER: &str = "firmware/template";

/// Copies the template to a new or empty folder.
pub fn create(folder: &Path) -> Result<()> {
    let shown = folder.display();
    let is_free = !folder.exists() || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    ensure!(is_free, "{shown} exists and is not empty: name a new folder");
    let root = crate::root().canonicalize().context("cannot find the repository")?;
    copy(&root.join(FOLDER), folder).with_context(|| format!("cannot write {shown}"))?;
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let manifest = folder.join("Cargo.toml");
    let mut text = fs::read_to_string(&manifest)?;
    for (here, there) in [("../../core", "core"), ("../embedded", "firmware/embedded")] {
        let (old, new) = (format!("path = {here:?}"), format!("path = {:?}", root.join(there)));
        ensure!(text.contains(&old), "the template has no {old}");
        text = text.replace(&old, &new);
    }
    Ok(fs::write(&manifest, text)?)
}

/// Copies a folder and its subfolders, except `target`.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true if entry.file_name() == "target" => {}
            true => copy(&entry.path(), &target)?,
            false => fs::copy(entry.path(), target).map(|_| ())?,
        }
    }
    Ok(())
}
