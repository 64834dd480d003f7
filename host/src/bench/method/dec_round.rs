//! Dec-Round: a Gaussian process on the number that the bits spell, expected improvement, rounded
//! to a whole number (Kim, Choi and Cho 2022, section 7.1).
//!
//! x ∈ [0, 1] stands for the number x·(2^m − 1), which is the index of the combination.
//!
//! **Choices**
//! - The paper does not say which bit is the most significant. Here it is the last, as in core's
//!   index.
//! - An observation lies at its whole number. A number past the last combination wraps around.
//! - f32 cannot tell numbers of 24 bits or more apart, so further descents refine the minimum in
//!   ever smaller boxes around it.
//!
//! | setting | value |
//! |---|---|
//! | length-scale | from 1e-4 to 10 of the range, initially 0.2 |
//! | acquisition | −ln of the expected improvement below the smallest cost |
//! | the rest | see [`relaxed`](super::relaxed) |

use trimtab::Level;

use super::Entry;
use super::relaxed::{Relaxation, Relaxed, bits, wrapped};
use crate::bench::domain::Domain;
use crate::bench::method::search::{Function, Minimum, descend};
use crate::bench::method::surrogate::{Range, Rule};

pub(crate) const DEC_ROUND: Entry = Entry {
    name: "dec-round",
    about: "Gaussian process on the number that the bits spell, expected improvement, rounded",
    source: "Kim, Choi and Cho, UAI 2022, section 7.1",
    fallback: super::DRAW,
    start: |task| {
        let m = bits(task, "dec-round")?;
        let most = u64::MAX >> (u64::BITS as usize - m);
        Ok(Box::new(Relaxed::new(task, DecRound { domain: Domain::new(task.knobs), most })))
    },
};

/// Factor by which each refinement shrinks the box, and number of refinements.
const CLOSER: f64 = 4096.0;
const TIMES: i32 = 2;
/// Evaluations per refinement.
const EVALUATIONS: usize = 10;
/// How many whole numbers on each side are tried to find an unmeasured one.
const MOST_OTHERS: u64 = 1000;

struct DecRound {
    domain: Domain,
    /// 2^m − 1.
    most: u64,
}

impl DecRound {
    fn number(&self, x: &[f64]) -> u64 {
        // The conversion saturates.
        ((x[0] * self.most as f64).round() as u64).min(self.most)
    }

    fn point(&self, number: u64) -> Vec<f64> {
        vec![number as f64 / self.most as f64]
    }
}

impl Relaxation for DecRound {
    fn bounds(&self) -> Vec<(f64, f64)> {
        vec![(0.0, 1.0)]
    }

    fn length_scale(&self) -> Range {
        Range { low: libm::log(1e-4), high: libm::log(10.0), typical: libm::log(0.2), spread: f64::INFINITY }
    }

    fn rule(&self, _observations: usize, best: f64) -> Rule {
        Rule::ExpectedImprovement { best }
    }

    fn round(&self, x: &[f64]) -> Vec<Level> {
        wrapped(&self.domain, u128::from(self.number(x)))
    }

    fn settle(&self, x: &[f64]) -> Vec<f64> {
        self.point(self.number(x))
    }

    fn place(&self, levels: &[Level]) -> Vec<f64> {
        self.point(self.domain.index(levels) as u64)
    }

    /// The neighbouring whole numbers.
    fn others(&self, x: &[f64]) -> Vec<Vec<f64>> {
        let number = self.number(x);
        let both = (1..=MOST_OTHERS).flat_map(|far| [number.checked_sub(far), number.checked_add(far)]);
        both.flatten().filter(|other| *other <= self.most).map(|other| self.point(other)).collect()
    }

    fn refine(&self, mut found: Minimum, score: &mut Function<'_>) -> Minimum {
        for time in 1..=TIMES {
            let (middle, half) = (found.x[0], CLOSER.powi(-time));
            let (low, high) = ((middle - half).max(0.0), (middle + half).min(1.0));
            // Offsets from the middle are small numbers, so f32 resolves them.
            let closer = descend(&[(low - middle, high - middle)], &[0.0], EVALUATIONS, &mut |offset, slope| {
                score(&[(middle + offset[0]).clamp(0.0, 1.0)], slope)
            });
            found = Minimum { x: vec![(middle + closer.x[0]).clamp(0.0, 1.0)], value: closer.value };
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::method::trial::judge;
    use trimtab::Knob;

    fn method(m: usize) -> DecRound {
        DecRound { domain: Domain::new(&vec![Knob::nominal(2); m]), most: u64::MAX >> (64 - m) }
    }

    #[test]
    fn numbers_by_hand() {
        let method = method(3);
        // 0.6·7 = 4.2: 4 is 001, lowest first; the next ones are 3 and 5.
        assert_eq!((method.round(&[0.6]), method.settle(&[0.6])), (vec![0, 0, 1], vec![4.0 / 7.0]));
        assert_eq!(method.others(&[0.6])[..3], [[3.0 / 7.0], [5.0 / 7.0], [2.0 / 7.0]]);
        assert_eq!(method.place(&[0, 0, 1]), [4.0 / 7.0]);
    }

    #[test]
    fn a_minimum_to_more_digits_than_f32_has() {
        let method = method(40);
        let wanted = 0.712_345_678_901_234;
        let mut bowl = |x: &[f64], slope: &mut [f64]| {
            slope[0] = 2e6 * (x[0] - wanted);
            1e6 * (x[0] - wanted) * (x[0] - wanted)
        };
        let found = descend(&[(0.0, 1.0)], &[0.2], 60, &mut bowl);
        let found = method.refine(found, &mut bowl);
        assert!((found.x[0] - wanted).abs() < 1e-12, "{found:?}");
    }

    /// Squared distance of the number from a third of the way: smooth in the number, as this method
    /// assumes.
    fn valley(levels: &[Level]) -> f64 {
        let number = levels.iter().rev().fold(0, |number: u32, level| number << 1 | u32::from(*level));
        let offset = f64::from(number) - f64::from((1 << levels.len()) / 3);
        offset * offset
    }

    #[test]
    fn finds_a_number_and_beats_random_search() {
        judge(&DEC_ROUND, 8, 25, valley);
    }
}
