//! REMBO: a Gaussian process over a random subspace of the bits (Wang, Hutter, Zoghi, Matheson and
//! de Freitas, JAIR 2016), rounded at 0.25 (Kim, Choi and Cho 2022, section 7.1).
//!
//! x = A·y, y ∈ [−√d, √d]^d; bⱼ = 1 if xⱼ, clipped to [0, 1], is at least 0.25.
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | y | a point of the box, the input of the process | d |
//! | A | entries N(0, 1), drawn from the seed | m × d |
//!
//! **Choices**
//! - The paper gives d, the threshold and the acquisition. A and the box are those of Wang et al.,
//!   whose x is clipped to the domain: here [0, 1]^m.
//! - The paper does not place observations that REMBO did not ask for, such as the common initial
//!   one. Here logistic regression finds a y that rounds to the combination; that works for nearly
//!   all combinations while m < 2d, else as many bits as possible agree.
//! - An index past the last combination wraps around.
//! - Wang et al. run several embeddings side by side; here there is one, as in the paper.
//!
//! | setting | value |
//! |---|---|
//! | d | 20, also for fewer bits: in a short trial of 8 bits d = 8 was worse |
//! | threshold | 0.25 |
//! | length-scale | from e⁻³ to e³ times d·√⅔, the distance between two random points of the box |
//! | acquisition | μ − 2·ln(t + 1)·σ, as `Config::paper()` |
//! | the rest | see [`relaxed`](super::relaxed) |

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::Entry;
use super::relaxed::{Relaxation, Relaxed, bits, bits_of, wrapped};
use crate::bench::domain::Domain;
use crate::bench::method::linalg::{add_scaled, dot};
use crate::bench::method::search::descend;
use crate::bench::method::surrogate::{Range, Rule};

pub(crate) const REMBO: Entry = Entry {
    name: "rembo",
    about: "REMBO: Gaussian process on a random subspace of 20 dimensions, GP-UCB, rounded at 0.25",
    source: "Wang et al., JAIR 2016; Kim, Choi and Cho, UAI 2022, section 7.1",
    fallback: super::DRAW,
    start: |task| {
        let m = bits(task, "rembo")?;
        Ok(Box::new(Relaxed::new(task, Rembo::new(Domain::new(task.knobs), m, task.seed))))
    },
};

const D: usize = 20;
const THRESHOLD: f64 = 0.25;
/// Separates the random numbers of A from those of the search.
const STREAM: u64 = 0x0052_454d_424f;
/// Evaluations per logistic regression.
const EVALUATIONS: usize = 100;

struct Rembo {
    domain: Domain,
    /// The rows of A.
    rows: Vec<Vec<f64>>,
}

impl Rembo {
    fn new(domain: Domain, m: usize, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ STREAM);
        let rows = (0..m).map(|_| (0..D).map(|_| StandardNormal.sample(&mut random)).collect());
        Self { domain, rows: rows.collect() }
    }

    /// A y that rounds to these bits, or nearly.
    fn separate(&self, bits: &[f64]) -> Vec<f64> {
        // Σ ln(1 + exp(−s·(a·y − ¼))), s = ±1: logistic regression on the rows of A.
        let found = descend(&self.bounds(), &[0.0; D], EVALUATIONS, &mut |y, gradient| {
            let terms = self.rows.iter().zip(bits).map(|(row, bit)| {
                let sign = 2.0 * bit - 1.0;
                let wrong = -sign * (dot(row, y) - THRESHOLD);
                // ln(1 + exp(x)) ≈ x for large x.
                let odds = libm::exp(wrong.min(30.0));
                add_scaled(gradient, -sign * odds / (1.0 + odds), row);
                if wrong > 30.0 { wrong } else { libm::log1p(odds) }
            });
            terms.sum()
        });
        found.x
    }

    fn bits_at(&self, y: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|row| f64::from(u8::from(dot(row, y) >= THRESHOLD))).collect()
    }
}

impl Relaxation for Rembo {
    fn bounds(&self) -> Vec<(f64, f64)> {
        let side = (D as f64).sqrt();
        vec![(-side, side); D]
    }

    fn length_scale(&self) -> Range {
        let typical = libm::log(D as f64 * (2.0f64 / 3.0).sqrt());
        Range { low: typical - 3.0, high: typical + 3.0, typical, spread: f64::INFINITY }
    }

    fn rule(&self, observations: usize, _best: f64) -> Rule {
        Rule::paper_ucb(observations)
    }

    fn round(&self, y: &[f64]) -> Vec<Level> {
        let bits = self.bits_at(y);
        wrapped(&self.domain, bits.iter().rev().fold(0, |index, bit| index << 1 | u128::from(*bit == 1.0)))
    }

    fn settle(&self, y: &[f64]) -> Vec<f64> {
        y.to_vec()
    }

    fn place(&self, levels: &[Level]) -> Vec<f64> {
        self.separate(&bits_of(self.domain.index(levels), self.rows.len()))
    }

    /// Points just across the planes where one bit flips, the nearest first.
    fn others(&self, y: &[f64]) -> Vec<Vec<f64>> {
        let across = |row: &Vec<f64>| {
            let far = (THRESHOLD - dot(row, y)) / dot(row, row);
            let mut other = y.to_vec();
            add_scaled(&mut other, 1.01 * far, row);
            (far.abs() * dot(row, row).sqrt(), other)
        };
        let mut others: Vec<_> = self.rows.iter().map(across).collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0));
        others.into_iter().map(|(_, other)| other).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::method::trial::{judge, pattern};
    use rand::RngExt;
    use trimtab::Knob;

    fn method() -> Rembo {
        Rembo::new(Domain::new(&[Knob::nominal(2); 24]), 24, 7)
    }

    #[test]
    fn combinations_have_a_place_that_rounds_to_them() {
        let method = method();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let hits = (0..50).filter(|_| {
            let levels = method.domain.random(&mut random);
            let y = method.place(&levels);
            // Rounding to f32 may widen the box slightly.
            assert!(y.iter().zip(method.bounds()).all(|(y, (_, high))| y.abs() < high + 1e-6));
            method.round(&y) == levels
        });
        // 24 planes in 20 dimensions cut it into nearly all 2²⁴ pieces (Cover 1965); the box cuts
        // off few.
        let hits = hits.count();
        assert!(hits >= 45, "{hits}");
    }

    #[test]
    fn others_differ_in_one_bit_at_least() {
        let method = method();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let y: Vec<f64> = (0..20).map(|_| random.random_range(-3.0..3.0)).collect();
        let own = method.bits_at(&y);
        let others = method.others(&y);
        assert_eq!(others.len(), 24);
        // The nearest plane is crossed before any other.
        assert_eq!(method.bits_at(&others[0]).iter().zip(&own).filter(|(a, b)| a != b).count(), 1);
        assert!(others.iter().all(|other| method.bits_at(other) != own));
    }

    #[test]
    fn finds_a_pattern_and_beats_random_search() {
        judge(&REMBO, 6, 40, pattern);
    }
}
