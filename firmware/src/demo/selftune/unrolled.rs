//! A loop written out.
//!
//! **Choices**
//! - Images are compiled for size, so the compiler keeps a loop of eight rounds, and whatever the
//!   counter indexes stays in memory. A macro that repeats the body makes indices constants and
//!   values registers.
//! - Rounds past the end are under `if const`, so they are not compiled.

/// `unrolled!(i in N, at most 8, { … })` is `for i in 0..N { … }` for a constant N up to 8, or 16.
macro_rules! unrolled {
    ($i:ident in $n:expr, at most 8, $body:block) => {
        unrolled!(@ $i, $n, $body, 0 1 2 3 4 5 6 7)
    };
    ($i:ident in $n:expr, at most 16, $body:block) => {
        unrolled!(@ $i, $n, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $i:ident, $n:expr, $body:block, $($round:literal)*) => {
        $(
            if const { $n > $round } {
                let $i: usize = $round;
                $body
            }
        )*
    };
}

pub(super) use unrolled;
