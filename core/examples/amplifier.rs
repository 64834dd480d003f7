//! Tunes a simulated audio amplifier with knobs of all kinds: some settings are unsafe, some fail.
//!
//! `cargo run -p trimtab --example amplifier`

#![allow(clippy::unwrap_used)]

use trimtab::{Combination, Config, Error, Knob, Scale, Space};

const KNOBS: [Knob; 4] = [
    Knob::nominal(4),                                             // input of the mux
    Knob::graded(&[1.0, 2.2, 4.7, 10.0, 22.0, 47.0], Scale::Log), // feedback resistor, kΩ
    Knob::graded(&[10.0, 22.0, 47.0, 100.0, 220.0], Scale::Log),  // capacitor, pF
    Knob::ranked(8),                                              // bias, in steps
];
const BUDGET: usize = 48;
type Amplifier = trimtab::tuner!(KNOBS, observations: BUDGET, rows: 128);

/// Full bias with the smallest resistor would overheat the output stage, so it is never asked.
fn is_safe(c: &Combination<4>) -> bool {
    !(c.level(1) == 0 && c.level(3) == 7)
}

/// Distortion in dB, or `None` if the amplifier oscillates and nothing can be measured.
fn measure(c: &Combination<4>) -> Option<f32> {
    let (mux, resistor, capacitor, bias) = (c.level(0), c.level(1), c.level(2), c.level(3));
    if resistor >= 4 && capacitor == 0 {
        return None;
    }
    let input = [6.0, 0.0, 9.0, 3.0][usize::from(mux)];
    let pole = (f32::from(resistor) + f32::from(capacitor) - 5.0).abs();
    let crossover = (f32::from(bias) - 4.0).abs() + 0.5 * (f32::from(resistor) - 3.0).abs();
    Some(-90.0 + input + 4.0 * pole + 2.0 * crossover)
}

fn tune() -> Result<Amplifier, Error> {
    let mut tuner = Amplifier::new();
    tuner.init(Space::new(&KNOBS)?.with_feasible(&is_safe), Config::default(), 1)?;
    for i in 1..=BUDGET {
        let proposal = tuner.ask()?;
        if let Some(decibels) = measure(&proposal.combination) {
            tuner.tell(&proposal.combination, decibels)?;
            println!("{i:3}  {:?}  {decibels:6.1} dB", proposal.combination);
        } else {
            tuner.tell_failed(&proposal.combination)?;
            println!("{i:3}  {:?}  oscillates", proposal.combination);
        }
    }
    Ok(tuner)
}

fn main() -> Result<(), Error> {
    let tuner = tune()?;
    if let Some(best) = tuner.best_observed() {
        let all = tuner.space().cardinality();
        println!("best of {all} combinations: {:?} with {:.1} dB", best.combination, best.value);
    }
    Ok(())
}

#[test]
fn it_finds_the_best_of_all() {
    let tuner = tune().unwrap();
    let space = tuner.space();
    let all = (0..=space.last_index()).map(|i| space.at(i).unwrap()).filter(|c| space.is_feasible(c));
    let best = all.filter_map(|c| measure(&c)).fold(f32::INFINITY, f32::min);
    assert_eq!(tuner.best_observed().map(|found| found.value), Some(best));
}
