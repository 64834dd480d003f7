//! An antenna matching network: what the demo tunes, on the host and on the chip.
//!
//! A series inductor L and a shunt capacitor C between a 50 Ω source and the antenna Z. The capacitor sits on
//! the load's or on the source's side of the inductor, as a relay chooses:
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
//! | \|Γ\|² | share of the power that comes back |
//! | 1 − \|Γ\|² | share of the power that goes into the antenna |
//!
//! **Choices.** The parts have no losses, so all power that is not reflected reaches the antenna. The SWR grows
//! without bound and would drown the model, the cost only grows like its logarithm. |Γ|² and 1 − |Γ|² have formulas of their own, each exact where the other loses digits:
//! 1 − |Γ|² = 4 Z₀ Re Zᵢₙ / |Zᵢₙ + Z₀|².
//!
//! **Cost.** Two complex inversions a state.

use core::f32::consts::TAU;
use core::fmt;
use core::ops::Add;

use trimtab::math::{exp, ln, sqrt};
use trimtab::{Combination, Knob, Scale, Space};

pub use bank::{
    CAPACITANCE_PF, CAPACITORS_PF, INDUCTANCE_NH, INDUCTORS_NH, LEVELS, Parts, RELAYS, STRAY_NH, STRAY_PF, Topology,
};
pub use scenario::{Scenario, ScenarioError, settles};

use crate::persistent::Persistent;

mod bank;
mod scenario;

/// Z₀, what the source wants to see, in ohm.
pub const SOURCE_OHM: f32 = 50.0;

/// The three knobs: inductor bank, capacitor bank, topology.
///
/// Linear, because exact measurements led to the best state more often than on a logarithmic scale:
/// `trimtab antenna-bench` prints both.
pub const KNOBS: [Knob; 3] = knobs(Scale::Linear);

/// Most measurements that the tuner keeps.
pub const OBSERVATIONS: usize = 128;

/// Rows of its lookup table.
pub const ROWS: usize = 256;

/// The tuner of the demo, the same type on the host and on the chip.
pub type AntennaTuner = trimtab::tuner!(KNOBS, observations: OBSERVATIONS, rows: ROWS);

/// That tuner with its log in flash.
pub type AntennaKept<'t, F> = Persistent<
    't,
    F,
    { KNOBS.len() },
    0,
    { trimtab::encoding::graded_features(&KNOBS) },
    OBSERVATIONS,
    ROWS,
    { trimtab::matrix::triangle(OBSERVATIONS) },
>;

/// The three knobs with the banks on a scale of one's choice, for comparing the two.
pub const fn knobs(scale: Scale) -> [Knob; 3] {
    [Knob::graded(&INDUCTANCE_NH, scale), Knob::graded(&CAPACITANCE_PF, scale), Knob::nominal(2)]
}

/// All 32 768 states of the network.
///
/// ```
/// assert_eq!(trimtab_firmware::antenna::space().cardinality(), 32_768);
/// ```
pub fn space() -> Space<3> {
    match Space::new(&KNOBS) {
        Ok(space) => space,
        // The knobs are constants and a test makes this call.
        Err(_) => unreachable!(),
    }
}

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

    /// The antenna R + jX in ohm at a frequency in hertz. Within the limits every cost is finite.
    ///
    /// ```
    /// use trimtab_firmware::antenna::{Network, NetworkError};
    /// assert!(Network::new(35.0, -120.0, 7.1e6).is_ok());
    /// assert_eq!(Network::new(0.0, 10.0, 7.1e6), Err(NetworkError::Resistance));
    /// ```
    pub const fn new(resistance: f32, reactance: f32, frequency: f32) -> Result<Self, NetworkError> {
        // Written so that a NaN fails each of them.
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

    /// |Γ|²: the share of the power that comes back, from 0 to 1.
    pub fn reflection(&self, c: &Combination<3>) -> f32 {
        reflection(self.input(c))
    }

    /// −ln(1 − |Γ|²): what the tuner is told. 0 for a perfect match, always finite.
    pub fn cost(&self, c: &Combination<3>) -> f32 {
        // Rounding can take the share a hair above 1.
        -ln(transmission(self.input(c)).min(1.0))
    }

    /// The standing wave ratio that a state gives, from 1.
    pub fn swr(&self, c: &Combination<3>) -> f32 {
        swr(self.input(c))
    }

    /// The standing wave ratio of the antenna without the network.
    pub fn unmatched_swr(&self) -> f32 {
        swr(self.load)
    }

    /// The best feasible state by brute force, the first one if several are equal.
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

    /// Zᵢₙ: what the source sees.
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

/// The cost of a reading |Γ| of an SWR bridge, for measurements that are not exact. A reading above 0.999 counts
/// as 0.999 (SWR 2000), one below 0 as 0, so the cost is finite.
pub fn cost_of_reading(magnitude: f32) -> f32 {
    let magnitude = magnitude.clamp(0.0, 0.999);
    -ln((1.0 - magnitude) * (1.0 + magnitude))
}

/// The standing wave ratio that belongs to a cost, to about three digits: the inverse of −ln(1 − |Γ|²).
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

/// As much of a complex number as the network needs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Complex {
    re: f32,
    im: f32,
}

impl Complex {
    /// re² + im².
    fn norm(self) -> f32 {
        self.re * self.re + self.im * self.im
    }

    /// 1/z.
    fn inverse(self) -> Self {
        let norm = self.norm();
        Self { re: self.re / norm, im: -self.im / norm }
    }
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
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

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    /// ω = 10⁷ makes the working short.
    const FREQUENCY: f32 = 1e7 / TAU;

    fn network(resistance: f32, reactance: f32, frequency: f32) -> Network {
        Network::new(resistance, reactance, frequency).unwrap()
    }

    fn states() -> impl Iterator<Item = Combination<3>> {
        let space = space();
        // A stride without a common factor with 32 768 visits all corners of the space.
        (0..=space.last_index()).step_by(37).filter_map(move |index| space.at(index))
    }

    /// Relative 1e-5: five f32 roundings of 6e-8 each and cancellation of at most two digits in these cases.
    fn is_close(a: f32, b: f32) -> bool {
        (a - b).abs() <= 1e-5 * b.abs() + 1e-7
    }

    #[test]
    fn load_side_by_hand() {
        // All relays in at ω = 10⁷: ωL = 85.4 Ω, ωC = 0.01874 S. Load 100 Ω:
        // Y = 0.01 + j0.01874, |Y|² = 4.511876e-4, 1/Y = 22.16373 − j41.53483, Zin = 22.16373 + j43.86517
        // |Γ|² = (27.83627² + 43.86517²) / (72.16373² + 43.86517²) = 2699.0111 / 7131.7571 = 0.378450
        // cost = −ln(0.621550) = 0.475539, |Γ| = 0.615183, SWR = 1.615183 / 0.384817 = 4.197275
        let c = space().combination(&[127, 127, 0]).unwrap();
        let network = network(100.0, 0.0, FREQUENCY);
        assert!(is_close(network.reflection(&c), 0.378450));
        assert!(is_close(network.cost(&c), 0.475539));
        assert!(is_close(network.swr(&c), 4.197275));
        // 100 Ω at 50 Ω: SWR 2.
        assert!(is_close(network.unmatched_swr(), 2.0));
    }

    #[test]
    fn source_side_by_hand() {
        // Inductors 50 and 220 nH: L = 290 nH, ωL = 2.9 Ω. Capacitor 1000 pF: C = 1005 pF, ωC = 0.01005 S. Load 20 + j10 Ω:
        // Z + jωL = 20 + j12.9, norm 566.41, inverse 0.03531011 − j0.02277502, Y = 0.03531011 − j0.01272502
        // |Y|² = 1.2468039e-3 + 1.619261e-4 = 1.40873e-3, Zin = 25.06520 + j9.03297
        // |Γ|² = (24.93480² + 9.03297²) / (75.06520² + 9.03297²) = 703.3388 / 5716.3788 = 0.123039
        let c = space().combination(&[0b101, 0b100_0000, 1]).unwrap();
        let network = network(20.0, 10.0, FREQUENCY);
        assert!((network.reflection(&c) - 0.123039).abs() < 2e-6);
    }

    #[test]
    fn every_state_matches_the_load_made_for_it() {
        // Solve Zin = 50 for the load. Load side: 1/Z = 1/(50 − jωL) − jωC. Source side: Z = 1/(1/50 − jωC) − jωL.
        let minus = |z: Complex| Complex { re: -z.re, im: -z.im };
        for c in states() {
            let parts = Parts::of(&c);
            let inductor = Complex { re: 0.0, im: 1e7 * parts.inductance_nh * 1e-9 };
            let capacitor = Complex { re: 0.0, im: 1e7 * parts.capacitance_pf * 1e-12 };
            let source = Complex { re: SOURCE_OHM, im: 0.0 };
            let load = match parts.topology {
                Topology::LoadSide => ((source + minus(inductor)).inverse() + minus(capacitor)).inverse(),
                Topology::SourceSide => (source.inverse() + minus(capacitor)).inverse() + minus(inductor),
            };
            let network = network(load.re, load.im, FREQUENCY);
            // |Γ| is a difference of impedances good to 1e-6, squared.
            assert!(network.reflection(&c) < 1e-10, "{parts:?}");
            assert!(network.cost(&c).abs() < 1e-5 && network.swr(&c) < 1.0001);
        }
    }

    #[test]
    fn lossless_bounds_and_identities() {
        for (resistance, reactance, frequency) in
            [(35.0, -120.0, 7.1e6), (5.0, 300.0, 1.9e6), (900.0, -50.0, 28.5e6), (1e-3, 1e6, 1e9), (1e6, -1e6, 1e3)]
        {
            let network = network(resistance, reactance, frequency);
            let is_ordinary = (1.0..=1e3).contains(&resistance);
            for c in states() {
                let (reflection, cost, swr) = (network.reflection(&c), network.cost(&c), network.swr(&c));
                // At the limits of the loads |Γ|² is 1 − 10⁻¹², which an f32 rounds to 1; the cost still has it.
                assert!(0.0 <= reflection && (reflection < 1.0 || !is_ordinary && reflection == 1.0));
                assert!(cost.is_finite() && cost >= 0.0 && swr.is_finite() && swr >= 1.0);
                if reflection < 0.99 {
                    // 1 − |Γ|² loses up to two digits here.
                    assert!((cost + ln(1.0 - reflection)).abs() < 1e-4);
                }
                // The same in f64 from the SWR: 1 − |Γ|² = 4S / (1 + S)².
                let s = f64::from(swr);
                let expected = ((1.0 + s).powi(2) / (4.0 * s)).ln();
                assert!((f64::from(cost) - expected).abs() < 1e-5 * expected.max(1.0), "{cost} {expected}");
            }
        }
    }

    #[test]
    fn cost_and_swr_rise_together() {
        // Near a match the cost is |Γ|² and loses digits to the 1 in 1 − |Γ|², so only clear differences count.
        let network = Network::default();
        let mut seen: std::vec::Vec<_> = states().map(|c| (network.cost(&c), network.swr(&c))).collect();
        seen.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(seen.windows(2).all(|pair| pair[1].1 >= pair[0].1 * (1.0 - 1e-3)));
        for (cost, swr) in seen {
            assert!((swr_of_cost(cost) / swr - 1.0).abs() < 2e-3, "{cost} {swr}");
        }
    }

    #[test]
    fn readings_are_clamped() {
        assert_eq!(cost_of_reading(-0.2), 0.0);
        assert!(is_close(cost_of_reading(0.5), 0.287_682_1));
        assert!(cost_of_reading(7.0).is_finite() && cost_of_reading(7.0) == cost_of_reading(0.999));
    }

    #[test]
    fn optimum_is_the_least_of_all() {
        let network = Network::default();
        let space = space();
        let best = network.optimum(&space).unwrap();
        assert!((0..=space.last_index()).all(|i| network.swr(&space.at(i).unwrap()) >= network.swr(&best)));
        assert!(network.unmatched_swr() > 5.0 && network.swr(&best) < 1.1);
        fn on_load_side(c: &Combination<3>) -> bool {
            c.level(2) == 0
        }
        let restricted = network.optimum(&space.clone().with_feasible(&on_load_side)).unwrap();
        assert_eq!(Parts::of(&restricted).topology, Topology::LoadSide);
    }

    #[test]
    fn unphysical_loads_are_refused() {
        for bad in [0.0, -5.0, f32::NAN, f32::INFINITY] {
            assert_eq!(Network::new(bad, 0.0, 1e6), Err(NetworkError::Resistance));
            assert_eq!(Network::new(50.0, 0.0, bad), Err(NetworkError::Frequency));
        }
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(Network::new(50.0, bad, 1e6), Err(NetworkError::Reactance));
        }
    }
}
