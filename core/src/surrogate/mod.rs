//! The surrogate model: observations, standardised costs, fitted hyper-parameters and the Gaussian
//! process.
//!
//! Algorithm 1, line 4: estimate a surrogate from the observations.
//!
//! **Choices**
//! - A failure counts as the worst measured cost, after winsorising: the model avoids it without
//!   one failure hiding what the others say. While all have failed, only the uncertainty decides.
//! - Pending combinations are fantasised while candidates are scored: each enters the process with
//!   its predicted cost, which keeps the mean and removes the uncertainty about it.
//! - A fit is due when the observations have grown by a share; otherwise an observation is one more
//!   row of the factor. A fit tries the current hyper-parameters first, so it reuses the factor.
//! - If all knobs are nominal, a covariance depends only on how many of them differ, and each count
//!   is computed once.
//! - A known noise is a share of the signal variance that was fitted last.
//!
//! **Cost.** `learn`: O(t²), or O(t³) if it fits or an old observation changed. A posterior: O(t²).

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

/// Observations needed for the first fit.
const LEAST_FIT: usize = 3;

/// Covariances are remembered for up to this many differing knobs.
const MOST_COUNTS: usize = 32;

/// Accepts a candidate of any variance.
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
    /// Counts the factors that were rebuilt rather than extended.
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

    /// Initialises for a space, without observations. Unchanged on an error.
    pub(crate) fn init(&mut self, space: &Space<K>, config: &Config, seed: u64) -> Result<(), InitError> {
        self.geometry.init(space, config, seed)?;
        self.fit = Fit::new(&config.fit, sqrt(self.geometry.typical_square()));
        self.observations.clear();
        self.gp.clear();
        (self.standard, self.next_fit, self.factors) = (Standard::NONE, LEAST_FIT, 0);
        Ok(())
    }

    /// Brings the process up to date with the observations; `changed` if an old one changed or was
    /// removed.
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
            // The hyper-parameters of the current factor: where the search starts, it only has to
            // grow.
            let mut factorised = self.fit.hyper();
            self.set_known_noise(config);
            if self.fit.hyper() != factorised {
                factorised = self.fit.hyper();
                self.gp.clear();
            }
            let inputs = Inputs { space, geometry: &self.geometry, observations: &self.observations };
            let gp = &mut self.gp;
            for _ in 0..config.fit.sweeps {
                self.fit.sweep(&config.fit, matches!(config.noise, Noise::Given(_)), |hyper| {
                    if *hyper != factorised {
                        factorised = *hyper;
                        gp.clear();
                    }
                    if inputs.extend(gp, hyper, n).is_err() {
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

    /// Whether the next observation brings a fit, and with it a new factor.
    pub(crate) fn fits_next(&self, config: &Config) -> bool {
        self.observations.len() + 1 >= self.next_fit && config.refit > 0
    }

    /// After an observation was removed: the next fit must not wait for more observations than
    /// before.
    pub(crate) fn observation_removed(&mut self) {
        self.next_fit = self.next_fit.min(self.observations.len() + 1);
    }

    /// Sets a known noise, in standardised units, as a share of the signal variance that was fitted
    /// last.
    fn set_known_noise(&mut self, config: &Config) {
        if let Noise::Given(std_dev) = config.noise {
            let standardised = std_dev / self.standard.deviation();
            let signal = if self.gp.signal() > 0.0 { self.gp.signal() } else { 1.0 };
            self.fit.set_noise(standardised * standardised / signal);
        }
    }

    /// Adds pending combinations to the process, as far as there is room and the factor holds.
    /// One that breaks the factor down is left out together with those after it: the fit must not
    /// change for a fantasy.
    pub(crate) fn add_fantasies(&mut self, space: &Space<K>, config: &Config, pending: &[Combination<K>]) {
        if pending.is_empty() {
            return;
        }
        let n = self.observations.len();
        let mut y = self.standardised();
        for (y, c) in y.iter_mut().skip(n).zip(pending) {
            *y = self.posterior(space, c, &self.fit.hyper(), &ANY).map_or(0.0, |posterior| posterior.mean);
            let x = self.geometry.locate(space, c);
            if !self.observations.push_fantasy(c, &x) {
                break;
            }
        }
        let all = self.observations.points().count();
        let inputs = Inputs { space, geometry: &self.geometry, observations: &self.observations };
        // On an error the rows before it stay.
        let _ = inputs.extend(&mut self.gp, &self.fit.hyper(), all);
        self.gp.condition(&y, &config.prior);
    }

    /// Removes pending combinations from the process.
    pub(crate) fn remove_fantasies(&mut self, config: &Config) {
        self.observations.remove_fantasies();
        let n = self.observations.len();
        if self.gp.len() > n {
            self.gp.truncate(n);
            self.gp.condition(&self.standardised(), &config.prior);
        }
    }

    /// Standardised costs; a failure gets the worst one.
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

    /// Extends the factor to n points. If it breaks down, rebuilds it with more noise, which makes
    /// any covariance factorisable.
    #[inline(never)]
    fn complete(&mut self, space: &Space<K>, n: usize) {
        let inputs = Inputs { space, geometry: &self.geometry, observations: &self.observations };
        while inputs.extend(&mut self.gp, &self.fit.hyper(), n).is_err() && self.fit.add_noise() {
            self.factors = self.factors.wrapping_add(1);
            self.gp.clear();
        }
    }

    /// Rebuilds the process from the observations and hyper-parameters alone; `learn` must give the
    /// same.
    #[cfg(test)]
    pub(crate) fn rebuild(&mut self, space: &Space<K>, config: &Config) {
        self.complete(space, self.observations.len());
        self.gp.condition(&self.standardised(), &config.prior);
    }

    /// The posterior of a combination, in standardised units. `needed(mean)` is the variance that a
    /// candidate of this mean needs; the work stops with `None` once the variance is known to be
    /// smaller.
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
        let inputs = Inputs { space, geometry: &self.geometry, observations: &self.observations };
        let own = hyper.variance(self.geometry.own_pair(space, point));
        self.gp.posterior_above(own, |row| inputs.covariances(hyper, point, 0, row), needed)
    }

    /// The same for a caller that keeps the whitened covariances `v` and their `partial` sums:
    /// absorbs only the observations that these do not cover yet.
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
        let inputs = Inputs { space, geometry: &self.geometry, observations: &self.observations };
        inputs.covariances(hyper, point, covered, v.get_mut(covered..self.gp.len())?);
        self.gp.absorb(v, partial, f32::NEG_INFINITY).then(|| self.gp.finish(v, partial))
    }
}

/// Everything a covariance depends on besides the hyper-parameters.
struct Inputs<'a, const K: usize, const M: usize, const D: usize, const T: usize> {
    space: &'a Space<K>,
    geometry: &'a Geometry<K, M, D>,
    observations: &'a Observations<K, D, T>,
}

impl<const K: usize, const M: usize, const D: usize, const T: usize> Inputs<'_, K, M, D, T> {
    /// Writes the prior covariances of a combination with the points from `first` on, as many as
    /// `row` has room for.
    #[inline(never)]
    fn covariances(&self, hyper: &Hyper, point: Point<'_, K, D>, first: usize, row: &mut [f32]) {
        let Self { space, geometry, .. } = self;
        let points = self.observations.points_from(first);
        // The counts first take the place of the covariances: two loops are faster than one that
        // does both.
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
            // The count alone decides, and there are few: compute each covariance once.
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

    /// Extends the factor to n points. Noise is added on the diagonal; a mean of n measurements has
    /// 1/n of it.
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
