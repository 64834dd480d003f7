//! A front end whose error is measured as a level in decibels.
//!
//! L = 10/ln 10 · ln(mean of (output − wanted)² over one period of a test tone)
//!
//! The logarithm is a parameter: exact ([`trimtab::math::ln`]) or rough
//! (`trimtab::math::rough::ln`). The image `level` tunes with both and counts their instructions.

/// Each filter has its own ripple.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filter {
    Bessel,
    Butterworth,
    Chebyshev,
    Cauer,
}

trimtab::knobs! {
    /// The settings: 16 × 16 × 4.
    pub struct FrontEnd {
        /// In tenths.
        gain: i32 = ranked [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19],
        /// In steps of the converter.
        bias: i32 = ranked [-144, -128, -112, -96, -80, -64, -48, -32, -16, 0, 16, 32, 48, 64, 80, 96],
        filter: Filter = nominal [Filter::Bessel, Filter::Butterworth, Filter::Chebyshev, Filter::Cauer],
    }
}
/// Measurements.
pub const BUDGET: usize = 48;
/// The tuner of the front end.
pub type LevelTuner = trimtab::tuner!(FrontEnd::KNOBS, observations: BUDGET, rows: 256);

/// A quarter of a sine of amplitude 1000, in 8 steps.
const QUARTER: [i32; 8] = [0, 195, 383, 556, 707, 831, 924, 981];
/// The samples clip here.
const FULL_SCALE: i32 = 2047;

/// The mean squared error of the output at these settings, in steps of the converter; never 0.
pub fn error_power(settings: FrontEnd) -> f32 {
    let FrontEnd { gain, bias, filter } = settings;
    let ripple = match filter {
        Filter::Bessel => 40,
        Filter::Butterworth => 9,
        Filter::Chebyshev => 25,
        Filter::Cauer => 60,
    };
    let sum: i32 = (0..32)
        .map(|n: i32| {
            let step = n as usize % 8;
            let magnitude = QUARTER[if (n / 8) % 2 == 0 { step } else { 7 - step }];
            let wanted = if n < 16 { magnitude } else { -magnitude };
            // The stage has an offset of 48.
            let ripple = ripple * (1 - 2 * (n % 2));
            let output = (wanted * gain / 10 + bias + 48 + ripple).clamp(-FULL_SCALE, FULL_SCALE);
            (output - wanted) * (output - wanted)
        })
        .sum();
    sum as f32 / 32.0
}

/// A power in decibels, by this natural logarithm.
pub fn decibels(power: f32, ln: impl Fn(f32) -> f32) -> f32 {
    10.0 / core::f32::consts::LN_10 * ln(power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trimtab::{Config, Space, math};

    #[test]
    fn the_best_setting_is_unique_and_found() {
        let space = Space::<3>::new(&FrontEnd::KNOBS).unwrap();
        let mut levels: std::vec::Vec<f32> = (0..=space.last_index())
            .map(|i| decibels(error_power(FrontEnd::of(&space.at(i).unwrap())), math::ln))
            .collect();
        levels.sort_by(f32::total_cmp);
        assert!(levels[0] < levels[1] && levels[0].is_finite());
        let mut tuner = LevelTuner::new();
        tuner.init(space, Config::default(), 1).unwrap();
        for _ in 0..BUDGET {
            let c = tuner.ask().unwrap().combination;
            tuner.tell(&c, decibels(error_power(FrontEnd::of(&c)), math::ln)).unwrap();
        }
        assert_eq!(tuner.best_observed().map(|best| best.value), Some(levels[0]));
    }
}
