//! Algorithm 1 as ask, tell and best.
//!
//! | name | meaning |
//! |---|---|
//! | K | most knobs |
//! | M | most features |
//! | D | dimensions of the random map, 0 for no projection |
//! | T | most observations |
//! | L | rows of the lookup table |
//! | P | T(T + 1)/2, the numbers of the factor |
//!
//! **Choices.** The caller owns the loop, the clock and the hardware. Refused input leaves the tuner as it was. What is drawn depends on the
//! seed and on how many measurements were told, never on how often `ask` was called: asking again without telling gives
//! the same proposal, and seed, configuration and measurements rebuild the tuner. Hyper-parameters are fitted in `tell`, when the
//! observations have grown by a share (`Config::refit`), so that the work stays in proportion to what is learned.
//!
//! **Cost.** Memory is `size_of::<Tuner<…>>()`. `tell`: O(t²), O(t³) when it refits. `ask`: O(t²) a row.

use crate::config::Config;
use crate::costs::Standard;
use crate::embedding::{Distribution, RandomMap};
use crate::encoding::Encoder;
use crate::error::{AskError, InitError, TellError};
use crate::fit::Fit;
use crate::gp::{Gp, Posterior};
use crate::kernel::{Hyper, Point};
use crate::math::{ln, sqrt};
use crate::observations::{Observation, Observations};
use crate::proposal::{Proposal, Scored, Search};
use crate::random::Random;
use crate::space::{Combination, Space};
use crate::table::{INCUMBENTS, LookupTable};

/// What random numbers are for. The random map takes stream 0.
#[derive(Clone, Copy)]
enum Purpose {
    Initial = 1,
    Rows = 2,
    Scan = 3,
}

/// Random draws before combinations are tried in order.
const DRAWS: u32 = 64;
/// Combinations tried in order before giving up on a space too large to be tried whole.
const SCAN: u32 = 1 << 16;
/// Observations that a fit needs to say anything.
const LEAST_FIT: usize = 3;

/// A tuner of at most K knobs and T observations. [`tuner!`](crate::tuner!) works the sizes out.
#[derive(Clone, Debug)]
pub struct Tuner<const K: usize, const M: usize, const D: usize, const T: usize, const L: usize, const P: usize> {
    space: Space<K>,
    config: Config,
    seed: u64,
    encoder: Encoder<K>,
    /// Makes the mean of z·z over all combinations 1.
    feature_scale: f32,
    map: RandomMap<D, M>,
    projected: bool,
    observations: Observations<K, M, D, T>,
    tells: u32,
    standard: Standard,
    gp: Gp<T, P>,
    fit: Fit,
    next_fit: usize,
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
            encoder: Encoder::empty(),
            feature_scale: 0.0,
            map: RandomMap::new(),
            projected: false,
            observations: Observations::new(),
            tells: 0,
            standard: Standard::ZERO,
            gp: Gp::new(),
            fit: Fit::ZERO,
            next_fit: 0,
        }
    }

    /// Makes the tuner ready for a space, and forgets what it was told. On an error it is as it was.
    pub fn init(&mut self, space: Space<K>, config: Config, seed: u64) -> Result<(), InitError> {
        let encoder = Encoder::new(&space, config.encoding);
        let m = encoder.features();
        if m > M {
            return Err(InitError::TooManyFeatures { needed: m, most: M });
        }
        let identity_fits = D == 0 || D >= m;
        let map = config.map.unwrap_or(if identity_fits { Distribution::Identity } else { Distribution::Centred });
        self.projected = map != Distribution::Identity;
        if self.projected && D == 0 {
            return Err(InitError::NoDimensions);
        }
        let mean_square = encoder.mean_square(&space);
        self.feature_scale = if mean_square > 0.0 { 1.0 / sqrt(mean_square) } else { 1.0 };
        self.map.draw(map, m, seed);
        let typical_square = if self.projected { 2.0 * mean_square * self.map.stretch(m) } else { 2.0 };
        self.fit = Fit::new(&config.fit, sqrt(typical_square));
        self.observations.clear();
        self.gp.clear();
        (self.space, self.config, self.seed, self.encoder) = (space, config, seed, encoder);
        (self.tells, self.standard, self.next_fit) = (0, Standard::NONE, LEAST_FIT);
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

    /// How many combinations are measured.
    pub fn len(&self) -> usize {
        self.observations.len()
    }

    /// Whether nothing is measured yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The measured combinations, in the order of their first measurement.
    pub fn observations(&self) -> impl Iterator<Item = Observation<K>> {
        (0..self.len()).filter_map(|i| self.observations.get(i))
    }

    /// The observation with the smallest cost; of equals the first.
    pub fn best(&self) -> Option<Observation<K>> {
        self.observations.ranked(0)
    }

    /// The hyper-parameters that the model has now.
    pub fn hyper(&self) -> Hyper {
        self.fit.hyper()
    }

    /// What to measure next. Asking again without telling gives the same proposal.
    pub fn ask(&mut self) -> Result<Proposal<K>, AskError> {
        if self.space.knobs().is_empty() {
            return Err(AskError::Uninitialised);
        }
        if self.len() < usize::from(self.config.initial.max(1)) {
            return self.any(Purpose::Initial);
        }
        let best = self.best().map_or(0.0, |best| self.standard.apply(best.cost));
        let rule = self.config.acquisition.prepare(self.len(), self.log_cardinality(), best);
        let mut random = self.random(Purpose::Rows);
        let best = (0..INCUMBENTS).filter_map(|rank| self.observations.ranked(rank)).map(|o| o.combination);
        let table = LookupTable::new(&self.space, L, random.up_to(u64::MAX), best);
        let mut search = Search::new(&self.space, table, self.config.descent, &mut random);
        while let Some(combination) = search.next(&self.space) {
            if self.is_open(&combination) {
                let posterior = self.posterior(&combination);
                search.report(Scored { combination, posterior, score: rule.score(posterior) });
            }
        }
        match search.best() {
            Some(best) => Ok(self.proposal(best)),
            None => self.any(Purpose::Scan),
        }
    }

    /// Takes in a measured cost, of a combination asked for or not. A combination told before is averaged.
    pub fn tell(&mut self, c: &Combination<K>, cost: f32) -> Result<(), TellError> {
        if !cost.is_finite() {
            return Err(TellError::NonFinite);
        }
        if self.space.knobs().is_empty() || !self.space.contains(c) {
            return Err(TellError::Foreign);
        }
        if !self.space.is_feasible(c) {
            return Err(TellError::Infeasible);
        }
        let known = self.observations.find(c);
        match known {
            Some(i) => self.observations.repeat(i, cost),
            None => {
                let (mut z, mut x) = ([0.0; M], [0.0; D]);
                self.locate(c, &mut z, &mut x);
                if !self.observations.push(c, cost, &z, &x) {
                    return Err(TellError::Full);
                }
            }
        }
        self.tells = self.tells.wrapping_add(1);
        self.learn(known.is_some());
        Ok(())
    }

    /// Brings the model up to date with the observations; `changed` if an old one is not what it was.
    fn learn(&mut self, changed: bool) {
        let n = self.len();
        let mut y = [0.0; T];
        let costs = self.observations.costs();
        if self.config.standardise {
            let cost = |rank| self.observations.ranked(rank).map_or(0.0, |o| o.cost);
            self.standard = Standard::of(costs, cost(0), cost(n / 2));
        }
        y.iter_mut().zip(costs).for_each(|(y, cost)| *y = self.standard.apply(*cost));
        let Some(y) = y.get(..n) else { return };

        let (observations, projected, prior) = (&self.observations, self.projected, &self.config.prior);
        let gp = &mut self.gp;
        if n >= self.next_fit && self.config.refit > 0 {
            self.next_fit = n + (n / usize::from(self.config.refit)).max(1);
            self.fit.sweep(&self.config.fit, |hyper| {
                match gp.rebuild(n, |i, j| observations.covariance(hyper, i, j, projected)) {
                    Ok(()) => {
                        gp.condition(y, prior);
                        gp.log_likelihood()
                    }
                    Err(_) => f32::NEG_INFINITY,
                }
            });
        } else if !changed {
            let hyper = self.fit.hyper();
            // A row that cannot be appended leaves the factor one short, which is seen below.
            let _ = gp.append(|j| observations.covariance(&hyper, n - 1, j, projected));
        } else {
            gp.clear();
        }
        // More noise makes any covariance factorisable; the bound only ends what cannot be.
        while gp.len() < n {
            let hyper = self.fit.hyper();
            let rebuilt = gp.rebuild(n, |i, j| observations.covariance(&hyper, i, j, projected));
            if rebuilt.is_ok() || !self.fit.add_noise() {
                break;
            }
        }
        gp.condition(y, prior);
    }

    /// Whether a combination may be asked: feasible and not measured.
    fn is_open(&self, c: &Combination<K>) -> bool {
        self.observations.find(c).is_none() && self.space.is_feasible(c)
    }

    /// A combination that may be asked, whatever the model thinks: drawn, or the next one in order after a draw.
    fn any(&self, purpose: Purpose) -> Result<Proposal<K>, AskError> {
        let mut random = self.random(purpose);
        let drawn = (0..DRAWS).map(|_| self.space.draw(&mut random)).find(|c| self.is_open(c));
        let last = self.space.last_index();
        let start = random.up_to(last);
        let tried = last.saturating_add(1).min(u64::from(SCAN)) as u32;
        let in_order = || {
            let indices = (0..u64::from(tried))
                .map(|i| start.checked_add(i).filter(|i| *i <= last).unwrap_or_else(|| i - (last - start) - 1));
            indices.filter_map(|i| self.space.at(i)).find(|c| self.is_open(c))
        };
        let Some(combination) = drawn.or_else(in_order) else {
            let complete = last < u64::from(SCAN);
            return Err(if complete { AskError::Exhausted } else { AskError::NoneFound { tried } });
        };
        if self.is_empty() {
            return Ok(Proposal { combination, mean: 0.0, std_dev: f32::INFINITY, score: 0.0 });
        }
        Ok(self.proposal(Scored { combination, posterior: self.posterior(&combination), score: 0.0 }))
    }

    /// In the user's units.
    fn proposal(&self, scored: Scored<K>) -> Proposal<K> {
        let Posterior { mean, variance } = scored.posterior;
        Proposal {
            combination: scored.combination,
            mean: self.standard.undo(mean),
            std_dev: sqrt(variance) * self.standard.deviation(),
            score: scored.score,
        }
    }

    /// The model's opinion of a combination, in standardised units.
    fn posterior(&self, c: &Combination<K>) -> Posterior {
        let (mut z, mut x) = ([0.0; M], [0.0; D]);
        self.locate(c, &mut z, &mut x);
        let point = Point { x: if self.projected { &x } else { &z }, z: &z };
        let hyper = self.fit.hyper();
        self.gp.posterior(hyper.covariance(point, point), |j| {
            hyper.covariance(point, self.observations.point(j, self.projected))
        })
    }

    /// Where the kernel sees a combination: z centred and scaled, x = R·z before that.
    fn locate(&self, c: &Combination<K>, z: &mut [f32; M], x: &mut [f32; D]) {
        self.encoder.encode(&self.space, c, z);
        if self.projected {
            self.map.embed(z, x);
        }
        self.encoder.centre(&self.space, z);
        z.iter_mut().for_each(|z| *z *= self.feature_scale);
    }

    /// ln N.
    fn log_cardinality(&self) -> f32 {
        self.space.knobs().iter().fold(0.0, |sum, knob| sum + ln(knob.levels() as f32))
    }

    fn random(&self, purpose: Purpose) -> Random {
        Random::new(self.seed, (purpose as u64) << 32 | u64::from(self.tells))
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
/// features is projected to that many; without, nothing is projected.
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
/// assert_eq!(tuner.best().map(|best| best.cost), Some(0.0));
/// # Ok::<(), trimtab::Error>(())
/// ```
#[macro_export]
macro_rules! tuner {
    ($knobs:expr, observations: $t:expr, rows: $l:expr) => {
        $crate::tuner!($knobs, observations: $t, rows: $l, dimensions: 0)
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
