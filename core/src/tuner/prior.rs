//! Starting with what earlier boards taught.
//!
//! **Choices**
//! - The combination with the fleet's lowest mean is queued, so it is asked first; then the model
//!   chooses at once, without random combinations.
//! - Under a prior candidates are scored by expected improvement: the weight of UCB was chosen for
//!   models that know nothing.
//! - After the prior is given up come as many random combinations as a tuner without one begins with:
//!   what was measured so far lies around the optimum of another board.

use super::{Tuner, limited};
use crate::acquire::acquisition::Rule;
use crate::config::{Config, Settings};
use crate::error::InitError;
use crate::space::Space;
use crate::surrogate::fleet::PriorState;
use crate::surrogate::fleet_prior::{FleetPrior, NUMBERS};

impl<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
    const N: usize,
    const G: usize,
    const A: usize,
    S: Settings,
> Tuner<K, M, D, T, L, P, N, G, A, S>
{
    /// [`init`](Self::init) with what earlier boards taught. The prior must be of the same knobs in
    /// the same order, and of the same goal. The tuner needs room for it: `tuner!` with `prior`.
    ///
    /// ```
    /// use trimtab::{Config, FleetPrior, InitError, Knob, Space};
    /// const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// type MyTuner = trimtab::tuner!(KNOBS, observations: 32, rows: 64, prior);
    /// fn start(tuner: &mut MyTuner, prior: &FleetPrior) -> Result<(), trimtab::Error> {
    ///     tuner.init_with_prior(Space::new(&KNOBS)?, Config::default(), prior, 1)?;
    ///     let first = tuner.ask()?; // the best of the fleet
    ///     Ok(())
    /// }
    /// ```
    pub fn init_with_prior(
        &mut self,
        space: Space<K>,
        config: Config,
        prior: &FleetPrior,
        seed: u64,
    ) -> Result<(), InitError> {
        const { assert!(N >= NUMBERS && D == 0, "a tuner with a prior needs room for it: `tuner!(…, prior)`") };
        if !prior.is_for(space.knobs()) || prior.goal() != config.goal {
            return Err(InitError::OtherFleet);
        }
        // A prior's fingerprint does not know when a knob matters.
        if !space.conditions().is_empty() {
            return Err(InitError::Conditions);
        }
        self.init(space, config, seed)?;
        self.use_prior(prior);
        Ok(())
    }

    /// Forgets all outcomes: space, configuration, seed and prior stay.
    ///
    /// ```
    /// # use trimtab::{Config, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let first = tuner.ask()?;
    /// tuner.tell(&first.combination, 1.0)?;
    /// tuner.restart();
    /// assert_eq!(tuner.ask()?, first);
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn restart(&mut self) {
        let prior = self.prior();
        // The same arguments were accepted before.
        let _ = self.init(self.space.clone(), *self.config, self.seed);
        if let Some(prior) = prior {
            self.use_prior(&prior);
        }
    }

    /// Puts a prior of this space in force, before any outcome.
    fn use_prior(&mut self, prior: &FleetPrior) {
        self.model.adopt(&self.config, *prior);
        let best = prior.best::<K>(self.space.knobs());
        let levels = best.get(..self.space.knobs().len()).unwrap_or_default();
        // Without the best the search begins with a random combination.
        if let Ok(best) = self.space.combination(levels) {
            let _ = self.enqueue(&best);
        }
    }

    /// Whether the tuner has a prior, and whether it still uses it.
    ///
    /// ```
    /// # use trimtab::{Config, Knob, PriorState, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// assert_eq!(tuner.prior_state(), PriorState::None);
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn prior_state(&self) -> PriorState {
        self.model.fleet.state()
    }

    /// The prior that the tuner was initialised with.
    pub fn prior(&self) -> Option<FleetPrior> {
        self.model.fleet.prior()
    }

    /// Observations that the model needs before it chooses.
    pub(super) fn needed_observations(&self) -> usize {
        let initial = usize::from(self.config.initial.max(1));
        match self.model.fleet.state() {
            PriorState::None => initial,
            PriorState::InForce => 1,
            PriorState::GivenUp { after } => {
                (usize::from(after) + initial).min(limited(self.config.observations, T)).max(1)
            }
        }
    }

    /// The rule that scores candidates.
    pub(super) fn rule(&self) -> Rule {
        if self.model.fleet.in_force().is_some() || self.model.limits.is_used() {
            return Rule::ExpectedImprovement { best: self.search.incumbent };
        }
        self.config.acquisition.prepare(self.len(), self.log_cardinality(), self.search.incumbent)
    }
}
