//! The features of one knob: a bit, a one-hot block, or a value and its square.
//!
//! [`encoding`](super) explains the choice of features.
//!
//! **Choices**
//! - Graded values are scaled in a unit that is a power of two: picofarads in farads and gigahertz
//!   in hertz stay within the range of `f32`, and ordinary values round as without it.
//!
//! **Cost.** 20 bytes per knob.

use crate::math::float::{inverse_power_of_two, sqrt};
use crate::space::knob::{Knob, Level};

/// Mean square of a bit about its middle: 0 or 1 about ½. Graded knobs are scaled to the same.
pub(super) const BIT_MEAN_SQUARE: f32 = 0.25;
/// Share of v in the mean square of a graded knob; v² has the rest.
const VALUE_SHARE: f32 = 0.625;
/// 1/√2: two one-hot vectors of this height have squared distance 1.
const HOT: f32 = core::f32::consts::FRAC_1_SQRT_2;

/// Number of features of one knob under [`PerKnob`](crate::config::Encoding::PerKnob).
pub(super) const fn knob_features(knob: &Knob) -> usize {
    match knob.levels() {
        0 | 1 => 0,
        2 => 1,
        _ if knob.is_graded() => 2,
        levels => levels,
    }
}

/// How one knob becomes features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Block {
    /// One level: no feature.
    Fixed,
    /// Two levels: one feature, ±½.
    Bit,
    /// Nominal levels: one feature each.
    OneHot { levels: u16 },
    /// Graded levels: v and v², each minus its mean and scaled.
    Graded { middle: f32, mean_of_square: f32, value: f32, square: f32 },
}

impl Block {
    pub(super) fn of(knob: &Knob) -> Self {
        match knob.levels() {
            0 | 1 => Self::Fixed,
            2 => Self::Bit,
            levels if !knob.is_graded() => Self::OneHot { levels: levels as u16 },
            levels if knob.is_range() => Self::of_range(levels as f32),
            levels => {
                let mean = |f: &dyn Fn(f32) -> f32| {
                    (0..levels).fold(0.0, |sum, level| sum + f(knob.position(level as Level))) / levels as f32
                };
                let middle = mean(&|v| v);
                let largest =
                    (0..levels).fold(0.0, |most: f32, i| most.max((knob.position(i as Level) - middle).abs()));
                // In raw units fourth powers of farads would vanish and those of hertz overflow. A
                // power of two as unit rounds nothing.
                let unit = inverse_power_of_two(largest);
                let squared = |v: f32| (v - middle) * unit * ((v - middle) * unit);
                let mean_of_square = mean(&squared);
                let variance_of_square = mean(&|v| {
                    let square = squared(v) - mean_of_square;
                    square * square
                });
                // Equal values have no spread to scale by.
                let factor = |share: f32, spread: f32| {
                    if spread > 0.0 { (sqrt(share * BIT_MEAN_SQUARE / spread) * unit).min(f32::MAX) } else { 0.0 }
                };
                let value = factor(VALUE_SHARE, mean_of_square);
                let square = (factor(1.0 - VALUE_SHARE, variance_of_square) * unit).min(f32::MAX);
                Self::Graded { middle, mean_of_square: mean_of_square / unit / unit, value, square }
            }
        }
    }

    /// Positions 0 to n − 1: their second and fourth central moments in closed form, because a sum over
    /// thousands of levels takes long and rounds.
    fn of_range(n: f32) -> Self {
        // In units of half the range, so that nothing overflows.
        let (middle, n) = (0.5 * (n - 1.0), n * n);
        let unit = 1.0 / middle;
        let mean_of_square = (n - 1.0) / 12.0 * unit * unit;
        let variance_of_square = mean_of_square * unit * unit * ((3.0 * n - 7.0) / 20.0 - (n - 1.0) / 12.0);
        let value = sqrt(VALUE_SHARE * BIT_MEAN_SQUARE / mean_of_square) * unit;
        let square = sqrt((1.0 - VALUE_SHARE) * BIT_MEAN_SQUARE / variance_of_square) * unit * unit;
        Self::Graded { middle, mean_of_square: mean_of_square / unit / unit, value, square }
    }

    pub(super) fn features(&self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Bit => 1,
            Self::OneHot { levels } => usize::from(*levels),
            Self::Graded { .. } => 2,
        }
    }

    /// Writes the features of a level.
    pub(super) fn write(&self, knob: &Knob, level: Level, z: &mut [f32]) {
        match self {
            Self::Fixed => {}
            Self::Bit => z.iter_mut().for_each(|z| *z = f32::from(level) - 0.5),
            Self::OneHot { levels } => {
                z.fill(-HOT / f32::from(*levels));
                z.iter_mut().skip(usize::from(level)).take(1).for_each(|z| *z += HOT);
            }
            Self::Graded { middle, mean_of_square, value, square } => {
                let v = knob.position(level) - middle;
                let features = [v * value, (v * v - mean_of_square) * square];
                z.iter_mut().zip(features).for_each(|(z, feature)| *z = feature);
            }
        }
    }

    /// Mean of ‖z‖² over the levels.
    pub(super) fn mean_square(&self) -> f32 {
        match self {
            Self::Fixed => 0.0,
            Self::OneHot { levels } => 0.5 - 0.5 / f32::from(*levels),
            Self::Bit | Self::Graded { .. } => BIT_MEAN_SQUARE,
        }
    }
}
