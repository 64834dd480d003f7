//! The cost of every setting, by enumeration, to judge a search by.
//!
//! **Choices.** [`Replay`] tunes a table like hardware, so other seeds need no measurements.
//!
//! **Cost.** 3 KB.

use trimtab::{Combination, Level};

use super::search::{Found, feasible};
use super::{COMBINATIONS, COUNT, space};
use trimtab_embedded::objective::Objective;

/// The cost of every setting.
///
/// ```
/// use trimtab_firmware::selftune::Costs;
/// let mut costs = Costs::new();
/// assert_eq!(costs.enumerate(|c| Some(1.0 + f32::from(c.level(0)))), 608);
/// assert!(costs.best().is_some_and(|best| best.cost == 1.0));
/// ```
#[derive(Clone, Debug)]
pub struct Costs {
    /// By index; zero without a cost.
    costs: [f32; COMBINATIONS],
}

impl Costs {
    /// An empty table. All zero, so a static one takes no flash.
    pub const fn new() -> Self {
        Self { costs: [0.0; COMBINATIONS] }
    }

    /// Measures every feasible setting. Returns the number with a cost.
    pub fn enumerate(&mut self, mut measure: impl FnMut(&Combination<COUNT>) -> Option<f32>) -> usize {
        let space = space();
        let mut measured = 0;
        for c in feasible(&space) {
            let cost = measure(&c);
            measured += usize::from(cost.is_some());
            if let Some(known) = self.costs.get_mut(space.index(&c) as usize) {
                *known = cost.unwrap_or(0.0);
            }
        }
        measured
    }

    /// The cost of a setting, or `None` if it is infeasible or failed.
    pub fn of(&self, c: &Combination<COUNT>) -> Option<f32> {
        self.costs.get(space().index(c) as usize).copied().filter(|cost| *cost > 0.0)
    }

    /// The cheapest setting, the first among equals.
    pub fn best(&self) -> Option<Found> {
        self.best_of(|_| true)
    }

    /// The cheapest setting with one knob at this level: the best that the level allows.
    pub fn best_with(&self, knob: usize, level: Level) -> Option<Found> {
        self.best_of(|c| c.level(knob) == level)
    }

    fn best_of(&self, is_among: impl Fn(&Combination<COUNT>) -> bool) -> Option<Found> {
        let space = space();
        let all = feasible(&space).enumerate().filter(|(_, c)| is_among(c));
        let known = all.filter_map(|(i, combination)| {
            Some(Found { combination, cost: self.of(&combination)?, measurement: i + 1 })
        });
        known.min_by(|a, b| a.cost.total_cmp(&b.cost))
    }

    /// The table in place of the hardware.
    pub fn replay(&self) -> Replay<'_> {
        Replay { costs: self, applied: None }
    }
}

impl Default for Costs {
    fn default() -> Self {
        Self::new()
    }
}

/// An objective that looks costs up in a table.
#[derive(Clone, Debug)]
pub struct Replay<'c> {
    costs: &'c Costs,
    applied: Option<Combination<COUNT>>,
}

impl Objective<COUNT> for Replay<'_> {
    type Error = Unknown;

    fn apply(&mut self, c: &Combination<COUNT>) -> Result<(), Unknown> {
        self.applied = Some(*c);
        Ok(())
    }

    fn measure(&mut self) -> Result<f32, Unknown> {
        self.applied.and_then(|c| self.costs.of(&c)).ok_or(Unknown)
    }
}

/// The table has no cost for the setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown;
