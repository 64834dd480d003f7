//! Tunes eight relays by what the ADC reads, on an STM32F411 with embassy.
//!
//! Relays at PB0 to PB7, the cost at PA0, the log in the last two sectors, its lines over RTT.
#![no_std]
#![no_main]

use core::convert::Infallible;

use defmt::{info, unwrap};
use embassy_executor::Spawner;
use embassy_stm32::adc::{Adc, SampleTime};
use embassy_stm32::flash::Flash;
use embassy_stm32::gpio::{Level, Output, Speed};
use embassy_time::Delay;
use static_cell::ConstStaticCell;
use trimtab::{Config, Knob, Space};
use trimtab_embedded::journal::Layout;
use trimtab_embedded::journal_range;
use trimtab_embedded::objective::{AsyncObjective as _, Switches, step_async};
use trimtab_embedded::persistent::{Persistent, Task};
use {defmt_rtt as _, panic_probe as _};

const KNOBS: [Knob; 8] = [Knob::nominal(2); 8];
const BUDGET: u32 = 48;
type MyTuner = trimtab::tuner!(KNOBS, observations: 64, rows: 128);
static TUNER: ConstStaticCell<MyTuner> = ConstStaticCell::new(MyTuner::new());

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let p = embassy_stm32::init(Default::default());
    let relays = [
        Output::new(p.PB0, Level::Low, Speed::Low),
        Output::new(p.PB1, Level::Low, Speed::Low),
        Output::new(p.PB2, Level::Low, Speed::Low),
        Output::new(p.PB3, Level::Low, Speed::Low),
        Output::new(p.PB4, Level::Low, Speed::Low),
        Output::new(p.PB5, Level::Low, Speed::Low),
        Output::new(p.PB6, Level::Low, Speed::Low),
        Output::new(p.PB7, Level::Low, Speed::Low),
    ];
    let (mut adc, mut input) = (Adc::new(p.ADC1), p.PA0);
    let read = async || Ok::<_, Infallible>(f32::from(adc.blocking_read(&mut input, SampleTime::CYCLES480)));
    let mut bank = Switches::new(relays, Delay, 5_000, read);

    let task = Task { space: unwrap!(Space::new(&KNOBS)), config: Config::default(), seed: 1, meaning: 0 };
    let layout = Layout { range: journal_range!(), records: 64 };
    let flash = Flash::new_blocking(p.FLASH);
    let (mut kept, boot) = unwrap!(Persistent::open(TUNER.take(), &task, flash, layout));
    info!("{}", boot);
    while kept.total() < BUDGET {
        let step = unwrap!(step_async(&mut kept, &mut bank).await);
        info!("{=u32} of {=u32}: {}", kept.total(), BUDGET, step);
        // The relays rest: erase now, if a page is full. A watchdog would be fed here.
        kept.prepare(&mut || ());
    }
    if let Some(best) = kept.tuner().best_observed() {
        info!("best: {}", best);
        unwrap!(bank.apply(&best.combination).await);
    }
}
