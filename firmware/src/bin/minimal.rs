//! The smallest image with a working tuner, to weigh its flash: no log, no text.
//!
//! Exit code 0 means that tuning found a smaller cost than that of the first proposal.
#![no_std]
#![no_main]

use static_cell::ConstStaticCell;
use trimtab::{Config, Error};
use trimtab_firmware::device::{self, entry};
use trimtab_firmware::relays::{Smallest, cost, space};

static TUNER: ConstStaticCell<Smallest> = ConstStaticCell::new(Smallest::new());

#[entry]
fn main() -> ! {
    device::exit(tune() == Ok(true))
}

fn tune() -> Result<bool, Error> {
    // `take` would link a panic, the only one of this image.
    let Some(tuner) = TUNER.try_take() else { return Ok(false) };
    tuner.init(space()?, Config::DEFAULT, 1)?;
    let mut first = None;
    for _ in 0..32 {
        let c = tuner.ask()?.combination;
        let value = cost(&c);
        first = first.or(Some(value));
        tuner.tell(&c, value)?;
    }
    Ok(tuner.best_observed().is_some_and(|best| Some(best.value) < first))
}
