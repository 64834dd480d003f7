//! Asking for the next combination: algorithm 1, lines 5 and 6.
//!
//! **Choices**
//! - `ask_begin` starts an ask, each `ask_step` scores a slice of candidates, and the smallest
//!   score ends it; `ask` is one long slice.
//! - Proposals that need no score (the queue, the initial ones, the incumbent in doubt) are chosen
//!   when the ask begins.
//! - Fantasies exist only within a slice, so calls between slices never see them.
//!
//! **Cost.** At most L candidates of O(t²): rows of the table, then sweeps.

use super::{MOST_PENDING, Purpose, Tuner, limited};
use crate::acquire::acquisition::{Rule, chance};
use crate::acquire::cache::Cache;
use crate::acquire::scan::{Candidate, Scan, Scored};
use crate::config::Noise;
use crate::error::AskError;
use crate::math::float::{ln, sqrt};
use crate::math::list;
use crate::space::Combination;
use crate::surrogate::gp::Posterior;
use crate::surrogate::noise::Seen;
use crate::tuner::proposal::{Estimate, Proposal};

/// Random draws before combinations are tried in order.
const DRAWS: u32 = 64;
/// Combinations tried in order before giving up on a space that is too large to try whole.
const SCAN: u32 = 1 << 16;

/// How many of the best combinations may be measured again.
const AGAIN: usize = 8;
/// Logarithm of how many times as much a repeat must be worth as a new combination. With 0, some
/// 40 of 100 measurements were repeats and the regret was the same or worse.
const MUCH_MORE: f32 = 2.0;
/// Weight that the noisy hypotheses need before anything is measured again, until a repeat has
/// differed.
const CONVINCED: f32 = 0.97;

/// An ask under way.
#[derive(Clone, Debug)]
pub(super) struct Asking<const K: usize> {
    pub(super) active: bool,
    /// Proposed whatever its score.
    pub(super) direct: Option<Combination<K>>,
    pub(super) scan: Scan<K>,
    pub(super) rule: Rule,
    /// The smallest posterior mean of all measured combinations.
    incumbent: f32,
}

impl<const K: usize> Asking<K> {
    pub(super) const NONE: Self =
        Self { active: false, direct: None, scan: Scan::EMPTY, rule: Rule::Ucb { beta: 0.0 }, incumbent: 0.0 };
}

impl<const K: usize, const M: usize, const D: usize, const T: usize, const L: usize, const P: usize>
    Tuner<K, M, D, T, L, P>
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
        loop {
            if let Some(proposal) = self.ask_step(u16::MAX)? {
                return Ok(proposal);
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
    pub fn ask_with<const C: usize>(&mut self, cache: &mut Cache<K, D, T, C>) -> Result<Proposal<K>, AskError> {
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
    ///         // Five candidates, then back to the control loop.
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
        if self.pending.is_full() {
            return Err(AskError::TooManyPending { most: MOST_PENDING });
        }
        self.cancel_ask();
        let direct = match self.queued() {
            Some(queued) => Some(queued),
            None if self.len() < usize::from(self.config.initial.max(1)) => Some(self.any_open(Purpose::Initial)?),
            None => None,
        };
        if direct.is_none() {
            let best = self.by_posterior();
            let incumbent = best.map_or(0.0, |i| self.model.measured_mean(i).unwrap_or(0.0));
            self.asking.rule = self.config.acquisition.prepare(self.len(), self.log_cardinality(), incumbent);
            let from = best.and_then(|i| self.model.observations.get(i)).map(|o| o.combination);
            let steps = self.rows() - self.table.len().min(self.rows());
            let scan = Scan::new(&self.space, &self.table, steps, from, &mut self.random(Purpose::Sweep));
            (self.asking.incumbent, self.asking.scan) = (incumbent, scan);
        }
        (self.asking.direct, self.asking.active) = (direct, true);
        Ok(())
    }

    /// Scores at most `candidates` more candidates of an ask begun with
    /// [`ask_begin`](Self::ask_begin). Returns the proposal once it is found, with the same bits as
    /// [`ask`](Self::ask), and `None` before.
    pub fn ask_step(&mut self, candidates: u16) -> Result<Option<Proposal<K>>, AskError> {
        self.step(candidates, None::<&mut Cache<K, D, T, 0>>)
    }

    fn step<const C: usize>(
        &mut self,
        candidates: u16,
        cache: Option<&mut Cache<K, D, T, C>>,
    ) -> Result<Option<Proposal<K>>, AskError> {
        if !self.asking.active {
            return Err(AskError::NotBegun);
        }
        if self.asking.direct.is_none() && self.with_fantasies(|tuner| tuner.score_candidates(candidates, true, cache))
        {
            return Ok(None);
        }
        let (direct, best) = (self.asking.direct, self.asking.scan.best());
        self.cancel_ask();
        let scored = match (direct, best) {
            (Some(c), _) => self.unscored(c),
            (None, Some(best)) => self.worth_again(best.posterior).unwrap_or(best),
            (None, None) => self.unscored(self.any_open(Purpose::Scan)?),
        };
        let proposal = self.proposal(scored);
        self.mark_pending(&proposal.combination);
        Ok(Some(proposal))
    }

    /// Runs `work` while the model treats pending combinations as measured.
    pub(super) fn with_fantasies<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        // Only up to the limit, so that a larger tuner with the same limit proposes the same.
        let room = limited(self.config.observations, T).saturating_sub(self.len());
        let pending = self.pending.get(..room).unwrap_or(&self.pending);
        self.model.add_fantasies(&self.space, &self.config, pending);
        let done = work(self);
        self.model.remove_fantasies(&self.config);
        done
    }

    /// Scores the next candidates of the search and returns whether there may be more. Pruning
    /// saves work but never changes the winner.
    pub(super) fn score_candidates<const C: usize>(
        &mut self,
        candidates: u16,
        prune: bool,
        cache: Option<&mut Cache<K, D, T, C>>,
    ) -> bool {
        let owner = (self.table.seed(), self.model.factors, self.inits);
        // Fantasies come and go, so nothing is cached while asks are pending. Filling a cache for a
        // single ask is not worth it: without one, losers are pruned sooner.
        let is_worth =
            |cache: &&mut Cache<K, D, T, C>| cache.is_filled_for(owner) || !self.model.fits_next(&self.config);
        let mut cache = cache.filter(|_| self.pending.is_empty()).filter(is_worth);
        for _ in 0..candidates {
            let Some(candidate) = self.asking.scan.next(&self.space, &self.table) else { return false };
            let scored = match candidate {
                Candidate::Row(i) => match cache.as_mut().and_then(|cache| cache.row_mut(i, owner)) {
                    Some(row) => {
                        let known = (&self.space, &self.model);
                        let found = row.posterior((i, &self.table), known, |c| self.is_open(c));
                        found.map(|(c, posterior)| (*c, posterior))
                    }
                    None => self.table.row(&self.space, i).and_then(|c| self.prediction(&c, &candidate, prune)),
                },
                Candidate::Step(c) => self.prediction(&c, &candidate, prune),
            };
            if let Some((combination, posterior)) = scored {
                let own = Scored { combination, posterior, score: self.score(posterior) };
                self.asking.scan.report(&candidate, own);
            }
        }
        true
    }

    /// The posterior of a candidate that may be asked and, if `prune`, can still make a difference.
    #[inline(never)]
    fn prediction(
        &self,
        c: &Combination<K>,
        candidate: &Candidate<K>,
        prune: bool,
    ) -> Option<(Combination<K>, Posterior)> {
        if !self.is_open(c) {
            return None;
        }
        let Asking { rule, scan, .. } = &self.asking;
        let bar = if prune { scan.bar(candidate) } else { f32::INFINITY };
        let posterior = self.model.posterior(&self.space, c, &|mean| rule.needed_variance(mean, bar))?;
        Some((*c, posterior))
    }

    /// The score of a candidate, with its chance of success if anything has failed.
    fn score(&self, posterior: Posterior) -> f32 {
        let Asking { rule, incumbent, .. } = &self.asking;
        let score = rule.score(posterior);
        if self.failures() == 0 {
            return score;
        }
        rule.weighed(score, chance(posterior, self.model.gp.signal()), *incumbent)
    }

    /// The first queued combination that may still be asked.
    fn queued(&self) -> Option<Combination<K>> {
        self.queue.iter().find(|c| self.is_open(c)).copied()
    }

    /// The measured combination that is worth much more, measured again, than this new one.
    ///
    /// The value of both is their expected improvement on the smallest posterior mean, times
    /// 1 − τ/√(σ² + τ²) for a noise of τ (Huang, Allen, Notz and Zeng 2006, augmented expected
    /// improvement): what is known well already teaches little.
    fn worth_again(&self, new: Posterior) -> Option<Scored<K>> {
        let noise = &self.model.noise;
        let is_given = matches!(self.config.noise, Noise::Given(_));
        let is_certain = match self.model.seen() {
            _ if is_given => true,
            Seen::Nothing => noise.noisy >= CONVINCED,
            // The first repeat was equal: there is no noise, whatever the last fit believed.
            Seen::Equal => false,
            Seen::Different => true,
        };
        let again = self.config.remeasure > 1 && self.config.noise != Noise::None && noise.used.is_noisy();
        if !again || !is_certain {
            return None;
        }
        let variance = noise.used.noise * self.model.gp.signal();
        let value = |posterior: Posterior| {
            let known = 1.0 - sqrt(variance / (posterior.variance + variance));
            let rule = Rule::ExpectedImprovement { best: self.asking.incumbent };
            rule.score(posterior) - ln(known.max(f32::MIN_POSITIVE))
        };
        let mut best = (value(new) - MUCH_MORE, None);
        for (_, i) in &self.lowest() {
            let Some((o, posterior)) = self.model.observations.get(*i).zip(self.model.measured(*i)) else { continue };
            let score = value(posterior);
            if score < best.0 && o.repeats < self.config.remeasure && !self.pending.contains(&o.combination) {
                best = (score, Some(Scored { combination: o.combination, posterior, score: 0.0 }));
            }
        }
        best.1
    }

    /// The measured observations with the smallest posterior means, a few of them.
    fn lowest(&self) -> heapless::Vec<(f32, usize), AGAIN> {
        let mut lowest = heapless::Vec::<(f32, usize), AGAIN>::new();
        for (mean, i) in (0..self.len()).filter_map(|i| Some((self.model.measured_mean(i)?, i))) {
            let place = lowest.iter().position(|other| mean < other.0).unwrap_or(lowest.len());
            if place < AGAIN {
                if lowest.is_full() {
                    lowest.pop();
                }
                list::insert(&mut lowest, place, (mean, i));
            }
        }
        lowest
    }

    /// Any combination that may be asked, regardless of the model: a random draw, or the next one
    /// in order after a draw.
    #[inline(never)]
    pub(super) fn any_open(&self, purpose: Purpose) -> Result<Combination<K>, AskError> {
        let mut random = self.random(purpose);
        let drawn = (0..DRAWS).map(|_| self.space.draw(&mut random)).find(|c| self.is_open(c));
        let last = self.space.last_index();
        let tried = if last < u64::from(SCAN) { last as u32 + 1 } else { SCAN };
        let in_order = || {
            let start = self.space.draw(&mut random);
            let counted = core::iter::successors(Some(start), |c| Some(self.space.after(*c)));
            counted.take(tried as usize).find(|c| self.is_open(c))
        };
        let none = if last < u64::from(SCAN) { AskError::Exhausted } else { AskError::NoneFound { tried } };
        drawn.or_else(in_order).ok_or(none)
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
    fn log_cardinality(&self) -> f32 {
        self.space.knobs().iter().fold(0.0, |sum, knob| sum + ln(knob.levels() as f32))
    }
}
