//! The search for the cheapest setting, by the tuner or at random.
//!
//! **Choices**
//! - Both start with the filter as first written down, as a person would.
//! - Random search never draws twice, to spend its budget as well as it can.
//!
//! **Cost.** Nothing beside the tuner; random search takes one bit per combination.

use trimtab::internals::Random;
use trimtab::{Combination, Config, Error, Space};

use super::{COMBINATIONS, COUNT, CodeTuner, space};
use trimtab_embedded::objective::{Objective, Step, step};

/// The cheapest setting of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The setting.
    pub combination: Combination<COUNT>,
    /// Its cost.
    pub cost: f32,
    /// Its measurement, counted from 1.
    pub measurement: usize,
}

impl Found {
    /// The cheaper of the two, the first among equals.
    fn keep(best: &mut Option<Self>, next: Self) {
        if best.is_none_or(|best| next.cost < best.cost) {
            *best = Some(next);
        }
    }
}

/// Tunes with this many measurements and shows the caller every step. Returns the cheapest setting,
/// or `None` if all failed.
///
/// ```
/// use trimtab_firmware::selftune::{CodeTuner, Costs, search::tuned};
/// let mut costs = Costs::new();
/// costs.enumerate(|c| Some(100.0 + f32::from(c.level(1).abs_diff(2))));
/// let found = tuned(&mut CodeTuner::new(), &mut costs.replay(), 1, 40, |_| ())?;
/// assert!(found.is_some_and(|found| found.combination.level(1) == 2 && found.cost == 100.0));
/// # Ok::<(), trimtab::Error>(())
/// ```
pub fn tuned<O: Objective<COUNT>>(
    tuner: &mut CodeTuner,
    objective: &mut O,
    seed: u64,
    budget: usize,
    mut show: impl FnMut(&Step<COUNT, O::Error>),
) -> Result<Option<Found>, Error> {
    tuner.init(space(), Config::default(), seed)?;
    let plain = tuner.space().combination(&[0; COUNT])?;
    tuner.enqueue(&plain)?;
    let mut best = None;
    for measurement in 1..=budget {
        let step = step(tuner, objective)?;
        if let Ok(cost) = step.outcome {
            Found::keep(&mut best, Found { combination: step.proposal.combination, cost, measurement });
        }
        show(&step);
    }
    Ok(best)
}

/// Measures this many settings drawn at random, or all if there are fewer. Returns the cheapest, or
/// `None` if all failed.
///
/// ```
/// use trimtab_firmware::selftune::{Costs, search::random};
/// let mut costs = Costs::new();
/// costs.enumerate(|c| Some(100.0 + f32::from(c.level(1).abs_diff(2))));
/// assert!(random(&mut costs.replay(), 1, 40).is_some_and(|found| found.cost == 100.0));
/// ```
pub fn random<O: Objective<COUNT>>(objective: &mut O, seed: u64, budget: usize) -> Option<Found> {
    let space = space();
    let mut random = Random::new(seed, 0);
    let mut is_drawn = [0u32; COMBINATIONS.div_ceil(32)];
    let (mut best, mut index) = (None, 0);
    for measurement in 1..=budget.min(feasible(&space).count()) {
        let combination = loop {
            let word = is_drawn.get_mut(index / 32)?;
            let is_new = *word >> (index % 32) & 1 == 0;
            *word |= 1 << (index % 32);
            let c = space.at(index as u64)?;
            index = random.below(COMBINATIONS as u32) as usize;
            if is_new && space.is_feasible(&c) {
                break c;
            }
        };
        if let Ok(cost) = objective.evaluate(&combination) {
            Found::keep(&mut best, Found { combination, cost, measurement });
        }
    }
    best
}

/// All feasible settings, by index.
pub fn feasible(space: &Space<COUNT>) -> impl Iterator<Item = Combination<COUNT>> {
    (0..COMBINATIONS as u64).filter_map(|index| space.at(index)).filter(|c| space.is_feasible(c))
}
