//! A chip's stream of frames, read by the host's module.

#[path = "../../src/device/stream/mod.rs"]
#[allow(dead_code)]
pub(crate) mod stream;
