//! Asking for the next combination: algorithm 1, lines 5 and 6.
//!
//! ```text
//!  queued               → predict
//!  initial              → draw → predict
//!  otherwise            → search → again → predict
//!  with some pending    → search, if the table is empty → fantasise → search → again → predict
//! ```
//!
//! **Choices**
//! - `ask_begin` starts an ask, and each step scores a candidate or does as much of something else;
//!   `ask` is all steps in a row.
//! - Pending combinations are fantasised until the search ends; meanwhile there are no predictions,
//!   so a user sees only those that depend on the observations alone.
//! - What was proposed is predicted anew: along the path of the search it was rounded otherwise, and
//!   pending combinations counted.
//!
//! **Cost.** At most L/2 candidates of O(t²), or L in a space that is its own table.

use super::draw::Draw;
use super::{Purpose, Tuner, limited};
use crate::acquire::cache::Cache;
use crate::acquire::sweep::Scored;
use crate::config::Settings;
use crate::error::AskError;
use crate::math::float::ln;
use crate::space::Combination;
use crate::surrogate::gp::Posterior;
use crate::tuner::proposal::{Estimate, Proposal};

/// What an ask does next.
#[derive(Clone, Debug)]
pub(super) enum Stage<const K: usize> {
    /// Nothing is being asked.
    None,
    /// Draws a combination, regardless of the model.
    Draw(Draw<K>),
    /// Searches the table; the last search decides.
    Search {
        is_last: bool,
    },
    /// Treats pending combinations as measured: this step of it.
    Fantasise(usize),
    /// Computes what fantasies have changed.
    Weigh,
    /// Compares what the search found with measuring one of the best again.
    Again,
    /// Proposes this combination: begins its prediction, then ends it.
    Predict(Combination<K>),
    Propose(Combination<K>),
}

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
    /// Proposes the next combination to measure. It stays pending until told or cancelled and is
    /// not proposed again meanwhile.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let (first, second) = (tuner.ask()?, tuner.ask()?);
    /// assert_ne!(first.combination, second.combination);
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn ask(&mut self) -> Result<Proposal<K>, AskError> {
        self.ask_begin()?;
        self.ask_on()
    }

    /// Takes all steps that are left.
    pub(super) fn ask_on(&mut self) -> Result<Proposal<K>, AskError> {
        loop {
            if let Some(proposal) = self.step(u16::MAX, None::<&mut Cache<D, T, 0>>)? {
                return Ok(proposal);
            }
        }
    }

    /// Whether an ask may meet pending combinations: not where only one can be, so that such a tuner
    /// does not link what they need.
    pub(super) const FANTASISES: bool = A > 1;

    /// Any combination that may be asked, regardless of the model.
    pub(super) fn draw(&self, purpose: Purpose) -> Result<Combination<K>, AskError> {
        let mut draw = Draw::new(&self.space, self.random(purpose));
        loop {
            let c = draw.next(&self.space)?;
            if self.is_open(&c) {
                return Ok(c);
            }
        }
    }

    /// [`ask`](Self::ask) that reuses the results in a cache: the same bits, in a fraction of the
    /// time.
    ///
    /// ```
    /// # use trimtab::{Config, Knob, Space};
    /// # const KNOBS: [Knob; 12] = [Knob::nominal(2); 12];
    /// # type Relays = trimtab::tuner!(KNOBS, observations: 16, rows: 64);
    /// # type RelayCache = trimtab::tuner_cache!(KNOBS, observations: 16, rows: 64);
    /// # let (mut tuner, mut cache) = (Relays::new(), RelayCache::new());
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// for value in 0..16 {
    ///     let without = tuner.clone().ask();
    ///     let with = tuner.ask_with(&mut cache);
    ///     assert_eq!(with, without);
    ///     tuner.tell(&with?.combination, value as f32)?;
    /// }
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn ask_with<const C: usize>(&mut self, cache: &mut Cache<D, T, C>) -> Result<Proposal<K>, AskError> {
        self.ask_begin()?;
        loop {
            if let Some(proposal) = self.step(u16::MAX, Some(cache))? {
                return Ok(proposal);
            }
        }
    }

    /// Begins an ask in slices, so that a control loop keeps its deadline. An ask under way starts
    /// over.
    ///
    /// ```
    /// # use trimtab::{Config, Knob, Space};
    /// # const KNOBS: [Knob; 12] = [Knob::nominal(2); 12];
    /// # type Relays = trimtab::tuner!(KNOBS, observations: 16, rows: 64);
    /// # let mut tuner = Relays::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// for value in 0..16 {
    ///     let whole = tuner.clone().ask()?;
    ///     tuner.ask_begin()?;
    ///     let proposal = loop {
    ///         // Five steps, then back to the control loop.
    ///         if let Some(proposal) = tuner.ask_step(5)? { break proposal }
    ///     };
    ///     assert_eq!(proposal, whole);
    ///     tuner.tell(&proposal.combination, value as f32)?;
    /// }
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn ask_begin(&mut self) -> Result<(), AskError> {
        if self.space.knobs().is_empty() {
            return Err(AskError::Uninitialised);
        }
        self.finish_tell();
        if self.pending.is_full() {
            return Err(AskError::TooManyPending { most: A });
        }
        self.cancel_ask();
        self.search.score = 0.0;
        self.search.restart();
        self.asking = match self.queued() {
            Some(queued) => Stage::Predict(queued),
            None if !self.chooses() => Stage::Draw(Draw::new(&self.space, self.random(Purpose::Initial))),
            None => {
                self.begin_search();
                let is_last = !Self::FANTASISES || self.pending.is_empty();
                if is_last || !self.is_filled() { Stage::Search { is_last } } else { Stage::Fantasise(0) }
            }
        };
        Ok(())
    }

    /// Takes at most `steps` more steps of an ask begun with [`ask_begin`](Self::ask_begin), each of
    /// which scores a candidate or does as much of something else. Returns the proposal once it is
    /// found, with the same bits as [`ask`](Self::ask), and `None` before.
    pub fn ask_step(&mut self, steps: u16) -> Result<Option<Proposal<K>>, AskError> {
        self.steps(steps, None::<&mut Cache<D, T, 0>>)
    }

    /// [`ask_step`](Self::ask_step) with a cache, as in [`ask_with`](Self::ask_with). All steps of
    /// one ask should have it.
    pub fn ask_step_with<const C: usize>(
        &mut self,
        steps: u16,
        cache: &mut Cache<D, T, C>,
    ) -> Result<Option<Proposal<K>>, AskError> {
        self.steps(steps, Some(cache))
    }

    fn steps<const C: usize>(
        &mut self,
        steps: u16,
        mut cache: Option<&mut Cache<D, T, C>>,
    ) -> Result<Option<Proposal<K>>, AskError> {
        for _ in 0..steps {
            let proposal = self.step(if steps < u16::MAX { 1 } else { steps }, cache.as_deref_mut())?;
            if proposal.is_some() {
                return Ok(proposal);
            }
        }
        if let Stage::None = self.asking { Err(AskError::NotBegun) } else { Ok(None) }
    }

    /// One step, or a search of at most so many.
    #[inline(never)]
    fn step<const C: usize>(
        &mut self,
        steps: u16,
        cache: Option<&mut Cache<D, T, C>>,
    ) -> Result<Option<Proposal<K>>, AskError> {
        match &mut self.asking {
            Stage::None => return Err(AskError::NotBegun),
            Stage::Draw(draw) => {
                let drawn = draw.next(&self.space);
                match drawn {
                    Ok(c) if self.is_open(&c) => self.asking = Stage::Predict(c),
                    Ok(_) => {}
                    Err(error) => {
                        self.cancel_ask();
                        return Err(error);
                    }
                }
            }
            Stage::Search { is_last } => {
                let is_last = *is_last;
                if self.search_step(steps, true, cache) {
                    return Ok(None);
                }
                if Self::FANTASISES && !is_last {
                    self.search.restart();
                    self.asking = Stage::Fantasise(0);
                } else {
                    self.forget_fantasies();
                    self.asking = Stage::Weigh;
                }
            }
            Stage::Fantasise(i) => {
                let i = *i;
                let next = if Self::FANTASISES { self.fantasise(i) } else { None };
                self.asking = next.map_or(Stage::Search { is_last: true }, Stage::Fantasise);
            }
            Stage::Weigh => {
                if !self.model.weigh_step() {
                    self.asking = Stage::Again;
                    self.begin_again();
                }
            }
            Stage::Again => {
                if self.again_step() {
                    return Ok(None);
                }
                let found = self.again.best().or(self.search.best().map(|best| best.combination));
                self.asking = match found {
                    Some(c) => Stage::Predict(c),
                    None => Stage::Draw(Draw::new(&self.space, self.random(Purpose::Scan))),
                };
            }
            Stage::Predict(c) => {
                let c = *c;
                if !self.model.begin_prediction(&self.space, &c) {
                    self.asking = Stage::Propose(c);
                }
            }
            Stage::Propose(c) => {
                let combination = *c;
                self.cancel_ask();
                let known = !self.is_empty();
                let posterior = if known { self.model.end_prediction() } else { Posterior::new(0.0, f32::INFINITY) };
                let proposal = self.proposal(Scored { combination, posterior, score: self.search.score });
                self.mark_pending(&combination);
                return Ok(Some(proposal));
            }
        }
        Ok(None)
    }

    /// Whether there are enough observations for the model to choose.
    pub(super) fn chooses(&self) -> bool {
        self.len() >= self.needed_observations()
    }

    /// Step i of treating pending combinations as measured: each is imagined in two steps, then each
    /// joins the factor in two. Returns the next step if there may be more to do: the same one while a
    /// combination is still compared with a fleet.
    #[inline(never)]
    fn fantasise(&mut self, i: usize) -> Option<usize> {
        // Only up to the limit, so that a larger tuner with the same limit proposes the same.
        let room = limited(self.config.observations, T).saturating_sub(self.len());
        let pending = self.pending.get(..room).unwrap_or(&self.pending);
        let is_same = if let Some(c) = pending.get(i / 2) {
            if i.is_multiple_of(2) {
                self.model.begin_prediction(&self.space, c)
            } else {
                self.model.imagine(&self.space, c);
                false
            }
        } else if i < 4 * pending.len() {
            self.model.add_imagined(&self.space)
        } else {
            self.model.condition_imagined(&self.config);
            return None;
        };
        Some(if is_same { i } else { i + 1 })
    }

    /// Treats pending combinations as measured.
    pub(super) fn add_fantasies(&mut self) {
        let mut i = 0;
        while let Some(next) = self.fantasise(i) {
            i = next;
        }
    }

    /// Ends an ask under way.
    pub(super) fn cancel_ask(&mut self) {
        self.asking = Stage::None;
        self.forget_fantasies();
        if Self::FANTASISES {
            while self.model.weigh_step() {}
        }
    }

    /// Removes what is imagined from the process; [`Stage::Weigh`] is to follow.
    fn forget_fantasies(&mut self) {
        self.model.fleet.forget_visit();
        if Self::FANTASISES {
            self.model.forget_fantasies(&self.config);
        }
    }

    /// The first queued combination that may still be asked.
    fn queued(&self) -> Option<Combination<K>> {
        self.queue.iter().find(|c| self.is_open(c)).copied()
    }

    /// A combination with its prediction, if there is an outcome yet, and a score of 0.
    pub(super) fn unscored(&self, c: Combination<K>) -> Scored<K> {
        let unknown = Posterior::new(0.0, f32::INFINITY);
        let known = if self.is_empty() { None } else { self.score_of(&c) };
        known.unwrap_or(Scored { combination: c, posterior: unknown, score: 0.0 })
    }

    pub(super) fn proposal(&self, scored: Scored<K>) -> Proposal<K> {
        let measured = self.model.observations.find(&scored.combination).and_then(|i| self.measured_estimate(i));
        let Estimate { combination, mean, std_dev } = measured.unwrap_or_else(|| self.estimate(scored));
        Proposal { combination, mean, std_dev, score: scored.score }
    }

    /// Moves a proposed combination from the queue to the pending ones.
    pub(super) fn mark_pending(&mut self, c: &Combination<K>) {
        self.leave_queue(c);
        // There is room: no ask begins without it.
        let _ = self.pending.push(*c);
    }

    /// ln N.
    pub(super) fn log_cardinality(&self) -> f32 {
        self.space.knobs().iter().fold(0.0, |sum, knob| sum + ln(knob.levels() as f32))
    }
}
