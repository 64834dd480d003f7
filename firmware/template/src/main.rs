#![no_std]
#![no_main]

use semihosting::{println, process};
use static_cell::ConstStaticCell;
use trimtab::{Combination, Config, Error, Knob, Observation, Scale, Space};
use trimtab_embedded::objective::{Objective, tune};

const PICOFARADS: [f32; 5] = [10.0, 22.0, 47.0, 100.0, 220.0];
const KNOBS: [Knob; 3] = [
    Knob::nominal(4), // an input: levels without order
    Knob::ranked(8),  // a gain: levels in order
    Knob::graded(&PICOFARADS, Scale::Log),
];
type MyTuner = trimtab::tuner!(KNOBS, observations: 48, rows: 160);
static TUNER: ConstStaticCell<MyTuner> = ConstStaticCell::new(MyTuner::new());

/// A receiver made of numbers. Yours has pins, registers, an ADC.
#[derive(Default)]
struct Receiver([usize; 3]);

impl Objective<3> for Receiver {
    type Error = &'static str;

    fn apply(&mut self, c: &Combination<3>) -> Result<(), Self::Error> {
        self.0 = [0, 1, 2].map(|knob| c.level(knob).into()); // yours: write registers, set pins
        Ok(())
    }

    fn measure(&mut self) -> Result<f32, Self::Error> {
        let [input, gain, bank] = self.0; // yours: let it settle, read the ADC
        let signal = [0.0, 3.0, 5.0, 4.0][input] - (PICOFARADS[bank] - 47.0).abs() / 50.0;
        let error = (signal * gain as f32 - 18.0).abs();
        (signal > 0.0).then_some(error).ok_or("no signal")
    }
}

fn run() -> Result<Option<Observation<3>>, Error> {
    let tuner = TUNER.take();
    tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    tune(tuner, &mut Receiver::default(), 48)
}

#[cortex_m_rt::entry]
fn main() -> ! {
    let best = run();
    println!("{best:?}");
    process::exit(i32::from(!matches!(best, Ok(Some(_)))))
}
