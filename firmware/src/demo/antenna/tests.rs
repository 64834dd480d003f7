use core::f32::consts::TAU;

use trimtab::Combination;
use trimtab::math::ln;

use super::complex::Complex;
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

/// Relative 1e-5: five f32 roundings of 6e-8 each, and cancellation of at most two digits in these
/// cases.
fn is_close(a: f32, b: f32) -> bool {
    (a - b).abs() <= 1e-5 * b.abs() + 1e-7
}

#[test]
fn load_side_by_hand() {
    // All relays in at ω = 10⁷: ωL = 85.4 Ω, ωC = 0.01874 S. Load 100 Ω: Y = 0.01 + j0.01874, |Y|²
    // = 4.511876e-4, 1/Y = 22.16373 − j41.53483, Zin = 22.16373 + j43.86517
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
    // Inductors 50 and 220 nH: L = 290 nH, ωL = 2.9 Ω. Capacitor 1000 pF: C = 1005 pF, ωC = 0.01005
    // S. Load 20 + j10 Ω: Z + jωL = 20 + j12.9, norm 566.41, inverse 0.03531011 − j0.02277502, Y =
    // 0.03531011 − j0.01272502
    // |Y|² = 1.2468039e-3 + 1.619261e-4 = 1.40873e-3, Zin = 25.06520 + j9.03297
    // |Γ|² = (24.93480² + 9.03297²) / (75.06520² + 9.03297²) = 703.3388 / 5716.3788 = 0.123039
    let c = space().combination(&[0b101, 0b100_0000, 1]).unwrap();
    let network = network(20.0, 10.0, FREQUENCY);
    assert!((network.reflection(&c) - 0.123039).abs() < 2e-6);
}

#[test]
fn every_state_matches_the_load_made_for_it() {
    // Solve Zin = 50 for the load.
    // Load side: 1/Z = 1/(50 − jωL) − jωC. Source side: Z = 1/(1/50 − jωC) − jωL.
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
            // At the limits of the loads |Γ|² is 1 − 10⁻¹², which f32 rounds to 1; the cost still
            // sees it.
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
    // Near a match the cost is |Γ|² and loses digits to the 1 in 1 − |Γ|², so only clear
    // differences count.
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
