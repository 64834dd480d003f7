//! The antenna of the demo: match it with switched inductors and capacitors.
//!
//! f(c) = −ln(1 − |Γ|²) of the network of [`trimtab_firmware::antenna`]; c is a level of the
//! inductor bank (128 values in nH), one of the capacitor bank (128 values in pF) and one of the
//! topology (2).
//!
//! **Choices**
//! - The seed draws the antenna: a frequency in an HF amateur band, a resistance from 5 to 1000 Ω
//!   (log-uniform), a reactance from −500 to 500 Ω.
//! - An antenna that the network cannot match says nothing about a search, so only those are used
//!   whose best reachable SWR is below 1.5.
//!
//! **Optimum.** By enumeration of all 32 768 states.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level};
use trimtab_firmware::antenna::{KNOBS, Network, space};

use super::{Family, Optimum, Problem};
use crate::error::Error;

pub(super) const FAMILY: Family = Family {
    name: "antenna",
    about: "match an antenna with switched inductors and capacitors: −ln(1 − |Γ|²), graded knobs",
    parameters: &[],
    build: |_, seed, _| {
        let found = loads(1, seed).into_iter().next();
        let (network, _) = found.ok_or_else(|| Error::Failed(format!("no antenna for seed {seed}; try another")))?;
        Ok(Box::new(Antenna(network)))
    },
    load: None,
};

/// HF amateur bands in hertz.
const BANDS: [(f32, f32); 9] = [
    (1.81e6, 2.0e6),
    (3.5e6, 3.8e6),
    (7.0e6, 7.2e6),
    (10.1e6, 10.15e6),
    (14.0e6, 14.35e6),
    (18.068e6, 18.168e6),
    (21.0e6, 21.45e6),
    (24.89e6, 24.99e6),
    (28.0e6, 29.7e6),
];
/// An antenna is used only if some state brings its SWR below this.
pub(crate) const MATCHABLE: f32 = 1.5;

/// Draws matchable antennas, and the best SWR of each. A larger count extends the same list.
pub(crate) fn loads(count: usize, seed: u64) -> Vec<(Network, f32)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let space = space();
    let draw = || {
        let (low, high) = BANDS[random.random_range(0..BANDS.len())];
        let frequency = random.random_range(low..high);
        let resistance = random.random_range(5f32.ln()..1000f32.ln()).exp();
        let reactance = random.random_range(-500.0..500.0);
        let network = Network::new(resistance, reactance, frequency).ok()?;
        let swr = network.swr(&network.optimum(&space)?);
        (swr < MATCHABLE).then_some((network, swr))
    };
    std::iter::repeat_with(draw).flatten().take(count).collect()
}

struct Antenna(Network);

impl Problem for Antenna {
    fn knobs(&self) -> &[Knob] {
        &KNOBS
    }

    fn cost(&self, levels: &[Level]) -> f64 {
        // Callers check levels; a state that does not exist cannot be good.
        space().combination(levels).map_or(f64::INFINITY, |c| self.0.cost(&c).into())
    }

    fn optimum(&self) -> Option<Optimum> {
        let space = space();
        let states = (0..=space.last_index()).filter_map(|index| space.at(index));
        let best = states.min_by(|a, b| self.0.cost(a).total_cmp(&self.0.cost(b)))?;
        Some(Optimum { value: self.0.cost(&best).into(), levels: best.levels().to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::oracle;

    #[test]
    fn more_loads_only_add_to_the_list() {
        let (few, more) = (loads(3, 1), loads(5, 1));
        assert_eq!(few, more[..3]);
        assert!(more.iter().all(|(_, swr)| (1.0..MATCHABLE).contains(swr)));
    }

    #[test]
    fn the_optimum_is_the_least_of_all() {
        oracle::check_optimum("antenna", 0);
        // −ln(1 − |Γ|²) at SWR 1.5 is −ln(1 − 0.04).
        assert!(oracle::build("antenna", 5).optimum().unwrap().value < 0.0409);
    }
}
