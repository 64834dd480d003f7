//! Expected improvement averaged over processes: −ln of the mean over s of EIₛ(c); smallest wins.
//!
//! **Choices**
//! - Logarithms throughout, so that ascents still find a direction where all improvement is tiny.
//!
//! **Cost.** n²/2 multiplications per process and combination.

use trimtab::Level;

use super::Product;
use super::product::Around;
use super::search::Score;
use crate::bench::method::surrogate::{Gp, Posterior, Rule};

/// A process and the kernel that it uses.
pub(in crate::bench::method) struct Member {
    pub(in crate::bench::method) gp: Gp,
    pub(in crate::bench::method) product: Product,
    /// The mean subtracted from the costs before the process saw them.
    pub(in crate::bench::method) shift: f64,
}

/// Processes that share their observations.
pub(in crate::bench::method) struct Ensemble {
    members: Vec<Member>,
    /// The smallest cost.
    best: f64,
    around: Vec<Around>,
    k: Vec<f64>,
}

impl Ensemble {
    pub(in crate::bench::method) fn new(members: Vec<Member>, best: f64) -> Self {
        let n = members.first().map_or(0, |member| member.product.observations());
        Self { around: vec![Around::default(); members.len()], k: vec![0.0; n], members, best }
    }

    /// Mean and variance of the mixture of all processes.
    pub(in crate::bench::method) fn predict(&mut self, levels: &[Level]) -> Posterior {
        let Self { members, k, .. } = self;
        let (mut mean, mut square, n) = (0.0, 0.0, members.len() as f64);
        for member in members.iter() {
            let own = member.product.covariances(levels, k);
            let one = member.gp.posterior(own, k);
            let middle = one.mean + member.shift;
            mean += middle / n;
            square += (one.variance + middle * middle) / n;
        }
        Posterior { mean, variance: (square - mean * mean).max(0.0) }
    }
}

impl Score for Ensemble {
    fn score(&mut self, levels: &[Level]) -> f64 {
        let Self { members, best, k, .. } = self;
        average(members.iter().map(|member| {
            let own = member.product.covariances(levels, k);
            score(member, *best, own, k)
        }))
    }

    /// By only two processes that lie apart in the chain.
    fn sketch(&mut self, levels: &[Level]) -> f64 {
        let Self { members, best, k, .. } = self;
        average(members.iter().step_by(members.len().div_ceil(2).max(1)).map(|member| {
            let own = member.product.covariances(levels, k);
            score(member, *best, own, k)
        }))
    }

    fn stand(&mut self, levels: &[Level]) {
        self.members.iter().zip(&mut self.around).for_each(|(member, around)| member.product.around(levels, around));
    }

    fn step(&mut self, knob: usize, level: Level) -> f64 {
        let Self { members, best, around, k } = self;
        average(members.iter().zip(around).map(|(member, around)| {
            let own = member.product.step(around, knob, level, k);
            score(member, *best, own, k)
        }))
    }
}

/// −ln EI of one process.
fn score(member: &Member, best: f64, own: f64, k: &mut [f64]) -> f64 {
    Rule::ExpectedImprovement { best: best - member.shift }.score(member.gp.posterior(own, k))
}

/// −ln of the mean of exp(−score), scaled by the largest term so far, so that nothing underflows.
fn average(scores: impl Iterator<Item = f64>) -> f64 {
    let (mut least, mut sum, mut count) = (f64::INFINITY, 0.0, 0.0);
    for score in scores {
        count += 1.0;
        if score < least {
            sum = sum * libm::exp(score - least) + 1.0;
            least = score;
        } else if least < f64::INFINITY {
            sum += libm::exp(least - score);
        }
    }
    if count == 1.0 { least } else { least - libm::log(sum / count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_of_logarithms_by_hand() {
        // The mean of 1, 2 and 6 is 3.
        let scores = [1.0f64, 6.0, 2.0].map(|x| -x.ln());
        assert!((average(scores.into_iter()) + 3f64.ln()).abs() < 1e-15);
        assert_eq!(average([2000.0].into_iter()), 2000.0);
        // Two of exp(−2000).
        assert!((average([2000.0, 2000.0].into_iter()) - 2000.0).abs() < 1e-9);
        assert_eq!(average([f64::INFINITY; 2].into_iter()), f64::INFINITY);
    }
}
