//! Bytes from a port or standard input, and what happens when they stop.
//!
//! | source | when it stops |
//! |---|---|
//! | standard input | the watch ends |
//! | a serial port | the watch says so and waits until the port is back |
//!
//! **Choices**
//! - A thread reads, so that Ctrl-C works while nothing arrives.
//! - A port that cannot be opened at first is an error that lists the ports; one that goes away
//!   later is waited for.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::Duration;

use serialport::SerialPort;

use crate::error::Error;

/// How long a read waits for a byte, and how long to wait before a port is tried again.
const WAIT: Duration = Duration::from_millis(100);
const AGAIN: Duration = Duration::from_millis(300);
/// Most chunks in the queue; a faster source blocks.
const MOST_CHUNKS: usize = 64;

/// A message of a source.
pub(super) enum Said {
    Bytes(Vec<u8>),
    /// A note for people; the frame before it does not continue.
    Note(String),
    /// The source failed.
    Fault(String),
}

/// Where bytes come from.
pub(super) struct Source {
    pub(super) said: Receiver<Said>,
}

impl Source {
    /// Standard input for `-`, else a serial port.
    pub(super) fn open(port: &str, baud: u32) -> Result<Self, Error> {
        let (sender, said) = mpsc::sync_channel(MOST_CHUNKS);
        if port == "-" {
            thread::spawn(move || read_input(&sender));
        } else {
            let open = connect(port, baud).map_err(|error| unopened(port, &error))?;
            let port = port.to_string();
            thread::spawn(move || read_port(&port, baud, open, &sender));
        }
        Ok(Self { said })
    }
}

/// Reads standard input to its end. The thread ends with the program.
fn read_input(sender: &SyncSender<Said>) {
    let mut buffer = [0; 4096];
    loop {
        let said = match io::stdin().read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => Said::Bytes(buffer[..length].to_vec()),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Said::Fault(format!("cannot read standard input: {error}")),
        };
        let is_fault = matches!(said, Said::Fault(_));
        if sender.send(said).is_err() || is_fault {
            return;
        }
    }
}

/// Reads a serial port, whenever it is there, as long as somebody listens.
fn read_port(name: &str, baud: u32, mut port: Box<dyn SerialPort>, sender: &SyncSender<Said>) {
    loop {
        let why = read_while_there(&mut *port, sender);
        drop(port);
        if sender.send(Said::Note(format!("{name} is gone ({why}); waiting for it"))).is_err() {
            return;
        }
        port = loop {
            thread::sleep(AGAIN);
            if let Ok(port) = connect(name, baud) {
                break port;
            }
        };
        if sender.send(Said::Note(format!("{name} is back"))).is_err() {
            return;
        }
    }
}

/// Passes bytes on until the port is gone; returns why.
fn read_while_there(port: &mut dyn SerialPort, sender: &SyncSender<Said>) -> String {
    let mut buffer = [0; 4096];
    loop {
        match port.read(&mut buffer) {
            Ok(0) => return "it was closed".into(),
            Ok(length) => {
                if sender.send(Said::Bytes(buffer[..length].to_vec())).is_err() {
                    return "nobody listens".into();
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
            Err(error) => return error.to_string(),
        }
    }
}

fn connect(name: &str, baud: u32) -> serialport::Result<Box<dyn SerialPort>> {
    serialport::new(name, baud).timeout(WAIT).open()
}

/// The error for a port that cannot be opened, with the ports that exist.
fn unopened(name: &str, error: &serialport::Error) -> Error {
    let ports = serialport::available_ports().unwrap_or_default();
    let names: Vec<_> = ports.iter().map(|port| port.port_name.as_str()).collect();
    let there = match names.is_empty() {
        true => "no serial port was found here".into(),
        false => format!("there are: {}", names.join(", ")),
    };
    Error::Failed(format!("cannot open {name}: {error}; {there}; - is standard input"))
}
