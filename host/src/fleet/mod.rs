//! Learning across boards: the hundredth board of a series starts with what the others taught.
//!
//! | module | contents |
//! |---|---|
//! | [`board`] | simulated fleets |
//! | [`kernel`], [`metric`], [`factors`] | covariance, learned map, the fleet's mean and factors, in f64 |
//! | [`format`] | the prior's bytes, as the core reads them |
//! | [`model`] | what a fleet has taught |
//! | [`stats`] | the same in a file, to add boards later |
//! | [`log`] | what boards leave behind |
//! | [`outlook`], [`page`] | what it means for the next board, as text and as a page |
//! | [`learn`] | `trimtab learn` |
//! | [`rgpe`], [`race`] | a published rival, and `trimtab fleet-bench` |

pub(crate) mod board;

mod kernel;
mod metric;

mod factors;
mod first;

mod format;

mod model;

mod stats;

mod log;

mod outlook;

mod page;

pub(crate) mod learn;

mod rgpe;

pub(crate) mod race;
