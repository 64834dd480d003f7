//! `trimtab bench` end to end: its files, its errors, and how it goes on after a stop.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Folder, text};
use serde_json::Value;

/// Every file of a directory of runs, without the times.
fn runs(folder: &Path) -> BTreeMap<String, Vec<Value>> {
    let mut found = BTreeMap::new();
    for problem in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for file in fs::read_dir(&problem).unwrap().map(|entry| entry.unwrap().path()) {
            let name = file.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            let lines = fs::read_to_string(&file).unwrap();
            let records = lines.lines().map(|line| {
                let mut record: Value = serde_json::from_str(line).unwrap();
                for seconds in ["optimizer_seconds", "objective_seconds"] {
                    assert!(record[seconds].take().as_f64().unwrap() >= 0.0);
                }
                record
            });
            found.insert(name, records.collect());
        }
    }
    found
}

const SMALL: [&str; 13] = [
    "bench",
    "--problem",
    "thumbs-up:m=8",
    "bqp",
    "--method",
    "trimtab,random,local-search",
    "--seeds",
    "2",
    "--budget",
    "12",
    "--mask",
    "both",
    "--quiet",
];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SMALL[..], more].concat()
}

#[test]
fn a_bench_writes_every_evaluation_and_says_what_it_found() {
    let folder = Folder::new("bench");
    let table = folder.stdout(&small(&["--out", "runs"]));
    assert!(table.contains("thumbs-up:m=8, masked") && table.contains("local-search"), "{table}");
    let runs = runs(&folder.0.join("runs"));
    assert_eq!(runs.len(), 2 * 3 * 2 * 2);
    for (name, records) in &runs {
        assert_eq!(records.len(), 12, "{name}");
        let mut best = f64::INFINITY;
        for (i, record) in records.iter().enumerate() {
            best = best.min(record["value"].as_f64().unwrap());
            assert_eq!(record["index"], i + 1);
            assert_eq!(record["initial"], i == 0);
            assert_eq!(record["best"].as_f64().unwrap(), best);
            assert_eq!(record["mask"], name.ends_with("-masked.jsonl"));
        }
    }
    // All methods of a seed start alike, masked or not, in the problem's own levels.
    for seed in 0..2 {
        let first =
            |method: &str, mask: &str| runs[&format!("bqp/{method}-{seed}{mask}.jsonl")][0]["combination"].clone();
        assert!(["trimtab", "random", "local-search"].iter().all(|m| first(m, "") == first("random", "-masked")));
    }
    assert_ne!(runs["bqp/random-0.jsonl"][0]["value"], runs["bqp/random-1.jsonl"][0]["value"]);
}

#[test]
fn what_is_there_is_kept_and_what_is_missing_is_run() {
    let folder = Folder::new("resume");
    folder.stdout(&small(&["--out", "runs", "--jobs", "1"]));
    let before = runs(&folder.0.join("runs"));
    let kept = folder.0.join("runs/bqp/trimtab-0.jsonl");
    let lost = folder.0.join("runs/bqp/trimtab-1-masked.jsonl");
    let bytes = fs::read(&kept).unwrap();
    fs::remove_file(&lost).unwrap();
    folder.stdout(&small(&["--out", "runs", "--jobs", "2"]));
    assert_eq!(runs(&folder.0.join("runs")), before);
    // Times differ from run to run, so equal bytes mean that the file was left alone.
    assert_eq!(fs::read(&kept).unwrap(), bytes);
    // A file that was cut at the end of a line is run again.
    let whole = fs::read_to_string(&kept).unwrap();
    fs::write(&kept, whole.split_inclusive('\n').take(7).collect::<String>()).unwrap();
    folder.stdout(&small(&["--out", "runs"]));
    assert_eq!(runs(&folder.0.join("runs")), before);
    // A space of 8 combinations ends a run before its budget, which is no cut.
    let tiny =
        ["bench", "--problem", "thumbs-up:m=3", "--method", "random", "--seeds", "1", "--out", "tiny", "--quiet"];
    folder.stdout(&tiny);
    let path = folder.0.join("tiny/thumbs-up-m-3/random-0.jsonl");
    let bytes = fs::read(&path).unwrap();
    folder.stdout(&tiny);
    assert_eq!((fs::read(&path).unwrap(), bytes.iter().filter(|byte| **byte == b'\n').count()), (bytes, 8));
}

#[test]
fn noise_and_failures_are_told_and_summed_up() {
    let folder = Folder::new("noise");
    let words = ["bench", "--problem", "thumbs-up:m=8,bqp", "--method", "trimtab,heat,random", "--seeds", "2"];
    let noisy =
        [&words[..], &["--budget", "10", "--noise", "0.5", "--heavy-tails", "--quiet", "--out", "noisy"]].concat();
    let text = folder.stdout(&noisy);
    assert!(text.contains("Recommendations under noise") && text.contains("truth within 2 sd"), "{text}");
    assert!(text.contains("Evaluations to target, relative to trimtab"), "{text}");
    let found = runs(&folder.0.join("noisy"));
    assert_eq!(found.len(), 2 * 3 * 2, "two problems separated by a comma");
    let error = |name: &str, i: usize| {
        let record = &found[&format!("bqp/{name}.jsonl")][i];
        record["told"].as_f64().unwrap() - record["value"].as_f64().unwrap()
    };
    for i in 0..10 {
        assert!((error("trimtab-0", i) - error("random-0", i)).abs() < 1e-9 && error("heat-0", i) != 0.0, "{i}");
    }
    assert!(found["bqp/heat-1.jsonl"][9]["recommended"].is_f64());
    // Other settings are refused by name.
    let output = folder.run(&[&words[..], &["--budget", "10", "--noise", "0.4", "--out", "noisy"]].concat());
    assert_eq!(output.status.code(), Some(2));
    let message = crate::common::text(&output.stderr);
    assert!(message.contains("has runs of --budget 10 --init 1 --noise 0.5 --heavy-tails"), "{message}");

    let failing = [&words[..], &["--budget", "20", "--fail", "--quiet", "--out", "failing"]].concat();
    let text = folder.stdout(&failing);
    assert!(text.contains("failed per run"), "{text}");
    let all = runs(&folder.0.join("failing"));
    let records = || all.values().flatten();
    assert!(records().any(|record| record["failed"] == true && record["value"].is_null()));
    assert!(records().any(|record| record["failed"].is_null() && record["value"].is_f64()));
    folder.stdout(&["report", "failing"]);
    let tables = fs::read_to_string(folder.0.join("failing/tables.md")).unwrap();
    assert!(tables.contains("## Failures"), "{tables}");
}

#[test]
fn shards_add_up_to_the_whole() {
    let folder = Folder::new("shards");
    folder.stdout(&small(&["--out", "whole"]));
    let mut parts = BTreeMap::new();
    for shard in ["0/3", "1/3", "2/3"] {
        let out = format!("part{}", &shard[..1]);
        folder.stdout(&small(&["--out", &out, "--shard", shard]));
        let part = runs(&folder.0.join(&out));
        assert_eq!(part.len(), 8);
        parts.extend(part);
    }
    assert_eq!(parts, runs(&folder.0.join("whole")));
}

/// promise: trimtab bench | Ctrl-C | whole runs stay; the same command goes on
#[test]
fn ctrl_c_leaves_whole_runs_and_the_same_command_goes_on() {
    let folder = Folder::new("ctrl-c");
    let words =
        ["bench", "--problem", "thumbs-up", "--method", "trimtab", "--seeds", "40", "--out", "runs", "--jobs", "1"];
    let mut child = folder.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let first = folder.0.join("runs/thumbs-up/trimtab-0.jsonl");
    while !first.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signalled.success());
    let output = child.wait_with_output().unwrap();
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("the same command goes on"), "{message}");
    let stopped = runs(&folder.0.join("runs"));
    assert!(!stopped.is_empty() && stopped.len() < 40, "{}", stopped.len());
    assert!(stopped.values().all(|records| records.len() == 100));
    folder.stdout(&words);
    let all = runs(&folder.0.join("runs"));
    assert_eq!(all.len(), 40);
    assert!(stopped.iter().all(|(name, records)| all[name] == *records));
}

/// promise: trimtab bench | unknown problems, methods, options | named, exit code 2
#[test]
fn what_cannot_be_run_is_named() {
    let folder = Folder::new("bench-errors");
    for (words, wanted) in [
        (&["bench", "--problem", "thumbsup", "--out", "runs"][..], "there is no problem `thumbsup`"),
        (&["bench", "--problem", "thumbs-up:n=3", "--out", "runs"], "no parameter `n`; it has m"),
        (&["bench", "--problem", "thumbs-up:m=0", "--out", "runs"], "write a whole number from 1"),
        (&["bench", "--problem", "thumbs-up", "--method", "rnd", "--out", "runs"], "there is no method `rnd`"),
        (&["bench", "--problem", "thumbs-up", "--shard", "3/3", "--out", "runs"], "write i/n"),
        (&["bench", "--instance", "none.json", "--out", "runs"], "cannot read the instance none.json"),
        (&["bench", "--out", "runs"], "--problem"),
    ] {
        let output = folder.run(words);
        let message = text(&output.stderr);
        assert!(!output.status.success() && message.contains(wanted), "{words:?}: {message}");
    }
    // A directory keeps its settings.
    folder.stdout(&[
        "bench",
        "--problem",
        "bqp",
        "--method",
        "random",
        "--seeds",
        "1",
        "--budget",
        "5",
        "--out",
        "runs",
    ]);
    let output = folder.run(&["bench", "--problem", "bqp", "--method", "random", "--budget", "6", "--out", "runs"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("has runs of --budget 5 --init 1"));
    // A broken line is named by its number.
    let file = folder.0.join("runs/bqp/random-0.jsonl");
    let broken = fs::read_to_string(&file).unwrap().replacen("\"index\":3", "\"index\":", 1);
    fs::write(&file, broken).unwrap();
    let again = ["bench", "--problem", "bqp", "--method", "random", "--seeds", "1", "--budget", "5", "--out", "runs"];
    let output = folder.run(&again);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("random-0.jsonl, line 3"), "{}", text(&output.stderr));
}

/// promise: trimtab bench | an instance that is a command | measured once per combination and kept; failures are failures
#[cfg(unix)]
#[test]
fn a_command_is_a_problem() {
    let folder = Folder::new("bench-command");
    fs::write(folder.0.join("space.toml"), "[knobs]\na = \"1..9\"\nmode = \"slow,*fast,broken\"\n").unwrap();
    let script =
        "[ $2 = broken ] && exit 3; echo $1 $2 >> calls; [ $2 = slow ] && echo $(($1 + 20)) || echo $((10 - $1))";
    fs::write(folder.0.join("m.sh"), script).unwrap();
    let instance = r#"{"problem": "command", "space": "space.toml", "command": ["sh", "m.sh", "{a}", "{mode}"]}"#;
    fs::write(folder.0.join("mine.json"), instance).unwrap();
    let words = ["bench", "--instance", "mine.json", "--method", "trimtab,random", "--seeds", "2", "--budget", "20"];
    let words = [&words[..], &["--jobs", "1", "--quiet", "--out"]].concat();
    let out = folder.stdout(&[&words[..], &["runs"]].concat());
    assert!(out.contains("\nmine ") && out.contains("Failures"), "{out}");
    for records in runs(&folder.0.join("runs")).values() {
        assert_eq!(records[0]["combination"], serde_json::json!([0, 1]), "the defaults come first");
        for record in records {
            assert_eq!(record["failed"] == true, record["combination"][1] == 2, "{record}");
        }
    }
    let calls = || fs::read_to_string(folder.0.join("calls")).unwrap().lines().count();
    let kept = || fs::read_to_string(folder.0.join("mine.measured.jsonl")).unwrap();
    let (before, lines) = (calls(), kept());
    // A torn line is dropped; everything else is known already.
    fs::write(folder.0.join("mine.measured.jsonl"), lines.clone() + "{\"levels\":[1").unwrap();
    assert_eq!(folder.stdout(&[&words[..], &["again"]].concat()).lines().count(), out.lines().count());
    assert_eq!((calls(), kept()), (before, lines));
    fs::write(folder.0.join("mine.measured.jsonl"), "{\"levels\":[1,1,1],\"cost\":1}\n").unwrap();
    let refused = folder.run(&[&words[..], &["third"]].concat());
    assert!(text(&refused.stderr).contains("its measurements are of another space; delete the file"));
}
