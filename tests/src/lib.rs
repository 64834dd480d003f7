//! The tools of the tests that cross packages, and of `cargo xtask` and `cargo qemu`.
//!
//! A test and a command that measure the same thing call the same module:
//!
//! - [`docs`]: the commands in README and docs;
//! - [`golden`]: files of expected text, compared line by line and rewritten by one switch;
//! - [`promises`]: the table of promises, from the tests that hold them;
//! - `workspace`: cargo and its metadata;
//! - `board`: the boards, and which of them QEMU emulates;
//! - `machine`: processors, and a machine for each on which bits are compared;
//! - `hal`: the programs on real HALs;
//! - `image`: the firmware's images, built and taken apart;
//! - `qemu`: runs an image and reads all it says;
//! - `rp2040`: runs an image in rp2040js;
//! - `wasm`: runs a WebAssembly module and reads its lines;
//! - `log`: decodes the output of an image, defmt frames or plain lines;
//! - `cost`: instructions and bytes of a step on the chip;
//! - `profile`: where the instructions of a step go;
//! - `template`: a project to start from;
//! - `browser`: finds the browser that the report is tested in.
//!
//! All but the first three need the feature `qemu`, and `wasm` the feature of its name.

use std::path::{Path, PathBuf};

#[cfg(feature = "qemu")]
pub mod board;
#[cfg(feature = "qemu")]
pub mod browser;
#[cfg(feature = "qemu")]
pub mod cost;
pub mod docs;
pub mod golden;
#[cfg(feature = "qemu")]
pub mod hal;
#[cfg(feature = "qemu")]
pub mod image;
#[cfg(feature = "qemu")]
pub mod log;
#[cfg(feature = "qemu")]
pub mod machine;
#[cfg(feature = "qemu")]
pub mod profile;
pub mod promises;
#[cfg(feature = "qemu")]
pub mod qemu;
#[cfg(feature = "qemu")]
pub mod rp2040;
#[cfg(feature = "qemu")]
pub mod template;
#[cfg(feature = "wasm")]
pub mod wasm;
#[cfg(feature = "qemu")]
pub mod workspace;

/// The code in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

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
