//! Numbers without meaning: functions, matrices, factors, random numbers, lists.
//!
//! [`sqrt`], [`exp`] and [`ln`] give the same bits on every target, so a PC can check a cost that a
//! chip computed with them. With the feature `micromath`, `rough` has faster ones for costs where
//! exact bits do not matter.

pub(crate) mod cholesky;
pub(crate) mod float;
pub(crate) mod list;
pub(crate) mod matrix;
pub(crate) mod random;
#[cfg(feature = "micromath")]
pub mod rough;

pub use float::{exp, ln, sqrt};

/// How often a test repeats its arithmetic. Miri is some thousand times slower than the machine and
/// looks at every path all the same.
#[cfg(test)]
pub(crate) fn times<T>(all: T, under_miri: T) -> T {
    if cfg!(miri) { under_miri } else { all }
}
