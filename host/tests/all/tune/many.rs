//! Many knobs: what is shown is what differs from the start.

use std::fs;

use crate::common::{Folder, text};
use serde_json::json;

use super::{lines, script};

/// `trimtab tune` with 20 knobs on and off, of which two matter, and the given options.
fn words<'a>(knobs: &'a [String], options: &[&'a str]) -> Vec<&'a str> {
    let knobs = knobs.iter().flat_map(|knob| ["--knob", knob.as_str()]);
    ["tune"].into_iter().chain(knobs).chain(options.iter().copied()).chain(["--", "./m.sh", "{k3}", "{k7}"]).collect()
}

fn knobs() -> Vec<String> {
    (0..20).map(|i| if i == 3 { "k3=off,*on".into() } else { format!("k{i}=off,on") }).collect()
}

const COST: &str = "c=100; [ $1 = on ] && c=$((c + 20)); [ $2 = on ] && c=$((c - 30)); echo $c";

#[test]
fn a_line_names_what_differs_and_the_gain() {
    let folder = Folder::new("tune-many");
    script(&folder, "m.sh", COST);
    let knobs = knobs();
    let options =
        ["--start", "k5=on", "--start", "k7=on,k5=on", "--start", "k7=on", "--budget", "12", "--noise", "none"];
    let output = folder.run(&words(&knobs, &[&options[..], &["--log", "run.jsonl"]].concat()));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{err}");
    let shown: Vec<&str> = err.lines().filter(|line| line.contains(" of 12: ")).collect();
    // The start is written out, with the default of k3.
    assert!(shown[0].starts_with("   1 of 12: 120  best  k0=off,k1=off,k2=off,k3=on,"), "{err}");
    assert_eq!(shown[1], "   2 of 12: 90  best  −25.0 % from start: k7=on");
    assert_eq!(shown[2], "   3 of 12: 90  ±0 % from best: k5=off");
    assert!(shown[3..].iter().all(|line| line.chars().count() < 200), "{err}");
    assert!(out.starts_with("best      70  (measurement ") && out.contains("), −41.7 % from start\n"), "{out}");
    // The command has places for two knobs only, so all are written out, too.
    let line = |number: usize| out.lines().nth(number).unwrap().trim();
    assert!(line(1).starts_with("from start: ") && line(1).contains("k3=off") && !line(1).contains("k3=on"), "{out}");
    assert!(line(2).starts_with("k0=") && line(2).contains(",k19=") && line(3) == "./m.sh off on", "{out}");
    // The defaults are the start if nothing else is; a log goes on with other defaults.
    let config = |name: &str| lines(&folder, name)[1]["config"].clone();
    assert_eq!((&config("run.jsonl")["k3"], &config("run.jsonl")["k5"]), (&json!("on"), &json!("on")));
    assert!(folder.run(&words(&knobs, &["--budget", "1", "--log", "default.jsonl"])).status.success());
    assert_eq!((&config("default.jsonl")["k3"], &config("default.jsonl")["k5"]), (&json!("on"), &json!("off")));
    let unmarked: Vec<String> = knobs.iter().map(|knob| knob.replace('*', "")).collect();
    assert!(folder.run(&words(&unmarked, &["--budget", "2", "--log", "default.jsonl"])).status.success());
    folder.stdout(&["report", "run.jsonl"]);
    let page = fs::read_to_string(folder.0.join("run.html")).unwrap();
    assert!(page.contains("−41.7 % from start") && page.contains("<td>from start: k7=on</td>"));
    let report = folder.json(&words(&knobs, &[&options[..], &["--log", "run.jsonl", "--json"]].concat()));
    assert_eq!(report["start"]["value"], 120.0);
}

#[test]
fn flags_reach_the_command_and_the_result() {
    let folder = Folder::new("tune-flags");
    script(
        &folder,
        "m.sh",
        "n=9; for flag; do case $flag in -fa) n=$((n - 3));; -fb) n=$((n + 2));; esac; done; echo $n",
    );
    let knobs = ["tune", "--knob", "a=off:,on:-fa", "--knob", "b=on:-fb,off:", "--noise", "none", "--log", "run.jsonl"];
    let output = folder.run(&[&knobs[..], &["--start", "b=on", "--", "./m.sh", "{flags}"]].concat());
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && !err.contains("warning"), "{err}");
    assert!(err.contains("   1 of 100: 11  best  a=off,b=on"), "{err}");
    assert!(out.contains(", −45.5 % from start\n          a=on,b=off\n          ./m.sh -fa\n"), "{out}");
    // Another flag is another run.
    let changed = knobs.map(|word| if word == "a=off:,on:-fa" { "a=off:,on:-fx" } else { word });
    let output = folder.run(&[&changed[..], &["--", "./m.sh", "{flags}"]].concat());
    assert!(text(&output.stderr).contains("belongs to another run: knob `a` was"), "{}", text(&output.stderr));
}
