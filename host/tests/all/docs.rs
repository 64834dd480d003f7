//! The commands of README and docs are commands of this program: each option that they name exists.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crate::common::Folder;

/// The commands of a page's shell blocks that begin with a word, one line each.
fn commands(text: &str, program: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let lines: Vec<String> = blocks
        .flat_map(|block| {
            let joined = block.replace("\\\n", " ");
            joined.lines().map(|line| line.trim().to_string()).collect::<Vec<_>>()
        })
        .collect();
    lines.into_iter().filter_map(|line| line.strip_prefix(program).map(String::from)).collect()
}

#[test]
fn options_in_the_docs_exist() {
    let (folder, root) = (Folder::new("docs"), Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let mut pages = vec![root.join("README.md")];
    pages.extend(fs::read_dir(root.join("host/docs")).unwrap().map(|entry| entry.unwrap().path()));
    let (mut help, mut checked) = (HashMap::new(), 0);
    for page in pages.iter().filter(|page| page.extension().is_some_and(|ending| ending == "md")) {
        let text = fs::read_to_string(page).unwrap();
        for command in commands(&text, "trimtab ").into_iter().chain(commands(&text, "cargo run --release -- ")) {
            let own = command.split(" -- ").next().unwrap().split(" #").next().unwrap();
            let words: Vec<&str> = own.split_whitespace().collect();
            let name = if words[0].starts_with("--") { "antenna" } else { words[0] };
            let known = help.entry(name.to_string()).or_insert_with(|| folder.stdout(&[name, "--help"]));
            for option in words.iter().filter(|word| word.starts_with("--")) {
                assert!(known.contains(option), "{}: `trimtab {name}` has no {option}: {command}", page.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 30, "{checked}");
}
