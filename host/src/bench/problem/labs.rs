//! Low-autocorrelation binary sequences: signs with little correlation to their own shifts (Golay,
//! 1972).
//!
//! f(b) = −m²/(2E), E = Σ_{k=1}^{m−1} (Σᵢ sᵢsᵢ₊ₖ)², sᵢ = 1 − 2bᵢ, b ∈ {0, 1}^m: minus the
//! merit factor.
//!
//! **Choices**
//! - Nothing is random: a seed changes only where a search starts.
//! - A sequence, its negation, its mirror image and the one with every second sign flipped cost the
//!   same, so there are up to eight optima.
//!
//! **Optimum.** For m ≤ 48 one optimal sequence each, given by the lengths of its runs of equal
//! signs. The least energies are known from exhaustive searches (Packebusch and Mertens,
//! arXiv:1512.02475, for m ≤ 66).

use trimtab::{Knob, Level};

use super::{Family, Optimum, Parameter, Problem};

pub(super) const FAMILY: Family = Family {
    name: "labs",
    about: "low-autocorrelation binary sequences: minus the merit factor m²/(2E)",
    parameters: &[Parameter { name: "m", default: "24", about: "number of signs" }],
    build: |given, _, _| Ok(Box::new(Labs::new(given.count("m", 3..=256)?))),
    load: Some(|instance| Ok(Box::new(Labs::new(instance.bits()?)))),
};

/// Length of the table's first sequence.
const FIRST: usize = 3;
/// Run lengths of an optimal sequence, for m = 3, 4, ….
#[rustfmt::skip]
const RUNS: [&str; 46] = [
    "21", "211", "311", "1113", "1123", "12113", "42111", "22114", "112133", "1221114", "5221111", "2221115",
    "52221111",
    "225111121", "252211121", "441112221", "4111142212", "5113112321", "27221111121", "51221111233", "212121111632",
    "2236111112121", "337111121221", "21212111116322", "34313131211211", "34313131211212", "212112131313431",
    "551212111113231", "7332212211112111", "71112111133221221", "742112111111122221", "842112111111122221",
    "7122122111121111332", "3632311131212111211", "844211211111122221", "8442112111111122221", "82121121234321111111",
    "44412112131121313131", "343111111222281211211", "313131341343112112112", "1132432111117212112213",
    "525313113111222111211121", "82121121231234321111111", "823431231211212211111111", "923431231211212211111111",
    "3111111832143212221121121",
];

struct Labs {
    knobs: Vec<Knob>,
}

impl Labs {
    fn new(m: usize) -> Self {
        Self { knobs: vec![Knob::nominal(2); m] }
    }
}

/// E.
fn energy(levels: &[Level]) -> i64 {
    let correlation = |shift: usize| -> i64 {
        levels.iter().zip(&levels[shift..]).map(|(one, other)| if one == other { 1 } else { -1 }).sum()
    };
    (1..levels.len()).map(|shift| correlation(shift).pow(2)).sum()
}

impl Problem for Labs {
    fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    fn cost(&self, levels: &[Level]) -> f64 {
        let m = levels.len() as f64;
        -m * m / (2.0 * energy(levels) as f64)
    }

    fn optimum(&self) -> Option<Optimum> {
        let runs = RUNS.get(self.knobs.len().checked_sub(FIRST)?)?;
        let lengths = runs.bytes().map(|digit| usize::from(digit - b'0')).enumerate();
        let levels: Vec<Level> =
            lengths.flat_map(|(i, length)| std::iter::repeat_n((i % 2) as Level, length)).collect();
        Some(Optimum { value: self.cost(&levels), levels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::gray;

    #[test]
    fn by_hand() {
        // Barker's 13: + + + + + − − + + − + − +, all off-peak correlations 0 or 1, six of them 1.
        let barker = [0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0];
        assert_eq!(energy(&barker), 6);
        assert_eq!(Labs::new(13).cost(&barker), -169.0 / 12.0);
        // Equal signs: correlations 2 and 1.
        assert_eq!(energy(&[1, 1, 1]), 5);
    }

    #[test]
    fn the_table_has_the_published_energies() {
        // The least energies of Packebusch and Mertens, from m = 3.
        let published = [
            1, 2, 2, 7, 3, 8, 12, 13, 5, 10, 6, 19, 15, 24, 32, 25, 29, 26, 26, 39, 47, 36, 36, 45, 37, 50, 62, 59, 67,
            64, 64, 65, 73, 82, 86, 87, 99, 108, 108, 101, 109, 122, 118, 131, 135, 140,
        ];
        assert_eq!(published.len(), RUNS.len());
        for (m, expected) in (FIRST..).zip(published) {
            let levels = Labs::new(m).optimum().unwrap().levels;
            assert_eq!((levels.len(), energy(&levels)), (m, expected), "m = {m}");
        }
        assert_eq!(Labs::new(49).optimum(), None);
    }

    #[test]
    fn the_table_is_the_least_of_all() {
        for m in FIRST..=14 {
            let mut levels: Vec<Level> = vec![0; m];
            // The last sign can stay: a sequence and its negation have equal energy.
            let energies = gray::flips(m - 1).map(|bit| {
                levels[bit] ^= 1;
                energy(&levels)
            });
            let least = energies.min();
            let known = Labs::new(m).optimum().map(|optimum| energy(&optimum.levels));
            assert_eq!(known, least, "m = {m}");
        }
    }
}
