//! Counts instructions of `ask` and `tell` in slices under a prior: the antenna, 48 observations, 256 rows.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use static_cell::ConstStaticCell;
use trimtab::FleetPrior;
use trimtab_firmware::antenna::{Network, space};
use trimtab_firmware::demo::fleet::{FleetTuner, PRIOR, boards};
use trimtab_firmware::device::{self, Meter};

static TUNER: ConstStaticCell<FleetTuner> = ConstStaticCell::new(FleetTuner::new());

#[entry]
fn main() -> ! {
    let (Ok(prior), Some(Ok(network))) = (FleetPrior::read(&PRIOR), boards().next()) else { device::exit(false) };
    let network: Network = network;
    Meter::measure(|meter| meter.slices_with_prior("fleet", &space(), |c| network.cost(c), TUNER.take(), &prior))
}
