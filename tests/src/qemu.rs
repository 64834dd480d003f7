//! Runs an image in QEMU and reads its output.
//!
//! The default machine is `netduinoplus2`, an STM32F405: the memory map of a real board. With
//! `-icount shift=0` an instruction takes one nanosecond of the machine's time, so a run is the
//! same every time, timers included.
//!
//! **Choices**
//! - Both streams are read to their end: QEMU hangs if one is closed early.
//! - Every run has a time limit. After it QEMU is stopped and the run is an error.

use std::io::{self, BufRead as _, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail, ensure};

use crate::board::{Board, Emulator, STM32F405};
use crate::log::Texts;

/// The program that runs images for a Cortex-M.
pub const PROGRAM: &str = "qemu-system-arm";

/// The program that runs images for RISC-V.
pub const RISCV: &str = "qemu-system-riscv32";

/// Arguments of every machine: no screen, semihosting on this machine's files and streams.
const ARGUMENTS: &[&str] =
    &["-nographic", "-monitor", "none", "-semihosting-config", "enable=on,target=native", "-kernel"];

/// How to install QEMU.
pub const HOW_TO_GET: &str = "\
QEMU is not installed (no `qemu-system-arm`, or for RISC-V no `qemu-system-riscv32`, on the path). Get it with:

  Debian, Ubuntu   sudo apt-get install qemu-system-arm qemu-system-misc
  Fedora           sudo dnf install qemu-system-arm qemu-system-riscv
  Arch             sudo pacman -S qemu-system-arm qemu-system-riscv
  macOS            brew install qemu
  Windows          winget install SoftwareFreedomConservancy.QEMU, then put its folder on the path

On Debian and Ubuntu `cargo xtask setup` installs it.";

/// The output of an image, and its end.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The exit code, or `None` if a signal ended QEMU.
    pub code: Option<i32>,
    /// Standard output, decoded, line by line.
    pub lines: Vec<String>,
    /// Standard error: messages of a failed image, or of QEMU.
    pub errors: String,
}

impl Run {
    /// The lines of a successful run. The error shows the last lines.
    pub fn success(self) -> Result<Vec<String>> {
        if self.code == Some(0) {
            return Ok(self.lines);
        }
        let last = self.lines.iter().rev().take(5).rev().map(|line| format!("\n  {line}")).collect::<String>();
        Err(anyhow!("the image ended with {}\n{}{last}", describe(self.code), self.errors.trim_end()))
    }
}

/// An exit code in words.
pub fn describe(code: Option<i32>) -> String {
    code.map_or_else(|| "a signal".into(), |code| format!("exit code {code}"))
}

/// The version of the installed QEMU.
pub fn version() -> Result<String> {
    version_of(PROGRAM)
}

/// The version of one of QEMU's programs.
pub fn version_of(program: &str) -> Result<String> {
    let output = Command::new(program).arg("--version").output().map_err(explain)?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().into())
}

/// Runs an image on the default board, at most this long. Each line goes to `line` as it comes.
pub fn run(elf: &Path, limit: Duration, line: &mut dyn FnMut(&str)) -> Result<Run> {
    Session { limit, ..Session::default() }.run(elf, line)
}

/// How to run an image.
#[derive(Clone, Copy, Debug)]
pub struct Session<'a> {
    /// The board.
    pub board: Board,
    /// The folder of the files that the image opens by semihosting; the default is the current one.
    pub folder: Option<&'a Path>,
    /// The file for the bytes of the first serial port. Without it and `uart_port` they are lost.
    pub uart: Option<&'a Path>,
    /// A TCP port of this machine that listens for the bytes of the first serial port, instead of a
    /// file.
    pub uart_port: Option<u16>,
    /// The time limit.
    pub limit: Duration,
}

impl Default for Session<'_> {
    fn default() -> Self {
        Self { board: STM32F405, folder: None, uart: None, uart_port: None, limit: Duration::from_secs(300) }
    }
}

impl Session<'_> {
    fn command(&self, elf: &Path) -> Result<Command> {
        let name = self.board.name;
        let Emulator { program, arguments } = self.board.emulator.with_context(|| format!("QEMU has no {name}"))?;
        let mut command = Command::new(program);
        command.args(arguments).arg("-serial");
        command.arg(match (self.uart_port, self.uart) {
            (Some(port), _) => format!("tcp:127.0.0.1:{port}"),
            (None, Some(file)) => format!("file:{}", file.display()),
            (None, None) => "none".into(),
        });
        command.args(ARGUMENTS).arg(std::path::absolute(elf)?);
        command.current_dir(self.folder.unwrap_or(Path::new(".")));
        Ok(command)
    }

    /// Runs an image that prints nothing, and passes on what QEMU traces: each block of instructions
    /// when it is translated, and again its address whenever it runs.
    pub fn trace(&self, elf: &Path, line: &mut dyn FnMut(&str)) -> Result<()> {
        let mut command = self.command(elf)?;
        command.args(["-d", "in_asm,exec,nochain", "-D", "/dev/stdout"]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(explain)?;
        let stdout = child.stdout.take().context("QEMU has no standard output")?;
        for text in io::BufReader::with_capacity(1 << 20, stdout).lines() {
            line(&text?);
        }
        let code = child.wait()?.code();
        ensure!(code == Some(0), "the image ended with {}", describe(code));
        Ok(())
    }

    /// Runs an image to its end. Each line goes to `line` as it comes.
    pub fn run(&self, elf: &Path, line: &mut dyn FnMut(&str)) -> Result<Run> {
        let limit = self.limit;
        let texts = Texts::of(elf)?;
        let mut decoder = texts.decoder();
        let mut child = self
            .command(elf)?
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(explain)?;

        let (sender, receiver) = mpsc::channel();
        let stdout = child.stdout.take().context("QEMU has no standard output")?;
        let stderr = child.stderr.take().context("QEMU has no standard error")?;
        let readers = [
            thread::spawn({
                let sender = sender.clone();
                move || forward(stdout, &sender, Said::Output)
            }),
            thread::spawn(move || forward(stderr, &sender, Said::Error)),
        ];

        let mut run = Run::default();
        let mut errors = Vec::new();
        let mut failure = None;
        let mut keep = |text: &str| {
            line(text);
            run.lines.push(text.into());
        };
        let end = Instant::now() + limit;
        loop {
            match receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Said::Output(bytes)) => {
                    // After a bad frame the rest is read too, so that QEMU can end by itself.
                    if failure.is_none() {
                        failure = decoder.receive(&bytes, &mut keep).err();
                    }
                }
                Ok(Said::Error(bytes)) => errors.extend(bytes),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    child.kill()?;
                    child.wait()?;
                    bail!("the image did not end within {} s, so QEMU was stopped", limit.as_secs());
                }
            }
        }
        decoder.finish(&mut keep);
        for reader in readers {
            reader.join().map_err(|_| anyhow!("a reader of QEMU's output panicked"))?;
        }
        run.code = child.wait()?.code();
        run.errors = String::from_utf8_lossy(&errors).into();
        failure.map_or(Ok(run), Err)
    }
}

enum Said {
    Output(Vec<u8>),
    Error(Vec<u8>),
}

fn forward(mut stream: impl Read, sender: &Sender<Said>, wrap: fn(Vec<u8>) -> Said) {
    let mut buffer = [0; 4096];
    // A failed stream counts as ended; without a receiver there is no use for more.
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        if sender.send(wrap(buffer[..length].to_vec())).is_err() {
            break;
        }
    }
}

fn explain(error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::NotFound => anyhow!(HOW_TO_GET),
        _ => anyhow::Error::new(error).context("cannot start QEMU"),
    }
}
