//! Measurements that fail: a half-space of combinations, with the optimum just outside it.
//!
//! A combination fails if s(c) > s(optimum) + margin, s(c) = Σᵢ uᵢ(cᵢ).
//!
//! | name | meaning |
//! |---|---|
//! | uᵢ of a nominal knob | a normal number per level |
//! | uᵢ of a graded knob | a normal weight times the position of the level, from 0 to 1, times √12, so that it spreads as much |
//! | margin | half of the smallest rise of s by a step from the optimum: every step that rises fails |
//!
//! **Choices**
//! - The optimum must lie on the edge, because users' best settings often do: the fastest clock
//!   that still works is next to one that does not.
//! - Up to 400 random s are drawn, until the share of failing combinations is within 0.005 of the
//!   wanted one; else the nearest is taken. Random signs put s(optimum) anywhere among all s(c), so
//!   some draw is near.
//! - The share is counted over all combinations if there are at most 4096, else over 4096 random
//!   ones.
//! - Where the optimum is not known, the best of some thousand measurements by descents from random
//!   combinations takes its place.

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level};

use super::Problem;
use crate::bench::domain::Domain;

/// Separates these random numbers from those of the instance, the mask and the initial points.
const STREAM: u64 = 0x4645_4e43_4500;
const DRAWS: usize = 400;
const NEAR: f64 = 0.005;
const SAMPLE: usize = 4096;
/// Measurements of the descents in place of an unknown optimum.
const EVALUATIONS: usize = 5000;

/// The half-space.
#[derive(Clone, Debug)]
pub(crate) struct Fence {
    /// u: per knob, a number per level.
    scores: Vec<Vec<f64>>,
    limit: f64,
}

impl Fence {
    /// A fence beside the problem's optimum that leaves about this share of all combinations
    /// failing. Returns `None` if no step from the optimum can fail, as for a single combination.
    pub(crate) fn new(problem: &dyn Problem, optimum: Option<&[Level]>, share: f64, seed: u64) -> Option<Self> {
        let domain = Domain::new(problem.knobs());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ STREAM);
        let optimum = optimum.map_or_else(|| descend(problem, &domain, &mut random), <[Level]>::to_vec);
        let sample: Vec<Vec<Level>> = match domain.cardinality() {
            all if all <= SAMPLE as u128 => (0..all).filter_map(|index| domain.at(index)).collect(),
            _ => (0..SAMPLE).map(|_| domain.random(&mut random)).collect(),
        };
        let steps = domain.neighbours(&optimum);
        let mut best: Option<(f64, Self)> = None;
        for _ in 0..DRAWS {
            let scores = problem.knobs().iter().map(|knob| scores(knob, &mut random)).collect();
            let mut fence = Self { scores, limit: f64::INFINITY };
            let own = fence.score(&optimum);
            let rises = steps.iter().map(|step| fence.score(step) - own).filter(|rise| *rise > 0.0);
            let least = rises.fold(f64::INFINITY, f64::min);
            if !least.is_finite() {
                continue;
            }
            fence.limit = own + least / 2.0;
            let failing = sample.iter().filter(|levels| fence.fails(levels)).count();
            let off = (failing as f64 / sample.len() as f64 - share).abs();
            if best.as_ref().is_none_or(|best| off < best.0) {
                best = Some((off, fence));
            }
            if off <= NEAR {
                break;
            }
        }
        best.map(|best| best.1)
    }

    /// Whether the measurement of a combination fails.
    pub(crate) fn fails(&self, levels: &[Level]) -> bool {
        self.score(levels) > self.limit
    }

    fn score(&self, levels: &[Level]) -> f64 {
        self.scores.iter().zip(levels).map(|(scores, level)| scores[usize::from(*level)]).sum()
    }
}

/// u of one knob.
fn scores(knob: &Knob, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let levels = knob.levels();
    if !knob.is_graded() {
        return (0..levels).map(|_| random.sample(StandardNormal)).collect();
    }
    let weight: f64 = random.sample::<f64, _>(StandardNormal) * 12f64.sqrt();
    (0..levels).map(|level| weight * level as f64 / (levels - 1).max(1) as f64).collect()
}

/// The best combination that descents from random ones find.
fn descend(problem: &dyn Problem, domain: &Domain, random: &mut Xoshiro256PlusPlus) -> Vec<Level> {
    let mut best: Option<(f64, Vec<Level>)> = None;
    let mut left = EVALUATIONS;
    while left > 0 {
        let start = domain.random(random);
        let mut here = (problem.cost(&start), start);
        left -= 1;
        loop {
            let mut steps = domain.neighbours(&here.1);
            steps.truncate(left);
            left -= steps.len();
            let costs = steps.into_iter().map(|step| (problem.cost(&step), step));
            match costs.min_by(|a, b| a.0.total_cmp(&b.0)) {
                Some(next) if next.0 < here.0 => here = next,
                _ => break,
            }
        }
        if best.as_ref().is_none_or(|best| here.0 < best.0) {
            best = Some(here);
        }
    }
    best.map(|best| best.1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::oracle::build;

    #[test]
    fn the_optimum_stands_at_the_edge_of_a_failing_half() {
        for name in ["thumbs-up", "bqp", "antenna", "board:knobs=3", "board", "pest-control"] {
            for seed in 0..3 {
                let problem = build(name, seed);
                let domain = Domain::new(problem.knobs());
                let optimum = problem.optimum().map(|optimum| optimum.levels);
                let fence = Fence::new(&*problem, optimum.as_deref(), 0.5, seed).unwrap();
                let mut random = Xoshiro256PlusPlus::seed_from_u64(seed + 100);
                let failing = (0..4000).filter(|_| fence.fails(&domain.random(&mut random))).count();
                assert!((1700..2300).contains(&failing), "{name} {seed}: {failing} of 4000");
                if let Some(optimum) = optimum {
                    assert!(!fence.fails(&optimum), "{name} {seed}");
                    assert!(domain.neighbours(&optimum).iter().any(|step| fence.fails(step)), "{name} {seed}");
                }
                let again = Fence::new(&*problem, problem.optimum().map(|own| own.levels).as_deref(), 0.5, seed);
                assert_eq!(again.unwrap().scores, fence.scores);
            }
        }
    }

    #[test]
    fn another_share_and_a_fence_by_hand() {
        let problem = build("bqp", 1);
        let domain = Domain::new(problem.knobs());
        let optimum = problem.optimum().unwrap().levels;
        let fence = Fence::new(&*problem, Some(&optimum), 0.2, 1).unwrap();
        let failing = (0..1024).filter(|index| fence.fails(&domain.at(*index).unwrap())).count();
        assert!((180..230).contains(&failing), "{failing} of 1024");
        // s = 2·c₀ − c₁ over two bits: only (1, 0) is above 1.5.
        let fence = Fence { scores: vec![vec![0.0, 2.0], vec![0.0, -1.0]], limit: 1.5 };
        let all = [[0, 0], [1, 0], [0, 1], [1, 1]];
        assert_eq!(all.map(|levels| fence.fails(&levels)), [false, true, false, false]);
    }
}
