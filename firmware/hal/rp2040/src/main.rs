//! Tunes eight relays by what the ADC reads, on an RP2040 with rp2040-hal.
//!
//! Relays at GPIO 0 to 7, the cost at GPIO 26, the log in the last 16 KiB, its lines over RTT.
#![no_std]
#![no_main]

use cortex_m::prelude::_embedded_hal_adc_OneShot as _;
use defmt::{info, unwrap};
use rp2040_hal::adc::{Adc, AdcPin};
use rp2040_hal::clocks::init_clocks_and_plls;
use rp2040_hal::{Sio, Timer, Watchdog, entry, gpio, pac};
use static_cell::ConstStaticCell;
use trimtab::{Config, Knob, Record, Space};
use trimtab_embedded::journal::Layout;
use trimtab_embedded::journal_range;
use trimtab_embedded::objective::{Objective as _, Switches};
use trimtab_embedded::persistent::{Persistent, Task};
use trimtab_embedded::watchdog::Watchdog as _;
use {defmt_rtt as _, panic_probe as _};

use crate::dog::{Dog, number};

mod dog;
mod flash;

const KNOBS: [Knob; 8] = [Knob::nominal(2); 8];
const BUDGET: u32 = 32;
type MyTuner = trimtab::tuner!(KNOBS, observations: 32, rows: 32);
static TUNER: ConstStaticCell<MyTuner> = ConstStaticCell::new(MyTuner::new());

#[entry]
fn main() -> ! {
    let mut p = unwrap!(pac::Peripherals::take());
    let mut watchdog = Watchdog::new(p.WATCHDOG);
    let (xosc, clocks, sys, usb) = (p.XOSC, p.CLOCKS, p.PLL_SYS, p.PLL_USB);
    let clocks = init_clocks_and_plls(12_000_000, xosc, clocks, sys, usb, &mut p.RESETS, &mut watchdog);
    let clocks = unwrap!(clocks.ok());
    let timer = Timer::new(p.TIMER, &mut p.RESETS, &clocks);
    let pins = gpio::Pins::new(p.IO_BANK0, p.PADS_BANK0, Sio::new(p.SIO).gpio_bank0, &mut p.RESETS);
    let relays = [
        pins.gpio0.into_push_pull_output().into_dyn_pin(),
        pins.gpio1.into_push_pull_output().into_dyn_pin(),
        pins.gpio2.into_push_pull_output().into_dyn_pin(),
        pins.gpio3.into_push_pull_output().into_dyn_pin(),
        pins.gpio4.into_push_pull_output().into_dyn_pin(),
        pins.gpio5.into_push_pull_output().into_dyn_pin(),
        pins.gpio6.into_push_pull_output().into_dyn_pin(),
        pins.gpio7.into_push_pull_output().into_dyn_pin(),
    ];
    let mut adc = Adc::new(p.ADC, &mut p.RESETS);
    let mut input = unwrap!(AdcPin::new(pins.gpio26.into_floating_input()).ok());
    let read = || adc.read(&mut input).map(|value: u16| f32::from(value)).map_err(|_| "no conversion");
    let mut bank = Switches::new(relays, timer, 5_000, read);

    let task = Task { space: unwrap!(Space::new(&KNOBS)), config: Config::default(), seed: 1, meaning: 0 };
    let layout = Layout { range: journal_range!(), records: 32 };
    let (mut kept, boot) = unwrap!(Persistent::open(TUNER.take(), &task, flash::OwnFlash, layout));
    info!("{}", boot);
    let mut dog = Dog(watchdog);
    if let Some(bitten) = dog.bitten() {
        info!("it hung: {}", unwrap!(kept.give_up(|c| number(c) == bitten)));
    }
    while kept.total() < BUDGET {
        let c = unwrap!(kept.ask()).combination;
        dog.arm(number(&c));
        let event = bank.outcome(&c);
        dog.disarm();
        unwrap!(kept.replay(&Record::new(&c, event)));
        info!("{=u32} of {=u32}: {} {}", kept.total(), BUDGET, c, event);
        kept.prepare(&mut || ()); // the relays rest: erase now, if a page is full
    }
    if let Some(best) = kept.tuner().best_observed() {
        info!("best: {}", best);
        unwrap!(bank.apply(&best.combination).ok());
    }
    loop {
        cortex_m::asm::wfi();
    }
}
