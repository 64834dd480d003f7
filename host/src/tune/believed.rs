//! The best by the model, where measurements have noise: the best value may have been luck.

use trimtab_sizes::{Measured, Prediction};

use crate::draw::number::short;
use crate::session::Session;

/// The best by the model.
pub(crate) struct Best {
    pub(crate) prediction: Prediction,
    /// Its measurements: how many, and their average.
    pub(crate) measured: Measured,
}

impl Best {
    /// Its measurements, in words.
    pub(super) fn measured(&self) -> String {
        let average = short(self.measured.value.into());
        match self.measured.repeats {
            1 => format!("measured once: {average}"),
            2 => format!("measured twice: {average} on average"),
            repeats => format!("measured {repeats} times: {average} on average"),
        }
    }
}

/// The best by the model, if the model believes in noise.
pub(crate) fn noisy_best(session: &Session) -> Option<Best> {
    let tuner = session.tuner();
    let prediction = tuner.best_posterior().filter(|_| tuner.noise() > 0.0)?;
    let measured = tuner.measured(&prediction.levels)?;
    Some(Best { prediction, measured })
}
