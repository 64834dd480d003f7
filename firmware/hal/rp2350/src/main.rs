//! Tunes eight relays by what the ADC reads, on an RP2350 with embassy.
//!
//! Relays at GPIO 0 to 7, the cost at GPIO 26, the log in the last 16 KiB, its lines over RTT.
#![no_std]
#![no_main]

use defmt::{info, unwrap};
use embassy_executor::Spawner;
use embassy_rp::adc::{Adc, Channel, InterruptHandler};
use embassy_rp::bind_interrupts;
use embassy_rp::flash::Flash;
use embassy_rp::gpio::{Level, Output, Pull};
use embassy_time::Delay;
use static_cell::ConstStaticCell;
use trimtab::{Config, Knob, Space};
use trimtab_embedded::journal::Layout;
use trimtab_embedded::journal_range;
use trimtab_embedded::objective::{AsyncObjective as _, Switches, step_async};
use trimtab_embedded::persistent::{Persistent, Task};
use {defmt_rtt as _, panic_probe as _};

bind_interrupts!(struct Interrupts {
    ADC_IRQ_FIFO => InterruptHandler;
});

const FLASH: usize = 2 * 1024 * 1024;
const KNOBS: [Knob; 8] = [Knob::nominal(2); 8];
const BUDGET: u32 = 48;
type MyTuner = trimtab::tuner!(KNOBS, observations: 64, rows: 128);
static TUNER: ConstStaticCell<MyTuner> = ConstStaticCell::new(MyTuner::new());

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let p = embassy_rp::init(Default::default());
    let relays = [
        Output::new(p.PIN_0, Level::Low),
        Output::new(p.PIN_1, Level::Low),
        Output::new(p.PIN_2, Level::Low),
        Output::new(p.PIN_3, Level::Low),
        Output::new(p.PIN_4, Level::Low),
        Output::new(p.PIN_5, Level::Low),
        Output::new(p.PIN_6, Level::Low),
        Output::new(p.PIN_7, Level::Low),
    ];
    let mut adc = Adc::new(p.ADC, Interrupts, Default::default());
    let mut input = Channel::new_pin(p.PIN_26, Pull::None);
    let read = async || adc.read(&mut input).await.map(f32::from);
    let mut bank = Switches::new(relays, Delay, 5_000, read);

    let task = Task { space: unwrap!(Space::new(&KNOBS)), config: Config::default(), seed: 1, meaning: 0 };
    let layout = Layout { range: journal_range!(), records: 64 };
    let flash = Flash::<_, _, FLASH>::new_blocking(p.FLASH);
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
