//! Tunes 24 relays and streams the run over a serial port, for `trimtab watch`.
//!
//! The least that streaming takes: a hello after `init`, a frame per measurement, an end. The
//! defaults of the data sheet go first, and a failed combination is streamed as one.
#![no_std]
#![no_main]

use core::convert::Infallible;

use cortex_m_rt::entry;
use defmt::{error, info};
use static_cell::ConstStaticCell;
use trimtab::{Config, Error, Event, Record};
use trimtab_embedded::telemetry::{About, Cause, Reporter};
use trimtab_firmware::device::{self, Uart};
use trimtab_firmware::relays::{OBSERVATIONS, RELAYS, RelayTuner, cost, space};

const SEED: u64 = 1;
const ABOUT: About<'static> = About { name: "relays", cause: Cause::New, budget: OBSERVATIONS as u16 };

static TUNER: ConstStaticCell<RelayTuner> = ConstStaticCell::new(RelayTuner::new());

#[entry]
fn main() -> ! {
    match tune() {
        Ok(()) => device::exit(true),
        Err(error) => {
            error!("{}", error);
            device::exit(false)
        }
    }
}

fn tune() -> Result<(), Error> {
    let tuner = TUNER.take();
    tuner.init(space()?, Config::default(), SEED)?;
    let mut reporter = Reporter::new(Uart::start(Uart::DIVIDER));
    sent(reporter.hello(tuner, &ABOUT));
    let default = tuner.space().combination(&[0; RELAYS])?;
    tuner.enqueue(&default)?;
    sent(reporter.happened(&default, Event::Enqueued));
    for _ in 0..OBSERVATIONS {
        let proposal = tuner.ask()?;
        let c = proposal.combination;
        // Relays 3 and 17 together trip the fuse.
        let event = if c.level(3) & c.level(17) == 1 { Event::Failed } else { Event::Told(cost(&c)) };
        tuner.replay(&Record::new(&c, event))?;
        sent(reporter.measured(&proposal, event));
    }
    sent(reporter.end());
    let best = tuner.best_observed().map_or(f32::NAN, |best| best.value);
    info!("best of {=usize}: {=f32}, {=usize} failed", tuner.len(), best, tuner.failures());
    Ok(())
}

/// This port cannot fail. One that can need not stop the run.
fn sent(done: Result<(), Infallible>) {
    let Ok(()) = done;
}
