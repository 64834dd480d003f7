//! What holds across the crates, and the tools that check it.
//!
//! The tests are in `tests/`; this library is what they share with `cargo xtask` and `cargo qemu`, so that a test
//! and a command never measure in two ways:
//!
//! - [`golden`]: files of expected text, compared line by line and rewritten by one switch;
//! - `workspace`: cargo, and what it knows of the packages;
//! - `board`: what the firmware is built for, and what QEMU can stand in for;
//! - `machine`: processors, and a machine for each on which bits are compared;
//! - `image`: the firmware's images, built and taken apart;
//! - `qemu`: runs an image and reads all it says;
//! - `wasm`: runs a WebAssembly module and reads its lines;
//! - `log`: decodes what an image says, defmt frames or plain lines;
//! - `cost`: what a step costs on the chip;
//! - `template`: a project to start from;
//! - `browser`: what the report is tested in.
//!
//! All but the first need the feature `qemu`, and `wasm` the feature of its name.

use std::path::{Path, PathBuf};

#[cfg(feature = "qemu")]
pub mod board;
#[cfg(feature = "qemu")]
pub mod browser;
#[cfg(feature = "qemu")]
pub mod cost;
pub mod golden;
#[cfg(feature = "qemu")]
pub mod image;
#[cfg(feature = "qemu")]
pub mod log;
#[cfg(feature = "qemu")]
pub mod machine;
#[cfg(feature = "qemu")]
pub mod qemu;
#[cfg(feature = "qemu")]
pub mod template;
#[cfg(feature = "wasm")]
pub mod wasm;
#[cfg(feature = "qemu")]
pub mod workspace;

/// The top of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Whether two numbers agree within an absolute or a relative tolerance. NaN agrees with nothing.
///
/// ```
/// use trimtab_tests::is_close;
/// assert!(is_close(1000.0, 1000.5, 0.0, 1e-3));
/// assert!(is_close(0.0, 1e-9, 1e-6, 0.0));
/// assert!(!is_close(f64::NAN, f64::NAN, 1.0, 1.0));
/// ```
pub fn is_close(a: f64, b: f64, absolute: f64, relative: f64) -> bool {
    (a - b).abs() <= absolute + relative * a.abs().max(b.abs())
}
