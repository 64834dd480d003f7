//! What a tuner does, as values: one code path, two presets.
//!
//! **Choices.** Configuration is apart from state: a [`Config`] is `Copy`, and the same configuration, seed and measurements give
//! the same bits. The default is what won on the benchmarks; every field says what it changes.

use crate::acquisition::{Acquisition, Beta};
use crate::embedding::Distribution;
use crate::encoding::Encoding;
use crate::fit;
use crate::gp::Prior;

/// How a tuner models and chooses.
///
/// ```
/// use trimtab::{Acquisition, Config};
/// let config = Config { acquisition: Acquisition::ExpectedImprovement, ..Config::default() };
/// assert_ne!(config, Config::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Config {
    /// How a combination becomes features.
    pub encoding: Encoding,
    /// The random map. `None`: `Centred` for a tuner that has dimensions for one, else none.
    pub map: Option<Distribution>,
    /// What is believed of mean and variance before any measurement.
    pub prior: Prior,
    /// Which hyper-parameters are fitted.
    pub fit: fit::Search,
    /// Hyper-parameters are fitted again when the observations have grown by one part in this many; 0 for never.
    pub refit: u16,
    /// Whether costs are winsorised and standardised.
    pub standardise: bool,
    /// Which rule chooses the next combination.
    pub acquisition: Acquisition,
    /// How many combinations, drawn at random unless told, are measured before the model chooses; at least one is.
    pub initial: u16,
    /// How many of the table's rows are kept for a descent by single steps from the best of the others; at most half.
    pub descent: u16,
}

impl Config {
    /// All zero: what a tuner holds before it is initialised.
    pub(crate) const ZERO: Self = Self {
        encoding: Encoding::Compact,
        map: Some(Distribution::Uniform01),
        prior: Prior { mean_precision: 0.0, signal_weight: 0.0 },
        fit: fit::Search { linear: false, priors: false },
        refit: 0,
        standardise: false,
        acquisition: Acquisition::Ucb(Beta::Constant(0.0)),
        initial: 0,
        descent: 0,
    };

    /// The default, as a constant.
    pub const DEFAULT: Self = Self {
        encoding: Encoding::PerKnob,
        map: None,
        prior: Prior::WEAK,
        fit: fit::Search { linear: true, priors: true },
        refit: 8,
        standardise: true,
        acquisition: Acquisition::Ucb(Beta::Constant(2.0)),
        initial: 4,
        descent: 64,
    };
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}
