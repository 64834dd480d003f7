//! The tuner of the chip as a method: the same type, boxed.

use trimtab::{Combination, Config, Scale, Space};
use trimtab_firmware::antenna::{AntennaTuner, knobs};

use super::Method;
use crate::error::Error;

pub(crate) struct Trimtab(Box<AntennaTuner>);

impl Trimtab {
    /// The default configuration, with the part values on a scale.
    pub(crate) fn new(scale: Scale, seed: u64) -> Result<Self, Error> {
        let space = Space::new(&knobs(scale)).map_err(|error| Error::Failed(format!("no such space: {error}")))?;
        let mut tuner = Box::new(AntennaTuner::new());
        tuner
            .init(space, Config::default(), seed)
            .map_err(|error| Error::Failed(format!("the tuner cannot start: {error}")))?;
        Ok(Self(tuner))
    }
}

impl Method<3> for Trimtab {
    fn ask(&mut self) -> Result<Combination<3>, Error> {
        match self.0.ask() {
            Ok(proposal) => Ok(proposal.combination),
            Err(error) => Err(Error::Failed(format!("the tuner proposes nothing: {error}"))),
        }
    }

    fn tell(&mut self, c: &Combination<3>, cost: f32) -> Result<(), Error> {
        self.0.tell(c, cost).map_err(|error| Error::Failed(format!("the tuner refuses a measurement: {error}")))
    }
}
