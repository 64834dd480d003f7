//! Hand-worked values of the product kernel, and what its similarities promise.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::space::knob::Scale;

fn kernel<const K: usize, const M: usize>(knobs: &[Knob; K]) -> (Space<K>, Product<K, M>) {
    let (space, mut kernel) = (Space::new(knobs).unwrap(), Product::new());
    kernel.init(&space).unwrap();
    (space, kernel)
}

/// All sets of knobs that differ, beside a comparison one by one; seven knobs have a rest of three.
#[test]
fn differing_knobs_in_fours() {
    let a: [Level; 7] = [0, 255, 1, 128, 127, 3, 0];
    for differs in 0..128usize {
        let b: [Level; 7] =
            core::array::from_fn(|i| if differs >> i & 1 == 1 { (a[i] + 128 + i as Level) % 256 } else { a[i] });
        let (four, four_other) = (a.first_chunk().unwrap(), b.first_chunk().unwrap());
        // The levels of ranges, which are above 255, leave the others alone.
        let wide = |four: &[Level; 4], high: Level| core::array::from_fn(|i| four[i] | high << (8 + i));
        assert_eq!(differing::<1>(wide(four, 3), wide(four_other, 5)), differs & 15);
        let sets = [differing::<0>(*four, *four_other), differing_rest(&a[4..], &b[4..])];
        assert_eq!(sets, [differs & 15, differs >> 4]);
    }
}

/// Two bits: t = ½/2 each, so (1.25·1.25 − 1)/(1.25·1.25 − 1) = 1 for equal ones,
/// (1.25·0.75 − 1)/0.5625 = −1/9 for one that differs, (0.75² − 1)/0.5625 = −7/9 for two.
#[test]
fn bits_by_hand() {
    let (_, kernel) = kernel::<2, 0>(&[Knob::nominal(2); 2]);
    for (other, expected) in [([0, 0], 1.0), ([0, 1], -1.0 / 9.0), ([1, 1], -7.0 / 9.0)] {
        let k = kernel.covariance_of(&[0, 0], &other);
        assert!((k - expected).abs() < 1e-5, "{other:?}: {k}");
    }
}

const MIXED: [Knob; 4] =
    [Knob::nominal(4), Knob::ranked(5), Knob::graded(&[1.0, 3.0, 10.0], Scale::Log), Knob::nominal(1)];

/// The similarity of a knob has mean 0 over all its levels, and mean 1 of a level with itself.
#[test]
fn similarities_are_centred() {
    let (_, kernel) = kernel::<4, { graded_levels(&MIXED) }>(&MIXED);
    for (factor, knob) in kernel.factors().iter().zip(&MIXED).take(3) {
        let n = knob.levels() as Level;
        let similarity = |a, b| (kernel.factor(factor, a, b) - 1.0) / factor.relevance();
        for a in 0..n {
            let row: f32 = (0..n).map(|b| similarity(a, b)).sum();
            assert!(row.abs() < 1e-4, "{knob:?} {a}: {row}");
        }
        let own: f32 = (0..n).map(|a| similarity(a, a)).sum();
        assert!((own / f32::from(n) - 1.0).abs() < 1e-4, "{knob:?}: {own}");
    }
}

/// A fixed knob changes nothing, near levels are more alike than far ones.
#[test]
fn near_levels_are_alike() {
    let (_, kernel) = kernel::<4, { graded_levels(&MIXED) }>(&MIXED);
    let along = |level| kernel.covariance_of(&[0, 0, 1, 0], &[0, level, 1, 0]);
    assert!(along(0) > along(1) && along(1) > along(2));
    assert!(kernel.factors()[3].is_fixed());
}

#[test]
fn too_many_graded_levels_are_refused() {
    let space = Space::new(&[Knob::ranked(9)]).unwrap();
    let refused = Product::<1, 8>::new().init(&space);
    assert_eq!(refused, Err(InitError::TooManyFeatures { needed: 9, most: 8 }));
}

const DAC: [Knob; 1] = [Knob::range(0.0, 4095.0, 1.0)];
const LENGTHS: [f32; 5] = [-4.0, -2.5, -1.386, 0.0, 1.5];

/// The kernel of one range with this ln ℓ.
fn range_kernel(knob: Knob, length: f32) -> Product<1, 1> {
    let (_, mut kernel) = kernel::<1, 1>(&[knob]);
    kernel.factors_mut()[0].length.at = length;
    kernel.derive();
    kernel
}

/// Matérn 5/2 in f64, with its means over [0, 1] by the midpoint rule.
struct Oracle {
    inverse_length: f64,
}

impl Oracle {
    const N: u32 = if cfg!(miri) { 200 } else { 2000 };

    fn matern(&self, difference: f64) -> f64 {
        let t = 5f64.sqrt() * difference.abs() * self.inverse_length;
        (1.0 + t + t * t / 3.0) * (-t).exp()
    }

    fn mean(f: impl Fn(f64) -> f64) -> f64 {
        (0..Self::N).map(|i| f((f64::from(i) + 0.5) / f64::from(Self::N))).sum::<f64>() / f64::from(Self::N)
    }

    fn row(&self, a: f64) -> f64 {
        Self::mean(|b| self.matern(a - b))
    }

    /// The centred similarity of two positions.
    fn similarity(&self, a: f64, b: f64) -> f64 {
        let mean = Self::mean(|difference| 2.0 * (1.0 - difference) * self.matern(difference));
        (self.matern(a - b) - self.row(a) - self.row(b) + mean) / (1.0 - mean)
    }
}

/// Against numerical integration in f64, from a length-scale of a fiftieth of the range to some ranges.
#[test]
fn a_range_has_the_means_of_integrals() {
    for length in LENGTHS {
        let (kernel, oracle) = (range_kernel(DAC[0], length), Oracle { inverse_length: f64::from(-length).exp() });
        let factor = &kernel.factors()[0];
        let mut most = 0f64;
        for a in [0, 1, 17, 1000, 2047, 4000, 4095] {
            for b in [0u16, 2, 555, 2048, 4095] {
                let own = f64::from((kernel.factor(factor, a, b) - 1.0) / factor.relevance());
                let exact = oracle.similarity(f64::from(a) / 4095.0, f64::from(b) / 4095.0);
                most = most.max((own - exact).abs());
            }
        }
        assert!(most < if cfg!(miri) { 0.1 } else { 1e-3 }, "ln ℓ = {length}: {most}");
    }
}

/// The slope with ln ℓ, against differences of the factor.
#[test]
fn a_range_has_its_slope_with_the_length() {
    for length in LENGTHS {
        let [kernel, less, more] = [0.0, -0.01, 0.01].map(|step| range_kernel(DAC[0], length + step));
        let factor = &kernel.factors()[0];
        for (a, b) in [(0, 0), (0, 4095), (100, 160), (2000, 2100), (1000, 3000), (4095, 4095)] {
            let [value, slope] = kernel.factor_and_slope(factor, (a, kernel.rows(&[a])[0]), b);
            assert!((value - kernel.factor(factor, a, b)).abs() < 1e-5);
            let at = |kernel: &Product<1, 1>| kernel.factor(&kernel.factors()[0], a, b);
            let difference = (at(&more) - at(&less)) / 0.02;
            assert!((slope - difference).abs() < 0.01, "ln ℓ = {length}, {a} {b}: {slope}, not {difference}");
        }
    }
}

/// 256 levels with tables and by formula: nearly the same similarities.
#[test]
fn a_range_is_close_to_the_same_levels_with_tables() {
    let ranked = [Knob::ranked(256)];
    for length in LENGTHS {
        let (_, mut tables) = kernel::<1, 256>(&ranked);
        tables.factors_mut()[0].length.at = length;
        tables.derive();
        let formula = range_kernel(Knob::range(0.0, 255.0, 1.0), length);
        for (a, b) in [(0, 0), (0, 255), (10, 12), (100, 130), (127, 128), (255, 250)] {
            let by = |value: f32, relevance: f32| (value - 1.0) / relevance;
            let one = by(tables.factor(&tables.factors()[0], a, b), tables.factors()[0].relevance());
            let other = by(formula.factor(&formula.factors()[0], a, b), formula.factors()[0].relevance());
            assert!((one - other).abs() < 0.025, "ln ℓ = {length}, {a} {b}: {one} {other}");
        }
    }
}

/// However many levels, the kernel of a range stays a kernel: a Gram matrix of near and far levels has a
/// Cholesky factor with the jitter of rounding.
#[test]
fn the_kernel_of_a_range_is_positive_definite() {
    use crate::math::random::Random;
    const N: usize = if cfg!(miri) { 6 } else { 40 };
    for (knob, length) in LENGTHS.into_iter().flat_map(|length| {
        [Knob::range(0.0, 65_535.0, 1.0), DAC[0], Knob::range(0.0, 2.0, 1.0)].map(|knob| (knob, length))
    }) {
        let (kernel, mut random) = (range_kernel(knob, length), Random::new(1, 0));
        let last = knob.levels() as u32;
        let levels: [Level; N] =
            core::array::from_fn(|i| if i < 8 { i as u32 % last } else { random.below(last) } as Level);
        let mut factor = [[0f64; N]; N];
        for i in 0..N {
            for j in 0..=i {
                let k = f64::from(kernel.covariance_of(&[levels[i]], &[levels[j]])) + if i == j { 3e-3 } else { 0.0 };
                let dot: f64 = (0..j).map(|l| factor[i][l] * factor[j][l]).sum();
                factor[i][j] = if i == j { (k - dot).sqrt() } else { (k - dot) / factor[j][j] };
            }
            assert!(factor[i][i] > 0.0, "{knob:?}, ln ℓ = {length}: pivot {i}");
        }
    }
}

/// One number beside the knobs, however many levels.
#[test]
fn a_range_needs_no_tables() {
    assert_eq!(graded_levels(&[Knob::range(0.0, 65_535.0, 1.0), Knob::log_range(1.0, 9.0, 3)]), 2);
    assert_eq!(graded_levels(&[Knob::range(0.0, 1.0, 1.0)]), 0);
    assert!(size_of::<Product<1, 1>>() <= size_of::<Product<1, 0>>() + 12);
}

/// By the lowest bits and level by level: the same sets, of more knobs than a word has bits too.
#[test]
fn sets_of_differing_knobs_are_those_of_a_comparison_one_by_one() {
    fn check<const K: usize>(levels: u16) {
        let (space, kernel) = kernel::<K, 0>(&[Knob::nominal(levels); K]);
        assert_eq!(kernel.lows_tell, levels == 2);
        let mut random = crate::math::random::Random::new(3, 0);
        let mut counted = space.draw(&mut random);
        for i in 0..crate::math::times(50, 3) {
            let (drawn, knob) = (space.draw(&mut random), random.below(K as u32) as usize);
            let changed = drawn.with(knob, random.below(u32::from(levels)) as Level);
            counted = space.after(counted);
            for (a, b) in [(drawn, changed), (drawn, counted), (changed, space.combination(drawn.levels()).unwrap())] {
                let differs = |knob: usize| knob < K && a.level(knob) != b.level(knob);
                let expected = (0..K.div_ceil(4))
                    .map(|four| (0..4).map(|bit| usize::from(differs(4 * four + bit)) << bit).sum::<usize>());
                for differing in [kernel.differing(&a, &b), Differing::new::<0>(a.all(), b.all())] {
                    assert!(differing.sets::<0>().take(K.div_ceil(4)).eq(expected.clone()), "{i}");
                }
            }
        }
    }
    // Beside graded knobs levels are compared, as ever: in another order sums would have other bits.
    assert!(!kernel::<2, 5>(&[Knob::nominal(2), Knob::ranked(5)]).1.lows_tell);
    check::<7>(2);
    check::<32>(2);
    check::<70>(2);
    check::<7>(5);
    check::<70>(3);
}
