//! Nothing measured is lost, and nothing is taken for what it is not: hostile files, levels and output.

#![cfg(unix)]

use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, text};

/// Runs a command that must end within ten seconds.
fn soon(mut command: Command) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(10) {
            child.kill().unwrap();
            panic!("it hangs: {command:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

fn tune<'a>(options: &[&'a str], command: &[&'a str]) -> Vec<&'a str> {
    [&["tune", "--knob", "x=1,2,3,4", "--budget", "4"], options, &["--"], command].concat()
}

fn fails(output: &Output, words: &str) {
    let err = text(&output.stderr);
    assert!(!output.status.success() && err.contains(words), "{:?}: {err}", output.status);
}

/// promise: trimtab tune | a number cut by the 1 MiB window of output | a failed measurement, never its tail
#[test]
fn a_number_cut_by_the_window_is_not_a_cost() {
    let folder = Folder::new("trust-window");
    // The last MiB begins in the middle of the number.
    let script = "printf 123456; head -c 1048573 /dev/zero | tr '\\0' ' '";
    let output = folder.run(&tune(&["--json"], &["sh", "-c", script]));
    fails(&output, "every measurement failed, 4 of 4: ");
    let output = folder.run(&tune(&["--json", "--extract", "[0-9]+"], &["sh", "-c", script]));
    fails(&output, "every measurement failed, 4 of 4: ");
}

#[test]
fn the_first_progress_says_what_was_read() {
    let folder = Folder::new("trust-read");
    let output = folder.run(&tune(&[], &["sh", "-c", "echo warm up 9; echo \"latency: {x} ms\"; echo"]));
    let err = text(&output.stderr);
    assert_eq!(err.matches("read from").count(), 1, "{err}");
    assert!(
        (1..=4).any(|x| err.contains(&format!("1 of 4: {x}  best  x={x}  (read from `latency: {x} ms`)"))),
        "{err}"
    );
}

/// promise: trimtab watch | `--log` is a text file, or another watcher writes to it | refused, the file stays
#[test]
fn watch_refuses_a_text_file_and_a_second_watcher() {
    let folder = Folder::new("trust-watch");
    fs::write(folder.0.join("notes.txt"), "shopping list\n").unwrap();
    fails(&folder.run(&["watch", "-", "--log", "notes.txt"]), "is not a log of trimtab watch");
    assert_eq!(fs::read_to_string(folder.0.join("notes.txt")).unwrap(), "shopping list\n");
    let mut first = folder.command(&["watch", "-", "--log", "run.log"]);
    let mut first = first.stdin(Stdio::piped()).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while !folder.0.join("run.log").exists() && start.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(100));
    fails(&soon(folder.command(&["watch", "-", "--log", "run.log"])), "another trimtab is writing to it");
    drop(first.stdin.take());
    first.wait().unwrap();
    // A log without a frame yet is a log.
    fails(&folder.run(&["watch", "-", "--log", "run.log"]), "no frame arrived");
}

/// promise: trimtab tune | `--log` is a FIFO | refused at once
#[test]
fn a_fifo_is_no_log() {
    let folder = Folder::new("trust-fifo");
    assert!(Command::new("mkfifo").arg(folder.0.join("fifo")).status().unwrap().success());
    fails(&soon(folder.command(&tune(&["--log", "fifo"], &["echo", "1"]))), "must be a regular file");
    fails(&soon(folder.command(&["watch", "-", "--log", "fifo"])), "must be a regular file");
}

/// promise: trimtab serve | `--space` is endless | refused
/// promise: trimtab replay | an endless file | refused
#[test]
fn endless_files_are_refused() {
    let folder = Folder::new("trust-endless");
    fails(&soon(folder.command(&["serve", "--space", "/dev/zero"])), "at most");
    fails(&soon(folder.command(&["replay", "/dev/zero"])), "at most");
}

/// promise: trimtab tune | a space too long to be read back from a log | refused before a byte is written
#[test]
fn a_header_too_long_to_read_back_is_not_written() {
    let folder = Folder::new("trust-header");
    let levels: Vec<String> = (0..250).map(|i| format!("\"{}{i}\"", "x".repeat(20_000))).collect();
    fs::write(folder.0.join("s.json"), format!("{{\"knobs\":{{\"a\":[{}]}}}}", levels.join(","))).unwrap();
    let words = ["tune", "--space", "s.json", "--budget", "2", "--log", "r.jsonl", "--", "echo", "1"];
    fails(&folder.run(&words), "too long for a log");
    assert_eq!(fs::metadata(folder.0.join("r.jsonl")).map_or(0, |log| log.len()), 0);
}

/// promise: trimtab tune | the log is deleted during the run | an error, not success
#[test]
fn a_log_deleted_during_a_run_is_an_error() {
    let folder = Folder::new("trust-deleted");
    fails(&folder.run(&tune(&["--log", "r.jsonl"], &["sh", "-c", "rm -f r.jsonl; echo 1"])), "deleted or replaced");
    let other = "mv r.jsonl old; echo text > r.jsonl; echo 1";
    fails(&folder.run(&tune(&["--log", "r.jsonl"], &["sh", "-c", other])), "deleted or replaced");
}

/// promise: trimtab tune | terminal escapes in output or levels | do not reach the terminal
#[test]
fn escapes_do_not_reach_the_terminal() {
    let folder = Folder::new("trust-escapes");
    let output = folder.run(&tune(&[], &["sh", "-c", "printf '\\033]0;evil\\007\\033[2Jno\\n' >&2; exit 3"]));
    let err = text(&output.stderr);
    assert!(err.contains("no") && !err.contains('\u{1b}') && !err.contains('\u{7}'), "{err:?}");
    fs::write(folder.0.join("s.json"), r#"{"knobs":{"a":["\u001b[2Jx","y\u009b2J"]}}"#).unwrap();
    let output = folder.run(&["tune", "--space", "s.json", "--budget", "2", "--", "echo", "1"]);
    let err = text(&output.stderr);
    assert!(output.status.success() && !err.contains(['\u{1b}', '\u{9b}']), "{err:?}");
}

/// Every line has a checksum: any changed bit is noticed.
///
/// promise: trimtab tune | a flipped bit in the log | refused with the line, the file stays
#[test]
fn a_flipped_bit_in_a_log_is_noticed() {
    let folder = Folder::new("trust-bits");
    let words = tune(&["--seed", "5", "--log", "r.jsonl"], &["sh", "-c", "[ {x} -ne 2 ] && echo {x}"]);
    assert!(folder.run(&words).status.success());
    let sound = fs::read(folder.0.join("r.jsonl")).unwrap();
    let last_line = sound[..sound.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap();
    for place in (0..sound.len()).step_by(13) {
        for bit in [0, 3, 6] {
            let mut bytes = sound.clone();
            bytes[place] ^= 1 << bit;
            fs::write(folder.0.join("bad.jsonl"), &bytes).unwrap();
            let output = folder.run(&["report", "bad.jsonl", "--out", "bad.html"]);
            let is_end = place == sound.len() - 1;
            assert!(!output.status.success() || is_end, "byte {place} of {last_line}, bit {bit} is accepted");
        }
    }
}

#[test]
fn a_log_without_checksums_is_still_read_and_continued() {
    let folder = Folder::new("trust-old");
    let words = tune(&["--quiet", "--seed", "5", "--log", "r.jsonl"], &["echo", "{x}"]);
    let whole = folder.run(&words);
    let text_of = |name: &str| fs::read_to_string(folder.0.join(name)).unwrap();
    let old: Vec<String> = text_of("r.jsonl")
        .lines()
        .map(|line| match line.find(",\"crc\":\"") {
            Some(place) => format!("{}}}\n", &line[..place]).replace("\"log\":2", "\"log\":1"),
            None => format!("{line}\n"),
        })
        .collect();
    assert!(old.iter().all(|line| !line.contains("crc")));
    fs::write(folder.0.join("r.jsonl"), old[..5].concat()).unwrap();
    let output = folder.run(&words);
    assert_eq!(text(&output.stdout), text(&whole.stdout), "{}", text(&output.stderr));
    assert!(folder.run(&words).status.success(), "with and without checksums");
}

/// A page or a picture never takes the place of the log that it is made of, however its name is
/// written.
///
/// promise: trimtab report | the page would overwrite the log | refused, the log stays
/// promise: trimtab replay | `--svg` is the log by another name or a link | refused, the log stays
#[test]
fn a_page_or_picture_never_overwrites_its_log() {
    let folder = Folder::new("trust-overwrite");
    assert!(folder.run(&tune(&["--log", "run.html"], &["echo", "{x}"])).status.success());
    let sound = fs::read(folder.0.join("run.html")).unwrap();
    fails(&folder.run(&["report", "run.html", "--out", "."]), "would be overwritten");
    assert!(fs::read(folder.0.join("run.html")).unwrap() == sound);

    let stream = super::watch::antenna();
    fs::write(folder.0.join("run.log"), &stream).unwrap();
    fs::hard_link(folder.0.join("run.log"), folder.0.join("hard")).unwrap();
    std::os::unix::fs::symlink("run.log", folder.0.join("soft")).unwrap();
    for name in ["run.log", "./run.log", "hard", "soft"] {
        fails(&folder.run(&["replay", "run.log", "--svg", name]), "would be overwritten");
        assert!(fs::read(folder.0.join("run.log")).unwrap() == stream, "{name}");
    }
}

/// Messages of `serve` name nothing that only `tune` has.
#[test]
fn serve_suggests_only_what_it_has() {
    let folder = Folder::new("trust-serve");
    fs::write(folder.0.join("in"), "{\"op\":\"init\",\"knobs\":[]}\n{\"op\":\"init\"}\n{\"op\":\"ask\"}\n").unwrap();
    let input = fs::File::open(folder.0.join("in")).unwrap();
    let out = text(&folder.command(&["serve"]).stdin(input).output().unwrap().stdout);
    assert_eq!(out.lines().filter(|line| line.contains("\"error\"")).count(), 3, "{out}");
    assert!(!out.contains("--knob"), "{out}");
}

/// promise: trimtab tune | another program shortens or appends to the log during the run | an error, not success
#[test]
fn a_log_that_another_program_changes_is_an_error() {
    let folder = Folder::new("trust-changed");
    for change in [": > run.jsonl", "echo x >> run.jsonl"] {
        let command = format!("{change}; echo 1");
        let output = folder.run(&tune(&["--log", "run.jsonl"], &["sh", "-c", &command]));
        fails(&output, "was changed by another program during the run");
        fs::remove_file(folder.0.join("run.jsonl")).unwrap();
    }
}

/// promise: trimtab export | `--out` is the log of another run | refused, that log stays
/// promise: trimtab replay | `--svg` is the log of another run | refused, that log stays
#[test]
fn no_output_takes_the_place_of_another_runs_log() {
    let folder = Folder::new("trust-other-log");
    for name in ["one.jsonl", "two.jsonl"] {
        assert!(folder.run(&tune(&["--log", name], &["echo", "1"])).status.success());
    }
    let before = fs::read(folder.0.join("two.jsonl")).unwrap();
    fails(&folder.run(&["export", "one.jsonl", "--csv", "--out", "two.jsonl"]), "two.jsonl would be overwritten");
    fs::write(folder.0.join("chip.log"), crate::watch::antenna()).unwrap();
    fs::write(folder.0.join("other.log"), crate::watch::antenna()).unwrap();
    for other in ["two.jsonl", "other.log"] {
        fails(&folder.run(&["replay", "chip.log", "--svg", other]), "would be overwritten");
    }
    // The page of one.jsonl would be one.html.
    fs::copy(folder.0.join("two.jsonl"), folder.0.join("one.html")).unwrap();
    fails(&folder.run(&["report", "one.jsonl"]), "one.html would be overwritten");
    for name in ["two.jsonl", "one.html"] {
        assert!(fs::read(folder.0.join(name)).unwrap() == before, "{name}");
    }
    assert!(fs::read(folder.0.join("other.log")).unwrap() == crate::watch::antenna());
    // Its own earlier table may be replaced.
    for _ in 0..2 {
        assert!(folder.run(&["export", "one.jsonl", "--csv", "--out", "t.csv"]).status.success());
    }
}

/// A machine without files, processes or memory to spare says nothing about a combination.
///
/// promise: trimtab tune | the machine cannot start another process | an error, no failed measurement; the same command goes on
#[cfg(unix)]
#[test]
fn a_machine_out_of_files_fails_no_combination() {
    let folder = Folder::new("trust-files");
    let run = |limit: &str| {
        let trimtab = env!("CARGO_BIN_EXE_trimtab");
        let words = "--knob a=1..9 --knob b=1..9 --budget 20 --jobs 8 --log run.jsonl -- sh -c 'sleep 0.1; echo {a}'";
        let script = format!("ulimit -n {limit}; exec '{trimtab}' tune {words}");
        std::process::Command::new("sh").args(["-c", &script]).current_dir(&folder.0).output().unwrap()
    };
    fails(&run("14"), "Too many open files");
    let log = fs::read_to_string(folder.0.join("run.jsonl")).unwrap();
    assert!(!log.contains("\"failed\""), "{log}");
    assert!(run("256").status.success());
    let log = fs::read_to_string(folder.0.join("run.jsonl")).unwrap();
    assert_eq!((log.matches("\"event\":\"tell\"").count(), log.matches("\"failed\"").count()), (20, 0), "{log}");
}
