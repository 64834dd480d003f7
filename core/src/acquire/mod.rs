//! The choice of the next candidate: rows of the lookup table, a score for each, the smallest wins
//! (paper: algorithm 1, lines 5 and 6).

pub(crate) mod acquisition;
pub(crate) mod cache;
pub(crate) mod sweep;
pub(crate) mod table;
