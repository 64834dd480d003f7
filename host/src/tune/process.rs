//! Runs one command, with a time limit and in bounded memory.
//!
//! **Choices**
//! - The command leads its own process group, which ends with it, so nothing left running disturbs
//!   the next measurement.
//! - To end it, the whole group gets SIGTERM, so that a program can switch off its instruments, and
//!   SIGKILL two seconds later if some of it is left: after a time-out, Ctrl-C, and for what the
//!   command leaves behind at its end.
//! - Ctrl-C in the terminal does not reach the command by itself: trimtab passes it on.
//! - Without process groups, as on Windows, `taskkill /T` ends the command and its children.
//! - The last 1 MiB of each output is kept.

use std::io::{self, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes kept from the end of each output.
const MOST_BYTES: usize = 1 << 20;
/// How often a running command is checked.
const POLL: Duration = Duration::from_millis(20);
/// Time from SIGTERM to SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
/// How long to wait for an output that a process outside the group still holds open.
const DRAIN: Duration = Duration::from_millis(500);

/// Whether the user wants to stop; a second request is urgent.
#[derive(Debug, Default)]
pub(crate) struct Stop(AtomicUsize);

impl Stop {
    pub(crate) fn ask(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    fn is_urged(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 1
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ended {
    ByItself(ExitStatus),
    /// It exceeded the time limit.
    TimedOut,
    /// The user stopped it.
    Stopped,
}

/// A command that has ended.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) ended: Ended,
    /// Wall time.
    pub(super) time: Duration,
    pub(super) stdout: Vec<u8>,
    /// Whether the beginning of standard output is missing.
    pub(super) is_cut: bool,
    pub(super) stderr: Vec<u8>,
}

/// Runs a command; fails only if it cannot be started.
pub(super) fn run(command: &mut Command, timeout: Option<Duration>, stop: &Stop) -> io::Result<Finished> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let start = Instant::now();
    let mut child = command.spawn()?;
    let group = Group(child.id());
    let outputs = [Capture::start(child.stdout.take()), Capture::start(child.stderr.take())];
    let (sender, exited) = mpsc::channel();
    // A thread that only waits notices the end within microseconds.
    thread::spawn(move || {
        let status = child.wait();
        let _ = sender.send((status, start.elapsed()));
    });
    let deadline = timeout.map(|timeout| start + timeout);
    let mut early = None;
    let (status, time) = loop {
        let left = deadline.map_or(POLL, |deadline| deadline.saturating_duration_since(Instant::now()).min(POLL));
        match exited.recv_timeout(left) {
            Ok((status, time)) => break (status?, time),
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("lost sight of the command")),
            Err(RecvTimeoutError::Timeout) => {}
        }
        match &early {
            None => {
                let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
                early = match (stop.is_asked(), is_late) {
                    (true, _) => Some((Ended::Stopped, Instant::now())),
                    (false, true) => Some((Ended::TimedOut, Instant::now())),
                    (false, false) => None,
                };
                if early.is_some() {
                    group.ask_to_end();
                }
            }
            Some((_, asked)) if asked.elapsed() >= GRACE || stop.is_urged() => group.kill(),
            // The deadline has passed; without this the loop would spin.
            Some(_) => thread::sleep(POLL),
        }
    };
    group.end(early.as_ref().map(|(_, asked)| *asked), stop);
    let [(stdout, is_cut), (stderr, _)] = outputs.map(Capture::finish);
    let ended = early.map_or(Ended::ByItself(status), |(ended, _)| ended);
    Ok(Finished { ended, time, stdout, is_cut, stderr })
}

/// The process group of a command, by its process id.
struct Group(u32);

#[cfg(unix)]
impl Group {
    /// Ends what the leader left behind, which may have been asked to end already.
    fn end(&self, asked: Option<Instant>, stop: &Stop) {
        if !self.is_there() {
            return;
        }
        if asked.is_none() {
            self.ask_to_end();
        }
        let asked = asked.unwrap_or_else(Instant::now);
        while self.is_there() && asked.elapsed() < GRACE && !stop.is_urged() {
            thread::sleep(POLL / 4);
        }
        self.kill();
    }

    /// Whether a process of the group is running.
    fn is_there(&self) -> bool {
        let Ok(id) = i32::try_from(self.0) else { return false };
        nix::sys::signal::killpg(nix::unistd::Pid::from_raw(id), None).is_ok() && !self.is_dead()
    }

    /// Whether only zombies are left, which nobody inherits in some containers.
    fn is_dead(&self) -> bool {
        let Ok(processes) = std::fs::read_dir("/proc") else { return false };
        let stats = processes.flatten().filter_map(|process| std::fs::read_to_string(process.path().join("stat")).ok());
        let mut states = stats.filter_map(|stat| {
            // pid (name) state parent group …; the name may contain anything.
            let mut words = stat.rsplit_once(')')?.1.split_whitespace();
            let (state, _, group) = (words.next()?.to_string(), words.next()?, words.next()?);
            (group.parse() == Ok(self.0)).then_some(state)
        });
        let mut members = 0;
        let is_dead = states.by_ref().inspect(|_| members += 1).all(|state| state == "Z" || state == "X");
        is_dead && members > 0
    }

    fn ask_to_end(&self) {
        self.signal(nix::sys::signal::Signal::SIGTERM);
    }

    fn kill(&self) {
        self.signal(nix::sys::signal::Signal::SIGKILL);
    }

    fn signal(&self, signal: nix::sys::signal::Signal) {
        if let Ok(id) = i32::try_from(self.0) {
            // It may have ended already, which is fine.
            let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(id), signal);
        }
    }
}

#[cfg(not(unix))]
impl Group {
    fn end(&self, _: Option<Instant>, _: &Stop) {
        self.kill();
    }

    fn ask_to_end(&self) {
        self.kill();
    }

    fn kill(&self) {
        let mut command = Command::new("taskkill");
        command.args(["/F", "/T", "/PID", &self.0.to_string()]);
        let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// The end of what comes through a pipe, read so that the writer never blocks.
struct Capture {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Closed together with the pipe.
    closed: mpsc::Receiver<()>,
}

impl Capture {
    fn start(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (sender, closed) = mpsc::channel();
        if let Some(pipe) = pipe {
            let bytes = Arc::clone(&bytes);
            thread::spawn(move || Self::read(pipe, &bytes, sender));
        }
        Self { bytes, closed }
    }

    fn read(mut pipe: impl Read, bytes: &Mutex<Vec<u8>>, _until_done: Sender<()>) {
        let mut buffer = vec![0; 1 << 16];
        loop {
            match pipe.read(&mut buffer) {
                Ok(0) => return,
                Ok(length) => {
                    let mut bytes = bytes.lock().unwrap_or_else(|lock| lock.into_inner());
                    bytes.extend_from_slice(&buffer[..length]);
                    if bytes.len() > 2 * MOST_BYTES {
                        // One more than is kept, which tells that there were more.
                        let extra = bytes.len() - MOST_BYTES - 1;
                        bytes.drain(..extra);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// The last bytes, and whether there were more.
    fn finish(self) -> (Vec<u8>, bool) {
        // A process that left the group may hold the pipe open; its output is not the command's.
        let _ = self.closed.recv_timeout(DRAIN);
        let mut bytes = self.bytes.lock().unwrap_or_else(|lock| lock.into_inner());
        let extra = bytes.len().saturating_sub(MOST_BYTES);
        (bytes.split_off(extra), extra > 0)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, timeout: Option<u64>) -> Finished {
        let mut command = Command::new("sh");
        run(command.args(["-c", script]), timeout.map(Duration::from_millis), &Stop::default()).unwrap()
    }

    fn code(finished: &Finished) -> Option<i32> {
        match finished.ended {
            Ended::ByItself(status) => status.code(),
            _ => None,
        }
    }

    #[test]
    fn both_outputs_and_the_code_are_kept() {
        let finished = shell("echo out; echo err >&2; exit 3", None);
        assert_eq!(
            (code(&finished), &finished.stdout[..], &finished.stderr[..]),
            (Some(3), &b"out\n"[..], &b"err\n"[..])
        );
        assert!(run(&mut Command::new("/no/such/program"), None, &Stop::default()).is_err());
    }

    #[test]
    fn of_a_flood_the_end_is_kept() {
        let finished = shell("head -c 5000000 /dev/zero | tr '\\0' x; echo end; head -c 3000000 /dev/zero >&2", None);
        assert_eq!(code(&finished), Some(0));
        assert_eq!((finished.stdout.len(), finished.stderr.len()), (MOST_BYTES, MOST_BYTES));
        assert!(finished.stdout.ends_with(b"xend\n"));
    }

    #[test]
    fn time_out_ends_grandchildren_too() {
        // The grandchild would hold the pipe for a minute.
        let finished = shell("sleep 60 & echo $!; wait", Some(100));
        assert_eq!(finished.ended, Ended::TimedOut);
        let child: i32 = String::from_utf8(finished.stdout).unwrap().trim().parse().unwrap();
        let is_there = || nix::sys::signal::kill(nix::unistd::Pid::from_raw(child), None).is_ok();
        // Whoever inherits it has to notice that it is dead.
        let is_dead =
            || !is_there() || std::fs::read_to_string(format!("/proc/{child}/stat")).is_ok_and(|s| s.contains(") Z "));
        assert!(
            (0..100).any(|_| is_dead() || {
                thread::sleep(POLL);
                false
            }),
            "still there"
        );
    }

    /// A program in the background that takes a while to switch its relay off when it is asked to
    /// end.
    const RELAY: &str = "(trap 'sleep 0.3; echo off; exit' TERM; echo on; while :; do sleep 0.02; done) & ";

    #[test]
    fn a_time_out_leaves_the_whole_group_its_two_seconds() {
        // The shell itself ends at once.
        let finished = shell(&format!("{RELAY} wait"), Some(200));
        assert_eq!((finished.ended, &finished.stdout[..]), (Ended::TimedOut, &b"on\noff\n"[..]));
    }

    #[test]
    fn a_stop_leaves_the_whole_group_its_two_seconds() {
        let stop = std::sync::Arc::new(Stop::default());
        let asker = std::sync::Arc::clone(&stop);
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(200));
            asker.ask();
        });
        let mut command = Command::new("sh");
        let finished = run(command.args(["-c", &format!("{RELAY} wait")]), None, &stop).unwrap();
        assert_eq!((finished.ended, &finished.stdout[..]), (Ended::Stopped, &b"on\noff\n"[..]));
    }

    #[test]
    fn what_a_command_leaves_behind_is_asked_to_end_first() {
        let finished = shell(&format!("{RELAY} sleep 0.2; echo done"), None);
        assert_eq!((code(&finished), &finished.stdout[..]), (Some(0), &b"on\ndone\noff\n"[..]));
    }

    #[test]
    fn a_normal_end_is_not_delayed() {
        let start = Instant::now();
        assert_eq!(code(&shell("echo 1", None)), Some(0));
        // A child that ends by itself when asked to.
        assert_eq!(code(&shell("sleep 60 & echo 1", None)), Some(0));
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    }

    #[test]
    fn what_ignores_the_request_is_killed() {
        let stop = Stop::default();
        stop.ask();
        stop.ask();
        let mut command = Command::new("sh");
        let finished = run(command.args(["-c", "trap '' TERM; while :; do sleep 1; done"]), None, &stop).unwrap();
        assert_eq!(finished.ended, Ended::Stopped);
    }
}
