//! The model of a board of a known fleet: what differs from the fleet's mean, with the fleet's factors
//! in the kernel.
//!
//! **Choices**
//! - A tuner without room for a prior (N = 0) has neither its code nor its numbers: every question here
//!   is answered at compile time.
//! - Mean, factors and coordinates of an observation are computed when its row joins the factor, and
//!   kept: N numbers each.
//! - Under a prior nothing is fitted. Costs are standardised as the fleet's were, and the signal
//!   variance is part of the prior.
//! - A board unlike the fleet is noticed by its likelihood: once the prior explains its costs far worse
//!   than mere numbers of the fleet's spread, it is given up for good, and the model is that of a tuner
//!   without one, with all observations.
//! - Every observation brings new candidates, so a cache has nothing to keep and is bypassed.
//!
//! **Cost.** 4N bytes per observation.

use super::{Inputs, LEAST_FIT, Model};
use crate::config::{Config, Noise, Prior};
use crate::math::float::ln;
use crate::space::{Combination, Space};
use crate::surrogate::costs::Standard;
use crate::surrogate::fleet_prior::{FleetPrior, NUMBERS};
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

#[derive(Clone, Copy, Debug)]
struct State {
    prior: Option<FleetPrior>,
    state: PriorState,
    /// The mean at the combination that a prediction in two steps is for.
    offset: f32,
}

impl State {
    const NONE: Self = Self { prior: None, state: PriorState::None, offset: 0.0 };
}

/// The prior, and N numbers per observation.
#[derive(Clone, Debug)]
pub(crate) struct Fleet<const T: usize, const N: usize> {
    /// The first one; an array takes no room where N is 0.
    state: [State; N],
    places: [[f32; N]; T],
}

impl<const T: usize, const N: usize> Fleet<T, N> {
    pub(crate) const NONE: Self = Self { state: [State::NONE; N], places: [[0.0; N]; T] };

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

    fn place(&self, i: usize) -> &[f32] {
        self.places.get(i).map_or(&[], |place| place)
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
        let [cap, centre, unit] = prior.scale();
        self.standard = Standard::fixed(cap, centre, unit);
        let noise = match config.noise {
            Noise::Auto => prior.noise(),
            Noise::None => 0.0,
            Noise::Given(std_dev) => {
                let share = self.standard.apply_difference(std_dev);
                share * share
            }
        };
        self.noise = Belief::START;
        self.noise.used = Hypothesis { residual: prior.nugget(), noise };
        self.noise.noisy = if noise > 0.0 { 1.0 } else { 0.0 };
        let own = State { prior: Some(prior), state: PriorState::InForce, offset: 0.0 };
        self.fleet.state.iter_mut().take(1).for_each(|state| *state = own);
    }

    /// Belief about mean and signal variance: a prior in force has its own.
    pub(crate) fn belief(&self, config: &Config) -> Prior {
        if self.fleet.in_force().is_some() { Prior::FIXED } else { config.prior }
    }

    /// Computes the numbers of the observation that joins the factor next.
    pub(crate) fn place_next(&mut self, space: &Space<K>) {
        let i = self.gp.len();
        let Some(prior) = self.fleet.in_force().filter(|_| !self.gp.is_written()) else { return };
        let Some(c) = self.observations.combinations().get(i) else { return };
        let place = prior.locate(&self.product, space, c);
        if let Some(own) = self.fleet.places.get_mut(i) {
            own.iter_mut().zip(place).for_each(|(own, number)| *own = number);
        }
    }

    /// Writes the covariances of a combination with the observations; returns its own.
    fn fleet_row(&self, prior: FleetPrior, (c, place): (&Combination<K>, &[f32; NUMBERS]), row: &mut [f32]) -> f32 {
        let others = self.observations.combinations().iter().enumerate();
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
        let write = |row: &mut [f32]| self.fleet_row(prior, (c, &place), row);
        let posterior = self.gp.posterior_above(write, |rest| needed(mean + rest), most)?;
        Some(Posterior::new(mean + posterior.mean, posterior.variance))
    }

    /// Writes the covariances of a combination with the observations, under a prior or without one;
    /// returns its own.
    pub(crate) fn prediction(&self, space: &Space<K>, c: &Combination<K>, row: &mut [f32]) -> f32 {
        if let Some(prior) = self.fleet.in_force() {
            return self.fleet_row(prior, (c, &prior.locate(&self.product, space, c)), row);
        }
        let x = self.geometry.locate(space, c);
        self.inputs(space).all(Point { combination: c, x: &x }, 0, row)
    }

    /// The first step of a prediction: covariances into `column`; returns its own variance.
    pub(crate) fn begin_fleet_prediction(&mut self, prior: FleetPrior, space: &Space<K>, c: &Combination<K>) {
        let place = prior.locate(&self.product, space, c);
        let mut column = [0.0; T];
        let own = self.fleet_row(prior, (c, &place), column.get_mut(..self.gp.len()).unwrap_or_default());
        self.keep_prediction(&column, own);
        let [mean, ..] = place;
        self.fleet.state.iter_mut().take(1).for_each(|state| state.offset = mean);
    }

    /// What the fleet's mean adds to that prediction.
    pub(crate) fn predicted_offset(&self) -> f32 {
        if self.fleet.in_force().is_none() {
            return 0.0;
        }
        self.fleet.state.first().map_or(0.0, |state| state.offset)
    }

    /// Whether the costs speak against the prior.
    pub(crate) fn doubts(&self) -> bool {
        if self.fleet.in_force().is_none() {
            return false;
        }
        let (mut broad, mut count) = (0.0, 0.0);
        for cost in self.observations.costs().flatten() {
            let y = self.standard.apply(cost);
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

impl<const K: usize, const M: usize, const D: usize, const T: usize, const N: usize> Inputs<'_, K, M, D, T, N> {
    /// The row of the factor of observation i under a prior in force, without noise; false if there is
    /// none.
    #[inline(always)]
    pub(crate) fn fleet_factor_row(&self, i: usize, row: &mut [f32]) -> bool {
        let Some(prior) = self.fleet.in_force() else { return false };
        let all = self.observations.combinations();
        let Some(own) = all.get(i) else { return true };
        for (j, (k, other)) in row.iter_mut().zip(all).enumerate() {
            *k = prior.covariance(self.product, (own, self.fleet.place(i)), (other, self.fleet.place(j)));
        }
        true
    }
}

/// ln 2π.
const LN_2_PI: f32 = 1.837_877;
