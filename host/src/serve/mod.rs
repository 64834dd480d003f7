//! `trimtab serve`: a tuner for programs in any language, JSON lines in and out.
//!
//! ```text
//! {"op":"ask"}                             → {"id":3,"config":{"b0":1,…},"mean":0.4,"std_dev":0.1}
//! {"op":"tell","id":3,"value":0.31}        → {"ok":true,"observations":3,"best":{"config":{…},"value":0.31,…}}
//! ```
//!
//! | file | contents |
//! |---|---|
//! | [`args`] | the options |
//! | [`lines`] | one line at a time, in bounded memory |
//! | [`message`] | a line as fields, strictly |
//! | [`server`] | what each op does |
//! | [`journal`] | the records, so that the session can be exported |
//!
//! **Choices**
//! - One answer per line, in the order of the lines, each flushed.
//! - A wrong message gets an error and changes nothing.
//! - One process is one session: the end of the input ends it, and another space needs another
//!   process.
//!
//! **Cost.** The tuner's; reading and writing take microseconds.

mod args;
mod journal;
mod lines;
mod message;
mod server;

use std::io;

use trimtab::Goal;

use crate::error::Error;
use crate::session::Study;
use crate::session::limits::Limits;
use crate::session::prior::SessionPrior;
use crate::space::NamedSpace;
use crate::terminal;

pub(crate) use args::ServeArgs;
use lines::{Line, Lines};
use server::Server;

/// Longest line in bytes: room for the export of the largest session.
pub(crate) const MOST_BYTES: usize = 4 << 20;

/// Answers until the input ends or a message says to quit.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Error> {
    let mut server = match &args.space {
        Some(path) => {
            let goal = if args.maximize { Goal::Maximise } else { Goal::Minimise };
            let space = NamedSpace::read(path)?;
            let prior = args.prior.as_deref().map(SessionPrior::read).transpose()?;
            let limits =
                Limits::new(args.limit.clone(), &space).map_err(|error| Error::Usage(format!("--limit: {error}")))?;
            let (seed, budget, noise) = (args.seed, args.budget, args.noise);
            Server::with(Study { space, goal, seed, budget, noise, limits, prior })?
        }
        None => Server::new(),
    };
    let mut lines = Lines::new(io::stdin().lock(), MOST_BYTES);
    loop {
        let line = lines.next().map_err(|error| Error::Failed(format!("cannot read standard input: {error}")))?;
        let answer = match line {
            Line::Text(text) => server.answer(text),
            Line::TooLong => Server::too_long(MOST_BYTES),
            Line::End => return Ok(()),
        };
        terminal::print(&format!("{}\n", answer.text))?;
        if answer.is_last {
            return Ok(());
        }
    }
}

/// Any lines: each has one answer in JSON, and one that is refused changes nothing.
#[cfg(any(test, fuzzing))]
pub fn fuzz_lines(bytes: &[u8]) {
    let mut server = Server::new();
    for line in bytes.split(|byte| *byte == b'\n').take(40) {
        let before = server.answer(br#"{"op":"export"}"#).text;
        let answer = server.answer(line);
        assert!(!answer.text.contains('\n'), "{}", answer.text);
        let fields: crate::session::record::Fields =
            serde_json::from_str(&answer.text).expect("an answer is an object");
        if fields.contains_key("error") {
            assert_eq!(server.answer(br#"{"op":"export"}"#).text, before);
        }
    }
}
