//! The physics: what an antenna looks like through the matching network.
//!
//! A series inductor L and a shunt capacitor C lie between a 50 Ω source and the antenna Z. A relay
//! puts the capacitor on the load's or on the source's side of the inductor:
//!
//! ```text
//! load side    Zᵢₙ = jωL + 1 / (1/Z + jωC)        source side    Zᵢₙ = 1 / (1 / (Z + jωL) + jωC)
//! Γ = (Zᵢₙ − Z₀) / (Zᵢₙ + Z₀)      cost = −ln(1 − |Γ|²)      SWR = (1 + |Γ|) / (1 − |Γ|)
//! ```
//!
//! | name | meaning |
//! |---|---|
//! | Z = R + jX | the antenna: load resistance and reactance in ohm |
//! | Z₀ | the source, 50 Ω |
//! | ω | 2π times the frequency in hertz |
//! | \|Γ\|² | reflected share of the power |
//! | 1 − \|Γ\|² | share of the power that reaches the antenna |
//!
//! **Choices**
//! - The parts have no losses: all power that is not reflected reaches the antenna.
//! - The tuner gets the cost, not the SWR: the SWR grows without bound and would drown the model,
//!   the cost grows like its logarithm.
//! - |Γ|² and 1 − |Γ|² = 4 Z₀ Re Zᵢₙ / |Zᵢₙ + Z₀|² are computed separately: each is exact where the
//!   other loses digits.
//!
//! **Cost.** Two complex inversions per state.

use core::f32::consts::TAU;
use core::fmt;

use trimtab::math::{exp, ln, sqrt};
use trimtab::{Combination, Space};

use super::bank::{Parts, Topology};
use super::complex::Complex;

/// Z₀, the source's impedance in ohm.
pub const SOURCE_OHM: f32 = 50.0;

/// An antenna at one frequency, seen through the matching network.
///
/// ```
/// use trimtab_firmware::antenna::{Network, space};
/// let network = Network::default();
/// assert!(network.unmatched_swr() > 5.0);
/// let best = network.optimum(&space()).ok_or("no state")?;
/// assert!(network.swr(&best) < 1.1);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    load: Complex,
    frequency: f32,
}

impl Network {
    /// Smallest and largest load resistance in ohm.
    pub const RESISTANCE: (f32, f32) = (1e-3, 1e6);
    /// Largest load reactance of either sign in ohm.
    pub const REACTANCE: f32 = 1e6;
    /// Lowest and highest frequency in hertz.
    pub const FREQUENCY: (f32, f32) = (1e3, 1e9);

    /// A short wire on the 40 metre band: 35 − j120 Ω at 7.1 MHz, SWR 10 when left alone.
    pub const SHORT_WIRE: Self = Self { load: Complex { re: 35.0, im: -120.0 }, frequency: 7.1e6 };

    /// The same wire after it has moved: its impedance changed by an eighth.
    pub const MOVED_WIRE: Self = Self { load: Complex { re: 42.0, im: -105.0 }, ..Self::SHORT_WIRE };

    /// The antenna R + jX in ohm at a frequency in hertz. Within the limits every cost is finite.
    ///
    /// ```
    /// use trimtab_firmware::antenna::{Network, NetworkError};
    /// assert!(Network::new(35.0, -120.0, 7.1e6).is_ok());
    /// assert_eq!(Network::new(0.0, 10.0, 7.1e6), Err(NetworkError::Resistance));
    /// ```
    pub const fn new(resistance: f32, reactance: f32, frequency: f32) -> Result<Self, NetworkError> {
        // Written so that NaN fails each test.
        if !(resistance >= Self::RESISTANCE.0 && resistance <= Self::RESISTANCE.1) {
            return Err(NetworkError::Resistance);
        }
        if !(reactance >= -Self::REACTANCE && reactance <= Self::REACTANCE) {
            return Err(NetworkError::Reactance);
        }
        if !(frequency >= Self::FREQUENCY.0 && frequency <= Self::FREQUENCY.1) {
            return Err(NetworkError::Frequency);
        }
        Ok(Self { load: Complex { re: resistance, im: reactance }, frequency })
    }

    /// R in ohm.
    pub const fn resistance(&self) -> f32 {
        self.load.re
    }

    /// X in ohm.
    pub const fn reactance(&self) -> f32 {
        self.load.im
    }

    /// The frequency in hertz.
    pub const fn frequency(&self) -> f32 {
        self.frequency
    }

    /// |Γ|², the reflected share of the power, from 0 to 1.
    pub fn reflection(&self, c: &Combination<3>) -> f32 {
        reflection(self.input(c))
    }

    /// −ln(1 − |Γ|²), the value that the tuner minimises: 0 for a perfect match, always finite.
    pub fn cost(&self, c: &Combination<3>) -> f32 {
        // Rounding can lift the share slightly above 1.
        -ln(transmission(self.input(c)).min(1.0))
    }

    /// The standing wave ratio in a state, at least 1.
    pub fn swr(&self, c: &Combination<3>) -> f32 {
        swr(self.input(c))
    }

    /// The standing wave ratio of the antenna without the network.
    pub fn unmatched_swr(&self) -> f32 {
        swr(self.load)
    }

    /// Finds the best feasible state by brute force, the first one among equals.
    pub fn optimum(&self, space: &Space<3>) -> Option<Combination<3>> {
        let mut best: Option<(Combination<3>, f32)> = None;
        for c in (0..=space.last_index()).filter_map(|index| space.at(index)).filter(|c| space.is_feasible(c)) {
            let reflection = self.reflection(&c);
            if best.is_none_or(|(_, least)| reflection < least) {
                best = Some((c, reflection));
            }
        }
        best.map(|(c, _)| c)
    }

    /// Zᵢₙ, the impedance that the source sees.
    fn input(&self, c: &Combination<3>) -> Complex {
        let parts = Parts::of(c);
        let omega = TAU * self.frequency;
        let inductor = Complex { re: 0.0, im: omega * parts.inductance_nh * 1e-9 };
        let capacitor = Complex { re: 0.0, im: omega * parts.capacitance_pf * 1e-12 };
        match parts.topology {
            Topology::LoadSide => inductor + (self.load.inverse() + capacitor).inverse(),
            Topology::SourceSide => ((self.load + inductor).inverse() + capacitor).inverse(),
        }
    }
}

impl Default for Network {
    fn default() -> Self {
        Self::SHORT_WIRE
    }
}

/// The cost of a reading |Γ| of an SWR bridge, which may be noisy. A reading above 0.999 counts as
/// 0.999 (SWR 2000) and one below 0 as 0, so the cost is finite.
pub fn cost_of_reading(magnitude: f32) -> f32 {
    let magnitude = magnitude.clamp(0.0, 0.999);
    -ln((1.0 - magnitude) * (1.0 + magnitude))
}

/// Converts a cost back to its standing wave ratio, to about three digits.
///
/// ```
/// use trimtab_firmware::antenna::swr_of_cost;
/// assert_eq!(swr_of_cost(0.0), 1.0);
/// // SWR 3 is |Γ| = 1/2, so the cost is −ln(3/4) = 0.287682
/// assert!((swr_of_cost(0.287682) - 3.0).abs() < 1e-4);
/// ```
pub fn swr_of_cost(cost: f32) -> f32 {
    let through = exp(-cost.max(0.0));
    let magnitude = sqrt(1.0 - through);
    (1.0 + magnitude) * (1.0 + magnitude) / through
}

/// |Γ|² of an impedance at the source.
fn reflection(z: Complex) -> f32 {
    Complex { re: z.re - SOURCE_OHM, im: z.im }.norm() / Complex { re: z.re + SOURCE_OHM, im: z.im }.norm()
}

/// 1 − |Γ|², exact where |Γ| is close to 1.
fn transmission(z: Complex) -> f32 {
    4.0 * SOURCE_OHM * z.re / Complex { re: z.re + SOURCE_OHM, im: z.im }.norm()
}

/// (1 + |Γ|) / (1 − |Γ|), written as (1 + |Γ|)² / (1 − |Γ|²).
fn swr(z: Complex) -> f32 {
    let magnitude = sqrt(reflection(z));
    ((1.0 + magnitude) * (1.0 + magnitude) / transmission(z)).max(1.0)
}

/// Which part of a load or frequency is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkError {
    /// See [`Network::RESISTANCE`].
    Resistance,
    /// See [`Network::REACTANCE`].
    Reactance,
    /// See [`Network::FREQUENCY`].
    Frequency,
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resistance => "the load's resistance must be from 0.001 to 1000000 ohm",
            Self::Reactance => "the load's reactance must be from -1000000 to 1000000 ohm",
            Self::Frequency => "the frequency must be from 1 kHz to 1 GHz",
        })
    }
}

impl core::error::Error for NetworkError {}
