//! The ratio of evaluations to target: how many measurements a method needs, relative to a
//! reference method on the same instance, mask and seed.
//!
//! targetₛ = best known + s·(reference's best after 4 measurements − best known)
//!
//! ratio = exp(mean over pairs of ln(nₘ/nᵣ)), n = the measurement that first reaches the target
//!
//! | name | meaning |
//! |---|---|
//! | s | 20, 10, 5, 2 and 0 %; 0 % is the best known cost itself |
//! | best known | the optimum; where it is not known, the best of all methods and masks on the instance |
//! | above 1 | the method needs more measurements than the reference |
//!
//! **Choices**
//! - A target that a run misses counts 1.5 times the budget, which is the longest run of the
//!   problem: misses must count, and any number is arbitrary.
//! - The reference sets the targets, so that all methods aim at the same ones.
//! - Where all of the reference's first 4 measurements failed, its first success sets the targets.
//! - Runs of one instance, masked and not, are one [`Cluster`]: their interval and their test do
//!   not count them twice.

use std::collections::{BTreeMap, BTreeSet};

use super::Trace;
use crate::bench::problem::Group;
use crate::bench::stats::{Cluster, chance_of_equality, evaluations_to, intervals, means};

/// The targets, as shares of the reference's early regret.
pub(crate) const SHARES: [f64; 5] = [0.2, 0.1, 0.05, 0.02, 0.0];
/// All targets together, then each.
const COLUMNS: usize = 1 + SHARES.len();
/// Measurements after which the reference's regret is taken.
const START: usize = 4;
/// What a missed target counts, in budgets.
const MISSED: f64 = 1.5;

/// A ratio with its 95 % interval, if there is more than one instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) mean: f64,
    pub(crate) interval: Option<(f64, f64)>,
}

impl Ratio {
    pub(crate) fn text(&self) -> String {
        let Self { mean, interval } = self;
        interval.map_or_else(|| format!("{mean:.2}"), |(low, high)| format!("{mean:.2} ({low:.2}–{high:.2})"))
    }
}

/// A method's ratios to the reference.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ratios {
    /// Over all five targets.
    pub(crate) all: Ratio,
    /// In the order of [`SHARES`].
    pub(crate) targets: [Ratio; SHARES.len()],
    pub(crate) instances: usize,
    /// The chance that equal methods look this different over all targets: signed ranks of the
    /// instances' mean logarithms.
    pub(crate) chance: f64,
}

/// All runs, with what the targets need to know of them.
pub(crate) struct Field<'a> {
    traces: &'a [Trace],
    /// By problem and seed.
    best_known: BTreeMap<(usize, u64), f64>,
    /// By problem.
    budgets: BTreeMap<usize, usize>,
}

impl<'a> Field<'a> {
    pub(crate) fn new(traces: &'a [Trace]) -> Self {
        let (mut best_known, mut budgets) = (BTreeMap::new(), BTreeMap::new());
        for trace in traces {
            let best = best_known.entry((trace.problem, trace.seed)).or_insert(f64::INFINITY);
            *best = trace.optimum.unwrap_or_else(|| trace.last().min(*best));
            let budget = budgets.entry(trace.problem).or_insert(0);
            *budget = trace.bests.len().max(*budget);
        }
        Self { traces, best_known, budgets }
    }

    /// The best known cost of an instance.
    pub(crate) fn best_known(&self, problem: usize, seed: u64) -> f64 {
        self.best_known.get(&(problem, seed)).copied().unwrap_or(f64::INFINITY)
    }

    /// All runs.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Trace> {
        self.traces.iter()
    }

    /// The runs with noise.
    pub(super) fn noisy(&self) -> impl Iterator<Item = &'a Trace> {
        self.traces.iter().filter(|trace| trace.outcome.spread.is_some())
    }

    /// The runs of instances on which some run has failures.
    pub(super) fn failing(&self) -> impl Iterator<Item = &'a Trace> {
        let with = self.traces.iter().filter(|trace| trace.outcome.failures.is_some());
        let instances: BTreeSet<(usize, u64)> = with.map(|trace| (trace.problem, trace.seed)).collect();
        self.traces.iter().filter(move |trace| instances.contains(&(trace.problem, trace.seed)))
    }

    pub(crate) fn has(&self, group: Group) -> bool {
        self.traces.iter().any(|trace| trace.group == group)
    }

    /// A method's ratios over the runs that `keep` selects. Returns `None` without pairs.
    pub(crate) fn ratios(&self, method: usize, reference: usize, keep: impl Fn(&Trace) -> bool) -> Option<Ratios> {
        let clusters = self.clusters(method, reference, keep);
        if clusters.is_empty() {
            return None;
        }
        let (means, intervals) = (means(clusters.iter()), intervals(&clusters));
        let ratio = |i: usize| Ratio {
            mean: means[i].exp(),
            interval: intervals.map(|intervals| (intervals[i].0.exp(), intervals[i].1.exp())),
        };
        let pairs: Vec<(f64, f64)> = clusters.iter().map(|own| (own.sums[0] / own.count as f64, 0.0)).collect();
        Some(Ratios {
            all: ratio(0),
            targets: std::array::from_fn(|i| ratio(i + 1)),
            instances: clusters.len(),
            chance: chance_of_equality(&pairs),
        })
    }

    /// The logarithms of the ratios, one cluster per instance, those of a problem together.
    fn clusters(&self, method: usize, reference: usize, keep: impl Fn(&Trace) -> bool) -> Vec<Cluster<COLUMNS>> {
        let of = |wanted: usize| self.traces.iter().filter(move |trace| trace.method == wanted);
        let references: BTreeMap<_, &Trace> = of(reference).map(|trace| (key(trace), trace)).collect();
        let mut clusters: BTreeMap<(usize, u64), Cluster<COLUMNS>> = BTreeMap::new();
        for own in of(method).filter(|trace| keep(trace)) {
            let Some(logarithms) = references.get(&key(own)).and_then(|reference| self.logarithms(own, reference))
            else {
                continue;
            };
            let (problem, seed) = (own.problem, own.seed);
            let empty = Cluster { problem, seed, sums: [0.0; COLUMNS], count: 0 };
            let cluster = clusters.entry((problem, seed)).or_insert(empty);
            cluster.sums.iter_mut().zip(logarithms).for_each(|(sum, own)| *sum += own);
            cluster.count += 1;
        }
        clusters.into_values().collect()
    }

    /// ln(nₘ/nᵣ) of one pair: their mean, then each target's. Returns `None` if the reference has
    /// no success.
    fn logarithms(&self, own: &Trace, reference: &Trace) -> Option<[f64; COLUMNS]> {
        let early = START.min(reference.bests.len()).checked_sub(1)?;
        let start = *reference.bests[early..].iter().find(|best| best.is_finite())?;
        let best = self.best_known(own.problem, own.seed);
        let missed = MISSED * self.budgets.get(&own.problem).copied().unwrap_or(0) as f64;
        let evaluations =
            |trace: &Trace, target| evaluations_to(target, &trace.bests).map_or(missed, |count| count as f64);
        let logarithms = SHARES.map(|share| {
            let target = best + share * (start - best).max(0.0);
            (evaluations(own, target) / evaluations(reference, target)).ln()
        });
        let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
        Some(std::array::from_fn(|i| if i == 0 { mean } else { logarithms[i - 1] }))
    }
}

fn key(trace: &Trace) -> (usize, bool, u64) {
    (trace.problem, trace.mask, trace.seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(method: usize, seed: u64, mask: bool, bests: &[f64]) -> Trace {
        let bests = bests.to_vec();
        Trace {
            method,
            problem: 0,
            group: Group::Binary,
            seed,
            mask,
            bests,
            optimum: Some(0.0),
            outcome: Default::default(),
        }
    }

    /// The reference has 10 after 4: targets 2, 1, 0.5, 0.2 and 0.
    const REFERENCE: [f64; 8] = [50.0, 20.0, 10.0, 10.0, 2.0, 0.9, 0.2, 0.0];

    #[test]
    fn targets_by_hand() {
        let own = [50.0, 2.0, 1.5, 1.0, 1.0, 0.6, 0.5, 0.3];
        let traces = [trace(0, 0, false, &REFERENCE), trace(1, 0, false, &own)];
        let field = Field::new(&traces);
        // Reference at 5, 6, 7, 7, 8; own at 2, 4, 7 and never, which is 1.5·8 = 12.
        let logarithms = field.logarithms(&traces[1], &traces[0]).unwrap();
        let expected = [2.0 / 5.0, 4.0 / 6.0, 7.0 / 7.0, 12.0 / 7.0, 12.0 / 8.0].map(f64::ln);
        assert!(logarithms[1..].iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{logarithms:?}");
        assert!((logarithms[0] - expected.iter().sum::<f64>() / 5.0).abs() < 1e-12);
        let ratios = field.ratios(1, 0, |_| true).unwrap();
        assert!((ratios.targets[0].mean - 0.4).abs() < 1e-12 && ratios.all.interval.is_none());
        assert_eq!(field.ratios(0, 0, |_| true).unwrap().all.mean, 1.0);
        assert_eq!(field.ratios(1, 0, |trace| trace.mask), None);
    }

    #[test]
    fn without_an_optimum_the_best_of_all_methods_and_masks_counts() {
        let mut traces = [trace(0, 0, false, &[5.0, 3.0]), trace(1, 0, true, &[4.0, 1.0]), trace(1, 1, true, &[0.5])];
        traces.iter_mut().for_each(|trace| trace.optimum = None);
        let field = Field::new(&traces);
        assert_eq!((field.best_known(0, 0), field.best_known(0, 1)), (1.0, 0.5));
        assert_eq!(field.best_known(0, 2), f64::INFINITY);
    }

    #[test]
    fn masked_and_unmasked_runs_of_an_instance_are_one_cluster() {
        let twice: Vec<f64> = REFERENCE.iter().flat_map(|best| [*best; 2]).collect();
        let mut traces = Vec::new();
        for (seed, mask) in [(0, false), (0, true), (1, false), (1, true)] {
            traces.extend([trace(0, seed, mask, &REFERENCE), trace(1, seed, mask, &twice)]);
        }
        let field = Field::new(&traces);
        let ratios = field.ratios(1, 0, |_| true).unwrap();
        assert_eq!(ratios.instances, 2);
        // At 9, 11, 13, 13, 15 instead of 5, 6, 7, 7, 8.
        assert!((ratios.targets[4].mean - 15.0 / 8.0).abs() < 1e-12);
        assert_eq!(ratios.targets[4].interval.map(|(low, high)| high - low), Some(0.0));
        // Two instances, both worse: half of the patterns of signs are this extreme.
        assert_eq!(ratios.chance, 0.5);
        assert_eq!(ratios.targets[4].text(), "1.88 (1.88–1.88)");
    }

    #[test]
    fn failures_only_delay() {
        let inf = f64::INFINITY;
        let reference = [inf, inf, inf, inf, inf, 10.0, 1.0, 0.0];
        let traces = [trace(0, 0, false, &reference), trace(1, 0, false, &[inf; 8]), trace(1, 1, false, &[inf; 8])];
        let field = Field::new(&traces);
        // Targets 2 and 1 at 7, the others at 8; the other run has no success: 12.
        let logarithms = field.logarithms(&traces[1], &traces[0]).unwrap();
        assert!((logarithms[1] - (12.0f64 / 7.0).ln()).abs() < 1e-12);
        assert!((logarithms[5] - (12.0f64 / 8.0).ln()).abs() < 1e-12);
        assert_eq!(field.logarithms(&traces[0], &traces[1]), None, "no success, no targets");
    }
}
