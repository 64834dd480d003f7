//! Fantasies: pending combinations that the process treats as measured while candidates are scored.
//!
//! **Choices**
//! - Each enters with its predicted cost, which keeps the mean and removes the uncertainty about it.
//! - One that breaks the factor down is left out: the fit must not change for a fantasy.

use super::Model;
use super::gp::Posterior;
use crate::config::Config;
use crate::space::{Combination, Space};

impl<const K: usize, const M: usize, const D: usize, const T: usize, const P: usize, const N: usize, const G: usize>
    Model<K, M, D, T, P, N, G>
{
    /// Adds a pending combination as an observation of its predicted cost, if there is room; after
    /// [`begin_prediction`](Self::begin_prediction).
    pub(crate) fn imagine(&mut self, space: &Space<K>, c: &Combination<K>) {
        let Posterior { mean, .. } = self.end_prediction();
        let x = self.geometry.locate(space, c);
        let i = self.observations.combinations().len();
        if self.observations.push_fantasy(c, &x) {
            self.gp.set_cost(i, mean);
            self.imagine_margins(i);
        }
    }

    /// One step of adding the next imagined observation to the factor. One that breaks the factor down
    /// is left out together with those after it: the fit must not change for a fantasy. Under a prior
    /// comparing it takes several steps: returns whether this was one of them.
    pub(crate) fn add_imagined(&mut self, space: &Space<K>) -> bool {
        if self.visit_next(space) {
            return true;
        }
        if self.gp.len() < self.observations.combinations().len() {
            let _ = self.extend_by_one(space);
        }
        false
    }

    /// Conditions the process on what is imagined.
    pub(crate) fn condition_imagined(&mut self, config: &Config) {
        self.condition(config);
        self.limits.whiten_imagined(&self.gp, self.observations.len());
    }

    /// Whether pending combinations are in the process as fantasies.
    pub(crate) fn has_fantasies(&self) -> bool {
        self.observations.combinations().len() > self.observations.len()
    }

    /// Removes what is imagined from the process; [`weigh_step`](Self::weigh_step) is to follow.
    pub(crate) fn forget_fantasies(&mut self, config: &Config) {
        if self.has_fantasies() {
            self.observations.remove_fantasies();
            self.gp.truncate(self.observations.len());
            self.condition(config);
        }
    }
}
