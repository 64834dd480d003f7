//! The antenna, live: the chip's own station on simulated hardware, beside two rivals.
//!
//! **Choices**
//! - [`Station`] is the product that the image `antenna` runs: its log in flash and its stream are
//!   those of the chip, so the bytes of the stream can be compared with a chip's.
//! - The next choice is asked from a copy of the tuner: looking at it changes no bit.
//! - When the antenna moves, its best state is measured again; if it got worse, the station begins
//!   anew from its best states, as on the chip.

mod rig;
mod rival;
#[path = "../../../src/antenna/run.rs"]
#[allow(dead_code)]
mod run;

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};
use trimtab::{Combination, Event, Level};
use trimtab_embedded::flash::RamFlash;
use trimtab_embedded::journal::Layout;
use trimtab_embedded::persistent::{Persistent, Task};
use trimtab_embedded::telemetry::Cause;
use trimtab_firmware::antenna::{
    self, AntennaTuner, CAPACITANCE_PF, INDUCTANCE_NH, LEVELS, Network, Parts, Station, TOLERANCE,
};

use crate::bench::method::{DESCENT, RANDOM};
pub(crate) use rig::Settings;
use rig::{NoWatchdog, Rig};
use rival::Rival;

/// As in the image.
type Flash = RamFlash<5, 1024, 4>;
const LAYOUT: Layout = Layout { range: 0..5 * 1024, records: 40 };

/// The serial port: all that was sent.
#[derive(Clone, Default)]
pub(crate) struct Port(Rc<RefCell<Vec<u8>>>);

impl embedded_io::ErrorType for Port {
    type Error = core::convert::Infallible;
}

impl embedded_io::Write for Port {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// What the page can colour the states by, in the order of its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Layer {
    Mean,
    Deviation,
    /// The acquisition, the chance of success included.
    Score,
}

/// A run.
pub(crate) struct Live {
    settings: Settings,
    station: Station<'static, Flash, Rig, NoWatchdog, Port>,
    port: Port,
    rivals: Vec<Rival>,
    /// Number of starts: the first, and one after each move that was noticed.
    turns: u64,
    /// Measurements since the last of them, and in all.
    measured: usize,
    proposals: usize,
}

impl Live {
    /// Starts a run. The page makes an instance of the module per run, so leaking is fine.
    pub(crate) fn new(settings: Settings) -> Result<Self, String> {
        let tuner = Box::leak(Box::new(AntennaTuner::new()));
        let task = Task { seed: settings.seed, ..antenna::task() };
        let (kept, _) = Persistent::open(tuner, &task, Flash::new(), LAYOUT).map_err(|error| error.to_string())?;
        let port = Port::default();
        let station = Station::new(kept, Rig::new(&settings, 0), NoWatchdog, port.clone(), settings.budget);
        let mut live = Self { settings, station, port, rivals: Vec::new(), turns: 0, measured: 0, proposals: 0 };
        live.station.introduce(Cause::New);
        live.invite();
        Ok(live)
    }

    /// New rivals for the antenna as it is.
    fn invite(&mut self) {
        let rivals = [&RANDOM, &DESCENT].into_iter().zip(1..);
        self.rivals = rivals.filter_map(|(one, i)| Rival::new(one, &self.settings, 3 * self.turns + i)).collect();
        self.measured = 0;
    }

    /// Measures `count` times; returns the new measurements and the state after them.
    pub(crate) fn steps(&mut self, count: usize) -> Result<Value, String> {
        let mut steps = Vec::new();
        for _ in 0..count {
            steps.push(self.step()?);
        }
        let mut state = self.state();
        state["steps"] = steps.into();
        Ok(state)
    }

    fn step(&mut self) -> Result<Value, String> {
        let step = self.station.step().map_err(|error| error.to_string())?;
        self.rivals.iter_mut().for_each(Rival::step);
        self.measured += 1;
        self.proposals += 1;
        let c = step.combination;
        let mut shown = self.shown(&c);
        shown["failed"] = (step.event == Event::Failed).into();
        shown["best"] = self.best_swr().into();
        let best = |rival: &Rival| rival.curve.last().copied().filter(|swr| swr.is_finite());
        shown["rivals"] = self.rivals.iter().map(best).collect::<Vec<_>>().into();
        Ok(shown)
    }

    /// The true SWR of the state that measured best.
    fn best_swr(&self) -> Option<f32> {
        self.station.kept.tuner().best_observed().map(|best| self.settings.network.swr(&best.combination))
    }

    fn shown(&self, c: &Combination<3>) -> Value {
        let parts = Parts::of(c);
        json!({
            "levels": c.levels(), "nh": parts.inductance_nh, "pf": parts.capacitance_pf,
            "side": parts.topology.name(), "swr": self.settings.network.swr(c),
        })
    }

    /// What is known now.
    pub(crate) fn state(&self) -> Value {
        let tuner = self.station.kept.tuner();
        let next = tuner.clone().ask().ok().map(|next| {
            let mut shown = self.shown(&next.combination);
            shown["mean"] = next.mean.into();
            shown["deviation"] = Some(next.std_dev).filter(|deviation| deviation.is_finite()).into();
            shown
        });
        let best = tuner.best_observed().map(|best| self.shown(&best.combination));
        let stream = self.port.0.borrow();
        json!({
            "measured": self.measured, "proposals": self.proposals, "failures": tuner.failures(), "best": best,
            "next": next, "noise": tuner.noise(), "steps": [],
            "fingerprint": crate::bits::fingerprint(&stream),
            "chip": crate::bits::chip_fingerprint(self.proposals),
        })
    }

    /// The bytes that were streamed.
    pub(crate) fn stream(&self) -> Vec<u8> {
        self.port.0.borrow().clone()
    }

    /// Moves the antenna. If that spoils the match, all begins anew from the best states.
    pub(crate) fn relocate(&mut self, network: Network, budget: u16) -> Value {
        self.settings.network = network;
        self.turns += 1;
        self.station.bench = Rig::new(&self.settings, 3 * self.turns);
        let checked = if self.measured == 0 { None } else { self.station.check() };
        let has_moved = checked.is_none_or(|(was, is)| is > TOLERANCE * was);
        if has_moved {
            self.station.restart(budget);
            self.invite();
        }
        let mut state = self.state();
        state["noticed"] = has_moved.into();
        state["checked"] = checked.map(|(was, is)| [was, is]).into_iter().flatten().collect::<Vec<f32>>().into();
        state
    }

    /// Ends the stream as the image does.
    pub(crate) fn end(&mut self) {
        let Ok(()) = self.station.reporter.end();
    }

    /// What the model believes of every `stride`-th state, all of one topology after the other: means,
    /// deviations or scores. Not a number where it believes nothing yet.
    pub(crate) fn belief(&self, stride: usize, layer: Layer) -> Vec<f32> {
        let (mut tuner, space) = (self.station.kept.tuner().clone(), antenna::space());
        if layer == Layer::Score {
            // Scores are those of an ask. Where nothing is left to ask, there are none.
            let _ = tuner.ask();
        }
        let believed = |c| match layer {
            Layer::Mean => tuner.predict(&c).map(|estimate| estimate.mean),
            Layer::Deviation => tuner.predict(&c).map(|estimate| estimate.std_dev),
            Layer::Score => tuner.score(&c),
        };
        let one = |levels: [Level; 3]| space.combination(&levels).ok().and_then(believed).unwrap_or(f32::NAN);
        states(stride).map(one).collect()
    }
}

/// Every `stride`-th state from the middle of its square: capacitors in rows, inductors in columns.
fn states(stride: usize) -> impl Iterator<Item = [Level; 3]> {
    let places = move || (stride / 2..LEVELS).step_by(stride);
    (0..2).flat_map(move |side| places().flat_map(move |c| places().map(move |l| [l as Level, c as Level, side])))
}

/// The SWR of every state, in the order of [`Live::belief`].
pub(crate) fn truth(network: &Network) -> Vec<f32> {
    let space = antenna::space();
    let swr = |levels: [Level; 3]| space.combination(&levels).map_or(f32::NAN, |c| network.swr(&c));
    states(1).map(swr).collect()
}

/// What can be said of an antenna before any measurement.
pub(crate) fn about(settings: &Settings) -> Value {
    let network = &settings.network;
    let best = rig::optimum(settings).map(|c| {
        let parts = Parts::of(&c);
        json!({
            "levels": c.levels(), "swr": network.swr(&c), "nh": parts.inductance_nh, "pf": parts.capacitance_pf,
            "side": parts.topology.name(),
        })
    });
    json!({
        "unmatched": network.unmatched_swr(), "optimum": best, "states": antenna::space().cardinality() as u32,
        "inductance": INDUCTANCE_NH[..], "capacitance": CAPACITANCE_PF[..], "brokenRelay": rig::BROKEN_PF,
        "bytes": size_of::<AntennaTuner>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_acquisition_charges_for_likely_failures() {
        let settings = Settings { network: Network::SHORT_WIRE, seed: 1, noise: 0.0, is_broken: true, budget: 60 };
        let mut live = Live::new(settings).unwrap();
        assert!(live.belief(16, Layer::Score).iter().all(|score| score.is_nan()), "nothing is measured yet");
        live.steps(60).unwrap();
        let space = antenna::space();
        let fails: Vec<bool> =
            states(16).map(|levels| rig::needs_broken(&space.combination(&levels).unwrap())).collect();
        let mean = |layer: Layer, is_failing: bool| {
            let numbers = live.belief(16, layer);
            let own: Vec<f32> =
                numbers.iter().zip(&fails).filter(|(_, f)| **f == is_failing).map(|(n, _)| *n).collect();
            own.iter().sum::<f32>() / own.len() as f32
        };
        let (bad, good) = (mean(Layer::Score, true), mean(Layer::Score, false));
        assert!(bad > good + 1.0, "{bad} {good}");
        assert!(mean(Layer::Mean, true).is_finite() && mean(Layer::Deviation, true) > 0.0);
    }
}
