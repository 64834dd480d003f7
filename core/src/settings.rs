//! A configuration in the type of a [`Tuner`](crate::Tuner), for programs that are short of flash.

pub use crate::config::{AtInit, Defaults, Settings};
