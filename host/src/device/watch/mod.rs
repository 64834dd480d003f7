//! `trimtab watch`: shows a chip's run live and keeps it in a file.
//!
//! ```text
//! serial port or standard input → bytes → frames ─→ log
//!                                            └────→ runs → view, summary
//! ```
//!
//! | file | contents |
//! |---|---|
//! | [`source`] | bytes from a port or standard input, and what happens when they stop |
//! | [`log`] | the frames on disk |
//! | [`view`] | progress, and the result |
//!
//! **Choices**
//! - Nothing is ever sent to the chip.
//! - Garbage between frames is counted.
//! - A frame is in the log before it is shown.

mod log;
mod source;
mod view;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use clap::Args;
use trimtab_embedded::telemetry::{Fault, Frame, VERSION};

use crate::device::stream::{Decoder, MOST_BYTES, Runs};
use crate::error::Error;
use crate::terminal;
use log::Log;
use source::{Said, Source};
use view::View;

const HELP: &str = "\
Examples:
  trimtab watch /dev/ttyACM0 --log run.log        a board; Ctrl-C when you have seen enough
  trimtab watch COM5 --baud 921600                another system, another rate
  cargo qemu antenna --uart | trimtab watch -     the emulated chip
  trimtab watch - --log run.log < captured.bin    bytes captured before
  trimtab replay run.log                          check the run and draw it

The log holds the frames as they came; an existing log is continued. If the port goes away (a board is unplugged or
reset), watch waits and opens it again; a board that restarts sends a new hello, which begins a new run in the log.";

/// How long to wait before saying that nothing arrives.
const SILENCE: Duration = Duration::from_secs(5);
/// How often to check for Ctrl-C.
const PULSE: Duration = Duration::from_millis(50);

/// Watch a chip tune itself: its stream from a serial port or standard input, live
///
/// Shows every measurement as it comes and keeps the frames in a log. Survives garbage on the line
/// and a port that goes away.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct WatchArgs {
    /// A serial port, or - for standard input
    #[arg(value_name = "PORT|-")]
    pub(crate) port: String,
    /// Baud rate of the serial port
    #[arg(short, long, value_name = "BAUD", default_value_t = 115_200)]
    #[arg(value_parser = clap::value_parser!(u32).range(50..=12_000_000))]
    pub(crate) baud: u32,
    /// Keep the frames in this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Go on after the chip reports the end
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Show no progress and only the essential result
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Watches until the bytes end, the chip is done, or Ctrl-C.
pub(crate) fn run(args: &WatchArgs) -> Result<(), Error> {
    // Open the log before anything is read.
    let mut log = args.log.as_deref().map(Log::open).transpose()?;
    let source = Source::open(&args.port, args.baud)?;
    let stop = Arc::new(AtomicBool::new(false));
    let listener = Arc::clone(&stop);
    ctrlc::set_handler(move || listener.store(true, Ordering::Relaxed))
        .map_err(|error| Error::Failed(format!("cannot listen for Ctrl-C: {error}")))?;

    let view = View::new(args.quiet);
    if args.port != "-" {
        view.note(&format!("listening to {} at {} baud; Ctrl-C ends it", args.port, args.baud));
    }
    let mut listening = Listening { runs: Runs::default(), decoder: Decoder::new(), raw: Vec::new(), view };
    let begun = Instant::now();
    let mut is_silence_told = false;
    let ended = loop {
        if stop.load(Ordering::Relaxed) {
            break Ok(());
        }
        if listening.runs.frames == 0 && !is_silence_told && begun.elapsed() > SILENCE {
            listening.view.note(&listening.silence(args));
            is_silence_told = true;
        }
        match source.said.recv_timeout(PULSE) {
            Ok(Said::Bytes(bytes)) => match listening.take(&bytes, log.as_mut()) {
                Ok(is_over) if is_over && !args.follow => break Ok(()),
                Ok(_) => {}
                Err(error) => break Err(error),
            },
            Ok(Said::Note(line)) => {
                // A frame that was cut off cannot continue.
                if let Err(error) = listening.take(&[0], log.as_mut()) {
                    break Err(error);
                }
                listening.view.note(&line);
            }
            Ok(Said::Fault(what)) => break Err(Error::Failed(what)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break Ok(()),
        }
    };
    let Listening { runs, decoder, view, .. } = listening;
    view.finish();
    if runs.frames > 0 {
        let path = args.log.as_deref();
        let summary = view::summary(&runs, &decoder, path, args.quiet);
        terminal::print(&summary)?;
    }
    ended?;
    match runs.frames {
        0 => Err(Error::Failed(format!("no frame arrived{}", hint(&decoder, args)))),
        _ => Ok(()),
    }
}

/// What may be wrong if no frame arrived.
fn hint(decoder: &Decoder, args: &WatchArgs) -> String {
    let came = decoder.garbled() > 0 || !decoder.is_between();
    match (came, args.port.as_str()) {
        (true, "-") => ", but other bytes; is it a stream of a Reporter? `cargo qemu antenna --uart` gives one".into(),
        (true, _) => format!(", but other bytes; is {} baud what the chip sends at?", args.baud),
        (false, "-") => "; standard input was empty".into(),
        (false, port) => format!("; is the chip running, and connected to {port}? Its hello comes after a reset"),
    }
}

/// Decodes, logs and shows bytes.
struct Listening {
    runs: Runs,
    decoder: Decoder,
    /// The bytes of the current frame, as they came.
    raw: Vec<u8>,
    view: View,
}

impl Listening {
    /// Adds bytes; returns whether the chip reported the end.
    fn take(&mut self, bytes: &[u8], log: Option<&mut Log>) -> Result<bool, Error> {
        let mut whole = Vec::new();
        let mut is_over = false;
        for byte in bytes {
            if self.raw.len() <= MOST_BYTES {
                self.raw.push(*byte);
            }
            match self.decoder.push(*byte) {
                Some(Ok(received)) => {
                    whole.append(&mut self.raw);
                    is_over = received.frame == Frame::End;
                    self.runs.take(&received);
                    self.view.heard(&self.runs, &received.frame);
                }
                Some(Err(Fault::Version { found })) => self.view.foreign(found),
                Some(Err(_)) | None => {}
            }
            if *byte == 0 {
                self.raw.clear();
            }
        }
        if let Some(log) = log.filter(|_| !whole.is_empty()) {
            log.write(&whole)?;
        }
        self.view.redraw(&self.runs, &self.decoder);
        Ok(is_over)
    }

    /// The note after a while without a frame.
    fn silence(&self, args: &WatchArgs) -> String {
        format!("no frame arrived in {} s{}", SILENCE.as_secs(), hint(&self.decoder, args))
    }
}

/// The note about another version.
fn foreign(found: u8) -> String {
    let older = if found > VERSION { "trimtab here" } else { "the firmware" };
    format!("the chip sends version {found} of the stream, this is version {VERSION}: update {older}")
}
