//! A chip's run on the PC: its stream of frames, watched live or replayed from a log.

pub(crate) mod replay;
pub(crate) mod stream;
pub(crate) mod watch;
