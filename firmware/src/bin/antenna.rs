//! Tunes the antenna matching network and logs every measurement.
//!
//! The same physics, tuner, seed and budget as the host's demo. Ends with exit code 0 if the best standing wave
//! ratio found is within [`FACTOR`] of the best there is, which brute force over all states tells.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use defmt::{error, info};
use static_cell::ConstStaticCell;
use trimtab::{Config, Error};
use trimtab_firmware::antenna::{AntennaTuner, Network, Parts, Topology, space};
use trimtab_firmware::device;

/// Measurements that may be made.
const BUDGET: usize = 120;
const SEED: u64 = 1;
/// How far above the best possible SWR counts as tuned.
const FACTOR: f32 = 1.1;

/// All zero, so it takes RAM but no flash, and no stack at any time.
static TUNER: ConstStaticCell<AntennaTuner> = ConstStaticCell::new(AntennaTuner::new());

#[entry]
fn main() -> ! {
    match tune() {
        Ok(is_tuned) => device::exit(is_tuned),
        Err(error) => {
            error!("{}", error);
            device::exit(false)
        }
    }
}

/// Tunes and reports; whether the result is good enough.
fn tune() -> Result<bool, Error> {
    let network = Network::default();
    let (r, x, mhz) = (network.resistance(), network.reactance(), network.frequency() / 1e6);
    info!(
        "load {=f32} ohm resistance, {=f32} ohm reactance at {=f32} MHz: SWR {=f32}",
        r,
        x,
        mhz,
        rounded(network.unmatched_swr())
    );

    let tuner = TUNER.take();
    tuner.init(space(), Config::default(), SEED)?;
    for measurement in 1..=BUDGET {
        let c = tuner.ask()?.combination;
        let parts = Parts::of(&c);
        tuner.tell(&c, network.cost(&c))?;
        info!(
            "{=usize} of {=usize}: inductors {=u8:07b}, capacitors {=u8:07b} on the {=str}, SWR {=f32}",
            measurement,
            BUDGET,
            parts.inductor_code,
            parts.capacitor_code,
            side(parts.topology),
            rounded(network.swr(&c)),
        );
    }

    let (Some(found), Some(optimum)) = (tuner.best_observed(), network.optimum(tuner.space())) else {
        return Ok(false);
    };
    let (found, optimum) = (network.swr(&found.combination), network.swr(&optimum));
    let states = tuner.space().cardinality() as u32;
    info!("best found: SWR {=f32} after {=usize} measurements of {=u32} states", rounded(found), BUDGET, states);
    info!("best there is: SWR {=f32}, by brute force", rounded(optimum));
    info!("tuner: {=usize} bytes, stack: {=usize} bytes", size_of::<AntennaTuner>(), device::most_stack());
    let is_tuned = found <= FACTOR * optimum;
    if !is_tuned {
        error!("not tuned: the best found is more than {=f32} times the best there is", FACTOR);
    }
    Ok(is_tuned)
}

fn side(topology: Topology) -> &'static str {
    match topology {
        Topology::LoadSide => "load side",
        Topology::SourceSide => "source side",
    }
}

/// To two digits after the point, for people.
fn rounded(x: f32) -> f32 {
    if x < 1e6 { (x * 100.0 + 0.5) as u32 as f32 / 100.0 } else { x }
}
