//! What a journal found in the flash, and why it cannot be kept.

/// The content of the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Found {
    /// Nothing: erased, as from the factory.
    Blank,
    /// A log of this tuner.
    Log,
    /// A log of another tuner: other knobs, configuration, seed or sizes.
    Foreign,
    /// A log in the format of another version.
    Version(u16),
    /// No log, or a log without one readable page.
    Unreadable,
}

/// Why a journal cannot be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Trouble {
    /// The layout does not fit the flash.
    Layout,
    /// The flash refused an operation.
    Refused,
    /// The flash does not hold a write, or does not erase.
    Worn,
}

impl Trouble {
    /// In words, with advice.
    pub fn text(self) -> &'static str {
        match self {
            Self::Layout => {
                "the journal needs two whole pages of flash, with room for its records, six more and eight marks"
            }
            Self::Refused => "the flash refused an operation: check its supply and its write protection",
            Self::Worn => "the flash is worn out: give the journal another range of it",
        }
    }
}

impl core::fmt::Display for Trouble {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.text())
    }
}

impl core::error::Error for Trouble {}

#[cfg(test)]
mod tests {
    use std::string::ToString as _;

    use super::*;

    #[test]
    fn each_trouble_says_what_it_is() {
        for (trouble, word) in
            [(Trouble::Layout, "two whole pages"), (Trouble::Refused, "refused"), (Trouble::Worn, "worn out")]
        {
            assert!(trouble.to_string().contains(word), "{trouble}");
        }
    }
}
