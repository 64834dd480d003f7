//! The demos: what the images run, shared with the host and the tests.
//!
//! - [`antenna`]: an antenna matching network, its tuner, and a station around it;
//! - [`chip`]: registers that decide how a chip runs its code, as knobs;
//! - [`dials`]: the reference problem with graded knobs, 8 dials;
//! - [`fleet`]: boards of a line, and what those before them taught;
//! - [`level`]: a front end measured in decibels, exactly or roughly;
//! - [`relays`]: the reference problem, 24 relays, for budgets of memory and time;
//! - [`selftune`]: one filter in 608 forms, and the search for the cheapest;
//! - [`parity`]: fixed runs printed bit by bit, which every machine must repeat;
//! - [`resets`]: a log in a real flash controller, through resets;
//! - [`survival`]: the faults of the antenna's fault rig.

pub mod antenna;
pub mod chip;
pub mod dials;
pub mod fleet;
pub mod level;
pub mod relays;
pub mod selftune;

pub mod parity;
pub mod resets;
pub mod survival;
