//! `trimtab watch` and `trimtab replay` end to end, with a chip's stream.

use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

use crate::common::{Folder, text};
use serde_json::Value;
use trimtab::{Combination, Config, Event, Goal, Knob, Record, Scale, Space, WhenFull};
use trimtab_embedded::flash::RamFlash;
use trimtab_embedded::journal::Layout;
use trimtab_embedded::persistent::Persistent;
use trimtab_embedded::telemetry::{About, Cause, Frame, Proposed, Reporter, wire};
use trimtab_embedded::watchdog::Watchdog;
use trimtab_firmware::{antenna, relays};

const BUDGET: usize = 30;

/// The stream of the antenna's chip, made by its own code: a default, failures, a reset in the
/// middle, the end.
pub(crate) fn antenna() -> Vec<u8> {
    let network = antenna::Network::default();
    let mut bytes = Vec::new();
    let mut tuner = Box::new(antenna::AntennaTuner::new());
    let mut reporter = Reporter::new(&mut bytes);
    let mut kept: Vec<Record<3>> = Vec::new();
    for (cause, until) in [(Cause::New, 12), (Cause::Resumed, BUDGET)] {
        tuner.init(antenna::space(), Config::default(), 7).unwrap();
        reporter.hello(&tuner, &About { name: "antenna", cause, budget: BUDGET as u16 }).unwrap();
        for record in &kept {
            tuner.replay(record).unwrap();
            reporter.resumed(record).unwrap();
        }
        while tuner.len() < until {
            let proposal = tuner.ask().unwrap();
            let c = proposal.combination;
            let event = if kept.len() % 10 == 5 { Event::Failed } else { Event::Told(network.cost(&c)) };
            let record = Record::new(&c, event);
            tuner.replay(&record).unwrap();
            kept.push(record);
            reporter.measured(&proposal, event).unwrap();
        }
    }
    reporter.end().unwrap();
    bytes
}

/// The stream of the image `antenna`: the same station, with memory for a serial port.
fn demo() -> Vec<u8> {
    struct NoDog;
    impl Watchdog for NoDog {
        fn bitten(&mut self) -> Option<u32> {
            None
        }
        fn arm(&mut self, _: u32) {}
        fn disarm(&mut self) {}
    }
    let (mut tuner, mut flash) = (Box::new(antenna::AntennaTuner::new()), RamFlash::<5, 1024, 4>::new());
    let layout = Layout { range: 0..5 * 1024, records: 40 };
    let (kept, _) = Persistent::open(&mut tuner, &antenna::task(), &mut flash, layout).unwrap();
    let mut bytes = Vec::new();
    let bench = antenna::Bench::new(antenna::Network::SHORT_WIRE);
    let mut station = antenna::Station::new(kept, bench, NoDog, &mut bytes, 120);
    station.introduce(Cause::New);
    (0..120).for_each(|_| assert_ne!(station.step().unwrap().event, Event::Failed));
    station.bench.network = antenna::Network::MOVED_WIRE;
    station.check().unwrap();
    station.restart(40);
    (0..40).for_each(|_| assert_ne!(station.step().unwrap().event, Event::Failed));
    let Ok(()) = station.reporter.end();
    drop(station);
    bytes
}

/// The commands of watch.md on the stream of the image, and what they print there.
#[test]
fn watch_shows_the_demo_and_replay_repeats_it() {
    let (folder, docs) = (Folder::new("watch-docs"), include_str!("../../docs/watch.md"));
    assert!(docs.contains("| trimtab watch - --log antenna.log\ntrimtab replay antenna.log\n"));
    assert!(fed(&folder, &["watch", "-", "--log", "antenna.log"], &demo()).status.success());
    let shown: String = folder.stdout(&["replay", "antenna.log"]).lines().map(|line| format!("    {line}\n")).collect();
    assert!(docs.contains(&format!("The second prints\n\n{shown}\n")), "{shown}");
}

/// Number of proposals in [`antenna`].
const PROPOSALS: usize = BUDGET;

/// Runs a command with these bytes on standard input.
fn fed(folder: &Folder, words: &[&str], bytes: &[u8]) -> Output {
    let mut command = folder.command(words);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let bytes = bytes.to_vec();
    // It may end before it has read everything.
    let feeder = std::thread::spawn(move || drop(input.write_all(&bytes)));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    output
}

/// Frames, each with its zero.
fn frames(stream: &[u8]) -> Vec<Vec<u8>> {
    let all = stream.split_inclusive(|byte| *byte == 0).filter(|frame| frame.len() > 1);
    all.map(<[u8]>::to_vec).collect()
}

fn replay(folder: &Folder, log: &[u8], words: &[&str]) -> (Option<i32>, String, String) {
    fs::write(folder.0.join("r.log"), log).unwrap();
    let output = folder.run(&[&["replay", "r.log"], words].concat());
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn watched_kept_repeated_and_drawn() {
    let folder = Folder::new("watch");
    let stream = antenna();
    let output = fed(&folder, &["watch", "-", "--log", "run.log"], &stream);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(!err.contains('\u{1b}') && !err.contains('\r'), "escape codes in a pipe");
    for words in
        ["antenna starts: seed 7, 30 measurements planned", "goes on from its log", "the chip is done", "failed"]
    {
        assert!(err.contains(words), "no {words:?} in:\n{err}");
    }
    // One line per measurement, none for replayed records.
    assert_eq!(err.lines().filter(|line| line.contains(" of 30: ")).count(), PROPOSALS, "{err}");
    for words in ["antenna: 30 measured, 3 failed", "2 runs", "0 lost, 0 garbled", "trimtab replay run.log"] {
        assert!(out.contains(words), "no {words:?} in:\n{out}");
    }
    // All frames are there, as they came.
    assert_eq!(frames(&fs::read(folder.0.join("run.log")).unwrap()), frames(&stream));

    let out = folder.stdout(&["replay", "run.log"]);
    assert!(out.contains("all 12 proposals match to the bit") && out.contains("all 18 proposals match"), "{out}");
    assert!(out.contains("picture   run.svg"), "{out}");
    let svg = fs::read_to_string(folder.0.join("run.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let titled = document
        .descendants()
        .filter(|node| node.has_tag_name("title") && node.text().is_some_and(|text| text.starts_with("measurement ")));
    // One dot per measurement and knob, except failures.
    assert_eq!(titled.count(), 3 * 27);
    assert!(svg.contains("all 18 proposals match to the bit") && !svg.contains("NaN"));
    let height: f64 = document.root_element().attribute("height").unwrap().parse().unwrap();
    for node in document.descendants().filter(|node| node.has_tag_name("circle")) {
        let number = |name| node.attribute(name).unwrap().parse::<f64>().unwrap();
        assert!((0.0..=960.0).contains(&number("cx")) && (0.0..=height).contains(&number("cy")));
    }

    let report: Value = folder.json(&["replay", "run.log", "--json", "--no-svg"]);
    assert_eq!((&report["runs"][1]["same"], &report["runs"][1]["lost"]), (&18.into(), &0.into()));
    let steps = report["runs"][1]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), BUDGET);
    assert!(steps[..12].iter().all(|step| step["kind"] == "resumed") && steps[12]["kind"] == "measured");
    assert!(report["picture"].is_null());
}

/// promise: trimtab watch | a log with a torn end | goes on; nothing that follows is lost
#[test]
fn a_log_goes_on_and_a_torn_end_costs_nothing_that_follows() {
    let folder = Folder::new("torn");
    let stream = antenna();
    let path = folder.0.join("run.log");
    // The writer was killed in the middle of the 20th frame.
    let whole: Vec<u8> = frames(&stream)[..19].concat();
    fs::write(&path, [&whole[..], &frames(&stream)[19][..9]].concat()).unwrap();
    let output = fed(&folder, &["watch", "-", "--log", "run.log", "--quiet"], &stream);
    assert!(output.status.success() && output.stderr.is_empty());
    assert_eq!(text(&output.stdout).lines().count(), 1);
    let report = folder.json(&["replay", "run.log", "--json", "--no-svg"]);
    let same: Vec<_> = report["runs"].as_array().unwrap().iter().map(|run| run["same"].as_u64().unwrap()).collect();
    // A hello, then 8 + 8 values for each bank, and the relay: 19 frames leave one measurement.
    assert_eq!((same, &report["garbled"]), (vec![1, 12, 18], &1.into()));
}

/// promise: trimtab watch | garbage and cuts in the stream | counted, never a panic
#[test]
fn garbage_and_cuts_never_panic_and_are_counted() {
    let folder = Folder::new("garbage");
    let stream = antenna();
    let all = frames(&stream);
    // A boot loader's greeting, a flipped bit, a cut: each costs at most one frame.
    let mut dirty = b"boot 1.2\r\n\0".to_vec();
    for (i, frame) in all.iter().enumerate() {
        match i {
            64 => dirty.extend(&frame[..frame.len() / 2]),
            70 => dirty.extend(frame.iter().enumerate().map(|(j, byte)| if j == 7 { byte ^ 0x10 } else { *byte })),
            _ => dirty.extend(frame),
        }
    }
    let output = fed(&folder, &["watch", "-", "--log", "dirty.log"], &dirty);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && !err.contains("panicked"), "{err}");
    assert!(err.contains("missing here") && out.contains(" garbled"), "{out}{err}");
    // The log has only the intact frames.
    let kept = frames(&fs::read(folder.0.join("dirty.log")).unwrap());
    assert!(kept.iter().all(|frame| all.contains(frame)) && kept.len() >= all.len() - 5);
    let (code, out, _) = replay(&folder, &fs::read(folder.0.join("dirty.log")).unwrap(), &[]);
    assert!(out.contains("missing") && out.contains("nothing after that can be compared"), "{out}");
    assert_eq!(code, Some(0), "what was compared is the same: {out}");

    // A stream cut anywhere shows what came before.
    for end in (0..stream.len()).step_by(97) {
        let (code, out, err) = replay(&folder, &stream[..end], &["--no-svg"]);
        assert!(!err.contains("panicked") && !out.contains("then frame"), "{end}: {out}{err}");
        assert!(code == Some(0) || err.contains("no frame") || err.contains("no proposal could be compared"), "{err}");
    }
    // Nothing but garbage is an error that says what to do.
    let output = fed(&folder, &["watch", "-"], &[0x55; 5000]);
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("no frame arrived, but other bytes"));
    let output = fed(&folder, &["watch", "-"], &[]);
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("standard input was empty"));
}

/// A frame with changed contents and a correct checksum.
fn changed(frame: &[u8], change: impl FnOnce(&mut Frame<'_>)) -> Vec<u8> {
    let mut bytes = frame[..frame.len() - 1].to_vec();
    let (number, mut frame) = wire::decode(&mut bytes).unwrap();
    change(&mut frame);
    let (mut plain, mut stuffed) = ([0; 256], [0; 256]);
    wire::encode(number, &frame, &mut plain, &mut stuffed).unwrap().to_vec()
}

/// promise: trimtab replay | one flipped bit in a proposal | found, with both values
#[test]
fn a_flipped_bit_of_a_proposal_is_found() {
    let folder = Folder::new("flipped");
    let all = frames(&antenna());
    let place = all.len() - 4;
    let bit = |x: &mut f32| *x = f32::from_bits(x.to_bits() ^ 1);
    type Change<'a> = (&'a str, &'a dyn Fn(&mut Proposed<'_>));
    let changes: [Change<'_>; 3] = [
        ("expected", &|proposed| bit(&mut proposed.mean)),
        ("standard deviation", &|proposed| bit(&mut proposed.std_dev)),
        ("score", &|proposed| bit(&mut proposed.score)),
    ];
    for (says, change) in changes {
        let mut all = all.clone();
        all[place] = changed(&all[place], |frame| match frame {
            Frame::Measured { proposed, .. } => change(proposed),
            other => panic!("{other:?}"),
        });
        let (code, out, err) = replay(&folder, &all.concat(), &["--no-svg"]);
        assert_eq!(code, Some(1));
        assert!(out.contains("15 of 18 proposals match to the bit, then frame") && out.contains(says), "{out}");
        assert!(err.contains("the chip and this machine differ"), "{err}");
    }
}

/// promise: trimtab watch | terminal escapes in a chip's name | do not reach the terminal
/// promise: trimtab replay | terminal escapes in a chip's name | do not reach the terminal
#[test]
fn a_chips_name_does_not_reach_the_terminal_raw() {
    let folder = Folder::new("chip-name");
    let mut all = frames(&antenna());
    for frame in &mut all {
        *frame = changed(frame, |frame| {
            if let Frame::Hello(hello) = frame {
                hello.name = "\u{1b}[2J\u{9b}31mred\u{7}";
            }
        });
    }
    let output = fed(&folder, &["watch", "-"], &all.concat());
    let (_, out, err) = replay(&folder, &all.concat(), &[]);
    let shown = [text(&output.stdout), text(&output.stderr), out, err].concat();
    assert!(shown.contains("red") && !shown.contains(['\u{1b}', '\u{9b}', '\u{7}']), "{shown:?}");
}

/// The stream of a chip that tunes something else.
fn other<const K: usize, const M: usize, const D: usize, const T: usize, const L: usize, const P: usize>(
    tuner: &mut trimtab::Tuner<K, M, D, T, L, P>,
    name: &str,
    cost: impl Fn(&Combination<K>) -> f32,
    measurements: usize,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut reporter = Reporter::new(&mut bytes);
    reporter.hello(tuner, &About { name, cause: Cause::New, budget: 0 }).unwrap();
    for _ in 0..measurements {
        let proposal = tuner.ask().unwrap();
        let value = cost(&proposal.combination);
        tuner.tell(&proposal.combination, value).unwrap();
        reporter.measured(&proposal, Event::Told(value)).unwrap();
    }
    bytes
}

const MIXED: [Knob; 4] =
    [Knob::nominal(5), Knob::ranked(20), Knob::graded(&[0.5, 1.0, 3.0, 10.0, 40.0], Scale::Log), Knob::nominal(2)];

fn mixed_cost(c: &Combination<4>) -> f32 {
    f32::from(c.level(0) ^ 2) + (f32::from(c.level(1)) - 11.0).abs() + f32::from(c.level(2)) - f32::from(c.level(3))
}

#[test]
fn chips_of_other_sizes_and_configurations_are_repeated() {
    let folder = Folder::new("sizes");
    let config = Config { goal: Goal::Maximise, when_full: WhenFull::ForgetOldest, remeasure: 3, ..Config::default() };
    // Small: 10 observations are kept, the oldest go. Large: a table with more rows than the
    // default here.
    type Small = trimtab::tuner!(MIXED, observations: 10, rows: 24);
    type Large = trimtab::tuner!(MIXED, observations: 40, rows: 700);
    let mut small = Box::new(Small::new());
    small.init(Space::new(&MIXED).unwrap(), config, 3).unwrap();
    let mut large = Box::new(Large::new());
    large.init(Space::new(&MIXED).unwrap(), Config::default(), 3).unwrap();
    for stream in [other(&mut small, "small", |c| -mixed_cost(c), 25), other(&mut large, "large", mixed_cost, 25)] {
        let (code, out, err) = replay(&folder, &stream, &[]);
        assert!(code == Some(0) && out.contains("all 25 proposals match to the bit"), "{out}{err}");
    }
}

#[test]
fn what_cannot_be_compared_says_how_it_can() {
    let folder = Folder::new("cannot");
    type Mixed = trimtab::tuner!(MIXED, observations: 10, rows: 24);
    let mut tuner = Box::new(Mixed::new());
    tuner.init(Space::new(&MIXED).unwrap().with_feasible(&|c| c.level(0) != 4), Config::default(), 3).unwrap();
    let restricted = other(&mut tuner, "mixed", mixed_cost, 5);
    type Mapped = trimtab::tuner!(relays::KNOBS, observations: 64, rows: 256, dimensions: 8);
    let mut mapped = Box::new(Mapped::new());
    mapped.init(relays::space().unwrap(), Config::default(), 3).unwrap();
    let mapped = other(&mut mapped, "other relays", relays::cost, 5);
    let headless = frames(&antenna())[1..].concat();
    for (stream, says) in [(restricted, "predicate that is not in the log"), (mapped, "random map of 8 × 24")] {
        let (code, out, err) = replay(&folder, &stream, &["--svg", "new/run.svg"]);
        assert_eq!(code, Some(1), "{out}");
        assert!(out.contains(says) && out.contains("telemetry::check"), "{out}");
        // It is drawn anyway.
        assert!(err.contains("no proposal could be compared") && out.contains("new/run.svg"), "{out}{err}");
    }
    let (code, out, _) = replay(&folder, &headless, &["--no-svg"]);
    // The first run has lost its hello, the second has one.
    assert!(code == Some(0) && out.contains("the hello is missing") && out.contains("all 18 proposals"), "{out}");
}

#[test]
fn bad_arguments_say_what_to_write() {
    let folder = Folder::new("arguments");
    fs::write(folder.0.join("empty"), "").unwrap();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["watch"], 2, "PORT"),
        (&["watch", "-", "--baud", "1"], 2, "50"),
        (&["watch", "/dev/no-such-port"], 1, "- is standard input"),
        (&["watch", "-", "--log", "no/such/folder"], 1, "choose another --log"),
        (&["replay", "none.log"], 1, "name a log of trimtab watch --log"),
        (&["replay", "empty"], 1, "contains no frame"),
        (&["replay"], 2, "LOG"),
    ];
    for (words, code, says) in cases {
        let output = folder.run(words);
        let err = text(&output.stderr);
        assert!(output.status.code() == Some(*code) && err.contains(says), "{words:?}: {err}");
    }
    fs::write(folder.0.join("run.log"), antenna()).unwrap();
    let output = folder.run(&["replay", "run.log", "--run", "3"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("the log has 2"));
    let output = folder.run(&["replay", "run.log", "--svg", "run.log"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("would be overwritten"));
    let help = folder.stdout(&["watch", "--help"]);
    assert!(help.contains("cargo qemu antenna --uart | trimtab watch -"), "{help}");
}

/// A serial port made of a pseudo-terminal: one end for the chip, the other for `trimtab watch`.
#[cfg(target_os = "linux")]
mod port {
    use super::*;
    use nix::fcntl::{FcntlArg, FdFlag, fcntl};
    use nix::pty::openpty;
    use std::fs::File;
    use std::io::{BufRead, BufReader};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;

    /// The chip's end of a port whose other end is called `port` in the folder, whichever
    /// pseudo-terminal it is, and is free to be opened.
    fn plug(folder: &Folder) -> File {
        let pair = openpty(None, None).unwrap();
        // A program that is started must not hold the chip's end, too: then it would never be
        // unplugged.
        fcntl(&pair.master, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).unwrap();
        let name = fs::read_link(format!("/proc/self/fd/{}", pair.slave.as_raw_fd())).unwrap();
        symlink(name, folder.0.join("port")).unwrap();
        pair.master.into()
    }

    /// promise: trimtab watch | the port goes away | waited for
    #[test]
    fn a_port_that_goes_away_is_waited_for() {
        let folder = Folder::new("port");
        let all = frames(&antenna());
        // The reset is between the runs: the second hello.
        let second =
            (1..all.len()).find(|i| matches!(wire::decode(&mut all[*i][..all[*i].len() - 1].to_vec()), Ok((0, _))));
        let (before, after) = all.split_at(second.unwrap());

        let mut chip = plug(&folder);
        let mut command = folder.command(&["watch", "port", "--log", "run.log"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let mut until = |words: &str| {
            let mut said = Vec::new();
            while said.last().is_none_or(|line: &String| !line.contains(words)) {
                said.push(lines.next().unwrap_or_else(|| panic!("it ended without {words:?}: {said:#?}")));
            }
        };
        until("listening to port");
        for frame in before {
            chip.write_all(frame).unwrap();
        }
        until("12 of 30: ");
        // Unplugged, and plugged in again.
        fs::remove_file(folder.0.join("port")).unwrap();
        drop(chip);
        until("port is gone");
        let mut chip = plug(&folder);
        until("port is back");
        for frame in after {
            chip.write_all(frame).unwrap();
        }
        until("30 of 30: ");
        until("the chip is done");
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        assert!(text(&output.stdout).contains("2 runs"), "{}", text(&output.stdout));
        assert_eq!(frames(&fs::read(folder.0.join("run.log")).unwrap()), all);
    }

    /// promise: trimtab watch | Ctrl-C | the log ends with a whole frame
    #[test]
    fn ctrl_c_leaves_a_whole_log() {
        let folder = Folder::new("stopped");
        let all = frames(&antenna());
        let mut child = folder
            .command(&["watch", "-", "--log", "run.log"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        // In the middle of a frame, and nothing more comes.
        input.write_all(&all[..25].concat()).unwrap();
        input.write_all(&all[25][..5]).unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.by_ref().any(|line| line.contains("   6 of 30: ")));
        let pid = nix::unistd::Pid::from_raw(child.id() as i32);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && text(&output.stdout).contains("not at its end"));
        assert_eq!(frames(&fs::read(folder.0.join("run.log")).unwrap()), all[..25]);
    }
}
