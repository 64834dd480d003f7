//! BODi: a Gaussian process over agreements with a dictionary of random combinations. Our
//! re-implementation.
//!
//! k(c, c′) = s²·matern52(φ(c), φ(c′)), see [`dictionary`] for φ.
//!
//! Deshwal, Ament, Balandat, Bakshy, Doppa and Eriksson, *Bayesian Optimization over
//! High-Dimensional Combinatorial Spaces via Dictionary-based Embeddings*, AISTATS 2023; settings
//! as in the authors' code.
//!
//! | setting | value | the authors' |
//! |---|---|---|
//! | atoms | 128, diverse random, drawn anew at every ask | the same |
//! | length-scales | one per atom, from 0.69 on, by marginal likelihood, at most 60 evaluations | the same, until L-BFGS ends |
//! | noise, mean, s² | from 1e-6 of the signal; mean and s² in closed form with core's weak prior | noise from 1e-4, gamma priors |
//! | graded knobs | one more feature each, the position from 0 to 1 | the same for continuous ones |
//! | acquisition | expected improvement, in logarithms | expected improvement |
//! | search | ascents from the best 20 of 2000 random combinations and the incumbent's neighbours | the same |
//! | costs | winsorised and standardised | standardised |
//! | first combinations | random until two costs differ | 20 random ones, with all numbers of ones |
//! | repeats | none | as they come |

mod dictionary;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::embedded::{Embedded, Features, Fit};
use super::graph::{Ascent, History};
use super::{Entry, Method, Recommendation, Task};
use crate::bench::method::surrogate::{Range, Standard};
use crate::error::Error;

use dictionary::Dictionary;

pub(crate) const BODI: Entry = Entry {
    name: "bodi",
    about: "BODi: process over agreements with 128 random combinations, EI; our re-implementation",
    source: "Deshwal et al., AISTATS 2023, settings of the authors' code",
    fallback: super::DRAW,
    start: |task| Ok(Box::new(Bodi::new(task))),
};

const ATOMS: usize = 128;
/// ln ℓ: GPyTorch starts at ln 2 = 0.69 and has no prior.
const LENGTH_SCALE: Range = Range { low: -5.0, high: 5.0, typical: -0.366_512_920_581_664_3, spread: f64::INFINITY };
/// Evaluations of the likelihood per ask.
const FIT: usize = 60;
/// Random combinations screened as starts, and the ascents.
const RANDOM: usize = 2000;
const ASCENTS: usize = 20;

struct Bodi {
    history: History,
    random: Xoshiro256PlusPlus,
}

impl Bodi {
    fn new(task: &Task<'_>) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(task.seed);
        Self { history: History::new(task.knobs, !task.seed), random }
    }
}

fn how(dictionary: &Dictionary) -> Fit<'static> {
    Fit { ranges: vec![LENGTH_SCALE; dictionary.len()], last: None, evaluations: FIT }
}

impl Method for Bodi {
    fn fallbacks(&self) -> usize {
        self.history.draws()
    }

    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        if !self.history.varies() {
            return Ok(self.history.fresh());
        }
        let Self { history, random } = self;
        let all: Vec<usize> = (0..history.costs.len()).collect();
        let dictionary = Dictionary::draw(history.domain.knobs(), ATOMS, random);
        let points = dictionary.points(history, &all);
        let (process, _) = Embedded::new(&dictionary, &points, &Standard::of(&history.costs), how(&dictionary))?;
        let incumbent = history.best_of(&all).map(|place| &history.levels[place][..]).unwrap_or_default();
        let mut starts = history.domain.neighbours(incumbent);
        starts.extend((0..RANDOM).map(|_| history.any(random)));
        let mut search = Ascent::new(history, process);
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
        let history = &self.history;
        let all: Vec<usize> = (0..history.costs.len()).collect();
        let standard = Standard::of(&history.costs);
        let mut random = self.random.clone();
        let dictionary = Dictionary::draw(history.domain.knobs(), ATOMS, &mut random);
        let points = dictionary.points(history, &all);
        let (mut process, _) =
            history.varies().then(|| Embedded::new(&dictionary, &points, &standard, how(&dictionary)).ok())??;
        process.recommend(history, &standard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::method::trial::{judge, pattern};

    #[test]
    fn finds_a_pattern_and_beats_random_search() {
        judge(&BODI, 8, 60, pattern);
    }
}
