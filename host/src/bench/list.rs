//! `trimtab list`: the problems and methods of `trimtab bench`.

use std::fmt::Write;

use clap::Args;
use serde_json::json;

use crate::bench::method::{EXTRA, Entry, METHODS};
use crate::bench::problem::{BEYOND, FAMILIES, PAPER};
use crate::error::Error;
use crate::terminal;

/// List the problems and methods of `trimtab bench`
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints problems and methods.
pub(crate) fn run(args: &ListArgs) -> Result<(), Error> {
    terminal::print(&if args.json { json() } else { text() })
}

fn text() -> String {
    let mut text = String::from("Problems, with their parameters (--problem NAME:parameter=value,…)\n");
    for family in FAMILIES {
        let _ = writeln!(text, "\n  {:<22} {}", family.name, family.about);
        for parameter in family.parameters {
            let _ = writeln!(text, "  {:<22}   {}={}: {}", "", parameter.name, parameter.default, parameter.about);
        }
    }
    let _ = writeln!(text, "\n  paper                  {}", PAPER.join(", "));
    let _ = writeln!(text, "  beyond                 {}", BEYOND.join(", "));
    let _ = writeln!(text, "  all                    the paper's and all others\n\nMethods (--method NAME,…)\n");
    METHODS.iter().for_each(|method| describe(&mut text, method));
    text += "\n  all                    all of them\n\nMethods that `all` leaves out\n\n";
    EXTRA.iter().for_each(|method| describe(&mut text, method));
    text
}

fn describe(text: &mut String, method: &Entry) {
    let Entry { name, about, source, fallback, .. } = method;
    let _ = writeln!(text, "  {name:<23} {about}\n  {:<23}   {source}\n  {:<23}   falls back to {fallback}", "", "");
}

fn json() -> String {
    let problems: Vec<_> = FAMILIES
        .iter()
        .map(|family| {
            let parameters: Vec<_> = family
                .parameters
                .iter()
                .map(
                    |parameter| json!({"name": parameter.name, "default": parameter.default, "about": parameter.about}),
                )
                .collect();
            json!({"name": family.name, "about": family.about, "parameters": parameters})
        })
        .collect();
    let methods: Vec<_> = METHODS
        .iter()
        .map(|method| json!({"name": method.name, "about": method.about, "source": method.source, "fallback": method.fallback}))
        .collect();
    format!("{}\n", json!({"problems": problems, "paper": PAPER, "methods": methods}))
}
