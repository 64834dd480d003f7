//! Every relative link in the documentation leads to a file.

use std::fs;
use std::path::{Path, PathBuf};

use trimtab_tests::root;

/// The Markdown files of a folder and of the folders in it, without build output.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "out", ".git"].contains(&name.as_str()) {
            pages(&path, found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// The targets of the links of a page that are neither addresses nor places in the same page.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    files.map(|target| target.split('#').next().unwrap_or(target)).collect()
}

#[test]
fn every_link_leads_to_a_file() {
    let mut found = Vec::new();
    pages(&root(), &mut found);
    let (mut checked, mut broken) = (0, Vec::new());
    for page in found {
        for link in links(&fs::read_to_string(&page).unwrap()) {
            checked += 1;
            if !page.parent().unwrap().join(link).exists() {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "these links lead nowhere:\n{}", broken.join("\n"));
    assert!(checked >= 20, "only {checked} links");
}

#[test]
fn links_are_read_from_a_page() {
    let page = "[a](docs/a.md) ![b](b.svg) [c](https://example.org) [d](#here) [e](e.md#part)";
    assert_eq!(links(page), ["docs/a.md", "b.svg", "e.md"]);
}
