//! The surrogate with all that it learned: observations, standardised costs, fitted hyper-parameters, the process.
//!
//! Algorithm 1, line 4: estimate a surrogate from what was observed.
//!
//! **Choices.** A failed combination is given the worst cost measured so far, after winsorising: the model learns to stay away without one
//! failure hiding what the others say. While all have failed, all costs are equal and only the uncertainty decides.
//! Combinations that are being measured are fantasised while candidates are scored: they enter the process with the cost that it expects, which leaves
//! its mean as it is and takes the uncertainty about them away. One that breaks the factor down is left out, as are those after it:
//! the process is as sure of it as `f32` can tell, and what is fitted stays as it is. Hyper-parameters are fitted when the observations have grown by a
//! share; in between an observation is one more row of the factor, and so is the first try of a fit, which is of the hyper-parameters that are.
//! Where nothing but nominal knobs decides, a covariance follows from how many of them differ, and each count is worked out once. A known noise is a share of the signal as fitted last.
//!
//! **Cost.** `learn`: O(t²), O(t³) when it fits or an old observation changed. A posterior: O(t²).

pub(crate) mod costs;
pub(crate) mod fit;
pub(crate) mod geometry;
pub(crate) mod gp;
pub(crate) mod kernel;
pub(crate) mod observations;

use crate::config::{Config, Noise};
use crate::error::InitError;
use crate::math::cholesky::CholeskyError;
use crate::math::float::sqrt;
use crate::space::{Combination, Space};

use costs::Standard;
use fit::Fit;
use geometry::Geometry;
use gp::{Gp, Partial, Posterior};
use kernel::Hyper;
use observations::{Observations, Point};

/// Observations that a fit needs to say anything.
const LEAST_FIT: usize = 3;

/// Up to how many differing knobs a covariance that follows from their count alone is remembered.
const MOST_COUNTS: usize = 32;

/// A candidate of any variance is of interest.
pub(crate) const ANY: fn(f32) -> f32 = |_| 0.0;

/// The surrogate of at most T observations.
#[derive(Clone, Debug)]
pub(crate) struct Model<const K: usize, const M: usize, const D: usize, const T: usize, const P: usize> {
    pub(crate) geometry: Geometry<K, M, D>,
    pub(crate) observations: Observations<K, D, T>,
    pub(crate) standard: Standard,
    pub(crate) gp: Gp<T, P>,
    pub(crate) fit: Fit,
    next_fit: usize,
    /// Counts the factors that were built anew, and not only extended.
    pub(crate) factors: u32,
}

impl<const K: usize, const M: usize, const D: usize, const T: usize, const P: usize> Model<K, M, D, T, P> {
    pub(crate) const fn new() -> Self {
        Self {
            geometry: Geometry::empty(),
            observations: Observations::new(),
            standard: Standard::ZERO,
            gp: Gp::new(),
            fit: Fit::ZERO,
            next_fit: 0,
            factors: 0,
        }
    }

    /// Made ready for a space, with nothing observed. On an error it is as it was.
    pub(crate) fn init(&mut self, space: &Space<K>, config: &Config, seed: u64) -> Result<(), InitError> {
        self.geometry.init(space, config, seed)?;
        self.fit = Fit::new(&config.fit, sqrt(self.geometry.typical_square()));
        self.observations.clear();
        self.gp.clear();
        (self.standard, self.next_fit, self.factors) = (Standard::NONE, LEAST_FIT, 0);
        Ok(())
    }

    /// Brings the process up to date with the observations; `changed` if an old one is not what it was.
    pub(crate) fn learn(&mut self, space: &Space<K>, config: &Config, changed: bool) {
        let n = self.observations.len();
        if config.standardise {
            let cost = |rank| self.observations.ranked(rank).map_or(0.0, |o| o.value);
            let median = cost(self.observations.measured() / 2);
            self.standard = Standard::of(self.observations.costs().flatten(), cost(0), median);
        }
        let y = &self.standardised();
        let fits = n >= self.next_fit && config.refit > 0;
        if changed || fits {
            self.factors = self.factors.wrapping_add(1);
        }
        if changed {
            self.gp.clear();
        }
        if fits {
            self.next_fit = n + (n / usize::from(config.refit)).max(1);
            // What the factor is of: where the search starts it only has to grow.
            let mut factorised = self.fit.hyper();
            self.set_known_noise(config);
            if self.fit.hyper() != factorised {
                factorised = self.fit.hyper();
                self.gp.clear();
            }
            let known = Known { space, geometry: &self.geometry, observations: &self.observations };
            let gp = &mut self.gp;
            for _ in 0..config.fit.sweeps {
                self.fit.sweep(&config.fit, matches!(config.noise, Noise::Given(_)), |hyper| {
                    if *hyper != factorised {
                        factorised = *hyper;
                        gp.clear();
                    }
                    if known.extend(gp, hyper, n).is_err() {
                        return f32::NEG_INFINITY;
                    }
                    gp.assess(y, &config.prior);
                    gp.log_likelihood()
                });
            }
        }
        self.complete(space, n);
        self.gp.condition(y, &config.prior);
    }

    /// Whether the next observation brings a fit, and with it another factor.
    pub(crate) fn fits_next(&self, config: &Config) -> bool {
        self.observations.len() + 1 >= self.next_fit && config.refit > 0
    }

    /// After some observations were forgotten, fits must not wait until there are more than before.
    pub(crate) fn forgot(&mut self) {
        self.next_fit = self.next_fit.min(self.observations.len() + 1);
    }

    /// A known noise in standardised units, as a share of the signal variance that was fitted last.
    fn set_known_noise(&mut self, config: &Config) {
        if let Noise::Given(std_dev) = config.noise {
            let standardised = std_dev / self.standard.deviation();
            let signal = if self.gp.signal() > 0.0 { self.gp.signal() } else { 1.0 };
            self.fit.set_noise(standardised * standardised / signal);
        }
    }

    /// Adds combinations that are being measured to the process, as far as there is room and the factor bears it.
    pub(crate) fn fantasise(&mut self, space: &Space<K>, config: &Config, pending: &[Combination<K>]) {
        if pending.is_empty() {
            return;
        }
        let n = self.observations.len();
        let mut y = self.standardised();
        for (y, c) in y.iter_mut().skip(n).zip(pending) {
            *y = self.posterior(space, c, &self.fit.hyper(), &ANY).map_or(0.0, |posterior| posterior.mean);
            let x = self.geometry.locate(space, c);
            if !self.observations.fantasise(c, &x) {
                break;
            }
        }
        let all = self.observations.points().count();
        let known = Known { space, geometry: &self.geometry, observations: &self.observations };
        // On an error the rows before stay.
        let _ = known.extend(&mut self.gp, &self.fit.hyper(), all);
        self.gp.condition(&y, &config.prior);
    }

    /// Takes what is being measured out of the process again.
    pub(crate) fn forget_fantasies(&mut self, config: &Config) {
        self.observations.forget_fantasies();
        let n = self.observations.len();
        if self.gp.len() > n {
            self.gp.truncate(n);
            self.gp.condition(&self.standardised(), &config.prior);
        }
    }

    /// Standardised costs, the worst one for a failure.
    #[inline(never)]
    fn standardised(&self) -> [f32; T] {
        let worst = self.observations.measured().checked_sub(1).and_then(|rank| self.observations.ranked(rank));
        let worst = worst.map_or(0.0, |o| self.standard.apply(o.value));
        let mut y = [0.0; T];
        for (y, cost) in y.iter_mut().zip(self.observations.costs()) {
            *y = cost.map_or(worst, |cost| self.standard.apply(cost));
        }
        y
    }

    /// Factorises on to n points. A factor that breaks down is built again with more noise, which makes any covariance factorisable.
    #[inline(never)]
    fn complete(&mut self, space: &Space<K>, n: usize) {
        let known = Known { space, geometry: &self.geometry, observations: &self.observations };
        while known.extend(&mut self.gp, &self.fit.hyper(), n).is_err() && self.fit.add_noise() {
            self.factors = self.factors.wrapping_add(1);
            self.gp.clear();
        }
    }

    /// The process from nothing but the observations and hyper-parameters: what `learn` must have come to.
    #[cfg(test)]
    pub(crate) fn rebuild(&mut self, space: &Space<K>, config: &Config) {
        self.complete(space, self.observations.len());
        self.gp.condition(&self.standardised(), &config.prior);
    }

    /// The posterior of a combination, in standardised units. `needed` says which variance a
    /// candidate of a given mean needs to stay of interest: the work stops, with `None`, once the
    /// variance is known to be smaller.
    #[inline(never)]
    pub(crate) fn posterior(
        &self,
        space: &Space<K>,
        c: &Combination<K>,
        hyper: &Hyper,
        needed: &dyn Fn(f32) -> f32,
    ) -> Option<Posterior> {
        let x = self.geometry.locate(space, c);
        let point = Point { combination: c, x: &x };
        let known = Known { space, geometry: &self.geometry, observations: &self.observations };
        let own = hyper.variance(self.geometry.own_pair(space, point));
        self.gp.posterior_above(own, |row| known.covariances(hyper, point, 0, row), needed)
    }

    /// The same for a caller that keeps the whitened covariances `v` and their `partial` sums: only
    /// observations that these do not cover yet are worked in.
    pub(crate) fn extend_posterior(
        &self,
        space: &Space<K>,
        point: Point<'_, K, D>,
        hyper: &Hyper,
        v: &mut [f32; T],
        partial: &mut Partial,
    ) -> Option<Posterior> {
        let covered = partial.len();
        if covered == 0 {
            *partial = Partial::new(hyper.variance(self.geometry.own_pair(space, point)));
        }
        let known = Known { space, geometry: &self.geometry, observations: &self.observations };
        known.covariances(hyper, point, covered, v.get_mut(covered..self.gp.len())?);
        self.gp.absorb(v, partial, f32::NEG_INFINITY).then(|| self.gp.finish(v, partial))
    }
}

/// What the process is built from.
struct Known<'a, const K: usize, const M: usize, const D: usize, const T: usize> {
    space: &'a Space<K>,
    geometry: &'a Geometry<K, M, D>,
    observations: &'a Observations<K, D, T>,
}

impl<const K: usize, const M: usize, const D: usize, const T: usize> Known<'_, K, M, D, T> {
    /// Writes the prior covariances of a combination with the points from the `first` on, as many as `row` has room for.
    #[inline(never)]
    fn covariances(&self, hyper: &Hyper, point: Point<'_, K, D>, first: usize, row: &mut [f32]) {
        let Self { space, geometry, .. } = self;
        let points = self.observations.points_from(first);
        // First the counts take the place of the covariances: a loop each is quicker than both in one.
        geometry.encoder().count_differing(
            space,
            point.combination,
            points.clone().map(|other| other.combination),
            row,
        );
        let covariance = |differing, other| hyper.covariance(geometry.pair(space, differing, point, other));
        if D > 0 {
            row.iter_mut().zip(points).for_each(|(k, other)| *k = covariance(*k, other));
        } else {
            // The count alone decides, and there are few: each is worked out once.
            let mut known = [f32::NAN; MOST_COUNTS];
            for (k, other) in row.iter_mut().zip(points) {
                let mut rest = f32::NAN;
                let known = known.get_mut(*k as usize).unwrap_or(&mut rest);
                if known.is_nan() {
                    *known = covariance(*k, other);
                }
                *k = *known;
            }
        }
    }

    /// Factorises on until the process has n points. Noise joins on the diagonal; a mean of n measurements has an nth of it.
    #[inline(never)]
    fn extend<const P: usize>(&self, gp: &mut Gp<T, P>, hyper: &Hyper, n: usize) -> Result<(), CholeskyError> {
        gp.extend(n, |i, row| {
            let Some(point) = self.observations.points_from(i).next() else { return };
            self.covariances(hyper, point, 0, row);
            if let Some(own) = row.last_mut() {
                *own += hyper.noise / self.observations.repeats(i);
            }
        })
    }
}
