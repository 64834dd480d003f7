//! Ways to search a space, all with the tuner's own ask and tell, so that one loop runs any of them.

mod descent;
mod random;
mod trimtab;

use ::trimtab::{Combination, Scale};

use crate::error::Error;

/// Proposes combinations and is told their costs.
pub(crate) trait Method<const K: usize> {
    /// What to measure next.
    fn ask(&mut self) -> Result<Combination<K>, Error>;
    /// What it measured.
    fn tell(&mut self, c: &Combination<K>, cost: f32) -> Result<(), Error>;
}

/// The methods that tune an antenna, by name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// The tuner of the chip, with part values on a scale: linear as on the chip, or logarithmic.
    Trimtab(Scale),
    /// Local search with restarts.
    Descent,
    /// Draws without repeats.
    Random,
}

impl Kind {
    /// The order of the table.
    pub(crate) const ALL: [Self; 4] =
        [Self::Trimtab(Scale::Linear), Self::Trimtab(Scale::Log), Self::Descent, Self::Random];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Trimtab(Scale::Linear) => "trimtab",
            Self::Trimtab(Scale::Log) => "trimtab, log values",
            Self::Descent => "local search",
            Self::Random => "random search",
        }
    }

    /// The method, ready to be asked for states of the matching network.
    pub(crate) fn start(self, seed: u64) -> Result<Box<dyn Method<3>>, Error> {
        let space = trimtab_firmware::antenna::space();
        Ok(match self {
            Self::Trimtab(scale) => Box::new(trimtab::Trimtab::new(scale, seed)?),
            Self::Descent => Box::new(descent::Descent::new(space, seed)),
            Self::Random => Box::new(random::Random::new(space, seed)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use trimtab_firmware::antenna::{Network, space};

    #[test]
    fn no_method_asks_twice_and_all_follow_their_seed() {
        let network = Network::default();
        for kind in Kind::ALL {
            let trace = |seed| {
                let mut method = kind.start(seed).unwrap();
                let mut trace = Vec::new();
                for _ in 0..60 {
                    let c = method.ask().unwrap();
                    method.tell(&c, network.cost(&c)).unwrap();
                    trace.push(space().index(&c));
                }
                trace
            };
            let first = trace(1);
            assert_eq!(first.iter().collect::<HashSet<_>>().len(), 60, "{kind:?}");
            assert_eq!(first, trace(1), "{kind:?}");
            assert_ne!(first, trace(2), "{kind:?}");
        }
    }
}
