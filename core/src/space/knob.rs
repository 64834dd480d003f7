//! A knob: one discrete setting of the hardware. Its levels have no order, an order, or values.
//!
//! The nominal knob is the paper's variable cᵢ with Nᵢ values (section 3); ranked and graded knobs
//! go beyond it.
//!
//! | name | meaning |
//! |---|---|
//! | level | the setting of a knob, counted from 0 |
//! | value | what a graded level stands for: picofarad, a divider, wait states |
//! | range | values by a formula: at equal steps, or at equal ratios |
//!
//! **Choices**
//! - Most hardware settings have values, and a model that knows them needs far fewer measurements,
//!   so a knob can be ranked or graded where the paper has only nominal variables.
//! - A level is two bytes: a 12-bit DAC or a 16-bit timer is one knob. A log takes one byte per level
//!   where one suffices.
//! - Only a range has more than [`MOST_LISTED`] levels. Others have a number or a candidate per level,
//!   and a range has neither.
//! - A constructor must be `const` and cannot panic, so a bad range becomes a knob that
//!   [`Space::new`](crate::Space::new) refuses with the reason.
//! - A knob with a single level is allowed: a setting that is fixed today.
//!
//! **Cost.** 16 bytes per knob on a 32-bit chip, however many levels: the values are borrowed from
//! a static.

use crate::math::float::ln;

/// The setting of a knob, counted from 0.
pub type Level = u16;

/// The largest magnitude of a value on a linear scale: squares of differences stay finite.
const LARGEST: f32 = 1e18;

/// The largest number of levels of one knob: of a range.
pub const MOST_LEVELS: usize = Level::MAX as usize + 1;

/// The largest number of levels of a knob that is not a range.
pub const MOST_LISTED: usize = 256;

/// How the values of a graded knob compare.
///
/// ```
/// use trimtab::{Knob, Scale};
/// let step = |knob: Knob, from| knob.position(from + 1) - knob.position(from);
/// let linear = Knob::graded(&[1.0, 2.0, 3.0], Scale::Linear);
/// let log = Knob::graded(&[1.0, 2.0, 4.0], Scale::Log);
/// assert_eq!(step(linear, 0), step(linear, 1));
/// assert!((step(log, 0) - step(log, 1)).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Scale {
    /// Equal differences matter equally: an offset, wait states.
    Linear,
    /// Equal ratios matter equally: a capacitance, a gain. All values must be above zero.
    Log,
}

/// One discrete setting of the hardware.
///
/// ```
/// use trimtab::{Knob, Scale};
/// const MUX: Knob = Knob::nominal(4);
/// const WAIT_STATES: Knob = Knob::ranked(8);
/// const CAPACITOR: Knob = Knob::graded(&[10.0, 22.0, 47.0, 100.0], Scale::Log);
/// assert_eq!((MUX.levels(), WAIT_STATES.levels(), CAPACITOR.levels()), (4, 8, 4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Knob {
    /// Levels without order: any two are equally far apart.
    Nominal {
        /// Number of levels.
        levels: u16,
    },
    /// Levels in order, evenly spaced.
    Ranked {
        /// Number of levels.
        levels: u16,
    },
    /// Levels with values.
    Graded {
        /// The value of each level, in any order.
        values: &'static [f32],
        /// How the values compare.
        scale: Scale,
    },
    /// Levels at equal steps on their scale, with values by a formula.
    Range {
        /// The value of the first level.
        first: f32,
        /// The value of the last level.
        last: f32,
        /// The last level: one less than their number.
        top: u16,
        /// Equal differences, or equal ratios.
        scale: Scale,
    },
    /// What [`range`](Self::range) or [`log_range`](Self::log_range) could not make a knob of.
    Refused {
        /// The reason.
        error: KnobError,
    },
}

impl Knob {
    /// A knob whose levels have no order, such as a mux input or a pin mapping.
    pub const fn nominal(levels: u16) -> Self {
        Self::Nominal { levels }
    }

    /// A knob whose levels are in order and evenly spaced, such as wait states.
    pub const fn ranked(levels: u16) -> Self {
        Self::Ranked { levels }
    }

    /// A knob whose levels have values, such as a capacitor bank in picofarad.
    pub const fn graded(values: &'static [f32], scale: Scale) -> Self {
        Self::Graded { values, scale }
    }

    /// A knob with the values `first`, `first + step`, … up to `last`, such as a DAC: at most
    /// [`MOST_LEVELS`], and no memory per level. `step` is negative if `last` is below `first`.
    ///
    /// ```
    /// use trimtab::{Knob, KnobError, Space, SpaceError};
    /// const VREF: Knob = Knob::range(0.0, 4095.0, 1.0);
    /// assert_eq!((VREF.levels(), VREF.value(1234)), (4096, Some(1234.0)));
    /// let refused = Space::<1>::new(&[Knob::range(0.0, 1e6, 1.0)]).err();
    /// assert_eq!(refused, Some(SpaceError::Knob { position: 0, error: KnobError::RangeTooLong }));
    /// ```
    pub const fn range(first: f32, last: f32, step: f32) -> Self {
        if !first.is_finite() || !last.is_finite() || !step.is_finite() {
            return Self::Refused { error: KnobError::ValueNotFinite };
        }
        if first.abs() > LARGEST || last.abs() > LARGEST {
            return Self::Refused { error: KnobError::ValueTooLarge };
        }
        let steps = (last - first) / step;
        if step == 0.0 || steps < 0.0 {
            return Self::Refused { error: KnobError::Step };
        }
        // A last value that rounding puts just beyond a whole number of steps counts.
        let top = steps * (1.0 + 2.0 * f32::EPSILON) + 1e-4;
        if top >= MOST_LEVELS as f32 {
            return Self::Refused { error: KnobError::RangeTooLong };
        }
        let top = top as u16;
        Self::Range { first, last: first + step * top as f32, top, scale: Scale::Linear }
    }

    /// A knob with this number of levels from `first` to `last` at equal ratios, such as the period of
    /// a timer over some decades: at most [`MOST_LEVELS`], and no memory per level.
    ///
    /// ```
    /// use trimtab::Knob;
    /// const HERTZ: Knob = Knob::log_range(1.0, 10_000.0, 4097);
    /// let middle = HERTZ.value(2048);
    /// assert!(middle.is_some_and(|hertz| (hertz - 100.0).abs() < 1e-3), "{middle:?}");
    /// assert_eq!((HERTZ.value(0), HERTZ.value(4096)), (Some(1.0), Some(10_000.0)));
    /// ```
    pub const fn log_range(first: f32, last: f32, levels: u32) -> Self {
        if levels == 0 {
            return Self::Refused { error: KnobError::NoLevels };
        }
        if levels > MOST_LEVELS as u32 {
            return Self::Refused { error: KnobError::RangeTooLong };
        }
        Self::Range { first, last, top: (levels - 1) as u16, scale: Scale::Log }
    }

    /// Number of levels.
    pub const fn levels(&self) -> usize {
        match self {
            Self::Nominal { levels } | Self::Ranked { levels } => *levels as usize,
            Self::Graded { values, .. } => values.len(),
            Self::Range { top, .. } => *top as usize + 1,
            Self::Refused { .. } => 0,
        }
    }

    /// Whether the values follow from a formula: neither model nor search keeps anything per level.
    pub const fn is_range(&self) -> bool {
        matches!(self, Self::Range { .. })
    }

    /// The value of a level: `None` past the last, and for a knob without values.
    ///
    /// ```
    /// use trimtab::{Knob, Scale};
    /// assert_eq!(Knob::range(-10.0, 10.0, 0.5).value(3), Some(-8.5));
    /// assert_eq!(Knob::graded(&[1.0, 10.0], Scale::Log).value(1), Some(10.0));
    /// assert_eq!(Knob::ranked(8).value(1), None);
    /// ```
    pub fn value(&self, level: Level) -> Option<f32> {
        match self {
            Self::Graded { values, .. } => values.get(usize::from(level)).copied(),
            Self::Range { first, last, top, scale } if level <= *top => Some(match (level, scale) {
                (0, _) => *first,
                (level, _) if level == *top => *last,
                (level, Scale::Linear) => first + (last - first) / f32::from(*top) * f32::from(level),
                (level, Scale::Log) => {
                    let share = f32::from(level) / f32::from(*top);
                    crate::math::float::exp(ln(*first) + (ln(*last) - ln(*first)) * share)
                }
            }),
            _ => None,
        }
    }

    /// The level whose value is nearest to this one, the first of equals: `None` for a knob without
    /// values.
    ///
    /// ```
    /// use trimtab::Knob;
    /// assert_eq!(Knob::range(0.0, 4095.0, 1.0).nearest(1234.4), Some(1234));
    /// assert_eq!(Knob::range(0.0, 4095.0, 1.0).nearest(-7.0), Some(0));
    /// ```
    pub fn nearest(&self, value: f32) -> Option<Level> {
        let distance = |level: Level| self.value(level).map_or(f32::INFINITY, |own| (own - value).abs());
        let closest = |levels: core::ops::RangeInclusive<Level>| {
            levels.reduce(|best, level| if distance(level) < distance(best) { level } else { best })
        };
        match self {
            Self::Graded { values, .. } => closest(0..=(values.len().checked_sub(1)?).min(MOST_LISTED) as Level),
            Self::Range { first, last, top, scale } => {
                let share = match scale {
                    Scale::Linear => (value - first) / (last - first),
                    Scale::Log => (ln(value) - ln(*first)) / (ln(*last) - ln(*first)),
                };
                // A cast saturates, and makes 0 of NaN. Rounding may be one level off.
                let near = ((share * f32::from(*top) + 0.5) as Level).min(*top);
                closest(near.saturating_sub(1)..=near.saturating_add(1).min(*top))
            }
            _ => None,
        }
    }

    /// Whether the levels have an order or values that the model can use. Two levels never do: they
    /// are one bit.
    pub const fn is_graded(&self) -> bool {
        !matches!(self, Self::Nominal { .. }) && self.levels() > 2
    }

    /// The position of a level on the scale of the knob: its rank, its value, or the logarithm of
    /// its value. Its rank for a range too, whose levels are evenly spaced on their scale.
    ///
    /// ```
    /// use trimtab::{Knob, Scale};
    /// assert_eq!(Knob::ranked(8).position(5), 5.0);
    /// assert_eq!(Knob::graded(&[1.0, 10.0], Scale::Log).position(0), 0.0);
    /// ```
    pub fn position(&self, level: Level) -> f32 {
        match self {
            Self::Nominal { .. } | Self::Ranked { .. } | Self::Range { .. } | Self::Refused { .. } => f32::from(level),
            Self::Graded { values, scale } => {
                let value = values.get(usize::from(level)).copied().unwrap_or(0.0);
                match scale {
                    Scale::Linear => value,
                    Scale::Log => ln(value),
                }
            }
        }
    }

    /// The reason why the knob cannot be used, if there is one.
    pub(crate) fn fault(&self) -> Option<KnobError> {
        if let Self::Refused { error } = self {
            return Some(*error);
        }
        if self.levels() == 0 {
            return Some(KnobError::NoLevels);
        }
        if self.levels() > MOST_LISTED && !self.is_range() {
            return Some(KnobError::TooManyLevels);
        }
        match self {
            Self::Range { first, last, .. } if !first.is_finite() || !last.is_finite() => {
                Some(KnobError::ValueNotFinite)
            }
            Self::Range { first, last, scale: Scale::Log, .. } if *first <= 0.0 || *last <= 0.0 => {
                Some(KnobError::ValueNotPositive)
            }
            Self::Range { first, last, top, .. } if first == last && *top > 0 => Some(KnobError::Step),
            Self::Range { first, last, scale: Scale::Linear, .. } if first.abs().max(last.abs()) > LARGEST => {
                Some(KnobError::ValueTooLarge)
            }
            Self::Graded { values, scale } => values.iter().find_map(|value| match scale {
                _ if !value.is_finite() => Some(KnobError::ValueNotFinite),
                Scale::Log if *value <= 0.0 => Some(KnobError::ValueNotPositive),
                Scale::Linear if value.abs() > LARGEST => Some(KnobError::ValueTooLarge),
                _ => None,
            }),
            _ => None,
        }
    }
}

/// Why a knob cannot be used.
///
/// ```
/// use trimtab::{Knob, KnobError, Scale, Space, SpaceError};
/// let refused = Space::<1>::new(&[Knob::graded(&[0.0, 1.0], Scale::Log)]).err();
/// assert_eq!(refused, Some(SpaceError::Knob { position: 0, error: KnobError::ValueNotPositive }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum KnobError {
    /// A knob needs at least one level.
    NoLevels,
    /// More than [`MOST_LISTED`] levels, and not a range.
    TooManyLevels,
    /// A range of more than [`MOST_LEVELS`] levels.
    RangeTooLong,
    /// The step of a range is zero or leads away from its last value, or its values are all the same.
    Step,
    /// A value is infinite or not a number.
    ValueNotFinite,
    /// A value on a logarithmic scale is zero or negative.
    ValueNotPositive,
    /// A value on a linear scale is beyond ±1e18.
    ValueTooLarge,
}

impl core::fmt::Display for KnobError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::NoLevels => "has no levels, give it at least one",
            Self::TooManyLevels => {
                "has more than 256 levels, make it a range if they are numbers at equal steps or ratios, or else two knobs"
            }
            Self::RangeTooLong => "has more than 65536 levels, take a larger step",
            Self::Step => "has a step that does not lead from its first to its last value, give it the sign of last - first",
            Self::ValueNotFinite => "has a value that is infinite or not a number",
            Self::ValueNotPositive => "has a value that is zero or negative, use a linear scale",
            Self::ValueTooLarge => {
                "has a value beyond 1e18, give its values in a larger unit or on a logarithmic scale"
            }
        })
    }
}

impl core::error::Error for KnobError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_named() {
        assert_eq!(Knob::nominal(0).fault(), Some(KnobError::NoLevels));
        assert_eq!(Knob::nominal(1).fault(), None);
        assert_eq!(Knob::ranked(256).fault(), None);
        assert_eq!(Knob::ranked(257).fault(), Some(KnobError::TooManyLevels));
        assert_eq!(Knob::graded(&[], Scale::Linear).fault(), Some(KnobError::NoLevels));
        assert_eq!(Knob::graded(&[0.0, 1.0], Scale::Linear).fault(), None);
        assert_eq!(Knob::graded(&[0.0, 1.0], Scale::Log).fault(), Some(KnobError::ValueNotPositive));
        assert_eq!(Knob::graded(&[f32::NAN], Scale::Linear).fault(), Some(KnobError::ValueNotFinite));
        assert_eq!(Knob::graded(&[1.0, -2e18, 0.0], Scale::Linear).fault(), Some(KnobError::ValueTooLarge));
        assert_eq!(Knob::graded(&[1.0, -1e18, 1e18], Scale::Linear).fault(), None);
        assert_eq!(Knob::graded(&[1.0, 1e30, 2e18], Scale::Log).fault(), None);
    }

    /// promise: Knob::range, Knob::log_range | no step, the wrong sign, more than 65 536 levels, a value that is not finite, zero or less on a log scale | `Space::new` refuses the knob with a `KnobError` that says what to do
    #[test]
    fn every_fault_of_a_range_is_named() {
        let linear = |first, last, step| Knob::range(first, last, step).fault();
        assert_eq!(linear(0.0, 65_535.0, 1.0), None);
        assert_eq!(linear(0.0, 65_536.0, 1.0), Some(KnobError::RangeTooLong));
        assert_eq!(linear(0.0, 1.0, f32::MIN_POSITIVE), Some(KnobError::RangeTooLong));
        assert_eq!(linear(5.0, -5.0, -0.5), None);
        assert_eq!(linear(3.0, 3.0, 1.0), None);
        for step in [0.0, -1.0] {
            assert_eq!(linear(0.0, 9.0, step), Some(KnobError::Step));
        }
        assert_eq!(linear(3.0, 3.0, 0.0), Some(KnobError::Step));
        assert_eq!(linear(0.0, f32::INFINITY, 1.0), Some(KnobError::ValueNotFinite));
        assert_eq!(linear(0.0, 1.0, f32::NAN), Some(KnobError::ValueNotFinite));
        assert_eq!(linear(0.0, 2e18, 1e17), Some(KnobError::ValueTooLarge));
        let log = |first, last, levels| Knob::log_range(first, last, levels).fault();
        assert_eq!((log(1.0, 1e6, 65_536), log(1e6, 1.0, 3)), (None, None));
        assert_eq!(log(1.0, 1e6, 65_537), Some(KnobError::RangeTooLong));
        assert_eq!(log(1.0, 1e6, 0), Some(KnobError::NoLevels));
        assert_eq!(log(0.0, 1e6, 10), Some(KnobError::ValueNotPositive));
        assert_eq!(log(1.0, -1.0, 10), Some(KnobError::ValueNotPositive));
        assert_eq!(log(f32::NAN, 1.0, 10), Some(KnobError::ValueNotFinite));
        assert_eq!(log(2.0, 2.0, 10), Some(KnobError::Step));
        // Made by hand, past the constructors.
        let by_hand = Knob::Range { first: 1.0, last: 1.0, top: 3, scale: Scale::Linear };
        assert_eq!(by_hand.fault(), Some(KnobError::Step));
    }

    /// Integers are exact up to 16 bits, fractions to rounding, and every level is found again.
    #[test]
    fn the_values_of_a_range_follow_from_its_level() {
        for (knob, first, step) in [
            (Knob::range(0.0, 65_535.0, 1.0), 0.0, 1.0),
            (Knob::range(-40.0, 125.0, 0.25), -40.0, 0.25),
            (Knob::range(100.0, -100.0, -3.0), 100.0, -3.0),
            (Knob::range(7.0, 7.5, 1.0), 7.0, 1.0),
        ] {
            for level in (0..knob.levels()).step_by(crate::math::times(1, 997)) {
                let level = level as Level;
                assert_eq!(knob.value(level), Some(first + step * f32::from(level)), "{knob:?} {level}");
                assert_eq!(knob.nearest(first + step * f32::from(level)), Some(level), "{knob:?}");
            }
        }
        // 10 / 0.1 is not a whole number in binary.
        let tenths = Knob::range(0.0, 10.0, 0.1);
        assert_eq!(tenths.levels(), 101);
        assert!((0..101).all(|level| (tenths.value(level).unwrap_or(0.0) - f32::from(level) * 0.1).abs() < 2e-6));
        let log = Knob::log_range(1e-9, 1e-3, 601);
        for level in (0..601).step_by(crate::math::times(1, 97)) {
            let exact = 1e-9 * 10f64.powf(f64::from(level) / 100.0);
            let value = log.value(level).unwrap_or(0.0);
            assert!((f64::from(value) / exact - 1.0).abs() < 3e-6, "{level}: {value}");
            assert_eq!(log.nearest(value), Some(level));
        }
        assert_eq!((log.value(601), Knob::nominal(3).value(0)), (None, None));
        assert_eq!((log.nearest(-1.0), log.nearest(1.0)), (Some(0), Some(600)));
    }

    #[test]
    fn two_levels_are_a_bit_and_equal_steps_are_ranks() {
        assert!(Knob::ranked(3).is_graded() && !Knob::ranked(2).is_graded() && !Knob::nominal(4).is_graded());
        let (ranked, graded) = (Knob::ranked(4), Knob::graded(&[0.0, 1.0, 2.0, 3.0], Scale::Linear));
        assert!((0..4).all(|level| ranked.position(level) == graded.position(level)));
    }
}
