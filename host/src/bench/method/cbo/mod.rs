//! The paper's methods: the core crate under `Config::paper()`, asked the paper's ways.
//!
//! Kim, Choi and Cho, *Combinatorial Bayesian Optimization with Random Mapping Functions to Convex
//! Polytopes*, UAI 2022.
//!
//! | setting | CBO-Lookup | CBO-Recon |
//! |---|---|---|
//! | d | 20; 10 in the authors' thumbs-up, which is `cbo-lookup-d10` | 20 |
//! | where the acquisition is searched | [0, 1]^d; their bounding box in `cbo-lookup-bounding-box`, the polytope itself in `cbo-lookup-polytope` | [0, 1]^d |
//! | back to a combination | the nearest that was not measured, exactly | R⁺x scaled to [0, 1] and rounded at 0.02; a random one if that was measured |
//! | if the nearest is not found in 2²⁰ nodes, which was seen at 59 bits in one run of twenty | as CBO-Recon | |
//! | the rest | `Config::paper()` | `Config::paper()` |
//!
//! [`changes`] and [`relevance`] have CBO-Lookup with one change each.

mod changes;
mod relevance;

use trimtab::{Config, Level, Region, THRESHOLD};
use trimtab_sizes::{Dimensions, PaperTuner, Way, start_paper};

use super::{Entry, Method, Task};
use crate::bench::domain::Domain;
use crate::error::Error;

pub(crate) use changes::{BETA, CENTRED, MEAN, NOISE, STANDARD, THEOREM};
pub(crate) use relevance::{ONE, PER_DIMENSION};

const SOURCE: &str = "Kim, Choi and Cho, UAI 2022, Config::paper()";

pub(crate) const LOOKUP: Entry = Entry {
    name: "cbo-lookup",
    about: "CBO-Lookup: search [0, 1]^20, then the nearest combination",
    source: SOURCE,
    fallback: "CBO-Recon, if the nearest is not found in 2²⁰ nodes",
    start: |task| start(task, Dimensions::Twenty, Way::Lookup(Region::UnitBox)),
};

pub(crate) const LOOKUP_10: Entry = Entry {
    name: "cbo-lookup-d10",
    about: "CBO-Lookup with d = 10, as in the authors' thumbs-up",
    source: SOURCE,
    fallback: "CBO-Recon, if the nearest is not found in 2²⁰ nodes",
    start: |task| start(task, Dimensions::Ten, Way::Lookup(Region::UnitBox)),
};

pub(crate) const LOOKUP_POLYTOPE: Entry = Entry {
    name: "cbo-lookup-polytope",
    about: "CBO-Lookup over the polytope of the embeddings, as in the paper's text",
    source: SOURCE,
    fallback: "CBO-Recon, if the nearest is not found in 2²⁰ nodes",
    start: |task| start(task, Dimensions::Twenty, Way::Lookup(Region::Polytope)),
};

pub(crate) const LOOKUP_BOUNDING_BOX: Entry = Entry {
    name: "cbo-lookup-bounding-box",
    about: "CBO-Lookup over the bounding box of the embeddings",
    source: SOURCE,
    fallback: "CBO-Recon, if the nearest is not found in 2²⁰ nodes",
    start: |task| start(task, Dimensions::Twenty, Way::Lookup(Region::BoundingBox)),
};

pub(crate) const RECON: Entry = Entry {
    name: "cbo-recon",
    about: "CBO-Recon: search [0, 1]^20, then R⁺x rounded at 0.02",
    source: SOURCE,
    fallback: "a random combination, if the rounded one was measured",
    start: |task| start(task, Dimensions::Twenty, Way::Recon(Region::UnitBox, THRESHOLD)),
};

fn start(task: &Task<'_>, dimensions: Dimensions, way: Way) -> Result<Box<dyn Method>, Error> {
    start_with(task, Config::paper(), dimensions, way)
}

fn start_with(task: &Task<'_>, config: Config, dimensions: Dimensions, way: Way) -> Result<Box<dyn Method>, Error> {
    let bits = Domain::new(task.knobs).bits();
    Ok(Box::new(Cbo { tuner: start_paper(task.knobs, bits, config, dimensions, task.budget, task.seed)?, way }))
}

struct Cbo {
    tuner: Box<dyn PaperTuner>,
    way: Way,
}

impl Method for Cbo {
    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        Ok(self.tuner.ask(self.way)?)
    }

    fn fallbacks(&self) -> usize {
        self.tuner.fallbacks()
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        Ok(self.tuner.tell(levels, cost as f32)?)
    }
}
