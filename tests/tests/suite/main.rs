//! Checks across packages that need Rust alone, in one binary.
//!
//! One part alone: `cargo test -p trimtab-tests --test suite layers`.

mod fuzz;
mod layers;
mod links;
mod oracle;
mod promises;
mod sizes;
mod snippets;
mod soak;
mod supply;
