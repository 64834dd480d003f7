//! Counts instructions of `ask` and `tell`, whole and in slices: 64 observations, 256 rows.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use static_cell::ConstStaticCell;
use trimtab::Tuner;
use trimtab_firmware::device::Meter;
use trimtab_firmware::relays::{KNOBS, RelayCache, RelayTuner, cost, space};

static RELAYS: ConstStaticCell<(RelayTuner, RelayCache)> = ConstStaticCell::new((RelayTuner::new(), RelayCache::new()));
static LIMITED: ConstStaticCell<trimtab::tuner!(KNOBS, observations: 64, rows: 256, limits: 2)> =
    ConstStaticCell::new(Tuner::new());

#[entry]
fn main() -> ! {
    Meter::measure(|meter| {
        let (tuner, cache) = RELAYS.take();
        meter.run("relays", &space()?, cost, tuner, Some(cache))?;
        meter.slices("relays", &space()?, cost, tuner, cache)?;
        meter.limited_slices("relays", &space()?, cost, LIMITED.take())
    })
}
