//! `trimtab tune` end to end: real commands, all kinds of failure, stops, resumed and damaged logs.

#![cfg(unix)]

mod csv;
mod jobs;
mod limits;
mod log;
mod many;
mod noise;
mod repeat;
mod report;
mod second_number;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};
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

/// The lines of a log, without times, checksums and resumptions.
fn lines(folder: &Folder, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.0.join(name)).unwrap();
    assert!(text.ends_with('\n'));
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.retain(|line| line["event"] != "resume");
    for line in &mut lines {
        line.as_object_mut().unwrap().retain(|name, _| name != "seconds" && name != "crc");
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
    let cost = |levels: &[trimtab::Level]| {
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

/// promise: trimtab tune | the command exits with an error, prints no number, crashes or takes too long | a failed measurement; the run goes on
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
    assert!(text(&output.stderr).contains("every measurement failed, 2 of 2: exit code 4\n"));
    // A missing program ends the run at once.
    let output = folder.run(&["tune", "--knob", "x=1,2", "--", "./missing"]);
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("cannot start `./missing`"));
}

/// promise: trimtab tune | a forbidden combination | never run
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

/// promise: trimtab tune | odd arguments | an error with exit code 2, never a panic
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
        "--import",
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
    case(&["--start", "opt=O1,m=1"], "1", &["there is no knob `m`; there are opt, n"]);
    case(&["--knob", "m=1,*2", "--forbid", "m=2"], "1", &["`m=2` forbids opt=O1,n=1,m=2; write --start"]);
    case(&["--knob", "m=*1,*2"], "1", &["--knob <NAME=LEVELS>", "marks two defaults"]);
    case(&["--start", "opt=O1,n=1", "--forbid", "n<2"], "1", &["`n<2` forbids it"]);
    case(&["--knob", "opt=1,2"], "1", &["two knobs are called opt"]);
    case(&["--knob", "m=1..9:0"], "1", &["--knob <NAME=LEVELS>", "goes nowhere"]);
    case(&["--extract", "(\\d+"], "1", &["--extract <REGEX>", "unclosed group"]);
    case(&["--timeout", "soon"], "1", &["--timeout <TIME>", "30, 1.5s, 500ms, 2m or 1h"]);
    case(&["--jobs", "65"], "1", &["from 1 to 64"]);
    case(&["--jobs", "0"], "1", &["from 1 to 64"]);
    case(&["--budget", "2000"], "1", &["from 1 to 1024"]);
    case(&["--by", "mean"], "1", &["--repeat <N>"]);
    case(&["--by", "most", "--repeat", "2"], "1", &["--by <BY>", "median, mean, min"]);
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
    let page = folder.stdout(&["man", "tune"]);
    assert!(page.contains(".TH trimtab-tune") && page.contains("max\\-time") && page.contains("extract"), "{page}");
    let output = folder.run(&["man", "tuen"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("no command `tuen`; there are antenna,"));
    folder.stdout(&["man", "--out", "pages"]);
    let page = fs::read_to_string(folder.0.join("pages/trimtab-tune.1")).unwrap();
    assert!(page.contains("extract") && folder.0.join("pages/trimtab.1").exists());
    let help = folder.stdout(&["tune", "--help"]);
    for word in ["Examples:", "{name} becomes a knob's level", "TRIMTAB_<NAME>", "--forbid <EXPRESSION>"] {
        assert!(help.contains(word), "no {word} in:\n{help}");
    }
    // clap would make a line end of `{n}`.
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for example in ["./measure.sh {opt} {unroll}", "-{level} -T{threads}", "'make -s SIZE={size} && ./bench | tail -1'"]
    {
        assert!(words.contains(example), "no {example} in:\n{help}");
    }
}
