//! trimtab tunes discrete settings by Bayesian optimization, on the chip that has the settings.
//!
//! Declare the knobs, ask for a combination, measure it, tell its cost. After some tens of
//! measurements the tuner has usually found one of the best among millions of combinations, in
//! kilobytes of RAM. No allocation, no unsafe code, no floating-point unit needed; the same bits on
//! a PC and on a microcontroller.
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
//! # fn measure(c: &trimtab::Combination<3>) -> f32 {
//! #     f32::from(c.level(0) ^ 2) + f32::from(c.level(1).abs_diff(3))
//! # }
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
//!
//! # The method
//!
//! CBO-Lookup (Kim, Choi and Cho, *Combinatorial Bayesian Optimization with Random Mapping
//! Functions to Convex Polytopes*, UAI 2022). The path of a candidate through an ask is also the
//! order of the folders; a folder uses only those before it, and a test checks this.
//!
//! ```text
//!  space/        features/            surrogate/          acquire/             tuner/
//!  a row c   →   z(c), or x = R·z  →  posterior μ, σ  →   score μ − βσ,   →   proposal c†
//!  of the table  (R only if asked)    of a GP             the smallest wins
//!
//!  before them: math/ (numbers), config/ (plain data); between acquire/ and tuner/: paper/,
//!  the continuous search and the left inverses of the published method
//! ```
//!
//! | folder | holds | in the paper |
//! |---|---|---|
//! | `math` | functions, matrices, Cholesky factor, random numbers | |
//! | `config` | [`Config`], its two presets and the choices in it | section 7.1 |
//! | `space` | [`Knob`], [`Space`], [`Combination`] | section 3 |
//! | `features` | encoding φ₁, random map R | section 4.1 |
//! | `surrogate` | observations, kernel, Gaussian process, fit | section 4 |
//! | `acquire` | GP-UCB and EI, the lookup table, sweeps, cache | algorithm 1, lines 5 and 6 |
//! | `paper` | CBO-Lookup and CBO-Recon as published | sections 4.1 and 6 |
//! | `tuner` | [`Tuner`]: ask, tell, replay | algorithm 1 |
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

/// The code in the README of the registry compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod math;

mod config;
mod space;

mod error;

mod features;
mod surrogate;

mod acquire;
mod paper;

mod tuner;

#[doc(hidden)]
pub mod internals;
pub mod settings;
pub mod sizes;

pub use acquire::cache::Cache;
pub use config::{Acquisition, Beta, Config, Distribution, Encoding, Fitting, Goal, Noise, Prior, WhenFull};
pub use error::{AskError, EnqueueError, Error, InitError, TellError};
pub use paper::reconstruction::THRESHOLD;
pub use space::{
    Combination, Feasible, Knob, KnobError, Level, MOST_LEVELS, MOST_LISTED, OnlyIf, Scale, Space, SpaceError,
};
pub use surrogate::fleet::PriorState;
pub use surrogate::fleet_prior::{FleetPrior, MOST_BYTES, PriorError, fleet_fingerprint};
pub use surrogate::kernel::Hyper;
pub use surrogate::observations::Observation;
pub use tuner::proposal::{Estimate, Proposal};
#[cfg(feature = "postcard")]
pub use tuner::record::RecordError;
pub use tuner::record::{Event, Record};
pub use tuner::{MOST_LIMITS, MOST_PENDING, Margins, Region, Tuner};
