//! The semidefinite relaxation of a quadratic in bits, and its random roundings.
//!
//! With xᵢ = (1 + sᵢ)/2 and one more sign s₀ for the linear terms, the quadratic is sᵀCs plus a constant, s
//! ∈ {−1, 1}^(m+1): Cᵢⱼ = αᵢⱼ/8, Cᵢ₀ = αᵢ/4 + Σⱼ αᵢⱼ/8. Relaxed: min tr(CX), X ⪰ 0,
//! diag X = 1.
//!
//! Solved by the mixing method (Wang, Chang and Kolter, arXiv:1706.00476): X = VᵀV with unit columns vᵢ of k >
//! √(2(m+1)) numbers, where no local minimum is worse than the global one; each column in turn becomes vᵢ ←
//! −g/‖g‖, g = Σⱼ≠ᵢ Cᵢⱼ vⱼ. Rounding (Goemans and Williamson 1995): sᵢ =
//! sign(vᵢ·r)·sign(v₀·r), r normal.
//!
//! | setting | value |
//! |---|---|
//! | k | ⌈√(2(m+1))⌉ + 1 |
//! | stop | a sweep that lowers the value by less than 10⁻¹⁰ of it, or 2000 sweeps |
//! | roundings | 100 |
//!
//! **Choices**
//! - The authors solve the same relaxation with an interior-point solver.
//! - Columns are padded with zeros to whole blocks, and g is summed block by block, so that a block
//!   stays in registers for the whole sum.
//!
//! **Cost.** O(m²k) per sweep, tens to hundreds of sweeps.

use rand::RngExt;
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::code::Code;
use super::quadratic::{Best, Quadratic};
use crate::bench::method::linalg::dot;

const ROUNDINGS: usize = 100;
const SWEEPS: usize = 2000;
const TOLERANCE: f64 = 1e-10;
/// Numbers per block.
const BLOCK: usize = 6;

/// Returns the smallest values among the roundings.
pub(super) fn minimise(
    model: &Quadratic,
    code: &Code,
    may_propose: &dyn Fn(&[bool]) -> bool,
    random: &mut Xoshiro256PlusPlus,
) -> Best {
    let mut penalised = model.clone();
    code.penalise(&mut penalised);
    let relaxed = Relaxation::solve(&matrix(&penalised), code.bits() + 1, random);
    let mut best = Best::default();
    let mut x = vec![false; code.bits()];
    let mut direction = vec![0.0; relaxed.rank];
    let mut numbers = vec![0.0; code.bits()];
    for _ in 0..ROUNDINGS {
        direction.fill_with(|| random.sample(StandardNormal));
        let side = dot(relaxed.vector(code.bits()), &direction).signum();
        for (i, number) in numbers.iter_mut().enumerate() {
            *number = side * dot(relaxed.vector(i), &direction);
        }
        code.round_into(&numbers, &mut x);
        best.offer(model.value(&x), &x, may_propose);
    }
    best
}

/// C, with the sign of the linear terms last.
fn matrix(model: &Quadratic) -> Vec<f64> {
    let m = model.bits();
    let n = m + 1;
    let mut c = vec![0.0; n * n];
    for i in 0..m {
        let row = model.row(i);
        for (j, pair) in row.iter().enumerate() {
            c[i * n + j] = pair / 8.0;
        }
        let linear = model.linear(i) / 4.0 + row.iter().sum::<f64>() / 8.0;
        c[i * n + m] = linear;
        c[m * n + i] = linear;
    }
    c
}

/// The columns of V.
struct Relaxation {
    rank: usize,
    /// Blocks per column.
    blocks: usize,
    vectors: Vec<[f64; BLOCK]>,
}

impl Relaxation {
    /// Minimises tr(CX) for a symmetric n × n matrix C.
    fn solve(c: &[f64], n: usize, random: &mut Xoshiro256PlusPlus) -> Self {
        let rank = (2.0 * n as f64).sqrt().ceil() as usize + 1;
        let blocks = rank.div_ceil(BLOCK);
        let mut vectors = vec![[0.0; BLOCK]; n * blocks];
        for vector in vectors.chunks_exact_mut(blocks) {
            let vector = &mut vector.as_flattened_mut()[..rank];
            vector.fill_with(|| random.sample(StandardNormal));
            let length = dot(vector, vector).sqrt();
            vector.iter_mut().for_each(|v| *v /= length);
        }
        let mut gradient = vec![[0.0; BLOCK]; blocks];
        for _ in 0..SWEEPS {
            let (mut fall, mut size) = (0.0, 0.0);
            for (i, row) in c.chunks_exact(n).enumerate() {
                gradient_into(&mut gradient, row, i, &vectors);
                let gradient = &gradient.as_flattened()[..rank];
                let length = dot(gradient, gradient).sqrt();
                // Without a slope every direction is equally good.
                if length > 0.0 {
                    let own = &mut vectors[i * blocks..(i + 1) * blocks].as_flattened_mut()[..rank];
                    fall += length + dot(own, gradient);
                    size += length;
                    own.iter_mut().zip(gradient).for_each(|(v, g)| *v = -g / length);
                }
            }
            if fall <= TOLERANCE * size {
                break;
            }
        }
        Self { rank, blocks, vectors }
    }

    fn vector(&self, i: usize) -> &[f64] {
        &self.vectors[i * self.blocks..(i + 1) * self.blocks].as_flattened()[..self.rank]
    }
}

/// Σⱼ≠ᵢ Cᵢⱼ vⱼ.
fn gradient_into(gradient: &mut [[f64; BLOCK]], row: &[f64], i: usize, vectors: &[[f64; BLOCK]]) {
    let blocks = gradient.len();
    for (block, sum) in gradient.iter_mut().enumerate() {
        let mut own = [0.0; BLOCK];
        for (j, weight) in row.iter().enumerate() {
            if j != i {
                let vector = &vectors[j * blocks + block];
                own.iter_mut().zip(vector).for_each(|(sum, v)| *sum += weight * v);
            }
        }
        *sum = own;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use trimtab::Knob;

    /// tr(CX).
    fn value(relaxed: &Relaxation, c: &[f64], n: usize) -> f64 {
        let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        pairs.map(|(i, j)| c[i * n + j] * dot(relaxed.vector(i), relaxed.vector(j))).sum()
    }

    #[test]
    fn the_relaxation_reaches_the_optimum_of_an_interior_point_solver() {
        #[derive(serde::Deserialize)]
        struct Golden {
            cases: Vec<Case>,
        }
        #[derive(serde::Deserialize)]
        struct Case {
            n: usize,
            c: Vec<Vec<f64>>,
            optimum: f64,
        }
        let golden: Golden =
            serde_json::from_str(include_str!("../../../../../tests/golden/sdp_diagonal.json")).unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        assert!(!golden.cases.is_empty());
        for case in golden.cases {
            let c = case.c.concat();
            let relaxed = Relaxation::solve(&c, case.n, &mut random);
            let own = value(&relaxed, &c, case.n);
            // The golden values are accurate to about 1e-7.
            let error = (own - case.optimum).abs();
            assert!(error < 1e-6 * case.optimum.abs(), "{} against {} for n = {}", own, case.optimum, case.n);
        }
    }

    #[test]
    fn signs_and_bits_have_the_same_quadratic() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let model = Quadratic::random(4, &mut random);
        let c = matrix(&model);
        let in_signs = |x: &[bool]| {
            let s: Vec<f64> = x.iter().chain(&[true]).map(|bit| if *bit { 1.0 } else { -1.0 }).collect();
            (0..25).map(|k| s[k / 5] * c[k] * s[k % 5]).sum::<f64>()
        };
        let constant = in_signs(&[false; 4]);
        for number in 0..16 {
            let x: Vec<bool> = (0..4).map(|i| number >> i & 1 == 1).collect();
            assert!((in_signs(&x) - constant - model.value(&x)).abs() < 1e-12);
        }
    }

    #[test]
    fn roundings_find_the_minimum_of_small_quadratics() {
        let code = Code::new(&[Knob::nominal(2); 8]);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut found = 0;
        for _ in 0..20 {
            let model = Quadratic::random(8, &mut random);
            let least = model.least();
            let best = minimise(&model, &code, &|_| true, &mut random).allowed.unwrap();
            found += usize::from((best.0 - least).abs() < 1e-12);
        }
        // Rounding may miss the minimum, but rarely.
        assert!(found >= 19, "{found} of 20");
    }
}
