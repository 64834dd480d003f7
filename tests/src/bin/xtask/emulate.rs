//! `cargo qemu IMAGE`: build an image, run it in QEMU and show what it says as it says it.

use std::io::{IsTerminal as _, Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use trimtab_tests::image::{Image, Profile, list};
use trimtab_tests::qemu;

/// What to run and how.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    image: String,
    profile: Profile,
    limit: Duration,
}

impl Request {
    pub(crate) fn parse(words: &[&str]) -> Result<Self> {
        let mut image = None;
        let mut profile = Profile::Release;
        let mut limit = Duration::from_secs(600);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--debug" => profile = Profile::Debug,
                "--limit" => {
                    let seconds = words.next().and_then(|word| word.parse().ok());
                    limit = Duration::from_secs(seconds.context("write whole seconds, such as --limit 60")?);
                }
                option if option.starts_with('-') => bail!("there is no option {option}, only --debug and --limit"),
                name if image.is_none() => image = Some(name.to_string()),
                extra => bail!("one image at a time, please: `{extra}` is one too many"),
            }
        }
        let image = image.context("which image? `cargo qemu` lists them")?;
        Ok(Self { image, profile, limit })
    }
}

/// Which images there are and how to run one.
pub(crate) fn overview() -> Result<String> {
    Ok(format!("Images for the chip, each run by `cargo qemu NAME`:\n\n{}", list(&Image::all()?)))
}

pub(crate) fn run(request: &Request) -> Result<ExitCode> {
    // Said before a build of minutes, not after it.
    qemu::version()?;
    let elf = locate(request)?;
    let colours = stdout().is_terminal();
    let outcome = qemu::run(&elf, request.limit, &mut |line| {
        // A closed pipe (`cargo qemu … | head`) is no reason to stop the image.
        let _ = writeln!(stdout(), "{}", if colours { coloured(line) } else { line.into() });
    })?;
    eprint!("{}", outcome.errors);
    if outcome.code == Some(0) {
        return Ok(ExitCode::SUCCESS);
    }
    bail!("{} ended with {}", request.image, qemu::describe(outcome.code))
}

/// A name is built; the path of a built image is taken as it is, which is how `cargo run` calls its runner.
fn locate(request: &Request) -> Result<PathBuf> {
    let path = Path::new(&request.image);
    if path.components().count() > 1 && path.is_file() {
        return Ok(path.into());
    }
    Image::find(&request.image)?.build(request.profile)
}

/// Errors and warnings stand out.
fn coloured(line: &str) -> String {
    let colour = match line.split(' ').next() {
        Some("error") => "31",
        Some("warn") => "33",
        Some("info") => "32",
        _ => return line.into(),
    };
    let (level, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
    format!("\x1b[{colour}m{level}\x1b[0m{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read() {
        let seconds = Duration::from_secs;
        let plain = Request { image: "parity".into(), profile: Profile::Release, limit: seconds(600) };
        assert_eq!(Request::parse(&["parity"]).unwrap(), plain);
        let debug = Request { profile: Profile::Debug, limit: seconds(5), ..plain };
        assert_eq!(Request::parse(&["--limit", "5", "parity", "--debug"]).unwrap(), debug);
    }

    #[test]
    fn bad_requests_say_what_to_write() {
        for (words, says) in [
            (&["--debug"][..], "which image"),
            (&["a", "b"], "one image at a time"),
            (&["a", "--limit"], "--limit 60"),
            (&["a", "--limit", "soon"], "--limit 60"),
            (&["a", "--fast"], "no option --fast"),
        ] {
            let error = Request::parse(words).unwrap_err().to_string();
            assert!(error.contains(says), "{words:?}: {error}");
        }
    }
}
