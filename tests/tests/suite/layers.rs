//! One direction: a folder uses only the folders listed before it in `lib.rs` (or `main.rs`).
//!
//! The order of the `mod` lines is the map. Every `crate::name` in code counts, in `use` lines and
//! inline; comments do not. `internals`, `settings` and `sizes` of core only re-export, so they come last.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use trimtab_tests::root;

/// The top-level modules of a crate in the order of their `mod` lines.
fn order(head: &str) -> Vec<&str> {
    let names = head.lines().map(str::trim).filter_map(|line| {
        let name = ["pub mod ", "pub(crate) mod ", "mod "].iter().find_map(|start| line.strip_prefix(start))?;
        name.strip_suffix(';')
    });
    names.filter(|name| *name != "tests").collect()
}

/// The code of a line, without its comment. A `//` in a string would cut it short; no line of ours
/// has a `crate::` after one.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or(line)
}

/// The names that follow `crate::` in code, also within `crate::{…}`.
fn used(text: &str) -> Vec<(usize, String)> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    // `use crate::{…}` may take several lines: joined, each name keeps the line that it begins on.
    let mut open: Option<usize> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let mut rest = code(line);
        if open.is_none() && !rest.contains("crate::") {
            continue;
        }
        loop {
            if let Some(depth) = open.as_mut() {
                let Some(end) = rest.find(['{', '}', ',']) else {
                    if *depth == 1 {
                        found.extend(first_name(rest).map(|name| (number, name)));
                    }
                    break;
                };
                if *depth == 1 {
                    found.extend(first_name(&rest[..end]).map(|name| (number, name)));
                }
                match rest.as_bytes()[end] {
                    b'{' => *depth += 1,
                    b'}' => *depth -= 1,
                    _ => {}
                }
                if *depth == 0 {
                    open = None;
                }
                rest = &rest[end + 1..];
                continue;
            }
            let Some(at) = rest.find("crate::") else { break };
            let is_ours = !rest[..at].ends_with(['$', ':']) && !rest[..at].ends_with(is_name);
            rest = &rest[at + "crate::".len()..];
            if !is_ours {
                continue;
            }
            match rest.strip_prefix('{') {
                Some(inside) => (open, rest) = (Some(1), inside),
                None => found.extend(first_name(rest).map(|name| (number, name))),
            }
        }
    }
    found
}

fn first_name(text: &str) -> Option<String> {
    let name: String = text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// Uses against the order, as `file:line: …`. A file is named by its path below `src`.
fn violations(order: &[&str], files: &BTreeMap<String, String>) -> Vec<String> {
    let rank = |name: &str| order.iter().position(|own| *own == name);
    let mut found = Vec::new();
    for (file, text) in files {
        let top = file.split('/').next().unwrap_or(file).trim_end_matches(".rs");
        let Some(own) = rank(top) else { continue };
        for (line, name) in used(text) {
            match rank(&name) {
                Some(other) if other > own => {
                    found.push(format!("{file}:{line}: {top} uses {name}, which comes after it"));
                }
                // A name at the root hides its folder; only macros have no other path.
                None if name.starts_with(char::is_uppercase) => {
                    found.push(format!("{file}:{line}: write the path of {name} through its folder"));
                }
                _ => {}
            }
        }
    }
    found
}

fn read(folder: &Path, below: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            read(&entry.path(), &format!("{name}/"), files);
        } else if name.ends_with(".rs") {
            files.insert(name, fs::read_to_string(entry.path()).unwrap());
        }
    }
}

fn check(package: &str, head: &str, least: usize) {
    let mut files = BTreeMap::new();
    read(&root().join(package).join("src"), "", &mut files);
    let order = order(&files[head]);
    assert!(order.len() >= least, "{package}/src/{head} lists only {order:?}");
    for name in &order {
        let is_there = [format!("{name}.rs"), format!("{name}/mod.rs")].iter().any(|file| files.contains_key(file));
        assert!(is_there, "{package}/src/{head} lists {name}, which has neither {name}.rs nor {name}/mod.rs");
    }
    for file in files.keys().filter(|file| file.contains('/') && !file.starts_with("bin/")) {
        let (folder, _) = file.rsplit_once('/').unwrap();
        assert!(files.contains_key(&format!("{folder}/mod.rs")), "{package}/src/{folder} has no mod.rs");
    }
    let found = violations(&order, &files);
    assert!(found.is_empty(), "{package}: the order is {order:?}\n{}", found.join("\n"));
}

#[test]
fn core_flows_one_way() {
    check("core", "lib.rs", 9);
}

#[test]
fn host_flows_one_way() {
    check("host", "main.rs", 8);
}

#[test]
fn embedded_flows_one_way() {
    check("firmware/embedded", "lib.rs", 6);
}

#[test]
fn firmware_flows_one_way() {
    check("firmware", "lib.rs", 2);
}

/// The table in core's `lib.rs` has the folders in their order.
#[test]
fn the_map_of_core_is_the_order() {
    let head = fs::read_to_string(root().join("core/src/lib.rs")).unwrap();
    let rows = head.lines().filter_map(|line| line.strip_prefix("//! | `")?.split('`').next());
    let order: Vec<&str> =
        order(&head).into_iter().filter(|name| !["error", "internals", "settings", "sizes"].contains(name)).collect();
    assert_eq!(rows.collect::<Vec<_>>(), order);
}

/// Config is plain data.
#[test]
fn config_imports_nothing() {
    let mut files = BTreeMap::new();
    read(&root().join("core/src/config"), "config/", &mut files);
    for (file, text) in files {
        assert!(used(&text).is_empty(), "{file} uses {:?}", used(&text));
    }
}

/// Prints the number of public names of core, for the changelog:
/// `cargo test -p trimtab-tests --test suite public -- --nocapture`.
#[test]
fn the_public_face_is_small() {
    let head = fs::read_to_string(root().join("core/src/lib.rs")).unwrap();
    let mut names = 0;
    for exported in head.split("pub use ").skip(1) {
        let path = exported.split(';').next().unwrap();
        let list = path.split_once('{').map_or(path, |(_, list)| list.trim_end_matches('}'));
        names += list.split(',').filter(|name| !name.trim().is_empty()).count();
    }
    println!("{names} names at the root of core, beside the modules math, settings and sizes and two macros");
    assert!((25..=45).contains(&names), "{names}");
}

#[test]
fn a_use_against_the_order_is_found() {
    let order = order("mod low;\n\npub mod middle;\nmod high;\n#[cfg(test)]\nmod tests;\n");
    assert_eq!(order, ["low", "middle", "high"]);
    let found = |file: &str, text: &str| {
        violations(&order, &BTreeMap::from([(file.to_string(), text.to_string())]))
            .iter()
            .map(|line| line.split(": ").nth(1).unwrap().to_string())
            .collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(found("middle/part.rs", "use crate::low::A;\nuse crate::middle::B;\n"), none);
    assert_eq!(found("low.rs", "use crate::high::A;"), ["low uses high, which comes after it"]);
    assert_eq!(found("low.rs", "fn f() { crate::middle::g() }"), ["low uses middle, which comes after it"]);
    assert_eq!(
        found("middle/part.rs", "use crate::{\n    high::{A, low},\n    low,\n};\nuse crate::high;"),
        ["middle uses high, which comes after it", "middle uses high, which comes after it"]
    );
    assert_eq!(found("low.rs", "// crate::high\n/// [`x`](crate::high)\nuse other_crate::high;"), none);
    assert_eq!(found("high/mod.rs", "use crate::Name;"), ["write the path of Name through its folder"]);
}
