//! The core's tuner with the capacities of a desktop, for knobs that are known only when the program runs.
//!
//! **Choices.** Capacities are const generics, so a few sizes are compiled and the smallest that fits is taken. What is proposed does
//! not depend on the size: a test compares them. A cache makes asks quicker and changes no bit. A table has any number of rows, which take no
//! memory: 256 are used, or as many as the configuration says, so that the run of a chip with a larger or smaller one can be repeated.
//!
//! | most | knobs | features of graded knobs | observations |
//! |---|---:|---:|---:|
//! | small, no graded knob | 32 | 0 | 128 |
//! | small | 32 | 64 | 128 |
//! | middle | 64 | 128 | 512 |
//! | large | 256 | 512 | 1024 |

use trimtab::cache::Cache;
use trimtab::encoding::graded_features;
use trimtab::matrix::triangle;
use trimtab::{AskError, Combination, Config, Knob, Level, Space, Tuner};
use trimtab_firmware::telemetry::{self, Difference, Frame};

use crate::error::Error;

/// The most rows of the lookup table: as many as a configuration can say.
const ROWS: usize = u16::MAX as usize;
/// How many are used unless the configuration says so; a cache has as many.
const USED_ROWS: u16 = 256;
/// The largest size: knobs, features of graded knobs, observations.
pub(crate) const MOST: (usize, usize, usize) = (256, 512, 1024);

/// Stack to build a tuner on: several times the largest.
const STACK: usize = 64 << 20;

/// Whether a combination may be asked.
pub(crate) type Feasible = Box<dyn Fn(&[Level]) -> bool + Send + Sync>;

/// What a tuner is made for.
pub(crate) struct Setup<'a> {
    pub(crate) knobs: &'a [Knob],
    pub(crate) config: Config,
    pub(crate) seed: u64,
    /// The most observations.
    pub(crate) observations: usize,
    pub(crate) feasible: Option<Feasible>,
}

/// A combination and what the model thinks of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Opinion {
    pub(crate) levels: Vec<Level>,
    pub(crate) mean: f32,
    /// Infinite while nothing is known.
    pub(crate) std_dev: f32,
}

/// A combination and its mean value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measured {
    pub(crate) levels: Vec<Level>,
    /// Not a number for a failure.
    pub(crate) value: f32,
    pub(crate) repeats: u16,
}

/// The calls of [`Tuner`], whatever its size.
pub(crate) trait Engine: Send {
    /// What to measure next; none if everything is measured.
    fn ask(&mut self) -> Result<Option<Opinion>, Error>;
    fn tell(&mut self, levels: &[Level], value: f32) -> Result<(), Error>;
    fn tell_failed(&mut self, levels: &[Level]) -> Result<(), Error>;
    fn enqueue(&mut self, levels: &[Level]) -> Result<(), Error>;
    /// Forgets an ask that will not be told; whether there was one.
    fn cancel(&mut self, levels: &[Level]) -> bool;
    fn predict(&self, levels: &[Level]) -> Option<Opinion>;
    fn best_observed(&self) -> Option<Measured>;
    fn best_posterior(&self) -> Option<Opinion>;
    /// How many combinations have an outcome, failures included.
    fn len(&self) -> usize;
    /// Does what a frame of a chip says; whether that was a proposal, which then was the same to the bit.
    fn repeat(&mut self, frame: &Frame<'_>) -> Result<bool, Difference>;
}

/// A tuner of the smallest size that fits.
pub(crate) fn start(setup: Setup<'_>) -> Result<Box<dyn Engine>, Error> {
    // A tuner is built on the stack before it is boxed, and the largest takes megabytes.
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK);
        let thread = builder.spawn_scoped(scope, || sized(setup));
        let thread = thread.map_err(|error| Error::Failed(format!("cannot start a thread: {error}")))?;
        thread.join().unwrap_or_else(|_| Err(Error::Failed("the tuner could not be built".into())))
    })
}

fn sized(setup: Setup<'_>) -> Result<Box<dyn Engine>, Error> {
    let needed = (setup.knobs.len(), graded_features(setup.knobs), setup.observations);
    let fits = |(knobs, features, observations)| needed.0 <= knobs && needed.1 <= features && needed.2 <= observations;
    Ok(match () {
        () if fits((32, 0, 128)) => Box::new(Sized::<32, 0, 128, { triangle(128) }>::new(setup)?),
        () if fits((32, 64, 128)) => Box::new(Sized::<32, 64, 128, { triangle(128) }>::new(setup)?),
        () if fits((64, 128, 512)) => Box::new(Sized::<64, 128, 512, { triangle(512) }>::new(setup)?),
        () if fits(MOST) => Box::new(Sized::<{ MOST.0 }, { MOST.1 }, { MOST.2 }, { triangle(MOST.2) }>::new(setup)?),
        () => {
            let (knobs, features, observations) = MOST;
            return Err(Error::Usage(format!(
                "the tuner takes at most {knobs} knobs, of which {} graded, and {observations} measurements; \
                 this is {} knobs, {} features of graded ones, {} measurements",
                features / 2,
                needed.0,
                needed.1,
                needed.2
            )));
        }
    })
}

struct Sized<const K: usize, const D: usize, const T: usize, const P: usize> {
    tuner: Box<Tuner<K, 0, D, T, ROWS, P>>,
    cache: Box<Cache<K, D, T, { USED_ROWS as usize }>>,
}

impl<const K: usize, const D: usize, const T: usize, const P: usize> Sized<K, D, T, P> {
    fn new(setup: Setup<'_>) -> Result<Self, Error> {
        let mut space = Space::new(setup.knobs).map_err(fault)?;
        if let Some(feasible) = setup.feasible {
            // The core wants it for ever, as on a chip; a program has few spaces, so it gets that.
            let feasible = Box::leak(Box::new(move |c: &Combination<K>| feasible(c.levels())));
            space = space.with_feasible(feasible);
        }
        let rows = if setup.config.rows == 0 { USED_ROWS } else { setup.config.rows };
        let mut tuner = Box::new(Tuner::new());
        tuner.init(space, Config { rows, ..setup.config }, setup.seed).map_err(fault)?;
        Ok(Self { tuner, cache: Box::new(Cache::new()) })
    }

    fn combination(&self, levels: &[Level]) -> Result<Combination<K>, Error> {
        self.tuner.space().combination(levels).map_err(fault)
    }
}

impl<const K: usize, const D: usize, const T: usize, const P: usize> Engine for Sized<K, D, T, P> {
    fn ask(&mut self) -> Result<Option<Opinion>, Error> {
        match self.tuner.ask_with(&mut self.cache) {
            Ok(p) => Ok(Some(opinion(&p.combination, p.mean, p.std_dev))),
            Err(AskError::Exhausted) => Ok(None),
            Err(error) => Err(fault(error)),
        }
    }

    fn tell(&mut self, levels: &[Level], value: f32) -> Result<(), Error> {
        let c = self.combination(levels)?;
        self.tuner.tell(&c, value).map_err(fault)
    }

    fn tell_failed(&mut self, levels: &[Level]) -> Result<(), Error> {
        let c = self.combination(levels)?;
        self.tuner.tell_failed(&c).map_err(fault)
    }

    fn enqueue(&mut self, levels: &[Level]) -> Result<(), Error> {
        let c = self.combination(levels)?;
        self.tuner.enqueue(&c).map_err(fault)
    }

    fn cancel(&mut self, levels: &[Level]) -> bool {
        self.combination(levels).is_ok_and(|c| self.tuner.cancel(&c))
    }

    fn predict(&self, levels: &[Level]) -> Option<Opinion> {
        let estimate = self.tuner.predict(&self.combination(levels).ok()?)?;
        Some(opinion(&estimate.combination, estimate.mean, estimate.std_dev))
    }

    fn best_observed(&self) -> Option<Measured> {
        let best = self.tuner.best_observed()?;
        Some(Measured { levels: best.combination.levels().to_vec(), value: best.value, repeats: best.repeats })
    }

    fn best_posterior(&self) -> Option<Opinion> {
        let best = self.tuner.best_posterior()?;
        Some(opinion(&best.combination, best.mean, best.std_dev))
    }

    fn len(&self) -> usize {
        self.tuner.len()
    }

    fn repeat(&mut self, frame: &Frame<'_>) -> Result<bool, Difference> {
        telemetry::repeat(&mut self.tuner, frame)
    }
}

fn opinion<const K: usize>(c: &Combination<K>, mean: f32, std_dev: f32) -> Opinion {
    Opinion { levels: c.levels().to_vec(), mean, std_dev }
}

/// An error of the core as one of the host.
pub(crate) fn fault(error: impl std::fmt::Display) -> Error {
    Error::Failed(format!("the tuner says: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first asks of a size.
    fn trace<const K: usize, const D: usize, const T: usize, const P: usize>(knobs: &[Knob]) -> Vec<Vec<Level>> {
        let setup = Setup { knobs, config: Config::default(), seed: 5, observations: 40, feasible: None };
        let mut engine = Sized::<K, D, T, P>::new(setup).unwrap();
        let mut trace = Vec::new();
        for _ in 0..40 {
            let levels = engine.ask().unwrap().unwrap().levels;
            let cost =
                levels.iter().enumerate().map(|(i, l)| f32::from(*l) * (i as f32 - 4.5) + f32::from(l % 3)).sum();
            engine.tell(&levels, cost).unwrap();
            trace.push(levels);
        }
        trace
    }

    #[test]
    fn proposals_do_not_depend_on_the_capacity() {
        let bits = [Knob::nominal(2); 10];
        let exact = trace::<10, 0, 40, { triangle(40) }>(&bits);
        assert_eq!(exact, trace::<32, 0, 128, { triangle(128) }>(&bits));
        assert_eq!(exact, trace::<32, 64, 128, { triangle(128) }>(&bits));
        let mixed = [Knob::nominal(4), Knob::ranked(9), Knob::nominal(2), Knob::ranked(5), Knob::nominal(3)];
        const FEATURES: usize = graded_features(&[Knob::ranked(9), Knob::ranked(5)]);
        let exact = trace::<5, FEATURES, 40, { triangle(40) }>(&mixed);
        assert_eq!(exact, trace::<32, 64, 128, { triangle(128) }>(&mixed));
        assert_eq!(exact, trace::<64, 128, 512, { triangle(512) }>(&mixed));
    }

    #[test]
    fn what_is_forbidden_is_never_asked() {
        let knobs = [Knob::nominal(2); 6];
        let feasible: Feasible = Box::new(|levels| levels.iter().filter(|level| **level == 1).count() <= 2);
        let setup =
            Setup { knobs: &knobs, config: Config::default(), seed: 1, observations: 64, feasible: Some(feasible) };
        let mut engine = start(setup).unwrap();
        let mut asked = 0;
        while let Some(opinion) = engine.ask().unwrap() {
            assert!(opinion.levels.iter().filter(|level| **level == 1).count() <= 2);
            engine.tell(&opinion.levels, asked as f32).unwrap();
            asked += 1;
        }
        // None, one or two of six: 1 + 6 + 15.
        assert_eq!((asked, engine.len()), (22, 22));
    }
}
