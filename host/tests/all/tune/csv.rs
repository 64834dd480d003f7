//! Measurements from a table and to one.

use std::fs;

use crate::common::{Folder, text};
use serde_json::json;

use super::{COST, MEASURE, events, lines, run, script, words};

const TABLE: &str = "opt;note;block;unroll;cost\nO3;a;96;4;0,5\nO1;;16;8;failed\n\"O2\";b;32;4.0;271\n";

/// promise: trimtab tune | --import | counts like measured; killed at any place, the same command goes on
#[test]
fn a_table_counts_as_measured_and_a_cut_import_goes_on() {
    let folder = Folder::new("tune-import");
    script(&folder, "measure.sh", COST);
    fs::write(folder.0.join("runs.csv"), TABLE).unwrap();
    let options = |log| ["--import", "runs.csv", "--budget", "8", "--start", "opt=O3,unroll=4,block=96", "--log", log];
    let whole = run(&folder, &options("whole.jsonl"));
    assert!(whole.status.success(), "{}", text(&whole.stderr));
    assert!(text(&whole.stderr).contains("3 of them are known already"), "{}", text(&whole.stderr));
    let wanted = lines(&folder, "whole.jsonl");
    assert_eq!((events(&wanted, "ask"), wanted.len()), (8, 17));
    assert_eq!((&wanted[2]["value"], &wanted[2]["config"]["block"]), (&json!(0.5), &json!(96)));
    assert_eq!((&wanted[4]["event"], &wanted[6]["value"]), (&json!("failed"), &json!(271.0)));
    // What the table has is not measured again as a start.
    assert_ne!(wanted[7]["config"], wanted[1]["config"]);
    let log = fs::read_to_string(folder.0.join("whole.jsonl")).unwrap();
    let all: Vec<&str> = log.split_inclusive('\n').collect();
    for kept in 1..all.len() {
        fs::write(folder.0.join("cut.jsonl"), all[..kept].concat()).unwrap();
        let output = run(&folder, &options("cut.jsonl"));
        assert_eq!(text(&output.stdout).replace("cut.", "whole."), text(&whole.stdout), "cut after {kept} lines");
        assert_eq!(lines(&folder, "cut.jsonl"), wanted, "cut after {kept} lines");
    }
    // Another table than the one that it began with.
    fs::write(folder.0.join("runs.csv"), TABLE.replace("271", "272")).unwrap();
    let output = run(&folder, &options("whole.jsonl"));
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("does not begin with the measurements"));
    // Without a log, and with nothing left to do.
    let report = folder.json(&words(&["--import", "runs.csv", "--budget", "4", "--json"], &MEASURE));
    assert_eq!((&report["measured"], &report["failures"]), (&json!(4), &json!(1)));
    let output = run(&folder, &["--import", "runs.csv", "--budget", "3"]);
    assert!(
        text(&output.stderr).contains("its 3 measurements count, so they leave nothing"),
        "{}",
        text(&output.stderr)
    );
}

/// promise: trimtab tune | a table with a bad row | refused with its line, no log is begun
#[test]
fn a_bad_table_begins_nothing() {
    let folder = Folder::new("tune-import-bad");
    script(&folder, "measure.sh", "touch ran; echo 1");
    fs::write(folder.0.join("runs.csv"), TABLE.replace(";271", ";fast")).unwrap();
    let output = run(&folder, &["--import", "runs.csv", "--log", "run.jsonl"]);
    let err = text(&output.stderr);
    assert!(output.status.code() == Some(2) && err.contains("--import runs.csv: line 4: the cost `fast`"), "{err}");
    assert!(!folder.0.join("run.jsonl").exists() && !folder.0.join("ran").exists());
    let output = run(&folder, &["--import", "none.csv"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("--import none.csv: "));
}

/// promise: trimtab export | a log or an export of serve | a table that tune --import reads to the same measurements
#[test]
fn a_log_becomes_a_table_and_a_log_again() {
    let folder = Folder::new("tune-export");
    script(&folder, "measure.sh", &format!("{COST}\n[ $2 -ne 8 ] || {{ echo 'a, b' >&2; exit 3; }}"));
    let start = ["--start", "opt=O1,unroll=8,block=16"];
    assert!(run(&folder, &[&start[..], &["--budget", "12", "--log", "run.jsonl"]].concat()).status.success());
    let table = folder.stdout(&["export", "run.jsonl", "--csv"]);
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!((rows[0], rows.len()), ("opt,unroll,block,cost,failed,seconds", 13));
    assert!(rows[1].starts_with("O1,8,16,failed,exit code 3,"), "{table}");
    assert_eq!(folder.stdout(&["export", "run.jsonl", "--csv", "--out", "run.csv"]), "");
    assert_eq!(fs::read_to_string(folder.0.join("run.csv")).unwrap(), table);
    // The same asks and values follow from the table as from the log.
    assert!(run(&folder, &["--import", "run.csv", "--budget", "20", "--log", "again.jsonl"]).status.success());
    assert!(run(&folder, &[&start[..], &["--budget", "20", "--log", "run.jsonl"]].concat()).status.success());
    let measured = |name: &str| -> Vec<_> {
        let told = lines(&folder, name).into_iter().filter(|line| line.get("value").is_some());
        told.map(|line| (line["config"].clone(), line["value"].clone())).collect()
    };
    assert_eq!(measured("again.jsonl"), measured("run.jsonl"));
    // The log itself is never overwritten.
    let output = folder.run(&["export", "run.jsonl", "--csv", "--out", "./run.jsonl"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("would be overwritten"));
    // What serve exports.
    let export = json!({"op": "init", "knobs": {"opt": "O1,O2", "n": "1..3"}, "records": [
        {"event": "ask", "id": 1, "levels": [0, 2]}, {"event": "tell", "id": 1, "value": 0.25},
        {"event": "failed", "levels": [1, 0]}, {"config": {"opt": "O2", "n": 2}, "value": 3}]});
    fs::write(folder.0.join("serve.json"), format!("{export}\n")).unwrap();
    let wanted = "opt,n,cost,failed,seconds\nO1,3,0.25,,\nO2,1,failed,failed,\nO2,2,3,,\n";
    assert_eq!(folder.stdout(&["export", "serve.json", "--csv"]), wanted);
    fs::write(folder.0.join("notes.txt"), "notes\n").unwrap();
    let output = folder.run(&["export", "notes.txt", "--csv"]);
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("not a log of trimtab tune"));
}
