//! Every public item of core is documented, with an example that runs: rustdoc counts, and what it does not count is looked up.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use trimtab_tests::root;

/// rustdoc's own count: how many items of a file need docs or an example, and how many have them. Fields, variants and constants need no example
/// of their own. Counting is not stable yet, hence the switch that lets a stable compiler do it.
#[test]
fn rustdoc_finds_docs_and_an_example_for_every_item() {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root()).env("RUSTC_BOOTSTRAP", "1").env_remove("RUSTDOCFLAGS");
    // A folder of its own: the compiler's switch would make everything else be built anew, and another cargo may be at work there.
    cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("documented"));
    cargo.args(["rustdoc", "--package", "trimtab", "--lib", "--all-features", "--"]);
    cargo.args(["-Z", "unstable-options", "--show-coverage", "--output-format", "json"]);
    // With nothing to do it would say nothing, so there must be something.
    cargo.args(["--cfg", &format!("counted_by_{}", std::process::id())]);
    let output = cargo.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");

    let text = String::from_utf8_lossy(&output.stdout);
    let counts =
        text.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("no counts: {text}\n{errors}"));
    let counts: Value = serde_json::from_str(counts).unwrap();
    let counts = counts.as_object().unwrap();
    assert!(counts.len() > 20, "{} files", counts.len());
    let has = |file: &Value, some: &str, all: &str| file[all].is_u64() && file[some] == file[all];
    let short: Vec<_> = counts
        .iter()
        .filter(|(_, file)| !has(file, "with_docs", "total") || !has(file, "with_examples", "total_examples"))
        .map(|(name, file)| format!("{name}: {file}"))
        .collect();
    assert!(short.is_empty(), "docs or examples are missing in\n{}", short.join("\n"));
}

/// rustdoc does not ask for examples of constants, of macros, of aliases, and of what is shown from a private module.
#[test]
fn constants_macros_and_aliases_have_examples_too() {
    let mut files = Vec::new();
    sources(&root().join("core/src"), &mut files);
    let (mut found, mut missing) = (0, Vec::new());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<_> = text.lines().map(str::trim_start).collect();
        for (i, line) in lines.iter().enumerate().filter(|(i, line)| is_public_item(line, &lines[..*i])) {
            let docs = lines[..i].iter().rev().take_while(|line| line.starts_with("///") || line.starts_with("#["));
            found += 1;
            if !docs.into_iter().any(|line| line.starts_with("/// ```")) {
                missing.push(format!("{}:{}: {line}", file.display(), i + 1));
            }
        }
    }
    assert!(found > 180, "only {found} items were found");
    assert!(missing.is_empty(), "no example for\n{}", missing.join("\n"));
}

fn is_public_item(line: &str, before: &[&str]) -> bool {
    let kinds = ["const", "fn", "struct", "enum", "trait", "type"];
    let is_macro = line.starts_with("macro_rules!") && before.last().is_some_and(|last| *last == "#[macro_export]");
    is_macro
        || line.strip_prefix("pub ").is_some_and(|rest| kinds.iter().any(|kind| rest.split(' ').next() == Some(kind)))
}

/// All source files of a folder and of the folders in it.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => sources(&path, files),
            false => files.push(path),
        }
    }
}
