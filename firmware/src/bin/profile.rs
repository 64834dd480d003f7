//! A run of the 24 relays that `cargo xtask cost --profile` traces; prints nothing.
//!
//! The tracer sees which function runs. Four functions of this image tell it what for.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use static_cell::ConstStaticCell;
use trimtab::{AskError, Combination, Config, Error, Proposal, TellError};
use trimtab_firmware::device;
use trimtab_firmware::relays::{OBSERVATIONS, RELAYS, RelayTuner, cost, space};

static TUNER: ConstStaticCell<RelayTuner> = ConstStaticCell::new(RelayTuner::new());

#[entry]
fn main() -> ! {
    device::exit(run().is_ok())
}

fn run() -> Result<(), Error> {
    let Some(tuner) = TUNER.try_take() else { return Ok(()) };
    tuner.init(space()?, Config::default(), 1)?;
    let mut c = tuner.ask()?.combination;
    for _ in 0..OBSERVATIONS {
        let before = (tuner.rebuilds(), tuner.best_observed());
        profiled_tell(tuner, &c, cost(&c))?;
        let is_new = before != (tuner.rebuilds(), tuner.best_observed());
        c = profiled_ask(tuner)?.combination;
        if is_new {
            profiled_new();
        } else {
            profiled_steady();
        }
    }
    Ok(())
}

#[inline(never)]
fn profiled_ask(tuner: &mut RelayTuner) -> Result<Proposal<RELAYS>, AskError> {
    tuner.ask()
}

#[inline(never)]
fn profiled_tell(tuner: &mut RelayTuner, c: &Combination<RELAYS>, value: f32) -> Result<(), TellError> {
    tuner.tell(c, value)
}

/// Ends a step whose tell changed the hyper-parameters or the best observation, so that the ask had
/// to fill the table anew.
#[inline(never)]
fn profiled_new() {
    core::hint::black_box(1);
}

/// Ends any other step.
#[inline(never)]
fn profiled_steady() {
    core::hint::black_box(2);
}
