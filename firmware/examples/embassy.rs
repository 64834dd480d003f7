//! Tunes in an embassy task, in slices, so that other tasks run in between.
//!
//! | task | work |
//! |---|---|
//! | `control` | stands for the control loop, which must run again soon |
//! | `main` | asks by `ask_step`, a few candidates at a time, and yields after each slice |
//!
//! Exit code 0 means that every proposal is, bit for bit, the one that a single `ask` gives, and
//! the control loop ran after every slice.
//!
//! **Choices.** Tasks of one executor wait for each other, so a slice bounds the control loop's
//! wait. A `tell` is not sliced, and one that refits the model takes longer than any slice. Where
//! that is too long, put the control loop in an `InterruptExecutor` of higher priority, or in an
//! interrupt as in the example `rtic_style`.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering};

use defmt::{error, info};
use embassy_executor::Spawner;
use embassy_futures::yield_now;
use static_cell::ConstStaticCell;
use trimtab::{AskError, Config, Error, Proposal, Tuner};
use trimtab_firmware::device::{self, Timer};
use trimtab_firmware::relays::{KNOBS, RELAYS, cost, space};

/// Candidates per slice.
const SLICE: u16 = 4;
const MEASUREMENTS: usize = 24;
const SEED: u64 = 1;

type SmallTuner = trimtab::tuner!(KNOBS, observations: MEASUREMENTS, rows: 64);

/// One asks in slices, the other by `ask`.
static SLICED: ConstStaticCell<SmallTuner> = ConstStaticCell::new(Tuner::new());
static WHOLE: ConstStaticCell<SmallTuner> = ConstStaticCell::new(Tuner::new());

/// Turns of the control loop.
static TURNS: AtomicU32 = AtomicU32::new(0);

#[embassy_executor::task]
async fn control() {
    loop {
        // Here: read the sensors, drive the actuators. On hardware this awaits a `Ticker`.
        TURNS.fetch_add(1, Ordering::Relaxed);
        yield_now().await;
    }
}

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    match control() {
        Ok(task) => spawner.spawn(task),
        Err(_) => device::exit(false),
    }
    match tune(SLICED.take(), WHOLE.take()).await {
        Ok(is_same) => device::exit(is_same),
        Err(error) => {
            error!("{}", error);
            device::exit(false)
        }
    }
}

/// Largest costs of a run, in the timer's unit.
#[derive(Default)]
struct Longest {
    slice: u32,
    ask: u32,
    tell: u32,
}

/// An ask that yields after each slice.
async fn ask(tuner: &mut SmallTuner, timer: &Timer, longest: &mut u32) -> Result<Proposal<RELAYS>, AskError> {
    tuner.ask_begin()?;
    loop {
        let (step, count) = timer.count(|| tuner.ask_step(SLICE));
        *longest = count.max(*longest);
        if let Some(proposal) = step? {
            return Ok(proposal);
        }
        yield_now().await;
    }
}

/// Tunes both ways. Returns whether they agree and the control loop had its turns.
async fn tune(sliced: &mut SmallTuner, whole: &mut SmallTuner) -> Result<bool, Error> {
    let timer = Timer::start();
    let mut longest = Longest::default();
    sliced.init(space()?, Config::default(), SEED)?;
    whole.init(space()?, Config::default(), SEED)?;
    for t in 1..=MEASUREMENTS {
        let proposal = ask(sliced, &timer, &mut longest.slice).await?;
        let (same, count) = timer.count(|| whole.ask());
        longest.ask = count.max(longest.ask);
        if proposal != same? {
            error!("measurement {=usize}: ask_step and ask differ", t);
            return Ok(false);
        }
        let y = cost(&proposal.combination);
        let (told, count) = timer.count(|| sliced.tell(&proposal.combination, y));
        longest.tell = count.max(longest.tell);
        told?;
        whole.tell(&proposal.combination, y)?;
        yield_now().await;
    }
    let unit = timer.unit();
    info!("{=usize} proposals, the same bits by ask_step and by ask", MEASUREMENTS);
    info!("longest ask {=u32}, slice {=u32}, tell {=u32} {=str}", longest.ask, longest.slice, longest.tell, unit);
    info!("turns of the control loop: {=u32}", TURNS.load(Ordering::Relaxed));
    // The last ask alone has some sixteen slices.
    Ok(longest.slice * 4 < longest.ask && TURNS.load(Ordering::Relaxed) > 4 * MEASUREMENTS as u32)
}
