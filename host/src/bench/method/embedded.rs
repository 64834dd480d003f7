//! The common part of BODi and Bounce: Matérn 5/2 over features of combinations, and its expected
//! improvement as a [`Score`] for ascents.
//!
//! k(c, c′) = s²·matern52(φ(c), φ(c′)); each method has its own φ.
//!
//! **Cost.** n·m + n²/2 multiplications per score, with m features and n observations.

use trimtab::Level;

use super::Recommendation;
use super::graph::{History, Score};
use crate::bench::method::surrogate::{Fitted, Gp, Matern, Posterior, Prior, Range, Rule, Standard, fit};
use crate::error::Error;

/// Combinations as points.
pub(super) trait Features {
    /// Writes the features of a combination.
    fn write(&self, levels: &[Level], x: &mut Vec<f64>);

    /// The features of some observations.
    fn points(&self, history: &History, places: &[usize]) -> Vec<Vec<f64>> {
        let point = |place: &usize| {
            let mut x = Vec::new();
            self.write(&history.levels[*place], &mut x);
            x
        };
        places.iter().map(point).collect()
    }
}

/// How the hyper-parameters are fitted.
pub(super) struct Fit<'a> {
    /// One length-scale, or one per feature.
    pub(super) ranges: Vec<Range>,
    pub(super) last: Option<&'a [f64]>,
    pub(super) evaluations: usize,
}

/// The process, with room for one combination.
pub(super) struct Embedded<'a, F> {
    features: &'a F,
    kernel: Matern<'a>,
    inverse: Vec<f64>,
    gp: Gp,
    rule: Rule,
    here: Vec<Level>,
    x: Vec<f64>,
    k: Vec<f64>,
}

impl<'a, F: Features> Embedded<'a, F> {
    /// Fits the process to points with their costs; also returns the hyper-parameters.
    pub(super) fn new(
        features: &'a F,
        points: &'a [Vec<f64>],
        standard: &Standard,
        how: Fit<'_>,
    ) -> Result<(Self, Vec<f64>), Error> {
        let kernel = Matern::new(points, how.ranges);
        let Fitted { theta, gp } = fit(&kernel, &standard.y, &Prior::WEAK, Range::NOISE, how.last, how.evaluations)?;
        let inverse = kernel.inverse_squares(&theta, points.first().map_or(0, Vec::len));
        let rule = Rule::ExpectedImprovement { best: standard.best };
        let (here, x, k) = (Vec::new(), Vec::new(), Vec::new());
        Ok((Self { features, kernel, inverse, gp, rule, here, x, k }, theta))
    }

    pub(super) fn predict(&mut self, levels: &[Level]) -> Posterior {
        let Self { features, kernel, inverse, gp, x, k, .. } = self;
        features.write(levels, x);
        kernel.covariances_into(inverse, x, k);
        gp.posterior(1.0, k)
    }

    /// The observation with the lowest posterior mean.
    pub(super) fn recommend(&mut self, history: &History, standard: &Standard) -> Option<Recommendation> {
        standard.recommend(history.levels.iter().map(|levels| (levels, self.predict(levels))))
    }
}

impl<F: Features> Score for Embedded<'_, F> {
    fn score(&mut self, levels: &[Level]) -> f64 {
        let believed = self.predict(levels);
        self.rule.score(believed)
    }

    fn stand(&mut self, levels: &[Level]) {
        self.here.clear();
        self.here.extend_from_slice(levels);
    }

    fn step(&mut self, knob: usize, level: Level) -> f64 {
        let mut there = std::mem::take(&mut self.here);
        let kept = std::mem::replace(&mut there[knob], level);
        let score = self.score(&there);
        there[knob] = kept;
        self.here = there;
        score
    }
}
