//! COMBO: diffusion kernels on the Cartesian product of graphs, one per knob. Our
//! re-implementation.
//!
//! k(c, c′) = a·∏ᵢ exp(−βᵢΛᵢ)(cᵢ, c′ᵢ), acquisition: the mean of EI over samples of all
//! hyper-parameters
//!
//! Oh, Tomczak, Gavves and Welling, *Combinatorial Bayesian Optimization using the Graph Cartesian
//! Product*, NeurIPS 2019; settings as in the authors' code.
//!
//! | setting | value | the authors' |
//! |---|---|---|
//! | graphs | complete for nominal knobs, paths for graded ones, edges of weight 1 | the same |
//! | priors | horseshoe on scales and noise, see [`posterior`] | the same |
//! | chain | 100 sweeps of burn-in, then 10 sweeps per ask, each a sample | the same |
//! | draw | slice sampling, the whole support shrinks | slice sampling by doubling |
//! | costs | winsorised and standardised | unchanged; standardised in MCBO |
//! | starts | the best 20 of 2000 random combinations and 10 neighbours of the incumbent | of 20 000 and 10 |
//! | ascents | always to the best neighbour; a graded knob may also change one bit of its level | to the best neighbour |
//! | repeats | none | none |
//!
//! **Choices**
//! - Fewer random combinations, scored by two samples first and only the best 200 by all ten.
//!   `combo-20k` screens as many as the authors: on Ising and contamination, 8 seeds of 60
//!   evaluations, it takes 1.08 (0.90–1.45) times the measurements of `combo`, so the saving costs
//!   nothing that shows: `trimtab bench --problem ising,contamination --method combo,combo-20k
//!   --seeds 8 --budget 60 --mask on --out runs`.

mod posterior;
mod slice;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::graph::{Ascent, Diffusion, Ensemble, History};
use super::{Entry, Method, Recommendation, Task};
use crate::bench::method::surrogate::Standard;
use crate::error::Error;

use posterior::{Hyper, Posterior};

pub(crate) const COMBO: Entry = Entry {
    name: "combo",
    about: "COMBO: diffusion kernel with sampled scales, EI, ascents on the graph; our re-implementation",
    source: "Oh, Tomczak, Gavves and Welling, NeurIPS 2019",
    fallback: super::DRAW,
    start: |task| {
        super::refuse_ranges(task, "combo")?;
        Ok(Box::new(Combo::new(task)))
    },
};

pub(crate) const COMBO_20K: Entry = Entry {
    name: "combo-20k",
    about: "COMBO that screens 20 000 combinations per ask, as its authors do; our re-implementation",
    start: |task| {
        super::refuse_ranges(task, "combo-20k")?;
        Ok(Box::new(Combo { screened: 20_000, ..Combo::new(task) }))
    },
    ..COMBO
};

/// Sweeps before the first sample.
const BURN_IN: usize = 100;
/// Samples per ask.
const SAMPLES: usize = 10;
/// Random combinations screened as starts.
const SCREENED: usize = 2000;
/// Neighbours of the incumbent screened as starts.
const SPRAY: usize = 10;
const ASCENTS: usize = 20;

struct Combo {
    history: History,
    random: Xoshiro256PlusPlus,
    graphs: Vec<Diffusion>,
    /// The state of the chain; `None` before the first ask.
    hyper: Option<Hyper>,
    /// Random combinations screened as starts.
    screened: usize,
}

impl Combo {
    fn new(task: &Task<'_>) -> Self {
        Self {
            history: History::new(task.knobs, !task.seed),
            random: Xoshiro256PlusPlus::seed_from_u64(task.seed),
            graphs: task.knobs.iter().map(Diffusion::new).collect(),
            hyper: None,
            screened: SCREENED,
        }
    }
}

impl Combo {
    /// Samples of the process on all observations; the chain goes on.
    fn model(&mut self, standard: &Standard) -> Result<Ensemble, Error> {
        let Self { history, random, graphs, hyper, .. } = self;
        let all: Vec<usize> = (0..history.costs.len()).collect();
        let columns = history.columns(&all);
        let burn_in = if hyper.is_none() { BURN_IN } else { 0 };
        let hyper = hyper.get_or_insert_with(|| Hyper::new(graphs.len()));
        let mut posterior = Posterior::new(graphs, &columns, &standard.y, hyper);
        (0..burn_in).for_each(|_| posterior.sweep(hyper, random));
        let mut members = Vec::with_capacity(SAMPLES);
        for _ in 0..SAMPLES {
            posterior.sweep(hyper, random);
            members.push(posterior.member(hyper)?);
        }
        Ok(Ensemble::new(members, standard.best))
    }
}

impl Method for Combo {
    fn fallbacks(&self) -> usize {
        self.history.draws()
    }

    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        let standard = Standard::of(&self.history.costs);
        if !varies(&standard) {
            return Ok(self.history.fresh());
        }
        let ensemble = self.model(&standard)?;
        let Self { history, random, screened, .. } = self;
        let all: Vec<usize> = (0..history.costs.len()).collect();
        let mut search = Ascent::new(history, ensemble);
        let incumbent = history.best_of(&all).map(|place| &history.levels[place][..]).unwrap_or_default();
        let mut starts = history.domain.neighbours(incumbent);
        starts.shuffle(random);
        starts.truncate(SPRAY);
        starts.extend((0..*screened).map(|_| history.any(random)));
        for start in search.screen(starts, ASCENTS) {
            search.climb(start, |_| true);
        }
        let found = search.best();
        Ok(found.or_else(|| self.history.fresh()))
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        self.history.tell(levels, cost)
    }

    fn recommend(&mut self) -> Option<Recommendation> {
        let standard = Standard::of(&self.history.costs);
        // The next ask must not notice: the chain goes back to where it was.
        let kept = (self.random.clone(), self.hyper.clone());
        let ensemble = varies(&standard).then(|| self.model(&standard).ok()).flatten();
        (self.random, self.hyper) = kept;
        let mut ensemble = ensemble?;
        standard.recommend(self.history.levels.iter().map(|levels| (levels, ensemble.predict(levels))))
    }
}

/// Whether there is something to learn from.
fn varies(standard: &Standard) -> bool {
    standard.y.iter().any(|y| *y != standard.best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use trimtab::Knob;

    #[test]
    fn asks_for_all_combinations_once_and_finds_the_best_early() {
        let knobs = [Knob::nominal(3), Knob::ranked(4), Knob::nominal(2)];
        let cost = |c: &[Level]| f64::from(c[0] % 2) + f64::from(c[1].abs_diff(2)) + 0.5 * f64::from(c[2]);
        let mut method = Combo::new(&Task { knobs: &knobs, seed: 2, budget: 24 });
        method.tell(&[1, 0, 1], cost(&[1, 0, 1])).unwrap();
        let mut costs = Vec::new();
        while let Some(levels) = method.ask().unwrap() {
            assert!(!method.history.is_told(&levels), "{levels:?}");
            method.tell(&levels, cost(&levels)).unwrap();
            costs.push(cost(&levels));
        }
        assert_eq!(method.history.levels.iter().collect::<HashSet<_>>().len(), 24);
        // Two of the 24 cost nothing: a random order meets the first after a third of all, on
        // average.
        let first = costs.iter().position(|cost| *cost == 0.0);
        assert!(first < Some(12), "{costs:?}");
    }

    #[test]
    fn equal_costs_are_no_trouble() {
        let mut method = Combo::new(&Task { knobs: &[Knob::nominal(2); 3], seed: 1, budget: 8 });
        for _ in 0..8 {
            let levels = method.ask().unwrap().unwrap();
            method.tell(&levels, 7.0).unwrap();
        }
        assert_eq!(method.ask().unwrap(), None);
    }
}
