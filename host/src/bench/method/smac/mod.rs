//! SMAC: a random forest predicts the costs, and the combination with the largest expected
//! improvement is measured.
//!
//! Hutter, Hoos and Leyton-Brown, *Sequential Model-Based Optimization for General Algorithm
//! Configuration*, LION 2011; Lindauer et al., *SMAC3*, JMLR 2022. The table compares with SMAC3's
//! `HyperparameterOptimizationFacade`, the one with a forest:
//!
//! | setting | value | SMAC3 |
//! |---|---|---|
//! | trees | 10, each on n draws with replacement | the same |
//! | knobs considered for a cut | all | the same |
//! | fewest observations in a leaf | 1 | the same |
//! | costs | scaled, then their logarithm | the same |
//! | acquisition | expected improvement of a log-normal cost, ξ = 0, over the smallest predicted mean | the same |
//! | search | 10 000 random combinations, uphill from 10 of them and from 10 observations | the same |
//! | random proposals | with probability 0.0845 | 0.2; 0.0845 in its `BlackBoxFacade` |
//! | forest regrown | for each proposal | for every eighth; for each in its `BlackBoxFacade` |
//! | initial design | the observations before the first ask, else one at random | a quarter of the budget from a Sobol' sequence |
//!
//! **Choices**
//! - Where SMAC3 has two defaults we take the `BlackBoxFacade`'s, which favours it: costs arrive
//!   one at a time and without noise.
//! - No combination is proposed twice.
//! - The search takes [`Domain`]'s steps, so that a graded knob has coarse and fine ones.

mod forest;
mod improvement;
mod search;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use self::forest::{Forest, Settings};
use self::search::{Climber, Effort};
use super::random::Random;
use super::{Entry, Method};
use crate::bench::domain::Domain;
use crate::error::Error;

pub(crate) const SMAC: Entry = Entry {
    name: "smac",
    about: "SMAC: a random forest of 10 trees, expected improvement, local and random search",
    source: "Hutter, Hoos and Leyton-Brown, LION 2011; settings of SMAC3 2.x, our re-implementation",
    fallback: super::DRAW,
    start: |task| Ok(Box::new(Smac::new(Domain::new(task.knobs), task.seed))),
};

const FOREST: Settings = Settings { trees: 10, ratio: 1.0, least_in_leaf: 1, bootstrap: true };
const EFFORT: Effort = Effort { draws: 10_000, searches: 10 };
/// Probability of proposing a random combination instead.
const RANDOM_SHARE: f64 = 0.0845;

struct Smac {
    domain: Domain,
    random: Xoshiro256PlusPlus,
    /// Draws random proposals, and knows the measured combinations.
    draws: Random,
    observed: Vec<Vec<Level>>,
    costs: Vec<f64>,
}

impl Smac {
    fn new(domain: Domain, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let draws = Random::new(domain.clone(), !seed);
        Self { domain, random, draws, observed: Vec::new(), costs: Vec::new() }
    }

    /// The best unmeasured combination by a new forest, if the search finds one.
    fn propose(&mut self) -> Option<Vec<Level>> {
        let logarithms = improvement::logarithms(&self.costs);
        let forest = Forest::grow(FOREST, self.domain.knobs(), &self.observed, &logarithms, &mut self.random);
        let mut ranked: Vec<(f64, &Vec<Level>)> =
            self.observed.iter().map(|levels| (forest.predict(levels).mean, levels)).collect();
        // A stable sort of shuffled entries leaves equals in random order.
        ranked.shuffle(&mut self.random);
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        let eta = ranked.first()?.0;
        let starts: Vec<_> = ranked.into_iter().map(|(_, levels)| levels).collect();
        let worth = |levels: &[Level]| improvement::expected(forest.predict(levels), eta);
        let is_told = |levels: &[Level]| self.draws.is_told(levels);
        Climber::new(&self.domain, worth, is_told).run(EFFORT, &starts, &mut self.random)
    }
}

impl Method for Smac {
    fn fallbacks(&self) -> usize {
        self.draws.draws()
    }

    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        if self.costs.is_empty() || self.random.random_bool(RANDOM_SHARE) {
            return Ok(self.draws.fresh());
        }
        Ok(self.propose().or_else(|| self.draws.fresh()))
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        if !cost.is_finite() {
            return Err(Error::Failed(format!("smac cannot learn from the cost {cost}; costs must be finite")));
        }
        self.draws.tell(levels, cost)?;
        self.observed.push(levels.to_vec());
        self.costs.push(cost);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trimtab::Knob;

    /// The smallest cost of a run that starts with a point the method did not ask for.
    fn best(method: &mut dyn Method, start: &[Level], budget: usize, cost: impl Fn(&[Level]) -> f64) -> f64 {
        method.tell(start, cost(start)).unwrap();
        let mut best = cost(start);
        for _ in 1..budget {
            let levels = method.ask().unwrap().unwrap();
            best = best.min(cost(&levels));
            method.tell(&levels, cost(&levels)).unwrap();
        }
        best
    }

    #[test]
    fn finds_optima_that_random_search_does_not() {
        // Mixed knobs: 2·5·9·2³·3 = 2160 combinations, one of which costs nothing.
        let knobs = [
            Knob::nominal(2),
            Knob::nominal(5),
            Knob::ranked(9),
            Knob::nominal(2),
            Knob::nominal(2),
            Knob::nominal(2),
            Knob::nominal(3),
        ];
        let domain = Domain::new(&knobs);
        let target = [1, 3, 6, 0, 1, 0, 2];
        let cost = |levels: &[Level]| {
            let graded = f64::from(levels[2].abs_diff(target[2])) / 8.0;
            graded + (0..7).filter(|i| *i != 2 && levels[*i] != target[*i]).count() as f64
        };
        let (mut own, mut draws) = (0.0, 0.0);
        for seed in 0..3 {
            own += best(&mut Smac::new(domain.clone(), seed), &[0; 7], 60, cost) / 3.0;
            draws += best(&mut Random::new(domain.clone(), seed), &[0; 7], 60, cost) / 3.0;
        }
        assert!(own < 0.2 && draws > 0.5, "{own} {draws}");
    }

    #[test]
    fn is_better_than_random_search_where_only_a_part_can_be_looked_at() {
        let domain = Domain::new(&[Knob::nominal(2); 18]);
        let cost = |levels: &[Level]| levels.iter().map(|level| f64::from(*level)).sum::<f64>();
        let start = [0, 1].repeat(9);
        let own = best(&mut Smac::new(domain.clone(), 1), &start, 30, cost);
        let draws = best(&mut Random::new(domain, 1), &start, 30, cost);
        assert!(own + 1.0 < draws, "{own} {draws}");
    }

    #[test]
    fn refuses_a_cost_that_is_not_finite() {
        let mut smac = Smac::new(Domain::new(&[Knob::nominal(2); 3]), 1);
        assert!(smac.tell(&[0, 0, 0], f64::NAN).is_err());
        assert!(smac.costs.is_empty() && !smac.draws.is_told(&[0, 0, 0]));
    }
}
