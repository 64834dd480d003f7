//! A run as a stream of small frames: the chip sends them, a PC watches, keeps and checks them.
//!
//! ```text
//! hello   knob … knob   measured   measured   …   end        chip: Reporter
//!   └ what is tuned, by which tuner    └ what was proposed, to the bit, and what came of it
//! ```
//!
//! The tuner's state follows from what is in the frames, so whoever has them can ask a tuner of his own and compare: [`check()`] does, in a
//! `cargo test` or in `trimtab replay`.
//!
//! | file | what |
//! |---|---|
//! | [`frame`] | what a frame says |
//! | [`wire`] | a frame as bytes, and back |
//! | [`reporter`] | what a chip calls |
//! | [`decoder`] | frames out of bytes, whatever is between them, and how many are missing |
//! | [`mod@check`] | a tuner of one's own beside the one in the frames |
//!
//! **Choices.** A hello starts a stream over: after a reset, and after a tuner was built anew from other records, everything that
//! is needed comes again, so a listener that missed something is lost until the next hello at worst. Frames are counted from the hello, so what is
//! missing is known. One way only: the chip never waits for a listener.
//!
//! **Cost.** A measurement of three knobs is 34 bytes at most, 3 ms at 115 200 baud; a frame needs two buffers of 128 bytes while it is sent.

pub mod check;
pub mod decoder;
pub mod frame;
pub mod reporter;
pub mod wire;

pub use check::{Checked, Difference, Mismatch, check, repeat};
pub use decoder::{Decoder, Received};
pub use frame::{Cause, Frame, Hello, KnobPart, Proposed, Shape};
pub use reporter::{About, Reporter};
pub use wire::{Fault, VERSION};

#[cfg(test)]
mod tests;
