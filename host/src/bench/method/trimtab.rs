//! The chip's tuner as a method: the core crate itself, through [`trimtab_sizes`].
//!
//! | setting | value |
//! |---|---|
//! | configuration | `Config::default()` |
//! | lookup table | 256 rows, of which 128 are candidates of sweeps |

use trimtab::{Config, Event, Level};
use trimtab_sizes::{AnyTuner, Setup};

use super::{Entry, Method, Recommendation};
use crate::error::Error;

pub(crate) const TRIMTAB: Entry = Entry {
    name: "trimtab",
    about: "the tuner of the chip: product kernel over the knobs, 128 candidates, UCB",
    source: "this project, Config::default()",
    fallback: "nothing: it asks for the best of what it scored",
    start: |task| {
        let (knobs, seed, observations) = (task.knobs, task.seed, task.budget);
        let setup = Setup {
            knobs,
            conditions: &[],
            config: Config::default(),
            seed,
            observations,
            feasible: None,
            prior: None,
        };
        Ok(Box::new(Trimtab(trimtab_sizes::start(setup)?)))
    },
};

struct Trimtab(Box<dyn AnyTuner>);

impl Method for Trimtab {
    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        Ok(self.0.ask()?.map(|prediction| prediction.levels))
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        Ok(self.0.replay(levels, Event::Told(cost as f32))?)
    }

    fn tell_failed(&mut self, levels: &[Level]) -> Result<bool, Error> {
        self.0.replay(levels, Event::Failed)?;
        Ok(true)
    }

    fn is_settled(&self, tolerance: f64) -> bool {
        self.0.is_settled(tolerance as f32)
    }

    fn recommend(&mut self) -> Option<Recommendation> {
        let best = self.0.best_posterior()?;
        Some(Recommendation { belief: Some((f64::from(best.mean), f64::from(best.std_dev))), levels: best.levels })
    }
}
