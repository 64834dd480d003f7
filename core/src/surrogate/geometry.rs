//! Where the surrogate sees a combination, and the squared distance and product of two of them.
//!
//! ‖x − x′‖² is the distance of the features z, or of x = R·z under a random map. The linear term
//! always takes the product of the features:
//!
//! ‖z − z′‖² = h + ‖g − g′‖², z·z′ = s̄ₙ − h/2 + g·g′
//!
//! | name | meaning |
//! |---|---|
//! | h | number of nominal knobs that differ |
//! | g | features of the graded knobs |
//! | s̄, s̄ₙ | mean of z·z over all combinations, for all features and for the nominal ones |
//! | x | stored coordinates of a combination: g, or R·z under a random map |
//!
//! **Choices**
//! - Features of nominal knobs are never stored: counting differing levels gives the same numbers
//!   in a twentieth of the time and memory of a one-hot block.
//! - The product is divided by s̄, so the linear term has variance 1 on average.
//! - Under a random map the graded part of the product is recomputed for each pair. That is correct
//!   but slow; few need both.
//!
//! **Cost.** About 2K + 5D operations per pair; D numbers per combination.

use crate::config::{Config, Distribution, Encoding};
use crate::error::InitError;
use crate::features::encoding::Encoder;
use crate::features::random_map::RandomMap;
use crate::math::float::sum_of;
use crate::space::{Combination, Space};
use crate::surrogate::kernel::Pair;
use crate::surrogate::observations::Point;

/// The encoding, and the random map if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Geometry<const K: usize, const M: usize, const D: usize> {
    encoder: Encoder<K>,
    map: RandomMap<D, M>,
    graded: bool,
    nominal_square: f32,
    inverse_square: f32,
}

impl<const K: usize, const M: usize, const D: usize> Geometry<K, M, D> {
    pub(crate) const fn empty() -> Self {
        Self {
            encoder: Encoder::empty(),
            map: RandomMap::new(),
            graded: false,
            nominal_square: 0.0,
            inverse_square: 0.0,
        }
    }

    /// Initialises for a space; unchanged on an error.
    pub(crate) fn init(&mut self, space: &Space<K>, config: &Config, seed: u64) -> Result<(), InitError> {
        if !space.conditions().is_empty() {
            return Err(InitError::Conditions);
        }
        if config.encoding == Encoding::Compact && !space.is_indexed() {
            return Err(InitError::TooLarge);
        }
        let encoder = Encoder::new(space, config.encoding);
        let needed = encoder.features();
        let most = if config.map == Distribution::Identity { M.min(D) } else { M };
        if needed > most {
            return Err(InitError::TooManyFeatures { needed, most });
        }
        self.map.draw(config.map, needed, seed);
        let (all, nominal) = encoder.mean_square();
        self.inverse_square = if all > 0.0 { 1.0 / all } else { 0.0 };
        self.graded = encoder.graded_features() > 0;
        (self.encoder, self.nominal_square) = (encoder, nominal);
        Ok(())
    }

    /// The encoding.
    pub(crate) fn encoder(&self) -> &Encoder<K> {
        &self.encoder
    }

    /// The random map.
    pub(crate) fn map(&self) -> &RandomMap<D, M> {
        &self.map
    }

    /// The mean of ‖x − x′‖² over pairs of combinations.
    pub(crate) fn typical_square(&self) -> f32 {
        2.0 * self.encoder.mean_square().0 * self.map.stretch(self.encoder.features())
    }

    /// The embedding of a combination; empty without a random map.
    pub(crate) fn locate(&self, space: &Space<K>, c: &Combination<K>) -> [f32; D] {
        let (mut z, mut x) = ([0.0; M], [0.0; D]);
        if D > 0 {
            self.encoder.encode(space, c, &mut z);
            self.map.embed(&z, &mut x);
        }
        x
    }

    /// The pair of a point with itself.
    pub(crate) fn own_pair(&self, space: &Space<K>, a: Point<'_, K, D>) -> Pair {
        let graded = if self.graded { self.encoder.graded_product(space, a.combination, a.combination) } else { 0.0 };
        Pair { squared_distance: 0.0, product: (self.nominal_square + graded) * self.inverse_square }
    }

    /// The pair of two points of which `differing` nominal knobs differ.
    #[inline(always)]
    pub(crate) fn pair(&self, space: &Space<K>, differing: f32, a: Point<'_, K, D>, b: Point<'_, K, D>) -> Pair {
        let squared_distance = sum_of(a.x, b.x, |x, y| (x - y) * (x - y));
        let graded = if self.graded { self.encoder.graded_product(space, a.combination, b.combination) } else { 0.0 };
        let product = (self.nominal_square - 0.5 * differing + graded) * self.inverse_square;
        Pair { squared_distance, product }
    }
}
