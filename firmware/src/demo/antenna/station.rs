//! The antenna tuner as a product runs it: log in flash, watchdog, stream.
//!
//! ```text
//! a step    ask → arm → apply, measure → disarm → record to flash → tell → stream
//! ```
//!
//! **Choices**
//! - Flash, hardware, watchdog and port are type parameters, so a PC runs the code of the chip.
//! - It logs nothing: each call returns what the image may want to log.
//! - A port that fails does not stop the tuner. Frame numbers show the listener what is missing.

use embedded_io::Write;
use embedded_storage::nor_flash::NorFlash;
use trimtab::{Combination, Error, Event, Record, Space};

use super::{AntennaKept, Network, number, swr_of_cost};
use crate::objective::Objective;
use crate::persistent::Stored;
use crate::telemetry::{About, Cause, Reporter};
use crate::watchdog::Watchdog;

/// An SWR within this factor of the optimum counts as tuned; beyond this factor of what it was, the
/// antenna has moved.
pub const TOLERANCE: f32 = 1.1;

/// A tuner, the hardware that it tunes, and who watches over both.
pub struct Station<'t, F, O, W, S> {
    /// The tuner with its log in flash.
    pub kept: AntennaKept<'t, F>,
    /// The hardware.
    pub bench: O,
    /// Guards each measurement.
    pub watchdog: W,
    /// Streams the run.
    pub reporter: Reporter<S>,
    /// Planned measurements, for the stream.
    pub budget: u16,
    introduced: u32,
}

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The state that was measured.
    pub combination: Combination<3>,
    /// Its outcome.
    pub event: Event,
    /// Whether the outcome is in flash.
    pub stored: Stored,
}

impl<'t, F: NorFlash, O: Objective<3>, W: Watchdog, S: Write> Station<'t, F, O, W, S> {
    /// Puts the parts together. Call [`introduce`](Self::introduce) before the first step.
    pub fn new(kept: AntennaKept<'t, F>, bench: O, watchdog: W, port: S, budget: u16) -> Self {
        Self { kept, bench, watchdog, reporter: Reporter::new(port), budget, introduced: 0 }
    }

    /// Sends the listener the tuner and the records that it learned from.
    pub fn introduce(&mut self, cause: Cause) {
        self.introduced = self.kept.rebuilds();
        let about = About { name: "antenna", cause, budget: self.budget };
        let _ = self.reporter.hello(self.kept.tuner(), &about);
        // If the log cannot be read, the next record that cannot be written reports the trouble.
        let _ = self.kept.history(|record| {
            let _ = self.reporter.resumed(record);
        });
    }

    /// Asks, measures, stores the outcome, learns from it and streams it.
    pub fn step(&mut self) -> Result<Step, Error> {
        let proposal = self.kept.ask()?;
        // A full flash drops its oldest page, and the tuner is rebuilt from the rest.
        if self.kept.rebuilds() != self.introduced {
            self.introduce(Cause::Rebuilt);
        }
        let combination = proposal.combination;
        let event = self.measure(&combination);
        let stored = self.kept.replay(&Record::new(&combination, event))?;
        let _ = self.reporter.measured(&proposal, event);
        Ok(Step { combination, event, stored })
    }

    /// Measures under the watchdog: a measurement that hangs ends in a reset.
    pub fn measure(&mut self, c: &Combination<3>) -> Event {
        self.watchdog.arm(number(c));
        let event = self.bench.outcome(c);
        self.watchdog.disarm();
        event
    }

    /// Measures the best state again, outside the log. Returns its SWR as it was and as it is, or
    /// `None` if no state has a value or the measurement fails.
    pub fn check(&mut self) -> Option<(f32, f32)> {
        let best = self.kept.tuner().best_observed()?;
        match self.measure(&best.combination) {
            Event::Told(cost) => Some((swr_of_cost(best.value), swr_of_cost(cost))),
            _ => None,
        }
    }

    /// The SWR of the best state found and of the best feasible state, by brute force.
    pub fn compare(&self, network: &Network, space: &Space<3>) -> Option<(f32, f32)> {
        let found = self.kept.tuner().best_observed()?.combination;
        Some((network.swr(&found), network.swr(&network.optimum(space)?)))
    }

    /// Forgets all outcomes and asks for the best of them first, because the antenna has moved.
    pub fn restart(&mut self, budget: u16) {
        self.kept.restart();
        self.budget = budget;
        self.introduce(Cause::Rebuilt);
    }
}
