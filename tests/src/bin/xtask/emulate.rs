//! `cargo qemu IMAGE`: builds an image, runs it in QEMU and shows its output live.
//!
//! With `--uart` the bytes of the serial port go to standard output, for `trimtab watch`, and the
//! log goes to standard error.
//!
//! **Choices**
//! - QEMU passes the serial port on by a local TCP connection, which works on every system.
//! - `trimtab watch` draws on the terminal, so with `--uart` only warnings and errors go there.

use std::io::{self, IsTerminal as _, Read as _, Write as _, stderr, stdout};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use trimtab_tests::board::{BOARDS, Board, STM32F405, names};
use trimtab_tests::image::{Image, Profile, list};
use trimtab_tests::qemu::{self, Run, Session};

/// What to run and how.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    image: String,
    board: Board,
    profile: Profile,
    limit: Duration,
    uart: bool,
    folder: Option<PathBuf>,
}

impl Request {
    pub(crate) fn parse(words: &[&str]) -> Result<Self> {
        let mut image = None;
        let mut board = STM32F405;
        let mut profile = Profile::Release;
        let mut limit = Duration::from_secs(600);
        let mut uart = false;
        let mut folder = None;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--debug" => profile = Profile::Debug,
                "--uart" => uart = true,
                "--board" => board = emulated(words.next().copied().unwrap_or_default())?,
                "--folder" => {
                    let path = words.next().map(PathBuf::from).filter(|path| path.is_dir());
                    folder = Some(path.context("name a folder that exists, such as --folder /tmp/chip")?);
                }
                "--limit" => {
                    let seconds = words.next().and_then(|word| word.parse().ok());
                    limit = Duration::from_secs(seconds.context("write whole seconds, such as --limit 60")?);
                }
                option if option.starts_with('-') => {
                    bail!("there is no option {option}, only --board, --debug, --folder, --uart and --limit")
                }
                name if image.is_none() => image = Some(name.to_string()),
                extra => bail!("one image at a time, please: `{extra}` is one too many"),
            }
        }
        let image = image.context("which image? `cargo qemu` lists them")?;
        Ok(Self { image, board, profile, limit, uart, folder })
    }

    fn session(&self) -> Session<'_> {
        Session { board: self.board, folder: self.folder.as_deref(), limit: self.limit, ..Session::default() }
    }
}

/// The board of this name, if QEMU has it.
fn emulated(name: &str) -> Result<Board> {
    let all: Vec<Board> = BOARDS.iter().copied().filter(|board| board.emulator.is_some()).collect();
    let found = all.iter().copied().find(|board| board.name == name);
    found.with_context(|| format!("QEMU has no board `{name}`, only {}", names(&all)))
}

/// Which images there are and how to run one.
pub(crate) fn overview() -> Result<String> {
    Ok(format!("Images for the chip, each run by `cargo qemu NAME`:\n\n{}", list(&Image::all()?)))
}

pub(crate) fn run(request: &Request) -> Result<ExitCode> {
    // If QEMU is missing, say so before a build that takes minutes.
    qemu::version()?;
    if request.uart && stdout().is_terminal() {
        let image = &request.image;
        bail!("--uart writes bytes for a program to read, so pipe them: cargo qemu {image} --uart | trimtab watch -");
    }
    let elf = locate(request)?;
    let outcome = if request.uart { piped(&elf, request)? } else { shown(&elf, request)? };
    eprint!("{}", outcome.errors);
    if outcome.code == Some(0) {
        return Ok(ExitCode::SUCCESS);
    }
    bail!("{} ended with {}", request.image, qemu::describe(outcome.code))
}

/// The log on standard output.
fn shown(elf: &Path, request: &Request) -> Result<Run> {
    let colours = stdout().is_terminal();
    let session = request.session();
    session.run(elf, &mut |line| {
        // A closed pipe (`cargo qemu … | head`) is no reason to stop the image.
        let _ = writeln!(stdout(), "{}", if colours { coloured(line) } else { line.into() });
    })
}

/// The serial port on standard output, the log on standard error.
fn piped(elf: &Path, request: &Request) -> Result<Run> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot listen for the serial port")?;
    let uart_port = Some(listener.local_addr()?.port());
    let forwarder = thread::spawn(move || forward(&listener));
    let is_shared = stderr().is_terminal();
    let session = Session { uart_port, ..request.session() };
    let outcome = session.run(elf, &mut |line| {
        if !is_shared || line.starts_with("warn") || line.starts_with("error") {
            let _ = writeln!(stderr(), "{}", if is_shared { coloured(line) } else { line.into() });
        }
    })?;
    // QEMU has connected, since it ran, and has closed the connection by ending.
    forwarder.join().map_err(|_| anyhow!("the reader of the serial port panicked"))?.context("the serial port")?;
    Ok(outcome)
}

/// Copies the first connection to standard output without delay. Bytes that nobody reads are
/// dropped, since QEMU would wait.
fn forward(listener: &TcpListener) -> io::Result<()> {
    let (mut port, _) = listener.accept()?;
    let mut buffer = [0; 4096];
    loop {
        match port.read(&mut buffer)? {
            0 => return Ok(()),
            length => {
                let mut out = stdout().lock();
                let _ = out.write_all(&buffer[..length]).and_then(|()| out.flush());
            }
        }
    }
}

/// Builds the named image. `cargo run` calls its runner with the path of a built image instead.
fn locate(request: &Request) -> Result<PathBuf> {
    let path = Path::new(&request.image);
    if path.components().count() > 1 && path.is_file() {
        return Ok(path.into());
    }
    Image::find(&request.image)?.build_for(request.board, request.profile)
}

/// Colours the level of a log line.
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
        let (image, board) = ("parity".into(), STM32F405);
        let limit = seconds(600);
        let plain = Request { image, board, profile: Profile::Release, limit, uart: false, folder: None };
        assert_eq!(Request::parse(&["parity"]).unwrap(), plain);
        let folder = Some(PathBuf::from("."));
        let debug = Request { profile: Profile::Debug, limit: seconds(5), uart: true, folder, ..plain };
        let words = ["--limit", "5", "parity", "--uart", "--debug", "--folder", "."];
        assert_eq!(Request::parse(&words).unwrap(), debug);
    }

    #[test]
    fn bad_requests_say_what_to_write() {
        for (words, says) in [
            (&["--debug"][..], "which image"),
            (&["a", "b"], "one image at a time"),
            (&["a", "--limit"], "--limit 60"),
            (&["a", "--board", "rp2350"], "QEMU has no board `rp2350`, only stm32f405, "),
            (&["a", "--limit", "soon"], "--limit 60"),
            (&["a", "--folder", "no/such/folder"], "--folder /tmp/chip"),
            (&["a", "--fast"], "no option --fast"),
        ] {
            let error = Request::parse(words).unwrap_err().to_string();
            assert!(error.contains(says), "{words:?}: {error}");
        }
    }
}
