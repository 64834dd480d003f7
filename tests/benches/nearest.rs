//! The nearest combination three ways: the search of `nearest`, a Gray-code scan of all 2^m
//! combinations, and the paper's stored table.
//!
//! - All three get the same points in one run. At m = 20 every answer of the search must be that of
//!   the table, and as near as that of the scan; at m = 24 the scan checks every second point.
//! - Bytes of the search: its arrays (`Lookup::SCRATCH`, a sum of `size_of`) and R. Of the scan: R,
//!   its columns with both signs, and the residual. Of the table: 2^m rows of d `f32`; the row
//!   number is the combination.
//! - Times are medians of one thread, in release.

use std::hint::black_box;
use std::time::Instant;

use trimtab::internals::{Encoder, Lookup, Random, RandomMap, squared_distance};
use trimtab::{Distribution, Encoding, Knob, Space};

const D: usize = 20;
const TARGETS: usize = 20;
const KINDS: [&str; 4] = ["inside", "near a vertex", "far outside", "the paper's [0, 1)^d"];

fn main() {
    println!(
        "| m | R | points | nodes: median, most | search: median, most | scan | scan / search | table query | table \
         / search |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let builds = [run::<20>(true), run::<24>(false)];
    println!();
    println!("| m | search bytes, arrays + R | scan bytes | table bytes | table / search | table build |");
    println!("|---|---|---|---|---|---|");
    for (m, own, build) in builds {
        let (map, table) = (4 * D * m, (4 * D) << m);
        let build = build.map_or("not built".into(), |seconds| format!("{:.0} ms", seconds * 1e3));
        let ratio = table / (own + map);
        println!("| {m} | {own} + {map} | {} | {} | {ratio} | {build} |", 3 * map + 4 * D, megabytes(table));
    }
}

fn megabytes(bytes: usize) -> String {
    format!("{:.2} MB", bytes as f64 / 1e6)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Prints the rows of this m. Returns m, the bytes of the search's arrays, and the seconds that the
/// table took to build.
fn run<const M: usize>(with_table: bool) -> (usize, usize, Option<f64>) {
    let space = Space::<M>::new(&[Knob::nominal(2); M]).unwrap();
    let encoder = Encoder::new(&space, Encoding::Compact);
    let mut build = None;
    for distribution in [Distribution::Centred, Distribution::Uniform01] {
        let mut map = RandomMap::<D, M>::new();
        map.draw(distribution, M, 11);
        let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
        let row = |index: usize| {
            let (mut z, mut x) = ([0.0; M], [0.0; D]);
            encoder.encode(&space, &space.at(index as u64).unwrap(), &mut z);
            map.embed(&z, &mut x);
            x
        };
        let start = Instant::now();
        let table: Vec<[f32; D]> = if with_table { (0..1 << M).map(row).collect() } else { Vec::new() };
        build = with_table.then_some(start.elapsed().as_secs_f64());
        let columns: Vec<[f32; D]> = (0..M).map(|i| column(&map, i)).collect();
        for (kind, name) in KINDS.iter().enumerate() {
            let (mut nodes, mut own, mut scans, mut queries) = (vec![], vec![], vec![], vec![]);
            for target in 0..TARGETS {
                let x = point(&columns, kind, &mut Random::new(target as u64, 5));
                // Once before, so that code and R are in the cache; then each way is timed once.
                black_box(lookup.nearest(black_box(&x), |_| false, u32::MAX)).unwrap();
                let start = Instant::now();
                let nearest = black_box(lookup.nearest(black_box(&x), |_| false, u32::MAX)).unwrap();
                own.push(start.elapsed().as_secs_f64());
                nodes.push(f64::from(nearest.nodes));
                let index = space.index(&nearest.combination) as usize;
                if M <= 20 || target % 2 == 0 {
                    let start = Instant::now();
                    let scanned = scan(&columns, black_box(&x));
                    scans.push(start.elapsed().as_secs_f64());
                    let other = squared_distance(&row(scanned), &x);
                    // The scan's running sums round differently: it may find another one that is
                    // equally near to five digits.
                    assert!(nearest.squared_distance <= other, "{x:?}: {index}, not {scanned}");
                    assert!(scanned == index || other - nearest.squared_distance < 1e-5 * (1.0 + other));
                }
                if with_table {
                    let start = Instant::now();
                    let found = query(&table, black_box(&x));
                    queries.push(start.elapsed().as_secs_f64());
                    assert_eq!(found, index, "{x:?}");
                }
            }
            let (most, slowest) = (nodes.iter().copied().fold(0.0, f64::max), own.iter().copied().fold(0.0, f64::max));
            let (nodes, own, scan) = (median(&mut nodes), median(&mut own), median(&mut scans));
            let query = if with_table {
                let query = median(&mut queries);
                format!("{:.1} ms | {:.0}", query * 1e3, query / own)
            } else {
                "- | -".into()
            };
            println!(
                "| {M} | {distribution:?} | {name} | {nodes}, {most} | {:.0} us, {:.0} us | {:.1} ms | {:.0} | \
                 {query} |",
                own * 1e6,
                slowest * 1e6,
                scan * 1e3,
                scan / own
            );
        }
    }
    (M, Lookup::<M, M, D>::SCRATCH, build)
}

/// `squared_distance`, to the bit, but compiled for D, so that scan and table are as fast as
/// possible.
#[inline(always)]
fn distance(a: &[f32; D], b: &[f32; D]) -> f32 {
    let mut sums = [0.0f32; 4];
    for (a, b) in a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += (a - b) * (a - b);
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// Column i of R.
fn column<const M: usize>(map: &RandomMap<D, M>, i: usize) -> [f32; D] {
    let (mut unit, mut x) = ([0.0; M], [0.0; D]);
    unit[i] = 1.0;
    map.embed(&unit, &mut x);
    x
}

/// R·z from the columns.
fn image(columns: &[[f32; D]], mut z: impl FnMut() -> f32) -> [f32; D] {
    let mut x = [0.0; D];
    for column in columns {
        let z = z();
        x.iter_mut().zip(column).for_each(|(x, r)| *x += z * r);
    }
    x
}

/// A point of this kind, centred.
fn point(columns: &[[f32; D]], kind: usize, random: &mut Random) -> [f32; D] {
    let vertex = image(columns, || if random.below(2) == 0 { -0.5 } else { 0.5 });
    let length = (squared_distance(&vertex, &[0.0; D]) / D as f32).sqrt();
    match kind {
        0 => image(columns, || random.uniform() - 0.5),
        1 => vertex.map(|x| x + 0.3 * length * (random.uniform() - 0.5)),
        2 => vertex.map(|_| 10.0 * length * (random.uniform() - 0.5)),
        _ => image(columns, || -0.5).map(|half| random.uniform() + half),
    }
}

/// The nearest of all 2^m by a Gray code: one column added or removed per step.
fn scan(columns: &[[f32; D]], x: &[f32; D]) -> usize {
    let residual = |code: usize| {
        let mut bit = 0;
        let at = image(columns, || {
            bit += 1;
            if code >> (bit - 1) & 1 == 1 { 0.5 } else { -0.5 }
        });
        std::array::from_fn(|i| x[i] - at[i])
    };
    // Both signs of each column, so that a step is one subtraction.
    let steps: Vec<[[f32; D]; 2]> = columns.iter().map(|column| [column.map(|r| -r), *column]).collect();
    let mut best = (f32::INFINITY, 0);
    for begin in (0..1usize << columns.len()).step_by(4096) {
        // Computed afresh for each block, so that rounding errors do not add up.
        let mut left: [f32; D] = residual(begin ^ begin >> 1);
        for i in begin..begin + 4096 {
            let code = i ^ i >> 1;
            if i > begin {
                let bit = i.trailing_zeros() as usize;
                let step = &steps[bit][code >> bit & 1];
                left.iter_mut().zip(step).for_each(|(left, r)| *left -= r);
            }
            let own = distance(&left, &[0.0; D]);
            if own < best.0 {
                best = (own, code);
            }
        }
    }
    best.1
}

/// The nearest row of the table, the first of equals.
fn query(table: &[[f32; D]], x: &[f32; D]) -> usize {
    let rows = table.iter().enumerate().map(|(i, row)| (distance(row, x), i));
    rows.reduce(|best, row| if row.0 < best.0 { row } else { best }).map_or(0, |best| best.1)
}
