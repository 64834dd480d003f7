//! What a tuner does, as values: one code path, two presets.
//!
//! **Choices.** Configuration is apart from state: a [`Config`] is `Copy`, and the same configuration, seed and measurements give
//! the same bits. The default is what won on the benchmarks; every field says what it changes.

mod choose;
mod model;

pub use choose::{Acquisition, Beta};
pub use model::{Distribution, Encoding, Fitting, Noise, Prior};

/// Whether small or large values are good.
///
/// ```
/// # use trimtab::{Config, Goal, Knob, Space};
/// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
/// # let mut tuner = Two::new();
/// tuner.init(Space::new(&KNOBS)?, Config { goal: Goal::Maximise, ..Config::default() }, 1)?;
/// for value in [3.0, 1.0, 2.0] {
///     let c = tuner.ask()?.combination;
///     tuner.tell(&c, value)?;
/// }
/// assert_eq!(tuner.best_observed().map(|best| best.value), Some(3.0));
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Goal {
    /// Small values are good: a cost.
    Minimise,
    /// Large values are good: a gain.
    Maximise,
}

impl Goal {
    /// A value as a cost, or a cost as a value: the same but for the sign.
    pub(crate) fn flip(self, value: f32) -> f32 {
        match self {
            Self::Minimise => value,
            Self::Maximise => -value,
        }
    }
}

/// What happens to a new observation when there is no room.
///
/// ```
/// # use trimtab::{Config, Knob, Space, WhenFull};
/// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// type Two = trimtab::tuner!(KNOBS, observations: 2, rows: 32);
/// # let mut tuner = Two::new();
/// tuner.init(Space::new(&KNOBS)?, Config { when_full: WhenFull::ForgetOldest, ..Config::default() }, 1)?;
/// for value in [3.0, 1.0, 2.0] {
///     let c = tuner.ask()?.combination;
///     tuner.tell(&c, value)?;
/// }
/// assert!(tuner.observations().map(|o| o.value).eq([1.0, 2.0]));
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WhenFull {
    /// It is refused.
    Refuse,
    /// The oldest observation makes room: for hardware that drifts. What is forgotten may be asked again.
    ForgetOldest,
    /// The worst makes room, failures before all: for long searches. What is forgotten may be asked again.
    ForgetWorst,
}

/// How a tuner models and chooses.
///
/// ```
/// use trimtab::{Acquisition, Config};
/// let config = Config { acquisition: Acquisition::ExpectedImprovement, ..Config::default() };
/// assert_ne!(config, Config::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Config {
    /// Whether small or large values are good.
    pub goal: Goal,
    /// How a combination becomes features.
    pub encoding: Encoding,
    /// The random map. `None`: `Centred` for a tuner that has dimensions for one, else none.
    pub map: Option<Distribution>,
    /// What is believed of mean and variance before any measurement.
    pub prior: Prior,
    /// Which hyper-parameters are fitted.
    pub fit: Fitting,
    /// Hyper-parameters are fitted again when the observations have grown by one part in this many; 0 for never.
    pub refit: u16,
    /// Whether costs are winsorised and standardised.
    pub standardise: bool,
    /// Which rule chooses the next combination.
    pub acquisition: Acquisition,
    /// How many combinations, drawn at random unless told, are measured before the model chooses; at least one is.
    pub initial: u16,
    /// Where the variance of the measurement noise comes from.
    pub noise: Noise,
    /// How often a combination may be measured in all when it is in doubt whether it is the best; 1 for never again.
    pub remeasure: u16,
    /// What happens to a new observation when there is no room.
    pub when_full: WhenFull,
    /// How many of the table's rows are kept for a descent by single steps from the best of the others; at most half.
    pub descent: u16,
    /// How many rows of the lookup table are used; 0 or more than there are: all. Tuners of different sizes with equal limits propose the same.
    pub rows: u16,
    /// How many observations are kept; 0 or more than there is room for: as many as there is room for.
    pub observations: u16,
}

impl Config {
    /// All zero: what a tuner holds before it is initialised.
    pub(crate) const ZERO: Self = Self {
        goal: Goal::Minimise,
        encoding: Encoding::Compact,
        map: Some(Distribution::Uniform01),
        prior: Prior { mean_precision: 0.0, signal_weight: 0.0 },
        fit: Fitting { linear: false, priors: false, sweeps: 0 },
        refit: 0,
        standardise: false,
        acquisition: Acquisition::Ucb(Beta::Constant(0.0)),
        initial: 0,
        noise: Noise::Fitted,
        remeasure: 0,
        when_full: WhenFull::Refuse,
        descent: 0,
        rows: 0,
        observations: 0,
    };

    /// The default, as a constant.
    ///
    /// ```
    /// use trimtab::Config;
    /// const CAREFUL: Config = Config { initial: 16, ..Config::DEFAULT };
    /// assert_eq!(Config { initial: CAREFUL.initial, ..Config::default() }, CAREFUL);
    /// ```
    pub const DEFAULT: Self = Self {
        goal: Goal::Minimise,
        encoding: Encoding::PerKnob,
        map: None,
        prior: Prior::WEAK,
        fit: Fitting { linear: true, priors: true, sweeps: 1 },
        refit: 8,
        standardise: true,
        acquisition: Acquisition::Ucb(Beta::Constant(2.0)),
        initial: 4,
        noise: Noise::Fitted,
        remeasure: 1,
        when_full: WhenFull::Refuse,
        descent: 64,
        rows: 0,
        observations: 0,
    };
}

impl Config {
    /// What the paper and its authors' software do: Matérn 5/2 on the bits of the index under a uniform random map, prior mean zero, values as
    /// they are, one initial point, a fit at every step, GP-UCB with a weight that grows. It is asked with
    /// [`Tuner::ask_lookup`](crate::Tuner::ask_lookup) (CBO-Lookup) or [`Tuner::ask_recon`](crate::Tuner::ask_recon) (CBO-Recon), by a
    /// tuner of 20 dimensions, 10 in the authors' thumbs-up.
    ///
    /// Where the paper is silent, bayeso, the software it used, decides: the weight 2·ln(t + 1), and a fixed noise of
    /// 0.01. Its length-scales, one a dimension, are one here.
    ///
    /// ```
    /// # use trimtab::{Config, Knob, Region, Space};
    /// const BITS: [Knob; 12] = [Knob::nominal(2); 12];
    /// type Bits = trimtab::tuner!(BITS, observations: 8, rows: 1, dimensions: 6);
    /// # let mut tuner = Bits::new();
    /// tuner.init(Space::new(&BITS)?, Config::paper(), 1)?;
    /// let c = tuner.ask_lookup(Region::UnitBox)?.combination;
    /// tuner.tell(&c, 1.0)?;
    /// assert_ne!(tuner.ask_lookup(Region::UnitBox)?.combination, c);
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub const fn paper() -> Self {
        Self {
            goal: Goal::Minimise,
            encoding: Encoding::Compact,
            map: Some(Distribution::Uniform01),
            prior: Prior::MAXIMUM_LIKELIHOOD,
            fit: Fitting { linear: false, priors: false, sweeps: 4 },
            refit: u16::MAX,
            standardise: false,
            acquisition: Acquisition::Ucb(Beta::Logarithmic(2.0)),
            initial: 1,
            noise: Noise::Given(0.01),
            remeasure: 1,
            when_full: WhenFull::Refuse,
            descent: 0,
            rows: 0,
            observations: 0,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}
