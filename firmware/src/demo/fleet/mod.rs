//! A fleet of antenna tuners: three boards of it, and one that is strange.
//!
//! The prior was learned from 100 simulated boards with parts within 5 % and antennas within 15 % of
//! 35 − j120 Ω: `trimtab fleet-bench --only antenna --rust firmware/src/demo/fleet/prior.rs` writes it.
//! These boards have perfect parts and antennas within that range; the strange one has another antenna.

mod prior;

use crate::antenna::{KNOBS, Network, NetworkError};

pub use prior::PRIOR;

/// The tuner of a board on the line.
pub type FleetTuner = trimtab::tuner!(KNOBS, observations: 48, rows: 256, prior);

/// Measurements that a board may take.
pub const BUDGET: usize = 48;
/// A board is tuned at this multiple of its lowest SWR.
pub const TOLERANCE: f32 = 1.05;

/// Resistance and reactance in ohm; the last one is strange.
const LOADS: [(f32, f32); 4] = [(33.0, -128.0), (38.5, -108.0), (31.5, -114.0), (90.0, 60.0)];

/// The boards that come down the line.
pub fn boards() -> impl Iterator<Item = Result<Network, NetworkError>> {
    LOADS.into_iter().map(|(resistance, reactance)| Network::new(resistance, reactance, 7.1e6))
}
