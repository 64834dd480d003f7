//! What core depends on, as its README says.

use std::process::Command;

use trimtab_tests::{golden, root};

/// The tree without optional packages, as cargo prints it for a chip.
fn tree() -> String {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", "trimtab", "--edges", "normal", "--target", "thumbv7em-none-eabihf"])
        .args(["--charset", "utf8", "--format", "{p}", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    // The first line ends with the folder.
    let lines = text.lines().map(|line| line.split(" (").next().unwrap_or(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn the_readme_has_the_tree_of_dependencies() {
    let path = root().join("core/README.md");
    let page = std::fs::read_to_string(&path).expect("core has a README");
    let (before, rest) = page.split_once("```text\ntrimtab v").expect("the README has the tree");
    let (_, after) = rest.split_once("```\n").expect("the tree ends");
    let expected = format!("{before}```text\n{}```\n{after}", tree());
    if std::env::var_os(golden::REWRITE).is_some_and(|value| !value.is_empty()) {
        std::fs::write(&path, &expected).expect("the README can be written");
    }
    assert!(page == expected, "core/README.md has an old tree; run this test with {}=1", golden::REWRITE);
}
