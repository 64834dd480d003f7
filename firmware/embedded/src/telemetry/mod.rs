//! A run as a stream of small frames: the chip sends them; a PC watches, keeps and checks them.
//!
//! ```text
//! hello   knob … knob   measured   measured   …   end        chip: Reporter
//!   └ space, configuration, seed       └ proposal, to the bit, and its outcome
//! ```
//!
//! The frames determine the tuner's state, so a listener can ask a tuner of its own and compare.
//! [`check()`] does so in a `cargo test`, `trimtab replay` on the command line.
//!
//! | file | content |
//! |---|---|
//! | [`frame`] | the fields of a frame |
//! | [`levels`] | the levels in it: one byte each, or two |
//! | [`wire`] | a frame as bytes, and back |
//! | [`reporter`] | the sender, on the chip |
//! | [`decoder`] | finds frames among other bytes, and counts the missing ones |
//! | [`mod@check`] | repeats a run and compares |
//!
//! **Choices**
//! - A hello starts the stream over, after a reset and after a rebuild of the tuner: it carries
//!   everything needed, so a listener that missed something waits for the next hello at worst.
//! - Frames are numbered from the hello, so a listener knows how many are missing.
//! - One way only: the chip never waits for a listener.
//!
//! **Cost.** A measurement of three knobs takes at most 34 bytes, 3 ms at 115 200 baud. Sending a
//! frame needs two buffers of 128 bytes.

pub mod check;
pub mod decoder;
pub mod frame;
pub mod levels;
pub mod reporter;
pub mod wire;

pub use check::{Checked, Difference, Mismatch, check, repeat};
pub use decoder::{Decoder, Received};
pub use frame::{Cause, Frame, Hello, KnobPart, Proposed, Shape};
pub use levels::Levels;
pub use reporter::{About, Reporter};
pub use wire::{Fault, VERSION};

#[cfg(test)]
mod tests;
