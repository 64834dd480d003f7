//! Tests of core through its public API, in one binary so that the tuner is compiled once.
//!
//! One part alone: `cargo test -p trimtab --test suite properties`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bad_input;
mod hardware;
mod large;
mod lemma;
mod limits;
mod model_based;
mod nearest;
mod paper;
mod prior;
mod properties;
mod reconstruction;
mod wide;
