//! Knobs that the command does not seem to read: a forgotten `{name}` is the commonest slip.
//!
//! **Choices**
//! - A knob is read if the command has a place for it, or if the command, or a file that it names,
//!   contains the name of its environment variable. A program may still read it in another way, so
//!   this is only a warning.
//! - A mention of `TRIMTAB_` alone counts for all knobs: the name may be put together.

use std::fs::File;
use std::io::Read;

use super::template::{PREFIX, Template};
use crate::space::NamedSpace;

/// Most bytes that are read of a file.
const MOST_BYTES: u64 = 16 << 20;
/// Most names in a warning.
const MOST_NAMES: usize = 5;

/// What to tell the user about knobs that nothing reads.
pub(super) fn warning(template: &Template, command: &[String], space: &NamedSpace) -> Option<String> {
    let unplaced = (0..space.knobs().len()).filter(|knob| !template.has_place_for(*knob, space));
    let unread: Vec<&str> = unplaced.map(|knob| space.knobs()[knob].name()).collect();
    let first = unread.first().and_then(|name| space.knobs().iter().find(|knob| knob.name() == *name))?;
    if command.iter().any(|word| word.contains(PREFIX) || has_mention(word)) {
        return None;
    }
    let more = unread.len().saturating_sub(MOST_NAMES);
    let names = unread.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let names = if more > 0 { format!("{names} and {more} more") } else { names };
    let (knobs, are) = if unread.len() == 1 { ("knob", "is") } else { ("knobs", "are") };
    Some(format!(
        "warning: the {knobs} {names} {are} not in the command; write {{{}}} where the level belongs, unless the \
         program reads {PREFIX}{}",
        first.name(),
        first.variable()
    ))
}

/// Whether a word names a file with the prefix in it.
fn has_mention(word: &str) -> bool {
    let is_file = std::fs::metadata(word).is_ok_and(|data| data.is_file());
    let mut bytes = Vec::new();
    let read = is_file
        .then(|| File::open(word))
        .and_then(Result::ok)
        .map(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
    read.is_some() && bytes.windows(PREFIX.len()).any(|part| part == PREFIX.as_bytes())
}
