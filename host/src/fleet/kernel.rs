//! The covariance of two combinations, as a prior has it.
//!
//! k(c, c′) = (1 − w)·M(‖A·x(c) − A·x(c′)‖) + w·P(c, c′)
//!
//! | name | meaning |
//! |---|---|
//! | x | one column per graded knob, its position from 0 to 1; one per knob of two levels; one per level of others |
//! | A | the metric that the fleet taught, r × columns: the paper's map, learned instead of drawn |
//! | M | Matérn 5/2 |
//! | P | the tuner's product kernel before any fit, which tells apart what A maps together |
//! | w | its weight |

use trimtab::{Knob, Level};

use crate::bench::method::surrogate::matern52;

/// Most rows of A.
pub(crate) const MOST_ROWS: usize = 6;

/// The knobs as numbers.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    knobs: Vec<Column>,
    pub(crate) count: usize,
}

#[derive(Clone, Debug)]
struct Column {
    first: usize,
    kind: Kind,
    /// Per pair of levels, the factor of the product kernel; of a range it follows from a formula.
    factors: Vec<f64>,
    levels: usize,
}

#[derive(Clone, Debug)]
enum Kind {
    Fixed,
    /// Positions from 0 to 1, of a graded knob or of two levels.
    Number(Vec<f64>),
    Levels,
}

impl Columns {
    pub(crate) fn new(knobs: &[Knob]) -> Self {
        let moving = knobs.iter().filter(|knob| knob.levels() > 1).count();
        let relevance = 0.5 / moving.max(1) as f64;
        let mut count = 0;
        let knobs = knobs.iter().map(|knob| {
            let (first, levels) = (count, knob.levels());
            let kind = match levels {
                ..=1 => Kind::Fixed,
                2 => Kind::Number(vec![0.0, 1.0]),
                _ if knob.is_graded() => Kind::Number(positions(knob)),
                _ => Kind::Levels,
            };
            count += match &kind {
                Kind::Fixed => 0,
                Kind::Number(_) => 1,
                Kind::Levels => levels,
            };
            let factors = factors(knob, relevance);
            Column { first, kind, factors, levels }
        });
        let knobs = knobs.collect();
        Self { knobs, count }
    }

    /// x(c).
    pub(crate) fn of(&self, levels: &[Level]) -> Vec<f64> {
        let mut x = vec![0.0; self.count];
        for (knob, level) in self.knobs.iter().zip(levels) {
            match &knob.kind {
                Kind::Fixed => {}
                Kind::Number(positions) => x[knob.first] = positions[usize::from(*level)],
                Kind::Levels => x[knob.first + usize::from(*level)] = 1.0,
            }
        }
        x
    }

    /// P(c, c′).
    pub(crate) fn product(&self, a: &[Level], b: &[Level]) -> f64 {
        let (mut product, mut whole) = (1.0, 1.0);
        for ((knob, a), b) in self.knobs.iter().zip(a).zip(b) {
            if knob.levels > 1 {
                product *= match knob.factors.get(usize::from(*a) * knob.levels + usize::from(*b)) {
                    Some(factor) => *factor,
                    None => range_factor([*a, *b], knob.levels, self.relevance()),
                };
                whole *= 1.0 + self.relevance();
            }
        }
        (product - 1.0) / (whole - 1.0)
    }

    fn relevance(&self) -> f64 {
        0.5 / self.knobs.iter().filter(|knob| knob.levels > 1).count().max(1) as f64
    }
}

/// The positions of a graded knob's levels, from 0 to 1.
fn positions(knob: &Knob) -> Vec<f64> {
    let at: Vec<f64> = (0..knob.levels()).map(|level| f64::from(knob.position(level as Level))).collect();
    let (low, high) = at.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(*p), high.max(*p)));
    at.iter().map(|p| if high > low { (p - low) / (high - low) } else { 0.0 }).collect()
}

/// 1 + t·c of every pair of levels, as the core starts with: ℓ = ¼ for a graded knob.
fn factors(knob: &Knob, relevance: f64) -> Vec<f64> {
    if knob.is_range() && knob.is_graded() {
        return Vec::new();
    }
    let q = knob.levels();
    let pairs = (0..q).flat_map(|a| (0..q).map(move |b| (a, b)));
    if !knob.is_graded() {
        let differ = 1.0 - relevance / (q as f64 - 1.0).max(1.0);
        return pairs.map(|(a, b)| if a == b { 1.0 + relevance } else { differ }).collect();
    }
    let at = positions(knob);
    let matern: Vec<f64> = pairs.clone().map(|(a, b)| matern52(16.0 * (at[a] - at[b]) * (at[a] - at[b]))).collect();
    let means: Vec<f64> = matern.chunks(q).map(|row| row.iter().sum::<f64>() / q as f64).collect();
    let mean = means.iter().sum::<f64>() / q as f64;
    let scale = if mean < 1.0 - 1e-6 { relevance / (1.0 - mean) } else { 0.0 };
    pairs.zip(&matern).map(|((a, b), m)| 1.0 + scale * (m - means[a] - means[b] + mean)).collect()
}

/// The same of two levels of a range, whose means are integrals over [0, 1]: see the core's kernel.
fn range_factor(levels: [Level; 2], count: usize, relevance: f64) -> f64 {
    let s = 4.0 * 5f64.sqrt();
    let [a, b] = levels.map(|level| f64::from(level) / (count - 1) as f64);
    let integral = |t: f64| 8.0 / 3.0 - (8.0 / 3.0 + 5.0 / 3.0 * t + t * t / 3.0) * (-t).exp();
    let row = |at: f64| (integral(s * at) + integral(s * (1.0 - at))) / s;
    let linear = (5.0 - (5.0 + 5.0 * s + 2.0 * s * s + s * s * s / 3.0) * (-s).exp()) / (s * s);
    let mean = 2.0 * (integral(s) / s - linear);
    1.0 + relevance / (1.0 - mean) * (matern52(16.0 * (a - b) * (a - b)) - row(a) - row(b) + mean)
}

/// What a kernel needs of a combination.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) levels: Vec<Level>,
    pub(crate) x: Vec<f64>,
    /// A·x.
    pub(crate) mapped: Vec<f64>,
}

/// A and w.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    /// Row by row.
    pub(crate) map: Vec<Vec<f64>>,
    pub(crate) weight: f64,
}

impl Metric {
    pub(crate) fn place(&self, columns: &Columns, levels: &[Level]) -> Place {
        let x = columns.of(levels);
        let mapped = self.map.iter().map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum()).collect();
        Place { levels: levels.to_vec(), x, mapped }
    }

    pub(crate) fn covariance(&self, columns: &Columns, a: &Place, b: &Place) -> f64 {
        let square = a.mapped.iter().zip(&b.mapped).map(|(a, b)| (a - b) * (a - b)).sum();
        let product = if self.weight > 0.0 { columns.product(&a.levels, &b.levels) } else { 0.0 };
        (1.0 - self.weight) * matern52(square) + self.weight * product
    }
}
