//! The antenna tuner on a fault rig: power cuts, hanging relays, a moving antenna, bad flash.
//!
//! The folder that QEMU runs in holds the faults, `scenario.txt` (see [`Scenario`]), and the flash,
//! `flash.bin`. Running the image again is the next boot. It continues where the log ends.
//!
//! | exit code | meaning |
//! |---|---|
//! | 0 | the best SWR found is at most [`NEAR`] times the optimum, by brute force over all states |
//! | 1 | it is not, or something is wrong with the scenario or the folder |
//! | 3 | the scenario cut the power |
//!
//! **Choices**
//! - The log tells how much of the budget is spent, so a boot needs no other state.
//! - If the watchdog ended the last boot, or five boots in a row ended in the same measurement,
//!   that combination counts as failed.
#![no_std]
#![no_main]

use core::convert::Infallible;

use cortex_m_rt::{entry, exception};
use defmt::{error, info, warn};
use semihosting::fs::File;
use semihosting::io::Read as _;
use static_cell::ConstStaticCell;
use trimtab::{Combination, Error, Event};
use trimtab_embedded::flash::Cut;
use trimtab_embedded::journal::{Found, Layout, digest};
use trimtab_embedded::objective::Objective;
use trimtab_embedded::persistent::{Boot, Persistent, Stored};
use trimtab_embedded::telemetry::Cause;
use trimtab_embedded::watchdog::Watchdog as _;
use trimtab_firmware::antenna::{
    AntennaTuner, Bench, Network, Parts, Station, TOLERANCE, number, rounded, space, task,
};
use trimtab_firmware::device::{self, FileFlash, TickWatchdog, Uart};
use trimtab_firmware::survival::{Scenario, settles};

/// The exit code of a power cut.
const CUT: i32 = 3;
/// The flash: four of five pages of 40 records hold more than the tuner keeps.
const PAGES: usize = 5;
const PAGE: usize = 1024;
/// A measurement that takes longer hangs: 20 ticks of 1 ms at 168 MHz.
const TICK_CYCLES: u32 = 168_000;
const TICKS: u32 = 20;

static TUNER: ConstStaticCell<AntennaTuner> = ConstStaticCell::new(AntennaTuner::new());

type Flash = FileFlash<PAGES, PAGE>;
type Rig = Station<'static, Cut<Flash>, Relays, TickWatchdog, Uart>;

#[exception]
fn SysTick() {
    TickWatchdog::tick();
}

#[entry]
fn main() -> ! {
    match boot() {
        Ok(is_tuned) => device::exit(is_tuned),
        Err(error) => {
            error!("{}", error);
            device::exit(false)
        }
    }
}

/// One boot with the scenario and the flash of the folder.
fn boot() -> Result<bool, Error> {
    let mut text = [0; 512];
    let Some(text) = read(&mut text) else {
        error!("no scenario.txt: write one in a folder and name it, cargo qemu survival --folder FOLDER");
        return Ok(false);
    };
    let scenario = match Scenario::parse(text) {
        Ok(scenario) => scenario,
        Err(error) => {
            error!("scenario.txt, line {=u32}: see the table in firmware/src/demo/survival.rs", error.line);
            return Ok(false);
        }
    };
    let Ok(flash) = Flash::open(c"flash.bin") else {
        error!("cannot open or create flash.bin: run in a folder that can be written");
        return Ok(false);
    };
    let flash = match scenario.cut {
        Some((operation, damage)) => Cut::at(flash, operation, damage).when_off(|| semihosting::process::exit(CUT)),
        None => Cut::never(flash),
    };
    run(&scenario, flash)
}

/// The text of the scenario, if there is one.
fn read(text: &mut [u8]) -> Option<&str> {
    let mut file = File::open(c"scenario.txt").ok()?;
    let length = file.read(text).ok()?;
    core::str::from_utf8(text.get(..length)?).ok()
}

/// Continues from the log. Returns whether the antenna is tuned in the end.
fn run(scenario: &Scenario, flash: Cut<Flash>) -> Result<bool, Error> {
    let layout = Layout { range: 0..(PAGES * PAGE) as u32, records: scenario.records };
    let (kept, boot) = Persistent::open(TUNER.take(), &task(), flash, layout)?;
    log_boot(&boot);
    let Some(peripherals) = cortex_m::Peripherals::take() else { return Ok(false) };
    let watchdog = TickWatchdog::start(peripherals.SYST, TICK_CYCLES, TICKS);
    let relays = Relays { bench: Bench::new(Network::SHORT_WIRE), sticks: scenario.sticks };
    let mut rig = Rig::new(kept, relays, watchdog, Uart::start(Uart::DIVIDER), scenario.budget);
    rig.introduce(if boot.found == Some(Found::Log) { Cause::Resumed } else { Cause::New });
    give_up(&mut rig, &boot)?;

    let budget = u32::from(scenario.budget);
    if rig.kept.total() <= budget {
        tune(&mut rig, 0, scenario.budget)?;
        if !report(&rig) {
            return Ok(false);
        }
    }
    let Some(moved) = scenario.moves else {
        let Ok(()) = rig.reporter.end();
        return Ok(true);
    };
    rig.bench.bench.network = moved;
    if rig.kept.total() == budget {
        info!("the antenna moves");
        if !has_moved(&mut rig) {
            info!("the best state is still good: nothing to do");
            let Ok(()) = rig.reporter.end();
            return Ok(true);
        }
        rig.restart(scenario.again);
    }
    // The restart is an entry of the log.
    tune(&mut rig, budget + 1, scenario.again)?;
    let Ok(()) = rig.reporter.end();
    Ok(report(&rig))
}

/// If the last boot ended in a measurement, that measurement counts as failed.
fn give_up(rig: &mut Rig, boot: &Boot) -> Result<(), Error> {
    let bitten = rig.watchdog.bitten();
    if bitten.is_none() && !boot.is_hopeless() {
        return Ok(());
    }
    let cause = if bitten.is_some() { "a reset by the watchdog" } else { "a power cut, again and again" };
    match rig.kept.give_up(|c| boot.is_hopeless() || bitten == Some(number(c)))? {
        Some(c) => {
            let Ok(()) = rig.reporter.happened(&c, Event::Failed);
            warn!("{}: failed, its measurement ended in {=str}", Parts::of(&c), cause);
        }
        None => warn!("a reset by the watchdog, but in a measurement that this log does not ask for"),
    }
    Ok(())
}

/// Measures until the log has `budget` entries more than `before`.
fn tune(rig: &mut Rig, before: u32, budget: u16) -> Result<(), Error> {
    let network = rig.bench.bench.network;
    while rig.kept.total() < before + u32::from(budget) {
        let step = rig.step()?;
        let swr = if step.event == Event::Failed { f32::NAN } else { rounded(network.swr(&step.combination)) };
        let done = rig.kept.total() - before;
        info!("{=u32} of {=u16}: {}, SWR {=f32}", done, budget, Parts::of(&step.combination), swr);
        match step.stored {
            Stored::Yes | Stored::PageFull => {}
            Stored::OldestDropped => {
                let kept = rig.kept.tuner().len();
                info!("the flash was full: the oldest page is dropped, {=usize} outcomes kept", kept);
            }
            Stored::No(trouble) => warn!("the log is not kept: {=str}", trouble.text()),
        }
    }
    Ok(())
}

fn has_moved(rig: &mut Rig) -> bool {
    rig.check().is_none_or(|(was, is)| {
        info!("the best state had SWR {=f32} and now has SWR {=f32}", rounded(was), rounded(is));
        is > TOLERANCE * was
    })
}

/// How near the optimum a run must come. Its subject is faults, and some runs have only thirty
/// measurements.
const NEAR: f32 = 1.5;

/// Logs the end state. Returns whether the antenna is tuned.
fn report(rig: &Rig) -> bool {
    let space = if rig.bench.sticks { space().with_feasible(&settles) } else { space() };
    let Some((found, best)) = rig.compare(&rig.bench.bench.network, &space) else { return false };
    info!("best found: SWR {=f32}, best there is: SWR {=f32}", rounded(found), rounded(best));
    info!("state: {=u64:016x}", digest(rig.kept.tuner()));
    let is_tuned = found <= NEAR * best;
    if !is_tuned {
        error!("not tuned: the best found is more than {=f32} times the best there is", NEAR);
    }
    is_tuned
}

/// Relays of which some settings never settle.
struct Relays {
    bench: Bench,
    sticks: bool,
}

impl Objective<3> for Relays {
    type Error = Infallible;

    fn apply(&mut self, c: &Combination<3>) -> Result<(), Infallible> {
        while self.sticks && !settles(c) {
            cortex_m::asm::nop();
        }
        self.bench.apply(c)
    }

    fn measure(&mut self) -> Result<f32, Infallible> {
        self.bench.measure()
    }
}

fn log_boot(boot: &Boot) {
    match boot.found {
        Some(Found::Blank) => info!("flash: blank, a fresh start"),
        Some(Found::Log) => info!("flash: a log, {=u32} outcomes are known", boot.records),
        Some(Found::Foreign) => warn!("flash: the log of another tuner, not used: a fresh start"),
        Some(Found::Version(version)) => warn!("flash: a log of version {=u16}, not used: a fresh start", version),
        Some(Found::Unreadable) => warn!("flash: no readable page: a fresh start"),
        None => {}
    }
    if boot.damaged > 0 {
        warn!("flash: {=u32} damaged records are left out", boot.damaged);
    }
    if let Some(trouble) = boot.trouble {
        warn!("the log is not kept: {=str}", trouble.text());
    }
}
