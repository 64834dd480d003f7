//! Processes over graphs of combinations: what COMBO, CASMOPOLITAN and the heat kernel share.
//!
//! k(c, c′) = s²·∏ᵢ Fᵢ(cᵢ, c′ᵢ): one factor a knob, a small table.
//!
//! | part | what it knows |
//! |---|---|
//! | [`Diffusion`] | the graph of a knob's levels: its heat kernel, the factor of COMBO and of the heat kernel |
//! | [`Product`] | factors and observations: covariances of a combination, and of all those a step away |
//! | [`Ensemble`] | processes, one or several samples of one: the expected improvement, on average |
//! | [`Search`] | an ensemble: combinations of much expected improvement, by ascents step by step |
//! | [`History`] | what was told |

mod diffusion;
mod ensemble;
mod history;
mod product;
mod search;

pub(super) use diffusion::Diffusion;
pub(super) use ensemble::{Ensemble, Member};
pub(super) use history::History;
pub(super) use product::{Product, Tables, multiply};
pub(super) use search::Ascent;
