//! The tuner: algorithm 1 as ask, tell and best.
//!
//! | name | meaning |
//! |---|---|
//! | K | most knobs |
//! | M | most features under a random map; most levels of graded knobs without one |
//! | D | dimensions of the random map, 0 for a tuner without one |
//! | T | most observations |
//! | L | rows of the lookup table |
//! | P | T(T + 1)/2, the numbers of the factor |
//! | N | numbers that a prior keeps per observation, 0 for a tuner without one |
//! | G | most limits, gⱼ(c) ≥ 0 |
//! | A | most pending combinations |
//! | S | where the configuration comes from |
//!
//! **Choices**
//! - The caller owns the loop, the clock and the hardware. A refused call leaves the tuner
//!   unchanged.
//! - Draws depend on the seed, the number of outcomes and the number of pending asks, so seed,
//!   configuration and records rebuild the tuner.
//! - An ask takes, in this order: the queue; random combinations until there are enough
//!   observations; the smallest score of the table, or one of the best again, if there is noise and
//!   that is worth much more.
//! - A pending combination is not asked again, and it is fantasised only while candidates are scored.
//!   Predictions depend on the observations alone; there are none meanwhile.
//!
//! **Cost.** `tell`: O(t²), or O(t³) if it fits. `ask`: O(t²) per row, or O(t) per row and new
//! observation with a cache; each slice adds O(t²) per pending combination. Memory is
//! `size_of::<Tuner<…>>()`. Bytes for 24 two-level knobs on a 64-bit machine, by
//! `cargo test -p trimtab-tests --test suite sizes -- --nocapture` (a 32-bit chip takes a few
//! hundred less):
//!
//! | T | L | D | no projection | projected to D | cache, no projection |
//! |---:|---:|---:|---:|---:|---:|
//! | 32 | 64 | 8 | 11440 | 13520 | 4632 |
//! | 64 | 256 | 8 | 22384 | 25488 | 34840 |
//! | 128 | 256 | 16 | 53488 | 63504 | 67608 |

mod again;
mod ask;
mod chance;
mod declare;
mod draw;
pub(crate) mod inspect;
mod limits;
mod lookup;
mod prior;
pub(crate) mod proposal;
pub(crate) mod record;
mod search;
mod settled;
mod tell;

use heapless::Vec;

use crate::acquire::sweep::Scored;
use crate::acquire::table::LookupTable;
use crate::config::{AtInit, Chosen, Config, Settings};
use crate::error::InitError;
use crate::math::float::sqrt;
use crate::math::random::Random;
use crate::space::{Combination, Space};
pub use crate::surrogate::MOST_PENDING;
use crate::surrogate::gp::Posterior;
pub use crate::surrogate::limits::MOST_LIMITS;
use crate::surrogate::observations::Observation;
use crate::surrogate::{ANY, Model};

use again::Again;
use ask::Stage;
pub use limits::Margins;
pub use lookup::Region;
use proposal::Estimate;
use search::Search;

/// What random numbers are for: one stream each. The random map takes stream 0.
#[derive(Clone, Copy)]
enum Purpose {
    Initial = 1,
    Scan = 3,
    Sweep = 4,
    Box = 5,
}

/// What the variance of the best is multiplied by: 1.25². The best of many is more often too good
/// to be true than too bad.
const MISSES: f32 = 1.5625;

/// Tunes a space of at most K knobs with at most T observations: [`ask`](Self::ask), measure,
/// [`tell`](Self::tell), repeat. [`tuner!`](crate::tuner!) computes the sizes.
///
/// | to | call |
/// |---|---|
/// | start | [`new`](Self::new), [`init`](Self::init) |
/// | get the next combination | [`ask`](Self::ask); in slices [`ask_begin`](Self::ask_begin) and [`ask_step`](Self::ask_step); with a cache [`ask_with`](Self::ask_with), [`ask_step_with`](Self::ask_step_with) |
/// | report its outcome | [`tell`](Self::tell), [`tell_failed`](Self::tell_failed), [`cancel`](Self::cancel); in slices [`tell_begin`](Self::tell_begin) and [`tell_step`](Self::tell_step) |
/// | read the result | [`best_observed`](Self::best_observed), [`best_posterior`](Self::best_posterior), [`predict`](Self::predict) |
/// | start with known settings | [`enqueue`](Self::enqueue) |
/// | survive a power cut | write a [`Record`](crate::Record) per outcome, [`replay`](Self::replay) |
/// | end when more would gain little | [`is_settled`](Self::is_settled) |
/// | run the paper's method | [`ask_lookup`](Self::ask_lookup), [`ask_recon`](Self::ask_recon) |
///
/// # How large
///
/// | | choose | because |
/// |---|---|---|
/// | `observations` | as many as you will measure, repeats of a combination counted once; 64 to start with | when it is full, a tuner refuses more or forgets ([`WhenFull`](crate::WhenFull)); memory grows with its square, time per ask too |
/// | | fewer where RAM is short | 32 take 9 KB, 64 take 19 KB, 128 take 48 KB, for 24 relays (the table in this module's source) |
/// | `rows` | 256, what the benchmarks ran with | eight bytes each; half as many are candidates of an ask, whose time grows with them |
/// | | 1024, if many knobs are nominal with more than two levels | 256 are hardly one round over all of them |
/// | | the number of combinations, if there are no more than a few hundred | then every one is a candidate, and the choice is exact |
/// | | fewer where time is short | the best of fewer candidates is proposed |
///
/// ```
/// use trimtab::{Config, Knob, Space, Tuner, sizes::triangle};
/// const BITS: [Knob; 4] = [Knob::nominal(2); 4];
/// // K = 4 knobs, no projection, nothing graded, T = 8 observations, L = 16 rows.
/// let mut tuner = Tuner::<4, 0, 0, 8, 16, { triangle(8) }>::new();
/// tuner.init(Space::new(&BITS)?, Config::default(), 1)?;
/// for _ in 0..8 {
///     let c = tuner.ask()?.combination;
///     tuner.tell(&c, c.levels().iter().map(|level| f32::from(*level)).sum())?;
/// }
/// assert_eq!(tuner.best_observed().map(|best| best.value), Some(0.0)); // all four off
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Tuner<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
    const N: usize = 0,
    const G: usize = 0,
    const A: usize = MOST_PENDING,
    S: Settings = AtInit,
> {
    seed: u64,
    /// Number of outcomes told, and how many of them were for a combination that already had one.
    tells: u32,
    repeats: u32,
    /// Number of inits: a cache filled before the last one is stale.
    inits: u32,
    /// An outcome that waits for the table, if one does: an `Option` would not be all zero.
    is_waiting: bool,
    waiting: (Combination<K>, Option<f32>),
    waiting_margins: ([f32; G], u8),
    config: Chosen<S>,
    asking: Stage<K>,
    again: Again<K>,
    search: Search<K, T>,
    space: Space<K>,
    model: Model<K, M, D, T, P, N, G>,
    pending: Vec<Combination<K>, A>,
    queue: Vec<Combination<K>, MOST_PENDING>,
    table: LookupTable<K, L>,
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
    /// All zero, so that a static tuner costs no flash. Call [`init`](Self::init) before anything
    /// else.
    pub const fn new() -> Self {
        const { assert!(T >= 1 && T <= u16::MAX as usize, "a tuner holds 1 to 65 535 observations") };
        const { assert!(L >= 1, "the lookup table needs at least one row") };
        const { assert!(G <= MOST_LIMITS, "a tuner has at most four limits") };
        const { assert!(A >= 1 && A <= u16::MAX as usize, "1 to 65 535 combinations can be pending") };
        Self {
            space: Space::empty(),
            config: Chosen::ZERO,
            seed: 0,
            model: Model::new(),
            tells: 0,
            repeats: 0,
            inits: 0,
            table: LookupTable::EMPTY,
            search: Search::NONE,
            queue: Vec::new(),
            pending: Vec::new(),
            asking: Stage::None,
            again: Again::NONE,
            is_waiting: false,
            waiting: (Combination::EMPTY, None),
            waiting_margins: ([0.0; G], 0),
        }
    }

    /// Initialises the tuner for a space and forgets everything before. On an error the tuner is
    /// unchanged.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let first = tuner.ask()?;
    /// tuner.tell(&first.combination, 1.0)?;
    /// tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?; // all over again
    /// assert!(tuner.is_empty());
    /// assert_eq!(tuner.ask()?, first); // the same seed, the same bits
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn init(&mut self, space: Space<K>, config: Config, seed: u64) -> Result<(), InitError> {
        let config = Chosen::new(config).ok_or(InitError::OtherConfig)?;
        self.model.init(&space, &config, seed)?;
        self.queue.clear();
        self.pending.clear();
        (self.space, self.config, self.seed) = (space, config, seed);
        (self.tells, self.repeats, self.asking, self.is_waiting) = (0, 0, Stage::None, false);
        self.inits = self.inits.wrapping_add(1);
        self.table.clear();
        Ok(())
    }

    /// The space.
    pub fn space(&self) -> &Space<K> {
        &self.space
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Number of combinations with an outcome, including failures.
    pub fn len(&self) -> usize {
        self.model.observations.len()
    }

    /// Whether no combination has an outcome yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of combinations that failed.
    pub fn failures(&self) -> usize {
        self.len() - self.model.observations.measured()
    }

    /// The pending combinations: asked and not told.
    pub fn pending(&self) -> &[Combination<K>] {
        &self.pending
    }

    /// The queued combinations, in the order in which they will be asked.
    pub fn queue(&self) -> &[Combination<K>] {
        &self.queue
    }

    /// All observations, in the order of their first outcome.
    pub fn observations(&self) -> impl Iterator<Item = Observation<K>> {
        (0..self.len()).filter_map(|i| self.model.observations.get(i)).map(|o| self.in_user_sign(o))
    }

    /// The observation with the best mean value, of those that keep all limits; of equals the first.
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
        self.model.best().and_then(|i| self.model.observations.get(i)).map(|o| self.in_user_sign(o))
    }

    /// The measured combination with the best predicted value. With noise this is safer than the
    /// best measured value, which may have been luck. `None` before the
    /// first value, and while a tell in slices, or an ask in slices beside pending combinations, is
    /// under way.
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
        if !self.model.is_settled() {
            return None;
        }
        self.measured_estimate(self.by_posterior()?)
    }

    /// What is believed of a measured combination, with an honest uncertainty.
    fn measured_estimate(&self, i: usize) -> Option<Estimate<K>> {
        let Model { observations, noise, .. } = &self.model;
        let (c, mut posterior) = (observations.combination(i)?, self.model.measured(i)?);
        posterior.variance = MISSES * (posterior.variance + noise.doubt / observations.repeats(i));
        Some(self.estimate(Scored { combination: *c, posterior, score: 0.0 }))
    }

    /// The model's prediction for a combination, or `None` before the first outcome, for a
    /// combination of another space, and while a tell in slices, or an ask in slices beside pending
    /// combinations, is under way.
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
        if self.is_empty() || !self.model.is_settled() || !self.space.contains(c) {
            return None;
        }
        let measured = self.model.observations.find(c).and_then(|i| self.measured_estimate(i));
        measured.or_else(|| self.score_of(c).map(|scored| self.estimate(scored)))
    }

    /// The standard deviation of the noise of one measurement that the model believes in, in the
    /// units of the values; 0 if it believes in none.
    pub fn noise(&self) -> f32 {
        let share = if self.is_empty() { 0.0 } else { self.model.noise.used.noise };
        sqrt(share * self.model.gp.signal()) * self.model.low_unit()
    }

    /// How much a knob matters to the model, in units of its own: 0 if its level makes no
    /// difference. A tuner with a random map mixes the knobs and has no such numbers: 0 for each.
    pub fn relevance(&self, knob: usize) -> f32 {
        if D > 0 { 0.0 } else { self.model.product.factors().get(knob).map_or(0.0, |factor| factor.relevance()) }
    }

    /// How often the model was rebuilt rather than extended: by a fit, or because an old observation
    /// changed.
    pub fn rebuilds(&self) -> u32 {
        self.model.factors
    }

    /// Number of table rows.
    fn rows(&self) -> usize {
        limited(self.config.rows, L)
    }

    /// Whether there is no room for a new combination.
    fn is_full(&self) -> bool {
        self.len() >= limited(self.config.observations, T)
    }

    /// Whether a combination may be asked: feasible, without an outcome, and not pending.
    #[inline(never)]
    fn is_open(&self, c: &Combination<K>) -> bool {
        let is_known = self.model.observations.find(c).is_some() || self.pending.contains(c);
        !is_known && self.space.is_feasible(c) && self.space.is_canonical(c)
    }

    /// The measured observation with the smallest posterior mean that keeps all limits; of equals the
    /// first.
    fn by_posterior(&self) -> Option<usize> {
        let keeping = (0..self.len()).filter(|i| self.model.is_believed_to_keep(*i));
        let means = keeping.filter_map(|i| Some((i, self.model.measured_mean(i)?)));
        means.reduce(|best, other| if other.1 < best.1 { other } else { best }).map(|(i, _)| i)
    }

    /// A combination with its posterior and a score of 0.
    #[inline(never)]
    fn score_of(&self, c: &Combination<K>) -> Option<Scored<K>> {
        let mut most = f32::INFINITY;
        let posterior = self.model.posterior(&self.space, c, &ANY, &mut most)?;
        Some(Scored { combination: *c, posterior, score: 0.0 })
    }

    /// Converts to the user's units and sign.
    fn estimate(&self, scored: Scored<K>) -> Estimate<K> {
        let Posterior { mean, variance, .. } = scored.posterior;
        let (cost, unit) = self.model.unmodelled(mean);
        Estimate { combination: scored.combination, mean: self.config.goal.flip(cost), std_dev: sqrt(variance) * unit }
    }

    /// Converts to the user's sign.
    fn in_user_sign(&self, observation: Observation<K>) -> Observation<K> {
        Observation { value: self.config.goal.flip(observation.value), ..observation }
    }

    #[inline(never)]
    fn random(&self, purpose: Purpose) -> Random {
        // Sweeps know nothing of pending combinations.
        let pending = if let Purpose::Sweep = purpose { 0 } else { self.pending.len() as u64 };
        Random::new(self.seed, (purpose as u64) << 48 | pending << 32 | u64::from(self.tells))
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
> Default for Tuner<K, M, D, T, L, P, N, G, A, S>
{
    fn default() -> Self {
        Self::new()
    }
}

/// The smaller of a configured limit and the room; a limit of 0 means no limit.
fn limited(limit: u16, room: usize) -> usize {
    if limit == 0 { room } else { room.min(usize::from(limit)) }
}

#[cfg(test)]
mod tests;
