//! Depth-first search over the digits of a combination, with the most promising level first.
//!
//! The enumeration of Schnorr and Euchner (*Lattice basis reduction*, 1994), for any number of
//! levels per digit.
//!
//! | name | meaning |
//! |---|---|
//! | digit | a bit of the index or a knob; one is chosen per depth |
//! | node | a level tried for a digit, under the levels chosen above it |
//! | bound | lower bound of the cost of every leaf below a node |
//! | slack | rounding margin when pruning: how far a bound may exceed the best cost without ruling a leaf out |
//!
//! **Choices**
//! - Levels are tried in the order of (bound, level), so the first leaf is already good, and the
//!   rest of a digit's levels are dropped at the first that costs too much.
//! - The next level is found by scanning all of them again instead of sorting: usually one or two
//!   are tried, and nothing is stored.
//! - A node is known only by its smallest index (all digits below at level 0). That decides ties
//!   and drops nodes past the last combination.
//!
//! **Cost.** 24 bytes per depth; per node as many bounds as its digit has levels, two or three
//! times.

use core::cmp::Ordering;

use crate::features::encoding::Digit;
use crate::space::knob::Level;

/// Lower bounds for the leaves below a node.
pub(crate) trait Bound {
    /// The digits, in the order in which they are chosen.
    fn digits(&self) -> &[Digit];

    /// Lower bound of the cost of every leaf if this depth takes this level; never below the bound
    /// chosen above it.
    fn bound(&mut self, depth: usize, level: Level) -> f32;

    /// Chooses a level at this depth; the next bounds are one deeper.
    fn choose(&mut self, depth: usize, level: Level);

    /// A leaf whose bound is above best + slack costs more than `best`.
    fn slack(&self, best: f32) -> f32;
}

/// A leaf with its cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Leaf {
    pub(crate) cost: f32,
    pub(crate) index: u64,
}

/// State of the search at one depth.
#[derive(Clone, Copy, Default)]
pub(crate) struct Frame {
    /// The index of the levels chosen above.
    above: u64,
    tried: Option<(f32, Level)>,
}

/// The order in which levels are tried.
fn order(a: &(f32, Level), b: &(f32, Level)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// Returns the leaf of smallest (cost, index) and the number of nodes visited, or `Err` with that
/// number if it would exceed `limit`. `evaluate` returns the cost of a leaf unless it is ruled out;
/// it is called only for leaves that may be better than the one passed to it.
pub(crate) fn walk<const M: usize>(
    bound: &mut impl Bound,
    last_index: u64,
    limit: u32,
    mut evaluate: impl FnMut(u64, Option<Leaf>) -> Option<Leaf>,
) -> Result<(Option<Leaf>, u32), u32> {
    let mut frames = [Frame::default(); M];
    let (mut best, mut depth, mut nodes) = (None, 0, 0u32);
    if bound.digits().is_empty() {
        return Ok((evaluate(0, None), 0));
    }
    let mut ceiling = f32::INFINITY;
    while let (Some(digit), Some(frame)) = (bound.digits().get(depth).copied(), frames.get_mut(depth)) {
        let levels = digit.levels().map(|level| (bound.bound(depth, level), level));
        let left = levels.filter(|next| frame.tried.is_none_or(|tried| order(&tried, next).is_lt()));
        let Some(next) = left.min_by(order).filter(|next| next.0 <= ceiling) else {
            let Some(up) = depth.checked_sub(1) else { return Ok((best, nodes)) };
            depth = up;
            continue;
        };
        frame.tried = Some(next);
        let index = frame.above.wrapping_add(digit.place.wrapping_mul(u64::from(next.1)));
        let is_late = |best: Leaf| next.0 == ceiling && index > best.index;
        if index > last_index || best.is_some_and(is_late) {
            continue;
        }
        if nodes >= limit {
            return Err(nodes);
        }
        nodes += 1;
        if depth + 1 < bound.digits().len() {
            bound.choose(depth, next.1);
            depth += 1;
            if let Some(frame) = frames.get_mut(depth) {
                *frame = Frame { above: index, tried: None };
            }
        } else if let Some(leaf) = evaluate(index, best) {
            best = Some(leaf);
            ceiling = leaf.cost + bound.slack(leaf.cost);
        }
    }
    Ok((best, nodes))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Encoding;
    use crate::features::encoding::Encoder;
    use crate::math::random::Random;
    use crate::math::times;
    use crate::space::Space;
    use crate::space::knob::Knob;

    /// Each level has a cost, and a leaf costs their sum.
    struct Sum {
        digits: std::vec::Vec<Digit>,
        costs: [[f32; 4]; 5],
        above: [f32; 6],
    }

    impl Bound for Sum {
        fn digits(&self) -> &[Digit] {
            &self.digits
        }
        fn bound(&mut self, depth: usize, level: Level) -> f32 {
            self.above[depth] + self.costs[depth][usize::from(level)]
        }
        fn choose(&mut self, depth: usize, level: Level) {
            self.above[depth + 1] = self.bound(depth, level);
        }
        fn slack(&self, _: f32) -> f32 {
            0.0
        }
    }

    /// Integer costs, so that many leaves are equal. Leaves above `last` do not count, nor those
    /// that a fixed rule excludes.
    #[test]
    fn the_first_of_the_best_is_found_in_any_order_of_digits() {
        let space = Space::<5>::new(&[3, 2, 4, 2, 3].map(Knob::nominal)).unwrap();
        let mut digits = [Digit::default(); 5];
        Encoder::new(&space, Encoding::PerKnob).digits(&space, &mut digits);
        for seed in 0..times(200, 4) {
            let mut random = Random::new(seed, 0);
            let costs = [0; 5].map(|_| [0; 4].map(|_| random.below(3) as f32));
            let last = u64::from(random.below(144));
            let rule = 1 + u64::from(random.below(4));
            let mut sum = Sum { digits: digits.to_vec(), costs, above: [0.0; 6] };
            sum.digits.rotate_left(random.below(5) as usize);
            let cost = |sum: &Sum, index: u64| {
                let levels = sum.digits.iter().map(|digit| usize::from(digit.level(index)));
                sum.costs.iter().zip(levels).map(|(costs, level)| costs[level]).sum::<f32>()
            };
            let all = (0..=last)
                .filter(|index: &u64| !index.is_multiple_of(rule))
                .map(|index| Leaf { cost: cost(&sum, index), index });
            let first = all.reduce(|a, b| if b.cost < a.cost { b } else { a });
            let costs = Sum { digits: sum.digits.clone(), ..sum };
            let mut evaluate = |index: u64, best: Option<Leaf>| {
                let leaf = Leaf { cost: cost(&costs, index), index };
                let order = |best: Leaf| (leaf.cost, leaf.index) < (best.cost, best.index);
                (!index.is_multiple_of(rule) && best.is_none_or(order)).then_some(leaf)
            };
            let (found, nodes) = walk::<5>(&mut sum, last, u32::MAX, &mut evaluate).unwrap();
            assert_eq!(found, first, "seed {seed}");
            assert_eq!(walk::<5>(&mut sum, last, nodes, &mut evaluate), Ok((found, nodes)));
            if nodes > 0 {
                assert_eq!(walk::<5>(&mut sum, last, nodes - 1, &mut evaluate), Err(nodes - 1));
            }
        }
    }
}
