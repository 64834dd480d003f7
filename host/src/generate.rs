//! What is generated from the command line's own description: completions and manual pages.

use std::io::Cursor;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::error::Error;
use crate::terminal;

/// Options of the completions.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that completes
    pub(crate) shell: Shell,
}

/// Options of the manual.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write a page for trimtab and one for every command into this directory [default: print the first]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Prints a script that a shell reads.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Error> {
    let mut script = Cursor::new(Vec::new());
    clap_complete::generate(args.shell, &mut Cli::command(), "trimtab", &mut script);
    terminal::print(&String::from_utf8_lossy(&script.into_inner()))
}

/// Prints the manual page, or writes all of them.
pub(crate) fn man(args: &ManArgs) -> Result<(), Error> {
    let fault =
        |error: std::io::Error| Error::Failed(format!("cannot write the manual: {error}; choose another --out"));
    let Some(folder) = &args.out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(fault)?;
        return terminal::print(&String::from_utf8_lossy(&page));
    };
    std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder)).map_err(fault)?;
    terminal::print(&format!("{}\n", folder.join("trimtab.1").display()))
}
