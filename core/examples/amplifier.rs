//! Tunes a simulated audio amplifier with knobs of all kinds: some settings are unsafe, some fail.
//!
//! `cargo run -p trimtab --example amplifier`

#![allow(clippy::unwrap_used)]

use trimtab::{Combination, Config, Error, Space};

/// What the levels of the mux are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Input {
    Line,
    Phono,
    Tape,
    Tuner,
}

trimtab::knobs! {
    /// The settings of the amplifier.
    struct Settings {
        input: Input = nominal [Input::Line, Input::Phono, Input::Tape, Input::Tuner],
        /// Feedback resistor.
        kiloohm: f32 = log [1.0, 2.2, 4.7, 10.0, 22.0, 47.0],
        picofarad: f32 = log [10.0, 22.0, 47.0, 100.0, 220.0],
        bias: i8 = ranked [0, 1, 2, 3, 4, 5, 6, 7],
    }
}
const BUDGET: usize = 48;
type Amplifier = trimtab::tuner!(Settings::KNOBS, observations: BUDGET, rows: 128);

/// Full bias with the smallest resistor would overheat the output stage, so it is never asked.
fn is_safe(c: &Combination<4>) -> bool {
    let settings = Settings::of(c);
    !(settings.kiloohm == 1.0 && settings.bias == 7)
}

/// Distortion in dB, or `None` if the amplifier oscillates and nothing can be measured.
fn measure(settings: Settings) -> Option<f32> {
    let Settings { input, kiloohm, picofarad, bias } = settings;
    if kiloohm >= 22.0 && picofarad == 10.0 {
        return None;
    }
    let input = match input {
        Input::Line => 6.0,
        Input::Phono => 0.0,
        Input::Tape => 9.0,
        Input::Tuner => 3.0,
    };
    let pole = (kiloohm * picofarad / 470.0).log2().abs();
    let crossover = (f32::from(bias) - 4.0).abs() + 0.5 * (kiloohm / 10.0).log2().abs();
    Some(-90.0 + input + 4.0 * pole + 2.0 * crossover)
}

fn tune() -> Result<Amplifier, Error> {
    let mut tuner = Amplifier::new();
    tuner.init(Space::new(&Settings::KNOBS)?.with_feasible(&is_safe), Config::default(), 1)?;
    for i in 1..=BUDGET {
        let proposal = tuner.ask()?;
        let settings = Settings::of(&proposal.combination);
        if let Some(decibels) = measure(settings) {
            tuner.tell(&proposal.combination, decibels)?;
            println!("{i:3}  {decibels:6.1} dB  {settings:?}");
        } else {
            tuner.tell_failed(&proposal.combination)?;
            println!("{i:3}  oscillates  {settings:?}");
        }
    }
    Ok(tuner)
}

fn main() -> Result<(), Error> {
    let tuner = tune()?;
    if let Some(best) = tuner.best_observed() {
        let all = tuner.space().cardinality();
        println!("best of {all} combinations: {:.1} dB with {:?}", best.value, Settings::of(&best.combination));
    }
    Ok(())
}

#[test]
fn it_finds_the_best_of_all() {
    let tuner = tune().unwrap();
    let space = tuner.space();
    let all = (0..=space.last_index()).map(|i| space.at(i).unwrap()).filter(|c| space.is_feasible(c));
    let best = all.filter_map(|c| measure(Settings::of(&c))).fold(f32::INFINITY, f32::min);
    assert_eq!(tuner.best_observed().map(|found| found.value), Some(best));
}
