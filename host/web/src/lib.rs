//! trimtab in a browser: the demos and logs of the other crates behind a small C interface.
//!
//! `cargo xtask web` builds this for WebAssembly and puts it beside the page in `page/`, which draws
//! what it is told and computes nothing itself.
//!
//! | module | contents |
//! |---|---|
//! | `antenna` | the chip's antenna station, live, beside random and local search |
//! | `bits` | the same run beside the committed trace of a chip |
//! | `replay` | a chip's log, repeated and drawn as by `trimtab replay` |
//! | `tune` | a log of `trimtab tune`, asked again and shown as by `trimtab report` |
//! | `hand` | five knobs, whose values the visitor tells |
//! | `map` | the paper's random map in two dimensions |
//! | `abi` | what the page calls |
//!
//! **Choices**
//! - The host is a program, not a library, so the modules that the page shares with it are compiled
//!   here from its files: all but `antenna`, `bits`, `hand`, `map`, `abi`. There is one source of each.
//! - The interface is kept by hand: numbers in, JSON or raw `f32` out. Bindings that are generated
//!   were larger.

// The files that are shared name the host's library of tuners.
extern crate self as trimtab_sizes;

#[path = "../../src/sizes/mod.rs"]
#[allow(dead_code, unused_imports)]
mod sizes;

pub use sizes::*;

#[path = "../../src/error.rs"]
#[allow(dead_code)]
mod error;

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

mod bench;

mod antenna;
mod bits;
mod hand;
mod map;
mod replay;

pub mod abi;
