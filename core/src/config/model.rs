//! How the surrogate sees combinations and costs: encoding, random map, prior, fit, noise.

/// How a combination becomes features.
///
/// ```
/// use trimtab::{Encoding, Knob, Space, internals::Encoder};
/// let space = Space::<2>::new(&[Knob::nominal(5), Knob::nominal(5)])?;
/// assert_eq!(Encoder::new(&space, Encoding::Compact).features(), 5); // 2⁵ ≥ 25
/// assert_eq!(Encoder::new(&space, Encoding::PerKnob).features(), 10);
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Encoding {
    /// The paper's: the index of the combination as m bits. A space beyond 2⁶⁴ combinations has no index for most of them: a tuner refuses
    /// it, and an encoder knows the lowest 64 bits only.
    Compact,
    /// The default: a block of features a knob.
    PerKnob,
}

/// What the entries of R are drawn from.
///
/// ```
/// use trimtab::{Distribution, internals::RandomMap};
/// let mut map = RandomMap::<4, 10>::new();
/// map.draw(Distribution::Uniform01, 10, 1);
/// assert!(map.matrix().rows().flatten().all(|r| (0.0..0.1).contains(r)));
/// map.draw(Distribution::Signs, 10, 1);
/// assert!(map.matrix().rows().flatten().all(|r| r.abs() == 0.5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Distribution {
    /// Uniform in [0, 1), divided by m: the authors' code.
    Uniform01,
    /// Uniform in [−√(3/d), √(3/d)): mean 0, variance 1/d.
    Centred,
    /// ±1/√d.
    Signs,
    /// No projection, d = m.
    Identity,
}

/// What is believed before any measurement.
///
/// ```
/// use trimtab::{Prior, internals::Gp, sizes::triangle};
/// let mut gp = Gp::<1, { triangle(1) }>::new();
/// gp.extend(1, |_, row| row.fill(1.0))?;
/// // λ = 1: a measurement of 4 and the belief in 0 weigh the same.
/// gp.condition(&[4.0], &Prior { mean_precision: 1.0, signal_weight: f32::INFINITY });
/// assert_eq!(gp.posterior(1.0, |k| k.fill(0.0)).mean, 2.0);
/// # Ok::<(), trimtab::internals::CholeskyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Prior {
    /// Precision of the prior mean μ about zero, in units of 1/s²; infinity fixes μ = 0.
    pub mean_precision: f32,
    /// How many pseudo-observations say that the signal variance is 1; infinity fixes s² = 1.
    pub signal_weight: f32,
}

impl Prior {
    /// Weak: a tenth of a measurement says that the mean is 0, one that the variance is 1.
    ///
    /// ```
    /// use trimtab::{Config, Prior};
    /// assert_eq!(Config::default().prior, Prior::WEAK);
    /// ```
    pub const WEAK: Self = Self { mean_precision: 0.1, signal_weight: 1.0 };
    /// Prior mean zero, signal variance one: textbook regression with a fixed kernel.
    ///
    /// ```
    /// use trimtab::{Prior, internals::Gp, sizes::triangle};
    /// let mut gp = Gp::<1, { triangle(1) }>::new();
    /// gp.extend(1, |_, row| row.fill(1.0))?;
    /// gp.condition(&[4.0], &Prior::FIXED);
    /// assert_eq!((gp.signal(), gp.posterior(1.0, |k| k.fill(0.0)).mean), (1.0, 0.0)); // whatever was measured
    /// # Ok::<(), trimtab::internals::CholeskyError>(())
    /// ```
    pub const FIXED: Self = Self { mean_precision: f32::INFINITY, signal_weight: f32::INFINITY };
    /// Prior mean zero, signal variance by maximum likelihood: what the paper's software does.
    ///
    /// ```
    /// use trimtab::{Prior, internals::Gp, sizes::triangle};
    /// let mut gp = Gp::<1, { triangle(1) }>::new();
    /// gp.extend(1, |_, row| row.fill(1.0))?;
    /// gp.condition(&[4.0], &Prior::MAXIMUM_LIKELIHOOD);
    /// assert_eq!(gp.signal(), 16.0); // y²
    /// # Ok::<(), trimtab::internals::CholeskyError>(())
    /// ```
    pub const MAXIMUM_LIKELIHOOD: Self = Self { mean_precision: f32::INFINITY, signal_weight: 0.0 };
}

/// Which hyper-parameters are searched, and what is believed of them.
///
/// ```
/// use trimtab::{Fitting, internals::Fit};
/// let matern_alone = Fitting { linear: false, priors: false, sweeps: 1 };
/// let mut fit = Fit::new(&matern_alone, 1.0);
/// fit.sweep(&matern_alone, false, |hyper| hyper.linear_weight);
/// assert_eq!(fit.hyper().linear_weight, 0.0); // however likely a linear term is
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fitting {
    /// Whether the kernel has a linear term, whose weight is then searched too.
    pub linear: bool,
    /// Whether weak priors on length-scale and noise join the likelihood.
    pub priors: bool,
    /// How many sweeps a fit is.
    pub sweeps: u8,
}

/// Where the variance of the measurement noise comes from.
///
/// ```
/// # use trimtab::{Config, Knob, Noise, Space};
/// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
/// # let mut tuner = Two::new();
/// tuner.init(Space::new(&KNOBS)?, Config { noise: Noise::Given(0.0), ..Config::default() }, 1)?;
/// for value in [3.0, 1.0, 2.0] {
///     let c = tuner.ask()?.combination;
///     tuner.tell(&c, value)?;
/// }
/// assert!(tuner.hyper().noise < 1.001e-4); // the least that f32 needs
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Noise {
    /// Fitted with the other hyper-parameters.
    Fitted,
    /// Known: its standard deviation, in the units of the values. Taken in whenever hyper-parameters are fitted.
    Given(f32),
}
