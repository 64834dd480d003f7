//! Tunes an antenna matching network, notices when the antenna moves, and tunes again.
//!
//! It has all that a product needs: each outcome goes to flash before the tuner learns it, a
//! watchdog guards each measurement, and the serial port streams the run. To watch it:
//! `cargo qemu antenna --uart | trimtab watch -`.
//!
//! Physics, tuner, seed and budget are those of the host's demo. Exit code 0 means that both times
//! the best SWR found is within [`TOLERANCE`] of the optimum, by brute force over all states.
//!
//! **Choices.** The flash is RAM, so a run leaves nothing behind. The image `survival` runs the
//! same station on flash that lasts, and cuts its power.
#![no_std]
#![no_main]

use cortex_m_rt::{entry, exception};
use defmt::{error, info, warn};
use static_cell::ConstStaticCell;
use trimtab::{Error, Event};
use trimtab_embedded::flash::RamFlash;
use trimtab_embedded::journal::Layout;
use trimtab_embedded::persistent::{Persistent, Stored};
use trimtab_embedded::telemetry::Cause;
use trimtab_embedded::watchdog::Watchdog as _;
use trimtab_firmware::antenna::{
    AntennaTuner, Bench, Network, Parts, Station, TOLERANCE, number, rounded, space, task,
};
use trimtab_firmware::device::{self, TickWatchdog, Uart};

/// Measurements before and after the antenna moves.
const BUDGET: u16 = 120;
const AGAIN: u16 = 40;
/// A measurement that takes longer hangs: 20 ticks of 1 ms at 168 MHz.
const TICK_CYCLES: u32 = 168_000;
const TICKS: u32 = 20;

type Flash = RamFlash<5, 1024, 4>;
/// Four of five pages of 40 records hold more than the tuner keeps.
const LAYOUT: Layout = Layout { range: 0..5 * 1024, records: 40 };

/// All zero, so they take RAM but neither flash nor stack.
static TUNER: ConstStaticCell<AntennaTuner> = ConstStaticCell::new(AntennaTuner::new());
static FLASH: ConstStaticCell<Flash> = ConstStaticCell::new(Flash::new());

type Demo = Station<'static, &'static mut Flash, Bench, TickWatchdog, Uart>;

#[exception]
fn SysTick() {
    TickWatchdog::tick();
}

#[entry]
fn main() -> ! {
    let result = run();
    if let Err(error) = result {
        error!("{}", error);
    }
    device::exit(result == Ok(true))
}

/// Tunes twice. Returns whether both ended well.
fn run() -> Result<bool, Error> {
    let Some(peripherals) = cortex_m::Peripherals::take() else { return Ok(false) };
    let (mut kept, _) = Persistent::open(TUNER.take(), &task(), FLASH.take(), LAYOUT)?;
    let mut watchdog = TickWatchdog::start(peripherals.SYST, TICK_CYCLES, TICKS);
    // A measurement that hung until the watchdog's reset counts as failed.
    if let Some(bitten) = watchdog.bitten() {
        kept.give_up(|c| number(c) == bitten)?;
    }
    let bench = Bench::new(Network::SHORT_WIRE);
    let mut demo = Demo::new(kept, bench, watchdog, Uart::start(Uart::DIVIDER), BUDGET);
    demo.introduce(Cause::New);
    if !tune(&mut demo, BUDGET)? {
        return Ok(false);
    }

    info!("the antenna moves");
    demo.bench.network = Network::MOVED_WIRE;
    let has_moved = demo.check().is_none_or(|(was, is)| {
        info!("the best state had SWR {=f32} and now has SWR {=f32}", rounded(was), rounded(is));
        is > TOLERANCE * was
    });
    if has_moved {
        demo.restart(AGAIN);
        if !tune(&mut demo, AGAIN)? {
            return Ok(false);
        }
    }
    let Ok(()) = demo.reporter.end();
    info!("tuner: {=usize} bytes, stack: {=usize} bytes", size_of::<AntennaTuner>(), device::most_stack());
    Ok(true)
}

/// Measures as often as planned. Returns whether the best state found is good enough.
fn tune(demo: &mut Demo, budget: u16) -> Result<bool, Error> {
    let network = demo.bench.network;
    let (r, x, mhz) = (network.resistance(), network.reactance(), network.frequency() / 1e6);
    let swr = rounded(network.unmatched_swr());
    info!("load {=f32} ohm resistance, {=f32} ohm reactance at {=f32} MHz: SWR {=f32}", r, x, mhz, swr);
    for i in 1..=budget {
        let step = demo.step()?;
        let swr = if step.event == Event::Failed { f32::NAN } else { rounded(network.swr(&step.combination)) };
        info!("{=u16} of {=u16}: {}, SWR {=f32}", i, budget, Parts::of(&step.combination), swr);
        if let Stored::No(trouble) = step.stored {
            warn!("the outcome is in RAM only: {=str}", trouble.text());
        }
    }
    let Some((found, best)) = demo.compare(&network, &space()) else { return Ok(false) };
    let states = space().cardinality() as u32;
    info!("best found: SWR {=f32} after {=u16} measurements of {=u32} states", rounded(found), budget, states);
    info!("best there is: SWR {=f32}, by brute force", rounded(best));
    Ok(found <= TOLERANCE * best)
}
