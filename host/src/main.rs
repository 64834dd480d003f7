//! `trimtab`: parse, dispatch, print the error; nothing else.

mod antenna;
mod bench;
mod cli;
mod domain;
mod engine;
mod error;
mod generate;
mod linalg;
mod list;
mod method;
mod plot;
mod problem;
mod quantity;
mod record;
mod replay;
mod report;
mod search;
mod serve;
mod session;
mod space;
mod stats;
mod stream;
mod surrogate;
mod svg;
mod terminal;
mod tune;
mod watch;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}
