//! What runs are judged by, for the closing table of `trimtab bench` and for `trimtab report`.
//!
//! | module | question |
//! |---|---|
//! | [`ratio`] | how many measurements does a method need, relative to a reference? |
//! | [`tables`] | the answers as tables |

mod ratio;
pub(crate) mod tables;

use crate::bench::problem::Group;

pub(crate) use ratio::{Field, Ratio, SHARES};

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
}

impl Trace {
    fn last(&self) -> f64 {
        self.bests.last().copied().unwrap_or(f64::INFINITY)
    }
}
