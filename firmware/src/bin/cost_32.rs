//! Counts instructions of `ask` and `tell`: 32 observations, 64 rows, projected and not.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use static_cell::ConstStaticCell;
use trimtab_firmware::device::Meter;
use trimtab_firmware::relays::{KNOBS, cost, space};

type Projected = trimtab::tuner!(KNOBS, observations: 32, rows: 64, dimensions: 8);
type ProjectedCache = trimtab::tuner_cache!(KNOBS, observations: 32, rows: 32, dimensions: 8);
type Plain = trimtab::tuner!(KNOBS, observations: 32, rows: 64);
type PlainCache = trimtab::tuner_cache!(KNOBS, observations: 32, rows: 32);

static PROJECTED: ConstStaticCell<(Projected, ProjectedCache)> =
    ConstStaticCell::new((Projected::new(), ProjectedCache::new()));
static PLAIN: ConstStaticCell<(Plain, PlainCache)> = ConstStaticCell::new((Plain::new(), PlainCache::new()));

#[entry]
fn main() -> ! {
    Meter::measure(|meter| {
        let (tuner, cache) = PROJECTED.take();
        meter.run("relays", &space()?, cost, tuner, Some(cache))?;
        let (tuner, cache) = PLAIN.take();
        meter.run("plain", &space()?, cost, tuner, Some(cache))
    })
}
