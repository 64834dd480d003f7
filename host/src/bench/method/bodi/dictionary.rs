//! The dictionary: random combinations, and how much of each a combination agrees with.
//!
//! φⱼ(c) = (number of nominal knobs where c agrees with atom j)/(number of nominal knobs), then the
//! position of each graded knob, from 0 to 1.
//!
//! **Choices**
//! - *Diverse random* atoms, which the authors recommend: each atom has its own probabilities of
//!   levels, uniform on the simplex, so that the number of ones spreads over all values instead of
//!   staying near half.
//! - Knobs with equally many levels share an atom's probabilities.
//!
//! **Cost.** m·K additions per combination.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level};

use crate::bench::method::embedded::Features;
use crate::bench::method::linalg::add_scaled;

/// m random atoms over the nominal knobs.
pub(super) struct Dictionary {
    atoms: usize,
    /// Per knob and level, for every atom: 1 if it has that level. Graded knobs have none.
    agreements: Vec<Vec<Vec<f64>>>,
    /// The largest level of each graded knob.
    scales: Vec<Option<f64>>,
    nominal: f64,
}

impl Dictionary {
    pub(super) fn draw(knobs: &[Knob], atoms: usize, random: &mut Xoshiro256PlusPlus) -> Self {
        let nominal = knobs.iter().filter(|knob| !knob.is_graded()).count();
        let atoms = if nominal > 0 { atoms } else { 0 };
        let levels_of = |knob: &Knob| if knob.is_graded() { 0 } else { knob.levels() };
        let mut agreements: Vec<Vec<Vec<f64>>> =
            knobs.iter().map(|knob| vec![vec![0.0; atoms]; levels_of(knob)]).collect();
        for atom in 0..atoms {
            let mut shares: Vec<Vec<f64>> = Vec::new();
            for (knob, agreements) in knobs.iter().zip(&mut agreements).filter(|(knob, _)| !knob.is_graded()) {
                let q = knob.levels();
                if shares.iter().all(|shares| shares.len() != q) {
                    shares.push(simplex(q, random));
                }
                let shares = shares.iter().find(|shares| shares.len() == q).map_or(&[][..], Vec::as_slice);
                let mut left = random.random::<f64>();
                let level = shares.iter().position(|share| {
                    left -= share;
                    left < 0.0
                });
                agreements[level.unwrap_or(q - 1)][atom] = 1.0;
            }
        }
        let scale = |knob: &Knob| knob.is_graded().then(|| (knob.levels() - 1).max(1) as f64);
        Self { atoms, agreements, scales: knobs.iter().map(scale).collect(), nominal: nominal.max(1) as f64 }
    }

    /// The number of features.
    pub(super) fn len(&self) -> usize {
        self.atoms + self.scales.iter().flatten().count()
    }
}

/// A uniform draw from the simplex: exponential draws, divided by their sum.
fn simplex(q: usize, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let draws: Vec<f64> = (0..q).map(|_| -libm::log(1.0 - random.random::<f64>())).collect();
    let sum: f64 = draws.iter().sum();
    draws.iter().map(|draw| draw / sum).collect()
}

impl Features for Dictionary {
    fn write(&self, levels: &[Level], x: &mut Vec<f64>) {
        x.clear();
        x.resize(self.atoms, 0.0);
        for (agreements, level) in self.agreements.iter().zip(levels) {
            if let Some(own) = agreements.get(usize::from(*level)) {
                add_scaled(x, 1.0, own);
            }
        }
        x.iter_mut().for_each(|x| *x /= self.nominal);
        let positions = self.scales.iter().zip(levels).filter_map(|(scale, level)| Some(f64::from(*level) / (*scale)?));
        x.extend(positions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn features_are_shares_of_agreement() {
        let knobs = [Knob::nominal(2), Knob::nominal(3), Knob::ranked(5), Knob::nominal(2)];
        let dictionary = Dictionary::draw(&knobs, 6, &mut Xoshiro256PlusPlus::seed_from_u64(1));
        assert_eq!(dictionary.len(), 7);
        let mut x = Vec::new();
        for atom in 0..6 {
            // The atom itself agrees with all three nominal knobs, its neighbour with two.
            let level = |knob: usize| {
                let of = &dictionary.agreements[knob];
                of.iter().position(|own| own[atom] == 1.0).unwrap_or(3) as Level
            };
            let own = [level(0), level(1), 3, level(3)];
            dictionary.write(&own, &mut x);
            assert_eq!((x[atom], x[6]), (1.0, 0.75));
            dictionary.write(&[1 - own[0], own[1], 0, own[3]], &mut x);
            assert!((x[atom] - 2.0 / 3.0).abs() < 1e-15 && x[6] == 0.0);
        }
    }

    #[test]
    fn atoms_have_any_number_of_ones() {
        let knobs = [Knob::nominal(2); 20];
        let dictionary = Dictionary::draw(&knobs, 2000, &mut Xoshiro256PlusPlus::seed_from_u64(2));
        let mut counts = [0; 21];
        for atom in 0..2000 {
            counts[dictionary.agreements.iter().filter(|of| of[1][atom] == 1.0).count()] += 1;
        }
        // Uniform over 0 to 20: about 95 each, with a deviation of 10.
        assert!(counts.iter().all(|count| (45..145).contains(count)), "{counts:?}");
    }
}
