//! Tunes how the chip reads its flash: wait states, prefetch, caches, core switches.
//!
//! The knobs are the table of the board's chip (see [`chip`](trimtab_firmware::chip)). The cost is
//! that of a fixed piece of work by the [`Timer`], in cycles on a board. QEMU counts instructions,
//! which do not depend on these registers: there the image shows that the parts work together, and
//! all settings cost the same.
//!
//! Exit code 0 means that the best setting found is within [`FACTOR`] of the best of all, by trying
//! all.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use defmt::{error, info};
use static_cell::ConstStaticCell;
use trimtab::{Combination, Config, Error, Knob, Space};
use trimtab_embedded::objective::{Objective, tune};
use trimtab_firmware::chip::{Registers, at_reset, knobs, work};
use trimtab_firmware::device::{self, FIELDS, Memory, Timer};

/// Measurements.
const BUDGET: usize = 32;
const SEED: u64 = 1;
/// Within this factor of the best possible counts as tuned.
const FACTOR: f32 = 1.02;

const K: usize = FIELDS.len();
const KNOBS: [Knob; K] = knobs(&FIELDS);
type FetchTuner = trimtab::tuner!(KNOBS, observations: BUDGET, rows: 128);

static TUNER: ConstStaticCell<FetchTuner> = ConstStaticCell::new(FetchTuner::new());

#[entry]
fn main() -> ! {
    match run() {
        Ok(is_tuned) => device::exit(is_tuned),
        Err(error) => {
            error!("{}", error);
            device::exit(false)
        }
    }
}

/// Tunes and reports. Returns whether the result is good enough.
fn run() -> Result<bool, Error> {
    let timer = Timer::start();
    let unit = timer.unit();
    if timer.is_emulated() {
        info!("this is QEMU: it counts instructions, which do not depend on how the flash is read");
    }
    let count = || {
        let (sum, count) = timer.count(work::run);
        // A count is below 2²⁴, exact as f32.
        if sum == work::CHECKSUM { Ok(count as f32) } else { Err(sum) }
    };
    // QEMU's registers do not hold their values, so they are not checked there.
    let mut chip = Registers::new(FIELDS, Memory, !timer.is_emulated(), count);

    let space = Space::new(&KNOBS)?;
    let reset = space.combination(&at_reset(&FIELDS))?;
    let tuner = TUNER.take();
    tuner.init(space, Config::default(), SEED)?;
    tuner.enqueue(&reset)?;
    let found = tune(tuner, &mut chip, BUDGET)?;
    let before = tuner.observations().find(|o| o.combination == reset);
    let (Some(found), Some(before)) = (found, before) else { return Ok(false) };
    let states = tuner.space().last_index() + 1;
    info!(
        "{=usize} knobs, {=u64} settings, {=usize} measured, {=usize} failed",
        K,
        states,
        tuner.len(),
        tuner.failures()
    );
    info!("after reset: {=f32} {=str}", before.value, unit);
    info!("best found: {=f32} {=str}", found.value, unit);
    show(&found.combination);

    let mut best = (f32::INFINITY, reset);
    let mut worst = f32::NEG_INFINITY;
    for c in (0..states).filter_map(|i| tuner.space().at(i)) {
        let Ok(value) = chip.evaluate(&c) else { continue };
        worst = worst.max(value);
        if value < best.0 {
            best = (value, c);
        }
    }
    info!("best there is: {=f32} {=str}, worst: {=f32}, by trying all", best.0, unit, worst);
    show(&best.1);
    // The chip is left at the best setting found.
    let is_tuned = chip.apply(&found.combination).is_ok() && found.value <= FACTOR * best.0;
    if !is_tuned {
        error!("not tuned: the best found is more than {=f32} times the best there is", FACTOR);
    }
    Ok(is_tuned)
}

/// The levels of a setting, by name.
fn show(c: &Combination<K>) {
    for (field, level) in FIELDS.iter().zip(c.levels()) {
        info!("  {=str}: {=u32}", field.name, field.shown(*level));
    }
}
