//! A quadratic in bits: Σᵢ αᵢ xᵢ + Σᵢ<ⱼ αᵢⱼ xᵢ xⱼ, without the constant, which does not move the
//! minimum.

/// The coefficients.
#[derive(Clone, Debug)]
pub(super) struct Quadratic {
    /// αᵢ.
    linear: Vec<f64>,
    /// αᵢⱼ in both halves of a square, 0 on the diagonal.
    pairs: Vec<f64>,
}

impl Quadratic {
    pub(super) fn new(bits: usize) -> Self {
        Self { linear: vec![0.0; bits], pairs: vec![0.0; bits * bits] }
    }

    pub(super) fn bits(&self) -> usize {
        self.linear.len()
    }

    /// Adds to αᵢⱼ, or to αᵢ if i = j.
    pub(super) fn add(&mut self, i: usize, j: usize, value: f64) {
        if i == j {
            self.linear[i] += value;
        } else {
            let m = self.bits();
            self.pairs[i * m + j] += value;
            self.pairs[j * m + i] += value;
        }
    }

    pub(super) fn linear(&self, i: usize) -> f64 {
        self.linear[i]
    }

    /// αᵢⱼ for all j.
    pub(super) fn row(&self, i: usize) -> &[f64] {
        let m = self.bits();
        &self.pairs[i * m..(i + 1) * m]
    }

    /// The amount that setting bit i adds, whatever its current value.
    pub(super) fn slope(&self, i: usize, x: &[bool]) -> f64 {
        let set = self.row(i).iter().zip(x).filter(|(_, bit)| **bit);
        self.linear[i] + set.map(|(c, _)| c).sum::<f64>()
    }

    /// Upper bound on the change of the value by bit i.
    pub(super) fn reach(&self, i: usize) -> f64 {
        self.linear[i].abs() + self.row(i).iter().map(|c| c.abs()).sum::<f64>()
    }

    pub(super) fn value(&self, x: &[bool]) -> f64 {
        let set = (0..self.bits()).filter(|i| x[*i]);
        // Every pair is counted from both its ends.
        set.map(|i| 0.5 * (self.linear[i] + self.slope(i, x))).sum()
    }
}

/// The smallest values that a search saw.
#[derive(Debug, Default)]
pub(super) struct Best {
    /// Among all points.
    pub(super) any: Option<(f64, Vec<bool>)>,
    /// Among points that may be proposed.
    pub(super) allowed: Option<(f64, Vec<bool>)>,
}

impl Best {
    pub(super) fn offer(&mut self, value: f64, x: &[bool], may_propose: &dyn Fn(&[bool]) -> bool) {
        let is_better = |held: &Option<(f64, Vec<bool>)>| held.as_ref().is_none_or(|(least, _)| value < *least);
        if is_better(&self.any) {
            self.any = Some((value, x.to_vec()));
        }
        if is_better(&self.allowed) && may_propose(x) {
            self.allowed = Some((value, x.to_vec()));
        }
    }
}

#[cfg(test)]
impl Quadratic {
    /// Standard normal coefficients.
    pub(super) fn random(bits: usize, random: &mut rand_xoshiro::Xoshiro256PlusPlus) -> Self {
        let mut model = Self::new(bits);
        for (i, j) in (0..bits).flat_map(|i| (i..bits).map(move |j| (i, j))) {
            model.add(i, j, rand::RngExt::sample(random, rand_distr::StandardNormal));
        }
        model
    }

    /// The smallest value, by enumeration.
    pub(super) fn least(&self) -> f64 {
        let all =
            (0..1u32 << self.bits()).map(|number| (0..self.bits()).map(|i| number >> i & 1 == 1).collect::<Vec<_>>());
        all.map(|x| self.value(&x)).fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_slopes_by_hand() {
        let mut model = Quadratic::new(3);
        for (i, j, c) in [(0, 0, 1.0), (1, 1, -2.0), (2, 2, 4.0), (0, 1, 8.0), (2, 1, -16.0)] {
            model.add(i, j, c);
        }
        // 1 − 2 + 8 = 7; with the third bit 7 + 4 − 16 = −5.
        assert_eq!(model.value(&[true, true, false]), 7.0);
        assert_eq!(model.value(&[true, true, true]), -5.0);
        assert_eq!(model.slope(2, &[true, true, false]), -12.0);
        assert_eq!(model.slope(2, &[true, true, true]), -12.0);
        assert_eq!(model.reach(1), 2.0 + 8.0 + 16.0);
    }

    #[test]
    fn forbidden_points_are_seen_but_not_proposed() {
        let mut best = Best::default();
        for (value, x) in [(3.0, [true, true]), (1.0, [false, false]), (2.0, [false, true])] {
            best.offer(value, &x, &|x| x[0] || x[1]);
        }
        assert_eq!(best.any, Some((1.0, vec![false, false])));
        assert_eq!(best.allowed, Some((2.0, vec![false, true])));
    }
}
