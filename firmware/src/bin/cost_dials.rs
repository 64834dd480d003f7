//! Counts instructions of `ask` and `tell`, whole and in slices, with graded knobs: 64 observations, 256
//! rows.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use static_cell::ConstStaticCell;
use trimtab_firmware::demo::dials::{DialCache, DialTuner, cost, space};
use trimtab_firmware::device::Meter;

static DIALS: ConstStaticCell<(DialTuner, DialCache)> = ConstStaticCell::new((DialTuner::new(), DialCache::new()));

#[entry]
fn main() -> ! {
    Meter::measure(|meter| {
        let (tuner, cache) = DIALS.take();
        meter.run("dials", &space()?, cost, tuner, Some(cache))?;
        meter.slices("dials", &space()?, cost, tuner, cache)
    })
}
