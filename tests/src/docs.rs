//! The commands in README and docs: every fenced block of `sh` or `console`.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// A fenced block of shell.
#[derive(Clone, Debug)]
pub struct Block {
    /// The page, from the top of the repository.
    pub page: String,
    pub text: String,
}

impl Block {
    /// Its commands: continued lines are joined, comments removed. A script has none: it is a file.
    pub fn commands(&self) -> Vec<String> {
        if self.text.starts_with("#!") {
            return Vec::new();
        }
        let joined = self.text.replace("\\\n", " ");
        let lines = joined.lines().map(|line| line.split(" #").next().unwrap_or_default());
        lines
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .collect()
    }
}

/// The blocks of all pages.
pub fn blocks(root: &Path) -> io::Result<Vec<Block>> {
    let mut pages = Vec::new();
    find(root, &mut pages)?;
    pages.sort();
    let mut blocks = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page)?;
        let name = page.strip_prefix(root).unwrap_or(&page).display().to_string();
        for fence in ["```sh\n", "```console\n", "```bash\n"] {
            let found = text.split(fence).skip(1).filter_map(|rest| rest.split("```").next());
            blocks.extend(found.map(|text| Block { page: name.clone(), text: text.to_string() }));
        }
    }
    Ok(blocks)
}

/// All pages of a folder; `target` and `out` are not ours.
fn find(folder: &Path, pages: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let is_ours = ![".git", "target", "out", "node_modules"].iter().any(|other| name == *other);
        if entry.file_type()?.is_dir() && is_ours {
            find(&path, pages)?;
        } else if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_joined_and_stripped() {
        let block = |text: &str| Block { page: String::new(), text: text.into() }.commands();
        assert_eq!(block("a  b \\\n    c   # why\n\n# only a comment\nd\n"), ["a b c", "d"]);
        assert!(block("#!/bin/sh\necho\n").is_empty());
    }
}
