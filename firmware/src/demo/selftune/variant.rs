//! The filter, once, with all its knobs.
//!
//! ```text
//! outputs outside: for n by B { sums = 0;     for k by U { sums += tile(n, k) }           y[n..n + B] = sums }
//! taps outside:    for k by U {               for n by B { s[n..n + B] += tile(n, k) } }  y = s
//! ```
//!
//! | name | meaning |
//! |---|---|
//! | B | outputs together |
//! | U | taps together |
//! | tile | B · U products of B + U − 1 samples and U coefficients, without a loop |
//!
//! **Choices**
//! - The knobs are const generics, so the compiler sees constants; only the place of the
//!   coefficients is a pointer.
//! - No variant is inlined anywhere: a measurement runs that code and no other.
//!
//! **Cost.** B + 2U − 1 loads for B · U products, B + U − 1 more with the symmetry for twice as
//! many.

use super::arithmetic::{Number, Parts};
use super::filter::{LENGTH, MOST, OUTPUTS, REACH, SAMPLES, TAPS, Workspace};
use super::unrolled::unrolled;

/// A form of the filter, ready to run.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The code.
    pub(super) filter: fn(&mut Workspace, bool),
    /// Whether it copies the coefficients.
    pub(super) copies_coefficients: bool,
}

impl Variant {
    /// Filters the samples of a workspace.
    ///
    /// ```
    /// use trimtab_firmware::selftune::{Setting, Workspace};
    /// let mut workspace = Workspace::new();
    /// workspace.init();
    /// Setting::default().variant().ok_or("no such filter")?.run(&mut workspace);
    /// assert!(workspace.is_right());
    /// # Ok::<(), &str>(())
    /// ```
    pub fn run(&self, workspace: &mut Workspace) {
        (self.filter)(workspace, self.copies_coefficients);
    }
}

/// The filter.
#[inline(never)]
pub(super) fn filter<
    N: Number,
    const B: usize,
    const U: usize,
    const TAPS_OUTSIDE: bool,
    const PREPARED: bool,
    const FOLDED: bool,
>(
    workspace: &mut Workspace,
    copies_coefficients: bool,
) {
    let Parts { samples, outputs, scratch } = N::parts(workspace);
    let coefficients = match copies_coefficients {
        true => {
            scratch.coefficients = *N::COEFFICIENTS;
            &scratch.coefficients
        }
        false => N::COEFFICIENTS,
    };
    if PREPARED {
        for (word, pair) in scratch.samples.iter_mut().zip(samples.windows(2)).take(SAMPLES) {
            if let [sample, next] = pair {
                *word = N::word(*sample, *next);
            }
        }
    }
    let input = Input::<N, PREPARED> { samples, prepared: &scratch.samples };
    let taps = if FOLDED { TAPS / 2 } else { TAPS };
    if TAPS_OUTSIDE {
        scratch.sums = [N::ZERO; OUTPUTS];
        let mut k = 0;
        while k < taps {
            let mut n = 0;
            for sums in scratch.sums.as_chunks_mut::<B>().0 {
                tile::<N, B, U, PREPARED, FOLDED>(sums, &input, coefficients, n, k);
                n += B;
            }
            k += U;
        }
        for (y, sum) in outputs.iter_mut().zip(&scratch.sums) {
            *y = N::output(*sum);
        }
    } else {
        let mut n = 0;
        for y in outputs.as_chunks_mut::<B>().0 {
            let mut sums = [N::ZERO; B];
            let mut k = 0;
            while k < taps {
                tile::<N, B, U, PREPARED, FOLDED>(&mut sums, &input, coefficients, n, k);
                k += U;
            }
            unrolled!(b in B, at most 8, { y[b] = N::output(sums[b]) });
            n += B;
        }
    }
}

/// The source of the samples.
struct Input<'w, N: Number, const PREPARED: bool> {
    samples: &'w [i16; LENGTH],
    prepared: &'w [N::Word; LENGTH],
}

impl<N: Number, const PREPARED: bool> Input<'_, N, PREPARED> {
    /// The B + U − 1 converted samples from a place on, or `None` past the end, which no tile
    /// reaches.
    #[inline(always)]
    fn window<const B: usize, const U: usize>(&self, from: usize) -> [N::Word; 2 * MOST] {
        let mut window = [N::ZERO; 2 * MOST];
        if PREPARED {
            if let Some(prepared) = self.prepared.get(from..).and_then(|rest| rest.first_chunk::<REACH>()) {
                unrolled!(i in B + U - 1, at most 16, { window[i] = prepared[i] });
            }
        } else if let Some(samples) = self.samples.get(from..).and_then(|rest| rest.first_chunk::<REACH>()) {
            unrolled!(i in B + U - 1, at most 16, { window[i] = N::word(samples[i], samples[i + 1]) });
        }
        window
    }
}

/// Adds B · U products to B sums.
#[inline(always)]
fn tile<N: Number, const B: usize, const U: usize, const PREPARED: bool, const FOLDED: bool>(
    sums: &mut [N::Word; B],
    input: &Input<'_, N, PREPARED>,
    coefficients: &[N::Word; TAPS],
    n: usize,
    k: usize,
) {
    let Some(h) = coefficients.get(k..).and_then(|rest| rest.first_chunk::<U>()) else { return };
    let window = input.window::<B, U>(n + k);
    // Mirrored: the sample of tap u is at place U − 1 − u.
    let mirrored = if FOLDED { input.window::<B, U>(n + TAPS - k - U) } else { window };
    unrolled!(u in U, at most 8, {
        if u.is_multiple_of(N::TAPS) {
            unrolled!(b in B, at most 8, {
                let x = if FOLDED { N::add(window[b + u], mirrored[b + U - 1 - u]) } else { window[b + u] };
                sums[b] = N::multiply_add(sums[b], h[u], x);
            });
        }
    });
}
