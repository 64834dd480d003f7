//! A watchdog for measurements: one that hangs ends in a reset, and the next boot knows which one it was.
//!
//! ```text
//! arm(c) → measure → disarm          in time
//! arm(c) → measure …  bite, reset → boot → bitten() = c → told as failed, never asked again
//! ```
//!
//! **Choices.** What is armed carries a number, the combination's. It is compared with what is asked after the boot: only if the two are
//! the same is that combination told as failed, so a log that was lost in between never makes another one pay. The number
//! is kept in RAM that a reset leaves alone ([`Mark`]). A power cut does not: then the combination is measured again, and bites again.
//!
//! **Cost.** Twelve bytes of RAM.

/// Ends a measurement that hangs.
pub trait Watchdog {
    /// Which measurement the last reset ended, if it was the watchdog's. Answers once a boot.
    fn bitten(&mut self) -> Option<u32>;

    /// From now on a reset is due, unless [`disarm`](Self::disarm) comes first.
    fn arm(&mut self, measurement: u32);

    /// The measurement came to an end.
    fn disarm(&mut self);
}

/// What RAM says after a reset. Whatever it holds after power-up is told apart by a magic word and by the number's
/// inverse.
///
/// ```
/// use trimtab_firmware::watchdog::Mark;
/// let mut mark = Mark::CLEAR;
/// assert_eq!(mark.take(), None);
/// mark.set(7);
/// assert_eq!((mark.take(), mark.take()), (Some(7), None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark([u32; 3]);

impl Mark {
    /// No measurement is under way.
    pub const CLEAR: Self = Self([0; 3]);
    const MAGIC: u32 = 0x7472_696D;

    /// What RAM holds.
    pub const fn of(words: [u32; 3]) -> Self {
        Self(words)
    }

    /// What RAM is to hold.
    pub const fn words(self) -> [u32; 3] {
        self.0
    }

    /// A measurement is under way.
    pub fn set(&mut self, measurement: u32) {
        self.0 = [Self::MAGIC, measurement, !measurement];
    }

    /// Which measurement was under way; none if there was none, or if this is no mark. Clears it.
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

    #[test]
    fn random_memory_is_no_mark() {
        for words in [[0; 3], [u32::MAX; 3], [Mark::MAGIC, 5, 5], [Mark::MAGIC ^ 1, 5, !5], [0xDEAD_BEEF, 1, 2]] {
            let mut mark = Mark::of(words);
            assert_eq!((mark.take(), mark), (None, Mark::CLEAR));
        }
    }
}
