//! Many at once: 64 jobs, slots, and measurements that are lost.

use std::collections::HashSet;
use std::fs;
use std::process::Stdio;

use crate::common::{Folder, text};

use super::{events, lines, script, wait_for};

/// The most measurements that a log shows under way.
fn most_open(lines: &[serde_json::Value]) -> i32 {
    let step = |open: &mut i32, line: &serde_json::Value| {
        *open += if line["event"] == "ask" { 1 } else { -1 };
        Some(*open)
    };
    lines[1..].iter().scan(0, step).max().unwrap()
}

fn words<'a>(options: &[&'a str], command: &[&'a str]) -> Vec<&'a str> {
    let knobs = ["tune", "--knob", "a=1..20", "--knob", "b=1..20", "--noise", "none", "--log", "run.jsonl"];
    [&knobs[..], options, &["--"], command].concat()
}

/// promise: trimtab tune --jobs 64 | killed with 64 under way | the same command measures those first, then goes on
#[test]
fn sixty_four_at_once_resume() {
    let folder = Folder::new("tune-64");
    script(&folder, "m.sh", "[ -e go ] || sleep 60; echo $(( ($1 - 7) * ($1 - 7) + $2 ))");
    let command = ["./m.sh", "{a}", "{b}"];
    let options = ["--budget", "100", "--jobs", "64", "--quiet"];
    let mut child = folder.command(&words(&options, &command)).stdout(Stdio::null()).spawn().unwrap();
    let path = folder.0.join("run.jsonl");
    wait_for("64 asks", || fs::read_to_string(&path).is_ok_and(|text| text.lines().count() == 65));
    child.kill().unwrap();
    child.wait().unwrap();
    let open = lines(&folder, "run.jsonl");
    assert_eq!((events(&open, "ask"), most_open(&open)), (64, 64));
    let configs: HashSet<String> = open[1..].iter().map(|line| line["config"].to_string()).collect();
    assert_eq!(configs.len(), 64, "each another combination");
    fs::write(folder.0.join("go"), "").unwrap();
    // With fewer jobs too: what is open waits.
    let report = folder.json(&words(&["--budget", "100", "--jobs", "5", "--json"], &command));
    assert_eq!((report["measured"].as_u64(), report["failures"].as_u64()), (Some(100), Some(0)));
    let all = lines(&folder, "run.jsonl");
    assert_eq!((events(&all, "ask"), events(&all, "tell"), &all[..65]), (100, 100, &open[..]));
    let first: HashSet<String> =
        all.iter().filter(|line| line["event"] == "tell").take(60).map(|line| line["config"].to_string()).collect();
    assert!(first.is_subset(&configs), "those first");
    folder.stdout(&["replay", "run.jsonl"]);
}

/// promise: trimtab tune --jobs 64 | fewer combinations, or a smaller budget | jobs stay idle; nothing is measured twice
#[test]
fn more_jobs_than_there_is_to_measure() {
    let folder = Folder::new("tune-idle-jobs");
    script(&folder, "m.sh", "sleep 0.05; echo $1");
    let tune = |budget: &str, log: &str| {
        let words = ["tune", "--knob", "n=1..12", "--noise", "none", "--jobs", "64", "--json", "--budget", budget];
        folder.json(&[&words[..], &["--log", log, "--", "./m.sh", "{n}"]].concat())
    };
    let report = tune("100", "space.jsonl");
    assert_eq!((report["measured"].as_u64(), &report["exhausted"]), (Some(12), &true.into()));
    let all = lines(&folder, "space.jsonl");
    assert_eq!((events(&all, "ask"), most_open(&all)), (12, 12));
    let report = tune("5", "budget.jsonl");
    assert_eq!((report["measured"].as_u64(), &report["exhausted"]), (Some(5), &false.into()));
    let all = lines(&folder, "budget.jsonl");
    assert_eq!((events(&all, "ask"), most_open(&all)), (5, 5));
}

/// promise: trimtab tune | {slot} in the command | one measurement at a time per slot, from 1 to --jobs
#[test]
fn a_slot_has_one_measurement_at_a_time() {
    let folder = Folder::new("tune-slots");
    // A board refuses a second measurement: `mkdir` is atomic.
    script(
        &folder,
        "board.sh",
        "[ $1 = $TRIMTAB_SLOT ] && mkdir board$1 || exit 9\nsleep 0.02; rmdir board$1; echo $1 >> used; echo $(( $2 + $3 ))",
    );
    let output = folder.run(&words(&["--budget", "60", "--jobs", "6"], &["./board.sh", "{slot}", "{a}", "{b}"]));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && !err.contains("failed"), "{err}");
    assert!(out.contains("\n          ./board.sh 1 "), "ready to paste: {out}");
    let used = fs::read_to_string(folder.0.join("used")).unwrap();
    let count = |slot: u8| used.lines().filter(|line| *line == slot.to_string()).count();
    let counts: Vec<usize> = (1..=6).map(count).collect();
    assert!(counts.iter().sum::<usize>() == 60 && counts.iter().all(|count| *count >= 4), "{counts:?}");
}

/// promise: trimtab tune --lost 255 | a board is away | its measurements run on the others, then it is left out
#[test]
fn a_board_that_is_away_costs_no_combination() {
    let folder = Folder::new("tune-lost");
    script(&folder, "board.sh", "[ $1 = 2 ] && { echo unreachable >&2; exit 255; }\nsleep 0.02; echo $(( $2 + $3 ))");
    let command = ["./board.sh", "{slot}", "{a}", "{b}"];
    let output = folder.run(&words(&["--budget", "40", "--jobs", "4", "--lost", "255"], &command));
    let err = text(&output.stderr);
    assert!(output.status.success(), "{err}");
    assert_eq!(err.matches("on slot 2, to be measured again: exit code 255: unreachable").count(), 2, "{err}");
    assert!(err.contains("slot 2 lost its last three measurements and is not used any more"), "{err}");
    let all = lines(&folder, "run.jsonl");
    assert_eq!((events(&all, "ask"), events(&all, "tell"), events(&all, "failed")), (40, 40, 0));
    for codes in ["0", "256", "x", "75,"] {
        let refused = folder.run(&words(&["--lost", codes], &command));
        let err = text(&refused.stderr);
        assert!(refused.status.code() == Some(2) && err.contains("write exit codes from 1 to 255"), "{err}");
    }
}

/// promise: trimtab tune --lost 255 | a combination takes every board down | failed after the third loss
#[test]
fn a_combination_that_is_always_lost_has_failed() {
    let folder = Folder::new("tune-lost-often");
    script(&folder, "board.sh", "[ $1 != 3 ] || exit 255\nsleep 0.02; echo $1");
    let knobs =
        ["tune", "--knob", "n=1..12", "--noise", "none", "--jobs", "4", "--lost", "75,255", "--log", "run.jsonl"];
    let output = folder.run(&[&knobs[..], &["--", "./board.sh", "{n}"]].concat());
    let err = text(&output.stderr);
    assert!(output.status.success(), "{err}");
    let all = lines(&folder, "run.jsonl");
    assert_eq!((events(&all, "tell"), events(&all, "failed")), (11, 1), "{err}");
    let failed = all.iter().find(|line| line["event"] == "failed").unwrap();
    assert_eq!(failed["config"]["n"], 3);
    assert!(failed["why"].as_str().unwrap().starts_with("lost on three slots"), "{failed}");
}

/// promise: trimtab tune --lost 255 | every board is away | the run ends with an error; nothing is blamed, and the same command goes on
#[test]
fn when_all_boards_are_away_the_run_waits_for_them() {
    let folder = Folder::new("tune-lost-all");
    script(&folder, "board.sh", "[ -e back ] || exit 255\necho $(( $1 + $2 ))");
    let command = ["./board.sh", "{a}", "{b}"];
    for jobs in ["1", "3"] {
        let output = folder.run(&words(&["--budget", "9", "--jobs", jobs, "--lost", "255"], &command));
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert!(err.contains("lost its last three measurements: exit code 255; once they are back"), "{err}");
        let all = lines(&folder, "run.jsonl");
        assert!(events(&all, "ask") >= 1 && events(&all, "tell") + events(&all, "failed") == 0);
    }
    fs::write(folder.0.join("back"), "").unwrap();
    let report = folder.json(&words(&["--budget", "9", "--jobs", "3", "--lost", "255", "--json"], &command));
    assert_eq!((report["measured"].as_u64(), report["failures"].as_u64()), (Some(9), Some(0)));
}
