//! Limits: the best combination must also keep further numbers within bounds.
//!
//! minimise f(c) subject to gⱼ(c) ≥ 0 (Gardner, Kusner, Xu, Weinberger and Cunningham 2014, *Bayesian
//! Optimization with Inequality Constraints*)
//!
//! **Choices**
//! - A measurement brings the margin to each limit, not whether it was kept: how far it was off tells
//!   where the border is.
//! - Expected improvement is multiplied by the chance of keeping all limits, whatever the configured
//!   acquisition. GP-UCB that pays for −ln of the chance needed more measurements with every price:
//!   `cargo xtask bench limits` was run with four.
//! - The best is the best that keeps all limits, and nothing else: before the first that does there is
//!   none.
//!
//! **Cost.** 12T bytes per limit; see [`limits`](crate::surrogate::limits).

use super::Tuner;
use crate::config::Settings;
use crate::error::TellError;
use crate::math::float::exp;
use crate::space::Combination;
use crate::surrogate::limits::MOST_LIMITS;

/// The margins of a measurement to at most [`MOST_LIMITS`] limits; a limit is kept if its margin is not
/// negative.
///
/// ```
/// use trimtab::Margins;
/// let margins = Margins::new(&[3.0 - 2.5, 0.1]).ok_or("at most four")?; // half a watt below 3 W
/// assert_eq!(margins[..], [0.5, 0.1]);
/// assert!(Margins::new(&[0.0; 5]).is_none());
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Margins {
    count: u8,
    values: [f32; MOST_LIMITS],
}

impl Margins {
    /// These margins, unless there are too many.
    pub fn new(margins: &[f32]) -> Option<Self> {
        let mut own = Self { count: margins.len() as u8, values: [0.0; MOST_LIMITS] };
        own.values.iter_mut().zip(margins).for_each(|(own, margin)| *own = *margin);
        (margins.len() <= MOST_LIMITS).then_some(own)
    }
}

impl core::ops::Deref for Margins {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        self.values.get(..usize::from(self.count)).unwrap_or_default()
    }
}

impl PartialEq for Margins {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl core::fmt::Debug for Margins {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Margins {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{=[?]}", **self);
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Margins {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Margins {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let all = heapless::Vec::<f32, MOST_LIMITS>::deserialize(deserializer)?;
        Ok(Self::new(&all).unwrap_or_default())
    }
}

impl<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
    const N: usize,
    const G: usize,
    const A: usize,
    S: Settings,
> Tuner<K, M, D, T, L, P, N, G, A, S>
{
    /// [`tell`](Self::tell) for hardware with limits: also the margin to each, not negative if the limit
    /// was kept. The first outcome decides how many there are. The tuner needs room for them: `tuner!`
    /// with `limits`.
    ///
    /// ```
    /// use trimtab::{Config, Knob, Space};
    /// const KNOBS: [Knob; 2] = [Knob::ranked(16), Knob::ranked(16)];
    /// type MyTuner = trimtab::tuner!(KNOBS, observations: 32, rows: 128, limits: 1);
    /// let mut tuner = MyTuner::new();
    /// tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// for _ in 0..32 {
    ///     let c = tuner.ask()?.combination;
    ///     let (clock, volt) = (f32::from(c.level(0)), f32::from(c.level(1)));
    ///     let (time, watts) = (20.0 - clock, clock * (1.0 + volt / 16.0) / 4.0 + (12.0 - volt).max(0.0));
    ///     tuner.tell_with(&c, time, &[3.0 - watts])?;     // as fast as possible, but below 3 W
    /// }
    /// let best = tuner.best_observed().ok_or("nothing keeps the limit")?;
    /// assert!(tuner.margins(&best.combination).is_some_and(|[watts]| watts >= 0.0));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn tell_with(&mut self, c: &Combination<K>, value: f32, margins: &[f32]) -> Result<(), TellError> {
        self.tell_with_begin(c, value, margins)?;
        self.finish_tell();
        Ok(())
    }

    /// [`tell_with`](Self::tell_with) in slices, as [`tell_begin`](Self::tell_begin).
    pub fn tell_with_begin(&mut self, c: &Combination<K>, value: f32, margins: &[f32]) -> Result<(), TellError> {
        if !value.is_finite() || !margins.iter().all(|margin| margin.is_finite()) {
            return Err(TellError::NonFinite);
        }
        let expected = self.model.limits.expected();
        if expected.is_some_and(|expected| expected != margins.len()) || margins.len() > G {
            return Err(TellError::Margins { given: margins.len(), expected: expected.unwrap_or(G) });
        }
        self.begin_outcome(c, Some(self.config.goal.flip(value)), margins)
    }

    /// Number of limits: that of the margins of the first outcome, 0 before.
    pub fn limits(&self) -> usize {
        self.model.limits.count()
    }

    /// The mean margins of a measured combination; `None` if it was not measured. Those beyond
    /// [`limits`](Self::limits) are 0.
    pub fn margins(&self, c: &Combination<K>) -> Option<[f32; G]> {
        let i = self.model.observations.find(c)?;
        self.model.observations.cost(i).map(|_| self.model.limits.margins(i))
    }

    /// How likely a combination is to keep all limits, as far as the model knows; `None` when
    /// [`predict`](Self::predict) has no answer either.
    pub fn keep_chance(&self, c: &Combination<K>) -> Option<f32> {
        if self.is_empty() || !self.model.is_settled() || !self.space.contains(c) {
            return None;
        }
        Some(exp(self.model.log_chance(&self.space, c)))
    }

    /// Where sweeps begin: the best that keeps all limits, or else what breaks them least.
    pub(super) fn sweep_start(&self, best: Option<usize>) -> Option<usize> {
        let limits = &self.model.limits;
        if G == 0 || best.is_some() || !limits.is_used() {
            return best;
        }
        let measured = self.model.observations.by_cost();
        measured.reduce(|best, other| if limits.violation(other) > limits.violation(best) { other } else { best })
    }
}
