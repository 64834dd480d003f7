//! The core's default tuner, for knobs that are known only when the program runs.
//!
//! | most | knobs | levels of graded knobs | observations |
//! |---|---:|---:|---:|
//! | small, no graded knob | 32 | 0 | 128 |
//! | small | 32 | 512 | 128 |
//! | middle | 64 | 4096 | 512 |
//! | large | 256 | 65536 | 1024 |
//!
//! The page in a browser has the middle one only.
//!
//! **Choices**
//! - Capacities are const generics, so a few sizes are compiled and the smallest that fits is used.
//! - Without graded knobs the compiler leaves their loops out, which halves the time of an ask.
//! - Proposals do not depend on the size; a test compares the sizes.
//! - A cache makes asks faster and changes no bit.
//! - A table row takes eight bytes. 256 are used unless the configuration names a number, as a chip's
//!   run may.

use trimtab::sizes::{PRIOR, graded_levels, triangle};
use trimtab::{
    AskError, Cache, Combination, Config, Event, FleetPrior, Knob, Level, Observation, OnlyIf, PriorState, Record,
    Space, Tuner,
};
use trimtab_embedded::telemetry::{self, Difference, Frame};

use super::{StartError, on_large_stack};

/// Most rows of the lookup table: the largest number that a configuration can name.
const ROWS: usize = u16::MAX as usize;
/// Rows used unless the configuration names a number; also the rows of the cache.
const USED_ROWS: u16 = 256;
/// Most combinations that can be asked before the first has an outcome: a rack of boards.
pub const MOST_PENDING: usize = 64;
/// The largest size: knobs, levels of graded knobs, observations.
#[cfg(not(target_family = "wasm"))]
pub const MOST: (usize, usize, usize) = (256, 65_536, 1024);
/// In a browser, where each size is a download.
#[cfg(target_family = "wasm")]
pub const MOST: (usize, usize, usize) = (64, 4096, 512);

/// Whether a combination may be asked.
pub type Feasible = Box<dyn Fn(&[Level]) -> bool + Send + Sync>;

/// What a tuner is made for.
pub struct Setup<'a> {
    pub knobs: &'a [Knob],
    /// Knobs that matter only sometimes.
    pub conditions: &'static [OnlyIf],
    pub config: Config,
    pub seed: u64,
    /// Most observations.
    pub observations: usize,
    pub feasible: Option<Feasible>,
    /// What earlier boards taught.
    pub prior: Option<FleetPrior>,
}

/// A combination and what the model predicts for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    pub levels: Vec<Level>,
    pub mean: f32,
    /// Infinite before the first observation.
    pub std_dev: f32,
}

/// A combination and the mean of its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub levels: Vec<Level>,
    /// NaN for a failure.
    pub value: f32,
    /// Number of measurements; 0 for a failure.
    pub repeats: u16,
}

/// A [`Tuner`] of any size.
pub trait AnyTuner: Send {
    /// Returns the next combination to measure, or `None` when the space is exhausted.
    fn ask(&mut self) -> Result<Option<Prediction>, AskError>;
    /// Does what a record says; see [`Tuner::replay`].
    fn replay(&mut self, levels: &[Level], event: Event) -> Result<(), trimtab::Error>;
    fn predict(&self, levels: &[Level]) -> Option<Prediction>;
    fn best_observed(&self) -> Option<Measured>;
    fn best_posterior(&self) -> Option<Prediction>;
    /// What is known of a combination with an outcome.
    fn measured(&self, levels: &[Level]) -> Option<Measured>;
    /// The standard deviation of the noise that the model believes in; 0 for none.
    fn noise(&self) -> f32;
    /// Number of combinations with an outcome, including failures.
    fn observations(&self) -> usize;
    /// What the last ask expects its best candidate to gain; see [`Tuner::expected_gain`].
    fn expected_gain(&self) -> Option<f32>;
    /// Whether the run may end; see [`Tuner::is_settled`].
    fn is_settled(&self, tolerance: f32) -> bool;
    /// Whether the model uses a prior.
    fn prior(&self) -> PriorState;
    /// Does what a chip's frame says. Returns whether it was a proposal; if it was, it is the same
    /// to the bit.
    fn repeat(&mut self, frame: &Frame<'_>) -> Result<bool, Difference>;
}

type Start = fn(Setup<'_>) -> Result<Box<dyn AnyTuner>, StartError>;

/// Every size, smallest first: knobs, levels of graded knobs, observations, and how it starts.
#[cfg(not(target_family = "wasm"))]
pub fn sizes() -> [((usize, usize, usize), Start); 4] {
    [
        ((32, 0, 128), TunerOf::<32, 0, 128, { triangle(128) }>::start),
        ((32, 512, 128), TunerOf::<32, 512, 128, { triangle(128) }>::start),
        ((64, 4096, 512), TunerOf::<64, 4096, 512, { triangle(512) }>::start),
        (MOST, TunerOf::<{ MOST.0 }, { MOST.1 }, { MOST.2 }, { triangle(MOST.2) }>::start),
    ]
}

/// The only size in a browser.
#[cfg(target_family = "wasm")]
pub fn sizes() -> [((usize, usize, usize), Start); 1] {
    [(MOST, TunerOf::<{ MOST.0 }, { MOST.1 }, { MOST.2 }, { triangle(MOST.2) }>::start)]
}

/// The sizes with room for a prior.
#[cfg(not(target_family = "wasm"))]
fn sizes_with_prior() -> [((usize, usize, usize), Start); 2] {
    [
        ((32, 512, 128), TunerOf::<32, 512, 128, { triangle(128) }, PRIOR>::start_with_prior),
        (MOST, TunerOf::<{ MOST.0 }, { MOST.1 }, { MOST.2 }, { triangle(MOST.2) }, PRIOR>::start_with_prior),
    ]
}

/// A browser takes no prior: its code would be a tenth of the page.
#[cfg(target_family = "wasm")]
fn sizes_with_prior() -> [((usize, usize, usize), Start); 0] {
    []
}

/// A tuner of the smallest size that fits.
pub fn start(setup: Setup<'_>) -> Result<Box<dyn AnyTuner>, StartError> {
    let needed = (setup.knobs.len(), graded_levels(setup.knobs), setup.observations);
    let fits = |most: (usize, usize, usize)| needed.0 <= most.0 && needed.1 <= most.1 && needed.2 <= most.2;
    let (plain, prior) = (sizes(), sizes_with_prior());
    let all = if setup.prior.is_some() { &prior[..] } else { &plain[..] };
    let Some((_, start)) = all.iter().find(|(most, _)| fits(*most)) else {
        let most = all.iter().fold(MOST, |_, (most, _)| *most);
        return Err(StartError::TooLarge(format!(
            "the tuner takes at most {} knobs, {} levels of graded ones in all, and {} measurements; \
             this is {} knobs with {} levels of graded ones, and {} measurements",
            most.0, most.1, most.2, needed.0, needed.1, needed.2
        )));
    };
    on_large_stack(|| start(setup))
}

struct TunerOf<const K: usize, const M: usize, const T: usize, const P: usize, const N: usize = 0> {
    tuner: Box<Tuner<K, M, 0, T, ROWS, P, N, 0, MOST_PENDING>>,
    cache: Box<Cache<0, T, { USED_ROWS as usize }>>,
}

impl<const K: usize, const M: usize, const T: usize, const P: usize> TunerOf<K, M, T, P> {
    fn start(setup: Setup<'_>) -> Result<Box<dyn AnyTuner>, StartError> {
        let (space, config) = space_of(setup.knobs, setup.conditions, setup.feasible, setup.config)?;
        let mut tuner = Box::new(Tuner::new());
        tuner.init(space, config, setup.seed)?;
        Ok(Box::new(Self { tuner, cache: Box::new(Cache::new()) }))
    }
}

impl<const K: usize, const M: usize, const T: usize, const P: usize> TunerOf<K, M, T, P, PRIOR> {
    fn start_with_prior(setup: Setup<'_>) -> Result<Box<dyn AnyTuner>, StartError> {
        let (space, config) = space_of(setup.knobs, setup.conditions, setup.feasible, setup.config)?;
        let mut tuner = Box::new(Tuner::new());
        match setup.prior {
            Some(prior) => tuner.init_with_prior(space, config, &prior, setup.seed)?,
            None => tuner.init(space, config, setup.seed)?,
        }
        Ok(Box::new(Self { tuner, cache: Box::new(Cache::new()) }))
    }
}

/// The space and the configuration of a tuner.
fn space_of<const K: usize>(
    knobs: &[Knob],
    conditions: &'static [OnlyIf],
    feasible: Option<Feasible>,
    config: Config,
) -> Result<(Space<K>, Config), StartError> {
    let mut space = Space::new(knobs)?.only_if(conditions)?;
    if let Some(feasible) = feasible {
        // Core needs `'static`; leaking one closure per space is fine.
        let feasible = Box::leak(Box::new(move |c: &Combination<K>| feasible(c.levels())));
        space = space.with_feasible(feasible);
    }
    let rows = if config.rows == 0 { USED_ROWS } else { config.rows };
    Ok((space, Config { rows, ..config }))
}

impl<const K: usize, const M: usize, const T: usize, const P: usize, const N: usize> AnyTuner
    for TunerOf<K, M, T, P, N>
{
    fn ask(&mut self) -> Result<Option<Prediction>, AskError> {
        match self.tuner.ask_with(&mut self.cache) {
            Ok(proposal) => Ok(Some(prediction(&proposal.combination, proposal.mean, proposal.std_dev))),
            Err(AskError::Exhausted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn replay(&mut self, levels: &[Level], event: Event) -> Result<(), trimtab::Error> {
        let c = self.tuner.space().combination(levels)?;
        self.tuner.replay(&Record::new(&c, event))
    }

    fn predict(&self, levels: &[Level]) -> Option<Prediction> {
        let estimate = self.tuner.predict(&self.tuner.space().combination(levels).ok()?)?;
        Some(prediction(&estimate.combination, estimate.mean, estimate.std_dev))
    }

    fn best_observed(&self) -> Option<Measured> {
        self.tuner.best_observed().map(|best| measured(&best))
    }

    fn best_posterior(&self) -> Option<Prediction> {
        let best = self.tuner.best_posterior()?;
        Some(prediction(&best.combination, best.mean, best.std_dev))
    }

    fn measured(&self, levels: &[Level]) -> Option<Measured> {
        let own = self.tuner.observations().find(|own| own.combination.levels() == levels)?;
        Some(measured(&own))
    }

    fn noise(&self) -> f32 {
        self.tuner.noise()
    }

    fn observations(&self) -> usize {
        self.tuner.len()
    }

    fn expected_gain(&self) -> Option<f32> {
        self.tuner.expected_gain()
    }

    fn is_settled(&self, tolerance: f32) -> bool {
        self.tuner.is_settled(tolerance)
    }

    fn prior(&self) -> PriorState {
        self.tuner.prior_state()
    }

    fn repeat(&mut self, frame: &Frame<'_>) -> Result<bool, Difference> {
        telemetry::repeat(&mut self.tuner, frame)
    }
}

fn measured<const K: usize>(own: &Observation<K>) -> Measured {
    Measured { levels: own.combination.levels().to_vec(), value: own.value, repeats: own.repeats }
}

fn prediction<const K: usize>(c: &Combination<K>, mean: f32, std_dev: f32) -> Prediction {
    Prediction { levels: c.levels().to_vec(), mean, std_dev }
}
