//! The posterior of COMBO's hyper-parameters, sampled one at a time.
//!
//! y ~ N(μ·1, a·(∏ᵢ Fᵢ(βᵢ) + 10⁻⁶·I) + ν·I)
//!
//! | name | meaning | prior, as the authors' code has it | support |
//! |---|---|---|---|
//! | μ | mean | N(middle of y, (range of y/4)²) | range of y |
//! | ln a | amplitude | normal; four deviations span var y/largest to var y/smallest kernel value at β = 1 | −12 to ln 10⁴ |
//! | ln ν | noise variance | ln(1 + (0.1/ν)²), a horseshoe | −12 to ln 10⁴ |
//! | ln βᵢ | scale of knob i | ln(1 + 2·(5/βᵢ)²), a horseshoe | −12 to ln 100 |
//!
//! **Choices**
//! - Given the factor of the covariance, the log-likelihood is a parabola in μ, so drawing μ is
//!   almost free.
//! - Only one factor changes with βᵢ: a sweep keeps the products over the knobs before and after
//!   it.
//!
//! **Cost.** One Cholesky factor per evaluation of the K + 2 slices of a sweep; K·n²/2 numbers.

use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::slice::{Point, draw};
use crate::bench::method::graph::{Diffusion, Member, Product, Tables, multiply};
use crate::bench::method::linalg::{Cholesky, Triangle, dot};
use crate::bench::method::surrogate::{Gp, Prior};
use crate::error::Error;

/// Lower bound of every hyper-parameter's logarithm.
const LEAST: f64 = -12.0;
/// ln 10⁴: upper bound for amplitude and noise.
const LARGEST: f64 = 9.210_340_371_976_184;
/// ln 100: upper bound for the scales.
const LARGEST_SCALE: f64 = 4.605_170_185_988_092;
/// Where the horseshoe prior of a scale bends.
const BEND: f64 = 5.0;
/// Where the horseshoe prior of the noise bends.
const NOISE_BEND: f64 = 0.1;
/// Added to the diagonal of the kernel, as a share of the amplitude.
const STABILIZER: f64 = 1e-6;

/// A state of the chain.
#[derive(Clone, Debug)]
pub(super) struct Hyper {
    mean: f64,
    log_amplitude: f64,
    log_noise: f64,
    log_scales: Vec<f64>,
}

impl Hyper {
    /// Where the authors' chain starts, for standardised costs.
    pub(super) fn new(knobs: usize) -> Self {
        Self { mean: 0.0, log_amplitude: libm::log(0.5), log_noise: 0.0, log_scales: vec![0.0; knobs] }
    }
}

/// The observations and the workspace.
pub(super) struct Posterior<'a> {
    graphs: &'a [Diffusion],
    columns: &'a [Vec<Level>],
    y: &'a [f64],
    /// Of the current state: one factor per knob, and their product over the observations.
    tables: Tables,
    gram: Triangle,
    /// Mean and deviation of the prior of ln a.
    amplitude: (f64, f64),
    /// Products over the knobs from each position of the sweep to its end, and over those before
    /// the current position.
    after: Vec<Triangle>,
    before: Triangle,
}

impl<'a> Posterior<'a> {
    /// Takes the observations as one column per knob, and their costs, which must not all be equal.
    pub(super) fn new(graphs: &'a [Diffusion], columns: &'a [Vec<Level>], y: &'a [f64], hyper: &Hyper) -> Self {
        let mut tables = Tables::zeros(graphs.iter().map(Diffusion::levels));
        for ((table, graph), log) in tables.0.iter_mut().zip(graphs).zip(&hyper.log_scales) {
            graph.write(libm::exp(*log), table);
        }
        let n = y.len() as f64;
        let mean = y.iter().sum::<f64>() / n;
        let variance = y.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / (n - 1.0);
        // At β = 1 each knob's factor is between exp(−largest eigenvalue)/mean heat and 1/mean
        // heat.
        let largest: f64 = graphs.iter().map(|graph| -libm::log(graph.mean_heat(1.0))).sum();
        let range: f64 = graphs.iter().map(Diffusion::largest_eigenvalue).sum();
        let amplitude = (libm::log(variance) - largest + 0.5 * range, 0.25 * range);
        let gram = tables.gram(columns);
        Self {
            graphs,
            columns,
            y,
            tables,
            after: vec![gram.clone(); graphs.len() + 1],
            before: gram.clone(),
            gram,
            amplitude,
        }
    }

    /// Draws each hyper-parameter once.
    pub(super) fn sweep(&mut self, hyper: &mut Hyper, random: &mut Xoshiro256PlusPlus) {
        self.draw_mean(hyper, random);
        let Self { graphs, columns, y, tables, gram, amplitude, after, before } = self;
        let residual: Vec<f64> = y.iter().map(|y| y - hyper.mean).collect();
        let likelihood = |gram: &Triangle, log_amplitude: f64, log_noise: f64| {
            let gp = Gp::new(covariance(gram, log_amplitude, log_noise), &residual, &Prior::FIXED);
            gp.map_or(f64::NEG_INFINITY, |gp| gp.log_likelihood())
        };

        let log_prior = |log: f64| -0.5 * ((log - amplitude.0) / amplitude.1).powi(2);
        let density = |log: f64| log_prior(log) + likelihood(gram, log, hyper.log_noise);
        let here = Point { x: hyper.log_amplitude, log_density: density(hyper.log_amplitude) };
        let drawn = draw((LEAST, LARGEST), here, random, density);
        hyper.log_amplitude = drawn.x;
        let current = drawn.log_density - log_prior(drawn.x);

        let log_prior = |log: f64| horseshoe(NOISE_BEND * libm::exp(-log));
        let density = |log: f64| log_prior(log) + likelihood(gram, hyper.log_amplitude, log);
        let here = Point { x: hyper.log_noise, log_density: current + log_prior(hyper.log_noise) };
        let drawn = draw((LEAST, LARGEST), here, random, density);
        hyper.log_noise = drawn.x;
        let mut current = drawn.log_density - log_prior(drawn.x);

        let mut order: Vec<usize> = (0..graphs.len()).collect();
        order.shuffle(random);
        after[order.len()].entries_mut().fill(1.0);
        for (place, knob) in order.iter().enumerate().rev() {
            let (own, rest) = after.split_at_mut(place + 1);
            own[place].entries_mut().copy_from_slice(rest[0].entries());
            multiply(&mut own[place], &tables.0[*knob], &columns[*knob]);
        }
        before.entries_mut().fill(1.0);
        let log_prior = |log: f64| horseshoe(std::f64::consts::SQRT_2 * BEND * libm::exp(-log));
        for (place, knob) in order.iter().enumerate() {
            let others = &mut after[place + 1];
            others.entries_mut().iter_mut().zip(before.entries()).for_each(|(after, before)| *after *= before);
            let (graph, table, column) = (&graphs[*knob], &mut tables.0[*knob], &columns[*knob]);
            let x = hyper.log_scales[*knob];
            let here = Point { x, log_density: current + log_prior(x) };
            let drawn = draw((LEAST, LARGEST_SCALE), here, random, |log| {
                graph.write(libm::exp(log), table);
                gram.entries_mut().copy_from_slice(others.entries());
                multiply(gram, table, column);
                log_prior(log) + likelihood(gram, hyper.log_amplitude, hyper.log_noise)
            });
            hyper.log_scales[*knob] = drawn.x;
            current = drawn.log_density - log_prior(drawn.x);
            graph.write(libm::exp(drawn.x), table);
            multiply(before, table, column);
        }
        gram.entries_mut().copy_from_slice(before.entries());
    }

    /// ln p(y | μ) is −½·(μ²·1ᵀC⁻¹1 − 2μ·1ᵀC⁻¹y) plus a constant.
    fn draw_mean(&self, hyper: &mut Hyper, random: &mut Xoshiro256PlusPlus) {
        let Some(factor) = Cholesky::new(covariance(&self.gram, hyper.log_amplitude, hyper.log_noise)) else { return };
        let mut weights = vec![1.0; self.y.len()];
        factor.forward(&mut weights);
        factor.backward(&mut weights);
        let (square, linear) = (weights.iter().sum::<f64>(), dot(&weights, self.y));
        let (low, high) = self.y.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(*y), h.max(*y)));
        let (middle, deviation) = ((low + high) / 2.0, (high - low) / 4.0);
        let density = |mean: f64| {
            let offset = (mean - middle) / deviation;
            -0.5 * (offset * offset + mean * mean * square) + mean * linear
        };
        // New costs may have moved the range away from the last mean.
        let x = hyper.mean.clamp(low, high);
        hyper.mean = draw((low, high), Point { x, log_density: density(x) }, random, density).x;
    }

    /// The process at the current state.
    pub(super) fn member(&self, hyper: &Hyper) -> Result<Member, Error> {
        let residual: Vec<f64> = self.y.iter().map(|y| y - hyper.mean).collect();
        let gram = covariance(&self.gram, hyper.log_amplitude, hyper.log_noise);
        let gp = Gp::with_jitter(&gram, &residual, &Prior::FIXED)?;
        let product = Product::new(&self.tables, libm::exp(hyper.log_amplitude), self.columns);
        Ok(Member { gp, product, shift: hyper.mean })
    }
}

/// The covariance of the costs.
fn covariance(gram: &Triangle, log_amplitude: f64, log_noise: f64) -> Triangle {
    let (amplitude, mut covariance) = (libm::exp(log_amplitude), gram.clone());
    covariance.entries_mut().iter_mut().for_each(|entry| *entry *= amplitude);
    covariance.add_to_diagonal(STABILIZER * amplitude + libm::exp(log_noise));
    covariance
}

/// ln ln(1 + r²): the authors' approximation of the horseshoe, with r the bend over the value.
fn horseshoe(r: f64) -> f64 {
    libm::log(libm::log1p(r * r))
}
