//! The model of a board of a known fleet: what differs from the fleet's mean, with the fleet's factors
//! in the kernel.
//!
//! **Choices**
//! - A tuner without room for a prior (N = 0) has neither its code nor its numbers: every question here
//!   is answered at compile time.
//! - Mean, factors and coordinates of an observation are computed when its row joins the factor, and
//!   kept: N numbers each.
//! - Under a prior nothing is fitted. Costs are bent and standardised as the fleet's were, and the signal
//!   variance is part of the prior.
//! - A board unlike the fleet is noticed by its likelihood: once the prior explains its costs far worse
//!   than mere numbers of the fleet's spread, it is given up for good, and the model is that of a tuner
//!   without one, with all observations.
//! - Every observation brings new candidates, so a cache has nothing to keep and is bypassed.
//! - Comparing a combination with all pseudo-points and observations takes longer than a slice may, so
//!   it is done a few at a time, into the [`Visit`] under way and the column of a prediction.
//!
//! **Cost.** 4N bytes per observation, and N numbers once.

use core::ops::Range;

use super::{LEAST_FIT, Model};
use crate::config::{Config, Noise, Prior};
use crate::math::float::ln;
use crate::space::{Combination, Space};
use crate::surrogate::costs::Standard;
use crate::surrogate::fleet_prior::{FleetPrior, NUMBERS, POINTS_PER_STEP};
use crate::surrogate::gp::Posterior;
use crate::surrogate::noise::{Belief, Hypothesis};
use crate::surrogate::observations::Point;

/// The variance of costs that are mere numbers, in standardised units: somewhat more than the fleet's.
const BROAD: f32 = 2.0;
/// How much worse the prior's log likelihood may be.
const DOUBT: f32 = 20.0;

/// Whether a tuner has a prior, see [`Tuner::prior`](crate::Tuner::prior).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum PriorState {
    /// It was initialised without one.
    None,
    /// The model uses it.
    InForce,
    /// The board is unlike the fleet: it was given up after this many observations.
    GivenUp {
        /// Number of observations then.
        after: u16,
    },
}

/// How far a combination is compared with the fleet and the observations.
#[derive(Clone, Copy, Debug)]
struct Visit {
    /// Steps that are done, and whether they located it.
    steps: u16,
    is_located: bool,
    /// Covariances with observations that are known, and whether those are all.
    known: u16,
    is_done: bool,
}

impl Visit {
    const NONE: Self = Self { steps: 0, is_located: false, known: 0, is_done: false };
}

#[derive(Clone, Copy, Debug)]
struct State {
    prior: Option<FleetPrior>,
    state: PriorState,
    visit: Visit,
}

impl State {
    const NONE: Self = Self { prior: None, state: PriorState::None, visit: Visit::NONE };
}

/// The prior, and N numbers per observation.
#[derive(Clone, Debug)]
pub(crate) struct Fleet<const T: usize, const N: usize> {
    /// The first one; an array takes no room where N is 0.
    state: [State; N],
    /// The place of what is visited.
    visited: [f32; N],
    places: [[f32; N]; T],
}

impl<const T: usize, const N: usize> Fleet<T, N> {
    pub(crate) const NONE: Self = Self { state: [State::NONE; N], visited: [0.0; N], places: [[0.0; N]; T] };

    pub(crate) fn clear(&mut self) {
        self.state.iter_mut().take(1).for_each(|own| *own = State::NONE);
    }

    /// The prior in force.
    #[inline(always)]
    pub(crate) fn in_force(&self) -> Option<FleetPrior> {
        self.state.first().filter(|own| own.state == PriorState::InForce).and_then(|own| own.prior)
    }

    /// The prior, in force or not.
    pub(crate) fn prior(&self) -> Option<FleetPrior> {
        self.state.first().and_then(|own| own.prior)
    }

    pub(crate) fn state(&self) -> PriorState {
        self.state.first().map_or(PriorState::None, |own| own.state)
    }

    /// Ends a visit under way: what it is compared with may change.
    #[inline(always)]
    pub(crate) fn forget_visit(&mut self) {
        self.state.iter_mut().take(1).for_each(|own| own.visit = Visit::NONE);
    }

    /// Whether a visit is under way or done.
    #[inline(always)]
    pub(crate) fn is_visiting(&self) -> bool {
        self.state.first().is_some_and(|own| own.visit.steps > 0)
    }

    fn place(&self, i: usize) -> &[f32] {
        self.places.get(i).map_or(&[], |place| place)
    }

    /// A standardised cost as the prior in force bends it.
    #[inline(always)]
    pub(crate) fn bent(&self, z: f32) -> f32 {
        self.in_force().map_or(z, |prior| prior.bent(z))
    }

    /// The fleet's mean at observation i, or 0 without a prior in force.
    #[inline(always)]
    pub(crate) fn mean(&self, i: usize) -> f32 {
        if self.in_force().is_none() {
            return 0.0;
        }
        self.place(i).first().copied().unwrap_or(0.0)
    }
}

impl<const K: usize, const M: usize, const D: usize, const T: usize, const P: usize, const N: usize, const G: usize>
    Model<K, M, D, T, P, N, G>
{
    /// Puts a prior in force, before any observation.
    pub(crate) fn adopt(&mut self, config: &Config, prior: FleetPrior) {
        let (low, reach) = prior.scale();
        self.standard = Standard::fixed(f32::INFINITY, low, reach);
        let noise = match config.noise {
            Noise::Auto => prior.noise(),
            Noise::None => 0.0,
            Noise::Given(std_dev) => {
                let share = self.standard.apply_difference(std_dev) / prior.unit();
                share * share
            }
        };
        self.noise = Belief::START;
        self.noise.used = Hypothesis { residual: prior.nugget(), noise };
        self.noise.noisy = if noise > 0.0 { 1.0 } else { 0.0 };
        let own = State { prior: Some(prior), state: PriorState::InForce, visit: Visit::NONE };
        self.fleet.state.iter_mut().take(1).for_each(|state| *state = own);
    }

    /// A cost as the model sees it.
    #[inline(always)]
    pub(crate) fn modelled(&self, cost: f32) -> f32 {
        self.fleet.bent(self.standard.apply(cost))
    }

    /// A cost that the model sees in the user's units, and one of its units there.
    #[inline(always)]
    pub(crate) fn unmodelled(&self, y: f32) -> (f32, f32) {
        match self.fleet.in_force() {
            Some(prior) => {
                let (z, slope) = prior.unbent(y);
                (self.standard.undo(z), slope * self.standard.deviation())
            }
            None => (self.standard.undo(y), self.standard.deviation()),
        }
    }

    /// The model's unit where costs are low, in the user's units.
    #[inline(always)]
    pub(crate) fn low_unit(&self) -> f32 {
        let deviation = self.standard.deviation();
        self.fleet.in_force().map_or(deviation, |prior| prior.unit() * deviation)
    }

    /// A difference of low costs as the model sees it.
    #[inline(always)]
    pub(crate) fn modelled_difference(&self, difference: f32) -> f32 {
        let standardised = self.standard.apply_difference(difference);
        self.fleet.in_force().map_or(standardised, |prior| standardised / prior.unit())
    }

    /// Belief about mean and signal variance: a prior in force has its own.
    pub(crate) fn belief(&self, config: &Config) -> Prior {
        if self.fleet.in_force().is_some() { Prior::FIXED } else { config.prior }
    }

    /// One step of comparing a combination with the fleet, then with the observations in the factor;
    /// returns whether there was one to do. Without a prior in force there is none. Afterwards its
    /// covariances are in the column of a prediction, until it is used or something else is begun.
    #[inline(always)]
    pub(crate) fn visit(&mut self, space: &Space<K>, c: &Combination<K>) -> bool {
        match self.fleet.in_force() {
            Some(prior) => self.visit_step(prior, space, c),
            None => false,
        }
    }

    #[inline(never)]
    fn visit_step(&mut self, prior: FleetPrior, space: &Space<K>, c: &Combination<K>) -> bool {
        let n = self.gp.len();
        let Some(mut visit) = self.fleet.state.first().map(|own| own.visit) else { return false };
        if visit.is_done {
            return false;
        }
        let mut place = [0.0; NUMBERS];
        place.iter_mut().zip(&self.fleet.visited).for_each(|(number, known)| *number = *known);
        if !visit.is_located {
            let step = usize::from(visit.steps);
            visit.is_located = !prior.locate_step(&self.product, space, c, step, &mut place);
            visit.steps += 1;
            self.fleet.visited.iter_mut().zip(place).for_each(|(known, number)| *known = number);
        } else {
            let known = usize::from(visit.known);
            let end = (known + POINTS_PER_STEP).min(n);
            let mut some = [0.0; POINTS_PER_STEP];
            let own = self.fleet_row(prior, (c, &place), known..end, &mut some);
            self.keep_covariances(known, some.get(..end - known).unwrap_or_default(), own);
            (visit.known, visit.is_done) = (end as u16, end == n);
        }
        self.fleet.state.iter_mut().take(1).for_each(|own| own.visit = visit);
        true
    }

    /// The one step of a visit after the prior was given up: covariances take as long as the rest, and
    /// such a tuner is to keep the promise of its slices. `write` writes them and returns the
    /// combination's own. Returns whether there was one to do.
    #[inline(always)]
    pub(crate) fn visit_alone(&mut self, write: impl FnOnce(&Self, &mut [f32]) -> f32) -> bool {
        if !matches!(self.fleet.state(), PriorState::GivenUp { .. }) || self.fleet.is_visiting() {
            return false;
        }
        let mut column = [0.0; T];
        let own = write(self, column.get_mut(..self.gp.len()).unwrap_or_default());
        self.keep_covariances(0, &column, own);
        let visit = Visit { steps: 1, is_done: true, ..Visit::NONE };
        self.fleet.state.iter_mut().take(1).for_each(|state| state.visit = visit);
        true
    }

    /// Whether candidates are scored after a visit: they are with a prior, in force or given up.
    #[inline(always)]
    pub(crate) fn has_visits(&self) -> bool {
        self.fleet.state() != PriorState::None
    }

    /// One step of visiting the observation that joins the factor next; returns whether there was one.
    #[inline(always)]
    pub(crate) fn visit_next(&mut self, space: &Space<K>) -> bool {
        if self.fleet.in_force().is_none() || self.gp.is_written() {
            return false;
        }
        let i = self.gp.len();
        let Some(c) = self.observations.combinations().get(i).copied() else { return false };
        if self.visit(space, &c) {
            return true;
        }
        let Fleet { places, visited, .. } = &mut self.fleet;
        if let Some(own) = places.get_mut(i) {
            own.iter_mut().zip(visited).for_each(|(own, number)| *own = *number);
        }
        false
    }

    /// Writes the covariances of a combination with some observations; returns its own.
    fn fleet_row(
        &self,
        prior: FleetPrior,
        (c, place): (&Combination<K>, &[f32; NUMBERS]),
        some: Range<usize>,
        row: &mut [f32],
    ) -> f32 {
        let others = self.observations.combinations().iter().enumerate().take(some.end).skip(some.start);
        for (k, (j, other)) in row.iter_mut().zip(others) {
            *k = prior.covariance(&self.product, (c, place), (other, self.fleet.place(j)));
        }
        prior.covariance(&self.product, (c, place), (c, place))
    }

    /// The posterior of a combination under the prior; see [`posterior`](Self::posterior).
    #[inline(never)]
    pub(crate) fn fleet_posterior(
        &self,
        prior: FleetPrior,
        space: &Space<K>,
        c: &Combination<K>,
        needed: &dyn Fn(f32) -> f32,
        most: &mut f32,
    ) -> Option<Posterior> {
        let place = prior.locate(&self.product, space, c);
        let [mean, ..] = place;
        let write = |row: &mut [f32]| self.fleet_row(prior, (c, &place), 0..row.len(), row);
        let posterior = self.gp.posterior_above(write, |rest| needed(mean + rest), most)?;
        Some(Posterior::new(mean + posterior.mean, posterior.variance))
    }

    /// Writes the covariances of a combination with the observations, under a prior or without one;
    /// returns its own.
    pub(crate) fn prediction(&self, space: &Space<K>, c: &Combination<K>, row: &mut [f32]) -> f32 {
        if let Some(prior) = self.fleet.in_force() {
            return self.fleet_row(prior, (c, &prior.locate(&self.product, space, c)), 0..row.len(), row);
        }
        let x = self.geometry.locate(space, c);
        self.inputs(space).all(Point { combination: c, x: &x }, 0, row)
    }

    /// The [posterior](Self::fleet_posterior) of a combination after its [visit](Self::visit), with the
    /// same bits. The visit is over.
    #[inline(never)]
    pub(crate) fn visited_posterior(&mut self, needed: &dyn Fn(f32) -> f32, most: &mut f32) -> Option<Posterior> {
        let mean = self.predicted_offset();
        self.fleet.forget_visit();
        let posterior = self.gp.posterior_above(|row| self.kept_covariances(row), |rest| needed(mean + rest), most)?;
        Some(Posterior::new(mean + posterior.mean, posterior.variance))
    }

    /// What the fleet's mean adds to the prediction of what was visited last.
    pub(crate) fn predicted_offset(&self) -> f32 {
        if self.fleet.in_force().is_none() {
            return 0.0;
        }
        self.fleet.visited.first().copied().unwrap_or(0.0)
    }

    /// Whether the costs speak against the prior.
    pub(crate) fn doubts(&self) -> bool {
        if self.fleet.in_force().is_none() {
            return false;
        }
        let (mut broad, mut count) = (0.0, 0.0);
        for cost in self.observations.costs().flatten() {
            let y = self.modelled(cost);
            broad -= 0.5 * (y * y * (1.0 / BROAD) + LN_2_PI + ln(BROAD));
            count += 1.0;
        }
        count > 0.0 && self.gp.log_likelihood() < broad - DOUBT
    }

    /// Gives the prior up: the model is that of a tuner without one.
    pub(crate) fn give_up(&mut self, space: &Space<K>, config: &Config) {
        let after = self.observations.len() as u16;
        self.fleet.state.iter_mut().take(1).for_each(|own| own.state = PriorState::GivenUp { after });
        self.noise = Belief::START;
        self.standard = Standard::NONE;
        self.gp.clear();
        self.next_fit = LEAST_FIT;
        self.begin_learning(space, config, 0);
    }
}

/// ln 2π.
const LN_2_PI: f32 = 1.837_877;
