//! The f32 surrogate of core against f64 results of other people's software.
//!
//! `golden/gp_matern52.json`: Gaussian process regression with a zero prior mean, Matérn 5/2 times
//! a constant and noise on the diagonal, computed in f64 with scikit-learn; the last case is
//! scikit-learn's best likelihood of a fit.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use trimtab::internals::{Fit, Gp, Pair, Repeats};
use trimtab::sizes::triangle;
use trimtab::{Fitting, Hyper, Prior};
use trimtab_tests::is_close;

const T: usize = 64;
type Process = Gp<T, { triangle(T) }>;

#[derive(Deserialize)]
struct Regression {
    length_scale: f32,
    signal_variance: f32,
    noise_variance: f32,
    x: Vec<Vec<f32>>,
    y: Vec<f32>,
    query: Vec<Vec<f32>>,
    mean: Vec<f64>,
    std_dev: Vec<f64>,
    log_marginal_likelihood: f64,
}

#[derive(Deserialize)]
struct BestFit {
    x: Vec<Vec<f32>>,
    y: Vec<f32>,
    best_log_marginal_likelihood: f64,
}

/// The cases of one kind: fits have a key of that name.
fn golden<Case: DeserializeOwned>(fit: bool) -> Vec<Case> {
    let golden: Value =
        serde_json::from_str(include_str!("../../golden/gp_matern52.json")).expect("golden file parses");
    let cases =
        golden["cases"].as_array().expect("a list of cases").iter().filter(|case| case["fit"].is_boolean() == fit);
    cases.map(|case| Case::deserialize(case).expect("a case has its fields")).collect()
}

/// The Matérn covariance of two embeddings.
fn covariance(hyper: &Hyper, a: &[f32], b: &[f32]) -> f32 {
    hyper.covariance(Pair { squared_distance: trimtab::internals::squared_distance(a, b), product: 0.0 })
}

/// The process on these points, its kernel and noise scaled by a signal variance.
fn process(hyper: &Hyper, signal: f32, x: &[Vec<f32>], y: &[f32], prior: &Prior) -> Box<Process> {
    let mut gp = Box::new(Process::new());
    gp.extend(x.len(), |i, row| {
        let noise = |j| if i == j { hyper.noise } else { 0.0 };
        row.iter_mut().enumerate().for_each(|(j, k)| *k = signal * (covariance(hyper, &x[i], &x[j]) + noise(j)));
    })
    .expect("the matrix of the golden file is positive definite");
    gp.condition(y, prior, Repeats::default());
    gp
}

#[test]
fn posterior_and_likelihood_agree_with_scikit_learn() {
    let cases = golden::<Regression>(false);
    assert_eq!(cases.len(), 5);
    for case in cases {
        let noise = case.noise_variance / case.signal_variance;
        let hyper = Hyper { length_scale: case.length_scale, linear_weight: 0.0, noise };
        let gp = process(&hyper, case.signal_variance, &case.x, &case.y, &Prior::FIXED);
        // The condition number costs an f32 factor about s²·n/noise · 6e-8, at most 2e-2 of a
        // likelihood of 50.
        let likelihood = f64::from(gp.log_likelihood());
        assert!(
            is_close(likelihood, case.log_marginal_likelihood, 1e-3, 5e-4),
            "likelihood {likelihood} is not {}",
            case.log_marginal_likelihood
        );
        for ((query, mean), std_dev) in case.query.iter().zip(&case.mean).zip(&case.std_dev) {
            let k = |j: usize| case.signal_variance * covariance(&hyper, query, &case.x[j]);
            let posterior =
                gp.posterior(case.signal_variance, |row| row.iter_mut().enumerate().for_each(|(j, own)| *own = k(j)));
            assert!(is_close(f64::from(posterior.mean), *mean, 1e-3, 1e-3), "mean {} is not {mean}", posterior.mean);
            let deviation = f64::from(posterior.variance).sqrt();
            // At an observation the variance is the difference of two numbers near s²: 1e-7 of
            // them is 3e-4 of deviation.
            assert!(is_close(deviation, *std_dev, 1e-3, 1e-3), "deviation {deviation} is not {std_dev}");
        }
    }
}

#[test]
fn the_fit_reaches_the_best_likelihood_of_scikit_learn() {
    let cases = golden::<BestFit>(true);
    assert_eq!(cases.len(), 1);
    for BestFit { x, y, best_log_marginal_likelihood: best } in cases {
        let search = Fitting { linear: false, priors: false, sweeps: 1 };
        // The typical distance that a tuner works out from its space, here from the points.
        let pairs = x.iter().enumerate().flat_map(|(i, a)| x[..i].iter().map(move |b| (a, b)));
        let squares: Vec<f32> = pairs.map(|(a, b)| trimtab::internals::squared_distance(a, b)).collect();
        let mut fit = Fit::new(&search, (squares.iter().sum::<f32>() / squares.len() as f32).sqrt());
        let mut reached = f64::NEG_INFINITY;
        for _ in 0..12 {
            fit.sweep(&search, false, |hyper| {
                reached = f64::from(process(hyper, 1.0, &x, &y, &Prior::MAXIMUM_LIKELIHOOD).log_likelihood());
                reached as f32
            });
        }
        assert!(reached > best - 0.5, "reached {reached}, scikit-learn {best}");
        assert!(reached < best + 0.01, "a likelihood above the best, {reached} > {best}, is a wrong likelihood");
    }
}
