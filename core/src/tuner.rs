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
//! seed and on how many measurements were told, never on how often `ask` was called: asking again without telling gives
//! the same proposal, and seed, configuration and measurements rebuild the tuner. Hyper-parameters are fitted in `tell`, when the
//! observations have grown by a share (`Config::refit`), so that the work stays in proportion to what is learned.
//!
//! **Cost.** Memory is `size_of::<Tuner<…>>()`. `tell`: O(t²), O(t³) when it refits. `ask`: O(t²) a row.

use crate::acquisition::Rule;
use crate::cholesky::CholeskyError;
use crate::config::Config;
use crate::costs::Standard;
use crate::error::{AskError, InitError, TellError};
use crate::fit::Fit;
use crate::gp::{Gp, Posterior};
use crate::kernel::Hyper;
use crate::likeness::{Geometry, Place};
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
    geometry: Geometry<K, M, D>,
    observations: Observations<K, D, T>,
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
            geometry: Geometry::empty(),
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
        self.geometry.init(&space, &config, seed)?;
        self.fit = Fit::new(&config.fit, sqrt(self.geometry.typical_square()));
        self.observations.clear();
        self.gp.clear();
        (self.space, self.config, self.seed) = (space, config, seed);
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
        match self.search(true) {
            Some(best) => Ok(self.proposal(best)),
            None => self.any(Purpose::Scan),
        }
    }

    /// The best candidate of table and descent. Pruning leaves out work, never the winner: the test compares both.
    fn search(&self, prune: bool) -> Option<Scored<K>> {
        let best = self.best().map_or(0.0, |best| self.standard.apply(best.cost));
        let rule = self.config.acquisition.prepare(self.len(), self.log_cardinality(), best);
        let hyper = self.fit.hyper();
        let mut random = self.random(Purpose::Rows);
        let best = (0..INCUMBENTS).filter_map(|rank| self.observations.ranked(rank)).map(|o| o.combination);
        // Table and descent share the L rows, so that an ask has a bound; the table keeps at least half.
        let descent = usize::from(self.config.descent).min(L / 2);
        let table = LookupTable::new(&self.space, L, descent, random.bits(), best);
        let mut search = Search::new(&self.space, table, descent, &mut random);
        while let Some(combination) = search.next(&self.space) {
            if !self.is_open(&combination) {
                continue;
            }
            let bar = search.best().filter(|_| prune).map_or(f32::INFINITY, |best| best.score);
            if let Some(posterior) = self.posterior(&combination, &hyper, Some((&rule, bar))) {
                search.report(Scored { combination, posterior, score: rule.score(posterior) });
            }
        }
        search.best()
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
                if !self.observations.push(c, cost, &self.geometry.locate(&self.space, c)) {
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

        let (gp, prior) = (&mut self.gp, &self.config.prior);
        let known = Known { space: &self.space, geometry: &self.geometry, observations: &self.observations };
        if n >= self.next_fit && self.config.refit > 0 {
            self.next_fit = n + (n / usize::from(self.config.refit)).max(1);
            self.fit.sweep(&self.config.fit, |hyper| {
                gp.clear();
                if known.extend(gp, hyper).is_err() {
                    return f32::NEG_INFINITY;
                }
                gp.condition(y, prior);
                gp.log_likelihood()
            });
        } else if changed {
            gp.clear();
        }
        // A factor that broke down is built again with more noise, which makes any covariance factorisable.
        while known.extend(gp, &self.fit.hyper()).is_err() && self.fit.add_noise() {
            gp.clear();
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
        let tried = if last < u64::from(SCAN) { last as u32 + 1 } else { SCAN };
        let in_order = || {
            let start = self.space.draw(&mut random);
            let counted = core::iter::successors(Some(start), |c| Some(self.space.after(*c)));
            counted.take(tried as usize).find(|c| self.is_open(c))
        };
        let Some(combination) = drawn.or_else(in_order) else {
            return Err(if last < u64::from(SCAN) { AskError::Exhausted } else { AskError::NoneFound { tried } });
        };
        if self.is_empty() {
            return Ok(Proposal { combination, mean: 0.0, std_dev: f32::INFINITY, score: 0.0 });
        }
        let unknown = Posterior { mean: 0.0, variance: 0.0 };
        let posterior = self.posterior(&combination, &self.fit.hyper(), None).unwrap_or(unknown);
        Ok(self.proposal(Scored { combination, posterior, score: 0.0 }))
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

    /// The model's opinion of a combination, in standardised units; none once its score cannot be below the bar.
    #[inline(never)]
    fn posterior(&self, c: &Combination<K>, hyper: &Hyper, bar: Option<(&Rule, f32)>) -> Option<Posterior> {
        let x = self.geometry.locate(&self.space, c);
        let place = Place { combination: c, x: &x };
        let known = Known { space: &self.space, geometry: &self.geometry, observations: &self.observations };
        let own = hyper.variance(self.geometry.own_likeness(&self.space, place));
        let needed = |mean| bar.map_or(0.0, |(rule, bar)| rule.needed_variance(mean, bar));
        self.gp.posterior_above(own, |row| known.covariances(hyper, place, row), needed)
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

/// What is known of the combinations measured so far: what the surrogate is built from.
struct Known<'a, const K: usize, const M: usize, const D: usize, const T: usize> {
    space: &'a Space<K>,
    geometry: &'a Geometry<K, M, D>,
    observations: &'a Observations<K, D, T>,
}

impl<const K: usize, const M: usize, const D: usize, const T: usize> Known<'_, K, M, D, T> {
    /// Writes the prior covariances of a combination with as many observations as `row` has room for.
    #[inline(never)]
    fn covariances(&self, hyper: &Hyper, place: Place<'_, K, D>, row: &mut [f32]) {
        for (k, other) in row.iter_mut().zip(self.observations.places()) {
            *k = hyper.covariance(self.geometry.likeness(self.space, place, other));
        }
    }

    /// Factorises on until the process has all observations. Noise joins on the diagonal; a mean of n measurements has an nth of it.
    #[inline(never)]
    fn extend<const P: usize>(&self, gp: &mut Gp<T, P>, hyper: &Hyper) -> Result<(), CholeskyError> {
        gp.extend(self.observations.len(), |i, row| {
            let Some(place) = self.observations.places().nth(i) else { return };
            self.covariances(hyper, place, row);
            if let Some(own) = row.last_mut() {
                *own += hyper.noise / self.observations.repeats(i);
            }
        })
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
/// assert_eq!(tuner.best().map(|best| best.cost), Some(0.0));
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
                    assert_eq!(tuner.search(true), tuner.search(false), "seed {seed}, t = {t}");
                }
                let c = tuner.ask().unwrap().combination;
                let cost = |(i, l): (usize, &u8)| (f32::from(*l) - 1.3 * i as f32) * (f32::from(*l) - 1.3 * i as f32);
                tuner.tell(&c, c.levels().iter().enumerate().map(cost).sum()).unwrap();
            }
        }
    }
}
