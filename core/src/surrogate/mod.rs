//! The surrogate model: observations, standardised costs, fitted hyper-parameters and the Gaussian
//! process.
//!
//! Algorithm 1, line 4: estimate a surrogate from the observations.
//!
//! **Choices**
//! - A failure has no cost: it stands at the median of the successes, and a label of −1 goes through
//!   the same factor. So a failure beside the optimum does not make the optimum look bad.
//! - A combination measured n times is one row with 1/n of the noise; its spread joins the evidence.
//! - Pending combinations are fantasised while candidates are scored: each enters the process with
//!   its predicted cost, which keeps the mean and removes the uncertainty about it.
//! - A fit is due when the measurements have grown by a share; otherwise an observation is one more
//!   row of the factor.
//! - A known noise is a share of the signal variance that was fitted last.
//!
//! **Cost.** `learn`: O(t²), or O(t³) if it fits or an old observation changed. A posterior: O(t²).

pub(crate) mod costs;
pub(crate) mod fit;
pub(crate) mod geometry;
pub(crate) mod gp;
pub(crate) mod kernel;
pub(crate) mod noise;
pub(crate) mod observations;
pub(crate) mod product;
pub(crate) mod relevance;

use crate::config::{Config, Noise};
use crate::error::InitError;
use crate::math::cholesky::CholeskyError;
use crate::math::float::sqrt;
use crate::space::{Combination, Space};

use costs::Standard;
use fit::Fit;
use geometry::Geometry;
use gp::{Gp, Partial, Posterior, Repeats};
use kernel::Hyper;
use noise::{Belief, Hypothesis, Seen};
use observations::{Observations, Point};
use product::Product;

/// Observations needed for the first fit.
const LEAST_FIT: usize = 3;

/// Accepts a candidate of any variance.
pub(crate) const ANY: fn(f32) -> f32 = |_| 0.0;

/// The surrogate of at most T observations: the product kernel without a random map (D = 0),
/// Matérn + linear with one.
#[derive(Clone, Debug)]
pub(crate) struct Model<const K: usize, const M: usize, const D: usize, const T: usize, const P: usize> {
    pub(crate) geometry: Geometry<K, M, D>,
    pub(crate) observations: Observations<K, D, T>,
    pub(crate) standard: Standard,
    pub(crate) gp: Gp<T, P>,
    pub(crate) product: Product<K, M>,
    pub(crate) fit: Fit,
    pub(crate) hyper: Hyper,
    pub(crate) noise: Belief,
    /// Number of measurements at which the next fit is due.
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
            product: Product::new(),
            fit: Fit::ZERO,
            hyper: Hyper { length_scale: 0.0, linear_weight: 0.0, noise: 0.0 },
            noise: Belief::ZERO,
            next_fit: 0,
            factors: 0,
        }
    }

    /// Initialises for a space, without observations. Unchanged on an error.
    pub(crate) fn init(&mut self, space: &Space<K>, config: &Config, seed: u64) -> Result<(), InitError> {
        if D == 0 {
            self.product.init(space)?;
            self.noise = Belief::START;
        } else {
            self.geometry.init(space, config, seed)?;
            self.fit = Fit::new(&config.fit, sqrt(self.geometry.typical_square()));
            self.use_matern();
        }
        self.observations.clear();
        self.gp.clear();
        (self.standard, self.next_fit, self.factors) = (Standard::NONE, LEAST_FIT, 0);
        Ok(())
    }

    /// Brings the process up to date with the observations, of which those before `unchanged` are
    /// as they were.
    pub(crate) fn learn(&mut self, space: &Space<K>, config: &Config, unchanged: usize) {
        let n = self.observations.len();
        if config.standardise {
            let cost = |rank| self.observations.ranked(rank).map_or(0.0, |o| o.value);
            let median = cost(self.observations.measured() / 2);
            self.standard = Standard::of(self.observations.costs().flatten(), cost(0), median);
        }
        let y = &self.standardised();
        let (_, again, _) = self.observations.repeated();
        let measurements = n + again as usize;
        let fits = measurements >= self.next_fit && n >= LEAST_FIT && config.refit > 0;
        if unchanged < self.gp.len() || fits {
            self.factors = self.factors.wrapping_add(1);
        }
        self.gp.truncate(unchanged);
        if fits {
            self.next_fit = measurements + measurements.checked_div(usize::from(config.refit)).unwrap_or(0).max(1);
            if D == 0 { self.fit_product(space, config, y) } else { self.fit_matern(space, config, y) }
        }
        self.complete(space, n);
        self.condition(config, y);
    }

    /// Conditions the process on standardised costs, and on failures if there are any.
    fn condition(&mut self, config: &Config, y: &[f32; T]) {
        self.gp.condition(y, &config.prior, self.repeats(config, &self.noise.used));
        if self.observations.measured() < self.observations.len() {
            // Fantasies, which follow the observations, are expected to succeed.
            let failed = self.observations.costs().map(|cost| cost.is_none());
            self.gp.label(failed.chain(core::iter::repeat(false)));
        }
    }

    /// The repeated measurements under a hypothesis, in standardised units. Beside a noise that the
    /// user gave they say nothing new: where they contradict it, they would inflate the signal.
    fn repeats(&self, config: &Config, noise: &Hypothesis) -> Repeats {
        let (again, spread) = self.repeated();
        let counts = D == 0 && !matches!(config.noise, Noise::Given(_));
        if counts { noise.repeats(again, spread * spread) } else { Repeats::default() }
    }

    /// The number of repeated measurements, and the root of the sum of their squared deviations in
    /// standardised units.
    fn repeated(&self) -> (f32, f32) {
        let (_, again, spread) = self.observations.repeated();
        (again, self.standard.apply_difference(spread))
    }

    /// One step of the product kernel, then the weights of the noise hypotheses.
    #[inline(never)]
    fn fit_product(&mut self, space: &Space<K>, config: &Config, y: &[f32; T]) {
        let n = self.observations.len();
        for _ in 0..config.fit.sweeps {
            self.complete(space, n);
            self.gp.condition(y, &config.prior, self.repeats(config, &self.noise.used));
            self.product.fit(&self.gp, self.observations.points().map(|point| point.combination));
            self.gp.clear();
        }
        if let Noise::Given(std_dev) = config.noise {
            let noise = self.known_noise(std_dev);
            self.noise.set(noise);
            self.gp.clear();
            return;
        }
        let (seen, (again, spread)) = (self.seen(), self.repeated());
        if !self.noise.is_due(seen) {
            return;
        }
        let Self { geometry, observations, product, hyper, gp, noise, .. } = self;
        let inputs = Inputs { space, geometry, observations, product, hyper };
        noise.weigh(&config.noise, seen, |hypothesis| {
            gp.clear();
            if inputs.extend(gp, hypothesis, n).is_err() {
                return (f32::NEG_INFINITY, 0.0);
            }
            gp.assess(y, &config.prior, hypothesis.repeats(again, spread * spread));
            (gp.log_likelihood(), gp.signal())
        });
    }

    /// Sweeps of the search for Matérn's hyper-parameters.
    #[inline(never)]
    fn fit_matern(&mut self, space: &Space<K>, config: &Config, y: &[f32; T]) {
        let n = self.observations.len();
        // The hyper-parameters of the current factor: where the search starts, it only has to grow.
        let mut factorised = self.fit.hyper();
        if let Noise::Given(std_dev) = config.noise {
            self.fit.set_noise(self.known_noise(std_dev));
        }
        if self.fit.hyper() != factorised {
            factorised = self.fit.hyper();
            self.gp.clear();
        }
        let Self { geometry, observations, product, gp, .. } = self;
        for _ in 0..config.fit.sweeps {
            self.fit.sweep(&config.fit, matches!(config.noise, Noise::Given(_)), |hyper| {
                if *hyper != factorised {
                    factorised = *hyper;
                    gp.clear();
                }
                let inputs = Inputs { space, geometry, observations, product, hyper };
                if inputs.extend(gp, &Hypothesis { residual: 0.0, noise: hyper.noise }, n).is_err() {
                    return f32::NEG_INFINITY;
                }
                gp.assess(y, &config.prior, Repeats::default());
                gp.log_likelihood()
            });
        }
        self.use_matern();
    }

    /// Takes over the hyper-parameters of the search.
    fn use_matern(&mut self) {
        self.hyper = self.fit.hyper();
        self.noise = Belief::of(Hypothesis { residual: 0.0, noise: self.hyper.noise });
    }

    /// Whether the next observation brings a fit, and with it a new factor.
    pub(crate) fn fits_next(&self, config: &Config) -> bool {
        let (_, again, _) = self.observations.repeated();
        self.observations.len() + again as usize + 1 >= self.next_fit && config.refit > 0
    }

    /// After an observation was removed: the next fit must not wait for more observations than
    /// before.
    pub(crate) fn observation_removed(&mut self) {
        let (_, again, _) = self.observations.repeated();
        self.next_fit = self.next_fit.min(self.observations.len() + again as usize + 1);
    }

    /// A known noise as a share of the signal variance that was fitted last.
    fn known_noise(&self, std_dev: f32) -> f32 {
        let standardised = self.standard.apply_difference(std_dev);
        let signal = if self.gp.signal() > 0.0 { self.gp.signal() } else { 1.0 };
        standardised * standardised / signal
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
            *y = self.posterior(space, c, &ANY).map_or(0.0, |posterior| posterior.mean);
            let x = self.geometry.locate(space, c);
            if !self.observations.push_fantasy(c, &x) {
                break;
            }
        }
        let all = self.observations.points().count();
        let Self { geometry, observations, product, hyper, gp, noise, .. } = self;
        let inputs = Inputs { space, geometry, observations, product, hyper };
        // On an error the rows before it stay.
        let _ = inputs.extend(gp, &noise.used, all);
        self.condition(config, &y);
    }

    /// Removes pending combinations from the process.
    pub(crate) fn remove_fantasies(&mut self, config: &Config) {
        self.observations.remove_fantasies();
        let n = self.observations.len();
        if self.gp.len() > n {
            self.gp.truncate(n);
            self.condition(config, &self.standardised());
        }
    }

    /// Standardised costs; a failure gets the median of the successes.
    #[inline(never)]
    fn standardised(&self) -> [f32; T] {
        let median = self.observations.ranked(self.observations.measured() / 2);
        let median = median.map_or(0.0, |o| self.standard.apply(o.value));
        let mut y = [0.0; T];
        for (y, cost) in y.iter_mut().zip(self.observations.costs()) {
            *y = cost.map_or(median, |cost| self.standard.apply(cost));
        }
        y
    }

    /// Extends the factor to n points. If it breaks down, rebuilds it with more noise, which makes
    /// any covariance factorisable.
    #[inline(never)]
    fn complete(&mut self, space: &Space<K>, n: usize) {
        loop {
            let Self { geometry, observations, product, hyper, gp, noise, .. } = self;
            let inputs = Inputs { space, geometry, observations, product, hyper };
            let more = inputs.extend(gp, &noise.used, n).is_err()
                && if D == 0 { self.noise.increase() } else { self.fit.add_noise() };
            if !more {
                return;
            }
            if D > 0 {
                self.use_matern();
            }
            self.factors = self.factors.wrapping_add(1);
            self.gp.clear();
        }
    }

    /// Rebuilds the process from the observations and hyper-parameters alone; `learn` must give the
    /// same.
    #[cfg(test)]
    pub(crate) fn rebuild(&mut self, space: &Space<K>, config: &Config) {
        self.complete(space, self.observations.len());
        self.condition(config, &self.standardised());
    }

    /// The posterior of a combination, in standardised units. `needed(mean)` is the variance that a
    /// candidate of this mean needs; the work stops with `None` once the variance is known to be
    /// smaller.
    #[inline(never)]
    pub(crate) fn posterior(
        &self,
        space: &Space<K>,
        c: &Combination<K>,
        needed: &dyn Fn(f32) -> f32,
    ) -> Option<Posterior> {
        let x = self.geometry.locate(space, c);
        let point = Point { combination: c, x: &x };
        let inputs = self.inputs(space);
        self.gp.posterior_above(inputs.variance(point), |row| inputs.covariances(point, 0, row), needed)
    }

    /// The same for a caller that keeps the whitened covariances `v` and their `partial` sums:
    /// absorbs only the observations that these do not cover yet.
    pub(crate) fn extend_posterior(
        &self,
        space: &Space<K>,
        point: Point<'_, K, D>,
        v: &mut [f32; T],
        partial: &mut Partial,
    ) -> Option<Posterior> {
        let covered = partial.len();
        let inputs = self.inputs(space);
        if covered == 0 {
            *partial = Partial::new(inputs.variance(point));
        }
        inputs.covariances(point, covered, v.get_mut(covered..self.gp.len())?);
        self.gp.absorb(v, partial, f32::NEG_INFINITY).then(|| self.gp.finish(v, partial))
    }

    /// The posterior mean of observation i without its covariances: what K⁻¹ leaves of its cost.
    ///
    /// C·w = (K − noise)·w = y − μ − noise·w with w = K⁻¹(y − μ).
    pub(crate) fn measured_mean(&self, i: usize) -> Option<f32> {
        let cost = self.observations.get(i).filter(|o| !o.is_failure())?.value;
        let noise = self.noise.used.of_mean(self.observations.repeats(i)) - self.noise.used.residual;
        Some(self.standard.apply(cost) - noise * self.gp.weight(i))
    }

    /// The posterior of observation i: its variance is noise − noise²·(K⁻¹)ᵢᵢ.
    pub(crate) fn measured(&self, i: usize) -> Option<Posterior> {
        let noise = self.noise.used.of_mean(self.observations.repeats(i)) - self.noise.used.residual;
        let share = noise * (1.0 - noise * self.gp.inverse_diagonal(i));
        Some(Posterior::new(self.measured_mean(i)?, self.gp.signal() * share.max(0.0)))
    }

    fn inputs<'a>(&'a self, space: &'a Space<K>) -> Inputs<'a, K, M, D, T> {
        let Self { geometry, observations, product, hyper, .. } = self;
        Inputs { space, geometry, observations, product, hyper }
    }

    /// What repeats have shown.
    pub(crate) fn seen(&self) -> Seen {
        self.observations.repeated().0
    }
}

/// Everything a covariance depends on.
struct Inputs<'a, const K: usize, const M: usize, const D: usize, const T: usize> {
    space: &'a Space<K>,
    geometry: &'a Geometry<K, M, D>,
    observations: &'a Observations<K, D, T>,
    product: &'a Product<K, M>,
    hyper: &'a Hyper,
}

impl<const K: usize, const M: usize, const D: usize, const T: usize> Inputs<'_, K, M, D, T> {
    /// The prior variance of a combination.
    fn variance(&self, point: Point<'_, K, D>) -> f32 {
        if D == 0 {
            return self.product.covariance(point.combination.all(), point.combination.all());
        }
        self.hyper.variance(self.geometry.own_pair(self.space, point))
    }

    /// Writes the prior covariances of a combination with the points from `first` on, as many as
    /// `row` has room for.
    #[inline(never)]
    fn covariances(&self, point: Point<'_, K, D>, first: usize, row: &mut [f32]) {
        let Self { space, geometry, hyper, .. } = self;
        let points = self.observations.points_from(first);
        if D == 0 {
            let own = point.combination.all();
            row.iter_mut().zip(points).for_each(|(k, o)| *k = self.product.covariance(own, o.combination.all()));
            return;
        }
        // The counts first take the place of the covariances: two loops are faster than one that
        // does both.
        geometry.encoder().count_differing(
            space,
            point.combination,
            points.clone().map(|other| other.combination),
            row,
        );
        row.iter_mut().zip(points).for_each(|(k, other)| *k = hyper.covariance(geometry.pair(space, *k, point, other)));
    }

    /// Extends the factor to n points. Noise is added on the diagonal; a mean of n measurements has
    /// 1/n of it.
    #[inline(never)]
    fn extend<const P: usize>(&self, gp: &mut Gp<T, P>, noise: &Hypothesis, n: usize) -> Result<(), CholeskyError> {
        gp.extend(n, |i, row| {
            let Some(point) = self.observations.points_from(i).next() else { return };
            self.covariances(point, 0, row);
            if let Some(own) = row.last_mut() {
                *own += noise.of_mean(self.observations.repeats(i));
            }
        })
    }
}
