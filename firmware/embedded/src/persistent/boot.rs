//! A tuner's task, what a boot found, and where a record is stored.

use trimtab::{Config, Space};

use crate::journal::{Found, Trouble};

/// Boots that may end in the same measurement before it is given up.
pub const ENOUGH: u8 = 5;

/// Everything that `Tuner::init` takes, and a number for what the outcomes mean.
#[derive(Clone)]
pub struct Task<const K: usize> {
    /// The knobs.
    pub space: Space<K>,
    /// The configuration.
    pub config: Config,
    /// The seed.
    pub seed: u64,
    /// Change this number whenever the measurement or the feasibility rule changes: a log with
    /// another number counts as that of another tuner.
    pub meaning: u32,
}

/// What a boot found in the flash, and how far it used it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Boot {
    /// The content of the flash, or `None` if it could not be read.
    pub found: Option<Found>,
    /// Replayed records.
    pub records: u32,
    /// Damaged slots, pages without anything readable, and records that the tuner refused.
    pub damaged: u32,
    /// Boots since the last outcome that began a measurement and did not finish it, at most
    /// [`ENOUGH`].
    pub begun: u8,
    /// Why the log cannot be kept, or `None` if it can.
    pub trouble: Option<Trouble>,
}

impl Boot {
    /// Whether the next proposal was begun so often without an outcome that it should count as
    /// failed.
    pub fn is_hopeless(&self) -> bool {
        self.begun >= ENOUGH
    }
}

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Stored {
    /// In flash.
    Yes,
    /// In flash, and its page is full: [`prepare`](super::Persistent::prepare) erases the next one,
    /// or else the next ask or tell does.
    PageFull,
    /// In flash; the oldest page was dropped, and the tuner was rebuilt from the rest.
    OldestDropped,
    /// Only in RAM.
    No(Trouble),
}
