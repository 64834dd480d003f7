#![no_std]
#![no_main]

use semihosting::{println, process};
use static_cell::ConstStaticCell;
use trimtab::{Combination, Config, Error, Space};
use trimtab_embedded::objective::{Objective, tune};

trimtab::knobs! {
    struct Settings {
        input: usize = nominal [0, 1, 2, 3],                       // levels without order
        gain: u8 = ranked [0, 1, 2, 3, 4, 5, 6, 7],                // levels in order
        picofarad: f32 = log [10.0, 22.0, 47.0, 100.0, 220.0],     // levels with values
    }
}
type MyTuner = trimtab::tuner!(Settings::KNOBS, observations: 48, rows: 160);
static TUNER: ConstStaticCell<MyTuner> = ConstStaticCell::new(MyTuner::new());

/// A receiver made of numbers. Yours has pins, registers, an ADC.
struct Receiver(Option<Settings>);

impl Objective<3> for Receiver {
    type Error = &'static str;

    fn apply(&mut self, c: &Combination<3>) -> Result<(), Self::Error> {
        self.0 = Some(Settings::of(c)); // yours: write registers, set pins
        Ok(())
    }

    fn measure(&mut self) -> Result<f32, Self::Error> {
        let now = self.0.ok_or("off")?; // yours: let it settle, read the ADC
        let signal = [0.0, 3.0, 5.0, 4.0][now.input] - (now.picofarad - 47.0).abs() / 50.0;
        let error = (signal * f32::from(now.gain) - 18.0).abs();
        (signal > 0.0).then_some(error).ok_or("no signal")
    }
}

fn run() -> Result<Option<(f32, Settings)>, Error> {
    let tuner = TUNER.take();
    tuner.init(Space::new(&Settings::KNOBS)?, Config::default(), 1)?;
    let best = tune(tuner, &mut Receiver(None), 48)?;
    Ok(best.map(|best| (best.value, Settings::of(&best.combination))))
}

#[cortex_m_rt::entry]
fn main() -> ! {
    let best = run();
    println!("{best:?}");
    process::exit(i32::from(!matches!(best, Ok(Some(_)))))
}
