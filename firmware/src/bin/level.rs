//! Tunes a front end by a level in decibels, with exact and with rough functions, and counts both.
//!
//! A cost only has to rank combinations, so the errors of `trimtab::math::rough` (micromath) do no
//! harm, and a measurement in an interrupt ends sooner. Exit code 0 means that both runs found the
//! best setting of all.
#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m_rt::entry;
use defmt::{error, info};
use static_cell::ConstStaticCell;
use trimtab::math::{self, rough};
use trimtab::{Config, Error, Space};
use trimtab_firmware::demo::level::{BUDGET, FrontEnd, LevelTuner, decibels, error_power};
use trimtab_firmware::device::{self, Timer};

const SEED: u64 = 1;
/// Arguments that a function is counted over.
const ARGUMENTS: u32 = 1000;

type Function = fn(f32) -> f32;

static TUNER: ConstStaticCell<LevelTuner> = ConstStaticCell::new(LevelTuner::new());

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

fn run() -> Result<bool, Error> {
    let timer = Timer::start();
    let functions: [(&str, Function, Function); 2] = [("sqrt", math::sqrt, rough::sqrt), ("ln", math::ln, rough::ln)];
    for (name, exact, rough) in functions {
        let mean = |f: Function| {
            let sum = || (1..=ARGUMENTS).fold(0.0, |sum, i| sum + black_box(f)(i as f32 * 0.01));
            timer.count(sum).1 / ARGUMENTS
        };
        info!("{=str}: {=u32} {=str} exact, {=u32} rough", name, mean(exact), timer.unit(), mean(rough));
    }
    let tuner = TUNER.take();
    let ways: [(&str, Function); 2] = [("exact", math::ln), ("rough", rough::ln)];
    let mut found_both = true;
    for (name, ln) in ways {
        let Some(settings) = tune(tuner, ln)? else { return Ok(false) };
        let power = error_power(settings);
        let level = decibels(power, math::ln);
        let space = tuner.space();
        let powers = (0..=space.last_index()).filter_map(|i| space.at(i)).map(|c| error_power(FrontEnd::of(&c)));
        let least = powers.fold(f32::INFINITY, f32::min);
        info!(
            "{=str}: {=f32} dB after {=usize} measurements, {=f32} dB is the best: {}",
            name,
            level,
            BUDGET,
            decibels(least, math::ln),
            settings
        );
        found_both &= power == least;
    }
    Ok(found_both)
}

/// Tunes with this logarithm. Returns the settings found.
fn tune(tuner: &mut LevelTuner, ln: Function) -> Result<Option<FrontEnd>, Error> {
    tuner.init(Space::new(&FrontEnd::KNOBS)?, Config::default(), SEED)?;
    for _ in 0..BUDGET {
        let c = tuner.ask()?.combination;
        tuner.tell(&c, decibels(error_power(FrontEnd::of(&c)), ln))?;
    }
    Ok(tuner.best_observed().map(|best| FrontEnd::of(&best.combination)))
}
