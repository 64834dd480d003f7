//! The commands of README and docs are commands of this program, and every table of numbers names
//! one.

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
    let mut pages = vec![root.join("README.md"), root.join("host/docs/paper/claims.md")];
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

/// The tables of a page, each with the heading and the text of its section.
fn tables(text: &str) -> Vec<(String, String, Vec<String>)> {
    let mut found = Vec::new();
    for section in text.split("\n#") {
        let heading = section.lines().next().unwrap_or_default().trim_start_matches('#').trim();
        let mut rows: Vec<String> = Vec::new();
        for line in section.lines().chain([""]) {
            if line.starts_with('|') {
                rows.push(line.into());
            } else if !rows.is_empty() {
                found.push((heading.into(), section.into(), std::mem::take(&mut rows)));
            }
        }
    }
    found
}

/// Whether most cells after the first column begin with a number.
fn is_measured(rows: &[String]) -> bool {
    let cells = || rows.iter().skip(2).flat_map(|row| row.trim_matches('|').split('|').skip(1));
    let is_number = |cell: &str| {
        let cell = cell.trim().trim_start_matches(['*', '−', '-', '+', '>', ' ']);
        cell.starts_with(|c: char| c.is_ascii_digit())
    };
    cells().count() > 0 && 2 * cells().filter(|cell| is_number(cell)).count() > cells().count()
}

/// Whether a text has something like a commit: 7 hexadecimal digits in backticks.
fn names_a_commit(text: &str) -> bool {
    text.split('`').skip(1).step_by(2).any(|word| {
        word.len() == 7 && word.bytes().all(|c| c.is_ascii_hexdigit()) && word.bytes().any(|c| c.is_ascii_digit())
    })
}

#[test]
fn tables_of_numbers_name_their_command_and_older_ones_their_commit() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut checked = 0;
    for page in ["README.md", "host/docs/quality.md", "host/docs/paper/claims.md", "host/docs/real.md"] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let introduction = text.split("\n## ").next().unwrap().to_string();
        for (heading, section, rows) in tables(&text).into_iter().filter(|(_, _, rows)| is_measured(rows)) {
            // A page with one command for all its tables names it before the first section.
            let said = format!("{introduction}\n{section}");
            let has_command = ["`cargo ", "\ncargo ", "`trimtab ", "\ntrimtab "].iter().any(|word| said.contains(word));
            let has_link = section.contains("its commands](");
            assert!(has_command || has_link, "{page}, {heading}: which command prints the table?\n{}", rows.join("\n"));
            let is_older = ["older", "earlier commit", "commit before"].iter().any(|word| section.contains(word));
            assert!(!is_older || names_a_commit(&section), "{page}, {heading}: of which commit is it?");
            checked += 1;
        }
    }
    assert!(checked >= 10, "{checked} tables");
}

/// README's race is that of quality.md: every row of it is there.
#[test]
fn the_race_of_the_readme_is_in_the_docs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let [readme, quality] =
        ["README.md", "host/docs/quality.md"].map(|page| fs::read_to_string(root.join(page)).unwrap());
    let (_, _, rows) = tables(&readme).into_iter().find(|(heading, ..)| heading == "How good it is").unwrap();
    for row in &rows[2..] {
        let row = row.trim_end_matches('|').trim_end();
        assert!(quality.contains(row), "README says {row}; quality.md does not");
    }
}
