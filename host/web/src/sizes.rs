//! One size of tuner for logs, in place of the host's four: 32 knobs, 512 levels of graded knobs and
//! 128 observations, which holds every run of the demos.

use std::fmt;

use trimtab::sizes::{graded_levels, triangle};
use trimtab::{Config, InitError, Knob, Space, SpaceError, Tuner};
use trimtab_embedded::telemetry::{self, Difference, Frame};

const MOST: (usize, usize, usize) = (32, 512, 128);
const ROWS: usize = 1024;
type Logged = Tuner<{ MOST.0 }, { MOST.1 }, 0, { MOST.2 }, ROWS, { triangle(MOST.2) }>;

/// What a tuner is made for.
pub struct Setup<'a> {
    pub knobs: &'a [Knob],
    pub config: Config,
    pub seed: u64,
    pub observations: usize,
    /// Logs of chips have none.
    pub feasible: Option<fn()>,
}

/// A tuner that repeats a run.
pub trait AnyTuner {
    /// Does what a chip's frame says; see [`telemetry::repeat`].
    fn repeat(&mut self, frame: &Frame<'_>) -> Result<bool, Difference>;
}

impl AnyTuner for Logged {
    fn repeat(&mut self, frame: &Frame<'_>) -> Result<bool, Difference> {
        telemetry::repeat(self, frame)
    }
}

/// Why there is no tuner.
#[derive(Debug)]
pub enum StartError {
    TooLarge(String),
    Refused(trimtab::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge(message) => f.write_str(message),
            Self::Refused(error) => write!(f, "the tuner says: {error}"),
        }
    }
}

impl From<SpaceError> for StartError {
    fn from(error: SpaceError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<InitError> for StartError {
    fn from(error: InitError) -> Self {
        Self::Refused(error.into())
    }
}

/// A tuner for these knobs.
pub fn start(setup: Setup<'_>) -> Result<Box<dyn AnyTuner>, StartError> {
    let needed = (setup.knobs.len(), graded_levels(setup.knobs), setup.observations);
    if needed.0 > MOST.0 || needed.1 > MOST.1 || needed.2 > MOST.2 || usize::from(setup.config.rows) > ROWS {
        return Err(StartError::TooLarge(format!(
            "this page repeats runs of at most {} knobs, {} levels of graded ones in all, {} observations and {ROWS} \
             rows; `trimtab replay` takes larger ones",
            MOST.0, MOST.1, MOST.2
        )));
    }
    let mut tuner = Box::new(Logged::new());
    tuner.init(Space::new(setup.knobs)?, setup.config, setup.seed)?;
    Ok(tuner)
}
