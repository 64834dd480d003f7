//! The log: stops, resumed runs, older, foreign and damaged logs.

use std::fs;
use std::process::{Command, Stdio};

use crate::common::{Folder, text};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

use super::{COST, MEASURE, events, lines, run, script, wait_for, words};

/// promise: trimtab tune | killed at any place | the same command goes on; the end is the same
#[test]
fn killed_in_the_middle_it_goes_on_as_if_nothing_had_been() {
    let folder = Folder::new("tune-kill");
    script(&folder, "measure.sh", &format!("{COST}\n[ -n \"$SLOW\" ] && sleep 0.03; [ $2 -ne 8 ]"));
    let options = |log: &'static str| {
        ["--budget", "24", "--seed", "3", "--quiet", "--start", "opt=O1,unroll=8,block=16", "--log", log]
    };
    let whole = run(&folder, &options("whole.jsonl"));
    let wanted = lines(&folder, "whole.jsonl");
    assert!(events(&wanted, "failed") >= 1 && events(&wanted, "ask") == 24);
    for cut in [1, 7, 15] {
        let _ = fs::remove_file(folder.0.join("cut.jsonl"));
        let words = words(&options("cut.jsonl"), &MEASURE);
        let mut child = folder.command(&words).env("SLOW", "1").stdout(Stdio::null()).spawn().unwrap();
        let path = folder.0.join("cut.jsonl");
        wait_for("outcome", || fs::read_to_string(&path).is_ok_and(|text| text.matches("\"seconds\"").count() >= cut));
        // SIGKILL: nothing can be tidied up.
        child.kill().unwrap();
        child.wait().unwrap();
        let output = run(&folder, &options("cut.jsonl"));
        assert_eq!(text(&output.stdout), text(&whole.stdout), "{}", text(&output.stderr));
        assert_eq!(lines(&folder, "cut.jsonl"), wanted, "cut after {cut}");
    }
    // Torn in the middle of its last line, wherever that is.
    let bytes = fs::read(folder.0.join("whole.jsonl")).unwrap();
    for length in [bytes.len() - 1, bytes.len() - 40, bytes.len() / 2, bytes.len() / 3 + 1, 40, 5] {
        fs::write(folder.0.join("torn.jsonl"), &bytes[..length]).unwrap();
        let output = run(&folder, &options("torn.jsonl"));
        assert_eq!(text(&output.stdout), text(&whole.stdout));
        assert_eq!(lines(&folder, "torn.jsonl"), wanted, "torn after {length} bytes");
    }
    // Without --quiet it says so.
    fs::write(folder.0.join("torn.jsonl"), &bytes[..bytes.len() - 9]).unwrap();
    let output = run(&folder, &["--budget", "24", "--seed", "3", "--log", "torn.jsonl"]);
    let err = text(&output.stderr);
    assert!(
        err.contains("the last line of the log was cut off") && err.contains("23 of them are known already"),
        "{err}"
    );
    // A finished run does nothing more; a larger budget extends it like a run with that budget.
    let before = fs::read(folder.0.join("whole.jsonl")).unwrap();
    run(&folder, &options("whole.jsonl"));
    assert_eq!(fs::read(folder.0.join("whole.jsonl")).unwrap(), before);
    let larger =
        |log| ["--budget", "140", "--seed", "3", "--quiet", "--start", "opt=O1,unroll=8,block=16", "--log", log];
    run(&folder, &larger("whole.jsonl"));
    run(&folder, &larger("once.jsonl"));
    let (mut prolonged, once) = (lines(&folder, "whole.jsonl"), lines(&folder, "once.jsonl"));
    assert_eq!((&prolonged[0]["budget"], &once[0]["budget"], events(&once, "ask")), (&json!(24), &json!(140), 140));
    prolonged[0] = once[0].clone();
    assert_eq!(prolonged, once);
}

/// A log of version 0.1.0, cut anywhere, keeps its lines and goes on, always in the same way. What
/// is asked next is up to the model of this version.
#[test]
fn a_log_of_an_older_version_goes_on() {
    let folder = Folder::new("tune-old");
    let body = "[ $2 -eq 8 ] && exit 3; case $1 in O1) a=7;; O2) a=3;; *) a=1;; esac; echo $((a * 2 + $2))";
    script(&folder, "m.sh", body);
    let old = include_str!("../data/log-0.1.0.jsonl");
    fs::write(folder.0.join("old.jsonl"), old).unwrap();
    let (wanted, count) = (lines(&folder, "old.jsonl"), old.lines().count());
    let knobs = ["--knob", "opt=O1,O2,O3", "--knob", "unroll=1,2,4,8", "--forbid", "opt=O1 & unroll=4"];
    let options = ["--start", "opt=O2,unroll=4", "--seed", "5", "--budget", "9", "--quiet", "--log", "run.jsonl"];
    let words = [&["tune"], &knobs[..], &options, &["--", "./m.sh", "{opt}", "{unroll}"]].concat();
    for kept in [1, 2, 3, 6, 8, 11, count] {
        let part: String = old.split_inclusive('\n').take(kept).collect();
        let go_on = || {
            fs::write(folder.0.join("run.jsonl"), &part).unwrap();
            // With so few values the model may take some of the cost for noise and expect a little more.
            assert!(folder.stdout(&words).ends_with(" opt=O3,unroll=1\n"));
            lines(&folder, "run.jsonl")
        };
        let all = go_on();
        assert_eq!(all[..kept], wanted[..kept], "{kept} lines");
        assert_eq!((events(&all, "ask"), all.len()), (9, count), "{kept} lines");
        assert_eq!(go_on(), all, "{kept} lines");
    }
    // A missing, repeated or wrong line is named, and the log stays as it was.
    let without = |number: usize| -> String {
        old.split_inclusive('\n').enumerate().filter(|(i, _)| i + 1 != number).map(|(_, line)| line).collect()
    };
    for (text, says) in [
        (without(2), "line 2: no ask with the id 1 is pending"),
        (without(4), "line 4: no ask with the id 2 is pending"),
        (format!("{old}{}", old.lines().last().unwrap().to_owned() + "\n"), "line 20: no ask with the id 9 is pending"),
        (old.replace("\"id\":5", "\"id\":6"), "line 10: ask 6 comes where ask 5 should; a record is missing"),
        (old.replace("\"value\":7.0", "\"value\":\"7\""), "line 11: `value` must be a number"),
        (old.replace("\"why\"", "\"reason\""), "line 9: `failed` has no field `reason`"),
        (old.replacen("\"O1\",\"unroll\":1}", "\"O9\",\"unroll\":1}", 1), "line 6: knob `opt` has no level O9"),
    ] {
        fs::write(folder.0.join("run.jsonl"), &text).unwrap();
        let output = folder.run(&words);
        let err = crate::common::text(&output.stderr);
        assert!(output.status.code() == Some(1) && err.contains(says), "{says}: {err}");
        assert_eq!(fs::read_to_string(folder.0.join("run.jsonl")).unwrap(), text);
    }
}

/// promise: trimtab tune | Ctrl-C | the children end, the log is whole
#[test]
fn ctrl_c_ends_the_children_and_keeps_the_log() {
    let folder = Folder::new("tune-stop");
    // Neither the third measurement nor its child ends by itself.
    let body = format!(
        "{COST}\nif [ -e go ]; then exit 0; fi; echo x >> count; [ $(wc -l < count) -lt 3 ] || {{ sleep 300 & echo \
         $! > pid; wait; }}"
    );
    script(&folder, "measure.sh", &body);
    let options = ["--budget", "9", "--log", "run.jsonl"];
    let child =
        folder.command(&words(&options, &MEASURE)).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("third measurement", || fs::read_to_string(folder.0.join("pid")).is_ok_and(|pid| pid.ends_with('\n')));
    let busy = run(&folder, &options);
    assert!(text(&busy.stderr).contains("another trimtab is writing to it"), "{}", text(&busy.stderr));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).starts_with("best "), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("stopped: 2 of 9 measurements are done; the same command goes on"));
    let pid = fs::read_to_string(folder.0.join("pid")).unwrap();
    let is_gone = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        stat.map_or(true, |stat| stat.contains(") Z "))
    };
    wait_for("end of the grandchild", is_gone);
    let stopped = lines(&folder, "run.jsonl");
    assert_eq!((events(&stopped, "ask"), events(&stopped, "tell"), events(&stopped, "failed")), (3, 2, 0));
    fs::write(folder.0.join("go"), "").unwrap();
    assert!(run(&folder, &options).status.success());
    assert!(run(&folder, &["--budget", "9", "--log", "uncut.jsonl"]).status.success());
    assert_eq!(lines(&folder, "run.jsonl"), lines(&folder, "uncut.jsonl"));
}

#[test]
fn several_at_once_are_all_different_and_resume() {
    let folder = Folder::new("tune-jobs");
    script(&folder, "measure.sh", &format!("{COST}\nsleep 0.0$(( ($2 + $3 / 16) % 7 ))"));
    let options = ["--budget", "40", "--jobs", "4", "--quiet", "--log", "run.jsonl"];
    let mut child = folder.command(&words(&options, &MEASURE)).stdout(Stdio::null()).spawn().unwrap();
    let path = folder.0.join("run.jsonl");
    wait_for("outcomes", || fs::read_to_string(&path).is_ok_and(|text| text.matches("\"seconds\"").count() >= 12));
    child.kill().unwrap();
    child.wait().unwrap();
    let before = fs::read_to_string(&path).unwrap();
    let before = &before[..before.rfind('\n').unwrap() + 1];
    assert!(run(&folder, &options).status.success());
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.starts_with(before), "what happened before stays");
    let lines = lines(&folder, "run.jsonl");
    assert_eq!((events(&lines, "ask"), events(&lines, "tell")), (40, 40));
    let mut asked: Vec<String> =
        lines.iter().filter(|line| line["event"] == "ask").map(|line| line["config"].to_string()).collect();
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), 40, "asked twice");
    // At most four are under way, and at some time four are.
    let mut open = 0i32;
    let counts: Vec<i32> = lines[1..]
        .iter()
        .map(|line| {
            open += if line["event"] == "ask" { 1 } else { -1 };
            open
        })
        .collect();
    assert_eq!(counts.iter().max(), Some(&4));
}

#[test]
fn the_order_of_outcomes_decides_what_is_asked() {
    // Two at once, and the order is forced: a measurement with an even number waits for the one
    // after it.
    let folder = Folder::new("tune-order");
    let body = format!("{COST}\nsleep 0.$(( ($2 * 7 + $3) % 5 ))");
    script(&folder, "measure.sh", &body);
    let options = |log| ["--budget", "10", "--jobs", "2", "--quiet", "--log", log];
    run(&folder, &options("a.jsonl"));
    // A log cut after any line goes on to the same asks, as long as outcomes come in the same
    // order.
    let all = fs::read_to_string(folder.0.join("a.jsonl")).unwrap();
    let lines_of = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
    let whole = lines_of(&all);
    for cut in 2..whole.len() {
        if serde_json::from_str::<Value>(&whole[cut]).unwrap()["event"] != "ask" {
            continue;
        }
        // The next thing that happened was an ask: with one measurement allowed it must be asked
        // again, the same to the bit.
        fs::write(folder.0.join("b.jsonl"), whole[..cut].join("\n") + "\n").unwrap();
        let open = whole[1..cut]
            .iter()
            .fold(0i32, |open, line| open + if line.contains("\"event\":\"ask\"") { 1 } else { -1 });
        assert!(open <= 1);
        let child = folder.command(&words(&options("b.jsonl"), &MEASURE)).spawn();
        let mut child = child.unwrap();
        let path = folder.0.join("b.jsonl");
        // After the line of the resumption.
        wait_for("ask", || lines_of(&fs::read_to_string(&path).unwrap()).len() > cut + 1);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(lines_of(&fs::read_to_string(&path).unwrap())[cut + 1], whole[cut], "after line {cut}");
    }
}

/// promise: trimtab tune | the log of another run | refused with the difference, left alone
#[test]
fn a_log_of_another_run_is_refused_and_left_alone() {
    let folder = Folder::new("tune-other");
    script(&folder, "measure.sh", COST);
    let log = ["--budget", "3", "--log", "run.jsonl"];
    assert!(run(&folder, &log).status.success());
    let before = fs::read(folder.0.join("run.jsonl")).unwrap();
    let with = |extra: &[&'static str]| folder.run(&words(&[&log[..], extra].concat(), &MEASURE));
    for (output, wanted) in [
        (with(&["--seed", "2"]), "the seed was 1 and is 2"),
        (with(&["--maximize"]), "the goal was minimize and is maximize"),
        (with(&["--time"]), "the cost was last number and is time, least of 1"),
        (with(&["--knob", "x=1,2"]), "knob `x` is new"),
        (with(&["--forbid", "opt=O1"]), "nothing was forbidden, now `opt=O1` is"),
        (folder.run(&words(&log, &["./measure.sh", "{opt}"])), "the command was `./measure.sh '{opt}' '{unroll}'"),
    ] {
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains("run.jsonl belongs to another run: ") && err.contains(wanted), "{err}");
        assert!(err.contains("choose another --log") && output.stdout.is_empty(), "{err}");
    }
    assert_eq!(fs::read(folder.0.join("run.jsonl")).unwrap(), before);
    fs::write(folder.0.join("notes.txt"), "my notes").unwrap();
    let output = run(&folder, &["--log", "notes.txt"]);
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("this file is not a log of trimtab tune"));
    assert_eq!(fs::read(folder.0.join("notes.txt")).unwrap(), b"my notes");
}

/// promise: trimtab tune | a damaged log | refused or gone on with, never a panic
#[test]
fn damaged_logs_are_refused_or_gone_on_with_but_never_a_panic() {
    let folder = Folder::new("tune-fuzz");
    script(&folder, "measure.sh", COST);
    let options = ["--budget", "5", "--quiet", "--log", "run.jsonl"];
    assert!(run(&folder, &options).status.success());
    let whole = fs::read(folder.0.join("run.jsonl")).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    for _ in 0..60 {
        let mut bytes = whole.clone();
        for _ in 0..random.random_range(1..4) {
            let place = random.random_range(0..bytes.len());
            match random.random_range(0..4) {
                0 => bytes[place] = random.random(),
                1 => drop(bytes.remove(place)),
                2 => {
                    // A line more or a line less.
                    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
                    let line = lines.remove(random.random_range(0..lines.len()));
                    if random.random() {
                        lines.insert(random.random_range(0..=lines.len()), line);
                    }
                    bytes = lines.concat();
                }
                _ => bytes.truncate(place.max(1)),
            }
            if bytes.is_empty() {
                break;
            }
        }
        fs::write(folder.0.join("run.jsonl"), &bytes).unwrap();
        let output = run(&folder, &options);
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0..=2)) && !err.contains("panicked"), "{err}");
    }
}

/// promise: trimtab replay | a log of tune, its prediction changed | says which ask, exit code 1
#[test]
fn a_log_is_asked_again_to_the_bit() {
    let folder = Folder::new("tune-again");
    script(&folder, "measure.sh", &format!("{COST}\n[ $2 -ne 8 ]"));
    let start = ["--budget", "30", "--quiet", "--start", "opt=O1", "--start", "opt=O2", "--log", "run.jsonl"];
    run(&folder, &start);
    let counts = |same: u64, chosen: u64| json!({"asks": 30, "same": same, "chosen": chosen, "difference": null});
    assert_eq!(folder.json(&["replay", "run.jsonl", "--json"]), counts(28, 2));
    let shown = folder.stdout(&["replay", "run.jsonl"]);
    assert!(shown.contains("28 of 30 asks match to the bit") && shown.contains("trimtab report run.jsonl"), "{shown}");
    // Several at once, and repeats under noise: the order of the lines decides.
    let noise = r#"awk '{ srand(); print $0; if (/cost/) print $2 + 40 * rand() }'; sleep 0.0$(($3 % 3))"#;
    script(&folder, "measure.sh", &format!("{} | {noise}", COST.trim_end()));
    run(&folder, &["--budget", "30", "--quiet", "--jobs", "3", "--log", "noisy.jsonl"]);
    let noisy = folder.json(&["replay", "noisy.jsonl", "--json"]);
    assert!(noisy["difference"].is_null() && noisy["same"].as_u64() > Some(20), "{noisy}");
    // A log of another model: its last prediction but one is changed, and it has no checksums.
    let text = fs::read_to_string(folder.0.join("run.jsonl")).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.iter_mut().for_each(|line| drop(line.as_object_mut().unwrap().remove("crc")));
    lines[0]["log"] = 1.into();
    let place = lines.iter().rposition(|line| line["event"] == "ask").unwrap();
    lines[place]["mean"] = json!(lines[place]["mean"].as_f64().unwrap() * 1.000_001 + 1e-6);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(folder.0.join("other.jsonl"), text).unwrap();
    let output = folder.run(&["replay", "other.jsonl"]);
    assert_eq!(output.status.code(), Some(1));
    let shown = super::text(&output.stdout);
    assert!(shown.contains("27 of 30 asks match to the bit, then ask 30: the log expected"), "{shown}");
    let output = folder.run(&["replay", "run.jsonl", "--svg", "a.svg"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(super::text(&output.stderr).contains("trimtab report"));
}
