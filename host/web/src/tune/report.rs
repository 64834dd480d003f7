//! The report of a log.

#[path = "../../../src/tune/report/effects.rs"]
mod effects;
#[path = "../../../src/tune/report/failures.rs"]
mod failures;
#[path = "../../../src/tune/report/figures.rs"]
mod figures;
#[path = "../../../src/tune/report/page.rs"]
mod page;
#[path = "../../../src/tune/report/render.rs"]
#[allow(dead_code)]
pub(crate) mod render;
