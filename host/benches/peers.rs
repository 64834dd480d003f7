//! The whole table of our methods beside other people's: `cargo xtask bench peers`.
//!
//! Three runs of ours per run of theirs. It fails if a row misses its margin, which
//! `host/tests/peers` states.

#[path = "../tests/peers/mod.rs"]
mod peers;

use std::process::ExitCode;

fn main() -> ExitCode {
    // `cargo test --benches` only checks that it runs.
    let is_test = !std::env::args().any(|word| word == "--bench");
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let is_wanted = |run: &peers::Theirs| !is_test || (run.method == "local-search" && run.problem == "bqp10");
    let rows = peers::compare(&folder, if is_test { 1 } else { 3 }, is_wanted);
    print!("{}", peers::table(&rows));
    let missed = rows.iter().filter(|row| !row.is_within()).count();
    println!("\n{} of {} rows are within their margin", rows.len() - missed, rows.len());
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
