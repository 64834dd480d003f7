//! What Bin-Round, Dec-Round and REMBO have in common: a process over a box, its acquisition searched there, the point found rounded to a combination.
//!
//! x† = argmin over the box of the acquisition, c† = round(x†).
//!
//! **Choices.** *Measured again*: many points round to the same combination, and the originals may measure it twice. Here they do not: of all minima that
//! the search finds, the best is taken that rounds to a combination not measured yet; if there is none, the nearest other combination to the best
//! minimum; if all these are measured too, a random one. *Where an observation lies* is for each method to say. *Repeated fits*: hyper-parameters at
//! every ask, warm-started.
//!
//! | setting | value |
//! |---|---|
//! | costs | winsorised and standardised, as for trimtab |
//! | kernel | Matérn 5/2, one length-scale, as in `Config::paper()`; in short trials one a dimension was worse |
//! | mean, signal variance | in closed form, with the core's weak prior |
//! | length-scale | by marginal likelihood, at every ask, at most 8 evaluations, warm start |
//! | noise | likewise, from 1e-6 of the signal, with the core's weak prior |
//! | search | the core's quasi-Newton descents, from 3 places near the best observations and 9 random ones, at most 60 evaluations each |
//! | first combination | random, if none was told |

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::random::Random;
use super::{Method, Task};
use crate::bench::domain::Domain;
use crate::bench::method::search::{Minimum, descend};
use crate::bench::method::surrogate::{Fitted, Matern, Prior, Range, Rule, Standard, fit};
use crate::error::Error;

/// Descents from near the best observations, and from random points.
const FROM_BEST: usize = 3;
const FROM_RANDOM: usize = 9;
/// How far from an observation such a start lies at most, in sides of the box: at it the acquisition has no slope.
const NEAR: f64 = 0.1;
/// Evaluations of the acquisition a descent, and of the likelihood a fit.
const MOST_STEPS: usize = 60;
const EVALUATIONS: usize = 8;

/// Combinations as points of a box.
pub(super) trait Relaxation {
    /// The two bounds of each dimension.
    fn bounds(&self) -> Vec<(f64, f64)>;
    /// What is believed of the logarithm of the length-scale.
    fn length_scale(&self) -> Range;
    /// The acquisition, given how many observations there are and the smallest.
    fn rule(&self, observations: usize, best: f64) -> Rule;
    /// The combination that a point is rounded to.
    fn round(&self, x: &[f64]) -> Vec<Level>;
    /// Where the process has an observation that was asked at a point.
    fn settle(&self, x: &[f64]) -> Vec<f64>;
    /// Where the process has an observation that was not asked.
    fn place(&self, levels: &[Level]) -> Vec<f64>;
    /// Points that round to other combinations than a point does, the nearest first.
    fn others(&self, x: &[f64]) -> Vec<Vec<f64>>;
    /// A minimum to more digits than f32 has, if the method needs them.
    fn refine(&self, found: Minimum, _score: &mut crate::bench::method::search::Function<'_>) -> Minimum {
        found
    }
}

/// A combination that was asked, and at which point.
type Asked = (Vec<Level>, Vec<f64>);

/// Bayesian optimization over a relaxation.
pub(super) struct Relaxed<R> {
    relaxation: R,
    random: Xoshiro256PlusPlus,
    fresh: Random,
    points: Vec<Vec<f64>>,
    costs: Vec<f64>,
    /// The hyper-parameters of the last fit.
    theta: Option<Vec<f64>>,
    asked: Option<Asked>,
}

impl<R: Relaxation> Relaxed<R> {
    pub(super) fn new(task: &Task<'_>, relaxation: R) -> Self {
        let fresh = Random::new(Domain::new(task.knobs), !task.seed);
        let random = Xoshiro256PlusPlus::seed_from_u64(task.seed);
        Self { relaxation, random, fresh, points: Vec::new(), costs: Vec::new(), theta: None, asked: None }
    }

    /// The minima of the acquisition, the best first.
    fn minima(&mut self, kernel: &Matern<'_>, points: &[Vec<f64>], fitted: &Fitted, best: f64) -> Vec<Minimum> {
        let rule = self.relaxation.rule(points.len(), best);
        let mut score = |x: &[f64], gradient: &mut [f64]| {
            let mut k = kernel.covariances(&fitted.theta, x);
            let (posterior, by_mean) = fitted.gp.posterior_slopes(1.0, &mut k);
            let (score, mean, variance) = rule.score_and_slopes(posterior);
            k.iter_mut().zip(by_mean).for_each(|(slope, by_mean)| *slope = variance * *slope + mean * by_mean);
            kernel.add_gradient(&fitted.theta, x, &k, gradient);
            score
        };
        let bounds = self.relaxation.bounds();
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|a, b| self.costs[*a].total_cmp(&self.costs[*b]));
        let mut starts = Vec::new();
        for i in order.into_iter().take(FROM_BEST) {
            let near = points[i].iter().zip(&bounds).map(|(x, (low, high))| {
                (x + (high - low) * NEAR * self.random.random_range(-1.0..1.0)).clamp(*low, *high)
            });
            starts.push(near.collect::<Vec<f64>>());
        }
        for _ in 0..FROM_RANDOM {
            starts.push(bounds.iter().map(|(low, high)| self.random.random_range(*low..=*high)).collect());
        }
        let mut minima: Vec<_> = starts
            .iter()
            .map(|start| {
                let found = descend(&bounds, start, MOST_STEPS, &mut score);
                self.relaxation.refine(found, &mut score)
            })
            .collect();
        minima.sort_by(|a, b| a.value.total_cmp(&b.value));
        minima
    }

    /// The point and the combination to measure next.
    fn propose(&mut self, points: &[Vec<f64>]) -> Result<Option<Asked>, Error> {
        let kernel = Matern::new(points, vec![self.relaxation.length_scale()]);
        let standard = Standard::of(&self.costs);
        let fitted = fit(&kernel, &standard.y, &Prior::WEAK, Range::NOISE, self.theta.as_deref(), EVALUATIONS)?;
        let minima = self.minima(&kernel, points, &fitted, standard.best);
        self.theta = Some(fitted.theta);
        let others = minima.first().map(|best| self.relaxation.others(&best.x)).unwrap_or_default();
        let candidates = minima.into_iter().map(|minimum| minimum.x).chain(others);
        let mut rounded = candidates.map(|x| (self.relaxation.round(&x), x));
        Ok(rounded.find(|(levels, _)| !self.fresh.is_told(levels)))
    }
}

impl<R: Relaxation> Method for Relaxed<R> {
    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        self.asked = None;
        if !self.points.is_empty() {
            let points = std::mem::take(&mut self.points);
            let proposed = self.propose(&points);
            self.points = points;
            self.asked = proposed?;
        }
        Ok(self.asked.as_ref().map(|(levels, _)| levels.clone()).or_else(|| self.fresh.fresh()))
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        let point = match self.asked.take() {
            Some((asked, x)) if asked == levels => self.relaxation.settle(&x),
            _ => self.relaxation.place(levels),
        };
        self.points.push(point);
        self.costs.push(cost);
        self.fresh.tell(levels, cost)
    }
}

/// The bits of an index, lowest first: the paper's φ₁.
pub(super) fn bits_of(index: u128, m: usize) -> Vec<f64> {
    (0..m).map(|bit| f64::from((index >> bit & 1) as u8)).collect()
}

/// The combination of a number, which wraps around after the last: a clamped one would give the last combination all numbers beyond.
pub(super) fn wrapped(domain: &Domain, index: u128) -> Vec<Level> {
    domain.at(index % domain.cardinality()).unwrap_or_else(|| vec![0; domain.knobs().len()])
}

/// The most bits that these methods take.
const MOST_BITS: usize = 64;

/// How many bits a task has; an error if these are too many.
pub(super) fn bits(task: &Task<'_>, name: &str) -> Result<usize, Error> {
    let bits = Domain::new(task.knobs).bits();
    if bits > MOST_BITS {
        let most = format!("{name} takes at most {MOST_BITS} bits, this problem has {bits}");
        return Err(Error::Usage(format!("{most}; leave the method out or take a smaller problem")));
    }
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trimtab::Knob;

    #[test]
    fn bits_and_wrapping_by_hand() {
        assert_eq!(bits_of(6, 4), [0.0, 1.0, 1.0, 0.0]);
        let domain = Domain::new(&[Knob::nominal(3), Knob::nominal(2)]);
        assert_eq!((wrapped(&domain, 4), wrapped(&domain, 7)), (vec![1, 1], vec![1, 0]));
    }

    #[test]
    fn too_many_bits_are_an_error() {
        let knobs = [Knob::nominal(2); 65];
        assert!(matches!(bits(&Task { knobs: &knobs, seed: 0, budget: 1 }, "x"), Err(Error::Usage(_))));
    }
}
