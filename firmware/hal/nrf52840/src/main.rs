//! Tunes eight relays by what the ADC reads, on an nRF52840 with embassy.
//!
//! Relays at P0.13 to P0.21 (P0.18 is the reset), the cost at P0.02, the log in the last 16 KiB, its
//! lines over RTT.
#![no_std]
#![no_main]

use core::convert::Infallible;

use defmt::{info, unwrap};
use embassy_executor::Spawner;
use embassy_nrf::bind_interrupts;
use embassy_nrf::gpio::{Level, Output, OutputDrive};
use embassy_nrf::nvmc::Nvmc;
use embassy_nrf::saadc::{ChannelConfig, InterruptHandler, Saadc};
use embassy_time::Delay;
use static_cell::ConstStaticCell;
use trimtab::{Config, Knob, Space};
use trimtab_embedded::journal::Layout;
use trimtab_embedded::journal_range;
use trimtab_embedded::objective::{AsyncObjective as _, Switches, step_async};
use trimtab_embedded::persistent::{Persistent, Task};
use {defmt_rtt as _, panic_probe as _};

bind_interrupts!(struct Interrupts {
    SAADC => InterruptHandler;
});

const KNOBS: [Knob; 8] = [Knob::nominal(2); 8];
const BUDGET: u32 = 48;
type MyTuner = trimtab::tuner!(KNOBS, observations: 64, rows: 128);
static TUNER: ConstStaticCell<MyTuner> = ConstStaticCell::new(MyTuner::new());

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let p = embassy_nrf::init(Default::default());
    let relays = [
        Output::new(p.P0_13, Level::Low, OutputDrive::Standard),
        Output::new(p.P0_14, Level::Low, OutputDrive::Standard),
        Output::new(p.P0_15, Level::Low, OutputDrive::Standard),
        Output::new(p.P0_16, Level::Low, OutputDrive::Standard),
        Output::new(p.P0_17, Level::Low, OutputDrive::Standard),
        Output::new(p.P0_19, Level::Low, OutputDrive::Standard),
        Output::new(p.P0_20, Level::Low, OutputDrive::Standard),
        Output::new(p.P0_21, Level::Low, OutputDrive::Standard),
    ];
    let mut adc = Saadc::new(p.SAADC, Interrupts, Default::default(), [ChannelConfig::single_ended(p.P0_02)]);
    let read = async || {
        let mut sample = [0];
        adc.sample(&mut sample).await;
        Ok::<_, Infallible>(f32::from(sample[0]))
    };
    let mut bank = Switches::new(relays, Delay, 5_000, read);

    let task = Task { space: unwrap!(Space::new(&KNOBS)), config: Config::default(), seed: 1, meaning: 0 };
    let layout = Layout { range: journal_range!(), records: 64 };
    let flash = Nvmc::new(p.NVMC);
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
