//! Tests of both encodings together.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::math::times;
use crate::space::knob::Scale;

fn close(a: f32, b: f32) -> bool {
    (a - b).abs() < 1e-4
}

fn spaces() -> impl Iterator<Item = Space<3>> {
    static VALUES: [f32; 7] = [10.0, 22.0, 47.0, 100.0, 220.0, 470.0, 1000.0];
    (1..=times(7, 3)).flat_map(|q| {
        let graded = Knob::graded(&VALUES[..q], Scale::Log);
        let q = q as u16;
        [
            Space::new(&[Knob::nominal(q), Knob::nominal(2), graded]).unwrap(),
            Space::new(&[Knob::ranked(q), Knob::nominal(q + 1)]).unwrap(),
        ]
    })
}

#[test]
fn decode_undoes_encode() {
    for space in spaces() {
        for encoding in [Encoding::Compact, Encoding::PerKnob] {
            let encoder = Encoder::new(&space, encoding);
            assert!(encoder.features() <= features(space.knobs()));
            for index in (0..=space.last_index()).step_by(times(1, 29)) {
                let c = space.at(index).unwrap();
                let mut z = [0.0; 32];
                encoder.encode(&space, &c, &mut z);
                assert_eq!(encoder.decode(&space, &z), Some(c), "{space:?} {encoding:?}");
            }
        }
    }
}

#[test]
fn digits_compose_the_features_and_the_index() {
    for space in spaces() {
        for encoding in [Encoding::Compact, Encoding::PerKnob] {
            let encoder = Encoder::new(&space, encoding);
            let mut digits = [Digit::default(); 32];
            let count = encoder.digits(&space, &mut digits);
            for index in (0..=space.last_index()).step_by(times(1, 29)) {
                let ([mut z, mut own], mut sum) = ([[0.0; 32]; 2], 0);
                encoder.encode(&space, &space.at(index).unwrap(), &mut z);
                for digit in &digits[..count] {
                    let level = digit.level(index);
                    encoder.write_digit(&space, digit, level, &mut own[digit.range()]);
                    sum += u64::from(level) * digit.place;
                }
                assert_eq!((own, sum), (z, index), "{space:?} {encoding:?}");
            }
        }
    }
}

#[test]
fn features_are_centred_and_have_the_stated_mean_square() {
    for space in spaces() {
        let encoder = Encoder::new(&space, Encoding::PerKnob);
        let (mut sum, mut square) = ([0.0f32; 32], 0.0);
        for index in 0..=space.last_index() {
            let mut z = [0.0; 32];
            encoder.encode(&space, &space.at(index).unwrap(), &mut z);
            sum.iter_mut().zip(&z).for_each(|(sum, z)| *sum += z);
            square += dot(&z, &z) / space.cardinality() as f32;
        }
        assert!(sum.iter().all(|sum| sum.abs() < 1e-3), "{space:?} {sum:?}");
        assert!(close(square, encoder.mean_square().0), "{space:?} {square}");
    }
}

/// The features do not depend on the unit of the values.
#[test]
fn graded_features_are_the_same_in_any_unit() {
    const VALUES: [f32; 5] = [1.0, 3.0, 4.5, 7.0, 8.0];
    const fn times(unit: f32) -> [f32; 5] {
        [VALUES[0] * unit, VALUES[1] * unit, VALUES[2] * unit, VALUES[3] * unit, VALUES[4] * unit]
    }
    static TIMES: [[f32; 5]; 6] =
        [times(1.0), times(1.0 / 1.8e16), times(1e17), times(1e-12), times(8.0e9), times(1e-17)];
    let z = |values: &'static [f32; 5], level: Level| {
        let space = Space::<1>::new(&[Knob::graded(values, Scale::Linear)]).unwrap();
        let mut z = [0.0; 2];
        Encoder::new(&space, Encoding::PerKnob).encode(&space, &space.combination(&[level]).unwrap(), &mut z);
        z
    };
    for (values, level) in TIMES.iter().flat_map(|values| (0..5).map(move |level| (values, level))) {
        let (own, plain) = (z(values, level), z(&TIMES[0], level));
        assert!(own.iter().zip(plain).all(|(own, plain)| (own - plain).abs() < 1e-5), "{values:?} {own:?} {plain:?}");
    }
    // Features stay finite where differences are too small to square, or zero.
    static TINY: [[f32; 5]; 3] = [times(1e-30), times(1e-45), [1e18; 5]];
    assert!(TINY.iter().all(|values| (0..5).all(|level| z(values, level).iter().all(|z| z.is_finite()))));
}

#[test]
fn one_nominal_step_is_one_hamming_step() {
    let space = Space::<2>::new(&[Knob::nominal(5), Knob::nominal(2)]).unwrap();
    let encoder = Encoder::new(&space, Encoding::PerKnob);
    let z = |levels: [Level; 2]| {
        let mut z = [0.0; 6];
        encoder.encode(&space, &space.combination(&levels).unwrap(), &mut z);
        z
    };
    assert!(close(squared_distance(&z([0, 0]), &z([3, 0])), 1.0));
    assert!(close(squared_distance(&z([0, 0]), &z([0, 1])), 1.0));
    assert!(close(squared_distance(&z([0, 0]), &z([4, 1])), 2.0));
}

/// The surrogate computes distances and products from counts and graded features; the full features
/// give the same.
#[test]
fn counting_gives_the_distances_and_products_of_the_features() {
    for space in spaces() {
        for encoding in [Encoding::Compact, Encoding::PerKnob] {
            let encoder = Encoder::new(&space, encoding);
            let nominal_square = encoder.mean_square().1;
            let of = |index: u64| {
                let (c, mut z, mut g) = (space.at(index).unwrap(), [0.0; 32], [0.0; 4]);
                encoder.encode(&space, &c, &mut z);
                encoder.encode_graded(&space, &c, &mut g);
                (c, z, g)
            };
            for i in (0..=space.last_index()).step_by(times(1, 29)) {
                for j in (0..=i).step_by(times(3, 101)) {
                    let ((a, za, ga), (b, zb, gb)) = (of(i), of(j));
                    let differing = encoder.differing(&space, &a, &b) as f32;
                    let distance = differing + squared_distance(&ga, &gb);
                    assert!(close(squared_distance(&za, &zb), distance), "{space:?} {a:?} {b:?}");
                    let product = nominal_square - 0.5 * differing + dot(&ga, &gb);
                    assert!(close(dot(&za, &zb), product), "{space:?} {a:?} {b:?}");
                    assert!(close(encoder.graded_product(&space, &a, &b), dot(&ga, &gb)));
                }
            }
        }
    }
}

#[test]
fn the_extent_is_the_range_over_all_combinations() {
    let mut random = crate::math::random::Random::new(3, 0);
    for space in spaces() {
        for encoding in [Encoding::Compact, Encoding::PerKnob] {
            let encoder = Encoder::new(&space, encoding);
            let r: [f32; 32] = core::array::from_fn(|_| random.uniform() - 0.5);
            let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
            for index in 0..=space.last_index() {
                let mut z = [0.0; 32];
                encoder.encode(&space, &space.at(index).unwrap(), &mut z);
                let product = dot(&z, &r);
                (least, most) = (least.min(product), most.max(product));
            }
            let own = encoder.extent(&space, &r);
            assert!(close(own.0, least) && close(own.1, most), "{space:?} {encoding:?} {own:?} {least} {most}");
        }
    }
}

#[test]
fn compact_has_the_fewest_bits() {
    for (levels, m) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (256, 8)] {
        let space = Space::<1>::new(&[Knob::nominal(levels)]).unwrap();
        assert_eq!(Encoder::new(&space, Encoding::Compact).features(), m);
    }
    let widest = Space::<64>::new(&[Knob::nominal(2); 64]).unwrap();
    assert_eq!(Encoder::new(&widest, Encoding::Compact).features(), 64);
}

#[test]
fn features_of_a_mixed_space_by_hand() {
    let space = Space::<3>::new(&[Knob::nominal(2), Knob::nominal(3), Knob::ranked(4)]).unwrap();
    let [compact, per_knob] = [Encoding::Compact, Encoding::PerKnob].map(|encoding| Encoder::new(&space, encoding));
    assert_eq!((per_knob.features(), per_knob.graded_features(), features(space.knobs())), (1 + 3 + 2, 2, 6));
    assert_eq!((compact.features(), compact.graded_features()), (5, 0)); // 2⁵ ≥ 24
    // The index of (1, 2, 0) is 1 + 2·2 = 5, in binary 101, lowest bit first.
    let (c, mut z) = (space.combination(&[1, 2, 0]).unwrap(), [0.0; 6]);
    compact.encode(&space, &c, &mut z[..5]);
    assert_eq!(z, [0.5, -0.5, 0.5, -0.5, -0.5, 0.0]);
    per_knob.offset(&mut z);
    assert_eq!(z, [0.5, 0.0, 0.0, 0.0, 0.0, 0.0]);
    // The nearest level per knob: a bit above 0, the largest of a one-hot block.
    per_knob.encode(&space, &c, &mut z);
    z[..4].copy_from_slice(&[0.1, -0.3, -0.2, 0.4]);
    assert_eq!(per_knob.decode(&space, &z), Some(c));
}

#[test]
fn bits_past_the_last_combination_decode_to_none() {
    let space = Space::<1>::new(&[Knob::nominal(5)]).unwrap();
    assert_eq!(Encoder::new(&space, Encoding::Compact).decode(&space, &[0.5, -0.5, 0.5]), None);
}

/// The closed form of a range gives what the sums over its values give.
#[test]
fn a_range_has_the_features_of_its_values() {
    static VALUES: [f32; 7] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let spaces = [Knob::range(0.0, 6.0, 1.0), Knob::graded(&VALUES, crate::space::knob::Scale::Linear)];
    let [range, graded] = spaces.map(|knob| {
        let space = Space::<1>::new(&[knob]).unwrap();
        let encoder = Encoder::new(&space, Encoding::PerKnob);
        (0..7)
            .map(|i| {
                let mut z = [0.0; 2];
                encoder.encode(&space, &space.combination(&[i]).unwrap(), &mut z);
                z
            })
            .collect::<std::vec::Vec<_>>()
    });
    for (own, other) in range.iter().flatten().zip(graded.iter().flatten()) {
        assert!((own - other).abs() < 1e-5, "{range:?} {graded:?}");
    }
    assert!(range[0][0] < -0.1 && range[6][0] > 0.1, "{range:?}");
}
