//! A watchdog for measurements: one that hangs ends in a reset, and the next boot knows which.
//!
//! ```text
//! arm(c) → measure → disarm          in time
//! arm(c) → measure …  bite, reset → boot → bitten() = c → tell_failed(c), never asked again
//! ```
//!
//! **Choices**
//! - `arm` takes the combination's number. After the boot that combination fails only if the tuner
//!   asks for it again, so a log lost in between never makes another one pay.
//! - The number lies in RAM that a reset leaves alone ([`Mark`]). A power cut does not: then the
//!   combination is measured again, and bites again.
//!
//! **Cost.** Twelve bytes of RAM.

/// Ends a measurement that hangs.
pub trait Watchdog {
    /// Returns the measurement that the last reset ended, if the watchdog caused it. Answers once
    /// per boot.
    fn bitten(&mut self) -> Option<u32>;

    /// Starts the time limit of a measurement: a reset, unless [`disarm`](Self::disarm) comes
    /// first.
    fn arm(&mut self, measurement: u32);

    /// The measurement has ended.
    fn disarm(&mut self);
}

/// The number of the armed measurement, kept in RAM across a reset. A magic word and the number's
/// inverse tell it from whatever RAM holds after power-up.
///
/// ```
/// use trimtab_embedded::watchdog::Mark;
/// let mut mark = Mark::CLEAR;
/// assert_eq!(mark.take(), None);
/// mark.set(7);
/// assert_eq!((mark.take(), mark.take()), (Some(7), None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Mark([u32; 3]);

impl Mark {
    /// No measurement is marked.
    pub const CLEAR: Self = Self([0; 3]);
    const MAGIC: u32 = 0x7472_696D;

    /// The mark in these words of RAM.
    pub const fn of(words: [u32; 3]) -> Self {
        Self(words)
    }

    /// The words to keep in RAM.
    pub const fn words(self) -> [u32; 3] {
        self.0
    }

    /// Marks a measurement.
    pub fn set(&mut self, measurement: u32) {
        self.0 = [Self::MAGIC, measurement, !measurement];
    }

    /// Returns the marked measurement and clears the mark. `None` if there is no valid mark.
    pub fn take(&mut self) -> Option<u32> {
        match core::mem::take(&mut self.0) {
            [Self::MAGIC, measurement, inverse] if inverse == !measurement => Some(measurement),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// promise: watchdog | memory that holds anything after power-up | is not taken for a mark
    #[test]
    fn random_memory_is_not_a_mark() {
        for words in [[0; 3], [u32::MAX; 3], [Mark::MAGIC, 5, 5], [Mark::MAGIC ^ 1, 5, !5], [0xDEAD_BEEF, 1, 2]] {
            let mut mark = Mark::of(words);
            assert_eq!((mark.take(), mark), (None, Mark::CLEAR));
        }
    }

    #[test]
    fn a_mark_outlives_a_reset_in_its_words_and_is_taken_once() {
        for measurement in [0, 1, 7, u32::MAX] {
            let mut mark = Mark::CLEAR;
            mark.set(measurement);
            let mut after = Mark::of(mark.words());
            assert_eq!((after.take(), after.take(), after), (Some(measurement), None, Mark::CLEAR));
        }
        assert_eq!(Mark::CLEAR.words(), [0; 3]);
    }
}
