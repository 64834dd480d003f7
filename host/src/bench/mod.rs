//! Races of methods on problems. Each module uses only those listed before it.
//!
//! | module | contents |
//! |---|---|
//! | [`domain`], [`stats`] | knobs as bits and numbers; estimates and tests |
//! | [`text`], [`table`] | numbers and tables for people |
//! | [`problem`] | the costs to minimise |
//! | [`method`] | the methods that race, with their own Gaussian processes in f64 |
//! | [`yardstick`] | what runs are judged by: measurements to a target, recommendations, failures |
//! | [`runs`] | `trimtab bench`: jobs, the race itself, one file of records per run |
//! | [`report`] | `trimtab report`: the runs as a page |
//! | [`list`] | `trimtab list`: the names of problems and methods |
//! | [`batches`] | `trimtab batch-bench`: several asks at once |

pub(crate) mod domain;
pub(crate) mod stats;

pub(crate) mod text;

pub(crate) mod table;

pub(crate) mod problem;

pub(crate) mod method;

pub(crate) mod yardstick;

pub(crate) mod runs;

pub(crate) mod report;

pub(crate) mod list;

pub(crate) mod batches;
