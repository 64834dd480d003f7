//! What runs are judged by, for the closing table of `trimtab bench` and for `trimtab report`.
//!
//! | module | question |
//! |---|---|
//! | [`ratio`] | how many measurements does a method need, relative to a reference? |
//! | [`tables`] | the same as tables |
//! | [`noisy`] | under noise: how good is what a method recommends? |
//! | [`failing`] | under failures: how many measurements are lost? |
//! | [`settled`] | what would a stop by itself save and lose? |

pub(crate) mod failing;
pub(crate) mod noisy;
mod ratio;
pub(crate) mod settled;
pub(crate) mod tables;

use crate::bench::problem::Group;

pub(crate) use noisy::Recommended;
pub(crate) use ratio::{Field, Ratio, SHARES};
pub(crate) use settled::{Stop, TOLERANCES};

/// A run as the yardstick sees it.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    /// Numbers of the method and the problem in the caller's lists.
    pub(crate) method: usize,
    pub(crate) problem: usize,
    pub(crate) group: Group,
    pub(crate) seed: u64,
    pub(crate) mask: bool,
    /// The smallest true cost after each measurement; infinite before the first success.
    pub(crate) bests: Vec<f64>,
    pub(crate) optimum: Option<f64>,
    pub(crate) outcome: Outcome,
}

/// What noise, failures and stops add to a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// After 30, 60 and 100 % of the budget; empty without noise.
    pub(crate) recommended: Vec<Recommended>,
    /// Standard deviation of random costs, under noise.
    pub(crate) spread: Option<f64>,
    /// Measurements of a combination that was measured before.
    pub(crate) repeats: usize,
    /// Failed measurements of the first and of the second half, if there are any.
    pub(crate) failures: Option<(usize, usize)>,
    /// Where the method would have stopped by itself.
    pub(crate) stops: Vec<Stop>,
}

impl Trace {
    fn last(&self) -> f64 {
        self.bests.last().copied().unwrap_or(f64::INFINITY)
    }
}
