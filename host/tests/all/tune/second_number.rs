//! Limits on further numbers: as fast as possible, but below 3 W.

use std::fs;

use crate::common::{Folder, text};
use serde_json::{Value, json};

use super::{events, lines, script};

const KNOBS: [&str; 6] = ["--knob", "clock=100..400:20", "--knob", "volt=0.8..1.4:0.05", "--knob", "mode=eco,fast"];
/// A faster clock takes less time and more power, and needs more voltage to be free of errors.
const BOARD: &str = r#"
awk -v clock="$1" -v volt="$2" -v mode="$3" 'BEGIN {
    watts = clock / 100 * volt * volt * (mode == "eco" ? 0.8 : 1)
    errors = exp(14 * (clock / 400 - volt) - 8)
    printf "progress 12\ntime: %.3f ms\nwatts = %.3f\nerrors %.3g\n", 1000 / clock * (mode == "eco" ? 1.25 : 1), watts, errors
}'"#;

fn words<'a>(options: &[&'a str]) -> Vec<&'a str> {
    [&["tune"], &KNOBS[..], options, &["--", "./board.sh", "{clock}", "{volt}", "{mode}"]].concat()
}

/// The least time of all combinations that keep both limits.
fn best_of_all() -> f64 {
    let mut best = f64::INFINITY;
    for (clock, volt) in
        (0..16).flat_map(|i| (0..13).map(move |j| (f64::from(100 + 20 * i), 0.8 + 0.05 * f64::from(j))))
    {
        for (slow, share) in [(1.25, 0.8), (1.0, 1.0)] {
            let (watts, errors) = (clock / 100.0 * volt * volt * share, (14.0 * (clock / 400.0 - volt) - 8.0).exp());
            if watts < 2.9995 && errors < 0.9995e-6 {
                best = f64::min(best, 1000.0 / clock * slow);
            }
        }
    }
    best
}

const BOTH: [&str; 8] = ["--cost", "time", "--limit", "watts<3", "--limit", "log(errors)<1e-6", "--noise", "none"];

/// promise: trimtab tune --limit | measurements that break a limit | count and teach, and the best is the best that keeps all
#[test]
fn the_best_keeps_the_limits() {
    let folder = Folder::new("tune-second");
    script(&folder, "board.sh", BOARD);
    let options = [&BOTH[..], &["--budget", "40", "--log", "run.jsonl"]].concat();
    let output = folder.run(&words(&options));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{err}");
    let best = best_of_all();
    let first = format!("best      {best:.3} that keeps watts<3, log(errors)<1e-6  (measurement ");
    assert!(out.starts_with(&first), "{out}");
    assert!(out.contains("\n          watts 2.") && out.contains(" break a limit\n"), "{out}");
    assert!(err.contains("measurements, keeping watts<3, log(errors)<1e-6\n"), "{err}");
    assert!(err.contains("(read from `time: ") && err.contains("`, `watts = "), "{err}");
    assert!(err.contains(": breaks watts<3, log(errors)<1e-6  clock="), "{err}");
    // The log has readings, not margins.
    let lines = lines(&folder, "run.jsonl");
    assert_eq!(lines[0]["limits"], json!(["watts<3", "log(errors)<1e-6"]));
    assert_eq!(lines[0]["cost"], "number after `time`");
    assert_eq!(events(&lines, "failed"), 0);
    let told = lines.iter().find(|line| line["event"] == "tell").unwrap();
    let numbers = told["numbers"].as_object().unwrap();
    assert_eq!(numbers.keys().collect::<Vec<_>>(), ["errors", "watts"]);
    assert!(numbers["watts"].as_f64().is_some_and(|watts| watts > 0.0), "{told}");
    // `replay` asks the same again.
    let replayed = folder.stdout(&["replay", "run.jsonl"]);
    assert!(replayed.contains("all 40 asks match to the bit"), "{replayed}");
    // The same as JSON, from the finished log.
    let json = folder.json(&words(&[&options[..], &["--json"]].concat()));
    assert_eq!(json["limits"], json!(["watts<3", "log(errors)<1e-6"]));
    assert!((json["best"]["value"].as_f64().unwrap() - best).abs() < 5e-4, "{}", json["best"]);
    assert!(json["best"]["numbers"]["watts"].as_f64().unwrap() < 3.0 && json["nearest"].is_null());
    let all = json["measurements"].as_array().unwrap();
    let breaking = all.iter().filter(|own| !own["breaks"].as_array().unwrap().is_empty()).count();
    assert_eq!(json["breaking"], breaking);
    for own in all {
        let [watts, errors] = ["watts", "errors"].map(|name| own["numbers"][name].as_f64().unwrap());
        let mut breaks = Vec::new();
        breaks.extend((watts >= 3.0).then_some("watts<3"));
        breaks.extend((errors >= 1e-6).then_some("log(errors)<1e-6"));
        assert_eq!(own["breaks"], json!(breaks), "{own}");
    }
}

/// promise: trimtab tune --limit | stopped anywhere | the same command goes on with the same asks
#[test]
fn a_cut_log_goes_on_with_the_same_bits() {
    let folder = Folder::new("tune-second-cut");
    script(&folder, "board.sh", BOARD);
    let options =
        |log| words(&[&BOTH[..6], &["--repeat", "2", "--by", "mean", "--budget", "14", "--log", log]].concat());
    assert!(folder.run(&options("whole.jsonl")).status.success());
    let wanted = lines(&folder, "whole.jsonl");
    let told: Vec<&Value> = wanted.iter().filter(|line| line["event"] == "tell").collect();
    assert!(told.iter().all(|line| line["values"].as_array().is_some_and(|values| values.len() == 2)));
    let log = fs::read_to_string(folder.0.join("whole.jsonl")).unwrap();
    let all: Vec<&str> = log.split_inclusive('\n').collect();
    for kept in [1, 2, 3, 10, 21, 28] {
        fs::write(folder.0.join("cut.jsonl"), all[..kept].concat()).unwrap();
        assert!(folder.run(&options("cut.jsonl")).status.success());
        assert_eq!(lines(&folder, "cut.jsonl"), wanted, "cut after {kept} lines");
    }
}

/// promise: trimtab tune --limit | a log with other limits, or tampered numbers | refused with the difference or the line, left as it was
#[test]
fn another_limit_or_a_tampered_log_is_refused() {
    let folder = Folder::new("tune-second-other");
    script(&folder, "board.sh", BOARD);
    let run = |limit: &str| {
        folder.run(&words(&[
            "--cost",
            "time",
            "--limit",
            limit,
            "--budget",
            "6",
            "--log",
            "run.jsonl",
            "--noise",
            "none",
        ]))
    };
    assert!(run("watts < 3.0").status.code().is_some_and(|code| code < 2));
    let before = fs::read(folder.0.join("run.jsonl")).unwrap();
    let output = run("watts<=3");
    let err = text(&output.stderr);
    assert!(output.status.code() == Some(2) && err.contains("--limit was watts<3.0 and is watts<=3"), "{err}");
    let output = folder.run(&words(&["--cost", "time", "--log", "run.jsonl", "--budget", "6", "--noise", "none"]));
    let err = text(&output.stderr);
    assert!(output.status.code() == Some(2) && err.contains("--limit was watts<3.0 and is none"), "{err}");
    let log = text(&before);
    for (from, to) in [("\"numbers\":{\"watts\":", "\"numbers\":{\"volts\":"), ("\"limits\":[\"watts<3.0\"],", "")] {
        // With a checksum, any change is damage; a log of format 1 has none, but still has to make sense.
        fs::write(folder.0.join("run.jsonl"), log.replacen(from, to, 1)).unwrap();
        let err = text(&run("watts<3").stderr);
        assert!(err.contains("is damaged: its checksum is wrong"), "{err}");
        let old: String = log
            .replacen(from, to, 1)
            .replacen("\"log\":2", "\"log\":1", 1)
            .lines()
            .map(|line| line.split(",\"crc\"").next().unwrap().to_string() + "}\n")
            .collect();
        fs::write(folder.0.join("old.jsonl"), &old).unwrap();
        let output = folder.run(&["export", "old.jsonl", "--csv"]);
        let err = text(&output.stderr);
        let wanted = if to.is_empty() { "the run has no limits" } else { "has `volts`, but no limit is on it" };
        assert!(!output.status.success() && err.contains(wanted), "{err}");
        assert_eq!(fs::read_to_string(folder.0.join("old.jsonl")).unwrap(), old);
    }
    fs::write(folder.0.join("run.jsonl"), &before).unwrap();
    assert!(run("watts<3").status.code().is_some_and(|code| code < 2));
    assert_eq!(fs::read(folder.0.join("run.jsonl")).unwrap(), before);
}

/// promise: trimtab tune --limit | nothing keeps the limits | no best but the nearest, exit code 1; a larger --budget goes on
#[test]
fn without_a_keeper_the_nearest_is_shown() {
    let folder = Folder::new("tune-second-none");
    script(&folder, "board.sh", BOARD);
    let options = |budget| {
        ["--cost", "time", "--limit", "watts<0.1", "--noise", "none", "--budget", budget, "--log", "run.jsonl"]
    };
    let output = folder.run(&words(&options("8")));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(out.starts_with("best      none: no measurement keeps watts<0.1\nnearest   "), "{out}");
    assert!(out.contains("\n          watts 0.") && out.contains("\nmeasured  8, 8 break a limit\n"), "{out}");
    assert!(err.contains("no measurement keeps watts<0.1: 8 of 8 break a limit; a larger --budget goes on"), "{err}");
    let output = folder.run(&words(&[&options("8")[..], &["--json"]].concat()));
    let json: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    assert!(json["best"].is_null() && json["nearest"]["breaks"] == json!(["watts<0.1"]), "{json}");
    let least = json["measurements"].as_array().unwrap().iter().map(|own| own["numbers"]["watts"].as_f64().unwrap());
    assert_eq!(json["nearest"]["numbers"]["watts"].as_f64(), least.reduce(f64::min));
    let output = folder.run(&words(&[&options("8")[..], &["--quiet"]].concat()));
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), String::new()));
    assert!(text(&folder.run(&words(&options("9"))).stdout).contains("\nmeasured  9, 9 break a limit\n"));
    let page = fs::read_to_string(folder.0.join(folder.stdout(&["report", "run.jsonl"]).trim())).unwrap();
    assert!(page.contains("No measurement keeps watts&lt;0.1. The nearest is measurement "));
}

/// promise: trimtab tune --limit, --cost | a wrong option, or a number missing in the middle of a run | refused before anything runs; a failed measurement
#[test]
fn what_is_wrong_is_said() {
    let folder = Folder::new("tune-second-wrong");
    script(&folder, "board.sh", &format!("touch ran\n{BOARD}"));
    for (options, wanted) in [
        (&["--limit", "watts<3"][..], "--limit 'watts<3' needs to know which number is the cost; add --cost NAME"),
        (&["--cost", "time", "--limit", "watts"], "has no bound; write a name, <, <=, > or >=, and a number"),
        (&["--cost", "time", "--limit", "watts<nan"], "the bound of `watts<nan` is not a number"),
        (&["--cost", "time", "--limit", "clock<200"], "the limit clock<200 is on a knob; forbid such levels instead"),
        (&["--cost", "3"], "`3` is a number"),
        (&["--cost", "time", "--time"], "cannot be used with"),
        (&["--cost", "time", "--extract", "x"], "cannot be used with"),
        (
            &["--time", "--limit", "a<1", "--limit", "b<1", "--limit", "c<1", "--limit", "d<1", "--limit", "e<1"],
            "there are 5 limits; the tuner keeps at most 4",
        ),
    ] {
        let output = folder.run(&words(&[options, &["--log", "run.jsonl"]].concat()));
        let err = text(&output.stderr);
        assert!(output.status.code() == Some(2) && err.contains(wanted), "{options:?}: {err}");
        assert!(!folder.0.join("ran").exists() && !folder.0.join("run.jsonl").exists());
    }
    // Numbers missing, doubled and not finite in the middle of a run are failures, and the run goes on.
    let odd =
        "if (clock == 300) errors = \"\"; if (clock < 200) errors = \"1e-7 2\"; if (clock > 320) errors = \"nan\"";
    let board = BOARD.replace("errors %.3g", "errors %s").replace("    printf", &format!("    {odd}\n    printf"));
    script(&folder, "board.sh", &board);
    let output = folder.run(&words(&[&BOTH[..], &["--budget", "60", "--log", "run.jsonl"]].concat()));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = lines(&folder, "run.jsonl");
    assert_eq!(events(&lines, "tell") + events(&lines, "failed"), 60);
    for line in lines.iter().filter(|line| line["event"] == "failed") {
        let wanted = match line["config"]["clock"].as_u64().unwrap() {
            300 => "nothing that it printed is named `errors`",
            ..200 => "two numbers stand after `errors`, `1e-7` and `2`",
            _ => "`nan` is not finite",
        };
        assert!(line["why"].as_str().unwrap().contains(wanted) && line["numbers"].is_null(), "{line}");
    }
    assert!(events(&lines, "failed") > 3);
}

/// A cost by name needs no limit, the cost itself may have one, and the time may stand beside numbers.
#[test]
fn names_without_limits_and_limits_without_names() {
    let folder = Folder::new("tune-second-names");
    script(&folder, "board.sh", BOARD);
    let json = folder.json(&words(&["--cost", "errors", "--budget", "3", "--json"]));
    assert!(json["limits"].is_null() && json["measurements"][0]["numbers"].is_null());
    assert!(json["best"]["value"].as_f64().unwrap() < 1e-2);
    let json =
        folder.json(&words(&["--cost", "time", "--limit", "time>=4", "--budget", "12", "--json", "--noise", "none"]));
    assert!(json["best"]["value"].as_f64().unwrap() >= 4.0 && json["best"]["numbers"]["time"] == json["best"]["value"]);
    let json = folder.json(&words(&["--time", "--limit", "watts<3", "--budget", "8", "--json", "--noise", "none"]));
    assert!(json["best"]["numbers"]["watts"].as_f64().unwrap() < 3.0);
    // A regular expression's letters are letters, and JSON is text with names.
    script(&folder, "json.sh", r#"echo "{\"t.*e\": $1, \"p99 (ms)\": 5, \"watts\": $1}""#);
    let json = folder.json(&[
        "tune",
        "--knob",
        "n=1..9",
        "--cost",
        "t.*e",
        "--limit",
        "watts>3",
        "--limit",
        "p99 (ms)<=5",
        "--noise",
        "none",
        "--json",
        "--",
        "./json.sh",
        "{n}",
    ]);
    assert_eq!((&json["best"]["value"], &json["breaking"]), (&json!(4.0), &json!(3)));
}

/// promise: trimtab export, tune --import | numbers that limits are on | a column each; what was exported is imported to the same run
#[test]
fn tables_carry_the_numbers() {
    let folder = Folder::new("tune-second-csv");
    script(&folder, "board.sh", BOARD);
    let options = |more: &[&'static str]| words(&[&BOTH[..], &["--budget", "12"], more].concat());
    let whole = folder.stdout(&options(&["--quiet", "--log", "run.jsonl"]));
    let table = folder.stdout(&["export", "run.jsonl", "--csv"]);
    assert!(table.starts_with("clock,volt,mode,cost,failed,seconds,watts,errors\n"), "{table}");
    assert_eq!(table.lines().count(), 13);
    fs::write(folder.0.join("run.csv"), table.lines().take(12).collect::<Vec<_>>().join("\n")).unwrap();
    assert_eq!(folder.stdout(&options(&["--quiet", "--import", "run.csv", "--log", "again.jsonl"])), whole);
    let told = |name| -> Vec<Value> {
        let all = lines(&folder, name);
        all.iter().filter(|line| line["event"] == "tell").map(|line| line["numbers"].clone()).collect()
    };
    assert_eq!(told("again.jsonl"), told("run.jsonl"));
    fs::write(folder.0.join("run.csv"), table.replace(",errors\n", ",other\n")).unwrap();
    let output = folder.run(&options(&["--import", "run.csv"]));
    let err = text(&output.stderr);
    assert!(
        output.status.code() == Some(2) && err.contains("there is no column `errors`, which a limit needs"),
        "{err}"
    );
}

/// promise: trimtab report | a run with limits | the trade-off as a picture per limit, and what each measurement breaks
#[test]
fn the_page_shows_the_trade_off() {
    let folder = Folder::new("tune-second-report");
    script(&folder, "board.sh", BOARD);
    folder.stdout(&words(&[&BOTH[..], &["--budget", "25", "--log", "run.jsonl"]].concat()));
    let page = fs::read_to_string(folder.0.join(folder.stdout(&["report", "run.jsonl"]).trim())).unwrap();
    let lines = lines(&folder, "run.jsonl");
    let keeps = |line: &&Value| {
        line["numbers"]["watts"].as_f64() < Some(3.0) && line["numbers"]["errors"].as_f64() < Some(1e-6)
    };
    let told: Vec<&Value> = lines.iter().filter(|line| line["event"] == "tell").collect();
    let kept = told.iter().copied().filter(|line| keeps(line)).count();
    let start = page.find("<section id=\"limits\">").unwrap();
    let section = &page[start..start + page[start..].find("</section>").unwrap()];
    assert_eq!(section.matches("<svg ").count(), 2);
    assert_eq!(section.matches("class=\"ring\"").count(), 2);
    assert_eq!(section.matches("class=\"level\"").count(), 2);
    assert_eq!(section.matches("r=\"3.4\" class=\"mean\"").count(), 2 * kept);
    assert_eq!(section.matches("class=\"broken\"").count(), 2 * (25 - kept));
    assert!(section.contains("best that breaks only this one") && page.contains("that keeps watts&lt;3"));
    let table = &page[page.find("<section id=\"measurements\">").unwrap()..];
    assert_eq!(table.matches("breaks ").count(), 25 - kept);
    for svg in section.split("<svg ").skip(1) {
        let svg = format!("<svg {}</svg>", svg.split("</svg>").next().unwrap());
        assert!(roxmltree::Document::parse(&svg).is_ok());
    }
}

/// A number that covers powers of ten: `tune` says that a log scale would be better.
#[test]
fn a_log_scale_is_proposed() {
    let folder = Folder::new("tune-second-hint");
    script(&folder, "m.sh", "echo time: $1; awk -v n=$1 'BEGIN { print \"errors:\", 10 ^ (2 - n / 4) }'");
    for (limit, is_hinted) in [("errors<1e-6", true), ("log(errors)<1e-6", false)] {
        let words =
            ["tune", "--knob", "n=1..40", "--cost", "time", "--limit", limit, "--noise", "none", "--budget", "14"];
        let output = folder.run(&[&words[..], &["--", "./m.sh", "{n}"]].concat());
        let err = text(&output.stderr);
        let hint = "hint: `errors` is often far above its bound, so --limit 'log(errors)<1e-6' would teach more";
        assert_eq!(err.contains(hint), is_hinted, "{limit}: {err}");
    }
}

/// The board of the documentation has no noise, so its results are there to the digit.
#[test]
fn the_examples_of_the_documentation_are_what_comes_out() {
    let docs = include_str!("../../../docs/limits.md");
    let folder = Folder::new("tune-second-docs");
    let block =
        |fence: &str| docs.split(fence).skip(1).map(|part| part.split("```").next().unwrap()).collect::<Vec<_>>();
    script(&folder, "board.sh", block("```sh\n")[0]);
    let commands = block("```console\n");
    assert_eq!(commands.len(), 2);
    for command in commands.iter().flat_map(|block| block.lines()) {
        let words: Vec<String> = command.split_whitespace().map(|word| word.replace('\'', "")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let shown: String = folder.stdout(&words[1..]).lines().map(|line| format!("    {line}\n")).collect();
        assert!(words[1] == "report" || docs.contains(&shown), "{command}\n{shown}");
    }
    assert!(folder.0.join("run.html").is_file());
}

/// With noise the final round compares what may keep the limits, and the result is the best by the model.
#[test]
fn with_noise_the_best_is_the_models() {
    let folder = Folder::new("tune-second-noise");
    let body = r#"read n < count; echo $((n + 1)) > count
e=$(( (n * 7919 + n * n * 104729) % 61 - 30 )); f=$(( (n * 4391 + n * n * 7919) % 41 - 20 ))
echo "time: $(( 400 - 10 * $1 + 3 * ($2 - 5) * ($2 - 5) + e ))"; echo "watts: $(( 20 * $1 + f ))""#;
    script(&folder, "m.sh", body);
    fs::write(folder.0.join("count"), "1\n").unwrap();
    let words =
        ["tune", "--knob", "a=1..20", "--knob", "b=1..12", "--cost", "time", "--limit", "watts<=205", "--budget", "60"];
    let command = ["--json", "--", "./m.sh", "{a}", "{b}"];
    let json = folder.json(&[&words[..], &command].concat());
    let best = &json["best"];
    assert!(best["measured"].as_u64().unwrap() >= 2 && json["noise"].as_f64().unwrap() > 5.0, "{best}");
    assert!((8..=11).contains(&best["config"]["a"].as_u64().unwrap()), "{best}");
    assert!(best["numbers"]["watts"].as_f64().unwrap() < 215.0, "{best}");
    fs::write(folder.0.join("count"), "1\n").unwrap();
    let out = folder.stdout(&[&words[..], &command[1..]].concat());
    assert!(out.contains(" that keeps watts<=205, measured ") && out.contains(" on average\nluckiest  "), "{out}");
}
