//! Noise on the costs that methods are told, the same for all methods of a seed.
//!
//! told(t) = cost + SD·spread·zₜ
//!
//! | name | meaning |
//! |---|---|
//! | SD | the value of `--noise` |
//! | spread | standard deviation of the costs of 1000 random combinations of the instance; of a command 100, without failures |
//! | zₜ | normal; with `--heavy-tails` Student's t with 3 degrees of freedom, divided by √3, its standard deviation |
//!
//! **Choices**
//! - zₜ depends on the problem, the seed and the number of the evaluation, not on the combination:
//!   every method meets the same luck.

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::store::{Settings, fnv};
use crate::bench::domain::Domain;
use crate::bench::problem::Problem;

/// Separates these random numbers from those of instances, masks, initial points and fences.
const STREAM: u64 = 0x4e4f_4953_4500;
const SPREAD_STREAM: u64 = 0x5350_5245_4144;
const SAMPLE: usize = 1000;
/// The same of a command, which takes time.
const FEW: usize = 100;

pub(crate) struct Noise {
    pub(crate) spread: f64,
    /// SD·spread·zₜ of every evaluation.
    errors: Vec<f64>,
}

impl Noise {
    /// The noise of an instance, or `None` if the settings have none.
    pub(crate) fn new(problem: &dyn Problem, name: &str, seed: u64, settings: &Settings) -> Option<Self> {
        let sd = settings.noise?;
        let spread = spread(problem, seed);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ STREAM ^ fnv(name.as_bytes()));
        let mut normal = || -> f64 { random.sample(StandardNormal) };
        let mut z = || {
            let own = normal();
            if settings.heavy_tails {
                // Z/√(χ²₃/3)/√3 = Z/√χ²₃, and χ²₃ is the sum of three squares.
                let squares: f64 = (0..3).map(|_| normal()).map(|z| z * z).sum();
                own / squares.sqrt()
            } else {
                own
            }
        };
        let errors = (0..settings.budget).map(|_| sd * spread * z()).collect();
        Some(Self { spread, errors })
    }

    /// The error of an evaluation, counted from 0.
    pub(crate) fn error(&self, evaluation: usize) -> f64 {
        self.errors.get(evaluation).copied().unwrap_or(0.0)
    }
}

/// The standard deviation of random costs.
fn spread(problem: &dyn Problem, seed: u64) -> f64 {
    let domain = Domain::new(problem.knobs());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ SPREAD_STREAM);
    let sample = if problem.may_fail() { FEW } else { SAMPLE };
    let costs: Vec<f64> = (0..sample).map(|_| problem.cost(&domain.random(&mut random))).collect();
    let costs: Vec<f64> = costs.into_iter().filter(|cost| cost.is_finite()).collect();
    let mean = costs.iter().sum::<f64>() / costs.len().max(1) as f64;
    let squares: f64 = costs.iter().map(|cost| (cost - mean) * (cost - mean)).sum();
    (squares / costs.len().saturating_sub(1).max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::Spec;

    fn noise(heavy_tails: bool, seed: u64, budget: usize) -> Noise {
        let problem = "thumbs-up".parse::<Spec>().unwrap().build(seed, &Default::default()).unwrap();
        let settings = Settings { budget, noise: Some(0.5), heavy_tails, ..Settings::default() };
        Noise::new(&*problem, "thumbs-up", seed, &settings).unwrap()
    }

    #[test]
    fn the_spread_and_the_deviation_are_as_said() {
        let noise = noise(false, 1, 20_000);
        // −(number of ones)/20 of 20 fair bits: √(20/4)/20 = 0.1118.
        assert!((noise.spread - 0.1118).abs() < 0.01, "{}", noise.spread);
        let sd = (noise.errors.iter().map(|e| e * e).sum::<f64>() / 20_000.0).sqrt();
        assert!((sd / (0.5 * noise.spread) - 1.0).abs() < 0.03, "{sd}");
    }

    #[test]
    fn heavy_tails_have_the_quartiles_of_student() {
        let noise = noise(true, 1, 20_000);
        let mut sizes: Vec<f64> = noise.errors.iter().map(|e| e.abs() / (0.5 * noise.spread)).collect();
        sizes.sort_by(f64::total_cmp);
        // |t₃| is below 0.7649 in half of the cases and below 3.1824 in 95 %.
        assert!((sizes[10_000] - 0.7649 / 3f64.sqrt()).abs() < 0.02, "{}", sizes[10_000]);
        assert!((sizes[19_000] - 3.1824 / 3f64.sqrt()).abs() < 0.1, "{}", sizes[19_000]);
    }

    #[test]
    fn noise_depends_on_seed_and_evaluation_alone() {
        let [first, again, other] = [1, 1, 2].map(|seed| noise(false, seed, 5).errors);
        assert!(first == again && first.iter().zip(&other).all(|(a, b)| a != b));
        // A longer run begins alike.
        assert_eq!(noise(false, 1, 9).errors[..5], first);
    }
}
