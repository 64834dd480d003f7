//! The common part of Bin-Round, Dec-Round and REMBO: a Gaussian process over a box, whose
//! acquisition is minimized there and rounded to a combination.
//!
//! x† = argmin over the box of the acquisition, c† = round(x†).
//!
//! **Choices**
//! - No repeats: many points round to the same combination, and the originals may measure it twice.
//!   Here the best minimum wins that rounds to an unmeasured combination; else the unmeasured
//!   combination nearest to the best minimum; else a random one.
//! - Each method decides where an observation lies in the box.
//! - Every ask fits the hyper-parameters, starting from the last ones.
//!
//! | setting | value |
//! |---|---|
//! | costs | winsorised and standardised, as for trimtab |
//! | kernel | Matérn 5/2, one length-scale, as in `Config::paper()`; in short trials one per dimension was worse |
//! | mean, signal variance | in closed form, with core's weak prior |
//! | length-scale | by marginal likelihood, at every ask, at most 8 evaluations, warm start |
//! | noise | likewise, from 1e-6 of the signal, with core's weak prior |
//! | search | core's quasi-Newton descents, from 3 points near the best observations and 9 random ones, at most 60 evaluations each |
//! | first combination | random, if there are no observations |

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::random::Random;
use super::{Method, Recommendation, Task};
use crate::bench::domain::Domain;
use crate::bench::method::search::{Minimum, descend};
use crate::bench::method::surrogate::{Fitted, Matern, Prior, Range, Rule, Standard, fit};
use crate::error::Error;

/// Number of descents from points near the best observations, and from random points.
const FROM_BEST: usize = 3;
const FROM_RANDOM: usize = 9;
/// Largest offset of such a start from its observation, in sides of the box: at the observation
/// itself the acquisition has no slope.
const NEAR: f64 = 0.1;
/// Evaluations of the acquisition per descent, and of the likelihood per fit.
const MOST_STEPS: usize = 60;
const EVALUATIONS: usize = 8;

/// Combinations as points of a box.
pub(super) trait Relaxation {
    /// The two bounds of each dimension.
    fn bounds(&self) -> Vec<(f64, f64)>;
    /// The prior of the logarithm of the length-scale.
    fn length_scale(&self) -> Range;
    /// The acquisition, given the number of observations and the smallest cost.
    fn rule(&self, observations: usize, best: f64) -> Rule;
    /// Rounds a point to a combination.
    fn round(&self, x: &[f64]) -> Vec<Level>;
    /// Where the process places an observation that was asked for at `x`.
    fn settle(&self, x: &[f64]) -> Vec<f64>;
    /// Where the process places an observation that it did not ask for.
    fn place(&self, levels: &[Level]) -> Vec<f64>;
    /// Points that round to other combinations than `x` does, the nearest first.
    fn others(&self, x: &[f64]) -> Vec<Vec<f64>>;
    /// Improves a minimum beyond the precision of f32, if the method needs it.
    fn refine(&self, found: Minimum, _score: &mut crate::bench::method::search::Function<'_>) -> Minimum {
        found
    }
}

/// A combination that was asked for, and the point that it was rounded from.
type Asked = (Vec<Level>, Vec<f64>);

/// Bayesian optimization over a relaxation.
pub(super) struct Relaxed<R> {
    relaxation: R,
    random: Xoshiro256PlusPlus,
    fresh: Random,
    told: Vec<Vec<Level>>,
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
        Self {
            relaxation,
            random,
            fresh,
            told: Vec::new(),
            points: Vec::new(),
            costs: Vec::new(),
            theta: None,
            asked: None,
        }
    }

    /// The minima of the acquisition, best first.
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

    /// The combination to measure next, and its point.
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
    fn fallbacks(&self) -> usize {
        self.fresh.draws()
    }

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
        self.told.push(levels.to_vec());
        self.points.push(point);
        self.costs.push(cost);
        self.fresh.tell(levels, cost)
    }

    fn recommend(&mut self) -> Option<Recommendation> {
        let kernel = Matern::new(&self.points, vec![self.relaxation.length_scale()]);
        let standard = Standard::of(&self.costs);
        let theta = self.theta.as_deref();
        let fitted = fit(&kernel, &standard.y, &Prior::WEAK, Range::NOISE, theta, EVALUATIONS).ok()?;
        standard.recommend(
            self.told.iter().zip(&self.points).map(|(levels, point)| {
                (levels, fitted.gp.posterior(1.0, &mut kernel.covariances(&fitted.theta, point)))
            }),
        )
    }
}

/// The bits of an index, lowest first: the paper's φ₁.
pub(super) fn bits_of(index: u128, m: usize) -> Vec<f64> {
    (0..m).map(|bit| f64::from((index >> bit & 1) as u8)).collect()
}

/// The combination of an index modulo their number. Clamping would map all indices past the end to
/// the last combination.
pub(super) fn wrapped(domain: &Domain, index: u128) -> Vec<Level> {
    domain.at(index % domain.cardinality()).unwrap_or_else(|| vec![0; domain.knobs().len()])
}

/// Most bits that these methods accept.
const MOST_BITS: usize = 64;

/// Number of bits of a task, or an error if there are too many.
pub(super) fn bits(task: &Task<'_>, name: &str) -> Result<usize, Error> {
    let bits = Domain::new(task.knobs).bits();
    if bits > MOST_BITS {
        let most = format!("{name} takes at most {MOST_BITS} bits, but this problem has {bits}");
        return Err(Error::Usage(format!("{most}; leave the method out or choose a smaller problem")));
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
