//! The tuner of the chip as a method: the core crate itself, see [`engine`](crate::session::engine).
//!
//! | setting | value |
//! |---|---|
//! | configuration | `Config::default()` |
//! | rows of the lookup table | 256 |

use trimtab::{Config, Level};

use super::{Entry, Method};
use crate::error::Error;
use crate::session::engine::{self, Engine, Setup};

pub(crate) const TRIMTAB: Entry = Entry {
    name: "trimtab",
    about: "what runs on the chip: Matérn + linear on the knobs, a table of 256 rows, UCB",
    source: "this project, Config::default()",
    start: |task| {
        let (knobs, seed, observations) = (task.knobs, task.seed, task.budget);
        let engine = engine::start(Setup { knobs, config: Config::default(), seed, observations, feasible: None })?;
        Ok(Box::new(Trimtab(engine)))
    },
};

struct Trimtab(Box<dyn Engine>);

impl Method for Trimtab {
    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        Ok(self.0.ask()?.map(|opinion| opinion.levels))
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        self.0.tell(levels, cost as f32)
    }
}
