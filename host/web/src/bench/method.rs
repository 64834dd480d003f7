//! Random search and 1-step local search, from the host's files.

#[path = "../../../src/bench/method/descent.rs"]
#[allow(dead_code)]
mod descent;
#[path = "../../../src/bench/method/random.rs"]
#[allow(dead_code)]
mod random;

use trimtab::{Knob, Level};

use crate::error::Error;

pub(crate) use descent::DESCENT;
pub(crate) use random::RANDOM;

/// As in the host: what a method falls back to.
const DRAW: &str = "a random combination that was not measured";

/// As in the host: proposes combinations and learns from their costs.
pub(crate) trait Method {
    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error>;
    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error>;
    #[allow(dead_code)]
    fn fallbacks(&self) -> usize {
        0
    }
}

/// As in the host: what a method is started with.
pub(crate) struct Task<'a> {
    pub(crate) knobs: &'a [Knob],
    pub(crate) seed: u64,
}

/// As in the host: a method and how it starts.
#[allow(dead_code)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) source: &'static str,
    pub(crate) fallback: &'static str,
    pub(crate) start: fn(&Task<'_>) -> Result<Box<dyn Method>, Error>,
}
