//! Completions and manual pages, generated from the description of the command line.

use std::io::Cursor;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::error::Error;
use crate::terminal;

/// Print a script that completes trimtab's commands and options
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  trimtab completions bash > ~/.local/share/bash-completion/completions/trimtab")]
pub(crate) struct CompletionsArgs {
    /// The shell to complete in
    shell: Shell,
}

/// Print the manual page
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trimtab man tune | man -l -\n  trimtab man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The command to print the page of [default: trimtab itself]
    #[arg(conflicts_with = "out")]
    command: Option<String>,
    /// Write a page for trimtab and one per command into this directory [default: print the first]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints the completion script of a command line.
pub(crate) fn completions(args: &CompletionsArgs, command: &mut Command) -> Result<(), Error> {
    let mut script = Cursor::new(Vec::new());
    clap_complete::generate(args.shell, command, "trimtab", &mut script);
    terminal::print(&String::from_utf8_lossy(&script.into_inner()))
}

/// Prints the manual page of a command line, or writes one page per command.
pub(crate) fn man(args: &ManArgs, command: Command) -> Result<(), Error> {
    let fault =
        |error: std::io::Error| Error::Failed(format!("cannot write the manual: {error}; choose another --out"));
    let Some(folder) = &args.out else {
        let command = match &args.command {
            Some(name) => subcommand(command, name)?,
            None => command,
        };
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page).map_err(fault)?;
        return terminal::print(&String::from_utf8_lossy(&page));
    };
    std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder)).map_err(fault)?;
    terminal::print(&format!("{}\n", folder.join("trimtab.1").display()))
}

/// A subcommand that knows its full name.
fn subcommand(mut command: Command, name: &str) -> Result<Command, Error> {
    command.build();
    let names: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
    let missing = || Error::Usage(format!("there is no command `{name}`; there are {}", names.join(", ")));
    command.find_subcommand(name).cloned().ok_or_else(missing)
}
