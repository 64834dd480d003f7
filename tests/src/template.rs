//! Copies the firmware's template to a new project.
//!
//! **Choices**
//! - The template names versions of trimtab, and a patch with paths within this repository. A copy
//!   gets the paths from its own folder, so a checkout beside it works on every machine.
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
    let up = relative(&folder.canonicalize()?, &root);
    for (here, there) in [("../../core", "core"), ("../embedded", "firmware/embedded")] {
        let (old, new) = (format!("path = {here:?}"), format!("path = \"{up}/{there}\""));
        ensure!(text.contains(&old), "the template has no {old}");
        text = text.replace(&old, &new);
    }
    Ok(fs::write(&manifest, text)?)
}

/// The path from one folder to another, with `/` on every system.
fn relative(from: &Path, to: &Path) -> String {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    // On another drive of Windows there is no way but the whole path.
    if common == 0 {
        return to.display().to_string();
    }
    let up = from.components().skip(common).map(|_| "..".into());
    let down = to.components().skip(common).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<String>>().join("/")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_up_then_down() {
        for (from, to, path) in
            [("/a/b/board", "/a/b/trimtab", "../trimtab"), ("/x/y", "/a", "../../a"), ("/a", "/a/b", "b")]
        {
            assert_eq!(relative(Path::new(from), Path::new(to)), path);
        }
    }
}
