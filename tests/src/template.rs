//! A copy of the firmware's template that knows where trimtab is: a project to start from.
//!
//! **Choices.** The template names trimtab by the paths that hold in this repository; a copy names it by this machine's. It gets the
//! lock file too, so it is built from the versions that were tested.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

/// Where the template is.
const FOLDER: &str = "firmware/template";

/// Copies the template to a folder that is empty or not there yet.
pub fn create(folder: &Path) -> Result<()> {
    let shown = folder.display();
    let is_free = !folder.exists() || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    ensure!(is_free, "{shown} is there already and not empty; name a new folder");
    let root = crate::root().canonicalize().context("cannot find the repository")?;
    copy(&root.join(FOLDER), folder).with_context(|| format!("cannot write {shown}"))?;
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let manifest = folder.join("Cargo.toml");
    let mut text = fs::read_to_string(&manifest)?;
    for (here, there) in [("../../core", "core"), ("..", "firmware")] {
        let (old, new) = (format!("path = {here:?}"), format!("path = {:?}", root.join(there)));
        ensure!(text.contains(&old), "the template has no {old}");
        text = text.replace(&old, &new);
    }
    Ok(fs::write(&manifest, text)?)
}

/// A folder and the folders in it, but what was built there.
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
