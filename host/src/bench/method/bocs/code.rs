//! Combinations as bits, and the moves that keep a search over bits within the combinations.
//!
//! | knob | bits |
//! |---|---|
//! | two levels | one |
//! | graded, q levels | the ⌈log₂ q⌉ binary digits of the level, lowest first |
//! | nominal, q > 2 levels | q, exactly one of which is set |
//!
//! **Choices**
//! - The authors' code is for bits. Their paper uses one bit per level for nominal knobs and
//!   anneals over valid points only, as here.
//! - Binary digits suit a graded knob: with products of two digits the model represents the level,
//!   its square and the product of two levels exactly.
//! - For two levels everything agrees with the authors' code.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level};

use super::quadratic::Quadratic;

/// How the knobs map to bits.
pub(super) struct Code {
    fields: Vec<Field>,
    /// The moves of a search: the field, and the digit if it has digits.
    sites: Vec<(usize, Option<usize>)>,
    bits: usize,
}

/// The bits of a knob.
struct Field {
    first: usize,
    width: usize,
    levels: usize,
    is_one_hot: bool,
}

impl Field {
    fn level(&self, x: &[bool]) -> usize {
        let own = &x[self.first..self.first + self.width];
        match self.is_one_hot {
            true => own.iter().position(|bit| *bit).unwrap_or(0),
            false => own.iter().rev().fold(0, |level, bit| 2 * level + usize::from(*bit)),
        }
    }

    fn put(&self, level: usize, x: &mut [bool]) {
        for (i, bit) in x[self.first..self.first + self.width].iter_mut().enumerate() {
            *bit = if self.is_one_hot { i == level } else { level >> i & 1 == 1 };
        }
    }
}

/// One bit to flip, or two in a one-hot knob.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Flip {
    pub(super) first: usize,
    pub(super) second: Option<usize>,
}

impl Code {
    pub(super) fn new(knobs: &[Knob]) -> Self {
        let mut code = Self { fields: Vec::new(), sites: Vec::new(), bits: 0 };
        for (place, knob) in knobs.iter().enumerate() {
            let levels = knob.levels();
            let is_one_hot = levels > 2 && !knob.is_graded();
            let digits = (usize::BITS - levels.saturating_sub(1).leading_zeros()) as usize;
            let width = if is_one_hot { levels } else { digits };
            match is_one_hot {
                true => code.sites.push((place, None)),
                false => code.sites.extend((0..digits).map(|digit| (place, Some(digit)))),
            }
            code.fields.push(Field { first: code.bits, width, levels, is_one_hot });
            code.bits += width;
        }
        code
    }

    /// m.
    pub(super) fn bits(&self) -> usize {
        self.bits
    }

    /// Whether two random combinations share few set bits, as with many nominal knobs of more than
    /// two levels.
    pub(super) fn is_sparse(&self) -> bool {
        // Expected shared bits: 1/q per one-hot knob of q bits, 1/4 per other bit. Sparse means
        // that less than an eighth of all bits is shared, half the share of plain bits.
        let shared = |field: &Field| if field.is_one_hot { 1.0 / field.width as f64 } else { field.width as f64 / 4.0 };
        self.fields.iter().map(shared).sum::<f64>() < self.bits as f64 / 8.0
    }

    pub(super) fn encode(&self, levels: &[Level]) -> Vec<bool> {
        let mut x = vec![false; self.bits];
        for (field, level) in self.fields.iter().zip(levels) {
            field.put(usize::from(*level), &mut x);
        }
        x
    }

    pub(super) fn decode(&self, x: &[bool]) -> Vec<Level> {
        self.fields.iter().map(|field| field.level(x) as Level).collect()
    }

    /// Writes a uniform random combination.
    pub(super) fn random_into(&self, x: &mut [bool], random: &mut Xoshiro256PlusPlus) {
        for field in &self.fields {
            field.put(random.random_range(0..field.levels), x);
        }
    }

    /// Draws a move uniformly from the bits, where a one-hot knob counts as one. Returns `None` if
    /// it would leave the levels.
    pub(super) fn random_flip(&self, x: &[bool], random: &mut Xoshiro256PlusPlus) -> Option<Flip> {
        if self.sites.is_empty() {
            return None;
        }
        let (place, digit) = self.sites[random.random_range(0..self.sites.len())];
        let field = &self.fields[place];
        let level = field.level(x);
        match digit {
            Some(digit) => {
                let is_valid = level ^ (1 << digit) < field.levels;
                is_valid.then_some(Flip { first: field.first + digit, second: None })
            }
            None => {
                let other = (level + random.random_range(1..field.levels)) % field.levels;
                Some(Flip { first: field.first + level, second: Some(field.first + other) })
            }
        }
    }

    /// Rounds real numbers, which are large where a bit should be set, to a combination.
    pub(super) fn round_into(&self, numbers: &[f64], x: &mut [bool]) {
        for field in &self.fields {
            let own = &numbers[field.first..field.first + field.width];
            let level = match field.is_one_hot {
                true => (0..own.len()).max_by(|a, b| own[*a].total_cmp(&own[*b])).unwrap_or(0),
                false => own.iter().rev().fold(0, |level, number| 2 * level + usize::from(*number > 0.0)),
            };
            field.put(level.min(field.levels - 1), x);
        }
    }

    /// Adds P(1 − Σxᵢ)² over the bits of each one-hot knob, with P so large that the minimum sets
    /// exactly one.
    ///
    /// It is constant for valid points. Without it a relaxation would set two bits.
    pub(super) fn penalise(&self, model: &mut Quadratic) {
        let weight = (0..self.bits).map(|i| model.reach(i)).fold(0.0, f64::max);
        for field in self.fields.iter().filter(|field| field.is_one_hot) {
            let own = field.first..field.first + field.width;
            for i in own.clone() {
                // P(1 − Σxᵢ)² = P − P·Σxᵢ + 2P·Σᵢ<ⱼ xᵢxⱼ, as xᵢ² = xᵢ.
                model.add(i, i, -weight);
                (i + 1..own.end).for_each(|j| model.add(i, j, 2.0 * weight));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::domain::Domain;
    use rand::SeedableRng;

    fn mixed() -> [Knob; 4] {
        [Knob::nominal(2), Knob::nominal(3), Knob::ranked(5), Knob::nominal(2)]
    }

    #[test]
    fn codes_by_hand_and_back() {
        let code = Code::new(&mixed());
        // 1 bit, 3 one-hot bits, the digits of 4 = 001 from the lowest, 1 bit.
        let x = [true, false, false, true, false, false, true, false];
        assert_eq!(code.encode(&[1, 2, 4, 0]), x);
        let domain = Domain::new(&mixed());
        for levels in (0..).map_while(|index| domain.at(index)) {
            assert_eq!(code.decode(&code.encode(&levels)), levels);
        }
    }

    #[test]
    fn bits_are_not_sparse_and_levels_are() {
        assert!(!Code::new(&[Knob::nominal(2), Knob::ranked(100)]).is_sparse());
        assert!(Code::new(&[Knob::nominal(5); 25]).is_sparse());
        // 3/4 + 1/3 of 6 bits, and 3/4 + 5/3 of 18.
        assert!(!Code::new(&[Knob::nominal(2), Knob::nominal(2), Knob::nominal(2), Knob::nominal(3)]).is_sparse());
        assert!(!Code::new(&[&[Knob::nominal(2); 3][..], &[Knob::nominal(3); 5]].concat()).is_sparse());
        // 1/4 + 5/3 of 16: less than an eighth.
        assert!(Code::new(&[&[Knob::nominal(2)][..], &[Knob::nominal(3); 5]].concat()).is_sparse());
    }

    #[test]
    fn every_flip_leads_to_a_combination_and_all_are_reached() {
        let code = Code::new(&mixed());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut x = code.encode(&[0, 0, 0, 0]);
        let mut seen = std::collections::HashSet::new();
        for _ in 0..4000 {
            if let Some(flip) = code.random_flip(&x, &mut random) {
                x[flip.first] ^= true;
                flip.second.into_iter().for_each(|j| x[j] ^= true);
            }
            let levels = code.decode(&x);
            assert_eq!(code.encode(&levels), x);
            assert!(levels.iter().zip(mixed()).all(|(l, knob)| usize::from(*l) < knob.levels()));
            seen.insert(levels);
        }
        assert_eq!(seen.len(), 2 * 3 * 5 * 2);
    }

    #[test]
    fn rounding_by_hand() {
        let code = Code::new(&mixed());
        let mut x = vec![false; 8];
        // The second of the three is the largest; digits 111 = 7 are past the last level, 4.
        code.round_into(&[-1.0, -3.0, -0.1, -2.0, 1.0, 1.0, 1.0, 0.5], &mut x);
        assert_eq!(code.decode(&x), [0, 1, 4, 1]);
    }

    #[test]
    fn the_penalty_makes_the_minimum_over_bits_a_combination() {
        let knobs = [Knob::nominal(3), Knob::nominal(3)];
        let code = Code::new(&knobs);
        let mut model = Quadratic::new(6);
        for (i, c) in [-3.0, -2.0, -1.0, 2.0, 1.0, 3.0].into_iter().enumerate() {
            model.add(i, i, c);
            model.add(i, (i + 3) % 6, -0.5);
        }
        code.penalise(&mut model);
        let all = (0..64).map(|number| (0..6).map(|i| number >> i & 1 == 1).collect::<Vec<bool>>());
        let best = all.min_by(|a, b| model.value(a).total_cmp(&model.value(b))).unwrap();
        // Without pairs: level 0 of the first knob (−3), level 1 of the second (+1). The pairs 0–3,
        // 1–4 and 2–5 add −1 each, so level 0 of the second (2 − 1) ties with level 1 (1).
        assert_eq!(code.encode(&code.decode(&best)), best);
        assert_eq!(code.decode(&best)[0], 0);
    }
}
