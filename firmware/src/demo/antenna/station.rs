//! The antenna tuner as a product runs it: log in flash, watchdog, stream.
//!
//! ```text
//! a step    ask → arm → apply, measure → disarm → tell → record to flash → stream
//! ```
//!
//! **Choices**
//! - Flash, hardware, watchdog and port are type parameters, so tests on a PC run the code of the
//!   chip.
//! - It logs nothing: the image logs the results of its calls.
//! - A port that fails does not stop the tuner. Frame numbers show the listener that frames are
//!   missing.

use embedded_io::Write;
use embedded_storage::nor_flash::NorFlash;
use trimtab::{Combination, Error, Event, Record, Space};

use super::{AntennaKept, Network, number, swr_of_cost};
use trimtab_embedded::objective::Objective;
use trimtab_embedded::persistent::Stored;
use trimtab_embedded::telemetry::{About, Cause, Reporter};
use trimtab_embedded::watchdog::Watchdog;

/// An SWR within this factor of the optimum counts as tuned. If it rises by more than this factor,
/// the antenna has moved.
pub const TOLERANCE: f32 = 1.1;

/// A tuner, the hardware that it tunes, the watchdog and the stream.
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
        let _ = self.reporter.names(&super::NAMES);
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
        let mut stored = self.kept.replay(&Record::new(&combination, event))?;
        // The relays rest: a good time to erase.
        if stored == Stored::PageFull {
            stored = self.kept.prepare(&mut || ());
        }
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

#[cfg(test)]
mod tests {
    use std::boxed::Box;
    use std::vec::Vec;

    use super::*;
    use crate::demo::antenna::{AntennaTuner, Bench, space, task};
    use trimtab_embedded::flash::RamFlash;
    use trimtab_embedded::journal::Layout;
    use trimtab_embedded::persistent::Persistent;
    use trimtab_embedded::telemetry::check;

    /// Knows which measurement is armed, and how many there were.
    #[derive(Default)]
    struct Armed {
        now: Option<u32>,
        measurements: u32,
    }

    impl Watchdog for &mut Armed {
        fn bitten(&mut self) -> Option<u32> {
            None
        }

        fn arm(&mut self, measurement: u32) {
            assert_eq!(self.now.replace(measurement), None, "one measurement at a time");
        }

        fn disarm(&mut self) {
            assert!(self.now.take().is_some());
            self.measurements += 1;
        }
    }

    #[test]
    fn a_moved_antenna_is_noticed_and_the_stream_repeats_every_proposal() {
        /// Enough for a match that another antenna spoils.
        const FIRST: u16 = 40;
        let (mut tuner, mut flash) = (Box::new(AntennaTuner::new()), RamFlash::<5, 1024, 4>::new());
        let (mut armed, mut stream) = (Armed::default(), Vec::new());
        // Pages so short that the flash fills up and the tuner is rebuilt.
        let layout = Layout { range: 0..5 * 1024, records: 4 };
        let (kept, _) = Persistent::open(&mut tuner, &task(), &mut flash, layout).unwrap();
        let mut station = Station::new(kept, Bench::new(Network::SHORT_WIRE), &mut armed, &mut stream, FIRST);
        station.introduce(Cause::New);
        let stored: Vec<_> = (0..FIRST).map(|_| station.step().unwrap().stored).collect();
        assert!(stored.contains(&Stored::OldestDropped) && !stored.iter().any(|s| matches!(s, Stored::No(_))));
        // The antenna stays: the same SWR.
        let (was, is) = station.check().unwrap();
        assert_eq!(was, is);
        station.bench.network = Network::MOVED_WIRE;
        let (was, is) = station.check().unwrap();
        assert!(is > TOLERANCE * was, "{was} {is}");
        station.restart(10);
        (0..10).for_each(|_| assert_ne!(station.step().unwrap().event, Event::Failed));
        let (found, best) = station.compare(&Network::MOVED_WIRE, &space()).unwrap();
        assert!(found >= best && best >= 1.0);
        let Ok(()) = station.reporter.end();
        drop(station);
        assert_eq!((armed.now, armed.measurements), (None, u32::from(FIRST) + 2 + 10));
        let checked = check(&mut Box::new(AntennaTuner::new()), &space(), &stream).unwrap();
        assert_eq!(
            (checked.proposals, checked.unchecked, checked.lost, checked.garbled),
            (u32::from(FIRST) + 10, 0, 0, 0)
        );
        assert!(checked.runs > 2, "new, rebuilt at dropped pages, restarted: {checked:?}");
    }
}
