//! The model against the same formulas in f64, solved by elimination.

#![allow(clippy::unwrap_used)]

use std::boxed::Box;
use std::vec::Vec;

use super::*;
use crate::config::Fitting;
use crate::features::encoding::features;
use crate::math::matrix::triangle;
use crate::math::times;
use crate::space::knob::Knob;
use crate::surrogate::product::graded_levels;

const KNOBS: [Knob; 4] = [Knob::nominal(3), Knob::ranked(5), Knob::nominal(2), Knob::ranked(4)];
const T: usize = 16;
/// Without a random map, and with one of three dimensions.
type Plain = Model<4, { graded_levels(&KNOBS) }, 0, T, { triangle(T) }, 0, 0>;
type Mapped = Model<4, { features(&KNOBS) }, 3, T, { triangle(T) }, 0, 0>;

fn space() -> Space<4> {
    Space::new(&KNOBS).unwrap()
}

/// A model of ten combinations with an outcome: two failed, and two were measured again.
fn told<const M: usize, const D: usize, const P: usize>(config: &Config) -> Box<Model<4, M, D, T, P, 0, 0>> {
    let (space, mut model) = (space(), Box::new(Model::<4, M, D, T, P, 0, 0>::new()));
    model.init(&space, config, 4).unwrap();
    for i in [0, 37, 74, 111, 21, 58, 95, 37, 5, 42, 79, 37, 111] {
        let c = space.at(i).unwrap();
        let sum = c.levels().iter().zip([2.0, 0.7, -1.0, 0.3]).map(|(l, w)| w * f32::from(*l)).sum::<f32>();
        let cost = sum * sum + 0.1 * f32::from(model.measurements() as u16);
        let unchanged = match model.observations.find(&c) {
            Some(i) => {
                model.observations.repeat(i, cost);
                i
            }
            None => {
                let x = model.geometry.locate(&space, &c);
                model.observations.push(&c, (i != 74 && i != 5).then_some(cost), &x);
                model.observations.len() - 1
            }
        };
        model.begin_learning(&space, config, unchanged);
        while model.is_learning() {
            model.learn(&space, config);
        }
    }
    model
}

/// Solves A·x = b for several b at once; returns the solutions and ln det A.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<Vec<f64>>) -> (Vec<Vec<f64>>, f64) {
    let (n, mut log_determinant) = (a.len(), 0.0);
    for i in 0..n {
        log_determinant += a[i][i].ln();
        for j in i + 1..n {
            let share = a[j][i] / a[i][i];
            let row = a[i].clone();
            a[j].iter_mut().zip(row).for_each(|(own, above)| *own -= share * above);
            b.iter_mut().for_each(|b| b[j] -= share * b[i]);
        }
    }
    for b in &mut b {
        for i in (0..n).rev() {
            let rest: f64 = (i + 1..n).map(|j| a[i][j] * b[j]).sum();
            b[i] = (b[i] - rest) / a[i][i];
        }
    }
    (b, log_determinant)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// What the model should believe, from its kernel, its observations and this noise.
struct Exact {
    covariance: Vec<Vec<f64>>,
    mean: f64,
    signal: f64,
    weights: Vec<f64>,
    ones: Vec<f64>,
    mean_precision: f64,
    log_likelihood: f64,
}

impl<const K: usize, const M: usize, const D: usize, const T: usize, const P: usize, const N: usize, const G: usize>
    Model<K, M, D, T, P, N, G>
{
    fn exact_covariances(&self, space: &Space<K>, c: &Combination<K>, hyper: &Hyper) -> Vec<f64> {
        let n = self.observations.len();
        let (mut row, x) = (std::vec![0.0; n], self.geometry.locate(space, c));
        let Self { geometry, observations, product, .. } = self;
        let inputs = Inputs { space, geometry, observations, product, hyper };
        inputs.covariances(Point { combination: c, x: &x }, 0, &mut row);
        row.into_iter().map(f64::from).collect()
    }

    /// A failure has no cost and ten times the signal as noise; repeats are left out.
    fn exact(&self, space: &Space<K>, config: &Config, hyper: &Hyper, noise: &Hypothesis) -> Exact {
        let all: Vec<_> = (0..self.observations.len()).map(|i| self.observations.get(i).unwrap()).collect();
        let mut covariance: Vec<_> = all.iter().map(|o| self.exact_covariances(space, &o.combination, hyper)).collect();
        for (i, o) in all.iter().enumerate() {
            let n = f64::from(o.repeats.max(1));
            let failed = if o.repeats == 0 { 10.0 } else { 0.0 };
            covariance[i][i] += f64::from(noise.residual) + f64::from(noise.noise) / n + failed;
        }
        let cost = |o: &observations::Observation<K>| {
            if o.repeats == 0 { 0.0 } else { f64::from(self.standard.apply(o.value)) }
        };
        let y: Vec<f64> = all.iter().map(cost).collect();
        let one = std::vec![1.0; y.len()];
        let (solved, log_determinant) = solve(covariance.clone(), std::vec![y.clone(), one.clone()]);
        let (precision, weight) = (f64::from(config.prior.mean_precision), f64::from(config.prior.signal_weight));
        let mean = dot(&one, &solved[0]) / (dot(&one, &solved[1]) + precision);
        let square = dot(&y, &solved[0]) - mean * dot(&one, &solved[0]);
        let count = all.iter().filter(|o| o.repeats > 0).count() as f64;
        let signal = (square + weight) / (count + weight);
        let by_mean = (1.0 + dot(&one, &solved[1]) / precision).ln();
        let by_signal = weight * (signal.ln() + 1.0 / signal);
        let likelihood = count * ((2.0 * core::f64::consts::PI).ln() + signal.ln()) + square / signal;
        let weights = solved[0].iter().zip(&solved[1]).map(|(y, one)| y - mean * one).collect();
        Exact {
            covariance,
            mean,
            signal,
            weights,
            ones: solved[1].clone(),
            mean_precision: precision,
            log_likelihood: -0.5 * (likelihood + log_determinant + by_signal + by_mean),
        }
    }

    /// Mean and variance at a combination.
    fn exact_posterior(&self, space: &Space<K>, exact: &Exact, c: &Combination<K>) -> (f64, f64) {
        let k = self.exact_covariances(space, c, &self.hyper);
        let x = self.geometry.locate(space, c);
        let own = f64::from(self.inputs(space).variance(Point { combination: c, x: &x }));
        let (solved, _) = solve(exact.covariance.clone(), std::vec![k.clone()]);
        let ones = 1.0 - dot(&k, &exact.ones);
        let precision = exact.ones.iter().sum::<f64>() + exact.mean_precision;
        let share = own - dot(&k, &solved[0]) + ones * ones / precision;
        (exact.mean + dot(&k, &exact.weights), exact.signal * share)
    }
}

/// Failures, repeats and a known noise, with and without a random map.
#[test]
fn posteriors_are_those_of_the_formulas_in_f64() {
    let config = Config { noise: Noise::Given(0.8), ..Config::default() };
    macro_rules! check {
        ($model:expr) => {
            let (space, model) = (space(), $model);
            assert!(model.noise.used.noise > 1e-3 && model.failures() == 2);
            let exact = model.exact(&space, &config, &model.hyper, &model.noise.used);
            for i in (0..=space.last_index()).step_by(times(1, 29)) {
                let c = space.at(i).unwrap();
                let (mean, variance) = model.exact_posterior(&space, &exact, &c);
                let own = model.posterior(&space, &c, &ANY, &mut f32::INFINITY.clone()).unwrap();
                assert!((f64::from(own.mean) - mean).abs() < 1e-3, "{i}: {own:?}, not {mean}");
                assert!((f64::from(own.variance) / variance - 1.0).abs() < 1e-2, "{i}: {own:?}, not {variance}");
            }
        };
    }
    let plain: Box<Plain> = told(&config);
    check!(plain);
    let mapped: Box<Mapped> = told(&config);
    check!(mapped);
}

/// The search for Matérn's hyper-parameters takes the steps that likelihoods in f64 lead to, whatever
/// is left of the factor before.
#[test]
fn a_random_maps_fit_follows_the_likelihood_in_f64() {
    for noise in [Noise::Auto, Noise::Given(0.8)] {
        for (sweeps, kept) in [(1, 10), (3, 10), (2, 7), (0, 10)].into_iter().take(times(4, 2)) {
            let config = Config { noise, fit: Fitting { sweeps, ..Config::default().fit }, ..Config::default() };
            let (space, mut model): (_, Box<Mapped>) = (space(), told(&config));
            let mut expected = model.fit;
            if let Noise::Given(std_dev) = noise {
                let own = f64::from(model.standard.apply_difference(std_dev));
                expected.set_noise((own * own / f64::from(model.gp.signal())) as f32);
            }
            for _ in 0..sweeps {
                expected.sweep(&config.fit, noise != Noise::Auto, |hyper| {
                    let noise = Hypothesis { residual: 0.0, noise: hyper.noise };
                    model.exact(&space, &config, hyper, &noise).log_likelihood as f32
                });
            }
            model.gp.truncate(kept);
            model.fit_matern(&space, &config);
            let (own, exact) = (model.fit.hyper(), expected.hyper());
            let close = |own: f32, exact: f32| (own / exact - 1.0).abs() < 1e-4 || own == exact;
            assert!(close(own.noise, exact.noise), "{noise:?} {sweeps}: {own:?} {exact:?}");
            assert!(close(own.length_scale, exact.length_scale) && close(own.linear_weight, exact.linear_weight));
            assert_eq!((model.hyper, model.noise.used.noise), (own, own.noise));
            // What is left in the process belongs to what was chosen.
            model.rebuild(&space, &config);
            let mut fresh = model.clone();
            fresh.gp.clear();
            fresh.rebuild(&space, &config);
            assert_eq!(std::format!("{:?}", fresh.gp), std::format!("{:?}", model.gp), "{noise:?} {sweeps}");
        }
    }
}

/// A factor that breaks down is begun again with more noise, and given up at the largest.
#[test]
fn a_factor_that_breaks_down_is_begun_again_with_more_noise() {
    let tiny = |i: usize, row: &mut [f32]| {
        row.iter_mut().enumerate().for_each(|(j, k)| *k = if i == j { 1e-6 } else { 0.0 });
    };
    macro_rules! check {
        ($kind:ty, $config:expr, $noise:expr, $more:expr) => {
            let (space, config) = (space(), $config);
            let mut model: Box<$kind> = told(&config);
            let n = model.observations.len();
            let (before, factors) = ($noise(&model), model.factors);
            assert!(!model.extend(&space, n), "nothing is left to do");
            model.gp.clear();
            model.gp.extend(n - 1, tiny).unwrap();
            // The row, which breaks the factor down, then n rows of two steps.
            let mut steps = 0;
            while model.extend(&space, n) {
                steps += 1;
            }
            assert_eq!((steps, model.gp.len(), model.factors), (2 + 2 * n, n, factors + 1));
            assert!(($noise(&model) / $more(before) - 1.0).abs() < 1e-4, "{} after {before}", $noise(&model));
            model.condition(&config);
            while model.weigh_step() {}
            let mut fresh = model.clone();
            fresh.gp.clear();
            fresh.rebuild(&space, &config);
            assert_eq!(std::format!("{:?}", fresh.gp), std::format!("{:?}", model.gp));
            // Until there is no larger noise.
            loop {
                let before = $noise(&model);
                model.gp.clear();
                model.gp.extend(n - 1, tiny).unwrap();
                assert!(model.extend(&space, n));
                let factors = model.factors;
                if !model.extend(&space, n) {
                    assert_eq!(($noise(&model), model.factors), (before, factors));
                    break;
                }
                assert!($noise(&model) > before && model.gp.is_empty());
            }
        };
    }
    let quiet = Config { noise: Noise::None, ..Config::default() };
    // The next of the hypotheses: 1e-4, 1e-3, 1e-2, 0.011.
    check!(Plain, quiet, |model: &Plain| model.noise.used.residual, |before: f32| {
        if before < 5e-3 { 10.0 * before } else { 0.011 }
    });
    check!(Mapped, Config::default(), |model: &Mapped| model.noise.used.noise, |before: f32| (10.0 * before).min(1.0));
}

/// Two measurements, 1 and 3, lie √2 from their mean: √2/2 in units of a deviation of 2.
#[test]
fn repeats_are_counted_in_standardised_units() {
    let (space, mut model) = (space(), Box::new(Plain::new()));
    model.init(&space, &Config::default(), 1).unwrap();
    let c = space.at(3).unwrap();
    model.observations.push(&c, Some(1.0), &[]);
    model.observations.push(&space.at(4).unwrap(), None, &[]);
    model.observations.repeat(0, 3.0);
    model.standard = Standard::fixed(f32::INFINITY, 0.0, 2.0);
    let (count, spread) = model.repeated();
    assert!(count == 1.0 && (spread - 0.5f32.sqrt()).abs() < 1e-6, "{count} {spread}");
    let noise = Hypothesis { residual: 0.0, noise: 0.1 };
    let repeats = model.repeats(&Config::default(), &noise);
    assert!((repeats.square - 5.0).abs() < 1e-4 && (repeats.log_noise - 0.1f32.ln()).abs() < 1e-5, "{repeats:?}");
    assert_eq!((repeats.count, repeats.missing), (1.0, 1.0));
    let given = Config { noise: Noise::Given(1.0), ..Config::default() };
    assert_eq!(model.repeats(&given, &noise), Repeats { missing: 1.0, ..Repeats::default() });
}

/// The likelihood that a fit of Matérn's hyper-parameters climbs counts costs, not failures.
#[test]
fn a_random_maps_likelihood_is_that_of_the_costs_alone() {
    let config = Config::default();
    let (space, mut model): (_, Box<Mapped>) = (space(), told(&config));
    model.fit_matern(&space, &config);
    assert_eq!(model.failures(), 2);
    let exact = model.exact(&space, &config, &model.hyper, &model.noise.used);
    let own = f64::from(model.gp.log_likelihood());
    assert!((own - exact.log_likelihood).abs() < 1e-2, "{own}, not {}", exact.log_likelihood);
}
