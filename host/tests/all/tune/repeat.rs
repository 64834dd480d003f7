//! Several runs of the command per measurement.

use std::fs;

use crate::common::{Folder, text};
use serde_json::json;

use super::{events, lines, script};

/// The n-th run prints 10 per level and the n-th of 0, 1, 5, 0, 1, 5, …
fn outliers(folder: &Folder, first: usize) {
    fs::write(folder.0.join("count"), format!("{first}\n")).unwrap();
    let body = "read n < count; echo $((n + 1)) > count; case $((n % 3)) in 0) e=0;; 1) e=1;; 2) e=5;; esac";
    script(folder, "m.sh", &format!("{body}; echo $(($1 * 10 + e))"));
}

fn words<'a>(options: &[&'a str]) -> Vec<&'a str> {
    [&["tune", "--knob", "n=1..40", "--repeat", "3"], options, &["--", "./m.sh", "{n}"]].concat()
}

#[test]
fn the_costs_of_a_measurement_are_put_together() {
    let folder = Folder::new("tune-repeat");
    for (by, rest) in [("median", 1.0), ("mean", 2.0), ("min", 0.0)] {
        outliers(&folder, 0);
        let report = folder.json(&words(&["--by", by, "--noise", "none", "--budget", "6", "--json"]));
        for measurement in report["measurements"].as_array().unwrap() {
            let level = measurement["config"]["n"].as_f64().unwrap();
            assert!((measurement["value"].as_f64().unwrap() - 10.0 * level - rest).abs() < 1e-9, "{by}: {measurement}");
        }
        assert_eq!(fs::read_to_string(folder.0.join("count")).unwrap(), "18\n");
    }
    // The median is what one gets, and a log knows how its costs were made.
    outliers(&folder, 0);
    assert!(folder.run(&words(&["--budget", "2", "--log", "run.jsonl"])).status.success());
    assert_eq!(lines(&folder, "run.jsonl")[0]["cost"], "last number, median of 3");
    let output = folder.run(&words(&["--budget", "3", "--log", "run.jsonl", "--by", "min"]));
    let err = text(&output.stderr);
    assert!(err.contains("the cost was last number, median of 3 and is last number, least of 3"), "{err}");
    // One failure is the failure of the measurement.
    script(&folder, "m.sh", "echo x >> runs; [ $(wc -l < runs) -ne 2 ] && echo 1");
    let report = folder.json(&words(&["--budget", "2", "--json"]));
    assert_eq!((&report["failures"], fs::read_to_string(folder.0.join("runs")).unwrap().len()), (&json!(1), 2 * 5));
}

/// Every cost of a mean is told, and a run that is cut goes on with the same asks.
#[test]
fn the_costs_of_a_mean_are_all_told() {
    let folder = Folder::new("tune-repeat-mean");
    let options = |log| words(&["--by", "mean", "--budget", "8", "--json", "--log", log]);
    outliers(&folder, 0);
    let whole = folder.json(&options("whole.jsonl"));
    let wanted = lines(&folder, "whole.jsonl");
    assert_eq!(events(&wanted, "tell"), 8);
    let first = wanted.iter().find(|line| line["event"] == "tell").unwrap();
    assert_eq!(first["values"].as_array().map(Vec::len), Some(3));
    assert_eq!(whole["best"]["measured"].as_u64().unwrap() % 3, 0, "{}", whole["best"]);
    let log = fs::read_to_string(folder.0.join("whole.jsonl")).unwrap();
    let all: Vec<&str> = log.split_inclusive('\n').collect();
    for kept in [3, 8, 13] {
        let told = all[..kept].iter().filter(|line| line.contains("\"event\":\"tell\"")).count();
        outliers(&folder, 3 * told);
        fs::write(folder.0.join("cut.jsonl"), all[..kept].concat()).unwrap();
        folder.json(&options("cut.jsonl"));
        assert_eq!(lines(&folder, "cut.jsonl"), wanted, "cut after {kept} lines");
    }
    // The report reads it, and without noise there is nothing to tell but the mean.
    folder.stdout(&["report", "whole.jsonl"]);
    outliers(&folder, 0);
    folder.json(&words(&["--by", "mean", "--budget", "3", "--json", "--noise", "none", "--log", "none.jsonl"]));
    assert!(lines(&folder, "none.jsonl").iter().all(|line| line.get("values").is_none()));
}
