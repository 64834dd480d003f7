//! All combinations of some bits, each one flip away from the one before: the reflected Gray code.
//!
//! **Cost.** A cost that one flip changes in O(m) is known everywhere in O(m·2^m): a second or two for m = 25.

/// Most bits for which a problem looks at every combination.
pub(super) const MOST: usize = 25;

/// Which bit to flip next, from all zeros through the other 2^m − 1 combinations.
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
