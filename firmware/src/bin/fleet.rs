//! Tunes four boards of a line with what a hundred boards before them taught; the last one is strange.
//!
//! Exit code 0 means that each of the first three came within 5 % of its lowest SWR in at most 16
//! measurements, and that the last gave the prior up and came there all the same.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use defmt::{error, info};
use static_cell::ConstStaticCell;
use trimtab::{Config, Error, FleetPrior, PriorState};
use trimtab_firmware::antenna::{Network, Parts, rounded, space};
use trimtab_firmware::demo::fleet::{BUDGET, FleetTuner, PRIOR, TOLERANCE, boards};
use trimtab_firmware::device;

/// Measurements that a board of the fleet may need.
const FEW: usize = 16;

static TUNER: ConstStaticCell<FleetTuner> = ConstStaticCell::new(FleetTuner::new());

#[entry]
fn main() -> ! {
    let prior = match FleetPrior::read(&PRIOR) {
        Ok(prior) => prior,
        Err(error) => {
            error!("{}", error);
            device::exit(false)
        }
    };
    info!("a prior of {=usize} bytes, learned from {=u32} boards", PRIOR.len(), prior.boards());
    let (tuner, mut is_good) = (TUNER.take(), true);
    for (number, board) in (1..).zip(boards()) {
        let Ok(network) = board else { device::exit(false) };
        match tune(tuner, &prior, &network) {
            Ok(Some(count)) => {
                let state = tuner.prior_state();
                info!("board {=u32}: tuned after {=usize} measurements, prior: {}", number, count, state);
                is_good &= if number < 4 { count <= FEW } else { matches!(state, PriorState::GivenUp { .. }) };
            }
            Ok(None) => {
                error!("board {=u32}: not tuned after {=usize} measurements", number, BUDGET);
                is_good = false;
            }
            Err(error) => {
                error!("board {=u32}: {}", number, error);
                is_good = false;
            }
        }
    }
    device::exit(is_good)
}

/// Tunes one board; returns how many measurements it took.
fn tune(tuner: &mut FleetTuner, prior: &FleetPrior, network: &Network) -> Result<Option<usize>, Error> {
    let least = network.optimum(&space()).map_or(1.0, |best| network.swr(&best));
    tuner.init_with_prior(space(), Config::default(), prior, 1)?;
    for count in 1..=BUDGET {
        let c = tuner.ask()?.combination;
        let (parts, swr) = (Parts::of(&c), network.swr(&c));
        tuner.tell(&c, network.cost(&c))?;
        info!("  {}: SWR {=f32}", parts, rounded(swr));
        if swr <= TOLERANCE * least {
            return Ok(Some(count));
        }
    }
    Ok(None)
}
