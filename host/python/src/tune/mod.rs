//! A log of `trimtab tune`: the host's modules that read it, ask again and make the report.

#[path = "../../../src/tune/again.rs"]
#[allow(dead_code)]
pub(crate) mod again;
#[path = "../../../src/tune/believed.rs"]
#[allow(dead_code)]
pub(crate) mod believed;
#[path = "../../../src/tune/change.rs"]
#[allow(dead_code)]
mod change;
#[path = "../../../src/tune/history.rs"]
#[allow(dead_code)]
pub(crate) mod history;
#[path = "../../../src/tune/keep.rs"]
pub(crate) mod keep;
#[path = "../../../src/tune/log.rs"]
#[allow(dead_code)]
pub(crate) mod log;
pub(crate) mod report;
#[path = "../../../src/tune/seal.rs"]
mod seal;
#[path = "../../../src/tune/template.rs"]
#[allow(dead_code)]
mod template;
