//! `trimtab`: parse, dispatch, print the error; nothing else.

mod error;

mod terminal;

mod draw;

mod space;

mod session;

mod tune;

mod serve;

mod device;

mod bench;

mod antenna;

mod generate;

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}
