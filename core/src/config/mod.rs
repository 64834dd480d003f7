//! The configuration of a tuner: plain data, two presets, one code path.
//!
//! **Choices**
//! - Configuration is separate from state: a [`Config`] is `Copy`, and the same configuration, seed
//!   and measurements give the same bits.
//! - The default won on the benchmarks; [`Config::paper`] is the published method.

mod choose;
mod model;
mod settings;

pub use choose::{Acquisition, Beta};
pub use model::{Distribution, Encoding, Fitting, Noise, Prior};
pub(crate) use settings::Chosen;
pub use settings::{AtInit, Defaults, Settings};

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
    /// Turns a value into a cost, or a cost into a value: only the sign changes.
    pub(crate) fn flip(self, value: f32) -> f32 {
        match self {
            Self::Minimise => value,
            Self::Maximise => -value,
        }
    }
}

/// What a tuner does with a new observation when it has no room.
///
/// ```
/// # use trimtab::{Config, Knob, Space, WhenFull};
/// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// type Two = trimtab::tuner!(KNOBS, observations: 2, rows: 32);
/// # let mut tuner = Two::new();
/// let config = Config { when_full: WhenFull::ForgetOldest, ..Config::default() };
/// tuner.init(Space::new(&KNOBS)?, config, 1)?;
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
    /// Refuse it.
    Refuse,
    /// Forget the oldest observation, for hardware that drifts. A forgotten combination may be
    /// asked again.
    ForgetOldest,
    /// Forget the worst observation, failures first, for long searches. A forgotten combination may
    /// be asked again.
    ForgetWorst,
}

/// How a tuner models and chooses.
///
/// Change single fields of the default with `..Config::default()`, or of [`Config::DEFAULT`] in a
/// constant.
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
    /// How a combination becomes features, in a tuner with a random map.
    pub encoding: Encoding,
    /// The random map of a tuner with dimensions.
    pub map: Distribution,
    /// Prior belief about mean and variance.
    pub prior: Prior,
    /// Which hyper-parameters are fitted.
    pub fit: Fitting,
    /// A new fit is due when the number of observations has grown by 1/`refit` since the last one;
    /// 0 turns fitting off.
    pub refit: u16,
    /// Whether costs are winsorised and standardised.
    pub standardise: bool,
    /// The rule that chooses the next combination.
    pub acquisition: Acquisition,
    /// Number of combinations, drawn at random unless queued or told, before the model chooses; at
    /// least one.
    pub initial: u16,
    /// Where the variance of the measurement noise comes from.
    pub noise: Noise,
    /// How often one combination may be measured in total, if measuring it again is worth more than
    /// a new one; 1 turns measuring again off. Only a model that believes in noise does so.
    pub remeasure: u16,
    /// What to do with a new observation when there is no room.
    pub when_full: WhenFull,
    /// Number of rows of the lookup table: a space of at most so many combinations is scored whole,
    /// a larger one has half as many candidates; 0 uses all that the tuner has. Tuners of different
    /// sizes with equal limits propose the same.
    pub rows: u16,
    /// Number of observations to keep; 0 keeps as many as fit.
    pub observations: u16,
}

impl Config {
    /// All zero: the configuration of an uninitialised tuner.
    pub(crate) const ZERO: Self = Self {
        goal: Goal::Minimise,
        encoding: Encoding::Compact,
        map: Distribution::Uniform01,
        prior: Prior { mean_precision: 0.0, signal_weight: 0.0 },
        fit: Fitting { linear: false, priors: false, sweeps: 0 },
        refit: 0,
        standardise: false,
        acquisition: Acquisition::Ucb(Beta::Constant(0.0)),
        initial: 0,
        noise: Noise::Auto,
        remeasure: 0,
        when_full: WhenFull::Refuse,
        rows: 0,
        observations: 0,
    };

    /// The default, as a constant.
    pub const DEFAULT: Self = Self {
        goal: Goal::Minimise,
        encoding: Encoding::PerKnob,
        map: Distribution::Centred,
        prior: Prior::WEAK,
        fit: Fitting { linear: true, priors: true, sweeps: 1 },
        refit: 16,
        standardise: true,
        acquisition: Acquisition::Ucb(Beta::Constant(2.0)),
        initial: 4,
        noise: Noise::Auto,
        remeasure: u16::MAX,
        when_full: WhenFull::Refuse,
        rows: 0,
        observations: 0,
    };
}

impl Config {
    /// The method of the paper and of its authors' software: Matérn 5/2 on the bits of the index
    /// under a uniform random map, prior mean zero, values as measured, one initial point, a fit at
    /// every step, GP-UCB with a growing weight.
    ///
    /// Ask with [`Tuner::ask_lookup`](crate::Tuner::ask_lookup) (CBO-Lookup) or
    /// [`Tuner::ask_recon`](crate::Tuner::ask_recon) (CBO-Recon), in a tuner of 20 dimensions (the
    /// authors use 10 for thumbs-up). Where the paper is silent this follows bayeso, the software
    /// it used: the weight 2·ln(t + 1) and a fixed noise of 0.01. bayeso has one length-scale per
    /// dimension; this has one for all.
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
            map: Distribution::Uniform01,
            prior: Prior::MAXIMUM_LIKELIHOOD,
            fit: Fitting { linear: false, priors: false, sweeps: 4 },
            refit: u16::MAX,
            standardise: false,
            acquisition: Acquisition::Ucb(Beta::Logarithmic(2.0)),
            initial: 1,
            noise: Noise::Given(0.01),
            remeasure: 1,
            when_full: WhenFull::Refuse,
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
