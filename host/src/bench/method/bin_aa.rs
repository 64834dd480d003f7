//! Bin-AA: a Gaussian process with the kernel of Aitchison and Aitken over the knobs, GP-UCB (Kim,
//! Choi and Cho 2022, section 7.1).
//!
//! **Choices**, since the paper says no more than that
//! - Knobs: the kernel takes nominal levels as they are. A graded knob becomes the bits of its
//!   level, as in a step of [`Domain::neighbours`], because "equal or not" means little on a scale
//!   of a hundred values.
//! - Search: single-step descents of the acquisition over unmeasured combinations. The best
//!   combination that any descent reaches is asked for.
//!
//! | setting | value |
//! |---|---|
//! | costs | winsorised and standardised, as for trimtab |
//! | mean, signal variance | in closed form, with core's weak prior |
//! | a, one for all knobs | by marginal likelihood from e⁻³ to e³ times 2/(number of variables) |
//! | noise | by marginal likelihood from 1e-6 of the signal, with core's weak prior |
//! | fit | at every ask, at most 8 evaluations, warm start |
//! | acquisition | μ − 2σ; the paper's software uses 2·ln(t + 1) instead of 2, which was worse in trials on masked problems |
//! | descents | from the 2 best combinations and 3 random ones |
//! | first combination | random, if there are no observations |

use std::collections::HashMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level};

use super::random::Random;
use super::{Entry, Method, Recommendation, Task};
use crate::bench::domain::Domain;
use crate::bench::method::surrogate::{AitchisonAitken, Fitted, Prior, Range, Rule, Standard, fit};
use crate::error::Error;

pub(crate) const BIN_AA: Entry = Entry {
    name: "bin-aa",
    about: "Gaussian process with the Aitchison-Aitken kernel over the knobs, GP-UCB",
    source: "Kim, Choi and Cho, UAI 2022, section 7.1; Aitchison and Aitken, Biometrika 1976",
    fallback: super::DRAW,
    start: |task| Ok(Box::new(BinAa::new(task))),
};

/// Number of descents from the best combinations, and from random ones.
const FROM_BEST: usize = 2;
const FROM_RANDOM: usize = 3;
/// The weight of the standard deviation.
const BETA: f64 = 2.0;
/// Evaluations of the likelihood per fit.
const EVALUATIONS: usize = 8;

struct BinAa {
    domain: Domain,
    random: Xoshiro256PlusPlus,
    fresh: Random,
    told: Vec<Vec<Level>>,
    /// The observations as variables, see [`variables`].
    places: Vec<Vec<Level>>,
    costs: Vec<f64>,
    /// The hyper-parameters of the last fit.
    theta: Option<Vec<f64>>,
}

impl BinAa {
    fn new(task: &Task<'_>) -> Self {
        let domain = Domain::new(task.knobs);
        let fresh = Random::new(domain.clone(), !task.seed);
        let random = Xoshiro256PlusPlus::seed_from_u64(task.seed);
        Self { domain, random, fresh, told: Vec::new(), places: Vec::new(), costs: Vec::new(), theta: None }
    }

    /// The unmeasured combination with the smallest score that the descents find.
    fn search(&mut self, kernel: &AitchisonAitken<'_>, fitted: &Fitted) -> Option<Vec<Level>> {
        let rule = Rule::Ucb { beta: BETA };
        let (prices, mut k) = (kernel.prices(&fitted.theta), Vec::new());
        let mut scores: HashMap<Vec<Level>, f64> = HashMap::new();
        let mut score = |levels: &[Level]| {
            if let Some(known) = scores.get(levels) {
                return *known;
            }
            kernel.covariances_into(&prices, &variables(self.domain.knobs(), levels), &mut k);
            let score = rule.score(fitted.gp.posterior(1.0, &mut k));
            scores.insert(levels.to_vec(), score);
            score
        };
        let mut order: Vec<usize> = (0..self.told.len()).collect();
        order.sort_by(|a, b| self.costs[*a].total_cmp(&self.costs[*b]));
        let mut starts: Vec<_> = (0..FROM_RANDOM).map(|_| self.domain.random(&mut self.random)).collect();
        starts.extend(order.iter().take(FROM_BEST).map(|i| self.told[*i].clone()));
        let mut best: Option<(f64, Vec<Level>)> = None;
        for start in starts {
            // A descent may start at a measured combination but must not end there.
            let own = if self.fresh.is_told(&start) { f64::INFINITY } else { score(&start) };
            let mut at = (own, start);
            loop {
                let mut steps = self.domain.neighbours(&at.1);
                // The first of equal scores wins, and there are many, so their order is random.
                steps.shuffle(&mut self.random);
                let open = steps.into_iter().filter(|step| !self.fresh.is_told(step));
                let next = open.map(|step| (score(&step), step)).min_by(|a, b| a.0.total_cmp(&b.0));
                let Some(next) = next.filter(|next| next.0 < at.0) else { break };
                at = next;
            }
            if at.0.is_finite() && best.as_ref().is_none_or(|best| at.0 < best.0) {
                best = Some(at);
            }
        }
        best.map(|best| best.1)
    }
}

/// A combination as unordered variables: the level of a nominal knob, the bits of a graded one.
fn variables(knobs: &[Knob], levels: &[Level]) -> Vec<Level> {
    let mut variables = Vec::with_capacity(levels.len());
    for (knob, level) in knobs.iter().zip(levels) {
        if knob.is_graded() {
            let bits = usize::BITS - (knob.levels() - 1).leading_zeros();
            variables.extend((0..bits).map(|bit| level >> bit & 1));
        } else {
            variables.push(*level);
        }
    }
    variables
}

/// The kernel over observations as variables.
fn kernel_of(places: &[Vec<Level>]) -> AitchisonAitken<'_> {
    // Two random combinations differ in half of their bits; their correlation is then 1/e.
    let typical = libm::log(2.0 / places.first().map_or(1, Vec::len).max(1) as f64);
    AitchisonAitken::new(
        places,
        vec![Range { low: typical - 3.0, high: typical + 3.0, typical, spread: f64::INFINITY }],
    )
}

impl Method for BinAa {
    fn fallbacks(&self) -> usize {
        self.fresh.draws()
    }

    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        if self.places.is_empty() {
            return Ok(self.fresh.fresh());
        }
        let places = std::mem::take(&mut self.places);
        let kernel = kernel_of(&places);
        let y = Standard::of(&self.costs).y;
        let fitted = fit(&kernel, &y, &Prior::WEAK, Range::NOISE, self.theta.as_deref(), EVALUATIONS);
        let found = fitted.as_ref().ok().and_then(|fitted| self.search(&kernel, fitted));
        self.places = places;
        self.theta = Some(fitted?.theta);
        Ok(found.or_else(|| self.fresh.fresh()))
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        self.places.push(variables(self.domain.knobs(), levels));
        self.told.push(levels.to_vec());
        self.costs.push(cost);
        self.fresh.tell(levels, cost)
    }

    fn recommend(&mut self) -> Option<Recommendation> {
        let (kernel, standard) = (kernel_of(&self.places), Standard::of(&self.costs));
        let theta = self.theta.as_deref();
        let fitted = fit(&kernel, &standard.y, &Prior::WEAK, Range::NOISE, theta, EVALUATIONS).ok()?;
        let (prices, mut k) = (kernel.prices(&fitted.theta), Vec::new());
        standard.recommend(self.told.iter().zip(&self.places).map(|(levels, place)| {
            kernel.covariances_into(&prices, place, &mut k);
            (levels, fitted.gp.posterior(1.0, &mut k))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::method::trial::{judge, pattern};

    #[test]
    fn graded_knobs_are_bits() {
        // Level 5 of 6 is 101, lowest bit first.
        assert_eq!(variables(&[Knob::nominal(7), Knob::ranked(6), Knob::nominal(2)], &[4, 5, 1]), [4, 1, 0, 1, 1]);
    }

    #[test]
    fn finds_a_pattern_and_beats_random_search() {
        judge(&BIN_AA, 8, 60, pattern);
    }
}
