//! Counts instructions of `ask` and `tell`: 128 observations, 256 candidates; and of the antenna.
//!
//! The caches need more than the 128 KB of an STM32F405, so they are measured on `mps2-an386`.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use static_cell::ConstStaticCell;
use trimtab_firmware::antenna::{self, AntennaTuner, Network};
use trimtab_firmware::device::Meter;
use trimtab_firmware::relays::{KNOBS, cost, space};

type Large = trimtab::tuner!(KNOBS, observations: 128, rows: 256);
type LargeCache = trimtab::tuner_cache!(KNOBS, observations: 128, rows: 256);
type AntennaCache = trimtab::tuner_cache!(antenna::KNOBS, observations: antenna::OBSERVATIONS, rows: 256);

static LARGE: ConstStaticCell<Large> = ConstStaticCell::new(Large::new());
static ANTENNA: ConstStaticCell<AntennaTuner> = ConstStaticCell::new(AntennaTuner::new());

/// The caches, on a machine with room for them.
#[cfg(feature = "mps2-an386")]
fn caches() -> (Option<&'static mut LargeCache>, Option<&'static mut AntennaCache>) {
    static CACHES: ConstStaticCell<(LargeCache, AntennaCache)> =
        ConstStaticCell::new((LargeCache::new(), AntennaCache::new()));
    let (large, antenna) = CACHES.take();
    (Some(large), Some(antenna))
}

#[cfg(not(feature = "mps2-an386"))]
fn caches() -> (Option<&'static mut LargeCache>, Option<&'static mut AntennaCache>) {
    (None, None)
}

#[entry]
fn main() -> ! {
    Meter::measure(|meter| {
        let (large, antenna) = caches();
        meter.run("relays", &space()?, cost, LARGE.take(), large)?;
        let network = Network::default();
        meter.run("antenna", &antenna::space(), |c| network.cost(c), ANTENNA.take(), antenna)
    })
}
