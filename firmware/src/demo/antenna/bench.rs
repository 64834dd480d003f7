//! The network as an objective: relays to set, and an antenna behind them.

use core::convert::Infallible;

use trimtab::Combination;

use super::Network;
use trimtab_embedded::objective::Objective;

/// A simulated network on the bench. Yours has pins and an SWR bridge.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The antenna. A demo moves it by changing this.
    pub network: Network,
    applied: Option<Combination<3>>,
}

impl Bench {
    /// A bench whose relays are not set yet.
    pub const fn new(network: Network) -> Self {
        Self { network, applied: None }
    }
}

impl Objective<3> for Bench {
    type Error = Infallible;

    fn apply(&mut self, c: &Combination<3>) -> Result<(), Infallible> {
        self.applied = Some(*c);
        Ok(())
    }

    fn measure(&mut self) -> Result<f32, Infallible> {
        Ok(self.applied.map_or(f32::NAN, |c| self.network.cost(&c)))
    }
}
