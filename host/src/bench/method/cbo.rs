//! The paper's methods: the core crate under `Config::paper()`, asked the paper's ways.
//!
//! Kim, Choi and Cho, *Combinatorial Bayesian Optimization with Random Mapping Functions to Convex Polytopes*, UAI 2022.
//!
//! | setting | CBO-Lookup | CBO-Recon |
//! |---|---|---|
//! | d | 20; 10 in the authors' thumbs-up, which is `cbo-lookup-d10` | 20 |
//! | where the acquisition is searched | [0, 1]^d; the bounding box of all embeddings in `cbo-lookup-hull` | [0, 1]^d |
//! | back to a combination | the nearest that was not measured, exactly | R⁺x rounded at 0.02; a random one if that was measured |
//! | if the nearest is not found in 2²⁰ nodes, which was seen at 59 bits in one run of twenty | as CBO-Recon | |
//! | the rest | `Config::paper()` | `Config::paper()` |

use trimtab::matrix::triangle;
use trimtab::reconstruction::THRESHOLD;
use trimtab::{AskError, Config, Level, Proposal, Region, Space, Tuner};

use super::{Entry, Method, Task};
use crate::bench::domain::Domain;
use crate::error::Error;
use crate::session::engine::fault;

const SOURCE: &str = "Kim, Choi and Cho, UAI 2022, Config::paper()";

pub(crate) const LOOKUP: Entry = Entry {
    name: "cbo-lookup",
    about: "CBO-Lookup: search [0, 1]^20, then the nearest combination",
    source: SOURCE,
    start: |task| start::<20>(task, Way::Lookup(Region::UnitBox)),
};

pub(crate) const LOOKUP_10: Entry = Entry {
    name: "cbo-lookup-d10",
    about: "CBO-Lookup with d = 10, as in the authors' thumbs-up",
    source: SOURCE,
    start: |task| start::<10>(task, Way::Lookup(Region::UnitBox)),
};

pub(crate) const LOOKUP_HULL: Entry = Entry {
    name: "cbo-lookup-hull",
    about: "CBO-Lookup over the bounding box of the embeddings, nearer to the paper's text",
    source: SOURCE,
    start: |task| start::<20>(task, Way::Lookup(Region::BoundingBox)),
};

pub(crate) const RECON: Entry = Entry {
    name: "cbo-recon",
    about: "CBO-Recon: search [0, 1]^20, then R⁺x rounded at 0.02",
    source: SOURCE,
    start: |task| start::<20>(task, Way::Recon(Region::UnitBox, THRESHOLD)),
};

/// How a point becomes a combination.
#[derive(Clone, Copy, Debug)]
enum Way {
    Lookup(Region),
    Recon(Region, f32),
}

fn start<const D: usize>(task: &Task<'_>, way: Way) -> Result<Box<dyn Method>, Error> {
    let bits = Domain::new(task.knobs).bits();
    let fits = |(most, observations)| bits.max(task.knobs.len()) <= most && task.budget <= observations;
    Ok(match () {
        () if fits((32, 128)) => Box::new(Sized::<32, D, 128, { triangle(128) }>::new(task, way)?),
        () if fits((64, 512)) => Box::new(Sized::<64, D, 512, { triangle(512) }>::new(task, way)?),
        () => {
            let most = "the paper's methods take at most 64 bits and 512 evaluations";
            return Err(Error::Usage(format!("{most}; this problem has {bits} bits and {} evaluations", task.budget)));
        }
    })
}

struct Sized<const M: usize, const D: usize, const T: usize, const P: usize> {
    tuner: Box<Tuner<M, M, D, T, 1, P>>,
    way: Way,
}

impl<const M: usize, const D: usize, const T: usize, const P: usize> Sized<M, D, T, P> {
    fn new(task: &Task<'_>, way: Way) -> Result<Self, Error> {
        let mut tuner = Box::new(Tuner::new());
        tuner.init(Space::new(task.knobs).map_err(fault)?, Config::paper(), task.seed).map_err(fault)?;
        Ok(Self { tuner, way })
    }

    fn propose(&mut self) -> Result<Proposal<M>, AskError> {
        match self.way {
            Way::Lookup(region) => match self.tuner.ask_lookup(region) {
                Err(AskError::NodeLimit { .. }) => self.tuner.ask_recon(region, THRESHOLD),
                other => other,
            },
            Way::Recon(region, threshold) => self.tuner.ask_recon(region, threshold),
        }
    }
}

impl<const M: usize, const D: usize, const T: usize, const P: usize> Method for Sized<M, D, T, P> {
    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        match self.propose() {
            Ok(proposal) => Ok(Some(proposal.combination.levels().to_vec())),
            Err(AskError::Exhausted) => Ok(None),
            Err(error) => Err(fault(error)),
        }
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        let c = self.tuner.space().combination(levels).map_err(fault)?;
        self.tuner.tell(&c, cost as f32).map_err(fault)
    }
}
