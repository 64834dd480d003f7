//! The filter itself: input and expected output.
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | h | coefficients of a low-pass, 4096 is one | 32, symmetric |
//! | x | samples, 12 bits and a sign as from a converter | 159 |
//! | y | outputs, in 1/4096 of a sample | 128 |
//!
//! **Choices**
//! - The filter is a sinc at a tenth of the sampling rate under a Hamming window, rounded.
//! - |y| ≤ Σ|h|·max|x| = 5432 · 2047 = 11 119 304 < 2²⁴, so every partial sum is exact in f32.
//! - The samples have no pattern that could hide a wrong index.
//! - Zeros follow the last sample, so tiles load without checking for the end.

/// Coefficients.
pub const TAPS: usize = 32;

/// Outputs per block.
pub const OUTPUTS: usize = 128;

/// Samples that the outputs depend on.
pub const SAMPLES: usize = OUTPUTS + TAPS - 1;

/// Most outputs or taps processed together.
pub const MOST: usize = 8;

/// Samples in reach of the largest tile, one more for pairs.
pub const REACH: usize = 2 * MOST + 1;

/// Samples and the zeros after them.
pub const LENGTH: usize = SAMPLES + REACH;

/// The first half of h; the second is its mirror image.
const HALF: [i16; TAPS / 2] = [-2, 2, 9, 17, 20, 11, -16, -58, -98, -106, -54, 73, 268, 491, 688, 803];

/// h.
pub const COEFFICIENTS: [i16; TAPS] = {
    let mut all = [0; TAPS];
    let mut k = 0;
    while k < TAPS / 2 {
        all[k] = HALF[k];
        all[TAPS - 1 - k] = HALF[k];
        k += 1;
    }
    all
};

/// x\[i\], from −2047 to 2047 without a visible pattern.
pub fn sample(i: usize) -> i16 {
    ((i * i * 37 + i * 911 + 5) % 4095) as i16 - 2047
}

/// y\[n\] by the definition.
///
/// ```
/// use trimtab_firmware::selftune::filter::{COEFFICIENTS, output, sample};
/// let sum = COEFFICIENTS.iter().enumerate().map(|(k, h)| i32::from(*h) * i32::from(sample(5 + k))).sum::<i32>();
/// assert_eq!(output(5), sum);
/// ```
pub fn output(n: usize) -> i32 {
    COEFFICIENTS.iter().enumerate().fold(0, |sum, (k, h)| sum + i32::from(*h) * i32::from(sample(n + k)))
}

/// Memory for one kind of number.
#[derive(Clone, Debug)]
pub struct Scratch<N> {
    /// The samples, if they are prepared.
    pub samples: [N; LENGTH],
    /// The coefficients, if they are copied.
    pub coefficients: [N; TAPS],
    /// Partial sums, if the taps are outside.
    pub sums: [N; OUTPUTS],
}

impl<N: Copy> Scratch<N> {
    const fn new(zero: N) -> Self {
        Self { samples: [zero; LENGTH], coefficients: [zero; TAPS], sums: [zero; OUTPUTS] }
    }
}

/// The memory that every form of the filter works on.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// x, followed by zeros.
    pub samples: [i16; LENGTH],
    /// y.
    pub outputs: [i32; OUTPUTS],
    expected: [i32; OUTPUTS],
    /// For integers and pairs.
    pub integers: Scratch<i32>,
    /// For float.
    pub floats: Scratch<f32>,
}

impl Workspace {
    /// All zero, so a static one takes no flash. Call [`init`](Self::init) before use.
    pub const fn new() -> Self {
        Self {
            samples: [0; LENGTH],
            outputs: [0; OUTPUTS],
            expected: [0; OUTPUTS],
            integers: Scratch::new(0),
            floats: Scratch::new(0.0),
        }
    }

    /// Fills in the samples and computes the expected outputs by the definition.
    pub fn init(&mut self) {
        self.samples.iter_mut().take(SAMPLES).enumerate().for_each(|(i, x)| *x = sample(i));
        self.expected.iter_mut().enumerate().for_each(|(n, y)| *y = output(n));
        self.clear();
    }

    /// Clears the outputs, so that no right one is left over from another form.
    pub fn clear(&mut self) {
        // No output is that large.
        self.outputs = [i32::MIN; OUTPUTS];
        self.integers = Scratch::new(0);
        self.floats = Scratch::new(0.0);
    }

    /// Whether all outputs are right.
    pub fn is_right(&self) -> bool {
        self.outputs == self.expected
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_is_symmetric_passes_what_is_slow_and_stays_exact_in_f32() {
        assert!((0..TAPS).all(|k| COEFFICIENTS[k] == COEFFICIENTS[TAPS - 1 - k]));
        assert_eq!(COEFFICIENTS.iter().sum::<i16>(), 4096);
        // The fastest signal, +1, −1, +1 …, vanishes: a symmetric filter of even length has a zero
        // there.
        assert_eq!((0..TAPS).map(|k| COEFFICIENTS[k] * [1, -1][k % 2]).sum::<i16>(), 0);
        let most = COEFFICIENTS.iter().map(|h| i32::from(h.abs())).sum::<i32>() * 2047;
        assert!(most == 11_119_304 && most < 1 << 24);
        assert!((0..SAMPLES).all(|i| sample(i).abs() <= 2047));
    }

    #[test]
    fn a_first_output_by_hand() {
        // x[0] = 5 − 2047, x[1] = 37 + 911 + 5 − 2047
        assert_eq!((sample(0), sample(1)), (-2042, -1094));
        let mut workspace = Workspace::new();
        workspace.init();
        assert!(!workspace.is_right());
        workspace.outputs = core::array::from_fn(output);
        assert!(workspace.is_right());
        workspace.outputs[OUTPUTS - 1] += 1;
        assert!(!workspace.is_right());
    }
}
