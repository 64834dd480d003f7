//! The nearest combination to a point, exactly and without a table: CBO-Lookup's left inverse.
//!
//! argmin over c of ‖x − R·z(c)‖² (section 4.1: "we find the closest point in L"), c feasible and not excluded.
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | x | a point, centred as z is: the paper's x less R·½ | d, or m without a map |
//! | z(c) | the features of a combination | m ≤ M |
//! | R | the random map | D × M |
//!
//! **Choices.** The paper looks through a table of 2^m rows: 1.34 GB for 24 bits in 20 dimensions. This is a search of a tree instead
//! (`walk`), with bounds about a relaxation (`lattice`, `relaxation`), or for `Identity` from the sum over knobs (`separable`).
//! "Nearest" is meant to the bit: the smallest value of [`Lookup::squared_distance`], computed in `f32` in its fixed order; of equal values
//! the combination with the smallest index. Bounds are trusted only beyond their rounding errors. What is excluded or
//! infeasible is skipped as a leaf, so the authors' "nearest row not yet visited" is one call. Work has no useful bound
//! in the worst case (this is the closest vector problem), so it has a limit that the caller sets, and reaching it is an error, never a worse answer.
//! Where thousands of combinations are equally near to `f32` (a point millions of times farther than the combinations
//! are apart; signs in very few dimensions), all of them are looked at, and the limit may be reached.
//!
//! **Cost.** [`Lookup::SCRATCH`] bytes of stack, 4.4 KB at M = 24, D = 20. There a point inside took 1 000 to 4 000 nodes of about 150 ns on a desktop, one
//! near a combination or far outside about m.

use core::fmt;
use core::mem::size_of;

use crate::features::encoding::Encoder;
use crate::features::random_map::RandomMap;
use crate::math::float::squared_distance;
use crate::paper::lattice::Lattice;
use crate::paper::walk::{Frame, Leaf, walk};
use crate::space::{Combination, Space};

/// What is looked up: the combinations of a space, where a map puts their features.
///
/// ```
/// use trimtab::{Distribution, internals::RandomMap};
/// use trimtab::{Encoding, internals::Encoder};
/// use trimtab::{Knob, Space, internals::Lookup};
///
/// let space = Space::<12>::new(&[Knob::nominal(2); 12])?;
/// let encoder = Encoder::new(&space, Encoding::Compact);
/// let mut map = RandomMap::<6, 12>::new();
/// map.draw(Distribution::Centred, encoder.features(), 1);
/// let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
///
/// // The nearest to where a combination lies is that combination, and then another.
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
    /// How they become features.
    pub encoder: &'a Encoder<K>,
    /// The random map.
    pub map: &'a RandomMap<D, M>,
}

/// The nearest combination.
///
/// ```
/// use trimtab::{Encoding, Knob, Space, internals::{Encoder, Lookup, RandomMap}};
/// let space = Space::<2>::new(&[Knob::nominal(2), Knob::nominal(2)])?;
/// let encoder = Encoder::new(&space, Encoding::PerKnob);
/// let map = RandomMap::from_rows(&[[1.0, 0.0], [0.0, 1.0]]);
/// let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
/// let found = lookup.nearest(&[0.5, -1.5], |_| false, 100)?;
/// assert_eq!((found.combination.levels(), found.squared_distance), (&[1, 0][..], 1.0));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Nearest<const K: usize> {
    /// Which it is.
    pub combination: Combination<K>,
    /// How far it is.
    pub squared_distance: f32,
    /// How many nodes were looked at.
    pub nodes: u32,
}

impl<const K: usize, const M: usize, const D: usize> Lookup<'_, K, M, D> {
    /// Bytes of the arrays that a search keeps on the stack.
    ///
    /// ```
    /// assert!(trimtab::internals::Lookup::<24, 24, 20>::SCRATCH < 16 * 1024);
    /// ```
    pub const SCRATCH: usize = {
        // The bounds, the frames of the walk, and a combination with its features and its place.
        let bounds = size_of::<Lattice<'_, K, M>>();
        bounds + size_of::<[Frame; M]>() + size_of::<Combination<K>>() + size_of::<[f32; M]>() + size_of::<[f32; D]>()
    };

    /// ‖x − R·z(c)‖² in the order in which it is compared: as [`RandomMap::embed`] and [`squared_distance`] compute it, or, without a
    /// map, summed up a knob (or bit) at a time from the last to the first.
    ///
    /// ```
    /// # use trimtab::{Encoding, Knob, Space, internals::{Encoder, Lookup, RandomMap}};
    /// let space = Space::<2>::new(&[Knob::nominal(2), Knob::nominal(2)])?;
    /// let encoder = Encoder::new(&space, Encoding::PerKnob);
    /// let map = RandomMap::from_rows(&[[1.0, 0.0], [0.0, 1.0]]);
    /// let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
    /// assert_eq!(lookup.squared_distance(&space.combination(&[0, 1])?, &[0.5, 0.5]), 1.0);
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    pub fn squared_distance(&self, c: &Combination<K>, x: &[f32]) -> f32 {
        let (mut z, mut own) = ([0.0; M], [0.0; D]);
        self.encoder.encode(self.space, c, &mut z);
        self.map.embed(&z, &mut own);
        squared_distance(&own, x)
    }

    /// The nearest feasible combination that is not excluded; of equally near ones that with the smallest index. `node_limit` bounds the work.
    ///
    /// ```
    /// use trimtab::{Encoding, Knob, Space, internals::{Encoder, Lookup, RandomMap}};
    /// let space = Space::<2>::new(&[Knob::nominal(2), Knob::nominal(2)])?;
    /// let encoder = Encoder::new(&space, Encoding::PerKnob);
    /// let map = RandomMap::from_rows(&[[1.0, 0.0], [0.0, 1.0]]);
    /// let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
    /// // All four are as near to the middle: the first, and the first of the others.
    /// let first = lookup.nearest(&[0.0, 0.0], |_| false, 100)?.combination;
    /// let second = lookup.nearest(&[0.0, 0.0], |c| *c == first, 100)?.combination;
    /// assert_eq!((space.index(&first), space.index(&second)), (0, 1));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
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
///
/// ```
/// use trimtab::{Encoding, Knob, Space, internals::{Encoder, FARTHEST, Lookup, NearestError, RandomMap}};
/// let space = Space::<1>::new(&[Knob::nominal(2)])?;
/// let encoder = Encoder::new(&space, Encoding::PerKnob);
/// let map = RandomMap::from_rows(&[[1.0]]);
/// let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
/// assert!(lookup.nearest(&[FARTHEST], |_| false, 100).is_ok());
/// assert_eq!(lookup.nearest(&[2.0 * FARTHEST], |_| false, 100), Err(NearestError::TooFar));
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
pub const FARTHEST: f32 = 1e15;

/// Why there is no nearest combination.
///
/// ```
/// use trimtab::{Encoding, Knob, Space, internals::{Encoder, Lookup, NearestError, RandomMap}};
/// let space = Space::<2>::new(&[Knob::nominal(2), Knob::nominal(2)])?;
/// let encoder = Encoder::new(&space, Encoding::PerKnob);
/// let map = RandomMap::from_rows(&[[1.0, 0.0], [0.0, 1.0]]);
/// let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
/// assert_eq!(lookup.nearest(&[0.0, 0.0], |_| true, 100), Err(NearestError::NoneLeft));
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum NearestError {
    /// The search was not finished within the limit.
    NodeLimit {
        /// How many nodes were looked at.
        nodes: u32,
    },
    /// Every combination is infeasible or excluded.
    NoneLeft,
    /// The space has more features than there is room for.
    TooManyFeatures {
        /// How many it has.
        needed: usize,
        /// M, the room.
        most: usize,
    },
    /// The point has not as many coordinates as there are dimensions.
    WrongLength {
        /// How many it has.
        given: usize,
        /// How many there are: D, or without a map the number of features.
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
            Self::NodeLimit { nodes } => write!(f, "nearest combination not settled after {nodes} nodes, allow more"),
            Self::NoneLeft => write!(f, "every combination is infeasible or excluded"),
            Self::TooManyFeatures { needed, most } => write!(f, "{needed} features in a lookup made for {most}"),
            Self::WrongLength { given, dimensions } => write!(f, "{given} coordinates in {dimensions} dimensions"),
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

    /// Distances are known in a space of any size, the nearest only where combinations have an index to tell ties apart.
    #[test]
    fn a_space_beyond_the_index_is_refused() {
        let space = Space::<65>::new(&[Knob::nominal(2); 65]).unwrap();
        let (encoder, map) = (Encoder::new(&space, Encoding::PerKnob), RandomMap::from_rows(&[[1.0; 65]]));
        let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
        assert_eq!(lookup.squared_distance(&space.combination(&[1; 65]).unwrap(), &[30.5]), 4.0);
        assert_eq!(lookup.nearest(&[0.0], |_| false, 1000), Err(NearestError::TooLarge));
    }

    #[test]
    fn the_scratch_is_as_stated() {
        std::println!("M = 24, D = 20: {} bytes", Lookup::<24, 24, 20>::SCRATCH);
        std::println!("M = 32, D = 20: {} bytes", Lookup::<32, 32, 20>::SCRATCH);
        const { assert!(Lookup::<24, 24, 20>::SCRATCH < 4600 && Lookup::<32, 32, 20>::SCRATCH < 7000) };
    }
}
