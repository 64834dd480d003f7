//! trimtab tunes discrete settings by Bayesian optimization, on the chip that has the settings.
//!
//! Declare the knobs, ask for a combination, measure it, tell the cost, and after some tens of measurements the best of
//! millions of combinations is found, in kilobytes of RAM. No allocation, no unsafe code, no floating-point unit needed; the same bits on a PC and on
//! a microcontroller.
//!
//! The method is CBO-Lookup (Kim, Choi and Cho, *Combinatorial Bayesian Optimization with Random Mapping Functions to
//! Convex Polytopes*, UAI 2022). Data flows one way, and a module uses only the ones to its left and the tools:
//!
//! ```text
//! space → encoding → embedding → table → surrogate → acquisition → proposal
//!   c       z(c)       x = R·z     L     gp: μ, σ       μ − βσ        c†
//! surrogate (model): likeness → kernel → gp, with fit and costs
//! the paper's own asks: continuous (with gradient) → nearest, or → reconstruction
//! tools: matrix, cholesky, math, random, error
//! ```
//!
//! ```
//! use trimtab::{Config, Knob, Scale, Space};
//!
//! const KNOBS: [Knob; 3] = [
//!     Knob::nominal(4),                                       // a mux input
//!     Knob::ranked(8),                                        // wait states
//!     Knob::graded(&[10.0, 22.0, 47.0, 100.0], Scale::Log),   // a capacitor, picofarad
//! ];
//! type MyTuner = trimtab::tuner!(KNOBS, observations: 32, rows: 64);
//! # fn measure(c: &trimtab::Combination<3>) -> f32 { f32::from(c.level(0) ^ 2) + f32::from(c.level(1).abs_diff(3)) }
//!
//! let mut tuner = MyTuner::new();
//! tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
//! for _ in 0..32 {
//!     let proposal = tuner.ask()?;
//!     tuner.tell(&proposal.combination, measure(&proposal.combination))?;
//! }
//! let best = tuner.best_observed().map(|best| best.value);
//! assert_eq!(best, Some(0.0));
//! # Ok::<(), trimtab::Error>(())
//! ```
#![no_std]

#[cfg(test)]
extern crate std;

/// The code in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

pub mod acquisition;
pub mod cache;
pub mod cholesky;
pub mod config;
pub mod continuous;
pub mod costs;
mod curvature;
pub mod embedding;
pub mod encoding;
pub mod error;
pub mod fit;
pub mod gp;
pub mod gradient;
pub mod kernel;
pub mod knob;
mod lattice;
pub mod likeness;
mod list;
pub mod math;
pub mod matrix;
mod model;
pub mod nearest;
mod observations;
mod proposal;
pub mod pseudo_inverse;
pub mod random;
pub mod reconstruction;
pub mod record;
mod relaxation;
mod separable;
pub mod space;
pub mod table;
pub mod tuner;
mod walk;

pub use acquisition::{Acquisition, Beta};
pub use config::{Config, Goal, Noise, WhenFull};
pub use embedding::Distribution;
pub use encoding::Encoding;
pub use error::{AskError, EnqueueError, Error, InitError, TellError};
pub use knob::{Knob, KnobError, Level, Scale};
pub use observations::Observation;
pub use proposal::{Estimate, Proposal};
pub use record::{Event, Record};
pub use space::{Combination, Feasible, Space, SpaceError};
pub use tuner::{Region, Tuner};
