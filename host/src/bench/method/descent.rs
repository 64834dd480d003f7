//! Local search: take the first step that improves; restart at random when none does.
//!
//! **Choices**
//! - A step changes one knob, see [`Domain::neighbours`]. Steps are tried in random order.
//! - A step to a measured combination is free: the search uses the known cost.
//!
//! | setting | value |
//! |---|---|
//! | first combination | the best observation before the first ask, else random |
//! | step | one knob |
//! | accepted | the first improvement |
//! | restart | at random, when no step improves |

use std::collections::HashMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::random::Random;
use super::{Entry, Method};
use crate::bench::domain::Domain;
use crate::error::Error;

pub(crate) const DESCENT: Entry = Entry {
    name: "local-search",
    about: "1-step descent, first improvement, random restarts, no repeats",
    source: "folklore; a strong baseline",
    fallback: super::DRAW,
    start: |task| Ok(Box::new(Descent::new(Domain::new(task.knobs), task.seed))),
};

struct Descent {
    domain: Domain,
    random: Xoshiro256PlusPlus,
    restarts: Random,
    told: HashMap<Vec<Level>, f64>,
    /// Position of the search; `None` until a restart is measured.
    here: Option<Vec<Level>>,
    /// Steps from here that are still to be tried, last first.
    steps: Vec<Vec<Level>>,
}

impl Descent {
    fn new(domain: Domain, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let restarts = Random::new(domain.clone(), !seed);
        Self { domain, random, restarts, told: HashMap::new(), here: None, steps: Vec::new() }
    }

    /// Moves to a combination and lists the steps from it in random order.
    fn stand(&mut self, levels: Vec<Level>) {
        self.steps = self.domain.neighbours(&levels);
        self.steps.shuffle(&mut self.random);
        self.here = Some(levels);
    }
}

impl Method for Descent {
    fn fallbacks(&self) -> usize {
        self.restarts.draws()
    }

    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        while let (Some(here), Some(step)) = (&self.here, self.steps.last()) {
            match (self.told.get(step), self.told.get(here)) {
                (None, _) => return Ok(Some(step.clone())),
                (Some(new), Some(old)) if new < old => {
                    let step = step.clone();
                    self.stand(step);
                }
                _ => drop(self.steps.pop()),
            }
        }
        self.here = None;
        Ok(self.restarts.fresh())
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        self.told.insert(levels.to_vec(), cost);
        self.restarts.tell(levels, cost)?;
        // The next ask judges a step that was asked for. Another observation becomes the position
        // if it is better.
        let is_step = self.steps.last().is_some_and(|step| step == levels);
        let here = self.here.as_ref().and_then(|here| self.told.get(here));
        if here.is_none_or(|here| !is_step && cost < *here) {
            self.stand(levels.to_vec());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trimtab::Knob;

    #[test]
    fn reaches_the_minimum_of_a_separable_cost_and_then_restarts() {
        // The number of bits that differ from the target falls with every right step, so there are
        // no local minima.
        let domain = Domain::new(&[Knob::ranked(128), Knob::ranked(128)]);
        let target = [0b1010101, 0b0110011];
        let cost = |c: &[Level]| f64::from((c[0] ^ target[0]).count_ones() + (c[1] ^ target[1]).count_ones());
        let mut descent = Descent::new(domain, 3);
        let mut costs = Vec::new();
        // At most 14 steps down, each after at most 14 trials.
        for _ in 0..14 * 14 {
            let c = descent.ask().unwrap().unwrap();
            descent.tell(&c, cost(&c)).unwrap();
            costs.push(cost(&c));
        }
        let reached = costs.iter().position(|c| *c == 0.0).unwrap();
        assert!(costs[reached..].iter().any(|c| *c > 1.0), "no restart after the minimum: {costs:?}");
    }
}
