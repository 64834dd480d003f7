//! `trimtab`: parse, dispatch, print the error.
//!
//! A module uses only the modules listed before it. Blank lines keep rustfmt from sorting the list.

mod error;

mod terminal;

mod locked;

/// Pictures and numbers for people.
mod draw;

/// Named knobs, expressions, files.
mod space;

/// Named knobs on a tuner of any size.
mod session;

mod tune;

mod serve;

/// A chip's run on the PC.
mod device;

/// Races of methods on problems.
mod bench;

/// The demo.
mod antenna;

/// Learning across boards.
mod fleet;

mod generate;

mod cli;

/// Any bytes for everything that is read.
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;

use std::process::ExitCode;

use clap::Parser;

use error::Error;

fn main() -> ExitCode {
    let Err(error) = cli::Cli::parse().run() else { return ExitCode::SUCCESS };
    if !matches!(error, Error::Closed) {
        terminal::note(&format!("error: {error}"));
    }
    ExitCode::from(error.exit_code())
}
