//! What the model does with a new outcome, in small steps.
//!
//! Algorithm 1, line 4: estimate a surrogate from the observations.
//!
//! ```text
//!  no fit due                                          rows → costs → (weights) → (limits) → (failures)
//!  fit of the product kernel, per sweep:   rows → costs → weights → columns of K⁻¹ → one step
//!      then, per hypothesis of the noise:  rows → costs → evidence
//!      then                                            rows → costs → (weights) → (limits) → (failures)
//! ```
//!
//! **Choices**
//! - A step is one row of a factor or one substitution, some 10 000 instructions at 64 observations,
//!   so a tell can be cut into slices beside a control loop. One go is all steps in a row: the same
//!   bits.
//! - Under a random map, the fit is one step.
//!
//! **Cost.** O(t²) per step. 6K + T numbers.

use super::{Inputs, LEAST_FIT, Model};
use crate::config::{Config, Noise};
use crate::space::{Combination, Space};
use crate::surrogate::gp::{Partial, Posterior};
use crate::surrogate::noise::Hypothesis;
use crate::surrogate::observations::Point;
use crate::surrogate::relevance::PairSums;

/// How many standard deviations from the mean a cost is far.
const FAR: f32 = 8.0;

/// Pairs per step where knobs are graded, each with some 60 instructions per graded knob and 230 per
/// range; and where none is.
const GRADED_PAIRS: usize = 8;
const PAIRS: usize = 32;

/// What the current factor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    Posteriors,
    /// A step of the kernel's numbers; so many more follow.
    Slopes {
        more: u8,
    },
    /// The evidence of a hypothesis.
    Evidence,
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Done,
    Rows,
    Costs,
    Ones,
    /// Whether the costs speak against a prior.
    Doubts,
    GiveUp,
    Weights,
    HalfColumn,
    Column,
    Pairs,
    Tables,
    Limits,
    Judge,
    Failures,
}

/// Learning under way.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Learning<const K: usize, const T: usize> {
    goal: Goal,
    part: Part,
    hypothesis: Hypothesis,
    /// The current column of K⁻¹, or the similarities of an observation; between fits, the covariances
    /// of a prediction in two steps.
    j: usize,
    /// The next pair of the column, or the next level of the kernel's tables.
    next: usize,
    /// The prior variance of that prediction.
    pub(super) own: f32,
    pub(super) column: [f32; T],
    sums: PairSums<K>,
}

impl<const K: usize, const T: usize> Learning<K, T> {
    pub(crate) const NONE: Self = Self {
        goal: Goal::Posteriors,
        part: Part::Done,
        hypothesis: Hypothesis { residual: 0.0, noise: 0.0 },
        j: 0,
        next: 0,
        column: [0.0; T],
        own: 0.0,
        sums: PairSums::ZERO,
    };
}

impl<const K: usize, const M: usize, const D: usize, const T: usize, const P: usize, const N: usize, const G: usize>
    Model<K, M, D, T, P, N, G>
{
    /// Begins to bring the process up to date with the observations, of which those before
    /// `unchanged` are as they were.
    pub(crate) fn begin_learning(&mut self, space: &Space<K>, config: &Config, unchanged: usize) {
        self.fleet.forget_visit();
        let (n, measurements) = (self.observations.len(), self.measurements());
        let fits = n >= LEAST_FIT && self.fits_at(config, measurements);
        // Under a prior few measurements are made, and each is worth new candidates.
        let is_young = n <= LEAST_FIT || config.refit == 0 || self.fleet.in_force().is_some();
        let is_anew = unchanged < self.gp.len() || fits || is_young || self.is_far(config);
        self.gp.truncate(unchanged);
        if is_anew {
            self.factors = self.factors.wrapping_add(1);
            self.standardise(config);
        }
        let mut goal = Goal::Posteriors;
        if fits {
            self.next_fit = measurements + measurements.checked_div(usize::from(config.refit)).unwrap_or(0).max(1);
            if D > 0 {
                self.fit_matern(space, config);
            } else if let Some(more) = config.fit.sweeps.checked_sub(1) {
                goal = Goal::Slopes { more };
            } else {
                goal = self.weigh_noise(config);
            }
        }
        (self.learning.goal, self.learning.part) = (goal, Part::Rows);
    }

    /// Whether the last cost is so far from those before it that they must be standardised anew.
    fn is_far(&self, config: &Config) -> bool {
        let standardises = config.standardise && self.fleet.in_force().is_none();
        let last = self.observations.cost(self.observations.len().saturating_sub(1));
        last.is_some_and(|cost| standardises && self.standard.apply(cost).abs() > FAR)
    }

    /// The first step of a prediction: covariances. Under a prior these are several steps: returns
    /// whether to call it again before the second.
    pub(crate) fn begin_prediction(&mut self, space: &Space<K>, c: &Combination<K>) -> bool {
        if self.fleet.in_force().is_some() {
            return self.visit(space, c);
        }
        let Self { geometry, observations, product, hyper, gp, learning, .. } = self;
        let inputs = Inputs { space, geometry, observations, product, hyper };
        let x = geometry.locate(space, c);
        let row = learning.column.get_mut(..gp.len()).unwrap_or_default();
        learning.own = inputs.all(Point { combination: c, x: &x }, 0, row);
        false
    }

    /// The second step, with the bits of [`posterior`](Self::posterior).
    pub(crate) fn end_prediction(&mut self) -> Posterior {
        let mut partial = Partial::new(self.learning.own);
        self.gp.absorb(&mut self.learning.column, &mut partial, f32::NEG_INFINITY);
        let posterior = self.gp.finish(&partial);
        self.fleet.forget_visit();
        Posterior { mean: posterior.mean + self.predicted_offset(), ..posterior }
    }

    /// The second step for limits: ln of the chance to keep all of them.
    pub(crate) fn end_log_chance(&mut self) -> f32 {
        self.fleet.forget_visit();
        let Self { gp, limits, learning, .. } = self;
        let mut partial = Partial::new(learning.own);
        gp.absorb(&mut learning.column, &mut partial, f32::NEG_INFINITY);
        limits.log_chance(learning.column.get(..gp.len()).unwrap_or_default(), partial.ones(), gp.share(&partial))
    }

    /// ln of the chance of a combination to keep all limits: both steps, for a caller that changes
    /// nothing.
    pub(crate) fn log_chance(&self, space: &Space<K>, c: &Combination<K>) -> f32 {
        if G == 0 || !self.limits.is_used() {
            return 0.0;
        }
        let mut v = [0.0; T];
        let own = self.prediction(space, c, v.get_mut(..self.gp.len()).unwrap_or_default());
        let mut partial = Partial::new(own);
        self.gp.absorb(&mut v, &mut partial, f32::NEG_INFINITY);
        self.limits.log_chance(v.get(..self.gp.len()).unwrap_or_default(), partial.ones(), self.gp.share(&partial))
    }

    /// The predicted margins of what was predicted last, for the i-th observation, which is imagined.
    pub(super) fn imagine_margins(&mut self, i: usize) {
        if G > 0 && self.limits.is_used() {
            let Self { gp, limits, learning, .. } = self;
            let v = learning.column.get(..gp.len()).unwrap_or_default();
            limits.imagine(i, v, gp.sum(v));
        }
    }

    /// Keeps some covariances of a prediction, and its prior variance, for the second step.
    pub(super) fn keep_covariances(&mut self, from: usize, some: &[f32], own: f32) {
        self.learning.column.iter_mut().skip(from).zip(some).for_each(|(kept, k)| *kept = *k);
        self.learning.own = own;
    }

    /// Writes the covariances that were kept; returns the prior variance.
    pub(super) fn kept_covariances(&self, row: &mut [f32]) -> f32 {
        row.iter_mut().zip(&self.learning.column).for_each(|(k, kept)| *k = *kept);
        self.learning.own
    }

    /// Whether something is still to be learned.
    pub(crate) fn is_learning(&self) -> bool {
        self.learning.part != Part::Done
    }

    /// One step; does nothing if nothing is left.
    #[inline(never)]
    pub(crate) fn learn(&mut self, space: &Space<K>, config: &Config) {
        let Learning { goal, part, .. } = self.learning;
        self.learning.part = match part {
            Part::Rows => self.add_row(space),
            Part::Costs => {
                self.whiten_costs();
                Part::Ones
            }
            Part::Ones => {
                self.gp.whiten_ones();
                let next = self.assess(config);
                if self.fleet.in_force().is_some() { Part::Doubts } else { next }
            }
            Part::Doubts if N > 0 => {
                if self.doubts() {
                    Part::GiveUp
                } else {
                    self.after_costs()
                }
            }
            Part::GiveUp if N > 0 => {
                self.give_up(space, config);
                return;
            }
            Part::Weights if self.gp.weigh_step() => Part::Weights,
            Part::Weights if goal == Goal::Posteriors => self.begin_limits(),
            Part::Weights => {
                (self.learning.j, self.learning.sums) = (0, PairSums::ZERO);
                Part::HalfColumn
            }
            Part::HalfColumn => {
                self.gp.half_column(self.learning.j, &mut self.learning.column);
                Part::Column
            }
            Part::Column => {
                self.gp.whole_column(self.learning.j, &mut self.learning.column);
                self.learning.next = self.learning.j;
                Part::Pairs
            }
            Part::Pairs => self.add_pairs(config),
            Part::Tables if M > 0 && self.product.derive_tables(&mut self.learning.next) => Part::Tables,
            Part::Tables => Part::Rows,
            Part::Limits => self.learn_limit(config),
            Part::Judge => self.judge_last(space),
            Part::Failures => self.learn_failure(space),
            Part::Doubts | Part::GiveUp | Part::Done => Part::Done,
        };
    }

    /// One more row of the factor.
    fn add_row(&mut self, space: &Space<K>) -> Part {
        let n = self.observations.len();
        if self.learning.goal != Goal::Evidence {
            return if self.extend(space, n) { Part::Rows } else { Part::Costs };
        }
        let Self { geometry, observations, product, hyper, gp, learning, .. } = self;
        let inputs = Inputs { space, geometry, observations, product, hyper };
        if gp.len() >= n {
            return Part::Costs;
        }
        if inputs.extend(gp, &learning.hypothesis, None).is_err() {
            self.noise.report(f32::NEG_INFINITY, 0.0);
            self.learning.goal = self.next_hypothesis();
        }
        Part::Rows
    }

    /// Mean, signal and evidence of the current factor, and what comes next.
    fn assess(&mut self, config: &Config) -> Part {
        let noise = if self.learning.goal == Goal::Evidence { self.learning.hypothesis } else { self.noise.used };
        self.gp.assess(&self.belief(config), self.repeats(config, &noise));
        match self.learning.goal {
            Goal::Slopes { .. } => Part::Weights,
            Goal::Posteriors => self.after_costs(),
            Goal::Evidence => {
                self.noise.report(self.gp.log_likelihood(), self.gp.signal());
                self.learning.goal = self.next_hypothesis();
                Part::Rows
            }
        }
    }

    /// What comes after the costs of the last factor.
    fn after_costs(&mut self) -> Part {
        if self.needs_weights() { Part::Weights } else { self.begin_limits() }
    }

    /// One limit after the other, if there are any.
    fn begin_limits(&mut self) -> Part {
        (self.learning.j, self.learning.next) = (0, 0);
        if G > 0 && self.limits.is_used() { Part::Limits } else { self.begin_failures() }
    }

    /// One step of the margins to one limit.
    fn learn_limit(&mut self, config: &Config) -> Part {
        let (prior, needs_weights) = (self.belief(config), self.noise.used.is_noisy());
        let Self { observations, limits, learning, gp, .. } = self;
        let is_measured = |i: usize| observations.cost(i).is_some();
        let Learning { j, next, column, .. } = learning;
        if limits.learn((*j, *next), (gp, &prior), &is_measured, needs_weights, column) {
            *next += 1;
            return Part::Limits;
        }
        (*j, *next) = (*j + 1, 0);
        if *j < limits.count() { Part::Limits } else { self.begin_failures() }
    }

    /// A pass over all observations, if any failed.
    fn begin_failures(&mut self) -> Part {
        self.learning.j = 0;
        if self.failures() > 0 && self.success.calls().is_some() { Part::Judge } else { Part::Done }
    }

    /// How well the last outcome was foreseen.
    fn judge_last(&mut self, space: &Space<K>) -> Part {
        let is_failure = self.observations.is_failure(self.observations.len().saturating_sub(1));
        let failed = self.failures() - usize::from(is_failure);
        let Self { observations, success, learning, .. } = self;
        let all = observations.combinations().get(..observations.len()).unwrap_or_default();
        if let Some(calls) = success.calls() {
            (calls.judge)(success, space, all, (failed, is_failure), &mut learning.column);
        }
        Part::Failures
    }

    /// What one observation says about success.
    fn learn_failure(&mut self, space: &Space<K>) -> Part {
        let Self { observations, success, learning, .. } = self;
        let Some(calls) = success.calls().filter(|_| learning.j < observations.len()) else { return Part::Done };
        let all = observations.combinations().get(..observations.len()).unwrap_or_default();
        (calls.learn)(success, space, all, (learning.j, observations.is_failure(learning.j)), &mut learning.column);
        learning.j += 1;
        Part::Failures
    }

    /// The slopes of one column, or of some pairs of it with graded knobs; after the last, a step of
    /// the kernel's numbers.
    fn add_pairs(&mut self, config: &Config) -> Part {
        let Self { product, observations, gp, learning, .. } = self;
        let Learning { j, next, column, sums, .. } = learning;
        let end = *next + if M > 0 { GRADED_PAIRS } else { PAIRS };
        sums.add_column((product, observations.combinations()), gp, (*j, *next..end), column);
        *next = end;
        if end < gp.len() {
            return Part::Pairs;
        }
        *j += 1;
        if *j < gp.len() {
            return Part::HalfColumn;
        }
        product.climb(sums);
        *next = 0;
        gp.clear();
        self.learning.goal = match self.learning.goal {
            Goal::Slopes { more: more @ 1.. } => Goal::Slopes { more: more - 1 },
            _ => self.weigh_noise(config),
        };
        if M > 0 { Part::Tables } else { Part::Rows }
    }

    /// After the kernel's numbers come the hypotheses of the noise, if they are due.
    fn weigh_noise(&mut self, config: &Config) -> Goal {
        if let Noise::Given(std_dev) = config.noise {
            let noise = self.known_noise(std_dev);
            self.noise.set(noise);
            self.gp.clear();
            return Goal::Posteriors;
        }
        self.noise.begin(&config.noise, self.seen());
        self.next_hypothesis()
    }

    /// Goes on to the next hypothesis, or to posteriors with the best.
    fn next_hypothesis(&mut self) -> Goal {
        if let Some(hypothesis) = self.noise.next() {
            self.learning.hypothesis = hypothesis;
            self.gp.clear();
            return Goal::Evidence;
        }
        if !self.noise.end() {
            self.gp.clear();
        }
        Goal::Posteriors
    }
}
