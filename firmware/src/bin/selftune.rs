//! The chip tunes its own code: 608 forms of one filter, measured on the spot.
//!
//! Tunes with 50 measurements, then measures all forms, to judge the result and the worth of each
//! knob. On the table of all costs it runs other seeds, and random search with the same budget.
//! Every result of every measurement is checked. Exit code 0 means that all were right and the
//! cheapest form found costs at most [`FACTOR`] times the cheapest of all.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use defmt::{Display2Format, error, info};
use static_cell::ConstStaticCell;
use trimtab::{Error, Level};
use trimtab_embedded::objective::Objective as _;
use trimtab_firmware::device::{self, Timer};
use trimtab_firmware::selftune::filter::{OUTPUTS, TAPS};
use trimtab_firmware::selftune::{COUNT, Code, CodeTuner, Costs, KNOBS, NAMES, Setting, Workspace, search};

/// Measurements.
const BUDGET: usize = 50;
/// The first seed is measured; all are replayed on the table.
const SEEDS: core::ops::RangeInclusive<u64> = 1..=16;
/// Within this factor of the cheapest counts as tuned.
const FACTOR: f32 = 1.05;

/// All zero, so they take RAM but neither flash nor stack.
static TUNER: ConstStaticCell<CodeTuner> = ConstStaticCell::new(CodeTuner::new());
static WORKSPACE: ConstStaticCell<Workspace> = ConstStaticCell::new(Workspace::new());
static COSTS: ConstStaticCell<Costs> = ConstStaticCell::new(Costs::new());

#[entry]
fn main() -> ! {
    match tune() {
        Ok(is_tuned) => device::exit(is_tuned),
        Err(error) => {
            error!("{}", error);
            device::exit(false)
        }
    }
}

/// Tunes and reports. Returns whether the result is good enough.
fn tune() -> Result<bool, Error> {
    let timer = Timer::start();
    let mut code = Code::new(WORKSPACE.take(), |variant, workspace| timer.count(|| variant.run(workspace)).1);
    info!("a filter of {=usize} taps and {=usize} outputs; the cost is {=str}", TAPS, OUTPUTS, timer.unit());
    if timer.is_emulated() {
        info!("this is QEMU, which counts instructions and not cycles: all take one, and no memory is slow");
    }

    let (tuner, mut measurement) = (TUNER.take(), 0);
    let found = search::tuned(tuner, &mut code, *SEEDS.start(), BUDGET, |step| {
        measurement += 1;
        let setting = Setting::of(&step.proposal.combination);
        match step.outcome {
            Ok(cost) => {
                info!("{=usize} of {=usize}: {}: {=u32}", measurement, BUDGET, Display2Format(&setting), cost as u32);
            }
            Err(error) => error!("{}: {}", Display2Format(&setting), Display2Format(&error)),
        }
    })?;
    info!("tuner: {=usize} bytes, stack: {=usize} bytes", size_of::<CodeTuner>(), device::most_stack());

    let costs = COSTS.take();
    let measured = costs.enumerate(|c| code.evaluate(c).ok());
    let all = search::feasible(tuner.space()).count();
    info!("{=usize} of {=usize} ways to write it give the right result", measured, all);
    let plain = costs.of(&tuner.space().combination(&[0; COUNT])?);
    let (Some(plain), Some(found), Some(best)) = (plain, found, costs.best()) else {
        error!("not tuned: the plain filter, or every filter, gave a wrong result");
        return Ok(false);
    };
    let ratio = found.cost / best.cost;
    info!("as first written down: {}: {=u32} {=str}", Display2Format(&Setting::default()), plain as u32, timer.unit());
    for (title, found) in [("best found", found), ("best there is", best)] {
        let setting = Setting::of(&found.combination);
        info!("{=str}: {}: {=u32} {=str}", title, Display2Format(&setting), found.cost as u32, timer.unit());
    }
    info!(
        "{=f32} times as fast as first written down, {=f32} times the best there is, found by measurement {=usize}",
        rounded(plain / found.cost),
        rounded(ratio),
        found.measurement
    );
    for (name, knob, level) in levels() {
        let Some(found) = costs.best_with(knob, level) else { continue };
        let setting = Setting::of(&found.combination);
        info!("{=str} at level {=u16}, best: {}: {=u32}", name, level, Display2Format(&setting), found.cost as u32);
    }
    compare(tuner, costs, best.cost)?;

    let is_tuned = measured == all && ratio <= FACTOR;
    if !is_tuned {
        error!("not tuned: a result was wrong, or the best found costs over {=f32} times the best there is", FACTOR);
    }
    Ok(is_tuned)
}

/// Every level of every knob, with the knob's name and number.
fn levels() -> impl Iterator<Item = (&'static str, usize, Level)> {
    let knobs = NAMES.into_iter().zip(&KNOBS).enumerate();
    knobs.flat_map(|(i, (name, knob))| (0..knob.levels()).map(move |level| (name, i, level as Level)))
}

/// Other seeds, and random search, on the costs just measured.
fn compare(tuner: &mut CodeTuner, costs: &Costs, least: f32) -> Result<(), Error> {
    let (mut by_trimtab, mut at_random) = (Tally::default(), Tally::default());
    for seed in SEEDS {
        let tuned = search::tuned(tuner, &mut costs.replay(), seed, BUDGET, |_| ())?;
        let random = search::random(&mut costs.replay(), seed, BUDGET);
        let (Some(tuned), Some(random)) = (tuned, random) else { continue };
        let [tuned_ratio, random_ratio] = [tuned, random].map(|found| found.cost / least);
        by_trimtab.add(tuned_ratio);
        at_random.add(random_ratio);
        info!(
            "seed {=u64}: by trimtab {=f32} times the best at measurement {=usize}, at random {=f32} at {=usize}",
            seed,
            rounded(tuned_ratio),
            tuned.measurement,
            rounded(random_ratio),
            random.measurement
        );
    }
    for (title, tally) in [("by trimtab", by_trimtab), ("at random", at_random)] {
        info!(
            "{=str}, {=u32} seeds: {=u32} found the best, {=u32} came within 5 %, mean {=f32} and worst {=f32}",
            title,
            tally.seeds,
            tally.best,
            tally.close,
            rounded(tally.sum / tally.seeds as f32),
            rounded(tally.worst)
        );
    }
    Ok(())
}

/// Statistics over the seeds.
#[derive(Default)]
struct Tally {
    seeds: u32,
    best: u32,
    close: u32,
    sum: f32,
    worst: f32,
}

impl Tally {
    /// Adds a seed by the ratio of its result to the best.
    fn add(&mut self, ratio: f32) {
        self.seeds += 1;
        self.best += u32::from(ratio <= 1.0);
        self.close += u32::from(ratio <= 1.05);
        self.sum += ratio;
        self.worst = self.worst.max(ratio);
    }
}

/// Rounds to three decimals, for logs.
fn rounded(x: f32) -> f32 {
    (x * 1000.0 + 0.5) as u32 as f32 / 1000.0
}
