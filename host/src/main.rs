//! `trimtab`: parse, dispatch, print the error; nothing else.

mod antenna;
mod cli;
mod error;
mod method;
mod plot;
mod quantity;
mod svg;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}
