//! Random search and 1-step local search on the same antenna with as many measurements.

use trimtab::{Event, Level};
use trimtab_embedded::objective::Objective;
use trimtab_firmware::antenna::{self, KNOBS};

use super::rig::{Rig, Settings};
use crate::bench::method::{Entry, Method, Task};

/// A failure counts as a cost far above all others, as in the host's races.
const FAILED: f64 = 20.0;

pub(crate) struct Rival {
    method: Box<dyn Method>,
    rig: Rig,
    settings: Settings,
    /// The lowest measured cost and its state.
    best: Option<(f32, Vec<Level>)>,
    /// The true SWR of that state after each measurement; infinite before the first success.
    pub(crate) curve: Vec<f32>,
}

impl Rival {
    pub(crate) fn new(entry: &Entry, settings: &Settings, turn: u64) -> Option<Self> {
        let method = (entry.start)(&Task { knobs: &KNOBS, seed: settings.seed }).ok()?;
        Some(Self { method, rig: Rig::new(settings, turn), settings: *settings, best: None, curve: Vec::new() })
    }

    /// One measurement.
    pub(crate) fn step(&mut self) {
        if let Ok(Some(levels)) = self.method.ask() {
            self.measure(&levels);
        }
        let space = antenna::space();
        let state = self.best.as_ref().and_then(|(_, levels)| space.combination(levels).ok());
        self.curve.push(state.map_or(f32::INFINITY, |c| self.settings.network.swr(&c)));
    }

    fn measure(&mut self, levels: &[Level]) {
        let Ok(c) = antenna::space().combination(levels) else { return };
        let cost = match self.rig.outcome(&c) {
            Event::Told(cost) => {
                if self.best.as_ref().is_none_or(|(best, _)| cost < *best) {
                    self.best = Some((cost, levels.to_vec()));
                }
                cost.into()
            }
            _ => FAILED,
        };
        // A method of these two refuses nothing.
        let _ = self.method.tell(levels, cost);
    }
}
