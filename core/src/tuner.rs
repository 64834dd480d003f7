//! Algorithm 1 as ask, tell and best.
//!
//! | name | meaning |
//! |---|---|
//! | K | most knobs |
//! | M | most features under a random map, 0 for a tuner without one |
//! | D | numbers kept of a combination: dimensions of the random map, or graded features without one |
//! | T | most observations |
//! | L | rows of the lookup table |
//! | P | T(T + 1)/2, the numbers of the factor |
//!
//! **Choices.** The caller owns the loop, the clock and the hardware. Refused input leaves the tuner as it was. What is drawn depends on the
//! seed, on how many outcomes were told and on how many are awaited, so that seed, configuration and records rebuild the tuner.
//! What is asked first: the queue; then, until there are enough observations, random combinations; then, if the user allows
//! it, the incumbent again while it is in doubt; then the smallest score of the table and a descent.
//! What was asked and not told is not asked again, and is fantasised meanwhile.
//!
//! **Cost.** `tell`: O(t²), O(t³) when it fits. `ask`: O(t²) a row, O(t) a row and new observation with a cache. Memory is
//! `size_of::<Tuner<…>>()`; bytes for 24 two-level knobs on a 64-bit machine, by `cargo test -p trimtab-tests --test sizes -- --nocapture`
//! (a 32-bit chip takes a few hundred less):
//!
//! | T | L | D | no projection | projected to D | cache, no projection |
//! |---:|---:|---:|---:|---:|---:|
//! | 32 | 64 | 8 | 5704 | 7496 | 11024 |
//! | 64 | 256 | 8 | 13512 | 16328 | 76816 |
//! | 128 | 256 | 16 | 41416 | 51144 | 142352 |

mod lookup;

use heapless::Vec;

use crate::acquisition::Rule;
use crate::cache::{Cache, Row};
use crate::config::{Config, WhenFull};
use crate::error::{AskError, EnqueueError, Error, InitError, TellError};
use crate::gp::{Partial, Posterior};
use crate::kernel::Hyper;
use crate::list;
use crate::math::{ln, sqrt};
use crate::model::Model;
use crate::observations::Observation;
use crate::proposal::{Candidate, Estimate, Proposal, Scored, Search};
use crate::random::Random;
use crate::record::{Event, Record};
use crate::space::{Combination, Space};
use crate::table::{INCUMBENTS, LookupTable};

pub use lookup::Region;

/// What random numbers are for. The random map takes stream 0.
#[derive(Clone, Copy)]
enum Purpose {
    Initial = 1,
    Rows = 2,
    Scan = 3,
    Descent = 4,
    Box = 5,
}

/// How many combinations can be asked and not told, and how many can wait in the queue.
pub const MOST_PENDING: usize = 8;
/// Random draws before combinations are tried in order.
const DRAWS: u32 = 64;
/// Combinations tried in order before giving up on a space too large to be tried whole.
const SCAN: u32 = 1 << 16;

/// A tuner of at most K knobs and T observations. [`tuner!`](crate::tuner!) works the sizes out.
#[derive(Clone, Debug)]
pub struct Tuner<const K: usize, const M: usize, const D: usize, const T: usize, const L: usize, const P: usize> {
    space: Space<K>,
    config: Config,
    seed: u64,
    model: Model<K, M, D, T, P>,
    /// How many outcomes were told, and how many of them were of a combination that had one.
    tells: u32,
    repeats: u32,
    /// How often it was made ready: what was cached before the last time is of another tuner.
    inits: u32,
    table: LookupTable<K>,
    queue: Vec<Combination<K>, MOST_PENDING>,
    pending: Vec<Combination<K>, MOST_PENDING>,
    asking: Asking<K>,
}

/// An ask under way.
#[derive(Clone, Debug)]
struct Asking<const K: usize> {
    active: bool,
    /// What is proposed whatever its score.
    direct: Option<Combination<K>>,
    search: Search<K>,
    rule: Rule,
    hyper: Hyper,
}

impl<const K: usize> Asking<K> {
    const NONE: Self = Self {
        active: false,
        direct: None,
        search: Search::EMPTY,
        rule: Rule::Ucb { beta: 0.0 },
        hyper: Hyper { length_scale: 0.0, linear_weight: 0.0, noise: 0.0 },
    };
}

impl<const K: usize, const M: usize, const D: usize, const T: usize, const L: usize, const P: usize>
    Tuner<K, M, D, T, L, P>
{
    /// All zero, so that a static tuner costs no flash; [`init`](Self::init) makes it ready.
    pub const fn new() -> Self {
        const { assert!(T >= 1 && T <= u16::MAX as usize, "a tuner holds 1 to 65 535 observations") };
        const { assert!(L >= 1, "the lookup table needs at least one row") };
        Self {
            space: Space::empty(),
            config: Config::ZERO,
            seed: 0,
            model: Model::new(),
            tells: 0,
            repeats: 0,
            inits: 0,
            table: LookupTable::EMPTY,
            queue: Vec::new(),
            pending: Vec::new(),
            asking: Asking::NONE,
        }
    }

    /// Makes the tuner ready for a space, and forgets what it was told. On an error it is as it was.
    pub fn init(&mut self, space: Space<K>, config: Config, seed: u64) -> Result<(), InitError> {
        self.model.init(&space, &config, seed)?;
        self.queue.clear();
        self.pending.clear();
        (self.space, self.config, self.seed) = (space, config, seed);
        (self.tells, self.repeats, self.asking) = (0, 0, Asking::NONE);
        self.inits = self.inits.wrapping_add(1);
        self.refresh_table();
        Ok(())
    }

    /// The space that is tuned.
    pub fn space(&self) -> &Space<K> {
        &self.space
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How many combinations have an outcome, failures included.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let c = tuner.ask()?.combination;
    /// tuner.tell(&c, 1.0)?;
    /// assert_eq!(tuner.len(), 1);
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.model.observations.len()
    }

    /// Whether nothing was told yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many combinations failed.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let c = tuner.ask()?.combination;
    /// tuner.tell_failed(&c)?;
    /// assert_eq!((tuner.len(), tuner.failures()), (1, 1));
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn failures(&self) -> usize {
        self.len() - self.model.observations.measured()
    }

    /// The combinations that are asked and not told.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let c = tuner.ask()?.combination;
    /// assert_eq!(tuner.pending(), [c]);
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn pending(&self) -> &[Combination<K>] {
        &self.pending
    }

    /// The combinations with an outcome, in the order of their first one.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let c = tuner.ask()?.combination;
    /// tuner.tell(&c, 2.5)?;
    /// assert!(tuner.observations().all(|o| o.combination == c && o.value == 2.5));
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn observations(&self) -> impl Iterator<Item = Observation<K>> {
        (0..self.len()).filter_map(|i| self.model.observations.get(i)).map(|o| self.shown(o))
    }

    /// The observation with the best mean value; of equals the first.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// for value in [3.0, 1.0, 2.0] {
    ///     let c = tuner.ask()?.combination;
    ///     tuner.tell(&c, value)?;
    /// }
    /// assert_eq!(tuner.best_observed().map(|best| best.value), Some(1.0));
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn best_observed(&self) -> Option<Observation<K>> {
        self.model.observations.ranked(0).map(|o| self.shown(o))
    }

    /// The measured combination that the model thinks best. With noise it is a safer choice than the best value, which
    /// may have been luck.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// for value in [3.0, 1.0, 2.0] {
    ///     let c = tuner.ask()?.combination;
    ///     tuner.tell(&c, value)?;
    /// }
    /// let best = tuner.best_posterior().map(|best| best.combination);
    /// assert!(tuner.observations().any(|o| Some(o.combination) == best));
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn best_posterior(&self) -> Option<Estimate<K>> {
        self.by_posterior().0.map(|scored| self.estimate(scored))
    }

    /// What the model thinks of a combination; none before the first outcome or if the combination is foreign.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let c = tuner.ask()?.combination;
    /// assert!(tuner.predict(&c).is_none());
    /// tuner.tell(&c, 2.5)?;
    /// assert!(tuner.predict(&c).is_some_and(|estimate| (estimate.mean - 2.5).abs() < 0.1));
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn predict(&self, c: &Combination<K>) -> Option<Estimate<K>> {
        if self.is_empty() || !self.space.contains(c) {
            return None;
        }
        self.score_of(c).map(|scored| self.estimate(scored))
    }

    /// The hyper-parameters that the model has now.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// assert!(tuner.hyper().length_scale > 0.0);
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn hyper(&self) -> Hyper {
        self.model.fit.hyper()
    }

    /// Puts a combination in the queue: it is asked before anything else. For defaults from a data sheet.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let default = tuner.space().combination(&[2, 7])?;
    /// tuner.enqueue(&default)?;
    /// assert_eq!(tuner.ask()?.combination, default);
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn enqueue(&mut self, c: &Combination<K>) -> Result<(), EnqueueError> {
        if !self.space.contains(c) || self.space.knobs().is_empty() {
            return Err(EnqueueError::Foreign);
        }
        if !self.space.is_feasible(c) {
            return Err(EnqueueError::Infeasible);
        }
        if !self.is_open(c) || self.queue.contains(c) {
            return Err(EnqueueError::Known);
        }
        self.queue.push(*c).map_err(|_| EnqueueError::Full { most: MOST_PENDING })?;
        self.cancel_ask();
        Ok(())
    }

    /// What to measure next. What was asked before and not told is not asked again.
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

    /// [`ask`](Self::ask) with what was computed before: the same bits, in a fraction of the time.
    pub fn ask_with(&mut self, cache: &mut Cache<K, D, T, L>) -> Result<Proposal<K>, AskError> {
        self.ask_begin()?;
        loop {
            if let Some(proposal) = self.step(u16::MAX, Some(cache))? {
                return Ok(proposal);
            }
        }
    }

    /// Begins an ask that is carried out in slices, so that a control loop keeps its deadline. An ask under way is begun anew.
    ///
    /// ```
    /// use trimtab::{Config, Knob, Space};
    /// const KNOBS: [Knob; 12] = [Knob::nominal(2); 12];
    /// type Relays = trimtab::tuner!(KNOBS, observations: 16, rows: 64);
    /// let (mut whole, mut sliced) = (Relays::new(), Relays::new());
    /// for tuner in [&mut whole, &mut sliced] {
    ///     tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// }
    /// for _ in 0..16 {
    ///     let proposal = whole.ask()?;
    ///     sliced.ask_begin()?;
    ///     let same = loop {
    ///         if let Some(proposal) = sliced.ask_step(5)? { break proposal } // five candidates, then back to the control loop
    ///     };
    ///     assert_eq!(proposal, same);
    ///     let ones = proposal.combination.levels().iter().filter(|level| **level == 1).count();
    ///     whole.tell(&proposal.combination, ones as f32)?;
    ///     sliced.tell(&proposal.combination, ones as f32)?;
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
            None if self.len() < usize::from(self.config.initial.max(1)) => Some(self.any(Purpose::Initial)?),
            None => self.doubtful(),
        };
        if direct.is_none() {
            self.model.fantasise(&self.space, &self.config, &self.pending);
            let best = self.model.observations.ranked(0).map_or(0.0, |best| self.model.standard.apply(best.value));
            self.asking.rule = self.config.acquisition.prepare(self.len(), self.log_cardinality(), best);
            self.asking.hyper = self.hyper();
            let mut random = self.random(Purpose::Descent);
            self.asking.search = Search::new(&self.space, &self.table, self.descent(), &mut random);
        }
        (self.asking.direct, self.asking.active) = (direct, true);
        Ok(())
    }

    /// Carries an ask on by at most so many candidates. The proposal once it is found, the same bits as in one go.
    pub fn ask_step(&mut self, candidates: u16) -> Result<Option<Proposal<K>>, AskError> {
        self.step(candidates, None)
    }

    fn step(
        &mut self,
        candidates: u16,
        cache: Option<&mut Cache<K, D, T, L>>,
    ) -> Result<Option<Proposal<K>>, AskError> {
        if !self.asking.active {
            return Err(AskError::NotBegun);
        }
        if self.asking.direct.is_none() && self.score_candidates(candidates, true, cache) {
            return Ok(None);
        }
        let (direct, best) = (self.asking.direct, self.asking.search.best());
        self.cancel_ask();
        let scored = match (direct, best) {
            (Some(c), _) => self.unscored(c),
            (None, Some(best)) => best,
            (None, None) => self.unscored(self.any(Purpose::Scan)?),
        };
        let proposal = self.proposal(scored);
        self.awaited(&proposal.combination);
        Ok(Some(proposal))
    }

    /// Scores the next candidates of the search; whether there may be more. Pruning leaves out work, never the winner.
    fn score_candidates(&mut self, candidates: u16, prune: bool, cache: Option<&mut Cache<K, D, T, L>>) -> bool {
        // Fantasies come and go, so nothing is kept while there are any.
        let mut cache = cache.filter(|_| self.pending.is_empty());
        if let Some(cache) = &mut cache {
            cache.prepare((self.table.seed(), self.model.factors, self.inits));
        }
        for _ in 0..candidates {
            let Some(candidate) = self.asking.search.next(&self.space, &self.table) else { return false };
            let Asking { rule, hyper, .. } = &self.asking;
            let scored = match (candidate, &mut cache) {
                (Candidate::Row(i), Some(cache)) => {
                    let Some(row) = cache.rows.get_mut(i) else { continue };
                    self.refresh_row(i, row);
                    self.model.cached(&self.space, hyper, row).zip(row.combination)
                }
                (Candidate::Row(i), None) => self.table.row(&self.space, i).and_then(|c| self.opinion(c, prune)),
                (Candidate::Step(c), _) => self.opinion(c, prune),
            };
            if let Some((posterior, combination)) = scored {
                let score = rule.score(posterior);
                self.asking.search.report(Scored { combination, posterior, score });
            }
        }
        true
    }

    /// The posterior of a candidate that may be asked and, unless nothing is pruned, may still win.
    #[inline(never)]
    fn opinion(&self, c: Combination<K>, prune: bool) -> Option<(Posterior, Combination<K>)> {
        if !self.is_open(&c) {
            return None;
        }
        let Asking { rule, hyper, search, .. } = &self.asking;
        let bar = search.best().filter(|_| prune).map_or(f32::INFINITY, |best| best.score);
        self.model.posterior(&self.space, &c, hyper, Some((rule, bar))).zip(Some(c))
    }

    /// Fills a cached row, or empties it once it cannot be asked any more.
    fn refresh_row(&self, i: usize, row: &mut Row<K, D, T>) {
        if !row.fresh {
            row.fresh = true;
            row.partial = Partial::new(0.0);
            row.combination = self.table.row(&self.space, i).filter(|c| self.is_open(c));
            row.x = row.combination.map_or([0.0; D], |c| self.model.geometry.locate(&self.space, &c));
        }
        // Only what was told since then can have closed it.
        let told = self.model.observations.places().skip(row.partial.len());
        if row.combination.is_some_and(|c| told.map(|place| place.combination).any(|other| *other == c)) {
            row.combination = None;
        }
    }

    /// How many of the L rows are kept for the descent: at most half, so that an ask has a bound.
    fn descent(&self) -> usize {
        usize::from(self.config.descent).min(L / 2)
    }

    /// New rows, around what is best now.
    fn refresh_table(&mut self) {
        let mut random = self.random(Purpose::Rows);
        let best = (0..INCUMBENTS).filter_map(|rank| self.model.observations.ranked(rank)).map(|o| o.combination);
        self.table = LookupTable::new(&self.space, L, self.descent(), random.bits(), best);
    }

    /// Gives up an ask under way.
    #[inline(never)]
    fn cancel_ask(&mut self) {
        if self.asking.active {
            self.asking.active = false;
            if self.asking.direct.is_none() {
                self.model.forget_fantasies(&self.config);
            }
        }
    }

    /// Forgets that a combination was asked: it will not be told, and may be asked again. Whether it was awaited.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let c = tuner.ask()?.combination;
    /// assert!(tuner.cancel(&c) && tuner.pending().is_empty());
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn cancel(&mut self, c: &Combination<K>) -> bool {
        let place = self.pending.iter().position(|own| own == c);
        if let Some(place) = place {
            self.cancel_ask();
            list::remove(&mut self.pending, place);
        }
        place.is_some()
    }

    /// A combination is being measured or has an outcome: it leaves the queue.
    fn leave_queue(&mut self, c: &Combination<K>) {
        if let Some(place) = self.queue.iter().position(|own| own == c) {
            list::remove(&mut self.queue, place);
        }
    }

    /// A combination is being measured: it leaves the queue and is awaited.
    fn awaited(&mut self, c: &Combination<K>) {
        self.leave_queue(c);
        // There is room: no ask begins while there is none.
        let _ = self.pending.push(*c);
    }

    /// Takes in a measured value, of a combination asked for or not. A combination told before is averaged.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let c = tuner.ask()?.combination;
    /// tuner.tell(&c, 1.0)?;
    /// tuner.tell(&c, 3.0)?;
    /// assert_eq!(tuner.best_observed().map(|best| (best.value, best.repeats)), Some((2.0, 2)));
    /// assert!(tuner.tell(&c, f32::NAN).is_err());
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn tell(&mut self, c: &Combination<K>, value: f32) -> Result<(), TellError> {
        if !value.is_finite() {
            return Err(TellError::NonFinite);
        }
        self.take_in(c, Some(self.config.goal.flip(value)))
    }

    /// Takes in that measuring a combination failed: it crashed, hung or was unsafe. It is never asked again, and the model
    /// learns it as the worst value so far.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let c = tuner.ask()?.combination;
    /// tuner.tell_failed(&c)?;
    /// assert_eq!(tuner.best_observed(), None);
    /// assert_ne!(tuner.ask()?.combination, c);
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn tell_failed(&mut self, c: &Combination<K>) -> Result<(), TellError> {
        self.take_in(c, None)
    }

    fn take_in(&mut self, c: &Combination<K>, cost: Option<f32>) -> Result<(), TellError> {
        if self.space.knobs().is_empty() || !self.space.contains(c) {
            return Err(TellError::Foreign);
        }
        if !self.space.is_feasible(c) {
            return Err(TellError::Infeasible);
        }
        let known = self.model.observations.find(c).is_some_and(|i| i < self.len());
        if !known && self.model.observations.is_full() && self.config.when_full == WhenFull::Refuse {
            return Err(TellError::Full);
        }
        // Fantasies stand behind the observations and must go before one is added.
        self.cancel_ask();
        let observations = &mut self.model.observations;
        let changed = match (observations.find(c), cost) {
            (Some(i), Some(cost)) => {
                observations.repeat(i, cost);
                true
            }
            (Some(i), None) => {
                observations.fail(i);
                true
            }
            (None, cost) => {
                let forgot = self.make_room();
                let x = self.model.geometry.locate(&self.space, c);
                self.model.observations.push(c, cost, &x);
                forgot
            }
        };
        self.leave_queue(c);
        self.cancel(c);
        self.tells = self.tells.wrapping_add(1);
        self.repeats = self.repeats.wrapping_add(u32::from(known));
        let factors = self.model.factors;
        self.model.learn(&self.space, &self.config, changed);
        let best = self.model.observations.ranked(0).map(|o| o.combination);
        if self.model.factors != factors || best.as_ref() != self.table.incumbent() {
            self.refresh_table();
        }
        Ok(())
    }

    /// Room for one more observation, by the user's policy; whether one was forgotten.
    fn make_room(&mut self) -> bool {
        let observations = &mut self.model.observations;
        if !observations.is_full() {
            return false;
        }
        let forgotten = if self.config.when_full == WhenFull::ForgetOldest { 0 } else { observations.worst() };
        observations.remove(forgotten);
        self.model.forgot();
        true
    }

    /// Takes in one record of a log. Records in their order rebuild the tuner that they are the log of, bit for bit.
    ///
    /// ```
    /// use trimtab::{Config, Event, Knob, Record, Space};
    /// const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// let (mut first, mut second) = (Two::new(), Two::new());
    /// for tuner in [&mut first, &mut second] {
    ///     tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// }
    /// for i in 0..6 {
    ///     let c = first.ask()?.combination;
    ///     let event = if i == 2 { Event::Failed } else { Event::Told(i as f32) };
    ///     let record = Record::new(&c, event);       // written to flash here
    ///     first.replay(&record)?;                    // does what tell or tell_failed does
    ///     second.replay(&record)?;                   // after a power cut
    /// }
    /// assert_eq!(first.ask(), second.ask());
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn replay(&mut self, record: &Record<K>) -> Result<(), Error> {
        let c = record.combination(&self.space)?;
        match record.event {
            Event::Told(value) => self.tell(&c, value)?,
            Event::Failed => self.tell_failed(&c)?,
            Event::Enqueued => self.enqueue(&c)?,
            Event::Asked => {
                if self.space.knobs().is_empty() {
                    return Err(AskError::Uninitialised.into());
                }
                if self.pending.is_full() {
                    return Err(AskError::TooManyPending { most: MOST_PENDING }.into());
                }
                if !self.space.is_feasible(&c) {
                    return Err(EnqueueError::Infeasible.into());
                }
                if self.pending.contains(&c) {
                    return Err(EnqueueError::Known.into());
                }
                self.cancel_ask();
                self.awaited(&c);
            }
        }
        Ok(())
    }

    /// Whether a combination may be asked: feasible, without an outcome, and not being measured.
    #[inline(never)]
    fn is_open(&self, c: &Combination<K>) -> bool {
        self.model.observations.find(c).is_none() && !self.pending.contains(c) && self.space.is_feasible(c)
    }

    /// The first of the queue that may still be asked.
    fn queued(&self) -> Option<Combination<K>> {
        self.queue.iter().find(|c| self.is_open(c)).copied()
    }

    /// The incumbent, if the user allows measuring it again and it is in doubt whether it is the best: the expected lead over the runner-up
    /// is less than the uncertainty of the two. At most every second measurement is a repeat.
    fn doubtful(&self) -> Option<Combination<K>> {
        if self.config.remeasure <= 1 || self.repeats >= self.tells.div_ceil(2) {
            return None;
        }
        let (Some(best), Some(second)) = self.by_posterior() else { return None };
        let observed = self.model.observations.find(&best.combination).and_then(|i| self.model.observations.get(i))?;
        let lead = second.posterior.mean - best.posterior.mean;
        let doubt = lead * lead < best.posterior.variance + second.posterior.variance;
        let allowed = observed.repeats < self.config.remeasure && !self.pending.contains(&best.combination);
        (doubt && allowed).then_some(best.combination)
    }

    /// The two measured combinations with the smallest posterior means.
    fn by_posterior(&self) -> (Option<Scored<K>>, Option<Scored<K>>) {
        let measured = (0..self.len()).filter_map(|i| self.model.observations.get(i)).filter(|o| !o.is_failure());
        let scored = measured.filter_map(|o| self.score_of(&o.combination));
        scored.fold((None, None), |(best, second): (Option<Scored<K>>, Option<Scored<K>>), next| {
            let below = |other: Option<Scored<K>>| other.is_none_or(|o| next.posterior.mean < o.posterior.mean);
            match (below(best), below(second)) {
                (true, _) => (Some(next), best),
                (false, true) => (best, Some(next)),
                (false, false) => (best, second),
            }
        })
    }

    /// A combination that may be asked, whatever the model thinks: drawn, or the next one in order after a draw.
    #[inline(never)]
    fn any(&self, purpose: Purpose) -> Result<Combination<K>, AskError> {
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

    /// A combination with the model's opinion, and no score.
    #[inline(never)]
    fn score_of(&self, c: &Combination<K>) -> Option<Scored<K>> {
        let posterior = self.model.posterior(&self.space, c, &self.hyper(), None)?;
        Some(Scored { combination: *c, posterior, score: 0.0 })
    }

    /// As above, and no opinion either before the first outcome.
    fn unscored(&self, c: Combination<K>) -> Scored<K> {
        let unknown = Posterior { mean: 0.0, variance: f32::INFINITY };
        let known = if self.is_empty() { None } else { self.score_of(&c) };
        known.unwrap_or(Scored { combination: c, posterior: unknown, score: 0.0 })
    }

    fn proposal(&self, scored: Scored<K>) -> Proposal<K> {
        let Estimate { combination, mean, std_dev } = self.estimate(scored);
        Proposal { combination, mean, std_dev, score: scored.score }
    }

    /// In the user's units and sign.
    fn estimate(&self, scored: Scored<K>) -> Estimate<K> {
        let Posterior { mean, variance } = scored.posterior;
        Estimate {
            combination: scored.combination,
            mean: self.config.goal.flip(self.model.standard.undo(mean)),
            std_dev: sqrt(variance) * self.model.standard.deviation(),
        }
    }

    /// In the user's sign.
    fn shown(&self, observation: Observation<K>) -> Observation<K> {
        Observation { value: self.config.goal.flip(observation.value), ..observation }
    }

    /// ln N.
    fn log_cardinality(&self) -> f32 {
        self.space.knobs().iter().fold(0.0, |sum, knob| sum + ln(knob.levels() as f32))
    }

    fn random(&self, purpose: Purpose) -> Random {
        let awaited = self.pending.len() as u64;
        Random::new(self.seed, (purpose as u64) << 48 | awaited << 32 | u64::from(self.tells))
    }
}

impl<const K: usize, const M: usize, const D: usize, const T: usize, const L: usize, const P: usize> Default
    for Tuner<K, M, D, T, L, P>
{
    fn default() -> Self {
        Self::new()
    }
}

/// The type of a tuner for a constant array of knobs: works the sizes out.
///
/// `observations` is the most that are kept, `rows` how many candidates the lookup table has. With `dimensions` a space of more
/// features is projected to that many at random, as the paper does; without, nothing is projected, which is better.
///
/// ```
/// use trimtab::{Config, Knob, Space, Tuner};
/// const KNOBS: [Knob; 3] = [Knob::nominal(4), Knob::ranked(8), Knob::nominal(3)];
/// type MyTuner = trimtab::tuner!(KNOBS, observations: 32, rows: 64);
///
/// let mut tuner = MyTuner::new();
/// tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
/// for _ in 0..32 {
///     let proposal = tuner.ask()?;
///     let [mux, wait, mode] = proposal.combination.levels() else { unreachable!() };
///     let cost = f32::from(*mux) + (f32::from(*wait) - 5.0).abs() + f32::from(*mode);
///     tuner.tell(&proposal.combination, cost)?;
/// }
/// assert_eq!(tuner.best_observed().map(|best| best.value), Some(0.0));
/// # Ok::<(), trimtab::Error>(())
/// ```
#[macro_export]
macro_rules! tuner {
    ($knobs:expr, observations: $t:expr, rows: $l:expr) => {
        $crate::Tuner<
            { $knobs.len() },
            0,
            { $crate::encoding::graded_features(&$knobs) },
            { $t },
            { $l },
            { $crate::matrix::triangle($t) },
        >
    };
    ($knobs:expr, observations: $t:expr, rows: $l:expr, dimensions: $d:expr) => {
        $crate::Tuner<
            { $knobs.len() },
            { $crate::encoding::features(&$knobs) },
            { $d },
            { $t },
            { $l },
            { $crate::matrix::triangle($t) },
        >
    };
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::knob::{Knob, Scale};

    #[test]
    fn pruning_never_changes_the_winner() {
        static VALUES: [f32; 12] = [1.0, 2.0, 4.0, 7.0, 11.0, 16.0, 22.0, 29.0, 37.0, 46.0, 56.0, 67.0];
        const KNOBS: [Knob; 7] = [
            Knob::nominal(2),
            Knob::nominal(5),
            Knob::ranked(9),
            Knob::graded(&VALUES, Scale::Log),
            Knob::nominal(2),
            Knob::nominal(3),
            Knob::nominal(2),
        ];
        type Seven = crate::tuner!(KNOBS, observations: 40, rows: 96);
        for seed in 0..12 {
            let mut tuner = std::boxed::Box::new(Seven::new());
            tuner.init(Space::new(&KNOBS).unwrap(), Config::default(), seed).unwrap();
            for t in 0..40 {
                if t >= 4 {
                    let search = |prune: bool| {
                        let mut tuner = tuner.clone();
                        tuner.ask_begin().unwrap();
                        while tuner.score_candidates(50, prune, None) {}
                        tuner.asking.search.best()
                    };
                    assert_eq!(search(true), search(false), "seed {seed}, t = {t}");
                }
                let c = tuner.ask().unwrap().combination;
                let cost = |(i, l): (usize, &u8)| (f32::from(*l) - 1.3 * i as f32) * (f32::from(*l) - 1.3 * i as f32);
                tuner.tell(&c, c.levels().iter().enumerate().map(cost).sum()).unwrap();
            }
        }
    }

    #[test]
    fn after_forgetting_the_factor_is_that_of_a_fresh_start() {
        const KNOBS: [Knob; 4] = [Knob::nominal(3), Knob::ranked(6), Knob::nominal(2), Knob::ranked(5)];
        type Four = crate::tuner!(KNOBS, observations: 10, rows: 32);
        for when_full in [WhenFull::ForgetOldest, WhenFull::ForgetWorst] {
            let config = Config { when_full, ..Config::default() };
            let mut tuner = std::boxed::Box::new(Four::new());
            tuner.init(Space::new(&KNOBS).unwrap(), config, 3).unwrap();
            for i in 0..30 {
                let c = tuner.ask().unwrap().combination;
                if i % 7 == 3 {
                    tuner.tell_failed(&c).unwrap();
                } else {
                    tuner.tell(&c, c.levels().iter().map(|l| (f32::from(*l) - 1.0).abs()).sum()).unwrap();
                }
                let mut fresh = tuner.clone();
                fresh.model.gp.clear();
                fresh.model.rebuild(&fresh.space, &fresh.config);
                assert_eq!(
                    std::format!("{:?}", tuner.model.gp),
                    std::format!("{:?}", fresh.model.gp),
                    "{when_full:?} {i}"
                );
            }
        }
    }
}
