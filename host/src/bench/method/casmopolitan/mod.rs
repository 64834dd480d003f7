//! CASMOPOLITAN: a transformed overlap kernel and a trust region of Hamming distance. Our
//! re-implementation.
//!
//! k(c, c′) = s²·exp(−Σᵢ θᵢ·[cᵢ ≠ c′ᵢ])
//!
//! Wan, Nguyen, Ha, Ru, Lu and Osborne, *Think Global and Act Local: Bayesian Optimisation over
//! High-Dimensional Categorical and Mixed Search Spaces*, ICML 2021; settings as in the authors'
//! code and in the MCBO framework (Dreczkowski et al. 2023).
//!
//! | name | meaning |
//! |---|---|
//! | θᵢ | scale of knob i: the paper's ℓᵢ/K; exp(Σ ℓᵢ·[cᵢ = c′ᵢ]/K) is this times a constant |
//! | region | all combinations that differ in at most `radius` knobs from the best one since the last restart |
//!
//! | setting | value |
//! |---|---|
//! | θᵢ, noise | by marginal likelihood, at most 20 evaluations per ask, starting from the last fit; ln θᵢ ~ N(ln 1/K, 1.5²) (MCBO fixes Σ θᵢ at 1) |
//! | graded knobs | \|cᵢ − c′ᵢ\|/(n − 1) in place of \[cᵢ ≠ c′ᵢ\], the ordinal kernel of the authors' code |
//! | radius | initially 0.8·K, at most K; ×1.5 after 3 successes in a row, ÷1.5 after 40 failures in a row, in whole knobs |
//! | restart | at radius 1: the smallest μ − 1.96σ of 100·K, at most 5000, random combinations, by a process on the best of each region |
//! | data | observations since the last restart, and earlier ones within the first radius of the new centre |
//! | acquisition | expected improvement, in logarithms |
//! | search | ascents within the region from its centre and 3 random members (MCBO: 3 random members, 100 random steps each) |
//! | costs | winsorised and standardised |
//! | repeats | none |

mod overlap;
mod region;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::graph::{Ascent, Ensemble, History, Member, Product};
use super::{Entry, Method, Recommendation, Task};
use crate::bench::method::surrogate::{Prior, Range, Rule, Standard, fit};
use crate::error::Error;

use overlap::Overlap;
use region::{Region, distance};

pub(crate) const CASMOPOLITAN: Entry = Entry {
    name: "casmopolitan",
    about: "overlap kernel with one scale per knob, EI in a Hamming trust region; our re-implementation",
    source: "Wan et al., ICML 2021, settings of MCBO",
    fallback: super::DRAW,
    start: |task| Ok(Box::new(Casmopolitan::new(task))),
};

/// Evaluations of the likelihood per ask.
const FIT: usize = 20;
/// Evaluations of the likelihood for the process that finds a new centre.
const RESTART_FIT: usize = 60;
/// Ascents from random members of the region.
const ASCENTS: usize = 3;
/// Random candidates for a new centre: their number per knob, and the limit.
const CENTRES: (usize, usize) = (100, 5000);
/// Weight of the standard deviation when choosing the centre.
const BETA: f64 = 1.96;

struct Casmopolitan {
    history: History,
    random: Xoshiro256PlusPlus,
    region: Region,
    theta: Option<Vec<f64>>,
    /// The best observation of each region that was left.
    left: Vec<usize>,
    /// A new centre that was asked for and has no cost yet.
    centre: Option<Vec<Level>>,
}

impl Casmopolitan {
    fn new(task: &Task<'_>) -> Self {
        Self {
            history: History::new(task.knobs, !task.seed),
            random: Xoshiro256PlusPlus::seed_from_u64(task.seed),
            region: Region::new(task.knobs.len()),
            theta: None,
            left: Vec::new(),
            centre: None,
        }
    }

    /// Chooses a centre far from where regions ended, or where they ended well.
    fn restart(&mut self) -> Result<Option<Vec<Level>>, Error> {
        let Self { history, random, region, left, .. } = self;
        left.extend(history.best_of(region.members()));
        let columns = history.columns(left);
        let costs: Vec<f64> = left.iter().map(|place| history.costs[*place]).collect();
        let kernel = Overlap::new(history.domain.knobs(), &columns);
        let fitted = fit(&kernel, &Standard::of(&costs).y, &Prior::WEAK, Range::NOISE, None, RESTART_FIT)?;
        let product = Product::new(&kernel.tables(&fitted.theta), 1.0, &columns);
        let mut k = vec![0.0; left.len()];
        let (mut least, mut centre) = (f64::INFINITY, None);
        let knobs = history.domain.knobs().len();
        for _ in 0..(CENTRES.0 * knobs).min(CENTRES.1) {
            let levels = history.any(random);
            if history.is_told(&levels) {
                continue;
            }
            let own = product.covariances(&levels, &mut k);
            let score = Rule::Ucb { beta: BETA }.score(fitted.gp.posterior(own, &mut k));
            if score < least {
                (least, centre) = (score, Some(levels));
            }
        }
        let Some(centre) = centre.or_else(|| history.fresh()) else { return Ok(None) };
        region.restart(&centre, &history.levels);
        self.theta = None;
        self.centre = Some(centre.clone());
        Ok(Some(centre))
    }
}

impl Method for Casmopolitan {
    fn fallbacks(&self) -> usize {
        self.history.draws()
    }

    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        if self.region.is_exhausted() {
            return self.restart();
        }
        if let Some(centre) = &self.centre {
            return Ok(Some(centre.clone()));
        }
        let Self { history, random, region, theta, .. } = self;
        let members = region.members();
        let costs: Vec<f64> = members.iter().map(|place| history.costs[*place]).collect();
        let best = history.best_of(members).filter(|_| costs.iter().any(|cost| *cost != costs[0]));
        let Some(best) = best else { return Ok(self.history.fresh()) };
        let columns = history.columns(members);
        let standard = Standard::of(&costs);
        let kernel = Overlap::new(history.domain.knobs(), &columns);
        let fitted = fit(&kernel, &standard.y, &Prior::WEAK, Range::NOISE, theta.as_deref(), FIT)?;
        let product = Product::new(&kernel.tables(&fitted.theta), 1.0, &columns);
        *theta = Some(fitted.theta);
        let member = Member { gp: fitted.gp, product, shift: 0.0 };
        let mut search = Ascent::new(history, Ensemble::new(vec![member], standard.best));
        let centre = &history.levels[best];
        let inside = |levels: &[Level]| distance(levels, centre) <= region.radius();
        for _ in 0..ASCENTS {
            let start = region.draw(&history.domain, centre, random);
            for start in search.screen(vec![start], 1) {
                search.climb(start, inside);
            }
        }
        search.climb((f64::INFINITY, centre.clone()), inside);
        let found = search.best();
        Ok(found.or_else(|| self.history.fresh()))
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        let is_new = !self.history.is_told(levels);
        let best = self.history.best_of(self.region.members()).map(|place| self.history.costs[place]);
        self.history.tell(levels, cost)?;
        if is_new {
            let is_centre = self.centre.take_if(|centre| *centre == levels).is_some();
            self.region.add(self.history.costs.len() - 1);
            // The first observation of a region is neither a success nor a failure.
            if let Some(best) = best.filter(|_| !is_centre) {
                self.region.judge(cost < best);
            }
        }
        Ok(())
    }

    /// By a process on all observations, not only those of the region.
    fn recommend(&mut self) -> Option<Recommendation> {
        let history = &self.history;
        let all: Vec<usize> = (0..history.costs.len()).collect();
        let (columns, standard) = (history.columns(&all), Standard::of(&history.costs));
        let kernel = Overlap::new(history.domain.knobs(), &columns);
        let fitted = fit(&kernel, &standard.y, &Prior::WEAK, Range::NOISE, self.theta.as_deref(), FIT).ok()?;
        let product = Product::new(&kernel.tables(&fitted.theta), 1.0, &columns);
        let mut ensemble = Ensemble::new(vec![Member { gp: fitted.gp, product, shift: 0.0 }], standard.best);
        standard.recommend(history.levels.iter().map(|levels| (levels, ensemble.predict(levels))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trimtab::Knob;

    #[test]
    fn a_region_without_success_is_left_for_another() {
        // All later costs are worse than the first, so every ask fails: the radius falls from 4 to
        // 2 and to 1 after 80 failures.
        let knobs = [Knob::nominal(3); 5];
        let mut method = Casmopolitan::new(&Task { knobs: &knobs, seed: 1, budget: 120 });
        method.tell(&[0; 5], 0.0).unwrap();
        let mut centres = Vec::new();
        for step in 0..90 {
            let levels = method.ask().unwrap().unwrap();
            centres.extend(method.centre.clone());
            let cost = 1.0 + levels.iter().map(|level| f64::from(*level)).sum::<f64>();
            method.tell(&levels, cost).unwrap();
            assert_eq!(method.left.len(), usize::from(step >= 80), "{step}");
        }
        assert_eq!(centres.len(), 1);
        assert_eq!(method.left, [0]);
        assert_eq!(method.history.levels.len(), 91);
    }
}
