//! An antenna matching network, tuned by relays: the demo of the host and of the chip.
//!
//! [`Network`] is the physics, [`Parts`] the relay banks, [`Bench`] both as an objective, and
//! [`Station`] the product around it: the log in flash, the watchdog, the stream.

use trimtab::{Combination, Config, Knob, Scale, Space, WhenFull};

pub use bank::{
    CAPACITANCE_PF, CAPACITORS_PF, INDUCTANCE_NH, INDUCTORS_NH, LEVELS, Parts, RELAYS, STRAY_NH, STRAY_PF, Topology,
};
pub use bench::Bench;
pub use network::{Network, NetworkError, SOURCE_OHM, cost_of_reading, swr_of_cost};
pub use station::{Station, Step, TOLERANCE};

use trimtab_embedded::persistent::{Persistent, Task};

mod bank;
mod bench;
mod complex;
mod network;
mod station;
#[cfg(test)]
mod tests;

/// The three knobs: inductor bank, capacitor bank, topology.
///
/// Linear, because with exact measurements that found the best state more often than a logarithmic
/// scale: `trimtab antenna-bench` prints both.
pub const KNOBS: [Knob; 3] = knobs(Scale::Linear);

/// Their names.
pub const NAMES: [&str; 3] = ["inductor", "capacitor", "topology"];

/// Measurements that the tuner keeps.
pub const OBSERVATIONS: usize = 128;

/// Rows of its lookup table.
pub const ROWS: usize = 256;

/// The tuner of the demo, the same type on the host and on the chip.
pub type AntennaTuner = trimtab::tuner!(KNOBS, observations: OBSERVATIONS, rows: ROWS);

/// That tuner with its log in flash.
pub type AntennaKept<'t, F> = Persistent<
    't,
    F,
    { KNOBS.len() },
    { trimtab::sizes::graded_levels(&KNOBS) },
    0,
    OBSERVATIONS,
    ROWS,
    { trimtab::sizes::triangle(OBSERVATIONS) },
>;

/// The three knobs with the banks on a given scale, to compare the two.
pub const fn knobs(scale: Scale) -> [Knob; 3] {
    [Knob::graded(&INDUCTANCE_NH, scale), Knob::graded(&CAPACITANCE_PF, scale), Knob::nominal(2)]
}

/// All 32 768 states of the network.
///
/// ```
/// assert_eq!(trimtab_firmware::antenna::space().cardinality(), 32_768);
/// ```
pub fn space() -> Space<3> {
    match Space::new(&KNOBS) {
        Ok(space) => space,
        // The knobs are constants, and the tests make this call.
        Err(_) => unreachable!(),
    }
}

/// The task of both images: seed 1, and the oldest observation makes room when the tuner is full.
pub fn task() -> Task<3> {
    let config = Config { when_full: WhenFull::ForgetOldest, ..Config::default() };
    Task { space: space(), config, seed: 1, meaning: 0 }
}

/// A state as one number, by which the watchdog names a measurement.
pub fn number(c: &Combination<3>) -> u32 {
    // There are only 32 768 states.
    space().index(c) as u32
}

/// Rounds a standing wave ratio to two decimals, for logs.
pub fn rounded(swr: f32) -> f32 {
    if swr < 1e6 { (swr * 100.0 + 0.5) as u32 as f32 / 100.0 } else { swr }
}
