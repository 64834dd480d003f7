//! Counts instructions of `ask` and `tell` in slices under a prior: the antenna, 64 observations, 256 rows.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use static_cell::ConstStaticCell;
use trimtab::FleetPrior;
use trimtab_firmware::antenna::{KNOBS, space};
use trimtab_firmware::demo::fleet::{PRIOR, boards};
use trimtab_firmware::device::{self, Meter};

type PromisedTuner = trimtab::tuner!(KNOBS, observations: 64, rows: 256, prior);

static TUNER: ConstStaticCell<PromisedTuner> = ConstStaticCell::new(PromisedTuner::new());

#[entry]
fn main() -> ! {
    let Ok(prior) = FleetPrior::read(&PRIOR) else { device::exit(false) };
    let (Some(Ok(own)), Some(Ok(strange))) = (boards().next(), boards().last()) else { device::exit(false) };
    let tuner = TUNER.take();
    Meter::measure(|meter| {
        meter.slices_with_prior("fleet", &space(), |c| own.cost(c), tuner, &prior)?;
        // Gives the prior up on the way.
        meter.slices_with_prior("strange", &space(), |c| strange.cost(c), tuner, &prior)
    })
}
