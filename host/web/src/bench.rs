//! The host's baselines, of which the page shows two.

#[path = "../../src/bench/domain.rs"]
#[allow(dead_code)]
pub(crate) mod domain;

pub(crate) mod method;
