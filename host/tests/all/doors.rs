//! `tune`, `serve` and the library ask the same sequence for the same space, seed and costs.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::common::Folder;
use serde_json::{Value, json};
use trimtab::{Config, Knob, Scale, Space};

const SEED: u64 = 9;
const BUDGET: usize = 30;
const KNOBS: [Knob; 3] = [
    Knob::nominal(4),
    Knob::graded(&[1.0, 2.0, 4.0, 8.0, 16.0], Scale::Linear),
    Knob::graded(&[1.0, 10.0, 100.0], Scale::Log),
];

/// Whole numbers, so that a shell computes them too.
fn cost(mode: u32, width: u32, gain: u32) -> u32 {
    (mode * 5 + 2) % 4 * 3 + width * width + (gain + 7) % 11
}

/// The asks, one line per combination.
fn by_library() -> Vec<String> {
    type Three = trimtab::tuner!(KNOBS, observations: BUDGET, rows: 256);
    let mut tuner = Box::new(Three::new());
    tuner.init(Space::new(&KNOBS).unwrap(), Config::default(), SEED).unwrap();
    let ask = |_| {
        let c = tuner.ask().unwrap().combination;
        let [mode, width, gain] = [u32::from(c.level(0)), 1 << c.level(1), 10u32.pow(c.level(2).into())];
        tuner.tell(&c, cost(mode, width, gain) as f32).unwrap();
        format!("m{mode} {width} {gain}")
    };
    (0..BUDGET).map(ask).collect()
}

fn shown(config: &Value) -> String {
    format!("{} {} {}", config["mode"].as_str().unwrap(), config["width"], config["gain"])
}

fn by_serve(folder: &Folder) -> Vec<String> {
    let mut child = folder.command(&["serve"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut call = |message: Value| -> Value {
        writeln!(input, "{message}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    call(json!({"op": "init", "seed": SEED, "budget": BUDGET,
        "knobs": {"mode": "m0,m1,m2,m3", "width": [1, 2, 4, 8, 16], "gain": "log:1,10,100"}}));
    let mut asked = Vec::new();
    for _ in 0..BUDGET {
        let config = call(json!({"op": "ask"}))["config"].clone();
        let mode: u32 = config["mode"].as_str().unwrap()[1..].parse().unwrap();
        let [width, gain] = ["width", "gain"].map(|name| config[name].as_u64().unwrap() as u32);
        let told = call(json!({"op": "tell", "config": config, "value": cost(mode, width, gain)}));
        assert_eq!(told["ok"], true, "{told}");
        asked.push(shown(&config));
    }
    call(json!({"op": "quit"}));
    assert!(child.wait().unwrap().success());
    asked
}

fn by_tune(folder: &Folder) -> Vec<String> {
    fs::write(folder.0.join("cost.sh"), "m=${1#m} w=$2 g=$3\necho $(((m * 5 + 2) % 4 * 3 + w * w + (g + 7) % 11))\n")
        .unwrap();
    let (seed, budget) = (SEED.to_string(), BUDGET.to_string());
    let knobs = ["--knob", "mode=m0,m1,m2,m3", "--knob", "width=1,2,4,8,16", "--knob", "gain=log:1,10,100"];
    let rest = [
        "--seed",
        &seed,
        "--budget",
        &budget,
        "--log",
        "run.jsonl",
        "--quiet",
        "--",
        "sh",
        "cost.sh",
        "{mode}",
        "{width}",
        "{gain}",
    ];
    folder.stdout(&[&["tune"], &knobs[..], &rest].concat());
    let log = fs::read_to_string(folder.0.join("run.jsonl")).unwrap();
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["event"] == "ask").map(|line| shown(&line["config"])).collect()
}

#[test]
fn the_sequence_is_the_same_through_every_door() {
    let folder = Folder::new("doors");
    let wanted = by_library();
    assert_eq!(wanted.len(), BUDGET);
    assert_eq!(by_serve(&folder), wanted);
    assert_eq!(by_tune(&folder), wanted);
}
