//! The fitted numbers of a tuner, for this project's own proofs: with these and the observations a
//! posterior can be computed again in another arithmetic.

use super::Tuner;
use crate::config::Settings;
use crate::math::float::short_exp;
use crate::surrogate::product::LENGTH;

/// The fitted numbers of a tuner without a random map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inspected<const K: usize> {
    /// tᵢ per knob.
    pub relevance: [f32; K],
    /// 1/ℓᵢ per knob; of a nominal knob it means nothing.
    pub inverse_length: [f32; K],
    /// What the kernel cannot explain about a combination, as a share of the signal variance.
    pub residual: f32,
    /// The noise of one measurement, as a share of the signal variance.
    pub noise: f32,
    /// Number of measurements beyond the first of each combination, and the root of the sum of
    /// their squared deviations, in the user's units.
    pub repeated: (f32, f32),
    /// How costs are standardised: the cap, the mean and the deviation, in the user's units.
    pub standard: [f32; 3],
}

impl<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
    const N: usize,
    const G: usize,
    const A: usize,
    S: Settings,
> Tuner<K, M, D, T, L, P, N, G, A, S>
{
    /// Not for users: may change in any version.
    #[doc(hidden)]
    pub fn inspect(&self) -> Inspected<K> {
        let factors = self.model.product.factors();
        let (_, again, spread) = self.model.observations.repeated();
        Inspected {
            relevance: factors.map(|factor| factor.relevance()),
            // As [`Product`](crate::surrogate::product::Product) computes it.
            inverse_length: factors.map(|factor| short_exp(LENGTH.0 - factor.length.at) / short_exp(LENGTH.0)),
            residual: self.model.noise.used.residual,
            noise: self.model.noise.used.noise,
            repeated: (again, spread),
            standard: self.model.standard.parts(),
        }
    }
}
