//! CBO-Lookup and CBO-Recon as published: a continuous search, then a left inverse (paper: sections
//! 4.1 and 6). [`Tuner::ask_lookup`](crate::Tuner::ask_lookup) and
//! [`Tuner::ask_recon`](crate::Tuner::ask_recon) call it; the default ask does not.
//!
//! ```text
//! gradient → continuous (curvature)      x† = argmin over 𝒳 of μ − βσ
//! nearest  (lattice, relaxation, walk)   c† = the nearest combination: CBO-Lookup
//! reconstruction (pseudo_inverse)        c† = R⁺x† rounded: CBO-Recon
//! ```

pub(crate) mod continuous;
mod curvature;
pub(crate) mod gradient;
mod lattice;
pub(crate) mod nearest;
pub(crate) mod pseudo_inverse;
pub(crate) mod reconstruction;
mod relaxation;
mod walk;
