//! Counts instructions of `ask` and `tell`: 128 observations, 256 rows; and of the antenna.
//!
//! The caches need more than the 128 KB of an STM32F405, so they are measured on `mps2-an386`.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use static_cell::ConstStaticCell;
use trimtab_firmware::antenna::{self, AntennaTuner, Network};
use trimtab_firmware::device::Meter;
use trimtab_firmware::relays::{KNOBS, cost, space};

type Projected = trimtab::tuner!(KNOBS, observations: 128, rows: 256, dimensions: 16);
type ProjectedCache = trimtab::tuner_cache!(KNOBS, observations: 128, rows: 192, dimensions: 16);
type AntennaCache = trimtab::tuner_cache!(antenna::KNOBS, observations: antenna::OBSERVATIONS, rows: 192);

static PROJECTED: ConstStaticCell<Projected> = ConstStaticCell::new(Projected::new());
static ANTENNA: ConstStaticCell<AntennaTuner> = ConstStaticCell::new(AntennaTuner::new());

/// The caches, on a machine with room for them.
#[cfg(feature = "mps2-an386")]
fn caches() -> (Option<&'static mut ProjectedCache>, Option<&'static mut AntennaCache>) {
    static CACHES: ConstStaticCell<(ProjectedCache, AntennaCache)> =
        ConstStaticCell::new((ProjectedCache::new(), AntennaCache::new()));
    let (projected, antenna) = CACHES.take();
    (Some(projected), Some(antenna))
}

#[cfg(not(feature = "mps2-an386"))]
fn caches() -> (Option<&'static mut ProjectedCache>, Option<&'static mut AntennaCache>) {
    (None, None)
}

#[entry]
fn main() -> ! {
    Meter::measure(|meter| {
        let (projected, antenna) = caches();
        meter.run("relays", &space()?, cost, PROJECTED.take(), projected)?;
        let network = Network::default();
        meter.run("antenna", &antenna::space(), |c| network.cost(c), ANTENNA.take(), antenna)
    })
}
