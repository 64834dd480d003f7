//! What is tuned, what a boot found, and what became of a record.

use trimtab::{Config, Space};

use crate::journal::{Found, Trouble};

/// Boots that may end in the same measurement before it is given up.
pub const ENOUGH: u8 = 5;

/// What is tuned: everything that `Tuner::init` wants, and a number.
#[derive(Clone)]
pub struct Task<const K: usize> {
    /// The knobs.
    pub space: Space<K>,
    /// The configuration.
    pub config: Config,
    /// The seed.
    pub seed: u64,
    /// To be changed with what is measured or feasible: logs with another number are foreign.
    pub meaning: u32,
}

/// What a boot found, and made of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Boot {
    /// What was in the flash; none if it could not be looked at.
    pub found: Option<Found>,
    /// Records that were replayed.
    pub records: u32,
    /// Slots that could not be read, and records that the tuner refused.
    pub damaged: u32,
    /// How many boots came as far as measuring, and not to an outcome.
    pub begun: u8,
    /// Why the log cannot be kept; none if it can.
    pub trouble: Option<Trouble>,
}

impl Boot {
    /// Whether what is asked next was begun so often without an outcome that it should be told as failed.
    pub fn is_hopeless(&self) -> bool {
        self.begun >= ENOUGH
    }
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// It is in flash.
    Yes,
    /// It is in flash; the oldest page had to go, and the tuner was built again from what is left.
    OldestDropped,
    /// It is in RAM alone.
    No(Trouble),
}
