//! Long random runs: any sequence of calls, any power cut.
//!
//! `cargo xtask soak --operations 1000000` and `cargo xtask soak --boots 100000` run as many as one
//! has patience for; plain `cargo test` runs a short, seeded part of the same.

mod boots;
mod checks;
mod draw;
mod operations;
mod refit;

use std::time::{Duration, Instant};

/// A number from the environment, or this one. `cargo xtask soak` sets them.
fn setting(name: &str, otherwise: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")),
        Err(_) => otherwise,
    }
}

/// A line of progress every two seconds.
struct Progress {
    begin: Instant,
    last: Instant,
    of: u64,
    what: &'static str,
}

impl Progress {
    fn new(of: u64, what: &'static str) -> Self {
        Self { begin: Instant::now(), last: Instant::now(), of, what }
    }

    fn at(&mut self, done: u64) {
        if self.last.elapsed() >= Duration::from_secs(2) {
            self.last = Instant::now();
            let (seconds, done) = (self.begin.elapsed().as_secs_f64(), done.min(self.of));
            let left = seconds / done.max(1) as f64 * (self.of - done) as f64;
            eprintln!("{done} of {} {}, {seconds:.0} s, about {left:.0} s left", self.of, self.what);
        }
    }
}

/// Says how to repeat a run that panics.
struct Repeat<'a> {
    seed: u64,
    command: &'a str,
}

impl Drop for Repeat<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}; again: cargo xtask soak {} --seed {}", self.seed, self.command, self.seed);
        }
    }
}
