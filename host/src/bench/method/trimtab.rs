//! The chip's tuner as a method: the core crate itself, through [`trimtab_sizes`].
//!
//! | setting | value |
//! |---|---|
//! | configuration | `Config::default()` |
//! | lookup table | 256 rows, of which 128 are candidates of sweeps |
//!
//! `trimtab-…` are the same with one change each: what more or less work per ask and tell buys.

use trimtab::{Acquisition, Config, Event, Level};
use trimtab_sizes::{AnyTuner, Setup};

use super::{Entry, Method, Recommendation, Task};
use crate::error::Error;

pub(crate) const TRIMTAB: Entry = Entry {
    name: "trimtab",
    about: "the tuner of the chip: product kernel over the knobs, 128 candidates, UCB",
    source: "this project, Config::default()",
    fallback: FALLBACK,
    start: |task| start(task, Config::DEFAULT),
};

const FALLBACK: &str = "nothing: it asks for the best of what it scored";

/// The tuner with one change of its configuration.
macro_rules! changed {
    ($name:literal, $about:literal, $($change:tt)*) => {
        Entry {
            name: $name,
            about: $about,
            source: "this project, Config::default() with one change",
            fallback: FALLBACK,
            start: |task| start(task, Config { $($change)*, ..Config::DEFAULT }),
        }
    };
}

pub(crate) const ROWS_128: Entry =
    changed!("trimtab-rows-128", "trimtab with a table of 128 rows: 64 candidates per ask", rows: 128);
pub(crate) const ROWS_1024: Entry =
    changed!("trimtab-rows-1024", "trimtab with a table of 1024 rows: 512 candidates per ask", rows: 1024);
pub(crate) const REFIT_8: Entry =
    changed!("trimtab-refit-8", "trimtab that fits when its observations have grown by an eighth", refit: 8);
pub(crate) const REFIT_ALWAYS: Entry =
    changed!("trimtab-refit-always", "trimtab that fits at every tell", refit: u16::MAX);
pub(crate) const EI: Entry = changed!(
    "trimtab-ei", "trimtab with expected improvement instead of UCB", acquisition: Acquisition::ExpectedImprovement
);

fn start(task: &Task<'_>, config: Config) -> Result<Box<dyn Method>, Error> {
    let &Task { knobs, seed, budget: observations } = task;
    let setup = Setup { knobs, conditions: &[], config, seed, observations, feasible: None, prior: None };
    Ok(Box::new(Trimtab(trimtab_sizes::start(setup)?)))
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::method::trial::{asks, pattern};
    use trimtab::Knob;

    /// Each change reaches the tuner: it asks for something else, sooner or later.
    #[test]
    fn every_change_changes_what_is_asked() {
        let asked = |entry: &Entry| asks(entry, &[Knob::nominal(3); 16], 5, 60, pattern);
        let plain = asked(&TRIMTAB);
        for changed in [ROWS_128, ROWS_1024, REFIT_8, REFIT_ALWAYS, EI] {
            assert_ne!(asked(&changed), plain, "{}", changed.name);
        }
    }
}
