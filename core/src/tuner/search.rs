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
use crate::acquire::acquisition::{Rule, chance};
use crate::acquire::cache::{Cache, Row};
use crate::acquire::sweep::{Scored, Sweep};
use crate::acquire::table::{Kind, Step, swept, whole};
use crate::space::Combination;
use crate::surrogate::gp::Posterior;
use crate::surrogate::observations::Point;
use crate::surrogate::path::Path;

/// A search under way.
#[derive(Clone, Debug)]
pub(super) struct Search<const K: usize, const T: usize> {
    /// The next step of the table, and how many rows are before it.
    step: usize,
    row: usize,
    path: Path<K, T>,
    sweep: Sweep<K>,
    /// Whether the path has begun.
    is_begun: bool,
    best: Option<Scored<K>>,
    /// The score of what is proposed in the end.
    pub(super) score: f32,
    pub(super) rule: Rule,
    /// The smallest posterior mean of all measured combinations.
    pub(super) incumbent: f32,
}

impl<const K: usize, const T: usize> Search<K, T> {
    pub(super) const NONE: Self = Self {
        step: 0,
        row: 0,
        path: Path::EMPTY,
        sweep: Sweep::EMPTY,
        is_begun: false,
        best: None,
        score: 0.0,
        rule: Rule::Ucb { beta: 0.0 },
        incumbent: 0.0,
    };

    /// Starts over at the first row.
    pub(super) fn restart(&mut self) {
        (self.step, self.row, self.is_begun, self.best) = (0, 0, false, None);
    }

    /// The best candidate so far.
    pub(super) fn best(&self) -> Option<Scored<K>> {
        self.best
    }
}

impl<const K: usize, const M: usize, const D: usize, const T: usize, const L: usize, const P: usize>
    Tuner<K, M, D, T, L, P>
{
    /// Begins a search.
    #[inline(never)]
    pub(super) fn begin_search(&mut self) {
        let best = self.by_posterior();
        self.search.incumbent = best.map_or(0.0, |i| self.model.measured_mean(i).unwrap_or(0.0));
        self.search.rule = self.config.acquisition.prepare(self.len(), self.log_cardinality(), self.search.incumbent);
        self.search.restart();
        if !self.is_filled() {
            let from = best.and_then(|i| self.model.observations.get(i)).map(|o| o.combination);
            let (mut random, most) = (self.random(Purpose::Sweep), swept(self.rows()));
            self.search.sweep.begin(&self.space, &mut self.table, (most, from), &mut random);
            self.table.factors = self.model.factors;
        }
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
        for _ in 0..steps {
            if cache.is_none() && self.model.gp.weigh_step() {
                continue;
            }
            if !self.search.is_begun {
                self.search.is_begun = true;
                if whole == 0 {
                    let [start, _] = *self.table.starts();
                    self.model.begin(&mut self.search.path, start, covered);
                }
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
                self.score_step(prune, covered, cache.as_mut().and_then(|cache| cache.row_mut(self.search.row)))
            };
            if let Some(scored) = scored
                && self.search.best.as_ref().is_none_or(|best| scored.score < best.score)
            {
                self.search.best = Some(scored);
            }
        }
        true
    }

    /// Fantasies come and go, so nothing is cached while asks are pending. Filling a cache for a
    /// single ask is not worth it: without one, losers are pruned sooner.
    fn is_worth_caching(&self, is_filled: bool) -> bool {
        self.pending.is_empty() && (is_filled || !self.model.is_anew_next(&self.config))
    }

    /// Whether the table has another step, after a sweep that is under way has added it.
    fn has_step(&mut self) -> bool {
        if self.table.step(self.search.step).is_none() && !self.table.is_swept {
            self.table.is_swept = !self.search.sweep.extend(&self.space, &mut self.table);
        }
        self.table.step(self.search.step).is_some()
    }

    /// Scores the next combination of a space that is its own table.
    fn score_index(&mut self, prune: bool, row: Option<&mut Row<D, T>>) -> Option<Scored<K>> {
        let c = self.space.at_small(self.search.row as u32);
        self.search.row += 1;
        if !self.is_open(&c) {
            return None;
        }
        let posterior = match row {
            None => self.model.posterior(&self.space, &c, &self.needed(prune, self.bar()))?,
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
        Some(self.scored(c, posterior))
    }

    /// Follows the next step of the table, and scores it if it is a row that may be asked.
    fn score_step(&mut self, prune: bool, covered: usize, row: Option<&mut Row<D, T>>) -> Option<Scored<K>> {
        let i = self.search.step;
        let Step { knob, level, kind } = self.table.step(i)?;
        let (knob, is_sweeping) = (usize::from(knob), !self.table.is_swept);
        // A closed row too: whether rows are open must not change the bits of others.
        if kind != Kind::Restart && self.model.enter(&mut self.search.path, knob) {
            return None;
        }
        self.search.step += 1;
        match kind {
            Kind::Go => self.model.go(&mut self.search.path, (knob, level)),
            Kind::Restart => {
                let [_, second] = *self.table.starts();
                self.model.begin(&mut self.search.path, second, covered);
            }
            Kind::Row | Kind::Closed => self.search.row += 1,
        }
        if kind != Kind::Row {
            return None;
        }
        let c = self.search.path.at().with(knob, level);
        let new = self.model.observations.combinations().get(self.table.compared..self.len()).unwrap_or_default();
        let is_closed = if is_sweeping {
            self.model.observations.find(&c).is_some() || !self.space.is_feasible(&c)
        } else {
            new.contains(&c)
        };
        if is_closed {
            self.table.close(i);
            return None;
        }
        if !is_sweeping && self.pending.contains(&c) {
            return None;
        }
        let path = &self.search.path;
        let posterior = match row {
            None => {
                let bar = if is_sweeping { self.search.sweep.bar() } else { self.bar() };
                self.model.posterior_beside(&self.space, path, (knob, level), &self.needed(prune, bar))?
            }
            Some(row) => {
                if D > 0 && row.partial.len() == 0 {
                    row.x = self.model.geometry.locate(&self.space, &c);
                }
                let Row { x, v, partial } = row;
                let write = |from, row: &mut [f32]| {
                    if D > 0 {
                        self.model.covariances(&self.space, Point { combination: &c, x }, from, row)
                    } else {
                        path.covariances(self.model.kernel(), (knob, level), from, row)
                    }
                };
                self.model.extend_posterior(v, partial, write)?
            }
        };
        let scored = self.scored(c, posterior);
        if is_sweeping {
            self.search.sweep.report(&scored);
        }
        Some(scored)
    }

    /// The score that a candidate has to beat.
    fn bar(&self) -> f32 {
        self.search.best.as_ref().map_or(f32::INFINITY, |best| best.score)
    }

    /// The variance that a candidate of a given mean needs to beat this score.
    fn needed(&self, prune: bool, bar: f32) -> impl Fn(f32) -> f32 {
        let (rule, bar) = (self.search.rule, if prune { bar } else { f32::INFINITY });
        move |mean| rule.needed_variance(mean, bar)
    }

    /// A candidate with its score, which takes its chance of success into account if anything has
    /// failed.
    fn scored(&self, combination: Combination<K>, posterior: Posterior) -> Scored<K> {
        let Search { rule, incumbent, .. } = &self.search;
        let mut score = rule.score(posterior);
        if self.failures() > 0 {
            score = rule.weighed(score, chance(posterior, self.model.gp.signal()), *incumbent);
        }
        Scored { combination, posterior, score }
    }
}
