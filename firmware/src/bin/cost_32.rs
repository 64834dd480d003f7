//! Counts instructions of `ask` and `tell`: 32 observations, 64 candidates.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use static_cell::ConstStaticCell;
use trimtab_firmware::device::Meter;
use trimtab_firmware::relays::{KNOBS, cost, space};

type Small = trimtab::tuner!(KNOBS, observations: 32, rows: 64);
type SmallCache = trimtab::tuner_cache!(KNOBS, observations: 32, rows: 32);

static SMALL: ConstStaticCell<(Small, SmallCache)> = ConstStaticCell::new((Small::new(), SmallCache::new()));

#[entry]
fn main() -> ! {
    Meter::measure(|meter| {
        let (tuner, cache) = SMALL.take();
        meter.run("relays", &space()?, cost, tuner, Some(cache))
    })
}
