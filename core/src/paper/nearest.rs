//! The nearest combination to a point, exactly and without a table: CBO-Lookup's left inverse.
//!
//! argmin over c of ‖x − R·z(c)‖² (section 4.1: "we find the closest point in L"), c feasible and
//! not excluded.
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | x | a point, centred like z: the paper's x minus R·½ | d |
//! | z(c) | the features of a combination | m ≤ M |
//! | R | the random map | D × M |
//!
//! **Choices**
//! - The paper scans a table of 2^m rows: 1.34 GB for 24 bits in 20 dimensions. This searches a
//!   tree instead (`walk`), with bounds about a relaxation (`lattice`, `relaxation`).
//! - "Nearest" holds to the bit: the smallest [`Lookup::squared_distance`], computed in `f32` in
//!   its fixed order, and of equals the smallest index. A bound counts only beyond its rounding
//!   error.
//! - Excluded and infeasible combinations are skipped as leaves, so one call finds the authors'
//!   "nearest row not yet visited".
//! - The worst case has no useful bound (this is the closest vector problem), so the caller sets a
//!   limit of nodes. Reaching it is an error, never a worse answer.
//! - Where thousands of combinations are equally near in `f32` (a point millions of times farther
//!   away than they are apart; signs in very few dimensions), all are visited, and the limit may be
//!   reached.
//!
//! **Cost.** [`Lookup::SCRATCH`] bytes of stack, 4.4 KB at M = 24, D = 20. There a point inside
//! took 1 000 to 4 000 nodes of about 150 ns on a desktop, one near a combination or far outside
//! about m.

use core::fmt;
use core::mem::size_of;

use crate::features::encoding::Encoder;
use crate::features::random_map::RandomMap;
use crate::math::float::squared_distance;
use crate::paper::lattice::Lattice;
use crate::paper::walk::{Frame, Leaf, walk};
use crate::space::{Combination, Space};

/// The combinations of a space with their embeddings under a map.
///
/// ```
/// use trimtab::internals::{Encoder, Lookup, RandomMap};
/// use trimtab::{Distribution, Encoding, Knob, Space};
///
/// let space = Space::<12>::new(&[Knob::nominal(2); 12])?;
/// let encoder = Encoder::new(&space, Encoding::Compact);
/// let mut map = RandomMap::<6, 12>::new();
/// map.draw(Distribution::Centred, encoder.features(), 1);
/// let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
///
/// // The nearest to the embedding of a combination is that combination; without it, another.
/// let c = space.combination(&[1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0])?;
/// let (mut z, mut x) = ([0.0; 12], [0.0; 6]);
/// encoder.encode(&space, &c, &mut z);
/// map.embed(&z, &mut x);
/// assert_eq!(lookup.nearest(&x, |_| false, 1000)?.combination, c);
/// let other = lookup.nearest(&x, |visited| *visited == c, 1000)?;
/// assert!(other.combination != c && other.squared_distance > 0.0);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Lookup<'a, const K: usize, const M: usize, const D: usize> {
    /// The combinations, and which are feasible.
    pub space: &'a Space<K>,
    /// Their encoding.
    pub encoder: &'a Encoder<K>,
    /// The random map.
    pub map: &'a RandomMap<D, M>,
}

/// The nearest combination.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Nearest<const K: usize> {
    /// The combination.
    pub combination: Combination<K>,
    /// Its squared distance.
    pub squared_distance: f32,
    /// Number of nodes visited.
    pub nodes: u32,
}

impl<const K: usize, const M: usize, const D: usize> Lookup<'_, K, M, D> {
    /// Bytes of the arrays that a search keeps on the stack.
    pub const SCRATCH: usize = {
        // The bounds, the frames of the walk, and a combination with its features and its
        // embedding.
        let bounds = size_of::<Lattice<'_, K, M>>();
        bounds + size_of::<[Frame; M]>() + size_of::<Combination<K>>() + size_of::<[f32; M]>() + size_of::<[f32; D]>()
    };

    /// ‖x − R·z(c)‖² in the order in which it is compared: as [`RandomMap::embed`] and
    /// [`squared_distance`] compute it.
    pub fn squared_distance(&self, c: &Combination<K>, x: &[f32]) -> f32 {
        let (mut z, mut own) = ([0.0; M], [0.0; D]);
        self.encoder.encode(self.space, c, &mut z);
        self.map.embed(&z, &mut own);
        squared_distance(&own, x)
    }

    /// The nearest feasible combination that is not excluded; of equals the one with the smallest
    /// index. `node_limit` bounds the work.
    pub fn nearest(
        &self,
        x: &[f32],
        excluded: impl Fn(&Combination<K>) -> bool,
        node_limit: u32,
    ) -> Result<Nearest<K>, NearestError> {
        let needed = self.encoder.features();
        if needed > M {
            return Err(NearestError::TooManyFeatures { needed, most: M });
        }
        if !self.space.is_indexed() {
            return Err(NearestError::TooLarge);
        }
        if x.len() != D {
            return Err(NearestError::WrongLength { given: x.len(), dimensions: D });
        }
        if !x.iter().all(|x| x.abs() <= FARTHEST) {
            return Err(NearestError::TooFar);
        }
        let evaluate = |index: u64, best: Option<Leaf>| {
            let c = self.space.at(index)?;
            let leaf = Leaf { cost: self.squared_distance(&c, x), index };
            let is_better =
                best.is_none_or(|best| leaf.cost < best.cost || leaf.cost == best.cost && index < best.index);
            (is_better && self.space.is_feasible(&c) && !excluded(&c)).then_some(leaf)
        };
        let last_index = self.space.last_index();
        let mut lattice = Lattice::<K, M>::new(self.space, self.encoder);
        lattice.aim(self.map, x);
        let (best, nodes) = walk::<M>(&mut lattice, last_index, node_limit, evaluate)
            .map_err(|nodes| NearestError::NodeLimit { nodes })?;
        let found = best.and_then(|leaf| Some((leaf, self.space.at(leaf.index)?)));
        let (leaf, combination) = found.ok_or(NearestError::NoneLeft)?;
        Ok(Nearest { combination, squared_distance: leaf.cost, nodes })
    }
}

/// The largest coordinate of a point, so that sums of squares are finite.
pub const FARTHEST: f32 = 1e15;

/// Why there is no nearest combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum NearestError {
    /// The search did not finish within the limit.
    NodeLimit {
        /// Number of nodes visited.
        nodes: u32,
    },
    /// Every combination is infeasible or excluded.
    NoneLeft,
    /// The space has more features than there is room for.
    TooManyFeatures {
        /// Number of features of the space.
        needed: usize,
        /// M, the room.
        most: usize,
    },
    /// The point does not have D coordinates.
    WrongLength {
        /// Number of coordinates given.
        given: usize,
        /// D.
        dimensions: usize,
    },
    /// A coordinate is not a number, or larger than [`FARTHEST`].
    TooFar,
    /// More than 2⁶⁴ combinations: the search goes by the index, and not all of them have one.
    TooLarge,
}

impl fmt::Display for NearestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NodeLimit { nodes } => write!(f, "no nearest combination within {nodes} nodes, allow more"),
            Self::NoneLeft => write!(f, "every combination is infeasible or excluded"),
            Self::TooManyFeatures { needed, most } => write!(f, "{needed} features in a lookup made for {most}"),
            Self::WrongLength { given, dimensions } => write!(f, "{given} coordinates for {dimensions} dimensions"),
            Self::TooFar => write!(f, "a coordinate is not a number or too large"),
            Self::TooLarge => write!(f, "more than 2^64 combinations cannot be looked up"),
        }
    }
}

impl core::error::Error for NearestError {}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Encoding;
    use crate::space::knob::Knob;

    /// A map that projects nothing.
    fn identity<const M: usize>() -> RandomMap<M, M> {
        RandomMap::from_rows(&core::array::from_fn(|i| core::array::from_fn(|j| f32::from(u8::from(i == j)))))
    }

    /// By hand: bits at ±½, so (0.6, −0.1, 0.2) is nearest to (1, 0, 1) and then, with that one
    /// excluded, to (1, 1, 1), which costs 4·½·0.1 more.
    #[test]
    fn three_bits_by_hand() {
        let space = Space::<3>::new(&[Knob::nominal(2); 3]).unwrap();
        let (encoder, map) = (Encoder::new(&space, Encoding::PerKnob), identity::<3>());
        let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
        let x = [0.6, -0.1, 0.2];
        let first = lookup.nearest(&x, |_| false, 9).unwrap();
        assert_eq!(first.combination.levels(), [1, 0, 1]);
        assert!((first.squared_distance - (0.01 + 0.16 + 0.09)).abs() < 1e-6);
        let second = lookup.nearest(&x, |c| *c == first.combination, 99).unwrap();
        assert_eq!(second.combination.levels(), [1, 1, 1]);
        assert!((second.squared_distance - first.squared_distance - 0.2).abs() < 1e-6);
    }

    /// All 2¹⁰ are equally far from the middle; the first that is left is index 0, then 1, 2, ….
    #[test]
    #[cfg_attr(miri, ignore = "searches of thousands of nodes")]
    fn ties_go_to_the_smallest_index() {
        let space = Space::<10>::new(&[Knob::nominal(2); 10]).unwrap();
        let (encoder, map) = (Encoder::new(&space, Encoding::Compact), identity::<10>());
        let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
        for visited in 0..20 {
            let found = lookup.nearest(&[0.0; 10], |c| space.index(c) < visited, 4096).unwrap();
            assert_eq!((space.index(&found.combination), found.squared_distance), (visited, 2.5));
        }
    }

    #[test]
    fn a_space_of_one_combination_has_a_nearest() {
        let space = Space::<1>::new(&[Knob::nominal(1)]).unwrap();
        let encoder = Encoder::new(&space, Encoding::Compact);
        let map = RandomMap::<2, 1>::new();
        let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
        let found = lookup.nearest(&[3.0, 4.0], |_| false, 0).unwrap();
        assert_eq!((found.squared_distance, found.nodes), (25.0, 0));
        assert_eq!(lookup.nearest(&[3.0, 4.0], |_| true, 0), Err(NearestError::NoneLeft));
    }

    /// Distances exist in a space of any size; the nearest needs an index per combination to break
    /// ties.
    #[test]
    fn a_space_beyond_the_index_is_refused() {
        let space = Space::<65>::new(&[Knob::nominal(2); 65]).unwrap();
        let (encoder, map) = (Encoder::new(&space, Encoding::PerKnob), RandomMap::from_rows(&[[1.0; 65]]));
        let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
        assert_eq!(lookup.squared_distance(&space.combination(&[1; 65]).unwrap(), &[30.5]), 4.0);
        assert_eq!(lookup.nearest(&[0.0], |_| false, 1000), Err(NearestError::TooLarge));
    }

    #[test]
    fn the_scratch_has_the_stated_size() {
        std::println!("M = 24, D = 20: {} bytes", Lookup::<24, 24, 20>::SCRATCH);
        std::println!("M = 32, D = 20: {} bytes", Lookup::<32, 32, 20>::SCRATCH);
        const { assert!(Lookup::<24, 24, 20>::SCRATCH < 4600 && Lookup::<32, 32, 20>::SCRATCH < 7000) };
    }
}
