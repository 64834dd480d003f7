//! CBO-Lookup with one length-scale per dimension of the embedding, as bayeso has it, in f64.
//!
//! k(x, x′) = s²·matern52(x, x′), x = R·z(c); x† = argmin over [0, 1]^d of μ − β_t·σ; c† the nearest
//! combination that was not measured.
//!
//! Core has one length-scale for all dimensions, so the process and the search are the host's; map,
//! encoding and nearest combination are core's. `cbo-lookup-one` is the same code with one
//! length-scale: what differs between the two is the length-scales alone.
//!
//! | setting | value |
//! |---|---|
//! | d, R | 20, entries U[0, 1) over m |
//! | mean, noise | 0; standard deviation 0.01, in units of costs |
//! | length-scales, s² | by marginal likelihood, at most 40 evaluations per ask, starting from the last fit |
//! | β_t | 2·ln(t + 1) |
//! | search | descents from the middle and 15 random points |
//! | costs | as they are |
//! | first combination | random |

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::internals::{Encoder, Lookup, NearestError, RandomMap};
use trimtab::{Distribution, Encoding, Level, Space};

use super::{Entry, Method, Task};
use crate::bench::method::graph::History;
use crate::bench::method::linalg::{Triangle, dot};
use crate::bench::method::search::descend;
use crate::bench::method::surrogate::{Fitted, Kernel, Matern, Prior, Range, Rule, fit};
use crate::error::Error;

const FALLBACK: &str = "a random combination, if the nearest is not found in 2²⁰ nodes";
const SOURCE: &str = "Kim, Choi and Cho, UAI 2022, with the host's Gaussian process";

pub(crate) const ONE: Entry = Entry {
    name: "cbo-lookup-one",
    about: "CBO-Lookup in f64, one length-scale for all dimensions",
    source: SOURCE,
    fallback: FALLBACK,
    start: |task| Ok(Box::new(Relevance::new(task, 1)?)),
};

pub(crate) const PER_DIMENSION: Entry = Entry {
    name: "cbo-lookup-ard",
    about: "CBO-Lookup in f64, one length-scale per dimension, as bayeso has",
    source: SOURCE,
    fallback: FALLBACK,
    start: |task| Ok(Box::new(Relevance::new(task, D)?)),
};

/// Dimensions, and most bits and knobs.
const D: usize = 20;
const M: usize = 64;
const LENGTH_SCALE: Range = Range { low: -6.0, high: 5.0, typical: -1.0, spread: f64::INFINITY };
const SIGNAL: Range = Range { low: -14.0, high: 25.0, typical: 0.0, spread: f64::INFINITY };
/// ln 0.01².
const LOG_NOISE: f64 = -9.210_340_371_976_184;
/// Evaluations of the likelihood per ask, of the acquisition per descent, and descents.
const FIT: usize = 40;
const MOST_STEPS: usize = 60;
const STARTS: usize = 16;
const NODES: u32 = 1 << 20;

struct Relevance {
    history: History,
    random: Xoshiro256PlusPlus,
    space: Space<M>,
    encoder: Encoder<M>,
    map: Box<RandomMap<D, M>>,
    points: Vec<Vec<f64>>,
    scales: usize,
    theta: Option<Vec<f64>>,
}

impl Relevance {
    fn new(task: &Task<'_>, scales: usize) -> Result<Self, Error> {
        let bits = crate::bench::domain::Domain::new(task.knobs).bits();
        if bits.max(task.knobs.len()) > M {
            return Err(Error::Usage(format!("CBO-Lookup takes at most {M} bits; this problem has {bits}")));
        }
        let space = Space::<M>::new(task.knobs).map_err(|error| Error::Usage(error.to_string()))?;
        let encoder = Encoder::new(&space, Encoding::Compact);
        let mut map = Box::new(RandomMap::new());
        map.draw(Distribution::Uniform01, encoder.features(), task.seed);
        Ok(Self {
            history: History::new(task.knobs, !task.seed),
            random: Xoshiro256PlusPlus::seed_from_u64(task.seed),
            space,
            encoder,
            map,
            points: Vec::new(),
            scales,
            theta: None,
        })
    }

    /// R·z(c).
    fn embed(&self, levels: &[Level]) -> Result<Vec<f64>, Error> {
        let c = self.space.combination(levels).map_err(|error| Error::Failed(error.to_string()))?;
        let (mut z, mut x) = ([0.0; M], [0.0; D]);
        self.encoder.encode(&self.space, &c, &mut z);
        self.map.embed(&z, &mut x);
        Ok(x.iter().map(|x| f64::from(*x)).collect())
    }

    /// The point of the unit box with the smallest score.
    fn best_point(&mut self, kernel: &Scaled<'_>, fitted: &Fitted) -> Vec<f64> {
        let rule = Rule::paper_ucb(self.history.costs.len());
        let signal = kernel.signal(&fitted.theta);
        let mut score = |x: &[f64], gradient: &mut [f64]| {
            let mut k = kernel.matern.covariances(&fitted.theta, x);
            k.iter_mut().for_each(|k| *k *= signal);
            let (posterior, by_mean) = fitted.gp.posterior_slopes(signal, &mut k);
            let (score, mean_slope, variance_slope) = rule.score_and_slopes(posterior);
            let slopes: Vec<f64> = by_mean
                .iter()
                .zip(&k)
                .map(|(mean, variance)| signal * (mean_slope * mean + variance_slope * variance))
                .collect();
            kernel.matern.add_gradient(&fitted.theta, x, &slopes, gradient);
            score
        };
        // In coordinates that have the middle of all bits at 0.
        let bounds = self.map.offset(&self.encoder).map(|middle| (-f64::from(middle), 1.0 - f64::from(middle)));
        let middle = bounds.map(|(low, high)| 0.5 * (low + high)).to_vec();
        let mut best = descend(&bounds, &middle, MOST_STEPS, &mut score);
        for _ in 1..STARTS {
            let start: Vec<f64> = bounds.iter().map(|(low, high)| self.random.random_range(*low..*high)).collect();
            let found = descend(&bounds, &start, MOST_STEPS, &mut score);
            if found.value < best.value {
                best = found;
            }
        }
        best.x
    }
}

impl Method for Relevance {
    fn fallbacks(&self) -> usize {
        self.history.draws()
    }

    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        if self.points.is_empty() {
            return Ok(self.history.fresh());
        }
        let points = std::mem::take(&mut self.points);
        let kernel = Scaled { matern: Matern::new(&points, vec![LENGTH_SCALE; self.scales]), scales: self.scales };
        let noise = Range { low: LOG_NOISE, high: LOG_NOISE, typical: LOG_NOISE, spread: f64::INFINITY };
        let fitted = fit(&kernel, &self.history.costs, &Prior::FIXED, noise, self.theta.as_deref(), FIT);
        let x = fitted.as_ref().ok().map(|fitted| self.best_point(&kernel, fitted));
        self.points = points;
        self.theta = Some(fitted?.theta);
        let x: Vec<f32> = x.unwrap_or_default().iter().map(|x| *x as f32).collect();
        let lookup = Lookup { space: &self.space, encoder: &self.encoder, map: &*self.map };
        match lookup.nearest(&x, |c| self.history.is_told(c.levels()), NODES) {
            Ok(found) => Ok(Some(found.combination.levels().to_vec())),
            Err(NearestError::NoneLeft) => Ok(None),
            Err(_) => Ok(self.history.fresh()),
        }
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        if !self.history.is_told(levels) {
            let x = self.embed(levels)?;
            self.points.push(x);
        }
        self.history.tell(levels, cost)
    }
}

/// Matérn 5/2 times a signal variance; θ = (ln ℓ…, ln s²).
struct Scaled<'a> {
    matern: Matern<'a>,
    scales: usize,
}

impl Scaled<'_> {
    fn signal(&self, theta: &[f64]) -> f64 {
        libm::exp(theta[self.scales])
    }
}

impl Kernel for Scaled<'_> {
    fn ranges(&self) -> Vec<Range> {
        let mut ranges = self.matern.ranges();
        ranges.push(SIGNAL);
        ranges
    }

    fn gram(&self, theta: &[f64]) -> Triangle {
        let (mut gram, signal) = (self.matern.gram(theta), self.signal(theta));
        gram.entries_mut().iter_mut().for_each(|entry| *entry *= signal);
        gram
    }

    fn add_gradient(&self, theta: &[f64], slopes: &Triangle, gradient: &mut [f64]) {
        let signal = self.signal(theta);
        let mut of_scales = vec![0.0; self.scales];
        Kernel::add_gradient(&self.matern, theta, slopes, &mut of_scales);
        gradient.iter_mut().zip(of_scales).for_each(|(gradient, own)| *gradient += signal * own);
        gradient[self.scales] += dot(slopes.entries(), self.gram(theta).entries());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::method::trial::asks;
    use std::collections::HashSet;
    use trimtab::Knob;

    #[test]
    fn gradients_are_differences() {
        let points = [vec![0.0, 0.2], vec![0.5, 1.0], vec![0.9, 0.1]];
        let kernel = Scaled { matern: Matern::new(&points, vec![LENGTH_SCALE; 2]), scales: 2 };
        let slopes = Triangle::from_fn(3, |i, j| 1.0 + i as f64 - 2.0 * j as f64);
        let theta = [0.2, -0.5, 0.7];
        let mut gradient = [0.0; 3];
        kernel.add_gradient(&theta, &slopes, &mut gradient);
        for j in 0..3 {
            let moved = |step: f64| {
                let mut theta = theta;
                theta[j] += step;
                dot(slopes.entries(), kernel.gram(&theta).entries())
            };
            assert!(((moved(1e-6) - moved(-1e-6)) / 2e-6 - gradient[j]).abs() < 1e-7);
        }
    }

    /// Thumbs-up, as the paper's own example: soon all ones, and nothing twice.
    #[test]
    fn solves_thumbs_up_without_repeats() {
        let ones = |levels: &[Level]| -levels.iter().map(|level| f64::from(*level)).sum::<f64>() / 20.0;
        for entry in [ONE, PER_DIMENSION] {
            let asked = asks(&entry, &[Knob::nominal(2); 20], 1, 12, ones);
            assert!(asked.contains(&vec![1; 20]), "{}", entry.name);
            assert_eq!(asked.iter().collect::<HashSet<_>>().len(), asked.len());
        }
    }
}
