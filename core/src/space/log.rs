//! A struct of [`knobs!`](crate::knobs!) in a defmt log: its name, and each knob by name.
//!
//! **Choices**
//! - `knobs!` implements [`Format`] whenever the feature `defmt` is on, and expands to calls of this
//!   module only: the user's crate need not depend on defmt.
//! - A value without a `Format` of its own, such as a plain enum, is logged as its declaration spells
//!   it. So switching the feature on never stops a declaration from compiling.
//! - The two cases are told apart by method lookup: [`ByFormat`] fits a [`Field`], [`ByText`] only a
//!   reference to one, which is tried later.

pub use defmt::{Format, Formatter};

/// One knob of a struct: its name, its value, and how the declaration spells each level.
#[derive(Debug)]
pub struct Field<'v, T> {
    /// Of the knob.
    pub name: &'static str,
    /// Its value.
    pub value: &'v T,
    /// All levels.
    pub values: &'v [T],
    /// The same, as declared.
    pub texts: &'v [&'static str],
}

/// Logs a value by its own `Format`.
pub trait ByFormat {
    /// Logs the name and the value.
    fn log(&self, f: Formatter<'_>);
}

impl<T: Format> ByFormat for Field<'_, T> {
    fn log(&self, f: Formatter<'_>) {
        defmt::write!(f, "{=str}: {}", self.name, self.value);
    }
}

/// Logs a value as its declaration spells it.
pub trait ByText {
    /// Logs the name and the text.
    fn log(&self, f: Formatter<'_>);
}

impl<T: PartialEq> ByText for &Field<'_, T> {
    fn log(&self, f: Formatter<'_>) {
        let text = self.values.iter().zip(self.texts).find(|(value, _)| *value == self.value);
        // Only a struct that did not come from `of` has another value.
        defmt::write!(f, "{=str}: {=str}", self.name, text.map_or("?", |(_, text)| *text));
    }
}

/// What stands before the first field.
pub fn open(f: Formatter<'_>, name: &'static str) {
    defmt::write!(f, "{=str} {{ ", name);
}

/// What stands before each further field.
pub fn next(f: Formatter<'_>) {
    defmt::write!(f, ", ");
}

/// What stands after the last field.
pub fn close(f: Formatter<'_>) {
    defmt::write!(f, " }}");
}
