//! The nearest combination against enumeration: every encoding, map and kind of point, with and
//! without excluded combinations.

use trimtab::internals::{Encoder, Lookup, Nearest, NearestError, Random, RandomMap, squared_distance};
use trimtab::{Combination, Distribution, Encoding, Knob, Scale, Space};

const K: usize = 32;
const M: usize = 32;
const VALUES: [f32; 5] = [10.0, 22.0, 47.0, 100.0, 470.0];
/// Two equal values: only their index distinguishes these levels.
const REPEATED: [f32; 4] = [1.0, 3.0, 3.0, 7.0];
const MAPS: [Distribution; 3] = [Distribution::Centred, Distribution::Uniform01, Distribution::Signs];

fn is_feasible(c: &Combination<K>) -> bool {
    c.levels().iter().map(|level| u32::from(*level)).sum::<u32>() % 3 != 1
}

/// Spaces of up to some thousand combinations, most of them not a power of two, some with a
/// predicate.
fn spaces() -> Vec<Space<K>> {
    let (bit, three, four, five) = (Knob::nominal(2), Knob::nominal(3), Knob::ranked(4), Knob::nominal(5));
    let (value, twin) = (Knob::graded(&VALUES, Scale::Log), Knob::graded(&REPEATED, Scale::Linear));
    let of = |knobs: &[Knob]| Space::new(knobs).unwrap();
    vec![
        of(&[Knob::nominal(1)]),
        of(&[bit]),
        of(&[Knob::nominal(9)]),
        of(&[bit; 10]),
        of(&[bit; 9]).with_feasible(&is_feasible),
        of(&[three, bit, value, five]),
        of(&[Knob::ranked(33), Knob::ranked(31)]),
        of(&[four, bit, four, Knob::nominal(1), value, bit]).with_feasible(&is_feasible),
        of(&[bit, three, bit, three, three, bit, four]),
        of(&[five; 4]),
        of(&[value, twin, value, twin]).with_feasible(&is_feasible),
    ]
}

/// The embedding of these features.
fn embedding<const D: usize>(lookup: &Lookup<'_, K, M, D>, z: &[f32; M]) -> Vec<f32> {
    let mut x = vec![0.0; D];
    lookup.map.embed(z, &mut x);
    x
}

/// Kinds of points.
const ALL: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
const SOME: [u32; 4] = [1, 3, 5, 7];

/// A point: at, near or between combinations, in the box, in the middle, far, very far, or as the
/// authors' code asks.
fn point<const D: usize>(lookup: &Lookup<'_, K, M, D>, kind: u32, random: &mut Random) -> Vec<f32> {
    let mut z = [0.0; M];
    z.iter_mut().take(lookup.encoder.features()).for_each(|z| *z = random.uniform() - 0.5);
    let inside = embedding(lookup, &z);
    let index = u64::from(random.below(lookup.space.last_index() as u32 + 1));
    lookup.encoder.encode(lookup.space, &lookup.space.at(index).unwrap(), &mut z);
    let at = embedding(lookup, &z);
    let length = (squared_distance(&at, &[0.0; M]) / at.len().max(1) as f32).sqrt();
    let mut any = |scale: f32| (random.uniform() - 0.5) * scale;
    match kind {
        0 => at,
        1 => at.iter().map(|x| x + any(0.4 * length)).collect(),
        2 => at.iter().zip(&inside).map(|(at, inside)| 0.5 * (at + inside)).collect(),
        3 => inside,
        4 => vec![0.0; at.len()],
        5 => at.iter().map(|_| any(8.0 * length)).collect(),
        6 => at.iter().map(|_| any(2000.0 * length)).collect(),
        _ => at.iter().map(|_| any(1.0) + 0.5).collect(),
    }
}

/// Compares with the first of all by (distance, index): with nothing excluded, then with the
/// nearest, the nearest few and, in small spaces, most combinations excluded.
fn check<const D: usize>(lookup: &Lookup<'_, K, M, D>, x: &[f32], context: &str) {
    let all = (0..=lookup.space.last_index()).map(|index| {
        let c = lookup.space.at(index).unwrap();
        (lookup.squared_distance(&c, x), index, lookup.space.is_feasible(&c))
    });
    let mut all: Vec<_> = all.collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for visited in [0, 1, 7, all.len() - all.len() / 100].into_iter().filter(|visited| *visited <= all.len().min(2000))
    {
        let (before, after) = all.split_at(visited);
        let mut is_visited = vec![false; all.len()];
        before.iter().for_each(|(_, index, _)| is_visited[*index as usize] = true);
        let found = lookup.nearest(x, |c| is_visited[lookup.space.index(c) as usize], u32::MAX);
        let found = found.map(|found| (found.squared_distance.to_bits(), lookup.space.index(&found.combination)));
        let first = after.iter().find(|(_, _, is_feasible)| *is_feasible).ok_or(NearestError::NoneLeft);
        let first = first.map(|(distance, index, _)| (distance.to_bits(), *index));
        assert_eq!(found, first, "{context}, {visited} visited, {x:?}");
    }
}

fn compare<const D: usize>(
    space: &Space<K>,
    encoding: Encoding,
    distribution: Distribution,
    kinds: &[u32],
    seed: u64,
) -> usize {
    let mut random = Random::new(seed, D as u64);
    let encoder = Encoder::new(space, encoding);
    let mut map = RandomMap::<D, M>::new();
    map.draw(distribution, encoder.features(), seed);
    let lookup = Lookup { space, encoder: &encoder, map: &map };
    for kind in kinds {
        let x = point(&lookup, *kind, &mut random);
        check(&lookup, &x, &format!("{space:?} {encoding:?} {distribution:?} D = {D} kind {kind}"));
    }
    kinds.len()
}

#[test]
fn the_result_is_the_first_by_distance_and_index() {
    let mut cases = 0;
    for (seed, space) in (1..).zip(&spaces()) {
        for encoding in [Encoding::Compact, Encoding::PerKnob] {
            for distribution in MAPS {
                cases += compare::<4>(space, encoding, distribution, &ALL, seed);
                cases += compare::<9>(space, encoding, distribution, &ALL, seed);
                cases += compare::<20>(space, encoding, distribution, &ALL, seed);
            }
        }
    }
    assert!(cases > 1400, "{cases}");
}

#[test]
fn larger_spaces_agree_with_enumeration() {
    let bits = Space::new(&[Knob::nominal(2); 16]).unwrap();
    let fives = Space::new(&[Knob::nominal(5); 6]).unwrap();
    for distribution in MAPS {
        compare::<9>(&bits, Encoding::PerKnob, distribution, &SOME, 3);
        compare::<20>(&fives, Encoding::PerKnob, distribution, &SOME, 5);
        compare::<9>(&fives, Encoding::Compact, distribution, &SOME, 6);
    }
    compare::<20>(&bits, Encoding::Compact, Distribution::Uniform01, &SOME, 4);
}

/// Too many to enumerate: the nearest to the embedding of a combination is that combination, and
/// excluding it gives the next.
#[test]
fn thirty_two_bits_are_found_and_excluded() {
    let space = Space::<K>::new(&[Knob::nominal(2); 32]).unwrap();
    let encoder = Encoder::new(&space, Encoding::Compact);
    for distribution in [Distribution::Centred, Distribution::Uniform01] {
        for seed in 0..10 {
            let mut map = RandomMap::<20, M>::new();
            map.draw(distribution, 32, seed);
            let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
            let (mut z, mut random) = ([0.0; M], Random::new(seed, 1));
            let c = space.at(random.bits() >> 32).unwrap();
            encoder.encode(&space, &c, &mut z);
            let x = embedding(&lookup, &z);
            assert_eq!(lookup.nearest(&x, |_| false, 20_000).unwrap().combination, c);
            let mut visited = vec![c];
            for _ in 0..5 {
                let next: Nearest<K> = lookup.nearest(&x, |c| visited.contains(c), 200_000).unwrap();
                let last = lookup.squared_distance(&visited[visited.len() - 1], &x);
                assert!(next.squared_distance >= last && !visited.contains(&next.combination));
                visited.push(next.combination);
            }
        }
    }
}

/// As many bits as an index can hold, under a map to fewer dimensions.
#[test]
fn sixty_four_bits_are_found() {
    let space = Space::<64>::new(&[Knob::nominal(2); 64]).unwrap();
    let encoder = Encoder::new(&space, Encoding::Compact);
    let mut map = RandomMap::<48, 64>::new();
    map.draw(Distribution::Centred, 64, 1);
    let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
    for index in [0, 1, u64::MAX / 3, u64::MAX - 1, u64::MAX] {
        let (c, mut z, mut x) = (space.at(index).unwrap(), [0.0; 64], [0.0; 48]);
        encoder.encode(&space, &c, &mut z);
        map.embed(&z, &mut x);
        assert_eq!(lookup.nearest(&x, |_| false, 1000).unwrap().combination, c);
    }
}

#[test]
fn impossible_lookups_are_errors() {
    let space = Space::<K>::new(&[Knob::nominal(3); 5]).unwrap();
    let encoder = Encoder::new(&space, Encoding::PerKnob);
    let mut map = RandomMap::<6, M>::new();
    map.draw(Distribution::Centred, encoder.features(), 2);
    let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
    let x = [0.1, -0.2, 0.3, 0.0, 0.2, -0.1];
    let found = lookup.nearest(&x, |_| false, u32::MAX).unwrap();
    assert_eq!(lookup.nearest(&x, |_| false, found.nodes), Ok(found));
    let limit = found.nodes - 1;
    assert_eq!(lookup.nearest(&x, |_| false, limit), Err(NearestError::NodeLimit { nodes: limit }));
    assert_eq!(lookup.nearest(&x, |_| false, 0), Err(NearestError::NodeLimit { nodes: 0 }));
    assert_eq!(lookup.nearest(&x, |_| true, u32::MAX), Err(NearestError::NoneLeft));
    assert_eq!(lookup.nearest(&x[1..], |_| false, 9), Err(NearestError::WrongLength { given: 5, dimensions: 6 }));
    for bad in [f32::NAN, f32::INFINITY, -1e16] {
        assert_eq!(lookup.nearest(&[bad, 0.0, 0.0, 0.0, 0.0, 0.0], |_| false, 9), Err(NearestError::TooFar));
    }
    let small = Lookup::<K, 14, 6> { space: &space, encoder: &encoder, map: &RandomMap::new() };
    let error = NearestError::TooManyFeatures { needed: 15, most: 14 };
    assert_eq!(small.nearest(&x, |_| false, 9), Err(error));
    assert_eq!(error.to_string(), "15 features in a lookup made for 14");
}
