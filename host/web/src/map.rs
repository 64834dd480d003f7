//! The paper's random map in two dimensions: the polytope, the point that the search wants, and the
//! combination that CBO-Lookup takes for it.
//!
//! x = R·z (section 4.1), x† = argmin over 𝒳 of μ − βσ, c† the nearest combination that has no value
//! yet (algorithm 1, lines 5 and 6).
//!
//! **Choices**
//! - A tuner tells c†, not x†, so the model is put together once more from core's own parts, and a
//!   test holds it against [`ask_lookup`](trimtab::Tuner::ask_lookup).
//! - Coordinates are the paper's: core's are centred, and R·½ is added for the drawing.

use serde_json::{Value, json};
use trimtab::internals::{
    Encoder, Fit, Gp, Lookup, Pair, Random, RandomMap, Repeats, Rule, minimise, score_gradient, squared_distance,
};
use trimtab::math::sqrt;
use trimtab::sizes::triangle;
use trimtab::{Combination, Config, Distribution, Knob, Noise, Region, Space};

/// Five switches: 32 combinations.
pub(crate) const BITS: usize = 5;
pub(crate) const COMBINATIONS: usize = 1 << BITS;
pub(crate) const SWITCHES: [Knob; BITS] = [Knob::nominal(2); BITS];
const D: usize = 2;
/// As in core: observations from which on the model is fitted, starts of the search, the stream of
/// its random numbers, and most nodes of the search for the nearest.
const LEAST_FIT: usize = 3;
const STARTS: u16 = 16;
const STREAM: u64 = 5 << 48;
const NODES: u32 = 1 << 20;
/// Points of the drawn acquisition per side.
const GRID: usize = 41;

type Process = Gp<COMBINATIONS, { triangle(COMBINATIONS) }>;

/// The paper's configuration with a map of the visitor's choice.
pub(crate) fn config(map: Distribution) -> Config {
    Config { map, ..Config::paper() }
}

/// A combination and its value.
pub(crate) type Told = (Combination<BITS>, f32);

struct Model<'a> {
    space: &'a Space<BITS>,
    encoder: Encoder<BITS>,
    map: RandomMap<D, BITS>,
    gp: Process,
    fit: Fit,
    points: Vec<[f32; D]>,
}

impl<'a> Model<'a> {
    /// Learns values one after the other, as the tuner does: the fit depends on their order.
    fn new(space: &'a Space<BITS>, config: &Config, seed: u64, told: &[Told]) -> Self {
        let encoder = Encoder::new(space, config.encoding);
        let mut map = RandomMap::new();
        map.draw(config.map, encoder.features(), seed);
        // The mean of z·z over all patterns of ±½ is m/4.
        let typical = 2.0 * (BITS as f32 / 4.0) * map.stretch(BITS);
        let fit = Fit::new(&config.fit, sqrt(typical));
        let mut model = Self { space, encoder, map, gp: Process::new(), fit, points: Vec::new() };
        let values: Vec<f32> = told.iter().map(|(_, value)| *value).collect();
        for (n, (c, _)) in (1..).zip(told) {
            model.points.push(model.locate(c));
            model.learn(config, &values[..n]);
        }
        model
    }

    fn learn(&mut self, config: &Config, values: &[f32]) {
        if let (true, Noise::Given(noise)) = (values.len() >= LEAST_FIT, config.noise) {
            let signal = if self.gp.signal() > 0.0 { self.gp.signal() } else { 1.0 };
            self.fit.set_noise(noise * noise / signal);
            let mut fit = self.fit;
            for _ in 0..config.fit.sweeps {
                fit.sweep(&config.fit, true, |hyper| {
                    if self.condition(&Fixed(*hyper), config, values) {
                        self.gp.log_likelihood()
                    } else {
                        f32::NEG_INFINITY
                    }
                });
            }
            self.fit = fit;
        }
        while !self.condition(&Fixed(self.fit.hyper()), config, values) {
            if !self.fit.add_noise() {
                return;
            }
        }
    }

    /// Conditions the process on all values; returns whether the factor exists.
    fn condition(&mut self, hyper: &Fixed, config: &Config, values: &[f32]) -> bool {
        let Self { gp, points, .. } = self;
        gp.clear();
        let pair =
            |i: usize, j: usize| Pair { squared_distance: squared_distance(&points[i], &points[j]), product: 0.0 };
        let rows = gp.extend(values.len(), |i, row| {
            for (j, own) in row.iter_mut().enumerate() {
                *own =
                    if j < i { hyper.0.covariance(pair(i, j)) } else { hyper.0.variance(pair(i, i)) + hyper.0.noise };
            }
        });
        if rows.is_ok() {
            gp.condition(values, &config.prior, Repeats::default());
        }
        rows.is_ok()
    }

    /// Where a combination lies.
    fn locate(&self, c: &Combination<BITS>) -> [f32; D] {
        let (mut z, mut x) = ([0.0; BITS], [0.0; D]);
        self.encoder.encode(self.space, c, &mut z);
        self.map.embed(&z, &mut x);
        x
    }

    fn rule(&self, config: &Config) -> Rule {
        // The growing weight of the paper does not depend on the space.
        config.acquisition.prepare(self.points.len(), 0.0, 0.0)
    }

    fn score(&self, rule: &Rule, x: &[f32; D], gradient: &mut [f32; D]) -> f32 {
        score_gradient(&self.gp, &self.fit.hyper(), rule, self.points.iter(), x, gradient)
    }

    /// x†: the point of the region with the smallest score.
    fn wanted(&self, rule: &Rule, region: Region, seed: u64) -> [f32; D] {
        let mut random = Random::new(seed, STREAM | self.points.len() as u64);
        let bounds = match region {
            Region::UnitBox => self.map.offset(&self.encoder).map(|middle| (-middle, 1.0 - middle)),
            Region::BoundingBox => self.map.bounding_box(self.space, &self.encoder),
            Region::Polytope => {
                let z = minimise(&[(-0.5, 0.5); BITS], STARTS, &mut random, |z, gradient| {
                    let (mut x, mut of_x) = ([0.0; D], [0.0; D]);
                    self.map.embed(z, &mut x);
                    let value = self.score(rule, &x, &mut of_x);
                    gradient.fill(0.0);
                    for (row, of_x) in self.map.matrix().rows().zip(of_x) {
                        gradient.iter_mut().zip(row).for_each(|(own, r)| *own += r * of_x);
                    }
                    value
                });
                let mut x = [0.0; D];
                self.map.embed(&z.x, &mut x);
                return x;
            }
        };
        minimise(&bounds, STARTS, &mut random, |x, gradient| self.score(rule, x, gradient)).x
    }

    /// c†: the nearest combination that has no value.
    fn nearest(&self, x: &[f32; D], told: &[Told]) -> Option<Combination<BITS>> {
        let lookup = Lookup { space: self.space, encoder: &self.encoder, map: &self.map };
        let nearest = lookup.nearest(x, |c| told.iter().any(|(own, _)| own == c), NODES);
        nearest.ok().map(|nearest| nearest.combination)
    }
}

/// Hyper-parameters that a factor is built with.
struct Fixed(trimtab::Hyper);

/// The picture in numbers.
pub(crate) fn draw(space: &Space<BITS>, map: Distribution, region: Region, seed: u64, told: &[Told]) -> Value {
    let config = config(map);
    let model = Model::new(space, &config, seed, told);
    let middle = model.map.offset(&model.encoder);
    let shown = |x: [f32; D]| [x[0] + middle[0], x[1] + middle[1]];
    let all = (0..COMBINATIONS as u64).filter_map(|index| space.at(index));
    let points: Vec<[f32; D]> = all.map(|c| shown(model.locate(&c))).collect();
    let hull = hull(&points);
    let mut picture = json!({"points": points, "hull": hull});
    if told.is_empty() || told.len() == COMBINATIONS {
        return picture;
    }
    let rule = model.rule(&config);
    let wanted = model.wanted(&rule, region, seed);
    let frame = frame(&points, &shown(wanted));
    let place = |axis: usize, i: usize| {
        let (low, high) = frame[axis];
        low + (high - low) * i as f32 / (GRID - 1) as f32 - middle[axis]
    };
    let scores: Vec<f32> = (0..GRID * GRID)
        .map(|i| model.score(&rule, &[place(0, i % GRID), place(1, i / GRID)], &mut [0.0; D]))
        .collect();
    picture["wanted"] = json!(shown(wanted));
    picture["nearest"] = model.nearest(&wanted, told).map(|c| space.index(&c)).into();
    picture["frame"] = json!(frame);
    picture["grid"] = json!({"side": GRID, "scores": scores});
    picture
}

/// A frame around all that is drawn.
fn frame(points: &[[f32; D]], wanted: &[f32; D]) -> [(f32, f32); D] {
    [0, 1].map(|axis| {
        let places = || points.iter().chain([wanted]).map(|x| x[axis]);
        let (low, high) = (places().fold(f32::INFINITY, f32::min), places().fold(f32::NEG_INFINITY, f32::max));
        let air = 0.08 * (high - low);
        (low - air, high + air)
    })
}

/// The corners of the polytope { R·z : z ∈ [0, 1]^m }, which is the convex hull of all embeddings
/// (Andrew's monotone chain).
fn hull(points: &[[f32; D]]) -> Vec<[f32; D]> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let turn = |a: [f32; D], b: [f32; D], c: [f32; D]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let chain = |points: &mut dyn Iterator<Item = [f32; D]>| {
        let mut chain: Vec<[f32; D]> = Vec::new();
        for point in points {
            while let [.., a, b] = chain[..]
                && turn(a, b, point) <= 0.0
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut corners = chain(&mut sorted.iter().copied());
    corners.extend(chain(&mut sorted.iter().rev().copied()));
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    type Paper = trimtab::tuner!(SWITCHES, observations: COMBINATIONS, rows: 1, dimensions: D);

    #[test]
    fn the_nearest_to_the_wanted_point_is_what_core_takes() {
        let space = Space::new(&SWITCHES).unwrap();
        for (map, region) in [
            (Distribution::Uniform01, Region::Polytope),
            (Distribution::Uniform01, Region::UnitBox),
            (Distribution::Centred, Region::Polytope),
        ] {
            for seed in 0..6 {
                let mut tuner = Paper::new();
                tuner.init(space.clone(), config(map), seed).unwrap();
                let mut told: Vec<Told> = Vec::new();
                while told.len() < 16 {
                    let c = tuner.ask_lookup(region).unwrap().combination;
                    if !told.is_empty() {
                        let index = draw(&space, map, region, seed, &told)["nearest"].as_u64();
                        assert_eq!(index, Some(space.index(&c)), "{map:?} {region:?} seed {seed} {}", told.len());
                    }
                    let value = crate::hand::example(&c);
                    tuner.tell(&c, value).unwrap();
                    told.push((c, value));
                }
            }
        }
    }

    #[test]
    fn a_square_has_four_corners() {
        let points = [[0.0, 0.0], [1.0, 0.0], [0.5, 0.5], [1.0, 1.0], [0.0, 1.0], [0.5, 0.0]];
        assert_eq!(hull(&points), [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
    }
}
