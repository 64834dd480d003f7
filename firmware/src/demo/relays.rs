//! The reference problem: 24 relays, on which budgets of memory and time are stated.
//!
//! cost(b) = Σ wᵢ·bᵢ + Σ vᵢ·bᵢ·bᵢ₊₁ with small integer weights: quadratic, so the effect of a relay
//! depends on its neighbour.
//!
//! | name | meaning | value |
//! |---|---|---|
//! | K | relays, two levels each | 24 |
//! | T | most observations | 64 |
//! | L | rows of the table | 256, of which 128 are candidates |
//!
//! **Choices**
//! - 2²⁴ combinations are far more than the table has rows, so it is filled by sweeps.
//! - The cost is exact in f32 and cheap, so a measurement shows the tuner alone.

use trimtab::settings::Defaults;
use trimtab::{Combination, Knob, Space, SpaceError};

/// Number of relays.
pub const RELAYS: usize = 24;

/// Most observations of the tuner.
pub const OBSERVATIONS: usize = 64;

/// The knobs.
pub const KNOBS: [Knob; RELAYS] = [Knob::nominal(2); RELAYS];

/// The tuner of the stated sizes.
pub type RelayTuner = trimtab::tuner!(KNOBS, observations: OBSERVATIONS, rows: 256);

/// The same as small as it gets: one combination at a time, and the default configuration fixed, so that what
/// batches and other configurations need is not linked.
pub type Smallest = trimtab::tuner!(KNOBS, observations: OBSERVATIONS, rows: 256, pending: 1, config: Defaults);

/// A cache for incremental asks: all its candidates, half as many as the tuner has rows.
pub type RelayCache = trimtab::tuner_cache!(KNOBS, observations: OBSERVATIONS, rows: 256);

/// The space of all 2²⁴ combinations.
pub fn space() -> Result<Space<RELAYS>, SpaceError> {
    Space::new(&KNOBS)
}

/// The cost of a combination: smaller is better.
///
/// ```
/// use trimtab_firmware::relays::{cost, space};
/// let space = space()?;
/// assert_eq!(cost(&space.combination(&[0; 24])?), 0.0);
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
pub fn cost(c: &Combination<RELAYS>) -> f32 {
    let levels = c.levels();
    let single = levels.iter().enumerate().map(|(i, b)| weight(i) * f32::from(*b));
    let pairs = levels.iter().zip(levels.iter().skip(1)).enumerate();
    let coupled = pairs.map(|(i, (a, b))| weight(i + RELAYS) * f32::from(a & b));
    single.chain(coupled).sum()
}

/// Integers from −5 to 5 without a visible pattern.
fn weight(i: usize) -> f32 {
    ((i * i * 7 + i * 3 + 4) % 11) as f32 - 5.0
}
