//! Seesaw: choose weights that balance (section 7.3 of the paper).
//!
//! f(b) = |Σᵢ bᵢ rᵢ wᵢ|, b ∈ {0, 1}^m, m even; f(0) = 10⁵.
//!
//! | name | meaning |
//! |---|---|
//! | wᵢ | a weight, uniform in [0.5, 2.5] |
//! | rᵢ | its distance from the pivot: i − m/2 on the left side (i < m/2), i − m/2 + 1 on the right |
//! | rᵢwᵢ | its torque |
//!
//! **Choices**
//! - The empty seesaw balances perfectly, so it needs a cost, which the paper does not give. Ours
//!   is 10⁵.
//!
//! **Optimum.** Exact for m ≤ 36. For the torque of each choice on the left side, bisection finds
//! the best partner in the sorted torques of the right side: 2^(m/2)·m/2 operations instead of 2^m.

use rand::RngExt;
use trimtab::{Knob, Level};

use super::{Family, Instance, Optimum, Parameter, Problem, random_of};
use crate::error::Error;

pub(super) const FAMILY: Family = Family {
    name: "seesaw",
    about: "balance: the absolute torque of the chosen weights",
    parameters: &[Parameter { name: "m", default: "24", about: "number of weights, must be even" }],
    build: |given, seed, _| {
        let m = given.count("m", 2..=256)?;
        if m % 2 == 1 {
            return Err(Error::Usage(format!("seesaw:m={m} must be even; write seesaw:m={}", m + 1)));
        }
        let mut random = random_of(seed);
        Ok(Box::new(Seesaw::new((0..m).map(|_| random.random_range(0.5..2.5)).collect())))
    },
    load: Some(load),
};

/// The cost of the empty seesaw.
const EMPTY: f64 = 1e5;
/// Most weights for which the optimum is computed.
const MOST: usize = 36;

struct Seesaw {
    knobs: Vec<Knob>,
    torques: Vec<f64>,
}

fn load(instance: &Instance) -> Result<Box<dyn Problem>, Error> {
    let weights: Vec<f64> = instance.numbers("weights", instance.bits()?)?;
    if weights.len() % 2 == 1 {
        return Err(instance.fault("`m` must be even: a seesaw has two equal sides"));
    }
    Ok(Box::new(Seesaw::new(weights)))
}

impl Seesaw {
    fn new(weights: Vec<f64>) -> Self {
        let half = (weights.len() / 2) as f64;
        let distance = |i: f64| if i < half { i - half } else { i - half + 1.0 };
        let torques: Vec<f64> = weights.iter().enumerate().map(|(i, weight)| distance(i as f64) * weight).collect();
        Self { knobs: vec![Knob::nominal(2); torques.len()], torques }
    }
}

/// The torque of every choice of weights, with the choice as bits.
fn sums(torques: &[f64]) -> Vec<(f64, u32)> {
    let mut sums = vec![(0.0, 0)];
    for (i, torque) in torques.iter().enumerate() {
        sums.extend_from_within(..);
        let taken = sums.len() / 2;
        sums[taken..].iter_mut().for_each(|(sum, choice)| (*sum, *choice) = (*sum + torque, *choice | 1 << i));
    }
    sums
}

impl Problem for Seesaw {
    fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    fn cost(&self, levels: &[Level]) -> f64 {
        if levels.iter().all(|level| *level == 0) {
            return EMPTY;
        }
        let taken = levels.iter().zip(&self.torques).filter(|(level, _)| **level == 1);
        taken.map(|(_, torque)| torque).sum::<f64>().abs()
    }

    fn optimum(&self) -> Option<Optimum> {
        if self.torques.len() > MOST {
            return None;
        }
        let (left, right) = self.torques.split_at(self.torques.len() / 2);
        let mut partners = sums(right);
        partners.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best = (f64::INFINITY, 0, 0);
        for (sum, choice) in sums(left) {
            let place = partners.partition_point(|partner| partner.0 < -sum);
            // One more than the two nearest: for the empty left side the nearest is the empty right
            // side, which is not allowed.
            for partner in &partners[place.saturating_sub(1)..(place + 2).min(partners.len())] {
                let torque = (sum + partner.0).abs();
                if torque < best.0 && choice | partner.1 != 0 {
                    best = (torque, choice, partner.1);
                }
            }
        }
        let bits = |choice: u32, m: usize| (0..m).map(move |i| (choice >> i & 1) as Level);
        let levels: Vec<Level> = bits(best.1, left.len()).chain(bits(best.2, right.len())).collect();
        Some(Optimum { value: self.cost(&levels), levels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::oracle;

    #[test]
    fn by_hand() {
        // m = 4: distances −2, −1, 1, 2.
        let seesaw = Seesaw::new(vec![1.0, 2.0, 0.5, 1.5]);
        assert_eq!(seesaw.torques, [-2.0, -2.0, 0.5, 3.0]);
        assert_eq!(seesaw.cost(&[0, 0, 0, 0]), 1e5);
        assert_eq!(seesaw.cost(&[1, 0, 1, 0]), 1.5);
        assert_eq!(seesaw.optimum().map(|optimum| optimum.value), Some(0.5));
    }

    #[test]
    fn the_optimum_is_the_least_of_all() {
        for seed in 0..5 {
            oracle::check_optimum(&format!("seesaw:m={}", 2 * seed + 2), seed);
        }
    }

    #[test]
    fn odd_numbers_are_refused() {
        let error = oracle::refusal("seesaw:m=7");
        assert!(error.contains("m=8"), "{error}");
    }
}
