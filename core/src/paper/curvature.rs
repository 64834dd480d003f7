//! The curvature of a function as seen in the last steps, as a direction towards its minimum.
//!
//! −H·∇f by the two loops of L-BFGS (Nocedal and Wright, algorithm 7.4), on the free dimensions
//! only.
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | s, y | a step, and how it changed the gradient | D, the last 6 of each |
//! | H | inverse curvature as far as the pairs show it: H·y = s for the newest | D × D, never stored |
//! | free | 1 for a dimension that may move, 0 for one that is held | D |
//!
//! **Choices**
//! - Held dimensions are left out of every product, as if the function had only the free ones.
//! - Pairs without curvature in the free dimensions are skipped, and so are steps along which the
//!   gradient did not grow.
//!
//! **Cost.** 12·D numbers; about 36·D multiplications per direction.

use crate::math::float::dot;

/// Number of pairs (s, y) kept.
const PAIRS: usize = 6;

/// A step and how it changed the gradient.
#[derive(Clone, Copy)]
struct Pair<const D: usize> {
    s: [f32; D],
    y: [f32; D],
}

/// The last pairs, the newest first. Pairs not learnt yet are 0 and thus show no curvature.
pub(crate) struct Curvature<const D: usize> {
    pairs: [Pair<D>; PAIRS],
    known: bool,
}

impl<const D: usize> Curvature<D> {
    pub(crate) const fn new() -> Self {
        Self { pairs: [Pair { s: [0.0; D], y: [0.0; D] }; PAIRS], known: false }
    }

    /// Whether no pair is known.
    pub(crate) fn is_empty(&self) -> bool {
        !self.known
    }

    /// Adds a step s that changed the gradient by y, and drops the oldest pair.
    pub(crate) fn learn(&mut self, s: [f32; D], y: [f32; D]) {
        if dot(&s, &y) > f32::EPSILON * dot(&y, &y) {
            self.known = true;
            let mut pair = Pair { s, y };
            self.pairs.iter_mut().for_each(|own| core::mem::swap(own, &mut pair));
        }
    }

    /// −H·slope on the free dimensions, 0 on the others. While H is unknown: down the slope, with
    /// longest side `first`.
    pub(crate) fn direction(&self, slope: &[f32; D], free: &[f32; D], first: f32) -> [f32; D] {
        let mut d = [0.0; D];
        add(&mut d, -1.0, slope, free);
        // 1/s·y of each pair and its share; 0 if the pair is skipped.
        let (mut shares, mut scale) = ([(0.0, 0.0); PAIRS], None);
        for (pair, (inverse, share)) in self.pairs.iter().zip(&mut shares) {
            let (sy, yy) = (product(&pair.s, &pair.y, free), product(&pair.y, &pair.y, free));
            if sy > f32::EPSILON * yy {
                *inverse = 1.0 / sy;
                *share = dot(&pair.s, &d) * *inverse;
                add(&mut d, -*share, &pair.y, free);
                scale = scale.or(Some(sy / yy));
            }
        }
        let scale = scale.unwrap_or_else(|| first / longest(&d).max(f32::MIN_POSITIVE));
        d.iter_mut().for_each(|d| *d *= scale);
        for (pair, (inverse, share)) in self.pairs.iter().rev().zip(shares.iter().rev()) {
            let back = dot(&pair.y, &d) * inverse;
            if *inverse > 0.0 {
                add(&mut d, share - back, &pair.s, free);
            }
        }
        d
    }
}

/// The longest side of a step.
pub(crate) fn longest(v: &[f32]) -> f32 {
    v.iter().fold(0.0, |longest, v| longest.max(v.abs()))
}

/// a·b over the free dimensions.
fn product(a: &[f32], b: &[f32], free: &[f32]) -> f32 {
    a.iter().zip(b).zip(free).fold(0.0, |sum, ((a, b), free)| sum + a * b * free)
}

/// Adds factor·b to a, on the free dimensions.
fn add(a: &mut [f32], factor: f32, b: &[f32], free: &[f32]) {
    a.iter_mut().zip(b).zip(free).for_each(|((a, b), free)| *a += factor * b * free);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps along each axis of a quadratic with curvatures 1, 2, 4 show all of it: the direction
    /// is Newton's.
    #[test]
    fn steps_along_every_axis_give_newtons_step() {
        let mut curvature = Curvature::<3>::new();
        assert_eq!(curvature.direction(&[2.0, -4.0, 0.0], &[1.0; 3], 0.5), [-0.25, 0.5, 0.0]);
        for (i, own) in [1.0, 2.0, 4.0].into_iter().enumerate() {
            let axis = |height: f32| core::array::from_fn(|j| if i == j { height } else { 0.0 });
            curvature.learn(axis(0.5), axis(0.5 * own));
        }
        assert_eq!(curvature.direction(&[1.0, 1.0, 1.0], &[1.0; 3], 0.1), [-1.0, -0.5, -0.25]);
        // A held dimension takes no part.
        assert_eq!(curvature.direction(&[1.0, 1.0, 1.0], &[1.0, 0.0, 1.0], 0.1), [-1.0, 0.0, -0.25]);
    }

    #[test]
    fn the_newest_pair_is_exact_and_the_oldest_is_forgotten() {
        let mut curvature = Curvature::<2>::new();
        for i in 0..10 {
            let t = i as f32 * 0.3;
            // The curvature [[2, 1], [1, 3]].
            let s = [1.0 + t, 2.0 - t];
            let y = [2.0 * s[0] + s[1], s[0] + 3.0 * s[1]];
            curvature.learn(s, y);
            let d = curvature.direction(&y, &[1.0; 2], 0.1);
            assert!((d[0] + s[0]).abs() < 1e-4 && (d[1] + s[1]).abs() < 1e-4, "{d:?} {s:?}");
        }
        let oldest = curvature.pairs[PAIRS - 1].s;
        assert!((oldest[0] - 2.2).abs() < 1e-6, "{oldest:?}");
        // Along this step the gradient falls, so it is not learnt.
        curvature.learn([1.0, 0.0], [-1.0, 0.0]);
        assert!(curvature.pairs[0].y[0] > 0.0 && !curvature.is_empty());
    }
}
