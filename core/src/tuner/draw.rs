//! Any combination that may be asked, regardless of the model: a random draw, or the next one in order
//! after a draw.

use crate::error::AskError;
use crate::math::random::Random;
use crate::space::{Combination, Space};

/// Random draws before combinations are tried in order.
const DRAWS: u32 = 64;
/// Combinations tried in order before giving up on a space that is too large to try whole.
const SCAN: u32 = 1 << 16;

/// The combinations to try, one at a time.
#[derive(Clone, Debug)]
pub(super) struct Draw<const K: usize> {
    random: Random,
    at: Combination<K>,
    tried: u32,
}

impl<const K: usize> Draw<K> {
    pub(super) fn new(space: &Space<K>, mut random: Random) -> Self {
        let at = space.draw(&mut random);
        Self { random, at, tried: 0 }
    }

    /// The next combination, or the error after the last.
    pub(super) fn next(&mut self, space: &Space<K>) -> Result<Combination<K>, AskError> {
        let last = space.last_index();
        let (tried, is_whole) = if last < u64::from(SCAN) { (last as u32 + 1, true) } else { (SCAN, false) };
        let c = self.at;
        self.at = if self.tried < DRAWS { space.draw(&mut self.random) } else { space.after(c) };
        self.tried += 1;
        match self.tried <= DRAWS + tried {
            true => Ok(c),
            false if is_whole => Err(AskError::Exhausted),
            false => Err(AskError::NoneFound { tried }),
        }
    }
}
