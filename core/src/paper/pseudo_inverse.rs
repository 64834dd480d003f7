//! The Moore-Penrose inverse of a matrix of any shape and rank.
//!
//! A⁺ is the one matrix with A·A⁺·A = A, A⁺·A·A⁺ = A⁺, and A·A⁺ and A⁺·A symmetric. Rotating the
//! rows of A by an orthogonal J until they are orthogonal to each other gives J·A = W, and
//!
//! A⁺ = Wᵀ·S⁻²·J, S the lengths of the rows of W: the singular values of A.
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | A, A⁺ | the matrix and its inverse | R × C, C × R |
//! | J | product of the rotations | R × R |
//! | W | rotated rows | R × C |
//!
//! **Choices**
//! - One-sided Jacobi (Hestenes): its error in f32 grows with the condition of A, not with its
//!   square as for A·Aᵀ or Greville's recursion.
//! - Any shape and any rank are one case: a row that becomes shorter than (R + C)·ε·‖A‖ counts as
//!   0.
//!
//! **Cost.** About 7 sweeps of R²(3.5·C + 2·R) multiplications, 0.35 million for 20 × 24, and R(C +
//! R) numbers of stack. In the tests the four identities hold to 1.5·ε·‖A‖·‖A⁺‖ of the largest
//! element, and at 20 × 24 A⁺ agrees with numpy's to 1.3e-6.

use crate::math::float::{dot, sqrt};
use crate::math::matrix::Matrix;

/// Two rows count as orthogonal if the cosine between them is at most this: a few roundings of
/// their product.
const ORTHOGONAL: f32 = 4.0 * f32::EPSILON;
/// Convergence is quadratic and takes 5 to 8 sweeps. More would mean that rounding keeps two rows
/// from settling, which does no harm.
const MOST_SWEEPS: usize = 16;

/// Writes A⁺ and returns the rank of A.
///
/// ```
/// use trimtab::internals::{Matrix, pseudo_inverse};
/// let (mut a, mut inverse) = (Matrix::<2, 3>::new(), Matrix::<3, 2>::new());
/// a.row_mut(0).copy_from_slice(&[2.0, 0.0, 0.0]);
/// a.row_mut(1).copy_from_slice(&[0.0, 0.0, 4.0]);
/// assert_eq!(pseudo_inverse(&a, &mut inverse), 2);
/// assert!(inverse.rows().eq(&[[0.5, 0.0], [0.0, 0.0], [0.0, 0.25]]));
/// ```
pub fn pseudo_inverse<const R: usize, const C: usize>(a: &Matrix<R, C>, inverse: &mut Matrix<C, R>) -> usize {
    let (mut w, mut j) = ([[0.0; C]; R], [[0.0; R]; R]);
    w.iter_mut().zip(a.rows()).for_each(|(w, row)| *w = *row);
    j.iter_mut().enumerate().for_each(|(i, j)| j.iter_mut().skip(i).take(1).for_each(|j| *j = 1.0));
    // Rotations keep ‖A‖².
    let total = w.iter().fold(0.0, |sum, row| sum + dot(row, row));
    let relative = (R + C) as f32 * f32::EPSILON;
    let zero = relative * relative * total;
    // A row without rank is rotated until nothing of it is left: stopped at `zero`, it would take
    // its last part from the others.
    let nothing = f32::EPSILON * f32::EPSILON * f32::EPSILON * total;
    for _ in 0..MOST_SWEEPS {
        let mut settled = true;
        for q in 1..R {
            for p in 0..q {
                let (Ok([wp, wq]), Ok([jp, jq])) = (w.get_disjoint_mut([p, q]), j.get_disjoint_mut([p, q])) else {
                    continue;
                };
                if let Some((c, s)) = rotation(wp, wq, nothing) {
                    rotate(wp, wq, c, s);
                    rotate(jp, jq, c, s);
                    settled = false;
                }
            }
        }
        if settled {
            break;
        }
    }
    (0..C).for_each(|i| inverse.row_mut(i).fill(0.0));
    let mut rank = 0;
    for (w, j) in w.iter().zip(&j) {
        let square = dot(w, w);
        if square > zero {
            rank += 1;
            for (i, w) in w.iter().enumerate() {
                let factor = *w / square;
                inverse.row_mut(i).iter_mut().zip(j).for_each(|(own, j)| *own += factor * *j);
            }
        }
    }
    rank
}

/// Cosine and sine of the angle that makes two rows orthogonal, or `None` if they are orthogonal
/// already or one of them is as good as 0.
fn rotation(p: &[f32], q: &[f32], nothing: f32) -> Option<(f32, f32)> {
    let (pp, qq, pq) = (dot(p, p), dot(q, q), dot(p, q));
    // The negation also catches NaN.
    if !(pp > nothing && qq > nothing && pq.abs() > ORTHOGONAL * sqrt(pp) * sqrt(qq)) {
        return None;
    }
    let zeta = (qq - pp) / (2.0 * pq);
    let tangent = 1.0f32.copysign(zeta) / (zeta.abs() + sqrt(1.0 + zeta * zeta));
    let cosine = 1.0 / sqrt(1.0 + tangent * tangent);
    Some((cosine, cosine * tangent))
}

fn rotate(p: &mut [f32], q: &mut [f32], c: f32, s: f32) {
    p.iter_mut().zip(q).for_each(|(p, q)| (*p, *q) = (c * *p - s * *q, s * *p + c * *q));
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Distribution;
    use crate::features::random_map::RandomMap;
    use crate::math::random::Random;
    use crate::math::times;

    /// A matrix of the given rank, from a product of two random ones.
    fn of_rank<const D: usize, const M: usize>(rank: usize, seed: u64) -> Matrix<D, M> {
        let mut random = Random::new(seed, 0);
        let mut draw = || random.uniform() - 0.3;
        let a: [[f32; 8]; D] = core::array::from_fn(|_| core::array::from_fn(|_| draw()));
        let b: [[f32; 8]; M] = core::array::from_fn(|_| core::array::from_fn(|_| draw()));
        RandomMap::from_rows(&core::array::from_fn(|i| core::array::from_fn(|j| dot(&a[i][..rank], &b[j]))))
            .matrix()
            .clone()
    }

    /// The largest error in the four identities that define A⁺, in units of ε·κ with κ = ‖A‖·‖A⁺‖,
    /// the accuracy that f32 allows. Matrices are compared in units of their largest element.
    fn penrose<const D: usize, const M: usize>(a: &Matrix<D, M>, rank: impl Into<Option<usize>>) -> f64 {
        let mut inverse = Matrix::<M, D>::new();
        let own = pseudo_inverse(a, &mut inverse);
        assert_eq!(own, rank.into().unwrap_or(own));
        let r: [[f64; M]; D] = core::array::from_fn(|i| a.rows().nth(i).unwrap().map(f64::from));
        let p: [[f64; D]; M] = core::array::from_fn(|i| inverse.rows().nth(i).unwrap().map(f64::from));
        let (rp, pr) = (product(&r, &p), product(&p, &r));
        let errors = [
            difference(&product(&rp, &r), |i, j| r[i][j]) / largest(&r),
            difference(&product(&pr, &p), |i, j| p[i][j]) / largest(&p),
            difference(&rp, |i, j| rp[j][i]),
            difference(&pr, |i, j| pr[j][i]),
        ];
        let condition = (norm(&r) * norm(&p)).max(1.0);
        errors.iter().fold(0.0, |worst: f64, error| worst.max(*error)) / (condition * f64::from(f32::EPSILON))
    }

    fn product<const A: usize, const B: usize, const C: usize>(x: &[[f64; B]; A], y: &[[f64; C]; B]) -> [[f64; C]; A] {
        core::array::from_fn(|i| core::array::from_fn(|j| (0..B).map(|k| x[i][k] * y[k][j]).sum()))
    }

    fn largest<const A: usize, const B: usize>(x: &[[f64; B]; A]) -> f64 {
        difference(x, |_, _| 0.0).max(f64::MIN_POSITIVE)
    }

    fn norm<const A: usize, const B: usize>(x: &[[f64; B]; A]) -> f64 {
        x.iter().flatten().map(|x| x * x).sum::<f64>().sqrt()
    }

    fn difference<const A: usize, const B: usize>(x: &[[f64; B]; A], y: impl Fn(usize, usize) -> f64) -> f64 {
        let rows = x.iter().enumerate().flat_map(|(i, x)| x.iter().enumerate().map(move |(j, x)| (i, j, x)));
        rows.fold(0.0, |worst, (i, j, x)| worst.max((x - y(i, j)).abs()))
    }

    #[test]
    fn the_penrose_identities_hold_for_any_shape_and_rank() {
        let mut worst = 0.0f64;
        for seed in 0..times(20, 1) {
            for distribution in [Distribution::Uniform01, Distribution::Centred, Distribution::Signs] {
                let rank = |rank| if distribution == Distribution::Signs { None } else { Some(rank) };
                let (mut below, mut above) = (RandomMap::<5, 9>::new(), RandomMap::<9, 5>::new());
                below.draw(distribution, 9, seed);
                above.draw(distribution, 5, seed);
                worst = worst.max(penrose(below.matrix(), rank(5))).max(penrose(above.matrix(), rank(5)));
                // Fewer features than capacity: the columns past m are 0.
                below.draw(distribution, 3, seed);
                worst = worst.max(penrose(below.matrix(), rank(3)));
            }
            worst = worst.max(penrose(&of_rank::<6, 8>(3, seed), 3)).max(penrose(&of_rank::<8, 6>(4, seed), 4));
            worst = worst.max(penrose(&of_rank::<7, 7>(2, seed), 2)).max(penrose(&of_rank::<7, 7>(7, seed), 7));
        }
        assert_eq!(penrose(&Matrix::<3, 4>::new(), 0), 0.0);
        // Backward stable: a few units; the worst here is 1.5.
        assert!(worst < 4.0, "{worst}");
    }
}
