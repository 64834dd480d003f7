//! Counts instructions of `ask` and `tell` in slices under a prior: the antenna and 24 relays, 64
//! observations, 256 rows.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use static_cell::ConstStaticCell;
use trimtab::FleetPrior;
use trimtab_firmware::demo::fleet::{PRIOR, RELAYS_PRIOR, boards};
use trimtab_firmware::device::{self, Meter};
use trimtab_firmware::{antenna, relays};

type Antenna = trimtab::tuner!(antenna::KNOBS, observations: 64, rows: 256, prior);
type Relays = trimtab::tuner!(relays::KNOBS, observations: 64, rows: 256, prior);

static ANTENNA: ConstStaticCell<Antenna> = ConstStaticCell::new(Antenna::new());
static RELAYS: ConstStaticCell<Relays> = ConstStaticCell::new(Relays::new());

#[entry]
fn main() -> ! {
    let (Ok(prior), Ok(wide), Ok(space)) = (FleetPrior::read(&PRIOR), FleetPrior::read(&RELAYS_PRIOR), relays::space())
    else {
        device::exit(false)
    };
    let (Some(Ok(own)), Some(Ok(strange))) = (boards().next(), boards().last()) else { device::exit(false) };
    let (tuner, relay_tuner) = (ANTENNA.take(), RELAYS.take());
    Meter::measure(|meter| {
        meter.slices_with_prior("fleet", &antenna::space(), |c| own.cost(c), tuner, &prior)?;
        // Gives the prior up on the way.
        meter.slices_with_prior("strange", &antenna::space(), |c| strange.cost(c), tuner, &prior)?;
        // Costs as the prior knows them, until failures speak against it.
        let cost = |c: &_| 0.5 + 0.01 * relays::cost(c);
        meter.slices_with_prior("relays", &space, cost, relay_tuner, &wide)
    })
}
