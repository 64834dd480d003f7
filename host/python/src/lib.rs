//! trimtab for Python: a session of `trimtab tune`, driven by a program instead of a command.
//!
//! | module | contents |
//! |---|---|
//! | `tuner` | what Python calls: JSON in, JSON out |
//! | `again` | logs of chips and of `tune`, repeated |
//! | all others | the host's files |
//!
//! **Choices**
//! - The host is a program, not a library, so its modules are compiled here from its files, as for
//!   the page. There is one source of each.
//! - JSON at the border: messages, checks and numbers are those of `serve` and of the logs. The
//!   Python side gives it types.

// The files that are shared name the host's library of tuners.
extern crate self as trimtab_sizes;

#[path = "../../src/sizes/mod.rs"]
#[allow(dead_code, unused_imports)]
mod sizes;

pub use sizes::*;

#[path = "../../src/error.rs"]
#[allow(dead_code)]
mod error;

#[path = "../../src/terminal.rs"]
#[allow(dead_code)]
mod terminal;

#[path = "../../src/locked.rs"]
#[allow(dead_code)]
mod locked;

#[path = "../../src/draw/mod.rs"]
#[allow(dead_code)]
mod draw;

#[path = "../../src/space/mod.rs"]
#[allow(dead_code)]
mod space;

#[path = "../../src/session/mod.rs"]
#[allow(dead_code)]
mod session;

mod tune;

mod device;

mod again;
mod tuner;

use pyo3::prelude::*;

/// What `import trimtab` loads.
#[pymodule]
fn _trimtab(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<tuner::Session>()?;
    module.add_function(wrap_pyfunction!(again::replay, module)?)?;
    module.add("TrimtabError", module.py().get_type::<tuner::TrimtabError>())?;
    module.add("MOST_PENDING", trimtab_sizes::MOST_PENDING)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
