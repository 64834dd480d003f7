//! Pest control: which of four pesticides to use at each stage, if any (Oh, Tomczak, Gavves and
//! Welling, NeurIPS 2019).
//!
//! f(c) = Σᵢ [price(cᵢ) + (fraction of the simulations with Zᵢ₋₁ > U)], c ∈ {0, …, 4}^m: level 0
//! uses none, U = 0.1.
//!
//! Zᵢ = Zᵢ₋₁ + Sᵢ(1 − Zᵢ₋₁) without, Zᵢ = (1 − Rᵢ)Zᵢ₋₁ with a pesticide.
//!
//! | name | meaning |
//! |---|---|
//! | Zᵢ | fraction that has the pest after stage i; Z₀ is Beta(1, 30) |
//! | Sᵢ | rate of spreading: Beta(1, 17/3) |
//! | Rᵢ | fraction that a pesticide removes: Beta(1, β); β grows with each use, as the pest adapts |
//!
//! | pesticide | 1 | 2 | 3 | 4 |
//! |---|---|---|---|---|
//! | price | 1 | 0.8 | 0.7 | 0.5 |
//! | discount if always used | 0.2 | 0.3 | 0.3 | 0 |
//! | initial β | 2/7 | 3/7 | 3/7 | 5/7 |
//! | growth of β if always used | 1/7 | 2.5/7 | 2/7 | 0.5/7 |
//!
//! Discount and growth are proportional to the uses in all m stages.
//!
//! **Choices**
//! - Beta(1, β) is 1 − u^(1/β). The seed draws the uniform numbers u of every stage and simulation
//!   once, so that the cost is exact and all combinations meet the same luck.
//! - Other programs that fix a seed reset the generator to it at every stage, so all stages get the
//!   same draws; ours are independent.
//! - A stage counts the pest before its own action, as published.
//! - The optimum is not known: 5²⁵ combinations are too many to enumerate.
//!
//! **Cost.** 2500 exponentials, less than 0.1 ms.

use rand::RngExt;
use trimtab::{Knob, Level};

use super::{Family, Parameter, Problem, random_of};

pub(super) const FAMILY: Family = Family {
    name: "pest-control",
    about: "which of four pesticides at each stage, if any: prices against pests, 100 simulations",
    parameters: &[Parameter { name: "m", default: "25", about: "number of stages" }],
    build: |given, seed, _| {
        let m = given.count("m", 1..=256)?;
        let mut random = random_of(seed);
        let mut draw = || -> Vec<f64> { (0..SIMULATIONS).map(|_| random.random::<f64>()).collect() };
        let start = draw().into_iter().map(|u| beta(u, 30.0)).collect();
        let stages = (0..m).map(|_| {
            let spread = draw().into_iter().map(|u| beta(u, 17.0 / 3.0)).collect();
            Stage { spread, luck: draw().into_iter().map(libm::log).collect() }
        });
        Ok(Box::new(PestControl { knobs: vec![Knob::nominal(5); m], start, stages: stages.collect() }))
    },
    load: None,
};

const SIMULATIONS: usize = 100;
/// U: a larger fraction counts as a nuisance.
const LIMIT: f64 = 0.1;

struct Pesticide {
    price: f64,
    discount: f64,
    beta: f64,
    growth: f64,
}

const PESTICIDES: [Pesticide; 4] = [
    Pesticide { price: 1.0, discount: 0.2, beta: 2.0 / 7.0, growth: 1.0 / 7.0 },
    Pesticide { price: 0.8, discount: 0.3, beta: 3.0 / 7.0, growth: 2.5 / 7.0 },
    Pesticide { price: 0.7, discount: 0.3, beta: 3.0 / 7.0, growth: 2.0 / 7.0 },
    Pesticide { price: 0.5, discount: 0.0, beta: 5.0 / 7.0, growth: 0.5 / 7.0 },
];

/// The random numbers of a stage, one per simulation.
struct Stage {
    spread: Vec<f64>,
    /// ln u of the removal, so that 1 − R = u^(1/β) takes one exponential.
    luck: Vec<f64>,
}

struct PestControl {
    knobs: Vec<Knob>,
    start: Vec<f64>,
    stages: Vec<Stage>,
}

/// Turns a uniform draw into one of Beta(1, β).
fn beta(u: f64, beta: f64) -> f64 {
    1.0 - libm::pow(u, 1.0 / beta)
}

impl Problem for PestControl {
    fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    fn cost(&self, levels: &[Level]) -> f64 {
        let m = levels.len() as f64;
        let mut pests = self.start.clone();
        let mut used = [0.0; PESTICIDES.len()];
        let mut nuisance = 0;
        for (stage, level) in self.stages.iter().zip(levels) {
            nuisance += pests.iter().filter(|z| **z > LIMIT).count();
            if let Some(kind) = usize::from(*level).checked_sub(1) {
                let Pesticide { beta: first, growth, .. } = PESTICIDES[kind];
                let now = first + growth * used[kind] / m;
                used[kind] += 1.0;
                pests.iter_mut().zip(&stage.luck).for_each(|(z, luck)| *z *= libm::exp(*luck / now));
            } else {
                pests.iter_mut().zip(&stage.spread).for_each(|(z, spread)| *z += spread * (1.0 - *z));
            }
        }
        let paid = PESTICIDES.iter().zip(used).map(|(kind, used)| used * kind.price * (1.0 - kind.discount * used / m));
        paid.sum::<f64>() + nuisance as f64 / self.start.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::oracle;

    #[test]
    fn by_hand() {
        // One simulation, u = 0.25. Pesticide 1: R = 1 − u^(7/2) = 1 − 1/128, so Z falls from 0.2
        // to 0.0016. Then none: Z = 0.0016 + 0.5·0.9984 = 0.5. Nuisance before stages 0 and 2 but
        // not before 1; stage 2 uses pesticide 1 again. It is used 2 of 3 times: 2·1·(1 − 0.2·2/3)
        // = 1.7333.
        let stage = || Stage { spread: vec![0.5], luck: vec![0.25f64.ln()] };
        let problem =
            PestControl { knobs: vec![Knob::nominal(5); 3], start: vec![0.2], stages: vec![stage(), stage(), stage()] };
        assert!((problem.cost(&[1, 0, 1]) - (2.0 + 2.0 * (1.0 - 0.4 / 3.0))).abs() < 1e-12);
        // No pesticide: a nuisance at every stage.
        assert_eq!(problem.cost(&[0, 0, 0]), 3.0);
        // Pesticide 4 has no discount: 1.5; u^(7/5) = 0.1436, so Z is 0.2, 0.0287, then less.
        assert_eq!(problem.cost(&[4, 4, 4]), 1.0 + 1.5);
    }

    #[test]
    fn pests_get_used_to_a_pesticide() {
        // Pesticide 2 twice in 4 stages: β is 3/7, then (3 + 2.5/4)/7, so with u = 0.8 Z falls from
        // 0.27 by 0.8^(7/3) to 0.160 and by 0.8^(7/3.625) to 0.104. With the first β again it would
        // be 0.095: below the limit.
        let stage = || Stage { spread: vec![0.0], luck: vec![0.8f64.ln()] };
        let stages = vec![stage(), stage(), stage(), stage()];
        let problem = PestControl { knobs: vec![Knob::nominal(5); 4], start: vec![0.27], stages };
        let paid = 2.0 * 0.8 * (1.0 - 0.3 * 0.5);
        assert!((problem.cost(&[2, 2, 0, 0]) - (paid + 4.0)).abs() < 1e-12);
    }

    #[test]
    fn instances_follow_their_seed() {
        let levels = vec![1, 0, 2, 0, 3, 0, 4, 0, 1, 0, 2, 0, 3, 0, 4, 0, 1, 0, 2, 0, 3, 0, 4, 0, 1];
        let [first, again, other] = [1, 1, 2].map(|seed| oracle::build("pest-control", seed).cost(&levels));
        assert!(first == again && first != other);
        // No pesticide at all: a nuisance at nearly all of the 25 stages.
        let none = oracle::build("pest-control", 1).cost(&[0; 25]);
        assert!((20.0..25.0).contains(&none), "{none}");
    }
}
