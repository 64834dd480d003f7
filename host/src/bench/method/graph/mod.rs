//! Gaussian processes over graphs of combinations, shared by COMBO, CASMOPOLITAN and the heat
//! kernel.
//!
//! k(c, c′) = s²·∏ᵢ Fᵢ(cᵢ, c′ᵢ): one factor per knob, a small table.
//!
//! | part | role |
//! |---|---|
//! | [`Diffusion`] | the graph of a knob's levels and its heat kernel, the factor in COMBO and, for nominal knobs, in the heat kernel |
//! | [`Product`] | factors and observations: the covariances of a combination and of all its neighbours |
//! | [`Ensemble`] | one process, or several samples of one: the mean expected improvement |
//! | [`Ascent`] | step-by-step ascents of any [`Score`], such as an ensemble's expected improvement |
//! | [`History`] | the observations |

mod diffusion;
mod ensemble;
mod history;
mod product;
mod search;

pub(super) use diffusion::Diffusion;
pub(super) use ensemble::{Ensemble, Member};
pub(super) use history::History;
pub(super) use product::{Product, Tables, multiply};
pub(super) use search::{Ascent, Score};
