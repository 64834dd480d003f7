//! `trimtab tune` end to end: real commands, failures of every kind, stops, resumed and damaged logs.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, text};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use trimtab::{Config, Goal, Knob, Scale, Space};

const KNOBS: [&str; 6] = ["--knob", "opt=O1,O2,O3,Os", "--knob", "unroll=1,2,4,8", "--knob", "block=16..256:16"];
/// A bowl with its bottom at O3, 4, 96, in whole numbers.
const COST: &str = r#"
case $1 in O1) a=40;; O2) a=15;; O3) a=0;; Os) a=60;; esac
echo "progress 12"; echo "cost: $(( a + 10 * ($2 - 4) * ($2 - 4) + ($3 - 96) * ($3 - 96) / 16 )) units"
"#;

fn script(folder: &Folder, name: &str, body: &str) {
    let path = folder.0.join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// `trimtab tune` with the knobs above and a script.
fn words<'a>(options: &[&'a str], command: &[&'a str]) -> Vec<&'a str> {
    [&["tune"], &KNOBS[..], options, &["--"], command].concat()
}

const MEASURE: [&str; 4] = ["./measure.sh", "{opt}", "{unroll}", "{block}"];

fn run(folder: &Folder, options: &[&str]) -> Output {
    folder.run(&words(options, &MEASURE))
}

/// The lines of a log, without times and resumptions.
fn lines(folder: &Folder, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.0.join(name)).unwrap();
    assert!(text.ends_with('\n'));
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.retain(|line| line["event"] != "resume");
    for line in &mut lines {
        line.as_object_mut().unwrap().remove("seconds");
    }
    lines
}

fn events(lines: &[Value], event: &str) -> usize {
    lines.iter().filter(|line| line["event"] == event).count()
}

/// Waits for something to become true.
fn wait_for(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < Duration::from_secs(60), "no {what} within a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_same_costs_give_the_same_sequence_as_the_core() {
    const VALUES: [&[f32]; 2] = [
        &[1.0, 2.0, 4.0, 8.0],
        &[16., 32., 48., 64., 80., 96., 112., 128., 144., 160., 176., 192., 208., 224., 240., 256.],
    ];
    const CORE: [Knob; 3] =
        [Knob::nominal(4), Knob::graded(VALUES[0], Scale::Linear), Knob::graded(VALUES[1], Scale::Linear)];
    type Three = trimtab::tuner!(CORE, observations: 30, rows: 256);
    let cost = |levels: &[u8]| {
        let [unroll, block] = [0, 1].map(|i| VALUES[i][usize::from(levels[i + 1])] as i64);
        let opt = [40, 15, 0, 60][usize::from(levels[0])];
        (opt + 10 * (unroll - 4) * (unroll - 4) + (block - 96) * (block - 96) / 16) as f32
    };
    let folder = Folder::new("tune-core");
    script(&folder, "measure.sh", COST);
    for (goal, option) in [(Goal::Minimise, None), (Goal::Maximise, Some("--maximize"))] {
        let mut tuner = Box::new(Three::new());
        tuner.init(Space::new(&CORE).unwrap(), Config { goal, ..Config::default() }, 9).unwrap();
        let mut options = vec!["--budget", "30", "--seed", "9", "--json"];
        options.extend(option);
        let report = folder.json(&words(&options, &MEASURE));
        let measurements = report["measurements"].as_array().unwrap();
        assert_eq!(measurements.len(), 30);
        for measurement in measurements {
            let asked = tuner.ask().unwrap();
            let levels = asked.combination.levels();
            let opt = ["O1", "O2", "O3", "Os"][usize::from(levels[0])];
            let unroll = [1, 2, 4, 8][usize::from(levels[1])];
            let config = json!({"opt": opt, "unroll": unroll, "block": 16 * (i64::from(levels[2]) + 1)});
            assert_eq!((&measurement["config"], &measurement["value"]), (&config, &json!(f64::from(cost(levels)))));
            if asked.std_dev.is_finite() {
                assert_eq!(measurement["mean"].as_f64().unwrap() as f32, asked.mean);
                assert_eq!(measurement["std_dev"].as_f64().unwrap() as f32, asked.std_dev);
            }
            tuner.tell(&asked.combination, cost(levels)).unwrap();
        }
        let best = tuner.best_observed().unwrap();
        assert_eq!(report["best"]["value"].as_f64().unwrap() as f32, best.value);
        if goal == Goal::Minimise {
            assert_eq!(report["best"]["config"], json!({"opt": "O3", "unroll": 4, "block": 96}));
            assert_eq!(report["best"]["command"], json!(["./measure.sh", "O3", "4", "96"]));
        }
    }
}

#[test]
fn the_result_is_ready_to_paste() {
    let folder = Folder::new("tune-paste");
    script(&folder, "measure.sh", COST);
    let output = run(&folder, &["--budget", "30", "--seed", "9"]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && !err.contains('\u{1b}') && !err.contains('\r'), "{err}");
    assert!(out.starts_with("best      0  (measurement "), "{out}");
    for line in
        ["          opt=O3,unroll=4,block=96\n", "          ./measure.sh O3 4 96\n", "by model  ", "measured  30\n"]
    {
        assert!(out.contains(line), "no {line:?} in:\n{out}");
    }
    // The printed command works.
    let line = out.lines().nth(2).unwrap().trim();
    let again = Command::new("sh").args(["-c", line]).current_dir(&folder.0).output().unwrap();
    assert!(text(&again.stdout).ends_with("cost: 0 units\n"));
    let quiet = run(&folder, &["--budget", "1", "--quiet", "--start", "opt=O3,unroll=4,block=96"]);
    assert_eq!((text(&quiet.stdout).as_str(), quiet.stderr.len()), ("0 opt=O3,unroll=4,block=96\n", 0));
    assert_eq!(err.lines().count(), 31, "a line a measurement and one before:\n{err}");
}

#[test]
fn failures_of_every_kind_count_and_do_not_stop_it() {
    let folder = Folder::new("tune-failures");
    script(
        &folder,
        "measure.sh",
        r#"case $1 in
code) echo 1; echo "no such flag" >&2; exit 7;;
signal) kill -SEGV $$;;
silent) echo nothing;;
nan) echo 3 nan;;
huge) echo 1e99;;
slow) sleep 60 & sleep 60;;
flood) head -c 300000 /dev/zero | tr '\0' y; echo " the end"; exit 1;;
*) echo 5;;
esac"#,
    );
    let knob = ["tune", "--knob", "how=code,signal,silent,nan,huge,slow,flood,good", "--log", "run.jsonl"];
    let words = [&knob[..], &["--timeout", "300ms", "--json", "--", "./measure.sh", "{how}"]].concat();
    let report = folder.json(&words);
    assert_eq!((&report["failures"], &report["measured"], &report["exhausted"]), (&json!(7), &json!(8), &json!(true)));
    assert_eq!(report["best"]["config"], json!({"how": "good"}));
    let lines = lines(&folder, "run.jsonl");
    let find = |how: &str| {
        let is_it = |line: &&Value| line["event"] == "failed" && line["config"]["how"] == how;
        lines.iter().find(is_it).unwrap().clone()
    };
    for (how, why) in [
        ("code", "exit code 7"),
        ("signal", "ended by signal 11"),
        ("silent", "it printed no number"),
        ("nan", "`nan` is not finite, or too large"),
        ("huge", "`1e99` is not finite, or too large"),
        ("slow", "more than 0.3 s"),
        ("flood", "exit code 1"),
    ] {
        assert_eq!(find(how)["why"], why);
    }
    assert_eq!((&find("code")["stdout"], &find("code")["stderr"]), (&json!("1\n"), &json!("no such flag\n")));
    let flood = find("flood")["stdout"].as_str().unwrap().to_string();
    assert!(flood.len() == 64 << 10 && flood.ends_with("yy the end\n"));
    // If all fail, the exit code says so.
    let output = folder.run(&["tune", "--knob", "x=1,2", "--", "sh", "-c", "exit 4"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("all 2 measurements failed; the last: exit code 4"));
    // A missing program ends the run at once.
    let output = folder.run(&["tune", "--knob", "x=1,2", "--", "./missing"]);
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("cannot start `./missing`"));
}

#[test]
fn what_is_forbidden_is_never_run() {
    let folder = Folder::new("tune-forbid");
    script(&folder, "measure.sh", "echo \"$1 $2\" >> seen; echo $(( $2 * 3 ))");
    fs::write(folder.0.join("space.toml"), "forbid = [\"mode=a & n>3\"]\n[knobs]\nmode = \"a,b,c\"\n").unwrap();
    let words = ["tune", "--space", "space.toml", "--knob", "n=1..6", "--forbid", "mode=b | n=2"];
    // The file's condition names a knob of the command line only together with it.
    let refused = folder.run(&[&words[..], &["--", "./measure.sh", "{mode}", "{n}"]].concat());
    assert!(text(&refused.stderr).contains("there is no knob `n`; there are mode"), "{}", text(&refused.stderr));
    fs::write(folder.0.join("space.toml"), "forbid = [\"mode=a\"]\n[knobs]\nmode = \"a,b,c\"\n").unwrap();
    let report = folder.json(&[&words[..], &["--json", "--", "./measure.sh", "{mode}", "{n}"]].concat());
    assert_eq!((&report["measured"], &report["exhausted"]), (&json!(5), &json!(true)));
    let mut seen: Vec<String> = fs::read_to_string(folder.0.join("seen")).unwrap().lines().map(String::from).collect();
    seen.sort();
    assert_eq!(seen, ["c 1", "c 3", "c 4", "c 5", "c 6"]);
    let output = folder.run(&["tune", "--knob", "n=1,2", "--forbid", "n=1 | n=2", "--", "echo", "{n}"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("every combination is forbidden"));
}

#[test]
fn starts_come_first_and_costs_are_found_where_the_user_says() {
    let folder = Folder::new("tune-start");
    let script = "echo rate: {n}5; echo 1";
    let words =
        ["tune", "--knob", "n=1..9", "--start", "n=7", "--start", "n=2", "--maximize", "--extract", "rate: (\\d+)"];
    let report = folder.json(&[&words[..], &["--json", "--shell", "--", script]].concat());
    let values: Vec<f64> =
        report["measurements"].as_array().unwrap().iter().map(|m| m["value"].as_f64().unwrap()).collect();
    assert_eq!((values.len(), &values[..2], &report["best"]["value"]), (9, &[75.0, 25.0][..], &json!(95.0)));
    // The shortest of three times.
    script_count(&folder);
    let words = ["tune", "--knob", "ms=10,60", "--time", "--repeat", "3", "--json", "--", "./count.sh"];
    let report = folder.json(&words);
    assert_eq!(fs::read_to_string(folder.0.join("count")).unwrap().lines().count(), 6);
    assert_eq!(report["best"]["config"], json!({"ms": 10}));
    assert!(report["best"]["value"].as_f64().unwrap() >= 0.01);
}

/// A script that reads its knob from the environment.
fn script_count(folder: &Folder) {
    script(folder, "count.sh", "echo x >> count; sleep 0.0$TRIMTAB_MS");
}

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
        assert_eq!(text(&output.stdout), text(&whole.stdout));
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
    assert!(err.contains("the last line of the log was cut off") && err.contains("23 of them are in the log"), "{err}");
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

/// A log of version 0.1.0, cut anywhere, goes on as that version did.
#[test]
fn a_log_of_an_older_version_goes_on() {
    let folder = Folder::new("tune-old");
    let body = "[ $2 -eq 8 ] && exit 3; case $1 in O1) a=7;; O2) a=3;; *) a=1;; esac; echo $((a * 2 + $2))";
    script(&folder, "m.sh", body);
    let old = include_str!("data/log-0.1.0.jsonl");
    fs::write(folder.0.join("old.jsonl"), old).unwrap();
    let (wanted, count) = (lines(&folder, "old.jsonl"), old.lines().count());
    let knobs = ["--knob", "opt=O1,O2,O3", "--knob", "unroll=1,2,4,8", "--forbid", "opt=O1 & unroll=4"];
    let options = ["--start", "opt=O2,unroll=4", "--seed", "5", "--budget", "9", "--quiet", "--log", "run.jsonl"];
    let words = [&["tune"], &knobs[..], &options, &["--", "./m.sh", "{opt}", "{unroll}"]].concat();
    for kept in [1, 2, 3, 6, 8, 11, count] {
        let part: String = old.split_inclusive('\n').take(kept).collect();
        fs::write(folder.0.join("run.jsonl"), part).unwrap();
        assert_eq!(folder.stdout(&words), "3 opt=O3,unroll=1\n");
        assert_eq!(lines(&folder, "run.jsonl"), wanted, "{kept} lines");
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

#[test]
fn ctrl_c_ends_the_children_and_keeps_the_log() {
    let folder = Folder::new("tune-stop");
    // Neither the third measurement nor its child ends by itself.
    let body = format!(
        "{COST}\nif [ -e go ]; then exit 0; fi; echo x >> count; [ $(wc -l < count) -lt 3 ] || {{ sleep 300 & echo $! > pid; wait; }}"
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

#[test]
fn odd_arguments_are_never_a_panic() {
    let folder = Folder::new("tune-arguments");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let odd = [
        "x=1,2",
        "x=",
        "=",
        "é",
        "x=1..3",
        "x=log:1,2",
        "x=1..1e9",
        "0",
        "-1",
        "1e99",
        "x=1",
        "(",
        "{x}",
        "{",
        "\u{1}",
        "x<1",
        "!",
        "",
    ];
    let options = [
        "--knob",
        "--forbid",
        "--start",
        "--budget",
        "--timeout",
        "--extract",
        "--jobs",
        "--repeat",
        "--space",
        "--seed",
    ];
    for _ in 0..150 {
        let mut words = vec!["tune", "--knob", "x=1,2,3", "--quiet"];
        for _ in 0..random.random_range(1..4) {
            words.push(options[random.random_range(0..options.len())]);
            words.push(odd[random.random_range(0..odd.len())]);
        }
        words.extend(["--", "echo", odd[random.random_range(0..odd.len())]]);
        let output = folder.run(&words);
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0..=2)) && !err.contains("panicked"), "{words:?}: {err}");
    }
}

#[test]
fn mistakes_point_at_the_word() {
    let folder = Folder::new("tune-mistakes");
    let case = |options: &[&str], command: &str, wanted: &[&str]| {
        let output = folder
            .run(&[&["tune", "--knob", "opt=O1,O2", "--knob", "n=1..9"], options, &["--", "echo", command]].concat());
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {err}");
        assert!(wanted.iter().all(|word| err.contains(word)), "{options:?} without {wanted:?}: {err}");
    };
    case(&[], "{optt}", &["no knob `optt`; there are opt, n", "  echo {optt}\n        ^ here"]);
    case(&["--forbid", "opt=O1 & m=3"], "1", &["--forbid: there is no knob `m`", "\n           ^ here"]);
    case(&["--start", "opt=O1,n=11"], "1", &["--start opt=O1,n=11", "knob `n` has no level 11; it has 1, 2, 3"]);
    case(&["--start", "opt=O1"], "1", &["knob `n` has no level"]);
    case(&["--start", "opt=O1,n=1", "--forbid", "n<2"], "1", &["`n<2` forbids it"]);
    case(&["--knob", "opt=1,2"], "1", &["two knobs are called opt"]);
    case(&["--knob", "m=1..9:0"], "1", &["--knob <NAME=LEVELS>", "goes nowhere"]);
    case(&["--extract", "(\\d+"], "1", &["--extract <REGEX>", "unclosed group"]);
    case(&["--timeout", "soon"], "1", &["--timeout <TIME>", "30, 1.5s, 500ms, 2m or 1h"]);
    case(&["--jobs", "9"], "1", &["from 1 to 8"]);
    case(&["--budget", "2000"], "1", &["from 1 to 1024"]);
    case(&["--repeat", "2"], "1", &["--time"]);
    case(&["--space", "none.toml"], "1", &["none.toml"]);
    let output = folder.run(&["tune", "--", "echo"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("--knob <NAME=LEVELS>"));
}

#[test]
fn completions_and_manual_know_the_options() {
    let folder = Folder::new("tune-generated");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(folder.stdout(&["completions", shell]).contains("maximize"), "{shell}");
    }
    assert!(folder.stdout(&["man"]).contains(".TH trimtab"));
    folder.stdout(&["man", "--out", "pages"]);
    let page = fs::read_to_string(folder.0.join("pages/trimtab-tune.1")).unwrap();
    assert!(page.contains("extract") && folder.0.join("pages/trimtab.1").exists());
    let help = folder.stdout(&["tune", "--help"]);
    for word in ["Examples:", "{name} becomes a knob's level", "TRIMTAB_<NAME>", "--forbid <EXPRESSION>"] {
        assert!(help.contains(word), "no {word} in:\n{help}");
    }
}

/// The blocks of a language in the documentation.
fn blocks(language: &str) -> Vec<String> {
    let docs = include_str!("../../docs/tune.md");
    let fence = format!("```{language}\n");
    docs.split(&fence).skip(1).map(|part| part.split("```").next().unwrap().to_string()).collect()
}

#[test]
fn the_example_of_the_documentation_works() {
    let folder = Folder::new("tune-docs");
    fs::write(folder.0.join("multiply.c"), &blocks("c")[0]).unwrap();
    fs::write(folder.0.join("measure.sh"), &blocks("sh")[0]).unwrap();
    fs::set_permissions(folder.0.join("measure.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no cc");
        return;
    }
    for line in blocks("console") {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[0], "trimtab");
        let output = folder.run(&words[1..]);
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    }
    let lines = lines(&folder, "run.jsonl");
    assert_eq!((events(&lines, "tell"), events(&lines, "failed")), (24, 0));
    assert_eq!(lines[1]["config"], json!({"opt": "O2", "unroll": "no", "block": 64}));
    assert!(fs::read_to_string(folder.0.join("run.html")).unwrap().contains("What each knob does"));
}

/// The page of a log, which must be well-formed and load nothing.
fn page(folder: &Folder, log: &str) -> String {
    let path = folder.stdout(&["report", log]);
    let html = fs::read_to_string(folder.0.join(path.trim())).unwrap();
    let text = html.strip_prefix("<!DOCTYPE html>\n").unwrap();
    roxmltree::Document::parse(text).unwrap();
    for outside in ["http://", "https://", "<script", "NaN", "src="] {
        let count = text.replace("xmlns=\"http://www.w3.org/2000/svg\"", "").matches(outside).count();
        assert_eq!(count, 0, "{outside} in the page of {log}");
    }
    html
}

#[test]
fn the_report_shows_what_was_learned() {
    let folder = Folder::new("tune-report");
    script(&folder, "measure.sh", &format!("{COST}\n[ $2$1 != 8O1 ] || {{ echo '<b>no</b>' >&2; exit 3; }}"));
    let options = ["--budget", "40", "--quiet", "--start", "opt=O1,unroll=8,block=16,idle=&b", "--log", "run.jsonl"];
    let extra = [&options[..], &["--knob", "idle=<a>,&b"]].concat();
    assert!(run(&folder, &extra).status.success());
    let html = page(&folder, "run.jsonl");
    for words in [
        "By observation: <strong>",
        "opt=O3,unroll=4,block=96",
        "What each knob does",
        "Knobs that interact",
        "values came within two standard deviations",
        "exit code 3",
        "idle=&lt;a&gt;",
    ] {
        assert!(html.contains(words), "no {words}");
    }
    // Every value is a dot in the progress; all but the first have a dot among the predictions,
    // too.
    assert_eq!(html.matches("class=\"lost\"").count() + html.matches(": expected ").count(), 40);
    // The least important knob comes last.
    let table = html.split("Importance").nth(1).unwrap().split("</table>").next().unwrap();
    let knobs: Vec<&str> =
        table.split("<th scope=\"row\">").skip(1).map(|row| row.split('<').next().unwrap()).collect();
    assert_eq!((knobs.len(), knobs[3]), (4, "idle"), "{knobs:?}");
    // In another directory, and never over the log.
    assert_eq!(folder.stdout(&["report", "run.jsonl", "--out", "pages"]).trim(), "pages/run.html");
    fs::copy(folder.0.join("run.jsonl"), folder.0.join("log.html")).unwrap();
    assert_eq!(folder.run(&["report", "log.html"]).status.code(), Some(2));
    // A log that is being written, torn anywhere, or of another kind.
    let bytes = fs::read(folder.0.join("run.jsonl")).unwrap();
    let ends: Vec<usize> = (0..bytes.len()).filter(|place| bytes[*place] == b'\n').collect();
    for length in [ends[0] + 1, ends[0] + 9, ends[1] + 1, ends[2] + 1, ends[4] + 1, ends[6] + 20, bytes.len() - 3] {
        fs::write(folder.0.join("part.jsonl"), &bytes[..length]).unwrap();
        page(&folder, "part.jsonl");
    }
    fs::write(folder.0.join("notes.txt"), "notes\n").unwrap();
    let output = folder.run(&["report", "notes.txt"]);
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("not a log of trimtab tune"));
    // Nothing but failures, and values that are all the same.
    folder.run(&["tune", "--knob", "x=1..9", "--quiet", "--log", "bad.jsonl", "--", "false"]);
    assert!(page(&folder, "bad.jsonl").contains("Nothing was measured with success"));
    folder.run(&["tune", "--knob", "x=1..9", "--knob", "y=-1,0", "--quiet", "--log", "flat.jsonl", "--", "echo", "-5"]);
    page(&folder, "flat.jsonl");
    folder.run(&["tune", "--knob", "x=1,2", "--quiet", "--maximize", "--log", "two.jsonl", "--", "echo", "{x}e30"]);
    page(&folder, "two.jsonl");
}
