//! A part of the table of our methods beside other people's that takes a few seconds:
//! `cargo xtask bench peers` has the whole.

use crate::common::Folder;
use crate::rivals::{Theirs, compare, table};

/// Whether a run is in the short table: problems whose optimum is soon computed, and Ising once.
fn is_wanted(run: &Theirs) -> bool {
    match run.problem.as_str() {
        "bqp10" if ["bocs-sa", "bocs-sdp", "bodi", "combo"].contains(&run.method.as_str()) => run.seed == 0,
        "bqp10" | "thumbsup20" | "seesaw16" => run.method != "smac" || run.seed < 3,
        "ising24" => run.seed == 0 && ["casmopolitan", "tpe"].contains(&run.method.as_str()),
        _ => false,
    }
}

#[test]
fn methods_reach_what_other_implementations_reach() {
    let folder = Folder::new("peers");
    let rows = compare(&folder.0, 1, is_wanted);
    println!("{}", table(&rows));
    assert!(rows.len() >= 20, "{} rows", rows.len());
    let missed: Vec<_> = rows.into_iter().filter(|row| !row.is_within()).collect();
    assert!(missed.is_empty(), "\n{}", table(&missed));
}
