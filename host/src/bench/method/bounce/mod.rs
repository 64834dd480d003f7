//! Bounce: a Gaussian process over nested random subspaces, in a trust region. Our
//! re-implementation.
//!
//! Papenmeier, Nardi and Poloczek, *Bounce: Reliable High-Dimensional Bayesian Optimization for
//! Combinatorial and Mixed Spaces*, NeurIPS 2023; settings as in the authors' code.
//!
//! Knobs share bins, which move together; when the trust region has shrunk to 1, bins split (see
//! [`bins`]) and the observations stay. In the whole space a shrunk region is left for a new one.
//!
//! | setting | value | the authors' |
//! |---|---|---|
//! | bins | 5 at first, then 2 or more parts of each (see [`region::Plan`]) | the same |
//! | measurements until every knob has its bin | half of the budget | 100 of 200 |
//! | start of a region | 5 random combinations of its subspace, the first told one among them | 5 |
//! | kernel | Matérn 5/2, one length-scale, bits and one-hot features | the same |
//! | length-scale, noise | by marginal likelihood, at most 12 evaluations per ask, starting from the last fit; ln ℓ ~ N(ln 5, 1) | gamma priors of mode 5, and for the noise |
//! | radius | see [`region`]; at first the number of bins, at most 40 | the same |
//! | acquisition | expected improvement, in logarithms | expected improvement |
//! | search | ascents within the region from the best 3 of max(2000, 200 per bin), at most 5000, random members and the neighbours of its centre | the same |
//! | data | observations of the region that lie in its subspace | the same |
//! | graded knobs | a bin each, their position as a feature | not supported |
//! | costs | winsorised and standardised | standardised |
//! | repeats | none | rarely |

mod bins;
mod region;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::embedded::{Embedded, Features, Fit};
use super::graph::{Ascent, History};
use super::{Entry, Method, Recommendation, Task};
use crate::bench::method::surrogate::{Range, Standard};
use crate::error::Error;

use bins::Bins;
use region::{Plan, Region};

pub(crate) const BOUNCE: Entry = Entry {
    name: "bounce",
    about: "Bounce: process over nested random subspaces, EI in a trust region; our re-implementation",
    source: "Papenmeier, Nardi and Poloczek, NeurIPS 2023, settings of the authors' code",
    fallback: "a random combination of its subspace; so start the regions",
    start: |task| Ok(Box::new(Bounce::new(task))),
};

/// Bins of the first subspace, and random combinations at the start of a region.
const FIRST_BINS: usize = 5;
const START: usize = 5;
const LENGTH_SCALE: Range = Range { low: -2.0, high: 5.0, typical: 1.609_437_912_434_1, spread: 1.0 };
/// Evaluations of the likelihood per ask.
const FIT: usize = 12;
/// Random members of the region that are screened: per bin, at least, at most.
const SCREENED: (usize, usize, usize) = (200, 2000, 5000);
const ASCENTS: usize = 3;
/// Measurements per knob for a region of the whole space.
const PER_KNOB: usize = 10;
/// Draws from a subspace before it counts as measured.
const MOST_DRAWS: usize = 100;

struct Bounce {
    history: History,
    random: Xoshiro256PlusPlus,
    budget: usize,
    plan: Plan,
    /// Splits so far.
    splits: usize,
    /// `None` before the first cost.
    bins: Option<Bins>,
    region: Region,
    /// The first observation that belongs to the region.
    since: usize,
    theta: Option<Vec<f64>>,
    /// What the model asked for.
    asked: Option<Vec<Level>>,
    draws: usize,
}

/// Observations as a subspace has them.
struct Inside {
    history: History,
    /// The places of those that belong to the region.
    members: Vec<usize>,
}

impl Bounce {
    fn new(task: &Task<'_>) -> Self {
        let knobs = task.knobs.len();
        Self {
            history: History::new(task.knobs, !task.seed),
            random: Xoshiro256PlusPlus::seed_from_u64(task.seed),
            budget: task.budget,
            plan: Plan::new(knobs, FIRST_BINS, (task.budget / 2).saturating_sub(START)),
            splits: 0,
            bins: None,
            region: Region::new(knobs, 0),
            since: 0,
            theta: None,
            asked: None,
            draws: 0,
        }
    }

    /// Begins a region, with the measurements that its subspace may take.
    fn begin(&mut self) {
        let Some(bins) = &self.bins else { return };
        let count = bins.knobs().len();
        let left = self.budget.saturating_sub(self.history.costs.len());
        let whole = (PER_KNOB * count).min(left);
        self.region = Region::new(count, self.plan.budgets.get(self.splits).copied().unwrap_or(whole));
    }

    /// Splits the bins, or leaves the region if there is nothing to split.
    fn bounce(&mut self) {
        let Some(bins) = &mut self.bins else { return };
        if bins.is_full() {
            self.since = self.history.costs.len();
        } else {
            bins.split(self.plan.parts, &mut self.random);
            self.splits += 1;
        }
        self.theta = None;
        self.begin();
    }

    fn inside(&self, bins: &Bins) -> Result<Inside, Error> {
        let mut inside = Inside { history: History::new(bins.knobs(), 0), members: Vec::new() };
        for (place, (levels, cost)) in self.history.levels.iter().zip(&self.history.costs).enumerate() {
            let Some(values) = bins.down(levels) else { continue };
            if place >= self.since {
                inside.members.push(inside.history.costs.len());
            }
            inside.history.tell(&values, *cost)?;
        }
        Ok(inside)
    }

    /// A random combination of the subspace that was not measured.
    fn draw(&mut self, bins: &Bins, inside: &Inside) -> Option<Vec<Level>> {
        let mut draws = (0..MOST_DRAWS).map(|_| inside.history.any(&mut self.random));
        let found = draws.find(|values| !inside.history.is_told(values));
        self.draws += usize::from(found.is_some());
        found.map(|values| bins.up(&values))
    }

    /// The smallest score that ascents in the region find.
    fn search(&mut self, bins: &Bins, inside: &Inside) -> Result<Option<Vec<Level>>, Error> {
        let Inside { history, members } = inside;
        let costs: Vec<f64> = members.iter().map(|place| history.costs[*place]).collect();
        let Some(best) = history.best_of(members) else { return Ok(None) };
        let standard = Standard::of(&costs);
        let points = bins.points(history, members);
        let how = Fit { ranges: vec![LENGTH_SCALE], last: self.theta.as_deref(), evaluations: FIT };
        let (process, theta) = Embedded::new(bins, &points, &standard, how)?;
        self.theta = Some(theta);
        let (centre, radius) = (&history.levels[best], self.region.radius());
        let differs = |values: &[Level]| values.iter().zip(centre).filter(|(a, b)| a != b).count() <= radius;
        let mut starts = history.domain.neighbours(centre);
        let count = (SCREENED.0 * centre.len()).clamp(SCREENED.1, SCREENED.2);
        let mut places: Vec<usize> = (0..centre.len()).collect();
        starts.extend((0..count).map(|_| {
            let mut values = centre.clone();
            for place in places.partial_shuffle(&mut self.random, radius).0.iter() {
                values[*place] = self.random.random_range(0..bins.knobs()[*place].levels()) as Level;
            }
            values
        }));
        let mut search = Ascent::new(history, process);
        for start in search.screen(starts, ASCENTS) {
            search.climb(start, differs);
        }
        Ok(search.best().map(|values| bins.up(&values)))
    }
}

impl Method for Bounce {
    fn fallbacks(&self) -> usize {
        self.draws + self.history.draws()
    }

    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        self.asked = None;
        // A subspace that is measured out gives way to the next one; the last is the whole space.
        while let Some(bins) = self.bins.clone() {
            let inside = self.inside(&bins)?;
            let varies = inside
                .members
                .iter()
                .any(|place| inside.history.costs[*place] != inside.history.costs[inside.members[0]]);
            if inside.members.len() >= START && varies {
                self.asked = self.search(&bins, &inside)?;
                if self.asked.is_some() {
                    return Ok(self.asked.clone());
                }
            } else if let Some(levels) = self.draw(&bins, &inside) {
                return Ok(Some(levels));
            }
            if bins.is_full() {
                break;
            }
            self.bounce();
        }
        Ok(self.history.fresh())
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        let best = self.history.costs[self.since.min(self.history.costs.len())..].iter().copied().reduce(f64::min);
        let is_new = !self.history.is_told(levels);
        self.history.tell(levels, cost)?;
        if self.bins.is_none() {
            self.bins = Some(Bins::new(self.history.domain.knobs(), levels, FIRST_BINS, &mut self.random));
            self.begin();
        }
        if let (Some(best), true) = (best, is_new && self.asked.take_if(|asked| *asked == levels).is_some()) {
            let remaining = self.budget.saturating_sub(self.history.costs.len());
            self.region.judge(cost, best, remaining);
            if self.region.is_over() {
                self.bounce();
            }
        }
        Ok(())
    }

    /// By a process over the whole space on all observations.
    fn recommend(&mut self) -> Option<Recommendation> {
        let history = &self.history;
        let all: Vec<usize> = (0..history.costs.len()).collect();
        let standard = Standard::of(&history.costs);
        let first = history.levels.first().filter(|_| history.varies())?;
        let knobs = history.domain.knobs();
        let bins = Bins::new(knobs, first, knobs.len(), &mut self.random.clone());
        let points: Vec<Vec<f64>> = all
            .iter()
            .filter_map(|place| {
                let mut x = Vec::new();
                bins.write(&bins.down(&history.levels[*place])?, &mut x);
                Some(x)
            })
            .collect();
        let how = Fit { ranges: vec![LENGTH_SCALE], last: None, evaluations: FIT };
        let (mut process, _) = Embedded::new(&bins, &points, &standard, how).ok()?;
        let believed = history.levels.iter().filter_map(|levels| Some((levels, process.predict(&bins.down(levels)?))));
        standard.recommend(believed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::method::trial::{judge, pattern};
    use trimtab::Knob;

    #[test]
    fn finds_a_pattern_and_beats_random_search() {
        judge(&BOUNCE, 8, 80, pattern);
    }

    #[test]
    fn subspaces_grow_until_every_knob_has_its_bin() {
        let mut method = Bounce::new(&Task { knobs: &[Knob::nominal(2); 24], seed: 1, budget: 100 });
        method.tell(&[0; 24], 1.0).unwrap();
        let mut bins = Vec::new();
        for step in 0..60 {
            let levels = method.ask().unwrap().unwrap();
            // Nothing is ever better, so every region takes its budget and no more.
            method.tell(&levels, 2.0 + f64::from(step % 7)).unwrap();
            bins.push(method.bins.as_ref().unwrap().knobs().len());
        }
        // 4 draws, then 3, 6 and 12 measurements in 5, 10 and 20 bins.
        let changes = |count: usize| bins.iter().position(|own| *own == count);
        assert_eq!((changes(10), changes(20), changes(24)), (Some(6), Some(12), Some(24)));
    }
}
