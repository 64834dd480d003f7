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
            core::array::from_fn(|i| if differs >> i & 1 == 1 { a[i].wrapping_add(128 + i as u8) } else { a[i] });
        let (four, four_other) = (a.first_chunk().unwrap(), b.first_chunk().unwrap());
        let sets = [differing(*four, *four_other), differing_rest(&a[4..], &b[4..])];
        assert_eq!(sets, [differs & 15, differs >> 4]);
    }
}

/// Two bits: t = ½/2 each, so (1.25·1.25 − 1)/(1.25·1.25 − 1) = 1 for equal ones,
/// (1.25·0.75 − 1)/0.5625 = −1/9 for one that differs, (0.75² − 1)/0.5625 = −7/9 for two.
#[test]
fn bits_by_hand() {
    let (_, kernel) = kernel::<2, 0>(&[Knob::nominal(2); 2]);
    for (other, expected) in [([0, 0], 1.0), ([0, 1], -1.0 / 9.0), ([1, 1], -7.0 / 9.0)] {
        let k = kernel.covariance(&[0, 0], &other);
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
    let along = |level| kernel.covariance(&[0, 0, 1, 0], &[0, level, 1, 0]);
    assert!(along(0) > along(1) && along(1) > along(2));
    assert!(kernel.factors()[3].is_fixed());
}

#[test]
fn too_many_graded_levels_are_refused() {
    let space = Space::new(&[Knob::ranked(9)]).unwrap();
    let refused = Product::<1, 8>::new().init(&space);
    assert_eq!(refused, Err(InitError::TooManyFeatures { needed: 9, most: 8 }));
}
