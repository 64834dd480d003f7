//! The rule that chooses the next combination.

/// The exploration weight β_t of GP-UCB.
///
/// ```
/// use trimtab::Beta;
/// let (constant, growing) = (Beta::Constant(2.0), Beta::Logarithmic(2.0));
/// assert_eq!(constant.at(1, 4.8), constant.at(100, 4.8));
/// assert!(growing.at(1, 4.8) < growing.at(100, 4.8));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Beta {
    /// The same at every t.
    Constant(f32),
    /// scale · ln(t + 1), as in the authors' software.
    Logarithmic(f32),
    /// The theorem's schedule: scale · √ln(N·t/δ).
    Theorem {
        /// The constant that the theorem leaves open.
        scale: f32,
        /// δ: the bound holds with probability 1 − δ.
        delta: f32,
    },
}

/// The rule that chooses the next combination.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Acquisition {
    /// GP-UCB: μ − β_t·σ.
    Ucb(Beta),
    /// −ln of the expected improvement.
    ExpectedImprovement,
}
