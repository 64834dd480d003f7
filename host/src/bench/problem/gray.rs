//! Enumerates all combinations of m bits by single flips: the reflected Gray code.
//!
//! **Cost.** A cost that updates in O(m) per flip is enumerated in O(m·2^m): a second or two for m
//! = 25.

/// Most bits that a problem enumerates completely.
pub(super) const MOST: usize = 25;

/// The bits to flip, from all zeros through the other 2^m − 1 combinations.
pub(super) fn flips(m: usize) -> impl Iterator<Item = usize> {
    (1u64..1 << m).map(|step| step.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_once() {
        let mut now = 0usize;
        let mut seen = vec![true; 1];
        seen.resize(1 << 5, false);
        for bit in flips(5) {
            now ^= 1 << bit;
            assert!(!seen[now]);
            seen[now] = true;
        }
        assert!(seen.iter().all(|seen| *seen));
    }
}
