//! Counts instructions of `ask` and `tell`, whole and in slices: 64 observations, 256 rows.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use static_cell::ConstStaticCell;
use trimtab_firmware::device::Meter;
use trimtab_firmware::relays::{RelayCache, RelayTuner, cost, space};

static RELAYS: ConstStaticCell<(RelayTuner, RelayCache)> = ConstStaticCell::new((RelayTuner::new(), RelayCache::new()));

#[entry]
fn main() -> ! {
    Meter::measure(|meter| {
        let (tuner, cache) = RELAYS.take();
        meter.run("relays", &space()?, cost, tuner, Some(cache))?;
        meter.slices("relays", &space()?, cost, tuner, cache)
    })
}
