//! A fleet of antenna tuners: three boards of it, and one that is strange.
//!
//! The prior was learned from 100 simulated boards with parts within 5 % and antennas within 15 % of
//! 35 − j120 Ω: `trimtab fleet-bench --fleet 2 --only antenna --rust firmware/src/demo/fleet/prior.rs` writes it.
//! These boards have perfect parts and antennas within that range; the strange one has another antenna.

mod prior;
mod relays;

use crate::antenna::{KNOBS, Network, NetworkError};

pub use prior::PRIOR;
/// Of 100 simulated delay lines, with as many numbers as a prior can have, for 24 relays:
/// `trimtab fleet-bench --fleet 7 --only relays --rust firmware/src/demo/fleet/relays.rs` writes it.
pub use relays::PRIOR as RELAYS_PRIOR;

/// The tuner of a board on the line.
pub type FleetTuner = trimtab::tuner!(KNOBS, observations: 48, rows: 256, prior);

/// Measurements that a board may take.
pub const BUDGET: usize = 48;
/// A board is tuned at this multiple of its lowest SWR.
pub const TOLERANCE: f32 = 1.05;

/// Resistance and reactance in ohm; the last one is strange.
const LOADS: [(f32, f32); 4] = [(33.0, -128.0), (38.5, -108.0), (31.5, -114.0), (90.0, 60.0)];

/// The boards that come down the line.
pub fn boards() -> impl Iterator<Item = Result<Network, NetworkError>> {
    LOADS.into_iter().map(|(resistance, reactance)| Network::new(resistance, reactance, 7.1e6))
}

#[cfg(test)]
mod tests {
    use std::boxed::Box;

    use trimtab::{Config, FleetPrior};
    use trimtab_embedded::flash::RamFlash;
    use trimtab_embedded::journal::{Found, Layout};
    use trimtab_embedded::persistent::{Persistent, Task};

    use super::*;
    use crate::antenna::space;

    /// A power cut after any measurement: the next boot asks what the uncut run asks. Without the prior,
    /// or with another log under it, the log is that of another tuner.
    #[test]
    fn a_log_with_a_prior_goes_on_after_a_power_cut() {
        let prior = FleetPrior::read(&PRIOR).unwrap();
        let network = boards().next().unwrap().unwrap();
        let task = Task { space: space(), config: Config::default(), seed: 1, meaning: 0 };
        let layout = Layout { range: 0..4096, records: 16 };
        let mut flash = RamFlash::<2, 2048, 4>::new();
        let mut uncut = Box::new(FleetTuner::new());
        uncut.init_with_prior(space(), Config::default(), &prior, 1).unwrap();
        for done in 0..10 {
            let mut tuner = Box::new(FleetTuner::new());
            let (mut kept, boot) =
                Persistent::open_with_prior(&mut tuner, &task, &prior, &mut flash, layout.clone(), &mut || ()).unwrap();
            let found = if done == 0 { Found::Blank } else { Found::Log };
            assert_eq!((boot.found, boot.records), (Some(found), done));
            let proposal = kept.ask().unwrap();
            assert_eq!(proposal, uncut.ask().unwrap(), "after {done}");
            let cost = network.cost(&proposal.combination);
            kept.tell(&proposal.combination, cost).unwrap();
            uncut.tell(&proposal.combination, cost).unwrap();
        }
        let mut cold = Box::new(FleetTuner::new());
        let (_, boot) = Persistent::open(&mut cold, &task, &mut flash, layout).unwrap();
        assert_eq!((boot.found, boot.records), (Some(Found::Foreign), 0));
    }
}
