//! The search for the smallest score: over the rows of the table, while sweeps fill it or after.
//!
//! c† = argmin of the acquisition over the candidates (algorithm 1, line 5).
//!
//! **Choices**
//! - A table is filled by the first ask after it was cleared, or by the next tell if no ask came
//!   first: a log of outcomes alone brings back the same table.
//! - Sweeps ignore pending combinations, which a log of outcomes does not know. With some pending,
//!   the filled table is scored once more, with fantasies.
//! - Pruning saves work but never changes the winner.

use super::{Purpose, Tuner};
use crate::acquire::acquisition::Rule;
use crate::acquire::cache::{Cache, Row};
use crate::acquire::sweep::{Scored, Sweep};
use crate::acquire::table::{Kind, Step, swept, whole};
use crate::config::Settings;
use crate::space::Combination;
use crate::surrogate::Model;
use crate::surrogate::gp::Posterior;
use crate::surrogate::observations::Point;
use crate::surrogate::path::Path;

/// The incumbent while nothing keeps all limits: every candidate improves on it, so the chance decides.
const NOTHING_KEEPS: f32 = 30.0;

/// What a search does before it scores rows, a step each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    /// The logit that candidates need.
    NeededLogit,
    /// How similar the path's start is to the observations.
    Similar,
    /// Its products with the observations.
    Path,
}

/// A search under way.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Search<const K: usize, const T: usize> {
    /// The next step of the table, and how many rows are before it.
    step: usize,
    row: usize,
    /// What has to be done before the next row, and whether the path goes on from the second start.
    before: Before,
    is_second: bool,
    /// Whether the covariances of the candidate that waits are known.
    is_begun: bool,
    /// The score of what is proposed in the end.
    pub(super) score: f32,
    pub(super) rule: Rule,
    /// The observation with the smallest posterior mean, and that mean.
    measured_best: Option<usize>,
    pub(super) incumbent: f32,
    /// The logit of success that a candidate needs.
    pub(super) needed_logit: f32,
    best: Option<Scored<K>>,
    /// ln of its chance to keep all limits.
    pub(super) log_chance: f32,
    /// A candidate that waits for that chance.
    held: Option<Scored<K>>,
    sweep: Sweep<K>,
    /// Where the path goes on after a change of several knobs: one made others idle.
    pub(super) jump: Option<Combination<K>>,
    pub(super) path: Path<K, T>,
    /// How similar the path's combination is to the observations, if any failed.
    pub(super) similar: [f32; T],
}

impl<const K: usize, const T: usize> Search<K, T> {
    pub(super) const NONE: Self = Self {
        step: 0,
        row: 0,
        path: Path::EMPTY,
        sweep: Sweep::EMPTY,
        before: Before::Nothing,
        is_second: false,
        jump: None,
        best: None,
        log_chance: 0.0,
        held: None,
        is_begun: false,
        score: 0.0,
        rule: Rule::Ucb { beta: 0.0 },
        measured_best: None,
        incumbent: 0.0,
        needed_logit: 0.0,
        similar: [0.0; T],
    };

    /// Starts over at the first row.
    pub(super) fn restart(&mut self) {
        (self.step, self.row, self.best) = (0, 0, None);
        (self.log_chance, self.held, self.is_begun) = (0.0, None, false);
        (self.before, self.is_second, self.jump) = (Before::NeededLogit, false, None);
        // What an earlier search had cached says nothing of this one.
        self.path.leave();
    }

    /// The first observation that the path is followed for.
    #[cfg(test)]
    pub(super) fn path_first(&self) -> usize {
        self.path.first()
    }

    /// The best candidate so far.
    pub(super) fn best(&self) -> Option<Scored<K>> {
        self.best
    }
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
    /// Begins a search.
    #[inline(never)]
    pub(super) fn begin_search(&mut self) {
        let best = self.by_posterior();
        let nothing = if G > 0 && self.model.limits.is_used() { NOTHING_KEEPS } else { 0.0 };
        self.search.incumbent = best.map_or(nothing, |i| self.model.measured_mean(i).unwrap_or(0.0));
        self.search.measured_best = best;
        self.search.rule = self.rule();
        self.search.restart();
        if !self.is_filled() {
            let from = self.sweep_start(best).and_then(|i| self.model.observations.combination(i)).copied();
            let (mut random, most) = (self.random(Purpose::Sweep), swept(self.rows()));
            self.search.sweep.begin(&self.space, &mut self.table, (most, from), &mut random);
            self.table.factors = self.model.factors;
        }
        self.table.keep_bounds(self.model.factors);
    }

    /// Number of combinations of a space that is its own table, or 0.
    pub(super) fn whole(&self) -> usize {
        whole(&self.space, self.rows())
    }

    /// Whether the table has all its rows.
    pub(super) fn is_filled(&self) -> bool {
        self.whole() > 0 || (self.table.is_swept && self.table.factors == self.model.factors)
    }

    /// Takes the next steps, most of which score a candidate, and returns whether there may be more.
    pub(super) fn search_step<const C: usize>(
        &mut self,
        steps: u16,
        prune: bool,
        cache: Option<&mut Cache<D, T, C>>,
    ) -> bool {
        let (owner, whole) = ((self.table.id(), self.model.factors, self.inits), self.whole());
        let mut cache = cache.filter(|cache| self.is_worth_caching(cache.is_filled_for(owner)));
        let covered = cache.as_mut().map_or(0, |cache| cache.begin(owner));
        if cache.is_none() && self.search.path.first() > 0 {
            // The slices before had a cache.
            self.search.restart();
        }
        if cache.is_some() {
            // The slices before had none: a cached row needs no visit.
            self.model.fleet.forget_visit();
        }
        for _ in 0..steps {
            if cache.is_none() && self.model.gp.weigh_step() {
                continue;
            }
            if self.search.before != Before::Nothing {
                self.search.before = self.prepare(whole, covered);
                continue;
            }
            if let Some(held) = self.search.held.filter(|_| G > 0) {
                self.weigh_limits(held, whole);
                continue;
            }
            if !(if whole > 0 { self.search.row < whole } else { self.has_step() }) {
                if let Some(cache) = cache {
                    cache.end(self.model.gp.len());
                }
                self.table.compared = self.len();
                return false;
            }
            let scored = if whole > 0 {
                self.score_index(prune, cache.as_mut().and_then(|cache| cache.row_mut(self.search.row)))
            } else {
                self.score_step(prune, cache.as_mut().and_then(|cache| cache.row_mut(self.search.row)))
            };
            match scored {
                Some(scored) if G > 0 && self.model.limits.is_used() => {
                    let bar =
                        if self.is_sweeping(whole) { self.bar().max(self.search.sweep.bar()) } else { self.bar() };
                    self.search.held = Some(scored).filter(|scored| scored.score < bar);
                }
                Some(scored) => {
                    self.compare(scored, whole);
                }
                None => {}
            }
        }
        true
    }

    /// Whether sweeps still fill the table.
    fn is_sweeping(&self, whole: usize) -> bool {
        whole == 0 && !self.table.is_swept
    }

    /// Compares a candidate with the best so far; returns whether it is better.
    #[inline(always)]
    fn compare(&mut self, scored: Scored<K>, whole: usize) -> bool {
        if self.is_sweeping(whole) {
            self.search.sweep.report(&scored);
        }
        let is_better = scored.score < self.bar();
        if is_better {
            self.search.best = Some(scored);
        }
        is_better
    }

    /// The held candidate after its chance to keep all limits, in two steps.
    #[inline(never)]
    fn weigh_limits(&mut self, held: Scored<K>, whole: usize) {
        if !self.search.is_begun {
            self.search.is_begun = !self.model.begin_prediction(&self.space, &held.combination);
            return;
        }
        (self.search.held, self.search.is_begun) = (None, false);
        let log_chance = self.model.end_log_chance();
        let score = held.score - log_chance;
        if self.compare(Scored { score, ..held }, whole) {
            self.search.log_chance = log_chance;
        }
    }

    /// Fantasies come and go, so nothing is cached while asks are pending. Filling a cache for a
    /// single ask is not worth it: without one, losers are pruned sooner.
    fn is_worth_caching(&self, is_filled: bool) -> bool {
        self.pending.is_empty() && (is_filled || !self.model.is_anew_next(&self.config))
    }

    /// Whether the table has another step, after a sweep that is under way has added it.
    fn has_step(&mut self) -> bool {
        if self.table.step(self.search.step).is_none() && !self.table.is_swept {
            self.table.is_swept = !self.search.sweep.extend::<M, L>(&self.space, &mut self.table);
        }
        self.table.step(self.search.step).is_some()
    }

    /// Scores the next combination of a space that is its own table.
    fn score_index(&mut self, prune: bool, row: Option<&mut Row<D, T>>) -> Option<Scored<K>> {
        let c = self.space.at_small(self.search.row as u32);
        self.search.row += 1;
        if !self.model.fleet.is_visiting() && !self.is_open(&c) {
            return None;
        }
        let posterior = match row {
            None => {
                let space = &self.space;
                let alone = |model: &Model<K, M, D, T, P, N, G>, row: &mut [f32]| model.prediction(space, &c, row);
                if self.model.visit(space, &c) || self.model.visit_alone(alone) {
                    self.search.row -= 1;
                    return None;
                }
                let (place, needed) = (self.search.row - 1, self.needed(prune, self.bar()));
                let mut most = self.table.bound(place);
                let posterior = if self.model.has_visits() {
                    self.model.visited_posterior(&needed, &mut most)
                } else {
                    self.model.posterior(&self.space, &c, &needed, &mut most)
                };
                self.keep_bound(place, most);
                posterior?
            }
            Some(row) => {
                if row.partial.len() == 0 {
                    row.x = self.model.geometry.locate(&self.space, &c);
                }
                let Row { x, v, partial } = row;
                let point = Point { combination: &c, x };
                let write = |from, row: &mut [f32]| self.model.covariances(&self.space, point, from, row);
                self.model.extend_posterior(v, partial, write)?
            }
        };
        let scored = self.scored(c, posterior);
        if scored.score >= self.bar() {
            return Some(scored);
        }
        Some(self.weighed(scored, None))
    }

    /// Follows the next step of the table, and scores it if it is a row that may be asked.
    fn score_step(&mut self, prune: bool, row: Option<&mut Row<D, T>>) -> Option<Scored<K>> {
        let i = self.search.step;
        let Step { knob, level, kind } = self.table.step(i)?;
        let (knob, is_sweeping) = (usize::from(knob), !self.table.is_swept);
        // A closed row too: whether rows are open must not change the bits of others.
        if kind != Kind::Restart && self.model.enter(&mut self.search.path, knob) {
            return None;
        }
        self.search.step += 1;
        let mut c = self.search.path.at().with(knob, level);
        let is_plain = !self.space.settle(&mut c);
        match kind {
            Kind::Go if !is_plain => (self.search.before, self.search.jump) = (Before::Similar, Some(c)),
            Kind::Go => {
                if let Some(calls) = self.failing() {
                    let change = self.change(knob, level);
                    let all = self.model.observations.combinations().get(..self.len()).unwrap_or_default();
                    (calls.change)(change, &self.space, all, &mut self.search.similar);
                }
                self.model.go(&mut self.search.path, (knob, level));
            }
            Kind::Restart => {
                (self.search.before, self.search.is_second, self.search.jump) = (Before::Similar, true, None);
            }
            Kind::Row | Kind::Closed => self.search.row += 1,
        }
        if kind != Kind::Row {
            return None;
        }
        let new = self.model.observations.combinations().get(self.table.compared..self.len()).unwrap_or_default();
        // What is visited was found open before.
        let is_closed = if self.model.fleet.is_visiting() {
            false
        } else if is_sweeping {
            self.model.observations.has(&c) || !self.space.is_feasible(&c)
        } else {
            new.contains(&c)
        };
        if is_closed {
            self.table.close(i);
            return None;
        }
        if Self::FANTASISES && !is_sweeping && self.pending.contains(&c) {
            return None;
        }
        // Scored once it is compared with the fleet: until then the search stays at this step.
        let path = &self.search.path;
        let beside = |model: &Model<K, M, D, T, P, N, G>, row: &mut [f32]| {
            path.covariances(model.kernel(), (knob, level), 0, row)
        };
        if row.is_none() && (self.model.visit(&self.space, &c) || self.model.visit_alone(beside)) {
            (self.search.step, self.search.row) = (i, self.search.row - 1);
            return None;
        }
        let path = &self.search.path;
        let posterior = match row {
            None => {
                let bar = if is_sweeping { self.search.sweep.bar() } else { self.bar() };
                let (place, needed) = (self.search.row - 1, self.needed(prune, bar));
                let mut most = self.table.bound(place);
                let posterior = if self.model.has_visits() {
                    self.model.visited_posterior(&needed, &mut most)
                } else if is_plain {
                    self.model.posterior_beside(&self.space, path, (knob, level), &needed, &mut most)
                } else {
                    self.model.posterior(&self.space, &c, &needed, &mut most)
                };
                self.keep_bound(place, most);
                posterior?
            }
            Some(row) => {
                if D > 0 && row.partial.len() == 0 {
                    row.x = self.model.geometry.locate(&self.space, &c);
                }
                let Row { x, v, partial } = row;
                let write = |from, row: &mut [f32]| {
                    if D > 0 || !is_plain {
                        self.model.covariances(&self.space, Point { combination: &c, x }, from, row)
                    } else {
                        path.covariances(self.model.kernel(), (knob, level), from, row)
                    }
                };
                self.model.extend_posterior(v, partial, write)?
            }
        };
        let mut scored = self.scored(c, posterior);
        // A score only grows by its chance.
        if scored.score < self.bar() || is_sweeping && scored.score < self.search.sweep.bar() {
            scored = self.weighed(scored, is_plain.then_some((knob, level)));
        }
        Some(scored)
    }

    /// Remembers what is at most left of a row's variance. With fantasies it is less than without.
    fn keep_bound(&mut self, row: usize, most: f32) {
        if !Self::FANTASISES || !self.model.has_fantasies() {
            self.table.set_bound(row, most);
        }
    }

    /// The score that a candidate has to beat.
    fn bar(&self) -> f32 {
        self.search.best.as_ref().map_or(f32::INFINITY, |best| best.score)
    }

    /// The variance that a candidate of a given mean needs to beat this score.
    fn needed(&self, prune: bool, bar: f32) -> impl Fn(f32) -> f32 + use<K, M, D, T, L, P, N, G, A, S> {
        let (rule, bar) = (self.search.rule, if prune { bar } else { f32::INFINITY });
        move |mean| rule.needed_variance(mean, bar)
    }

    /// A candidate with its score, whatever its chance of success.
    fn scored(&self, combination: Combination<K>, posterior: Posterior) -> Scored<K> {
        Scored { combination, posterior, score: self.search.rule.score(posterior) }
    }

    /// The score that the last [`ask`](Self::ask) gives a combination, in standardised units, its
    /// chances of success and of keeping all limits included; the candidate with the smallest was
    /// proposed. `None` for a
    /// combination of another space, and if the model did not choose, as at the start.
    ///
    /// ```
    /// # use trimtab::{Config, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// for i in 0..8 {
    ///     let c = tuner.ask()?.combination;
    ///     assert_eq!(tuner.score(&c).is_some(), i >= 4); // the first four are random
    ///     tuner.tell(&c, f32::from(c.level(1)))?;
    /// }
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn score(&self, c: &Combination<K>) -> Option<f32> {
        if self.search.best.is_none() || !self.model.is_settled() || !self.space.contains(c) {
            return None;
        }
        let scored = self.scored(*c, self.score_of(c)?.posterior);
        let log_chance = self.model.log_chance(&self.space, c);
        Some(self.weighed(scored, None).score - log_chance)
    }

    /// One step before the next row; returns the step after it.
    #[inline(never)]
    fn prepare(&mut self, whole: usize, covered: usize) -> Before {
        let [first, second] = *self.table.starts();
        let at = self.search.jump.unwrap_or(if self.search.is_second { second } else { first });
        let all = self.model.observations.combinations().get(..self.len()).unwrap_or_default();
        match (self.search.before, self.failing()) {
            (Before::NeededLogit, Some(calls)) => {
                let best = self.search.measured_best.and_then(|i| self.model.observations.combination(i));
                self.search.needed_logit = (calls.needed)(&self.model.success, &self.space, best, all);
                Before::Similar
            }
            (Before::Similar, Some(calls)) if whole == 0 => {
                (calls.compare)(&self.space, &at, all, &mut self.search.similar);
                Before::Path
            }
            _ => {
                if whole == 0 {
                    self.model.begin(&mut self.search.path, at, covered);
                }
                Before::Nothing
            }
        }
    }
}
