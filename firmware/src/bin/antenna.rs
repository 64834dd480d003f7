//! Tunes an antenna matching network, keeps its log in flash, and survives what goes wrong.
//!
//! The same physics, tuner, seed and budget as the host's demo; then the antenna moves, the tuner notices and tunes again. Ends
//! with exit code 0 if the best standing wave ratio found is within [`FACTOR`] of the best there is, which brute force
//! over all states tells.
//!
//! **Choices.** Flash is simulated. By default it is RAM, and a run leaves nothing behind. If the folder that QEMU runs in has a file
//! `scenario.txt`, it is the file `flash.bin` beside it: power cuts (exit code 3), relays that never settle and a flash that
//! fills up can then be asked for, see [`Scenario`]; running the image again is the next boot. How much of the budget is used up follows from the log,
//! so a boot goes on where the last one was. The boot before may have ended in a watchdog's reset, in a power cut, or in a measurement that takes the
//! power down every time: in the first and the last case what is asked next is told as failed. The run is streamed over the serial port, for
//! `cargo qemu antenna --uart | trimtab watch -`.
#![no_std]
#![no_main]

use core::convert::Infallible;

use cortex_m_rt::{entry, exception};
use defmt::{error, info, warn};
use embedded_storage::nor_flash::NorFlash;
use semihosting::fs::File;
use semihosting::io::Read as _;
use static_cell::ConstStaticCell;
use trimtab::{Combination, Config, Error, Event, Record, WhenFull};
use trimtab_firmware::antenna::{
    AntennaKept, AntennaTuner, Network, Parts, Scenario, Topology, settles, space, swr_of_cost,
};
use trimtab_firmware::device::{self, FileFlash, TickWatchdog, Uart};
use trimtab_firmware::flash::{Cut, RamFlash};
use trimtab_firmware::journal::{Found, Layout, digest};
use trimtab_firmware::objective::Objective;
use trimtab_firmware::persistent::{Boot, Persistent, Stored, Task};
use trimtab_firmware::telemetry::{About, Cause, Reporter};
use trimtab_firmware::watchdog::Watchdog as _;

const SEED: u64 = 1;
/// How far above the best possible SWR counts as tuned, and how far above what it was as moved.
const FACTOR: f32 = 1.1;
/// The exit code of a power cut.
const CUT: i32 = 3;
/// The flash: four of five pages of 40 records hold more than the tuner keeps.
const PAGES: usize = 5;
const PAGE: usize = 1024;
/// A measurement that takes longer than this hangs: 20 ms at 168 MHz, far more than a simulated one.
const TICK_CYCLES: u32 = 168_000;
const TICKS: u32 = 20;

/// All zero, so it takes RAM but no flash, and no stack at any time.
static TUNER: ConstStaticCell<AntennaTuner> = ConstStaticCell::new(AntennaTuner::new());
static FLASH: ConstStaticCell<RamFlash<PAGES, PAGE, 4>> = ConstStaticCell::new(RamFlash::new());

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

/// With the flash that the folder asks for.
fn boot() -> Result<bool, Error> {
    let mut text = [0; 512];
    let Some(text) = read(&mut text) else {
        return run(&Scenario::PLAIN, FLASH.take());
    };
    let scenario = match Scenario::parse(text) {
        Ok(scenario) => scenario,
        Err(error) => {
            error!("scenario.txt, line {=u32}: see the table in antenna/scenario.rs", error.line);
            return Ok(false);
        }
    };
    let Ok(flash) = FileFlash::<PAGES, PAGE>::open(c"flash.bin") else {
        error!("flash.bin can be neither opened nor made: run in a folder that can be written");
        return Ok(false);
    };
    match scenario.cut {
        Some((operation, damage)) => {
            run(&scenario, Cut::at(flash, operation, damage).when_off(|| semihosting::process::exit(CUT)))
        }
        None => run(&scenario, Cut::never(flash)),
    }
}

/// The text of the scenario, if there is one.
fn read(text: &mut [u8]) -> Option<&str> {
    let mut file = File::open(c"scenario.txt").ok()?;
    let length = file.read(text).ok()?;
    core::str::from_utf8(text.get(..length)?).ok()
}

/// One boot: finds out what happened before, goes on from there, and reports. Whether the antenna is tuned in the end.
fn run<F: NorFlash>(scenario: &Scenario, flash: F) -> Result<bool, Error> {
    let config = Config { when_full: WhenFull::ForgetOldest, ..Config::default() };
    let task = Task { space: space(), config, seed: SEED, meaning: 0 };
    let layout = Layout { range: 0..(PAGES * PAGE) as u32, records: scenario.records };
    let (kept, boot) = Persistent::open(TUNER.take(), &task, flash, layout)?;
    log_boot(&boot);
    // The interrupt starts with the first measurement, so a boot may take its time.
    let timer = cortex_m::Peripherals::take().map(|peripherals| peripherals.SYST);
    let Some(timer) = timer else { return Ok(false) };
    let mut demo = Demo {
        kept,
        bench: Bench { network: Network::default(), sticks: scenario.sticks, applied: None },
        watchdog: TickWatchdog::start(timer, TICK_CYCLES, TICKS),
        reporter: Reporter::new(Uart::start(Uart::DIVIDER)),
        budget: scenario.budget,
        introduced: 0,
    };
    demo.introduce(if boot.found == Some(Found::Log) { Cause::Resumed } else { Cause::New });
    demo.take_up(&boot)?;

    if demo.kept.total() <= scenario.budget {
        demo.log_load();
        demo.tune(0, scenario.budget)?;
        if !demo.report(0)? {
            return Ok(false);
        }
    }
    let Some(moved) = scenario.moves else {
        sent(demo.reporter.end());
        return Ok(true);
    };
    demo.bench.network = moved;
    if demo.kept.total() == scenario.budget {
        info!("the antenna moves");
        demo.log_load();
        if !demo.has_drifted()? {
            info!("what is best is still good: nothing to do");
            sent(demo.reporter.end());
            return Ok(true);
        }
        demo.kept.restart();
        demo.budget = scenario.again;
        demo.introduce(Cause::Rebuilt);
    }
    // The restart is an entry of the log.
    let before = scenario.budget + 1;
    demo.tune(before, scenario.again)?;
    sent(demo.reporter.end());
    demo.report(before)
}

/// A tuner, what it tunes, and who watches over it.
struct Demo<F> {
    kept: AntennaKept<'static, F>,
    bench: Bench,
    watchdog: TickWatchdog,
    reporter: Reporter<Uart>,
    budget: u32,
    /// How often the tuner had been built again when it was last introduced.
    introduced: u32,
}

impl<F: NorFlash> Demo<F> {
    /// What the last boot could not finish is told as failed, if that is known.
    fn take_up(&mut self, boot: &Boot) -> Result<(), Error> {
        let bitten = self.watchdog.bitten();
        if bitten.is_none() && !boot.is_hopeless() {
            return Ok(());
        }
        let gave_up = self.kept.give_up(|c| boot.is_hopeless() || bitten == Some(number(c)))?;
        if let Some(c) = &gave_up {
            sent(self.reporter.happened(c, Event::Failed));
        }
        match gave_up.map(|c| Parts::of(&c)) {
            Some(parts) => warn!(
                "inductors {=u8:07b}, capacitors {=u8:07b} on the {=str}: failed, its measurement ended in {=str}",
                parts.inductor_code,
                parts.capacitor_code,
                side(parts.topology),
                if bitten.is_some() { "a reset by the watchdog" } else { "a power cut again and again" },
            ),
            None => warn!("a reset by the watchdog, but the log is not the one it belongs to"),
        }
        Ok(())
    }

    /// Measures until the log has so many entries more than before.
    fn tune(&mut self, before: u32, budget: u32) -> Result<(), Error> {
        while self.kept.total() < before + budget {
            let proposal = self.kept.ask()?;
            // The mark of a boot, or an outcome that was given up, may have taken the last room.
            if self.kept.rebuilds() != self.introduced {
                self.introduce(Cause::Rebuilt);
            }
            let c = proposal.combination;
            let event = self.measure(&c);
            let stored = self.kept.replay(&Record::new(&c, event))?;
            sent(self.reporter.measured(&proposal, event));
            let parts = Parts::of(&c);
            info!(
                "{=u32} of {=u32}: inductors {=u8:07b}, capacitors {=u8:07b} on the {=str}, SWR {=f32}",
                self.kept.total() - before,
                budget,
                parts.inductor_code,
                parts.capacitor_code,
                side(parts.topology),
                if let Event::Told(_) = event { rounded(self.bench.network.swr(&c)) } else { f32::NAN },
            );
            match stored {
                Stored::Yes => {}
                Stored::OldestDropped => {
                    info!(
                        "the flash was full: the oldest page is dropped, {=usize} outcomes kept",
                        self.kept.tuner().len()
                    );
                }
                Stored::No(trouble) => warn!("the log is not kept: {=str}", trouble.text()),
            }
        }
        Ok(())
    }

    /// Tells whoever listens to the serial port what this tuner is and what it knows.
    fn introduce(&mut self, cause: Cause) {
        self.introduced = self.kept.rebuilds();
        sent(self.reporter.hello(self.kept.tuner(), &About { name: "antenna", cause, budget: self.budget as u16 }));
        // A log that cannot be read is told by the next record that cannot be written.
        let _ = self.kept.history(|record| sent(self.reporter.resumed(record)));
    }

    /// A measurement under the eyes of the watchdog.
    fn measure(&mut self, c: &Combination<3>) -> Event {
        self.watchdog.arm(number(c));
        let event = self.bench.outcome(c);
        self.watchdog.disarm();
        event
    }

    /// Whether the best state is not what it was: measured once more, outside the log.
    fn has_drifted(&mut self) -> Result<bool, Error> {
        let Some(best) = self.kept.tuner().best_observed() else { return Ok(true) };
        let was = swr_of_cost(best.value);
        let Event::Told(cost) = self.measure(&best.combination) else { return Ok(true) };
        let is = swr_of_cost(cost);
        info!("what is best was SWR {=f32} and is SWR {=f32}", rounded(was), rounded(is));
        Ok(is > FACTOR * was)
    }

    fn log_load(&self) {
        let network = &self.bench.network;
        let (r, x, mhz) = (network.resistance(), network.reactance(), network.frequency() / 1e6);
        let swr = rounded(network.unmatched_swr());
        info!("load {=f32} ohm resistance, {=f32} ohm reactance at {=f32} MHz: SWR {=f32}", r, x, mhz, swr);
    }

    /// What was found, and whether it is good enough.
    fn report(&mut self, before: u32) -> Result<bool, Error> {
        let network = self.bench.network;
        let space = if self.bench.sticks { space().with_feasible(&settles) } else { space() };
        let tuner = self.kept.tuner();
        let (Some(found), Some(optimum)) = (tuner.best_observed(), network.optimum(&space)) else { return Ok(false) };
        let (found, optimum) = (network.swr(&found.combination), network.swr(&optimum));
        let (states, measured) = (tuner.space().cardinality() as u32, self.kept.total() - before);
        info!("best found: SWR {=f32} after {=u32} measurements of {=u32} states", rounded(found), measured, states);
        info!("best there is: SWR {=f32}, by brute force", rounded(optimum));
        let reached = tuner.observations().position(|o| network.swr(&o.combination) <= FACTOR * optimum);
        if let Some(reached) = reached {
            info!("within {=f32} of it after {=usize} measurements", FACTOR, reached + 1);
        }
        info!("tuner: {=usize} bytes, stack: {=usize} bytes", size_of::<AntennaTuner>(), device::most_stack());
        info!("state: {=u64:016x}", digest(tuner));
        let is_tuned = found <= FACTOR * optimum;
        if !is_tuned {
            error!("not tuned: the best found is more than {=f32} times the best there is", FACTOR);
        }
        Ok(is_tuned)
    }
}

/// The network on the bench: relays that are set, and an antenna behind them.
struct Bench {
    network: Network,
    /// Whether some settings never settle.
    sticks: bool,
    applied: Option<Combination<3>>,
}

impl Objective<3> for Bench {
    type Error = Infallible;

    fn apply(&mut self, c: &Combination<3>) -> Result<(), Infallible> {
        self.applied = Some(*c);
        while self.sticks && !settles(c) {
            cortex_m::asm::nop();
        }
        Ok(())
    }

    fn measure(&mut self) -> Result<f32, Infallible> {
        Ok(self.applied.map_or(f32::NAN, |c| self.network.cost(&c)))
    }
}

/// This port takes everything.
fn sent(done: Result<(), Infallible>) {
    let Ok(()) = done;
}

fn log_boot(boot: &Boot) {
    match boot.found {
        Some(Found::Blank) => info!("flash: blank, a fresh start"),
        Some(Found::Log) => info!("flash: a log, {=u32} outcomes are known", boot.records),
        Some(Found::Foreign) => warn!("flash: the log of another tuner, not used: a fresh start"),
        Some(Found::Version(version)) => {
            warn!("flash: a log of version {=u16}, not used: a fresh start", version);
        }
        Some(Found::Unreadable) => warn!("flash: nothing that can be read: a fresh start"),
        None => {}
    }
    if boot.damaged > 0 {
        warn!("flash: {=u32} damaged records are left out", boot.damaged);
    }
    if let Some(trouble) = boot.trouble {
        warn!("the log is not kept: {=str}", trouble.text());
    }
}

/// A combination as one number.
fn number(c: &Combination<3>) -> u32 {
    // 32 768 states.
    space().index(c) as u32
}

fn side(topology: Topology) -> &'static str {
    match topology {
        Topology::LoadSide => "load side",
        Topology::SourceSide => "source side",
    }
}

/// To two digits after the point, for people.
fn rounded(x: f32) -> f32 {
    if x < 1e6 { (x * 100.0 + 0.5) as u32 as f32 / 100.0 } else { x }
}
