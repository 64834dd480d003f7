//! The reference problem with graded knobs: 8 dials of 16 positions, beside the 24 relays.
//!
//! cost = Σ (xᵢ − wᵢ)² + Σ (xᵢ − wᵢ)·(xᵢ₊₁ − wᵢ₊₁), x from 0 to 15, w small integers:
//! every dial has an optimum inside its range that moves with its neighbours.

use trimtab::{Combination, Knob, Space, SpaceError};

/// Number of dials.
pub const DIALS: usize = 8;

/// The knobs.
pub const KNOBS: [Knob; DIALS] = [Knob::ranked(16); DIALS];

/// The tuner, with as many observations and rows as the one of the relays.
pub type DialTuner = trimtab::tuner!(KNOBS, observations: 64, rows: 256);

/// Its cache.
pub type DialCache = trimtab::tuner_cache!(KNOBS, observations: 64, rows: 256);

/// The space of all 2³² combinations.
pub fn space() -> Result<Space<DIALS>, SpaceError> {
    Space::new(&KNOBS)
}

/// The cost of a combination: smaller is better.
///
/// ```
/// use trimtab_firmware::demo::dials::{cost, space};
/// assert_eq!(cost(&space()?.combination(&[3, 8, 13, 2, 7, 12, 1, 6])?), 0.0);
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
pub fn cost(c: &Combination<DIALS>) -> f32 {
    let off = |i: usize| f32::from(c.level(i)) - ((3 + 5 * i) % 16) as f32;
    let own = (0..DIALS).map(|i| off(i) * off(i));
    own.chain((1..DIALS).map(|i| off(i - 1) * off(i))).sum()
}
