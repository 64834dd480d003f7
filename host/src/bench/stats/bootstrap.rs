//! Intervals of means over problems and their instances, by resampling (Efron 1979; clusters as in
//! Davison and Hinkley 1997, section 3.8).
//!
//! One draw takes as many problems as there are, with replacement, and then as many instances of
//! each as it has, with replacement. The interval goes from the 2.5 % to the 97.5 % quantile of the
//! means of all draws.
//!
//! **Choices**
//! - Values of one instance, such as its masked and its unmasked run, belong together: a draw takes
//!   all of them or none.
//! - With a single problem only its instances are drawn, so the interval says nothing about other
//!   problems. With few problems it is too narrow, as every such interval is.
//! - The random numbers are always the same, so that a report can be made again.
//!
//! **Cost.** [`DRAWS`] random numbers and N additions per instance.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::quantile;

const DRAWS: usize = 2000;
const SEED: u64 = 0x424f_4f54;

/// The values of one instance: the sums of N quantities, and how many values they are sums of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cluster<const N: usize> {
    pub(crate) problem: usize,
    pub(crate) seed: u64,
    pub(crate) sums: [f64; N],
    pub(crate) count: usize,
}

/// The mean of each quantity over all values.
pub(crate) fn means<'a, const N: usize>(clusters: impl Iterator<Item = &'a Cluster<N>>) -> [f64; N] {
    let (mut sums, mut count) = ([0.0; N], 0);
    for cluster in clusters {
        sums.iter_mut().zip(cluster.sums).for_each(|(sum, own)| *sum += own);
        count += cluster.count;
    }
    sums.map(|sum| sum / count as f64)
}

/// The 95 % interval of each mean. Clusters of one problem must stand together. Returns `None` for
/// fewer than two clusters.
pub(crate) fn intervals<const N: usize>(clusters: &[Cluster<N>]) -> Option<[(f64, f64); N]> {
    let draws = draws(clusters)?;
    Some(std::array::from_fn(|i| interval(&draws.iter().map(|means| means[i]).collect::<Vec<_>>())))
}

/// The mean of the first quantity over that of the second, with its 95 % interval.
pub(crate) fn quotient(clusters: &[Cluster<2>]) -> (f64, Option<(f64, f64)>) {
    let quotient = |[own, reference]: [f64; 2]| own / reference;
    let drawn = draws(clusters).map(|draws| draws.into_iter().map(quotient).collect::<Vec<_>>());
    (quotient(means(clusters.iter())), drawn.map(|drawn| interval(&drawn)))
}

fn interval(drawn: &[f64]) -> (f64, f64) {
    let end = |share| quantile(drawn, share).unwrap_or(f64::NAN);
    (end(0.025), end(0.975))
}

/// The means of all draws.
fn draws<const N: usize>(clusters: &[Cluster<N>]) -> Option<Vec<[f64; N]>> {
    if clusters.len() < 2 {
        return None;
    }
    let problems: Vec<&[Cluster<N>]> = clusters.chunk_by(|a, b| a.problem == b.problem).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut drawn = Vec::with_capacity(DRAWS);
    let mut chosen = Vec::with_capacity(clusters.len());
    for _ in 0..DRAWS {
        chosen.clear();
        for _ in 0..problems.len() {
            let problem = problems[random.random_range(0..problems.len())];
            chosen.extend((0..problem.len()).map(|_| &problem[random.random_range(0..problem.len())]));
        }
        drawn.push(means(chosen.iter().copied()));
    }
    Some(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution, StandardNormal};

    fn cluster(problem: usize, value: f64) -> Cluster<1> {
        Cluster { problem, seed: 0, sums: [value], count: 1 }
    }

    #[test]
    fn by_hand() {
        assert_eq!(intervals(&[cluster(0, 3.0)]), None);
        // Equal values have an interval of no width, and twins weigh as much as others.
        assert_eq!(intervals(&[cluster(0, 3.0), cluster(1, 3.0)]), Some([(3.0, 3.0)]));
        let twin = Cluster { problem: 0, seed: 0, sums: [2.0], count: 2 };
        assert_eq!(means([twin, cluster(0, 4.0)].iter()), [2.0]);
        // Two problems, 0 and 1: a quarter of the draws take 0 twice, a quarter 1 twice.
        assert_eq!(intervals(&[cluster(0, 0.0), cluster(1, 1.0)]), Some([(0.0, 1.0)]));
        // One problem with instances 0 and 1 gives the same.
        assert_eq!(intervals(&[cluster(0, 0.0), cluster(0, 1.0)]), Some([(0.0, 1.0)]));
        // A quotient of means, not a mean of quotients: (1 + 5)/(2 + 2), from 1/2 to 5/2.
        let pair = |own, reference| Cluster { problem: 0, seed: 0, sums: [own, reference], count: 1 };
        assert_eq!(quotient(&[pair(1.0, 2.0), pair(5.0, 2.0)]), (1.5, Some((0.5, 2.5))));
        assert_eq!(quotient(&[pair(1.0, 2.0)]), (0.5, None));
    }

    /// 20 problems with effects of deviation 1, 5 instances each with deviation 1 more: the
    /// interval of their mean holds the truth in most repetitions, and counting instances as
    /// independent would not.
    #[test]
    fn an_interval_covers_the_truth() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
        let (mut covered, mut width) = (0, 0.0);
        for _ in 0..100 {
            let clusters: Vec<_> = (0..20)
                .flat_map(|problem| {
                    let effect = normal();
                    (0..5).map(|_| cluster(problem, 7.0 + effect + normal())).collect::<Vec<_>>()
                })
                .collect();
            let [(low, high)] = intervals(&clusters).unwrap();
            covered += usize::from(low < 7.0 && 7.0 < high);
            width += (high - low) / 100.0;
        }
        assert!((88..=100).contains(&covered), "{covered}");
        // ±1.96·√(1/20 + 1/100) = ±0.48; the instances alone would give ±1.96·√(2/100) = ±0.28.
        assert!((0.8..1.2).contains(&width), "{width}");
    }
}
