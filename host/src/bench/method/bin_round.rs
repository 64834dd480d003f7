//! Bin-Round: a Gaussian process on [0, 1]^m, expected improvement, rounded at 0.5 (Kim, Choi and
//! Cho 2022, section 7.1).
//!
//! bⱼ = 1 if xⱼ ≥ 0.5, and c is the combination whose index has these m bits.
//!
//! **Choices**
//! - An observation lies at its corner b, where the cost is known, and not at the x that was
//!   rounded to it. The process is then one over corners.
//! - An index past the last combination wraps around; its observation lies at its own bits.
//!
//! | setting | value |
//! |---|---|
//! | threshold | 0.5 |
//! | length-scale | from e⁻³ to e³ times √(m/2), the distance between two random corners |
//! | acquisition | −ln of the expected improvement below the smallest cost |
//! | the rest | see [`relaxed`](super::relaxed) |

use trimtab::Level;

use super::Entry;
use super::relaxed::{Relaxation, Relaxed, bits, bits_of, wrapped};
use crate::bench::domain::Domain;
use crate::bench::method::surrogate::{Range, Rule};

pub(crate) const BIN_ROUND: Entry = Entry {
    name: "bin-round",
    about: "Gaussian process on [0, 1]^m, expected improvement, rounded at 0.5",
    source: "Kim, Choi and Cho, UAI 2022, section 7.1",
    fallback: super::DRAW,
    start: |task| {
        let m = bits(task, "bin-round")?;
        Ok(Box::new(Relaxed::new(task, BinRound { domain: Domain::new(task.knobs), m })))
    },
};

const THRESHOLD: f64 = 0.5;

struct BinRound {
    domain: Domain,
    m: usize,
}

impl Relaxation for BinRound {
    fn bounds(&self) -> Vec<(f64, f64)> {
        vec![(0.0, 1.0); self.m]
    }

    fn length_scale(&self) -> Range {
        let typical = 0.5 * libm::log(self.m as f64 / 2.0);
        Range { low: typical - 3.0, high: typical + 3.0, typical, spread: f64::INFINITY }
    }

    fn rule(&self, _observations: usize, best: f64) -> Rule {
        Rule::ExpectedImprovement { best }
    }

    fn round(&self, x: &[f64]) -> Vec<Level> {
        wrapped(&self.domain, x.iter().rev().fold(0, |index, x| index << 1 | u128::from(*x >= THRESHOLD)))
    }

    fn settle(&self, x: &[f64]) -> Vec<f64> {
        x.iter().map(|x| f64::from(u8::from(*x >= THRESHOLD))).collect()
    }

    fn place(&self, levels: &[Level]) -> Vec<f64> {
        bits_of(self.domain.index(levels), self.m)
    }

    /// Flips one bit each, the least certain first.
    fn others(&self, x: &[f64]) -> Vec<Vec<f64>> {
        let mut order: Vec<usize> = (0..self.m).collect();
        order.sort_by(|a, b| (x[*a] - THRESHOLD).abs().total_cmp(&(x[*b] - THRESHOLD).abs()));
        let flip = |j: usize| {
            let mut corner = self.settle(x);
            corner[j] = 1.0 - corner[j];
            corner
        };
        order.into_iter().map(flip).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::method::trial::{judge, pattern};
    use trimtab::Knob;

    #[test]
    fn rounds_at_a_half_and_flips_the_least_certain_first() {
        let method = BinRound { domain: Domain::new(&[Knob::nominal(2); 3]), m: 3 };
        let x = [0.5, 0.1, 0.7];
        assert_eq!((method.round(&x), method.settle(&x)), (vec![1, 0, 1], vec![1.0, 0.0, 1.0]));
        assert_eq!(method.others(&x), [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]);
        assert_eq!(method.place(&[1, 0, 1]), method.settle(&x));
    }

    #[test]
    fn finds_a_pattern_and_beats_random_search() {
        judge(&BIN_ROUND, 8, 40, pattern);
    }
}
