//! The surrogate model: observations, standardised costs, fitted hyper-parameters and the Gaussian
//! process.
//!
//! Algorithm 1, line 4: estimate a surrogate from the observations.
//!
//! **Choices**
//! - A failure has no cost. It stays in the factor, but with so much noise that it says next to
//!   nothing about costs: beside the optimum it must not make the optimum look bad. What it says
//!   about success goes into [`success`].
//! - A combination measured n times is one row with 1/n of the noise; its spread joins the evidence.
//! - A fit is due when the measurements have grown by a share; otherwise an observation is one more
//!   row of the factor. Costs are standardised anew only with a new factor (or after one far from
//!   the others), so until then a new observation changes nothing that was computed of the others.
//! - A known noise is a share of the signal variance that was fitted last.
//!
//! **Cost.** `learn`: O(t²), or O(t³) if it fits or an old observation changed. A posterior: O(t²).

pub(crate) mod costs;
mod fantasies;
pub(crate) mod fit;
pub(crate) mod fleet;
pub(crate) mod fleet_prior;
pub(crate) mod geometry;
pub(crate) mod gp;
mod inputs;
pub(crate) mod kernel;
pub(crate) mod learn;
pub(crate) mod limits;
pub(crate) mod noise;
pub(crate) mod observations;
pub(crate) mod path;
pub(crate) mod product;
pub(crate) mod relevance;
pub(crate) mod success;

use crate::config::{Config, Noise};
use crate::error::InitError;
use crate::math::cholesky::CholeskyError;
use crate::math::float::sqrt;
use crate::space::knob::Level;
use crate::space::{Combination, Space};

use costs::Standard;
use fit::Fit;
use fleet::Fleet;
use geometry::Geometry;
use gp::{Gp, Partial, Posterior, Repeats};
use inputs::Inputs;
use kernel::Hyper;
use learn::Learning;
use limits::Limits;
use noise::{Belief, Hypothesis, Seen};
use observations::{Observations, Point};
use path::Path;
use product::Product;
use success::Success;

/// Observations needed for the first fit.
const LEAST_FIT: usize = 3;

/// Most combinations that can be pending (asked and not told) unless a tuner has room for more, and
/// most that can be queued.
pub const MOST_PENDING: usize = 8;

/// Accepts a candidate of any variance.
pub(crate) const ANY: fn(f32) -> f32 = |_| 0.0;

/// The surrogate of at most T observations: the product kernel without a random map (D = 0),
/// Matérn + linear with one.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Model<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const P: usize,
    const N: usize,
    const G: usize,
> {
    pub(crate) standard: Standard,
    /// Number of measurements at which the next fit is due.
    next_fit: usize,
    /// Counts how often everything was computed anew rather than extended.
    pub(crate) factors: u32,
    pub(crate) hyper: Hyper,
    pub(crate) fit: Fit,
    pub(crate) noise: Belief,
    learning: Learning<K, T>,
    pub(crate) success: Success<K, M, T>,
    pub(crate) observations: Observations<K, D, T>,
    pub(crate) gp: Gp<T, P>,
    pub(crate) product: Product<K, M>,
    pub(crate) limits: Limits<T, G>,
    pub(crate) fleet: Fleet<T, N>,
    pub(crate) geometry: Geometry<K, M, D>,
}

impl<const K: usize, const M: usize, const D: usize, const T: usize, const P: usize, const N: usize, const G: usize>
    Model<K, M, D, T, P, N, G>
{
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
            success: Success::NONE,
            limits: Limits::NONE,
            next_fit: 0,
            learning: Learning::NONE,
            fleet: Fleet::NONE,
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
        self.learning = Learning::NONE;
        self.success = Success::NONE;
        self.limits.clear();
        self.fleet.clear();
        (self.standard, self.next_fit, self.factors) = (Standard::NONE, LEAST_FIT, 0);
        Ok(())
    }

    /// Standardises the costs anew.
    fn standardise(&mut self, config: &Config) {
        if config.standardise && self.fleet.in_force().is_none() {
            let cost = |rank| self.observations.ranked(rank).unwrap_or(0.0);
            let median = cost(self.observations.measured() / 2);
            self.standard = Standard::of(self.observations.costs().flatten(), cost(0), median);
        }
        self.gp.forget_costs();
    }

    /// Conditions the process on the costs; [`weigh_step`](Self::weigh_step) is to follow.
    fn condition(&mut self, config: &Config) {
        let noise = self.noise.used;
        self.whiten_costs();
        self.gp.whiten_ones();
        self.gp.assess(&self.belief(config), self.repeats(config, &noise));
    }

    /// Computes some of the weights that posteriors of what is measured need; returns whether it had to.
    pub(crate) fn weigh_step(&mut self) -> bool {
        self.needs_weights() && self.gp.weigh_step()
    }

    /// Whitens the costs that are new.
    fn whiten_costs(&mut self) {
        let Self { observations, standard, gp, fleet, .. } = self;
        gp.whiten_costs(|i, imagined| match observations.cost(i) {
            Some(cost) => fleet.bent(standard.apply(cost)) - fleet.mean(i),
            None if i < observations.len() => 0.0,
            None => imagined - fleet.mean(i),
        });
    }

    /// Whether more than a search needs the weights: posteriors of what is measured.
    fn needs_weights(&self) -> bool {
        self.noise.used.is_noisy() || D > 0
    }

    /// Number of observations that failed.
    pub(crate) fn failures(&self) -> usize {
        self.observations.len() - self.observations.measured()
    }

    /// The repeated measurements under a hypothesis, in standardised units. Beside a noise that the
    /// user gave they say nothing new: where they contradict it, they would inflate the signal.
    fn repeats(&self, config: &Config, noise: &Hypothesis) -> Repeats {
        let (again, spread) = self.repeated();
        let counts = D == 0 && !matches!(config.noise, Noise::Given(_));
        let repeats = if counts { noise.repeats(again, spread * spread) } else { Repeats::default() };
        Repeats { missing: self.failures() as f32, ..repeats }
    }

    /// The number of repeated measurements, and the root of the sum of their squared deviations in
    /// standardised units.
    fn repeated(&self) -> (f32, f32) {
        let (_, again, spread) = self.observations.repeated();
        (again, self.modelled_difference(spread))
    }

    /// Sweeps of the search for Matérn's hyper-parameters.
    #[inline(never)]
    fn fit_matern(&mut self, space: &Space<K>, config: &Config) {
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
        let mut fit = self.fit;
        for _ in 0..config.fit.sweeps {
            fit.sweep(&config.fit, matches!(config.noise, Noise::Given(_)), |hyper| {
                if *hyper != factorised {
                    factorised = *hyper;
                    self.gp.clear();
                }
                let noise = Hypothesis { residual: 0.0, noise: hyper.noise };
                let Self { geometry, observations, product, gp, .. } = self;
                let inputs = Inputs { space, geometry, observations, product, hyper };
                while gp.len() < n {
                    if inputs.extend(gp, &noise, None).is_err() {
                        return f32::NEG_INFINITY;
                    }
                }
                self.whiten_costs();
                self.gp.whiten_ones();
                let missing = self.failures() as f32;
                self.gp.assess(&config.prior, Repeats { missing, ..Repeats::default() });
                self.gp.log_likelihood()
            });
        }
        self.fit = fit;
        self.use_matern();
    }

    /// Takes over the hyper-parameters of the search.
    fn use_matern(&mut self) {
        self.hyper = self.fit.hyper();
        self.noise = Belief::of(Hypothesis { residual: 0.0, noise: self.hyper.noise });
    }

    /// Number of measurements, repeated ones included.
    fn measurements(&self) -> usize {
        let (_, again, _) = self.observations.repeated();
        self.observations.len() + again as usize
    }

    /// Whether a fit is due at this number of measurements.
    fn fits_at(&self, config: &Config, measurements: usize) -> bool {
        measurements >= self.next_fit && config.refit > 0 && self.fleet.in_force().is_none()
    }

    /// Whether everything is computed anew after the next observation, for a fit or because there
    /// are so few.
    pub(crate) fn is_anew_next(&self, config: &Config) -> bool {
        let is_young = self.observations.len() < LEAST_FIT || config.refit == 0;
        is_young || self.fleet.in_force().is_some() || self.fits_at(config, self.measurements() + 1)
    }

    /// After observation i was removed: the next fit must not wait for more observations than
    /// before.
    pub(crate) fn observation_removed(&mut self, i: usize) {
        self.success.remove(i, self.observations.len() + 1);
        self.limits.remove(i);
        self.next_fit = self.next_fit.min(self.measurements() + 1);
    }

    /// A known noise as a share of the signal variance that was fitted last.
    fn known_noise(&self, std_dev: f32) -> f32 {
        let standardised = self.standard.apply_difference(std_dev);
        let signal = if self.gp.signal() > 0.0 { self.gp.signal() } else { 1.0 };
        standardised * standardised / signal
    }

    /// One step of two towards a factor with one more point.
    #[inline(always)]
    fn extend_by_one(&mut self, space: &Space<K>) -> Result<(), CholeskyError> {
        let Self { geometry, observations, product, hyper, gp, noise, fleet, learning, .. } = self;
        let inputs = Inputs { space, geometry, observations, product, hyper };
        let visited = fleet.in_force().map(|_| (&learning.column, learning.own));
        fleet.forget_visit();
        inputs.extend(gp, &noise.used, visited)
    }

    /// Whether the process is that of the observations: no tell and no fantasies are under way.
    pub(crate) fn is_settled(&self) -> bool {
        let is_weighed = !self.needs_weights() || self.gp.is_weighed();
        !self.has_fantasies() && !self.is_learning() && is_weighed
    }

    /// One step towards a factor of n points; returns whether there was one to do. If it
    /// breaks down, starts over with more noise, which makes any covariance factorisable.
    #[inline(never)]
    fn extend(&mut self, space: &Space<K>, n: usize) -> bool {
        if self.gp.len() >= n {
            return false;
        }
        if self.visit_next(space) || self.extend_by_one(space).is_ok() {
            return true;
        }
        let more = if D == 0 { self.noise.increase() } else { self.fit.add_noise() };
        if more {
            if D > 0 {
                self.use_matern();
            }
            self.factors = self.factors.wrapping_add(1);
            self.gp.clear();
        }
        more
    }

    /// Rebuilds the process from the observations and hyper-parameters alone; `learn` must give the
    /// same.
    #[cfg(test)]
    pub(crate) fn rebuild(&mut self, space: &Space<K>, config: &Config) {
        while self.extend(space, self.observations.len()) {}
        self.condition(config);
        while self.weigh_step() {}
    }

    /// The posterior of a combination, in standardised units. `needed(mean)` is the variance that a
    /// candidate of this mean needs; the work stops with `None` once the variance is known to be
    /// smaller. `most` is a bound of the share of it that is left, and becomes a sharper one.
    #[inline(never)]
    pub(crate) fn posterior(
        &self,
        space: &Space<K>,
        c: &Combination<K>,
        needed: &dyn Fn(f32) -> f32,
        most: &mut f32,
    ) -> Option<Posterior> {
        if let Some(prior) = self.fleet.in_force() {
            return self.fleet_posterior(prior, space, c, needed, most);
        }
        let x = self.geometry.locate(space, c);
        let point = Point { combination: c, x: &x };
        self.gp.posterior_above(|row| self.inputs(space).all(point, 0, row), needed, most)
    }

    /// [`posterior`](Self::posterior) of the combination beside a path that has this level of the
    /// knob entered last.
    #[inline(never)]
    pub(crate) fn posterior_beside(
        &self,
        space: &Space<K>,
        path: &Path<K, T>,
        (knob, level): (usize, Level),
        needed: &dyn Fn(f32) -> f32,
        most: &mut f32,
    ) -> Option<Posterior> {
        if !self.has_paths() {
            return self.posterior(space, &path.at().with(knob, level), needed, most);
        }
        self.gp.posterior_above(|row| path.covariances(self.kernel(), (knob, level), 0, row), needed, most)
    }

    /// A posterior for a caller that keeps the whitened covariances `v` and their `partial` sums:
    /// absorbs only the observations that these do not cover yet. `write` writes their covariances,
    /// from the one with this index on, and returns the combination's own.
    pub(crate) fn extend_posterior(
        &self,
        v: &mut [f32; T],
        partial: &mut Partial,
        write: impl FnOnce(usize, &mut [f32]) -> f32,
    ) -> Option<Posterior> {
        let covered = partial.len();
        let own = write(covered, v.get_mut(covered..self.gp.len())?);
        if covered == 0 {
            *partial = Partial::new(own);
        }
        self.gp.absorb(v, partial, f32::NEG_INFINITY).then(|| self.gp.finish(partial))
    }

    /// The covariances of a combination with stored coordinates, from an observation on; returns
    /// its own.
    pub(crate) fn covariances(&self, space: &Space<K>, point: Point<'_, K, D>, from: usize, row: &mut [f32]) -> f32 {
        self.inputs(space).all(point, from, row)
    }

    /// Whether covariances are followed along a path: only those of the product kernel are.
    #[inline(always)]
    fn has_paths(&self) -> bool {
        D == 0 && self.fleet.in_force().is_none()
    }

    /// The kernel and the combinations of a path.
    pub(crate) fn kernel(&self) -> (&Product<K, M>, &[Combination<K>]) {
        (&self.product, self.observations.combinations())
    }

    /// Begins a path at a combination, for the observations from `first` on.
    pub(crate) fn begin(&self, path: &mut Path<K, T>, at: Combination<K>, first: usize) {
        if self.has_paths() { path.begin(self.kernel(), at, first) } else { path.jump(at) }
    }

    /// A path comes to a knob; returns whether products had to be computed.
    pub(crate) fn enter(&self, path: &mut Path<K, T>, knob: usize) -> bool {
        self.has_paths() && path.enter(self.kernel(), knob)
    }

    /// A path takes a level of a knob.
    pub(crate) fn go(&self, path: &mut Path<K, T>, (knob, level): (usize, Level)) {
        if self.has_paths() {
            path.go(self.kernel(), (knob, level));
        } else {
            path.jump(path.at().with(knob, level));
        }
    }

    /// The posterior mean of observation i without its covariances: what K⁻¹ leaves of its cost.
    ///
    /// C·w = (K − noise)·w = y − μ − noise·w with w = K⁻¹(y − μ).
    pub(crate) fn measured_mean(&self, i: usize) -> Option<f32> {
        let cost = self.observations.cost(i)?;
        let noise = self.noise_of(i);
        Some(self.modelled(cost) - noise * self.gp.weight(i))
    }

    /// The noise of observation i, as a share of the signal.
    fn noise_of(&self, i: usize) -> f32 {
        self.noise.used.of_mean(self.observations.repeats(i)) - self.noise.used.residual
    }

    /// Whether observation i was measured and keeps all limits, as far as the model believes its
    /// margins.
    pub(crate) fn is_believed_to_keep(&self, i: usize) -> bool {
        G == 0 || !self.limits.is_used() || {
            let noise = if self.noise.used.is_noisy() { self.noise_of(i) } else { 0.0 };
            self.limits.is_believed_to_keep(i, noise)
        }
    }

    /// The position of the best measured observation that keeps all limits.
    pub(crate) fn best(&self) -> Option<usize> {
        let mut ranked = self.observations.by_cost();
        if G == 0 { ranked.next() } else { ranked.find(|i| self.limits.keeps(*i)) }
    }

    /// The position of the worst observation: the oldest failure, else the largest cost, of those that
    /// break a limit if there are any.
    pub(crate) fn worst(&self) -> usize {
        let breaks = |i: &usize| self.failures() == 0 && !self.limits.keeps(*i);
        let breaking = if G == 0 { None } else { self.observations.by_cost().rev().find(breaks) };
        breaking.unwrap_or_else(|| self.observations.worst())
    }

    /// The posterior of observation i: its variance is noise − noise²·(K⁻¹)ᵢᵢ.
    pub(crate) fn measured(&self, i: usize) -> Option<Posterior> {
        let noise = self.noise_of(i);
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

#[cfg(test)]
mod tests;
