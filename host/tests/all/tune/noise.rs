//! Noise: what is measured again, what is reported, and the final round.

use std::collections::HashMap;
use std::fs;

use crate::common::{Folder, text};
use serde_json::{Value, json};

use super::{MEASURE, lines, run, script, words};

/// The bowl with its bottom of 200 at O3, 4, 96, and pseudo-noise from −30 to 30: the n-th run gets
/// the n-th number of a fixed sequence. `first` is the number of the first run.
fn noisy(folder: &Folder, first: usize) {
    fs::write(folder.0.join("count"), format!("{first}\n")).unwrap();
    let body = r#"
read n < count; echo $((n + 1)) > count
case $1 in O1) a=40;; O2) a=15;; O3) a=0;; Os) a=60;; esac
noise=$(( (n * 7919 + n * n * 104729) % 61 - 30 ))
echo $(( 200 + a + 10 * ($2 - 4) * ($2 - 4) + ($3 - 96) * ($3 - 96) / 16 + noise ))"#;
    script(folder, "measure.sh", body);
}

/// The combinations that a log asked, in order.
fn asked(lines: &[Value]) -> Vec<String> {
    lines.iter().filter(|line| line["event"] == "ask").map(|line| line["config"].to_string()).collect()
}

fn repeats(asked: &[String]) -> usize {
    let mut counts = HashMap::new();
    asked.iter().for_each(|config| *counts.entry(config).or_insert(0) += 1);
    asked.len() - counts.len()
}

/// The model cuts bad outliers, so of a bad start it expects less than was measured there.
#[test]
fn the_gain_is_from_what_was_measured_at_the_start() {
    let folder = Folder::new("tune-noise-gain");
    noisy(&folder, 1);
    let output = run(&folder, &["--budget", "60", "--start", "opt=Os,unroll=8,block=256", "--log", "run.jsonl"]);
    let out = text(&output.stdout);
    let start = lines(&folder, "run.jsonl")[2]["value"].as_f64().unwrap();
    let best: f64 = out.strip_prefix("best      ").unwrap().split(" ±").next().unwrap().parse().unwrap();
    let first = out.lines().next().unwrap();
    let percent: f64 = first.rsplit_once(", −").unwrap().1.strip_suffix(" % from start").unwrap().parse().unwrap();
    assert!(start > 1900.0 && (100.0 * (1.0 - best / start) - percent).abs() < 0.2, "{start} {out}");
}

#[test]
fn none_never_measures_twice_and_auto_does() {
    let folder = Folder::new("tune-noise");
    noisy(&folder, 1);
    let output = run(&folder, &["--budget", "60", "--noise", "none", "--log", "none.jsonl"]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(repeats(&asked(&lines(&folder, "none.jsonl"))), 0, "{err}");
    assert!(out.contains("(measurement ") && out.contains("by model  ") && !out.contains("noise "), "{out}");
    assert!(out.contains("\nmeasured  60\n") && !err.contains("again"), "{out}{err}");

    noisy(&folder, 1);
    let output = run(&folder, &["--budget", "60", "--log", "auto.jsonl"]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let again = repeats(&asked(&lines(&folder, "auto.jsonl")));
    assert!(again >= 6 && err.matches("  again  ").count() == again, "{again}\n{err}");
    assert!(out.starts_with("best      ") && out.lines().next().unwrap().contains(" ± "), "{out}");
    let first = out.lines().next().unwrap();
    assert!(first.contains(", measured ") && first.contains(" times: ") && first.ends_with(" on average"), "{out}");
    assert!(out.contains("\nluckiest  ") && out.contains("\nnoise     "), "{out}");
    assert!(out.contains(&format!("\nmeasured  60, {again} of them again\n")), "{out}");
    // As JSON and as one line, from the log alone.
    let report = folder.json(&words(&["--budget", "60", "--log", "auto.jsonl", "--json"], &MEASURE));
    let best = &report["best"];
    assert_eq!((&best["config"], &report["repeats"]), (&report["best_by_model"]["config"], &json!(again)));
    assert_eq!(
        (&best["value"], &best["std_dev"]),
        (&report["best_by_model"]["mean"], &report["best_by_model"]["std_dev"])
    );
    assert!(best["measured"].as_u64() > Some(1) && (5.0..60.0).contains(&report["noise"].as_f64().unwrap()));
    assert!(report["best_observed"]["value"].as_f64() < best["value"].as_f64(), "the luckiest is lower");
    let quiet = run(&folder, &["--budget", "60", "--log", "auto.jsonl", "--quiet"]);
    let value: f64 = text(&quiet.stdout).split(' ').next().unwrap().parse().unwrap();
    assert!((value - best["value"].as_f64().unwrap()).abs() < 1e-3);
    folder.stdout(&["report", "auto.jsonl"]);
    let page = fs::read_to_string(folder.0.join("auto.html")).unwrap();
    for words in [", measured ", "may have been luck", ", again</th>", "measurements repeated"] {
        assert!(page.contains(words), "no {words}");
    }
}

/// The last tenth of the budget measures only what was measured before, and a run that is cut in it
/// ends with the same log.
#[test]
fn the_final_round_measures_the_best_again_and_survives_a_cut() {
    let folder = Folder::new("tune-finish");
    let options = |log| ["--budget", "50", "--noise", "15", "--quiet", "--log", log];
    noisy(&folder, 1);
    let whole = run(&folder, &options("whole.jsonl"));
    let wanted = lines(&folder, "whole.jsonl");
    let configs = asked(&wanted);
    let (before, round) = configs.split_at(45);
    assert!(round.iter().all(|config| before.contains(config)), "{round:?}");
    // The fewest measurements come first, so not what the tuner has repeated most.
    let count = |config: &&String| before.iter().filter(|own| own == config).count();
    let most = before.iter().max_by_key(count).unwrap();
    assert!(count(&most) > 3 && !round.contains(most), "{} of {most}, then {round:?}", count(&most));
    // Cut after every record of the round and a little before it; the noise goes on where it was.
    let log = fs::read_to_string(folder.0.join("whole.jsonl")).unwrap();
    let all: Vec<&str> = log.split_inclusive('\n').collect();
    for kept in all.len() - 13..all.len() {
        let told = all[..kept].iter().filter(|line| line.contains("\"event\":\"tell\"")).count();
        noisy(&folder, 1 + told);
        fs::write(folder.0.join("cut.jsonl"), all[..kept].concat()).unwrap();
        let output = run(&folder, &options("cut.jsonl"));
        assert_eq!(lines(&folder, "cut.jsonl"), wanted, "cut after {kept} of {} lines", all.len());
        assert_eq!(text(&output.stdout), text(&whole.stdout));
    }
}

#[test]
fn several_at_once_end_with_a_round_too() {
    let folder = Folder::new("tune-finish-jobs");
    // The noise depends on the time here, because several runs would fight for the counter.
    let body = "echo $(( $3 + ($(date +%N | sed 's/^0*//;s/^$/0/') / 1000) % 40 ))";
    script(&folder, "measure.sh", body);
    let output = run(&folder, &["--budget", "40", "--jobs", "6", "--noise", "12", "--log", "run.jsonl"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let configs = asked(&lines(&folder, "run.jsonl"));
    assert_eq!(configs.len(), 40);
    assert!(configs[36..].iter().all(|config| configs[..36].contains(config)), "{configs:?}");
}

/// Every combination is measured, then the best ones again: a round, not the whole budget.
#[test]
fn an_exhausted_space_with_noise_gets_a_round() {
    let folder = Folder::new("tune-finish-small");
    noisy(&folder, 1);
    let knobs = ["tune", "--knob", "opt=O2,O3", "--knob", "unroll=2,4", "--knob", "block=96,112"];
    let tune = |noise| {
        let words =
            [&knobs[..], &["--budget", "80", "--noise", noise, "--log", noise, "--quiet", "--"], &MEASURE].concat();
        assert!(folder.run(&words).status.success());
        asked(&lines(&folder, noise))
    };
    assert_eq!(tune("none").len(), 8);
    noisy(&folder, 1);
    let all = tune("15");
    let last_new = (0..all.len()).rev().find(|place| !all[..*place].contains(&all[*place])).unwrap();
    assert_eq!((all.len() - repeats(&all), all.len() - last_new - 1), (8, 8), "{all:?}");
    // The same command does nothing more.
    assert_eq!(tune("15"), all);
}

#[test]
fn the_noise_of_a_log_is_kept() {
    let folder = Folder::new("tune-noise-log");
    noisy(&folder, 1);
    assert!(run(&folder, &["--budget", "3", "--noise", "2.5", "--log", "run.jsonl"]).status.success());
    assert_eq!(lines(&folder, "run.jsonl")[0]["noise"], 2.5);
    for (noise, says) in [("auto", "--noise was 2.5 and is auto"), ("none", "--noise was 2.5 and is none")] {
        let output = run(&folder, &["--budget", "4", "--noise", noise, "--log", "run.jsonl"]);
        assert!(output.status.code() == Some(2) && text(&output.stderr).contains(says), "{}", text(&output.stderr));
    }
    assert!(run(&folder, &["--budget", "4", "--noise", "2.5", "--log", "run.jsonl"]).status.success());
    for word in ["0", "-1", "nan", "much"] {
        let output = run(&folder, &["--noise", word]);
        let err = text(&output.stderr);
        assert!(
            output.status.code() == Some(2) && err.contains("--noise <SD>") && err.contains("write auto, none"),
            "{err}"
        );
    }
}
