//! The RP2040's watchdog behind trimtab's trait. Its scratch registers outlive the reset that it causes.

use rp2040_hal::Watchdog as Peripheral;
use rp2040_hal::fugit::ExtU32 as _;
use rp2040_hal::watchdog::ScratchRegister::{Scratch0, Scratch1, Scratch2};
use trimtab::Combination;
use trimtab_embedded::watchdog::{Mark, Watchdog};

/// The number by which a combination is known after the reset.
pub fn number(c: &Combination<8>) -> u32 {
    c.levels().iter().fold(0, |number, level| 2 * number + u32::from(*level))
}

/// Bites measurements that take longer than a tenth of a second.
pub struct Dog(pub Peripheral);

impl Dog {
    fn keep(&mut self, mark: Mark) {
        let [a, b, c] = mark.words();
        self.0.write_scratch(Scratch0, a);
        self.0.write_scratch(Scratch1, b);
        self.0.write_scratch(Scratch2, c);
    }
}

impl Watchdog for Dog {
    fn bitten(&mut self) -> Option<u32> {
        let mut mark = Mark::of([Scratch0, Scratch1, Scratch2].map(|scratch| self.0.read_scratch(scratch)));
        let bitten = mark.take();
        self.keep(mark);
        bitten
    }

    fn arm(&mut self, measurement: u32) {
        let mut mark = Mark::CLEAR;
        mark.set(measurement);
        self.keep(mark);
        self.0.start(100.millis());
    }

    fn disarm(&mut self) {
        self.0.disable();
        self.keep(Mark::CLEAR);
    }
}
