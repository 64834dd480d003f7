//! TPE: the tree-structured Parzen estimator with the settings of Optuna 5.0.0, in Rust.
//!
//! c† = argmax ln l(c) − ln g(c) over draws from l, where l is a density of the best tenth of all
//! measurements and g one of the rest.
//!
//! Bergstra, Bardenet, Bengio and Kégl, *Algorithms for Hyper-Parameter Optimization*, NeurIPS
//! 2011; Watanabe, *Tree-Structured Parzen Estimator*, 2023; Optuna 5.0.0's `TPESampler()`, whose
//! densities a test compares with ours. `optuna-tpe` is Optuna itself.
//!
//! | setting | value, as in Optuna |
//! |---|---|
//! | start | random combinations until 10 costs are known |
//! | l | the best ⌈n/10⌉ of n, at most 25; see [`parzen`] |
//! | knobs | all at once (`multivariate`, the default of Optuna 5; older versions drew each knob by itself) |
//! | draws from l per ask | 24 |
//! | nominal, graded knob | categorical; an integer, the level |
//! | repeats | as it likes, each a measurement of its own |
//! | costs | only their order counts |

mod parzen;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::{Entry, Method, Task};
use crate::bench::domain::Domain;
use crate::error::Error;

use parzen::Parzen;

pub(crate) const TPE: Entry = Entry {
    name: "tpe",
    about: "tree-structured Parzen estimator with Optuna's defaults; our re-implementation",
    source: "Bergstra et al., NeurIPS 2011; the settings of Optuna 5.0.0",
    fallback: "random combinations until it has 10 costs; repeats as it likes",
    start: |task| Ok(Box::new(Tpe::new(task))),
};

/// Costs before the first density.
const START: usize = 10;
/// The share of the best, and the most of them.
const BEST: (f64, usize) = (0.1, 25);
/// Draws per ask.
const DRAWS: usize = 24;

struct Tpe {
    domain: Domain,
    random: Xoshiro256PlusPlus,
    told: Vec<Vec<Level>>,
    costs: Vec<f64>,
    started: usize,
}

impl Tpe {
    fn new(task: &Task<'_>) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(task.seed);
        Self { domain: Domain::new(task.knobs), random, told: Vec::new(), costs: Vec::new(), started: 0 }
    }
}

/// The places of the best measurements and of the rest, each in the order of measurement.
fn split(costs: &[f64]) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by(|a, b| costs[*a].total_cmp(&costs[*b]));
    let best = (libm::ceil(BEST.0 * costs.len() as f64) as usize).min(BEST.1);
    let mut rest = order.split_off(best);
    order.sort_unstable();
    rest.sort_unstable();
    (order, rest)
}

impl Method for Tpe {
    fn fallbacks(&self) -> usize {
        self.started
    }

    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        if self.told.len() < START {
            self.started += 1;
            return Ok(Some(self.domain.random(&mut self.random)));
        }
        let (best, rest) = split(&self.costs);
        let density = |places: &[usize]| {
            let observations = places.iter().map(|place| &self.told[*place][..]).collect();
            Parzen::new(self.domain.knobs(), observations)
        };
        let (below, above) = (density(&best), density(&rest));
        let draws = (0..DRAWS).map(|_| below.draw(&mut self.random));
        let scored = draws.map(|levels| (below.log_density(&levels) - above.log_density(&levels), levels));
        // The first of equals wins, as in Optuna.
        let best = scored.reduce(|best, other| if other.0 > best.0 { other } else { best });
        Ok(best.map(|best| best.1))
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        self.told.push(levels.to_vec());
        self.costs.push(cost);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::method::random::RANDOM;
    use crate::bench::method::trial::{mean_best, pattern};

    #[test]
    fn the_best_tenth_by_hand() {
        // Of 11, ⌈1.1⌉ = 2: places 3 and 1, in the order of measurement.
        let costs = [5.0, 1.0, 4.0, 0.5, 9.0, 8.0, 7.0, 6.0, 3.0, 2.0, 2.5];
        assert_eq!(split(&costs), (vec![1, 3], vec![0, 2, 4, 5, 6, 7, 8, 9, 10]));
        assert_eq!(split(&[0.0; 400]).0.len(), 25);
    }

    #[test]
    fn beats_random_search() {
        let (own, random) = (mean_best(&TPE, 14, 60, pattern), mean_best(&RANDOM, 14, 60, pattern));
        assert!(own < random, "{own}, random search {random}");
    }
}
