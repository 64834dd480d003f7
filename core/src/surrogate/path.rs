//! Covariances along a path that changes one knob at a time.
//!
//! A candidate of a sweep differs from the current combination in one knob, so its product with an
//! observation differs from the current one in one factor:
//!
//! Π over all knobs = Π without knob i × fᵢ
//!
//! **Choices**
//! - Factors of nominal knobs are never near zero, so theirs is exchanged by a division. A graded
//!   knob's may be: the product without it is computed anew when the path comes to it.
//! - Each product takes the same operations in the same order whether a path is followed for all
//!   observations or only for new ones, so a cache has the same bits.
//!
//! **Cost.** Per observation some 10 instructions per candidate, and a whole product when the path
//! comes to a graded knob; T numbers.

use crate::space::Combination;
use crate::space::knob::Level;
use crate::surrogate::product::Product;

/// A combination, and its products with observations.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Path<const K: usize, const T: usize> {
    first: usize,
    /// The product with itself.
    own: f32,
    /// The graded knob that the products leave out, plus one; 0 if they are whole.
    left_out: usize,
    at: Combination<K>,
    /// With observation `first + j` at index j.
    products: [f32; T],
}

impl<const K: usize, const T: usize> Path<K, T> {
    pub(crate) const EMPTY: Self = Self { at: Combination::EMPTY, products: [0.0; T], first: 0, own: 0.0, left_out: 0 };

    /// The current combination.
    pub(crate) fn at(&self) -> &Combination<K> {
        &self.at
    }

    /// The first observation that the path is followed for.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// Forgets which observations it is followed for, until it begins again.
    pub(crate) fn leave(&mut self) {
        self.first = 0;
    }

    /// Puts the path to a combination without computing products.
    pub(crate) fn jump(&mut self, at: Combination<K>) {
        self.at = at;
    }

    /// Begins at a combination, for the observations from `first` on.
    pub(crate) fn begin<const M: usize>(
        &mut self,
        (kernel, others): (&Product<K, M>, &[Combination<K>]),
        at: Combination<K>,
        first: usize,
    ) {
        (self.at, self.first, self.left_out) = (at, first, 0);
        kernel.products(&at, others.get(first..).unwrap_or_default(), K, &mut self.products);
        self.own = kernel.product(&at, &at, K);
    }

    /// Comes to a knob; returns whether products had to be computed.
    pub(crate) fn enter<const M: usize>(
        &mut self,
        (kernel, others): (&Product<K, M>, &[Combination<K>]),
        knob: usize,
    ) -> bool {
        if M == 0 {
            return false;
        }
        let is_graded = kernel.is_graded(knob);
        if self.left_out == if is_graded { knob + 1 } else { 0 } {
            return false;
        }
        let others = others.get(self.first..).unwrap_or_default();
        let at = &self.at;
        if let Some(last) = self.left_out.checked_sub(1) {
            let level = self.at.level(last);
            kernel.each_factor((last, level), self.products.iter_mut().zip(others), |product, f| *product *= f);
            self.own *= kernel.factor_of(last, level, level);
            self.left_out = 0;
        }
        if is_graded {
            kernel.products(at, others, knob, &mut self.products);
            self.own = kernel.product(at, at, knob);
            self.left_out = knob + 1;
        }
        true
    }

    /// Writes the covariances of the current combination with another level of the knob entered
    /// last, for the observations `from` on, as many as `row` has room for. Returns its own.
    #[inline(never)]
    pub(crate) fn covariances<const M: usize>(
        &self,
        (kernel, others): (&Product<K, M>, &[Combination<K>]),
        (knob, level): (usize, Level),
        from: usize,
        row: &mut [f32],
    ) -> f32 {
        let products = self.products.get(from.saturating_sub(self.first)..).unwrap_or_default();
        let others = others.get(from..).unwrap_or_default();
        let all = row.iter_mut().zip(products).zip(others);
        if M > 0 && self.left_out > 0 {
            kernel.each_factor((knob, level), all, |(k, product), f| *k = kernel.normalised(product * f));
            return kernel.normalised(self.own * kernel.factor_of(knob, level, level));
        }
        if let Some(bit) = kernel.low_bit(knob) {
            // The same with one comparison.
            let ([equal, different], level) = (kernel.exchange(knob), u32::from(level) << knob);
            let change = |other: &Combination<K>| if other.lows() & bit == level { equal } else { different };
            all.for_each(|((k, product), other)| *k = kernel.normalised(product * change(other)));
        } else {
            let change = change(kernel, (knob, self.at.level(knob)), level);
            all.for_each(|((k, product), other)| *k = kernel.normalised(product * change(other.level(knob))));
        }
        kernel.normalised(self.own)
    }

    /// Takes a level of the knob entered last.
    #[inline(never)]
    pub(crate) fn go<const M: usize>(
        &mut self,
        (kernel, others): (&Product<K, M>, &[Combination<K>]),
        (knob, level): (usize, Level),
    ) {
        if self.left_out == 0 {
            let change = change(kernel, (knob, self.at.level(knob)), level);
            let others = others.get(self.first..).unwrap_or_default();
            let products = self.products.iter_mut().zip(others);
            products.for_each(|(product, other)| *product *= change(other.level(knob)));
        }
        self.at = self.at.with(knob, level);
    }
}

/// The factor by which a nominal knob's new level changes the product with an observation, given its
/// level there.
#[inline(always)]
fn change<const K: usize, const M: usize>(
    kernel: &Product<K, M>,
    (knob, at): (usize, Level),
    level: Level,
) -> impl Fn(Level) -> f32 {
    let [to_equal, to_different] = kernel.exchange(knob);
    move |other| {
        if other == level {
            to_equal
        } else if other == at {
            to_different
        } else {
            1.0
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::math::random::Random;
    use crate::math::times;
    use crate::space::Space;
    use crate::space::knob::{Knob, Scale};
    use crate::surrogate::product::graded_levels;

    const KNOBS: [Knob; 6] = [
        Knob::nominal(3),
        Knob::ranked(6),
        Knob::graded(&[1.0, 2.0, 5.0, 9.0], Scale::Linear),
        Knob::nominal(2),
        Knob::nominal(5),
        Knob::range(0.0, 999.0, 1.0),
    ];
    const N: usize = 9;
    type Kernel = Product<6, { graded_levels(&KNOBS) }>;

    /// Along a random path the covariances are those computed anew, to rounding; and those of the last
    /// observations alone have the same bits.
    #[test]
    fn a_path_has_the_covariances_of_its_combinations() {
        let space = Space::new(&KNOBS).unwrap();
        let mut kernel = Kernel::new();
        kernel.init(&space).unwrap();
        let mut random = Random::new(7, 0);
        let others: [Combination<6>; N] = core::array::from_fn(|_| space.draw(&mut random));
        let (mut all, mut last) = (Path::<6, N>::EMPTY, Path::<6, N>::EMPTY);
        let start = space.draw(&mut random);
        all.begin((&kernel, &others), start, 0);
        last.begin((&kernel, &others), start, N - 2);
        for i in 0..times(300, 6) {
            let knob = random.below(6) as usize;
            let level = random.below(KNOBS[knob].levels() as u32) as Level;
            if level == all.at().level(knob) {
                continue;
            }
            assert_eq!(all.enter((&kernel, &others), knob), last.enter((&kernel, &others), knob));
            let c = all.at().with(knob, level);
            let (mut row, mut end) = ([0.0; N], [0.0; 2]);
            let own = all.covariances((&kernel, &others), (knob, level), 0, &mut row);
            assert_eq!(last.covariances((&kernel, &others), (knob, level), N - 2, &mut end), own);
            assert_eq!(row[N - 2..], end);
            assert!((own - kernel.covariance(&c, &c)).abs() < 1e-4);
            for (k, other) in row.iter().zip(&others) {
                let anew = kernel.covariance(&c, other);
                assert!((k - anew).abs() < 1e-4, "{i}: {k}, not {anew}");
            }
            if i % 3 == 0 {
                all.go((&kernel, &others), (knob, level));
                last.go((&kernel, &others), (knob, level));
            }
        }
    }
}
