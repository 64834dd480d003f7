//! The result for programs: one JSON object.
//!
//! Field names carry their units. Numbers that are not finite are null, as predictions before the
//! first observation are.

use std::path::Path;

use serde::Serialize;
use trimtab::Combination;
use trimtab_firmware::antenna::{self, Parts};

use super::run::{Run, Step};
use crate::error::Error;

#[derive(Serialize)]
struct Report {
    resistance_ohm: f32,
    reactance_ohm: f32,
    frequency_hz: f32,
    noise: f32,
    seed: u64,
    budget: usize,
    states: u128,
    unmatched_swr: f32,
    /// The state with the lowest measured cost.
    best: Option<Measurement>,
    /// The best state by brute force.
    optimum: State,
    /// SWR found / SWR of the optimum.
    ratio: Option<f32>,
    tuner_bytes: usize,
    seconds_per_ask: f64,
    seconds_per_tell: f64,
    picture: Option<String>,
    measurements: Vec<Measurement>,
}

#[derive(Serialize)]
struct State {
    /// Inductor code, capacitor code, topology.
    levels: Vec<trimtab::Level>,
    inductance_nh: f32,
    capacitance_pf: f32,
    capacitor_on: String,
    swr: f32,
}

#[derive(Serialize)]
struct Measurement {
    number: usize,
    #[serde(flatten)]
    state: State,
    /// The cost that the tuner was told.
    cost: f32,
    /// What the tuner predicted.
    mean: f32,
    std_dev: f32,
}

/// The whole run.
pub(crate) fn text(run: &Run, picture: Option<&Path>) -> Result<String, Error> {
    let settings = &run.settings;
    let network = &settings.network;
    let state = |c: &Combination<3>| {
        let parts = Parts::of(c);
        State {
            levels: c.levels().to_vec(),
            inductance_nh: parts.inductance_nh,
            capacitance_pf: parts.capacitance_pf,
            capacitor_on: parts.topology.to_string(),
            swr: network.swr(c),
        }
    };
    let measurement = |step: &Step| Measurement {
        number: step.number,
        state: state(&step.combination),
        cost: step.cost,
        mean: step.mean,
        std_dev: step.std_dev,
    };
    let count = run.steps.len().max(1) as f64;
    let report = Report {
        resistance_ohm: network.resistance(),
        reactance_ohm: network.reactance(),
        frequency_hz: network.frequency(),
        noise: settings.noise,
        seed: settings.seed,
        budget: settings.budget,
        states: antenna::space().cardinality(),
        unmatched_swr: network.unmatched_swr(),
        best: run.best().map(measurement),
        optimum: state(&run.optimum),
        ratio: run.best().map(|best| best.swr / run.optimum_swr()),
        tuner_bytes: Run::TUNER_BYTES,
        seconds_per_ask: run.asking.as_secs_f64() / count,
        seconds_per_tell: run.telling.as_secs_f64() / count,
        picture: picture.map(|path| path.display().to_string()),
        measurements: run.steps.iter().map(measurement).collect(),
    };
    match serde_json::to_string(&report) {
        Ok(text) => Ok(text + "\n"),
        Err(error) => Err(Error::Failed(format!("cannot write JSON: {error}; leave out --json"))),
    }
}
