//! A configuration that is known when the program is built.

use core::fmt::Debug;
use core::marker::PhantomData;
use core::ops::Deref;

use super::Config;

/// Where a tuner's configuration comes from: `init`, or the type of the tuner. The compiler leaves out
/// what a configuration in the type never needs.
///
/// ```
/// use trimtab::settings::Settings;
/// use trimtab::{Config, InitError, Knob, Noise, Space};
/// const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// const CONFIG: Config = Config { noise: Noise::None, ..Config::DEFAULT };
///
/// #[derive(Clone, Copy, Debug)]
/// struct Exact;
/// impl Settings for Exact {
///     const FIXED: Option<Config> = Some(CONFIG);
/// }
/// type Small = trimtab::tuner!(KNOBS, observations: 8, rows: 32, pending: 1, config: Exact);
///
/// let mut tuner = Small::new();
/// tuner.init(Space::new(&KNOBS)?, CONFIG, 1)?;
/// let refused = tuner.init(Space::new(&KNOBS)?, Config::default(), 1);
/// assert_eq!(refused, Err(InitError::OtherConfig));
/// # Ok::<(), trimtab::Error>(())
/// ```
pub trait Settings: Copy + Debug {
    /// The configuration, or `None` for that of `init`.
    const FIXED: Option<Config>;
}

/// The configuration that `init` is given, whichever it is.
#[derive(Clone, Copy, Debug)]
pub struct AtInit;

impl Settings for AtInit {
    const FIXED: Option<Config> = None;
}

/// [`Config::DEFAULT`]: `tuner!(…, config: trimtab::settings::Defaults)`.
#[derive(Clone, Copy, Debug)]
pub struct Defaults;

impl Settings for Defaults {
    const FIXED: Option<Config> = Some(Config::DEFAULT);
}

/// The configuration in use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen<S> {
    given: Config,
    settings: PhantomData<S>,
}

impl<S: Settings> Chosen<S> {
    pub(crate) const ZERO: Self = Self { given: Config::ZERO, settings: PhantomData };

    /// The configuration given to `init`; `None` if the type has another one.
    pub(crate) fn new(given: Config) -> Option<Self> {
        S::FIXED.is_none_or(|fixed| fixed == given).then_some(Self { given, settings: PhantomData })
    }
}

impl<S: Settings> Deref for Chosen<S> {
    type Target = Config;

    #[inline(always)]
    fn deref(&self) -> &Config {
        const { &S::FIXED }.as_ref().unwrap_or(&self.given)
    }
}
