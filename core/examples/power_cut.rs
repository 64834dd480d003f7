//! The log is the state: a tuner rebuilt from its records goes on with the same bits.
//!
//! `cargo run -p trimtab --example power_cut`

#![allow(clippy::unwrap_used)]

use trimtab::{Combination, Config, Error, Event, Knob, Record, Space};

const RELAYS: [Knob; 12] = [Knob::nominal(2); 12];
type Bank = trimtab::tuner!(RELAYS, observations: 40, rows: 128);

/// Mismatch of a relay bank: each relay adds its own weight, and the sum should be 1000.
fn measure(c: &Combination<12>) -> f32 {
    let sum = c.levels().iter().enumerate().map(|(i, on)| f32::from(*on) * (30.0 + 17.0 * (i * i) as f32)).sum::<f32>();
    (sum - 1000.0).abs()
}

/// Measures `count` more combinations. Each record is logged before the tuner learns of it, so that
/// a power cut in between loses nothing.
fn tune(bank: &mut Bank, log: &mut Vec<Record<12>>, count: usize) -> Result<(), Error> {
    for _ in 0..count {
        let c = bank.ask()?.combination;
        let record = Record::new(&c, Event::Told(measure(&c)));
        log.push(record.clone());
        bank.replay(&record)?;
    }
    Ok(())
}

fn fresh() -> Result<Bank, Error> {
    let mut bank = Bank::new();
    bank.init(Space::new(&RELAYS)?, Config::default(), 7)?;
    Ok(bank)
}

fn main() -> Result<(), Error> {
    let (mut undisturbed, mut log) = (fresh()?, Vec::new());
    tune(&mut undisturbed, &mut log, 40)?;

    // The same run with a power cut after 15 measurements: only the log survives.
    let mut kept = Vec::new();
    tune(&mut fresh()?, &mut kept, 15)?;
    let mut bank = fresh()?;
    kept.iter().try_for_each(|record| bank.replay(record))?;
    println!("rebuilt from {} records, nothing is measured again", bank.len());
    tune(&mut bank, &mut kept, 25)?;

    println!("best without a cut: {:?}", undisturbed.best_observed());
    println!("best with a cut:    {:?}", bank.best_observed());
    assert_eq!(kept, log, "every measurement is the same");
    Ok(())
}

#[test]
fn a_power_cut_changes_nothing() {
    main().unwrap();
}
