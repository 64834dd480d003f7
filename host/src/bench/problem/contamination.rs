//! Contamination control: at which stages of a food chain to act (Hu, Hu, Xu, Wang and Cao, 2010;
//! as in Baptista and Poloczek, ICML 2018, and Oh et al., NeurIPS 2019).
//!
//! f(b) = Σᵢ [bᵢ(1 + λ) − (fraction of the simulations with Zᵢ < U) + 1 − ε], b ∈ {0, 1}^m
//!
//! Zᵢ = Λᵢ(1 − bᵢ)(1 − Zᵢ₋₁) + (1 − Γᵢbᵢ)Zᵢ₋₁
//!
//! | name | meaning |
//! |---|---|
//! | Zᵢ | fraction of food that is contaminated after stage i |
//! | Z₀ | initial contamination: Beta(1, 30) |
//! | Λᵢ | rate of spreading without prevention: Beta(1, 17/3) |
//! | Γᵢ | fraction that prevention removes: Beta(1, 3/7) |
//! | U, ε | Z should stay below U = 0.1 with probability 1 − ε = 0.95 |
//!
//! **Choices**
//! - The seed draws 100 simulations, the same for all b, so the cost is exact. Beta(1, β) is 1 −
//!   u^(1/β) of a uniform u.
//!
//! **Optimum.** Exact, by depth-first search with bounds: Zᵢ increases with Zᵢ₋₁, so the stages
//! after i cost at least as much as after Zᵢ = 0. These bounds are computed first, from the last
//! stage backwards, each with the help of the later ones (Russian doll search; Verfaillie, Lemaître
//! and Schiex, 1996).

use rand::RngExt;
use trimtab::{Knob, Level};

use super::{Family, Instance, Optimum, Parameter, Problem, random_of};
use crate::error::Error;

pub(super) const FAMILY: Family = Family {
    name: "contamination",
    about: "where to act in a food chain: prevention against contamination, 100 simulations",
    parameters: &[
        Parameter { name: "m", default: "25", about: "number of stages" },
        Parameter { name: "lambda", default: "1e-4", about: "additional cost per action" },
    ],
    build: |given, seed, _| {
        let (m, lambda) = (given.count("m", 1..=256)?, given.number("lambda", 0.0..=1e6)?);
        let mut random = random_of(seed);
        let mut draw = |beta: f64| -> Vec<f64> {
            (0..SIMULATIONS).map(|_| 1.0 - libm::pow(random.random::<f64>(), 1.0 / beta)).collect()
        };
        let start = draw(30.0);
        let stages = (0..m).map(|_| Stage { spread: draw(17.0 / 3.0), removal: draw(3.0 / 7.0) }).collect();
        Ok(Box::new(Contamination::new(start, stages, Prices { lambda, ..PRICES })))
    },
    load: Some(load),
};

const SIMULATIONS: usize = 100;
const PRICES: Prices = Prices { lambda: 1e-4, limit: 0.1, epsilon: 0.05, weight: 1.0 };
/// Most stages for which the optimum is computed.
const MOST: usize = 25;

/// The constants of the cost.
#[derive(Clone, Copy)]
struct Prices {
    lambda: f64,
    /// U.
    limit: f64,
    epsilon: f64,
    /// ρ of the published formula, always 1.
    weight: f64,
}

/// Λ and Γ of a stage, one per simulation.
struct Stage {
    spread: Vec<f64>,
    removal: Vec<f64>,
}

struct Contamination {
    knobs: Vec<Knob>,
    start: Vec<f64>,
    stages: Vec<Stage>,
    prices: Prices,
}

fn load(instance: &Instance) -> Result<Box<dyn Problem>, Error> {
    let m = instance.bits()?;
    let start: Vec<f64> = instance.get("init_Z")?;
    let (spreads, removals) = (instance.matrix("lambdas", m, start.len())?, instance.matrix("gammas", m, start.len())?);
    let is_share = |x: &f64| (0.0..=1.0).contains(x);
    if start.is_empty() || !start.iter().chain(spreads.iter().chain(&removals).flatten()).all(is_share) {
        return Err(instance.fault("`init_Z`, `lambdas` and `gammas` must be numbers from 0 to 1, one per simulation"));
    }
    let stages = spreads.into_iter().zip(removals).map(|(spread, removal)| Stage { spread, removal }).collect();
    let or = |name: &str, usual: f64| instance.find(name).map(|found| found.unwrap_or(usual));
    let prices = Prices {
        lambda: instance.number("lam")?,
        limit: or("U", PRICES.limit)?,
        epsilon: or("epsilon", PRICES.epsilon)?,
        weight: or("rho", PRICES.weight)?,
    };
    Ok(Box::new(Contamination::new(start, stages, prices)))
}

impl Contamination {
    fn new(start: Vec<f64>, stages: Vec<Stage>, prices: Prices) -> Self {
        Self { knobs: vec![Knob::nominal(2); stages.len()], start, stages, prices }
    }

    /// Returns the cost of a stage, and writes the contamination after it.
    fn stage(&self, stage: usize, acts: bool, before: &[f64], after: &mut [f64]) -> f64 {
        let Stage { spread, removal } = &self.stages[stage];
        if acts {
            after
                .iter_mut()
                .zip(before.iter().zip(removal))
                .for_each(|(z, (before, removal))| *z = (1.0 - removal) * before);
        } else {
            let all = after.iter_mut().zip(before.iter().zip(spread));
            all.for_each(|(z, (before, spread))| *z = spread * (1.0 - before) + before);
        }
        let Prices { lambda, limit, epsilon, weight } = self.prices;
        let below = after.iter().map(|z| u32::from(*z < limit)).sum::<u32>();
        let share = f64::from(below) / after.len() as f64;
        f64::from(u8::from(acts)) * (1.0 + lambda) - weight * (share - (1.0 - epsilon))
    }

    /// Searches all choices from `stage` on that may beat the best. `rows` holds the contamination
    /// before each stage, `rest` a lower bound on the cost of all stages after each stage.
    fn search(&self, stage: usize, spent: f64, rows: &mut [Vec<f64>], rest: &[f64], search: &mut StageSearch) {
        if stage == self.stages.len() {
            if spent < search.best {
                search.best = spent;
                search.found.clone_from(&search.levels);
            }
            return;
        }
        let Some((before, after)) = rows.split_first_mut() else { return };
        for acts in [true, false] {
            let spent = spent + self.stage(stage, acts, before, &mut after[0]);
            if spent + rest[stage] < search.best {
                search.levels[stage] = acts as Level;
                self.search(stage + 1, spent, after, rest, search);
            }
        }
    }
}

struct StageSearch {
    levels: Vec<Level>,
    best: f64,
    found: Vec<Level>,
}

impl Problem for Contamination {
    fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    fn cost(&self, levels: &[Level]) -> f64 {
        let (mut before, mut after) = (self.start.clone(), self.start.clone());
        let mut cost = 0.0;
        for (stage, level) in levels.iter().enumerate() {
            cost += self.stage(stage, *level == 1, &before, &mut after);
            std::mem::swap(&mut before, &mut after);
        }
        cost
    }

    fn optimum(&self) -> Option<Optimum> {
        let m = self.stages.len();
        if m > MOST || self.prices.weight < 0.0 {
            return None;
        }
        let mut rest = vec![0.0; m];
        let mut search = StageSearch { levels: vec![0; m], best: f64::INFINITY, found: vec![0; m] };
        for first in (0..m).rev() {
            let start = if first == 0 { self.start.clone() } else { vec![0.0; self.start.len()] };
            let mut rows = vec![start; m - first + 1];
            search.best = f64::INFINITY;
            self.search(first, 0.0, &mut rows, &rest, &mut search);
            if first > 0 {
                // A little less, so that rounding cannot prune the best.
                rest[first - 1] = search.best - 1e-9;
            }
        }
        Some(Optimum { value: self.cost(&search.found), levels: search.found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::oracle;

    #[test]
    fn by_hand() {
        // Two simulations. Acting: Z = (1 − 0.5)·0.16 = 0.08 and (1 − 0.5)·0.4 = 0.2: one of two
        // below 0.1. Not acting: Z = 0.5·0.92 + 0.08 = 0.54 and 0.5·0.8 + 0.2 = 0.6: none.
        let stage = || Stage { spread: vec![0.5; 2], removal: vec![0.5; 2] };
        let problem = Contamination::new(vec![0.16, 0.4], vec![stage(), stage()], PRICES);
        let expected = (1.0001 - 0.5 + 0.95) + 0.95;
        assert!((problem.cost(&[1, 0]) - expected).abs() < 1e-12);
    }

    #[test]
    fn the_optimum_is_the_least_of_all() {
        for seed in 0..4 {
            oracle::check_optimum("contamination:m=10", seed);
        }
    }

    #[test]
    fn draws_have_the_means_of_their_distributions() {
        let mut random = random_of(7);
        // The mean of Beta(1, β) is 1/(1 + β). The standard error of 4000 draws is below 0.006.
        for beta in [30.0, 17.0 / 3.0, 3.0 / 7.0] {
            let draw = |_| 1.0 - libm::pow(random.random::<f64>(), 1.0 / beta);
            let mean = (0..4000).map(draw).sum::<f64>() / 4000.0;
            assert!((mean - 1.0 / (1.0 + beta)).abs() < 0.03, "{beta}: {mean}");
        }
    }
}
