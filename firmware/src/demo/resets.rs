//! A tuner that is reset again and again while it keeps its log in real flash.
//!
//! The image `resets` runs it on the flash controller of QEMU's microbit, and resets the chip after
//! every few measurements. The PC runs it once, without a reset: both ends must have the same bits.

use trimtab::{Combination, Config, Knob, Space, SpaceError, WhenFull};
use trimtab_embedded::persistent::Task;

/// The knobs.
pub const KNOBS: [Knob; 6] =
    [Knob::nominal(2), Knob::ranked(8), Knob::nominal(4), Knob::nominal(2), Knob::ranked(5), Knob::nominal(3)];

/// Its tuner.
pub type ResetTuner = trimtab::tuner!(KNOBS, observations: 24, rows: 24);

/// Records that fill a page: three of four pages hold all observations.
pub const RECORDS: u16 = 8;
/// Outcomes of a run: the ring is full after 32, so it drops pages.
pub const BUDGET: u32 = 60;
/// Outcomes between resets.
pub const BETWEEN: u32 = 7;

/// The task.
pub fn task() -> Result<Task<6>, SpaceError> {
    let config = Config { when_full: WhenFull::ForgetOldest, ..Config::default() };
    Ok(Task { space: Space::new(&KNOBS)?, config, seed: 5, meaning: 0 })
}

/// The cost, or `None`: a third of all combinations fail.
pub fn measure(c: &Combination<6>) -> Option<f32> {
    let target = [1.0, 5.0, 2.0, 0.0, 1.0, 2.0];
    let cost = c.levels().iter().zip(target).map(|(level, target)| (f32::from(*level) - target).abs()).sum();
    (c.level(1) > 0 && c.level(2) != 3).then_some(cost)
}
