//! What earlier boards taught, in at most 2 KB: the mean cost of the fleet and how its boards differ.
//!
//! A board's bent cost is m(c) + Σⱼ bⱼ·φⱼ(c) + r(c), with bⱼ ~ N(0, 1) drawn once per board:
//!
//! | name | meaning |
//! |---|---|
//! | bent cost | (b(z) − centre)/unit with z = (cost − low)/reach, b(z) = z/(1 + z), and z where negative |
//! | m, φⱼ | the fleet's mean and its factors: Σ over the pseudo-points q of a weight times k(c, q) |
//! | r | a Gaussian process with covariance s²·k |
//! | k | (1 − w)·M(‖a − a′‖) + w·P, with M Matérn 5/2, P the product kernel before any fit |
//! | a | A·x(c): x has a column per graded knob (its position from 0 to 1), one per knob of two levels, one per level of others |
//!
//! | bytes | contents |
//! |---|---|
//! | 0..4 | `TTP2` |
//! | 4..6 | length in bytes |
//! | 6 | 0 if small values are good, 1 if large ones are |
//! | 7, 8, 9 | rows of A, factors, pseudo-points |
//! | 10..12 | columns of x |
//! | 12..16 | boards |
//! | 16..24 | fingerprint of the knobs |
//! | 24..56 | f32: low, reach, centre and unit of the costs, s², w, what no kernel explains, noise |
//! | then | f32 scales: per row of A, per coordinate, of the mean's weights, per factor |
//! | then | the combination with the lowest mean, packed: per knob as many bits as its last level needs |
//! | then | i16: A, row by row |
//! | then | per pseudo-point i16: coordinates, weight in the mean, weights in the factors; packed levels if w > 0 |
//! | last 8 | FNV-1a of all bytes before |
//!
//! **Choices**
//! - The paper maps combinations by a random matrix. Here the matrix is learned, offline and in f64, by
//!   `trimtab learn`; a chip only evaluates it.
//! - Costs are bent, not cut: most of an antenna's costs lie far above the few that matter, and a cut made
//!   equal what differs.
//! - Numbers are read from the bytes where they are needed, so a prior stays in flash.
//! - Everything is checked once, by [`FleetPrior::read`].
//!
//! **Cost.** Per combination some 80 instructions per pseudo-point, by estimate, and if w > 0 as many
//! again and 8 more per knob.

use core::fmt;

use crate::config::Goal;
use crate::math::float::Arithmetic;
use crate::space::knob::{Knob, Level, Scale};
use crate::space::{Combination, Space};
use crate::surrogate::kernel::matern52;
use crate::surrogate::product::Product;

/// Most bytes of a prior.
pub const MOST_BYTES: usize = 2048;
/// Most factors by which boards differ.
pub(crate) const MOST_FACTORS: usize = 4;
/// Most rows of the learned map.
pub(crate) const MOST_ROWS: usize = 6;
/// Numbers that a tuner with a prior keeps per observation: mean, factors, coordinates.
pub const NUMBERS: usize = 1 + MOST_FACTORS + MOST_ROWS;

/// Pseudo-points, or observations, that a combination is compared with in one step: each takes some
/// 1000 instructions, and a step has 20 000.
pub(crate) const POINTS_PER_STEP: usize = 8;

const MAGIC: &[u8; 4] = b"TTP2";
const HEADER: usize = 56;
/// The largest magnitudes: of what costs are standardised by, and of other numbers. Within them
/// everything that follows is finite.
const LARGEST_COST: f32 = 1e15;
const LARGEST: f32 = 1e4;
/// A cost so far below the low ones, in reaches, is as good as a lower one.
const LOWEST: f32 = -10.0;
/// The smallest unit of bent costs, which lie between 0 and 1.
const LEAST_UNIT: f32 = 1e-4;
/// A prediction beyond this share of the way to the end is cut, so that its cost is finite.
const MOST_BENT: f32 = 0.99;

/// Why bytes are no prior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum PriorError {
    /// They do not begin as a prior of this version does.
    NoPrior,
    /// There are fewer or more bytes than the prior says.
    Length {
        /// Bytes given.
        given: usize,
        /// Bytes that the prior says it has.
        needed: usize,
    },
    /// The checksum does not fit: some byte changed.
    Damaged,
    /// The checksum fits, but the numbers contradict each other.
    Contradictory,
}

impl fmt::Display for PriorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPrior => write!(f, "not a prior, or one of another version"),
            Self::Length { given, needed } => write!(f, "a prior of {needed} bytes, but {given} are there"),
            Self::Damaged => write!(f, "a damaged prior, its checksum does not fit"),
            Self::Contradictory => write!(f, "a prior whose numbers contradict each other"),
        }
    }
}

impl core::error::Error for PriorError {}

/// What earlier boards of a fleet taught, for [`Tuner::init_with_prior`](crate::Tuner::init_with_prior).
/// `trimtab learn` writes one.
///
/// ```
/// use trimtab::{FleetPrior, PriorError};
/// assert_eq!(FleetPrior::read(b"some other file"), Err(PriorError::NoPrior));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FleetPrior {
    bytes: &'static [u8],
}

impl FleetPrior {
    /// Checks the bytes of a prior.
    pub fn read(bytes: &'static [u8]) -> Result<Self, PriorError> {
        if bytes.first_chunk::<4>() != Some(MAGIC) || bytes.len() < HEADER + 8 {
            return Err(PriorError::NoPrior);
        }
        let prior = Self { bytes };
        let needed = usize::from(prior.u16(4));
        if needed != bytes.len() {
            return Err(PriorError::Length { given: bytes.len(), needed });
        }
        let (body, sum) = bytes.split_at(bytes.len().saturating_sub(8));
        if sum != fnv(FNV, body.iter().copied()).to_le_bytes() {
            return Err(PriorError::Damaged);
        }
        let costs = (24..32).step_by(4).all(|at| prior.f32(at).abs() <= LARGEST_COST);
        let numbers = (32..HEADER).step_by(4).all(|at| prior.f32(at).abs() <= LARGEST);
        let scales = (0..prior.scales()).all(|i| prior.f32(HEADER + 4 * i).abs() <= LARGEST);
        let is_sane = bytes.len() <= MOST_BYTES
            && prior.byte(6) <= 1
            && prior.rows() <= MOST_ROWS
            && prior.factors() <= MOST_FACTORS
            && prior.points() > 0
            && prior.reach() > 0.0
            && prior.unit() >= LEAST_UNIT
            && prior.rest() >= 0.0
            && (0.0..=1.0).contains(&prior.weight())
            && prior.nugget() > 0.0
            && prior.noise() >= 0.0;
        if costs && numbers && scales && is_sane { Ok(prior) } else { Err(PriorError::Contradictory) }
    }

    /// Number of boards that taught it.
    pub fn boards(&self) -> u32 {
        self.bytes.get(12..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// Its checksum: two priors with the same one are the same.
    pub fn checksum(&self) -> u64 {
        self.bytes.last_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Whether it was learned on these knobs.
    pub fn is_for(&self, knobs: &[Knob]) -> bool {
        let own = self.bytes.get(16..).and_then(|rest| rest.first_chunk()).map(|bytes| u64::from_le_bytes(*bytes));
        // The length, too: a writer could be wrong.
        let per_point = 2 * (self.rows() + 1 + self.factors()) + if self.weight() > 0.0 { packed(knobs) } else { 0 };
        let needed = self.at_map(knobs) + 2 * self.rows() * columns(knobs) + self.points() * per_point + 8;
        own == Some(fleet_fingerprint(knobs))
            && usize::from(self.u16(10)) == columns(knobs)
            && needed == self.bytes.len()
    }

    /// Whether small or large values are good.
    pub(crate) fn goal(&self) -> Goal {
        if self.byte(6) == 0 { Goal::Minimise } else { Goal::Maximise }
    }

    /// Low and reach of the costs.
    pub(crate) fn scale(&self) -> (f32, f32) {
        (self.f32(24), self.reach())
    }

    fn reach(&self) -> f32 {
        self.f32(28)
    }

    pub(crate) fn unit(&self) -> f32 {
        self.f32(36)
    }

    /// A cost as the model sees it, from its distance to the low costs.
    pub(crate) fn bent(&self, z: f32) -> f32 {
        let z = z.clamp(LOWEST, 1.0 / f32::EPSILON);
        let bent = if z > 0.0 { z / (1.0 + z) } else { z };
        (bent - self.f32(32)) / self.unit()
    }

    /// The inverse of [`bent`](Self::bent), and its slope there.
    pub(crate) fn unbent(&self, y: f32) -> (f32, f32) {
        let bent = (y * self.unit() + self.f32(32)).min(MOST_BENT);
        let left = 1.0 - bent.max(0.0);
        (bent / left, self.unit() / (left * left))
    }

    fn rest(&self) -> f32 {
        self.f32(40)
    }

    fn weight(&self) -> f32 {
        self.f32(44)
    }

    /// The variance that no kernel explains, and that of the noise, in standardised units.
    pub(crate) fn nugget(&self) -> f32 {
        self.f32(48)
    }

    pub(crate) fn noise(&self) -> f32 {
        self.f32(52)
    }

    fn rows(&self) -> usize {
        self.byte(7)
    }

    fn factors(&self) -> usize {
        self.byte(8)
    }

    fn points(&self) -> usize {
        self.byte(9)
    }

    fn scales(&self) -> usize {
        2 * self.rows() + 1 + self.factors()
    }

    fn at_best(&self) -> usize {
        HEADER + 4 * self.scales()
    }

    fn at_map(&self, knobs: &[Knob]) -> usize {
        self.at_best() + packed(knobs)
    }

    /// The levels of the combination with the lowest mean.
    pub(crate) fn best<const K: usize>(&self, knobs: &[Knob]) -> [Level; K] {
        unpack(knobs, self.bytes.get(self.at_best()..).unwrap_or_default())
    }

    fn byte(&self, at: usize) -> usize {
        self.bytes.get(at).copied().map_or(0, usize::from)
    }

    fn u16(&self, at: usize) -> u16 {
        self.bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u16::from_le_bytes(*bytes))
    }

    fn f32(&self, at: usize) -> f32 {
        self.bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0.0, |bytes| f32::from_le_bytes(*bytes))
    }

    /// Mean, factors and coordinates of a combination: all steps of
    /// [`locate_step`](Self::locate_step).
    pub(crate) fn locate<const K: usize, const M: usize>(
        &self,
        product: &Product<K, M>,
        space: &Space<K>,
        c: &Combination<K>,
    ) -> [f32; NUMBERS] {
        let mut place = [0.0; NUMBERS];
        let mut step = 0;
        while self.locate_step(product, space, c, step, &mut place) {
            step += 1;
        }
        place
    }

    /// One step towards the place of a combination, from 0 on: its coordinates, then sums over some
    /// pseudo-points each. Returns whether more follow.
    #[inline(never)]
    pub(crate) fn locate_step<const K: usize, const M: usize>(
        &self,
        product: &Product<K, M>,
        space: &Space<K>,
        c: &Combination<K>,
        step: usize,
        place: &mut [f32; NUMBERS],
    ) -> bool {
        let (knobs, rows, factors) = (space.knobs(), self.rows(), self.factors());
        let (sums, coordinates) = place.split_at_mut(1 + MOST_FACTORS);
        let at_map = self.at_map(knobs);
        let columns = columns(knobs);
        let Some(done) = step.checked_sub(1).map(|pieces| pieces * POINTS_PER_STEP) else {
            sums.iter_mut().for_each(|sum| *sum = 0.0);
            coordinates.iter_mut().for_each(|coordinate| *coordinate = 0.0);
            for (row, coordinate) in coordinates.iter_mut().take(rows).enumerate() {
                let map = self.bytes.get(at_map + 2 * row * columns..).unwrap_or_default().as_chunks::<2>().0;
                *coordinate = self.f32(HEADER + 4 * row) * self.mapped(product, knobs, c, map);
            }
            return true;
        };
        let weight = self.weight();
        let size = 2 * (rows + 1 + factors) + if weight > 0.0 { packed(knobs) } else { 0 };
        let points = self.bytes.get(at_map + 2 * rows * columns..).unwrap_or_default();
        // A chunk of no bytes would panic; a point has at least a weight.
        for point in points.chunks_exact(size.max(2)).take(self.points()).skip(done).take(POINTS_PER_STEP) {
            let (numbers, levels) = point.split_at_checked(2 * (rows + 1 + factors)).unwrap_or_default();
            let mut numbers = numbers.as_chunks::<2>().0.iter().map(|bytes| f32::from(i16::from_le_bytes(*bytes)));
            let mut square = 0.0;
            for (row, own) in coordinates.iter().take(rows).enumerate() {
                let other = self.f32(HEADER + 4 * (rows + row)) * numbers.next().unwrap_or(0.0);
                square += (own - other) * (own - other);
            }
            let mut k = (1.0 - weight) * matern52::<Arithmetic>(square);
            if weight > 0.0 {
                k += weight * product.covariance_of(c.all(), &unpack(knobs, levels));
            }
            sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number * k);
        }
        if done + POINTS_PER_STEP < self.points() {
            return true;
        }
        for (i, sum) in sums.iter_mut().enumerate().take(1 + factors) {
            *sum *= self.f32(HEADER + 4 * (2 * rows + i));
        }
        false
    }

    /// A row of A times x(c), without the row's scale.
    fn mapped<const K: usize, const M: usize>(
        &self,
        product: &Product<K, M>,
        knobs: &[Knob],
        c: &Combination<K>,
        map: &[[u8; 2]],
    ) -> f32 {
        let (mut sum, mut first) = (0.0, 0);
        let at = |column: usize| map.get(column).map_or(0.0, |bytes| f32::from(i16::from_le_bytes(*bytes)));
        for (i, knob) in knobs.iter().enumerate() {
            let level = c.level(i);
            sum += match column_kind(knob) {
                Columns::None => 0.0,
                Columns::One => at(first) * product.position(i, level),
                Columns::PerLevel => at(first + usize::from(level)),
            };
            first += column_kind(knob).count(knob);
        }
        sum
    }

    /// The prior covariance of two combinations.
    #[inline(always)]
    pub(crate) fn covariance<const K: usize, const M: usize>(
        &self,
        product: &Product<K, M>,
        (a, at_a): (&Combination<K>, &[f32]),
        (b, at_b): (&Combination<K>, &[f32]),
    ) -> f32 {
        let weight = self.weight();
        let (mut together, mut square) = (0.0, 0.0);
        for (i, (a, b)) in at_a.iter().zip(at_b).enumerate() {
            if i > MOST_FACTORS {
                square += (a - b) * (a - b);
            } else if i > 0 {
                together += a * b;
            }
        }
        let mut k = (1.0 - weight) * matern52::<Arithmetic>(square);
        if weight > 0.0 {
            k += weight * product.covariance(a, b);
        }
        together + self.rest() * k
    }
}

/// The columns of x that a knob has.
enum Columns {
    None,
    One,
    PerLevel,
}

impl Columns {
    fn count(&self, knob: &Knob) -> usize {
        match self {
            Self::None => 0,
            Self::One => 1,
            Self::PerLevel => knob.levels(),
        }
    }
}

fn column_kind(knob: &Knob) -> Columns {
    match knob.levels() {
        ..=1 => Columns::None,
        2 => Columns::One,
        _ if knob.is_graded() => Columns::One,
        _ => Columns::PerLevel,
    }
}

/// Number of columns of x.
fn columns(knobs: &[Knob]) -> usize {
    knobs.iter().fold(0, |sum, knob| sum + column_kind(knob).count(knob))
}

/// Bits that the levels of a knob take.
fn bits(knob: &Knob) -> usize {
    (usize::BITS - knob.levels().saturating_sub(1).leading_zeros()) as usize
}

/// Bytes of a packed combination.
fn packed(knobs: &[Knob]) -> usize {
    knobs.iter().fold(0, |sum, knob| sum + bits(knob)).div_ceil(8)
}

/// The levels of a packed combination: the first knob in the lowest bits. A level beyond the last is
/// the last.
fn unpack<const K: usize>(knobs: &[Knob], bytes: &[u8]) -> [Level; K] {
    let (mut levels, mut bytes) = ([0; K], bytes.iter());
    let (mut word, mut held) = (0u32, 0);
    for (level, knob) in levels.iter_mut().zip(knobs) {
        let own = bits(knob);
        while held < own {
            word |= u32::from(bytes.next().copied().unwrap_or(0)) << (held & 31);
            held += 8;
        }
        let read = word & ((1 << (own & 31)) - 1);
        *level = (read as usize).min(knob.levels().saturating_sub(1)) as Level;
        word >>= own & 31;
        held -= own;
    }
    levels
}

/// FNV-1a's start.
const FNV: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a.
fn fnv(start: u64, bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(start, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// What a prior knows its space by: kind, number of levels and values of every knob, in order.
///
/// ```
/// use trimtab::{Knob, fleet_fingerprint};
/// assert_ne!(fleet_fingerprint(&[Knob::nominal(4)]), fleet_fingerprint(&[Knob::ranked(4)]));
/// ```
pub fn fleet_fingerprint(knobs: &[Knob]) -> u64 {
    knobs.iter().fold(FNV, |sum, knob| {
        let ends;
        let (kind, values) = match knob {
            Knob::Nominal { .. } | Knob::Refused { .. } => (0, &[][..]),
            Knob::Ranked { .. } => (1, &[][..]),
            Knob::Graded { values, scale: Scale::Linear } => (2, *values),
            Knob::Graded { values, scale: Scale::Log } => (3, *values),
            Knob::Range { first, last, scale, .. } => {
                ends = [*first, *last];
                (if *scale == Scale::Linear { 4 } else { 5 }, &ends[..])
            }
        };
        let head = [kind].into_iter().chain((knob.levels() as u16).to_le_bytes());
        let values = values.iter().flat_map(|value| value.to_bits().to_le_bytes());
        fnv(sum, head.chain(values))
    })
}
