//! How the surrogate sees combinations and costs: encoding, random map, prior, fit, noise.

/// How a combination becomes features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Encoding {
    /// The paper's: the index of the combination in binary, m bits. A tuner refuses it for a space
    /// beyond 2⁶⁴ combinations, where most combinations have no index.
    Compact,
    /// The default: a block of features per knob.
    PerKnob,
}

/// The distribution of the entries of the random map R.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Distribution {
    /// Uniform in [0, 1), divided by m, as in the authors' code.
    Uniform01,
    /// Uniform in [−√(3/d), √(3/d)): mean 0, variance 1/d.
    Centred,
    /// ±1/√d.
    Signs,
    /// No projection, d = m.
    Identity,
}

/// Belief about the mean and the signal variance before any measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Prior {
    /// Precision of the prior mean μ about zero, in units of 1/s²; infinity fixes μ = 0.
    pub mean_precision: f32,
    /// Number of pseudo-observations that say the signal variance is 1; infinity fixes s² = 1.
    pub signal_weight: f32,
}

impl Prior {
    /// Weak: a tenth of a measurement says that the mean is 0, one that the variance is 1.
    pub const WEAK: Self = Self { mean_precision: 0.1, signal_weight: 1.0 };
    /// Mean zero, signal variance one: textbook regression with a fixed kernel.
    pub const FIXED: Self = Self { mean_precision: f32::INFINITY, signal_weight: f32::INFINITY };
    /// Mean zero, signal variance by maximum likelihood, as in the paper's software.
    pub const MAXIMUM_LIKELIHOOD: Self = Self { mean_precision: f32::INFINITY, signal_weight: 0.0 };
}

/// Which hyper-parameters are fitted, and whether they have priors.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fitting {
    /// Under a random map: whether the kernel has a linear term, with a fitted weight.
    pub linear: bool,
    /// Under a random map: whether weak priors on length-scale and noise join the likelihood.
    pub priors: bool,
    /// Number of sweeps per fit.
    pub sweeps: u8,
}

/// What is known about the noise of the measurements.
///
/// ```
/// # use trimtab::{Config, Knob, Noise, Space};
/// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
/// # let mut tuner = Two::new();
/// tuner.init(Space::new(&KNOBS)?, Config { noise: Noise::None, ..Config::default() }, 1)?;
/// for value in [3.0, 1.0, 2.0] {
///     let c = tuner.ask()?.combination;
///     tuner.tell(&c, value)?;
/// }
/// assert_eq!(tuner.noise(), 0.0);
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Noise {
    /// Nothing: the measurements tell.
    Auto,
    /// There is none. Nothing is measured twice.
    None,
    /// Its standard deviation, in the units of the values. It takes effect at each fit.
    Given(f32),
}
