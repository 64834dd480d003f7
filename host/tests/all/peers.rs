//! A part of the table of our methods beside other people's that takes a few seconds:
//! `cargo xtask bench peers` has the whole.

use crate::common::Folder;
use crate::rivals::{Theirs, compare, table};

/// Whether a run is in the short table. Fast methods are there on every problem, slow ones on some.
fn is_wanted(run: &Theirs) -> bool {
    match run.method.as_str() {
        "random" | "local-search" | "annealing" | "tpe" | "cbo-lookup-d10" => true,
        "smac" => run.problem == "bqp10" || run.problem == "thumbsup20",
        "bocs-sa" | "bocs-sdp" | "combo" => run.problem == "bqp10" && run.seed == 0,
        "casmopolitan" => run.problem == "ising24",
        "bodi" => run.at < 100,
        _ => false,
    }
}

#[test]
fn methods_reach_what_other_implementations_reach() {
    let folder = Folder::new("peers");
    let rows = compare(&folder.0, 1, is_wanted);
    println!("{}", table(&rows));
    assert!(rows.len() > 30, "{} rows", rows.len());
    let missed: Vec<_> = rows.into_iter().filter(|row| !row.is_within()).collect();
    assert!(missed.is_empty(), "\n{}", table(&missed));
}
