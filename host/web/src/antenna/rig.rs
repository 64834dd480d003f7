//! The simulated hardware: an antenna behind relays, a bridge with an error, a relay that may be
//! broken.

use trimtab::{Combination, Space};
use trimtab_embedded::objective::Objective;
use trimtab_embedded::watchdog::Watchdog;
use trimtab_firmware::antenna::{self, CAPACITORS_PF, Network, RELAYS};

use super::run::Bridge;

/// The relay that can be broken: the largest capacitor's, so half of all states fail.
pub(crate) const BROKEN: usize = RELAYS - 1;
/// Its capacitor in picofarad.
pub(crate) const BROKEN_PF: f32 = CAPACITORS_PF[BROKEN];

/// What a visitor chooses before the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) network: Network,
    pub(crate) seed: u64,
    /// Standard deviation of the bridge's error in |Γ|.
    pub(crate) noise: f32,
    pub(crate) is_broken: bool,
    pub(crate) budget: u16,
}

/// The broken relay did not close.
#[derive(Debug)]
pub(crate) struct Broken;

pub(crate) struct Rig {
    bridge: Bridge,
    is_broken: bool,
    applied: Option<Combination<3>>,
}

impl Rig {
    /// The `turn` sets the bridge's errors apart: each method, and each move of the antenna.
    pub(crate) fn new(settings: &Settings, turn: u64) -> Self {
        let Settings { network, noise, seed, is_broken, .. } = *settings;
        Self { bridge: Bridge::new(network, noise, seed.wrapping_add(turn << 32)), is_broken, applied: None }
    }
}

impl Objective<3> for Rig {
    type Error = Broken;

    fn apply(&mut self, c: &Combination<3>) -> Result<(), Broken> {
        self.applied = Some(*c);
        if self.is_broken && needs_broken(c) { Err(Broken) } else { Ok(()) }
    }

    fn measure(&mut self) -> Result<f32, Broken> {
        self.applied.map(|c| self.bridge.measure(&c)).ok_or(Broken)
    }
}

/// Whether a state closes the relay that can be broken.
pub(crate) fn needs_broken(c: &Combination<3>) -> bool {
    c.level(1) >> BROKEN & 1 == 1
}

fn works(c: &Combination<3>) -> bool {
    !needs_broken(c)
}

/// The best state that works, by brute force.
pub(crate) fn optimum(settings: &Settings) -> Option<Combination<3>> {
    let space: Space<3> = antenna::space();
    settings.network.optimum(&if settings.is_broken { space.with_feasible(&works) } else { space })
}

/// A page has no reset to end a measurement with, and none hangs.
pub(crate) struct NoWatchdog;

impl Watchdog for NoWatchdog {
    fn bitten(&mut self) -> Option<u32> {
        None
    }

    fn arm(&mut self, _measurement: u32) {}

    fn disarm(&mut self) {}
}
