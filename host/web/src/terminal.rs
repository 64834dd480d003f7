//! Text of a chip without control characters.
//!
//! The host's module of this name also removes a terminal's escape sequences, which takes a regular
//! expression engine as large as everything else here.

use std::borrow::Cow;

/// The text without control characters.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    match text.chars().any(char::is_control) {
        false => text.into(),
        true => text.chars().filter(|c| !c.is_control()).collect::<String>().into(),
    }
}
