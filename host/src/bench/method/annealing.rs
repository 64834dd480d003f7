//! Simulated annealing: a walk of single steps that goes uphill ever more rarely (Kirkpatrick,
//! Gelatt and Vecchi 1983).
//!
//! The walk accepts a step from cost f to f′ with probability min(1, exp((f − f′)/T)).
//!
//! **Choices**
//! - The temperature is a multiple of the typical cost difference of a step, so it needs no unit.
//!   It falls geometrically over the budget.
//! - Typical means the median so far, so that a single huge cost does not heat the walk.
//! - A step to a measured combination is free: the walk uses the known cost and goes on.
//! - When the walk finds nothing new, it restarts at random.
//!
//! | setting | value |
//! |---|---|
//! | first combination | the best observation before the first ask, else random |
//! | step | one knob, see [`Domain::neighbours`], drawn uniformly |
//! | T, in typical differences | from 0.3 down to 0.02 at the end of the budget |
//! | steps among known combinations before a restart | 1000 |

use std::collections::HashMap;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::random::Random;
use super::{Entry, Method, Task};
use crate::bench::domain::Domain;
use crate::error::Error;

pub(crate) const ANNEALING: Entry = Entry {
    name: "annealing",
    about: "simulated annealing by single steps, random restarts, no repeats",
    source: "Kirkpatrick, Gelatt and Vecchi, Science 1983",
    fallback: super::DRAW,
    start: |task| Ok(Box::new(Annealing::new(task))),
};

/// The temperature at the start and at the end of the budget, in typical differences.
const HOT: f64 = 0.3;
const COLD: f64 = 0.02;
/// Steps among known combinations before a restart.
const MOST_FREE_STEPS: usize = 1000;

struct Annealing {
    domain: Domain,
    random: Xoshiro256PlusPlus,
    restarts: Random,
    budget: usize,
    told: HashMap<Vec<Level>, f64>,
    /// Position of the walk and its cost; `None` until a restart is measured.
    here: Option<(Vec<Level>, f64)>,
    /// The step that was asked for.
    asked: Option<Vec<Level>>,
    /// Absolute cost differences of the steps that were asked for, sorted.
    differences: Vec<f64>,
}

impl Annealing {
    fn new(task: &Task<'_>) -> Self {
        let domain = Domain::new(task.knobs);
        let restarts = Random::new(domain.clone(), !task.seed);
        let random = Xoshiro256PlusPlus::seed_from_u64(task.seed);
        let (told, differences) = (HashMap::new(), Vec::new());
        Self { domain, random, restarts, budget: task.budget, told, here: None, asked: None, differences }
    }

    fn temperature(&self) -> f64 {
        let typical = self.differences.get(self.differences.len() / 2).copied().unwrap_or(0.0);
        let progress = (self.told.len() as f64 / self.budget.max(1) as f64).min(1.0);
        typical * HOT * libm::pow(COLD / HOT, progress)
    }

    /// Draws whether the walk accepts a step from one cost to another.
    fn takes(&mut self, from: f64, to: f64) -> bool {
        to <= from || self.random.random::<f64>() < libm::exp((from - to) / self.temperature())
    }
}

impl Method for Annealing {
    fn fallbacks(&self) -> usize {
        self.restarts.draws()
    }

    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        self.asked = None;
        for _ in 0..MOST_FREE_STEPS {
            let Some((here, cost)) = self.here.clone() else { break };
            let Some(step) = self.domain.neighbours(&here).choose(&mut self.random).cloned() else { break };
            let Some(known) = self.told.get(&step).copied() else {
                self.asked = Some(step.clone());
                return Ok(Some(step));
            };
            if self.takes(cost, known) {
                self.here = Some((step, known));
            }
        }
        self.here = None;
        Ok(self.restarts.fresh())
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        self.told.insert(levels.to_vec(), cost);
        self.restarts.tell(levels, cost)?;
        let is_step = self.asked.take().is_some_and(|asked| asked == levels);
        let takes = match self.here.as_ref().map(|here| here.1) {
            None => true,
            Some(here) if is_step => {
                let difference = (cost - here).abs();
                if difference > 0.0 {
                    let place = self.differences.partition_point(|other| *other < difference);
                    self.differences.insert(place, difference);
                }
                self.takes(here, cost)
            }
            // Not asked for: move there if it is better.
            Some(here) => cost < here,
        };
        if takes {
            self.here = Some((levels.to_vec(), cost));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::method::trial::{judge, pattern};
    use trimtab::Knob;

    #[test]
    fn cools_down_and_goes_uphill_ever_more_rarely() {
        let knobs = [Knob::nominal(2); 12];
        let mut annealing = Annealing::new(&Task { knobs: &knobs, seed: 1, budget: 100 });
        annealing.differences = vec![1.0, 2.0, 9.0];
        let hot = annealing.temperature();
        let uphill = |annealing: &mut Annealing| (0..1000).filter(|_| annealing.takes(0.0, 2.0)).count();
        // A step up by the typical 2: exp(−1/0.3) = 0.036 at the start, exp(−50) at the end.
        assert!((hot - 0.6).abs() < 1e-12 && (15..60).contains(&uphill(&mut annealing)));
        for index in 0..100 {
            let levels = annealing.domain.at(index).unwrap();
            annealing.told.insert(levels, 0.0);
        }
        assert!((annealing.temperature() - 0.04).abs() < 1e-12 && uphill(&mut annealing) == 0);
    }

    #[test]
    fn finds_a_pattern_and_beats_random_search() {
        judge(&ANNEALING, 8, 100, pattern);
    }
}
