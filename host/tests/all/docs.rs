//! Every block of shell in README and docs works: it is run here as it stands or with smaller
//! numbers, or another test runs it, which the list names. Every table of numbers names a command.
//!
//! `cli.rs` parses every `trimtab` command of these blocks, `xtask` every `cargo xtask` and `cargo qemu`.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{Folder, text};

#[allow(dead_code, unreachable_pub)]
#[path = "../../../tests/src/docs.rs"]
mod pages;

/// What becomes of a block.
enum How {
    /// Run by a shell, after these replacements: each must have something to replace.
    Run(&'static [(&'static str, &'static str)]),
    /// This test runs it, or builds and runs the same.
    By(&'static str),
    /// Nobody can run it here, for this reason.
    Not(&'static str),
}
use How::{By, Not, Run};

/// Each block by its page and the beginning of its text.
const BLOCKS: &[(&str, &str, How)] = &[
    ("README.md", "cargo run --release", Run(&[("cargo run --release", "trimtab"), ("cargo xtask test", ":")])),
    ("README.md", "cargo install", Run(&[("cargo install --path host", ":")])),
    ("core/README.md", "cargo run --example amplifier", By("it_finds_the_best_of_all")),
    (
        "firmware/docs/boards.md",
        "cargo qemu fetch",
        By("fetch_runs_on_both_machines_and_counts_the_same_whatever_the_setting"),
    ),
    (
        "firmware/docs/boards.md",
        "cargo xtask flash",
        Not("needs a board; the parts of the command are tested in flash.rs"),
    ),
    ("firmware/docs/boards.md", "cargo build", Not("the build by the test of boards; the rest needs a board")),
    ("firmware/docs/fleet.md", "trimtab watch", Not("needs a board; the test of watch has a pseudo-terminal")),
    ("firmware/docs/fleet.md", "trimtab learn board", By("boards_teach_the_next_one")),
    ("firmware/docs/fleet.md", "trimtab learn --add", By("boards_teach_the_next_one")),
    ("firmware/docs/guide.md", "cargo xtask new", By("a_copy_of_the_template_is_formatted_builds_and_runs")),
    ("firmware/docs/survival.md", "mkdir", By("a_cut_run_ends_as_it_does_here")),
    ("firmware/template/README.md", "rustup target add", By("a_copy_of_the_template_is_formatted_builds_and_runs")),
    (
        "host/docs/bench.md",
        "trimtab list",
        Run(&[("--problem ising", "--problem board"), ("--seeds 5", "--seeds 1 --budget 2")]),
    ),
    (
        "host/docs/bench.md",
        "trimtab bench --problem board,bqp --method trimtab,heat,local-search,random --noise",
        Run(&[("--out", "--seeds 1 --budget 2 --out")]),
    ),
    (
        "host/docs/bench.md",
        "trimtab bench --problem board,bqp --method trimtab,heat,local-search,random --fail",
        Run(&[("--out", "--seeds 1 --budget 2 --out")]),
    ),
    ("host/docs/fleet.md", "trimtab learn", By("boards_teach_the_next_one")),
    ("host/docs/limits.md", "#!/bin/sh", By("the_examples_of_the_documentation_are_what_comes_out")),
    ("host/docs/limits.md", "trimtab tune", By("the_examples_of_the_documentation_are_what_comes_out")),
    ("host/docs/many.md", "trimtab tune", By("a_rack_of_boards_over_ssh")),
    ("host/docs/many.md", "BOARDS=", By("rounds_of_gnu_parallel")),
    ("host/docs/many.md", "seq 0 15", By("a_race_over_gnu_parallel")),
    ("host/docs/many.md", "sbatch --wait bench.sbatch", By("a_race_by_slurm_with_a_worker_killed")),
    ("host/docs/many.md", "sbatch --wait tune.sbatch", By("a_run_by_slurm_with_a_measurement_lost")),
    ("host/docs/many.md", "sbatch --wait host", By("the_paper_by_slurm")),
    (
        "host/docs/paper/claims.md",
        "trimtab bench --problem bqp,ising",
        Run(&[("--seeds 10 --budget 200", "--seeds 1 --budget 2")]),
    ),
    ("host/docs/paper/claims.md", "trimtab bench", Run(&[("--seeds 10 --budget 100", "--seeds 1 --budget 2")])),
    ("host/docs/paper/tables.md", "cargo xtask paper", Not("takes hours")),
    ("host/docs/python.md", "pip install", Not("a build of minutes; the next block tests the same package")),
    ("host/docs/python.md", "cargo xtask python", Not("a step of `cargo xtask test` of its own")),
    (
        "host/docs/quality.md",
        "trimtab bench --problem all --method trimtab,",
        Run(&[("--seeds 12", "--seeds 1 --budget 2")]),
    ),
    (
        "host/docs/quality.md",
        "trimtab bench --problem all --first-seed",
        Run(&[("--seeds 40", "--seeds 1 --budget 2")]),
    ),
    (
        "host/docs/quality.md",
        "trimtab bench --problem bqp,ising,contamination",
        Run(&[("--seeds 6", "--seeds 1 --budget 2")]),
    ),
    ("host/docs/quality.md", "trimtab bench --problem mixed", Run(&[("--seeds 12", "--seeds 1 --budget 2")])),
    ("host/docs/quality.md", "trimtab bench --problem bqp,antenna", Run(&[("--seeds 12", "--seeds 1 --budget 2")])),
    (
        "host/docs/quality.md",
        "trimtab bench --problem all --method trimtab ",
        Run(&[("--seeds 20", "--seeds 1 --budget 2")]),
    ),
    ("host/docs/quality.md", "trimtab bench --problem bqp,ising", Run(&[("--seeds 20", "--seeds 1 --budget 2")])),
    ("host/docs/real.md", "cd target/real/zlib", Run(&[])),
    ("host/docs/real.md", "cd target/real/sqlite", Run(&[])),
    ("host/docs/real.md", "cargo xtask bench real", Not("takes hours; `cargo xtask test` runs it with --quick")),
    ("host/docs/tune.md", "trimtab tune --knob opt=O1,O2,O3,Os", Run(&[("run.jsonl", "gain.jsonl")])),
    ("host/docs/tune.md", "#!/bin/sh\n# opt,", By("the_example_of_the_documentation_works")),
    ("host/docs/tune.md", "trimtab tune --knob opt=O0", By("the_example_of_the_documentation_works")),
    ("host/docs/tune.md", "trimtab report", By("the_example_of_the_documentation_works")),
    ("host/docs/tune.md", "#!/bin/sh\n# The n-th", By("the_noisy_example_of_the_documentation_is_what_comes_out")),
    ("host/docs/tune.md", "echo 1 > count", By("the_noisy_example_of_the_documentation_is_what_comes_out")),
    ("host/docs/tune.md", "#!/bin/sh\ncase", By("the_example_with_an_idle_knob_is_what_comes_out")),
    ("host/docs/tune.md", "trimtab tune --knob unroll=off", By("the_example_with_an_idle_knob_is_what_comes_out")),
    ("host/docs/watch.md", "cargo qemu antenna --uart", By("watch_shows_the_demo_and_replay_repeats_it")),
    ("host/docs/watch.md", "trimtab watch /dev", Not("needs a board; the test of watch has a pseudo-terminal")),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What a block expects to find: a command that measures, and what `bench real --prepare` leaves.
fn prepare(page: &str) -> Folder {
    let folder = Folder::new(&format!("docs-{}", page.replace(['/', '.'], "-")));
    let measure = "echo $((${#1} * 10 + ${2:-0} + ${3:-0} % 7))\n";
    fs::write(folder.0.join("measure.sh"), format!("#!/bin/sh\n{measure}")).unwrap();
    let program = Command::new("chmod").args(["+x", "measure.sh"]).current_dir(&folder.0).status();
    assert!(program.unwrap().success());
    // The real spaces, with a stand-in for what takes a second per measurement.
    for (example, script) in [("zlib", "measure.sh"), ("sqlite", "decibel.sh")] {
        let real = folder.0.join("target/real").join(example);
        fs::create_dir_all(&real).unwrap();
        let space = root().join("host/docs/examples").join(example).join("space.toml");
        fs::copy(space, real.join("space.toml")).unwrap();
        fs::write(real.join(script), "[ $# -ge 14 ] && echo $(($(echo \"$*\" | cksum | cut -c1-4) + 1))\n").unwrap();
    }
    folder
}

#[test]
fn shell_in_the_docs_works() {
    let mut folders: HashMap<String, Folder> = HashMap::new();
    let program = Path::new(env!("CARGO_BIN_EXE_trimtab")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let (sources, mut used) = (sources(&root()), vec![false; BLOCKS.len()]);
    for block in pages::blocks(&root()).unwrap() {
        let is_it = |(page, begin, _): &(&str, &str, How)| *page == block.page && block.text.starts_with(begin);
        let place = BLOCKS.iter().position(is_it);
        let place = place.unwrap_or_else(|| panic!("{}: nothing tests this:\n{}", block.page, block.text));
        used[place] = true;
        let replacements = match BLOCKS[place].2 {
            Run(replacements) => replacements,
            By(test) => {
                assert!(sources.contains(&format!("fn {test}(")), "{}: there is no test {test}", block.page);
                continue;
            }
            Not(why) => {
                eprintln!("{}: not run, {why}: {}", block.page, BLOCKS[place].1);
                continue;
            }
        };
        let mut shell = block.text.clone();
        for (from, to) in replacements {
            assert!(shell.contains(from), "{}: no {from} in\n{shell}", block.page);
            shell = shell.replace(from, to);
        }
        // A reader stays in one folder.
        let folder = folders.entry(block.page.clone()).or_insert_with(|| prepare(&block.page));
        let mut command = Command::new("sh");
        command.args(["-eu", "-c", &shell]).current_dir(&folder.0).env("PATH", &path).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}:\n{shell}\n{}", block.page, text(&output.stderr));
    }
    let unused: Vec<_> = BLOCKS.iter().zip(&used).filter(|(_, used)| !**used).map(|(entry, _)| entry.1).collect();
    assert!(unused.is_empty(), "no page has these any more: {unused:?}");
    for (page, made) in [
        ("README.md", "out/antenna.svg"),
        ("README.md", "run.html"),
        ("host/docs/bench.md", "runs/report.html"),
        ("host/docs/real.md", "target/real/zlib/run.html"),
    ] {
        assert!(folders[page].0.join(made).is_file(), "{page}: no {made}");
    }
}

/// The session that serve.md shows: every message and its answer.
#[test]
fn the_session_of_serve_is_what_comes_out() {
    let docs = fs::read_to_string(root().join("host/docs/serve.md")).unwrap();
    let session = docs.split_once("    $ trimtab serve\n").unwrap().1.split_once("\n\n").unwrap().0;
    let (messages, answers): (Vec<_>, Vec<_>) =
        session.lines().map(str::trim).partition(|line| line.starts_with("{\"op\""));
    assert_eq!((messages.len(), answers.len()), (3, 3));
    let folder = Folder::new("docs-serve");
    let mut command = folder.command(&["serve"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all((messages.join("\n") + "\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output.stdout).lines().collect::<Vec<_>>(), answers);
}

/// The text of all tests.
fn sources(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
            all += &sources(&path);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            all += &fs::read_to_string(&path).unwrap();
        }
    }
    all
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
    for page in
        ["README.md", "host/docs/many.md", "host/docs/quality.md", "host/docs/paper/claims.md", "host/docs/real.md"]
    {
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
