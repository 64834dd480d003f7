//! From a setting to its code: knob by knob becomes a constant.

use super::arithmetic::{Float, Integers, Number, Pairs};
use super::variant::{Variant, filter};
use super::{Arithmetic, Order, Setting};

/// The code of a setting, or `None` if there is no such filter.
// Inlined for the same reason as `Setting::variant`.
#[inline]
pub(super) fn choose(s: &Setting) -> Option<Variant> {
    match s.arithmetic {
        Arithmetic::Integers => by_outputs::<Integers>(s),
        Arithmetic::Pairs => by_outputs::<Pairs>(s),
        Arithmetic::Float => by_outputs::<Float>(s),
    }
}

fn by_outputs<N: Number>(s: &Setting) -> Option<Variant> {
    match s.outputs {
        1 => by_taps::<N, 1>(s),
        2 => by_taps::<N, 2>(s),
        4 => by_taps::<N, 4>(s),
        8 => by_taps::<N, 8>(s),
        _ => None,
    }
}

fn by_taps<N: Number, const B: usize>(s: &Setting) -> Option<Variant> {
    match s.taps {
        1 => by_order::<N, B, 1>(s),
        2 => by_order::<N, B, 2>(s),
        4 => by_order::<N, B, 4>(s),
        8 => by_order::<N, B, 8>(s),
        _ => None,
    }
}

fn by_order<N: Number, const B: usize, const U: usize>(s: &Setting) -> Option<Variant> {
    match s.order {
        Order::OutputsOutside => by_samples::<N, B, U, false>(s),
        Order::TapsOutside => by_samples::<N, B, U, true>(s),
    }
}

fn by_samples<N: Number, const B: usize, const U: usize, const TAPS_OUTSIDE: bool>(s: &Setting) -> Option<Variant> {
    match s.prepares_samples {
        false => by_symmetry::<N, B, U, TAPS_OUTSIDE, false>(s),
        true => by_symmetry::<N, B, U, TAPS_OUTSIDE, true>(s),
    }
}

// `if const` keeps infeasible settings from being compiled.
fn by_symmetry<N: Number, const B: usize, const U: usize, const TAPS_OUTSIDE: bool, const PREPARED: bool>(
    s: &Setting,
) -> Option<Variant> {
    let variant = |filter| Some(Variant { filter, copies_coefficients: s.copies_coefficients });
    match s.uses_symmetry {
        false if const { U >= N::TAPS } => variant(filter::<N, B, U, TAPS_OUTSIDE, PREPARED, false>),
        true if const { N::TAPS == 1 } => variant(filter::<N, B, U, TAPS_OUTSIDE, PREPARED, true>),
        _ => None,
    }
}
