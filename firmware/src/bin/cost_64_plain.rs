//! Counts instructions of `ask` and `tell`: 64 observations, 256 rows, no projection.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use static_cell::ConstStaticCell;
use trimtab_firmware::device::Meter;
use trimtab_firmware::relays::{KNOBS, cost, space};

type Plain = trimtab::tuner!(KNOBS, observations: 64, rows: 256);
type PlainCache = trimtab::tuner_cache!(KNOBS, observations: 64, rows: 192);

static PLAIN: ConstStaticCell<(Plain, PlainCache)> = ConstStaticCell::new((Plain::new(), PlainCache::new()));

#[entry]
fn main() -> ! {
    Meter::measure(|meter| {
        let (tuner, cache) = PLAIN.take();
        meter.run("plain", &space()?, cost, tuner, Some(cache))
    })
}
