//! Limits: budget, pending asks, sizes, long lines, mutated lines.

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;

use crate::common::Folder;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

use super::{Service, small};

/// promise: trimtab serve | the space or the budget is used up | `exhausted`, with the reason
#[test]
fn asking_ends_with_the_space_or_the_budget() {
    let mut service =
        Service::init(&json!({"op": "init", "knobs": {"a": "x,y", "b": "1,2,3"}, "forbid": ["a=x & b>2"]}));
    let mut seen = Vec::new();
    loop {
        let asked = service.ask();
        if asked["exhausted"] == true {
            assert_eq!(asked["reason"], "space");
            break;
        }
        assert!(!seen.contains(&asked["config"]) && asked["config"] != json!({"a": "x", "b": 3}));
        service.ok(json!({"op": "tell", "id": asked["id"], "value": seen.len()}));
        seen.push(asked["config"].clone());
    }
    assert_eq!(seen.len(), 5);
    let answer = service.call(&json!({"op": "tell", "config": {"a": "x", "b": 3}, "value": 1}));
    assert!(answer["error"].as_str().unwrap().contains("not feasible"));

    let mut message = small();
    message["budget"] = 3.into();
    let mut service = Service::init(&message);
    let ids: Vec<_> = (0..3).map(|_| service.ask()["id"].clone()).collect();
    assert_eq!(service.ask(), json!({"exhausted": true, "reason": "budget"}));
    service.ok(json!({"op": "cancel", "id": ids[1]}));
    let fourth = service.ask();
    assert_eq!(fourth["id"], 4);
    for id in [1, 3, 4] {
        service.ok(json!({"op": "tell", "id": id, "value": 1}));
    }
    // A repeat is not a new measurement; another combination is.
    service.ok(json!({"op": "tell", "config": fourth["config"], "value": 2}));
    let all = (0..3).flat_map(|a| (0..4).map(move |b| [a, b, 0]));
    let refused = all.map(|levels| service.call(&json!({"op": "tell", "levels": levels, "value": 1})));
    let refused =
        refused.filter(|answer| answer["error"].as_str().is_some_and(|error| error.contains("budget of 3"))).count();
    assert!(refused >= 9, "{refused}");
}

/// promise: trimtab serve | a 65th ask without a tell | an error; the 64 stay, also in an export
#[test]
fn at_most_64_asks_are_pending() {
    let mut service = Service::init(&json!({"op": "init", "knobs": {"a": "1..20", "b": "1..20"}}));
    let asked: Vec<_> = (0..64).map(|_| service.ask()["config"].clone()).collect();
    assert!((1..64).all(|i| !asked[..i].contains(&asked[i])));
    let refused = service.call(&json!({"op": "ask"}));
    assert!(refused["error"].as_str().unwrap().contains("64 combinations are asked and not told"), "{refused}");
    let mut copy = Service::start(&[]);
    copy.ok(service.export());
    for service in [&mut service, &mut copy] {
        service.ok(json!({"op": "tell", "id": 6, "config": asked[5], "value": 1}));
    }
    let next = service.ask();
    assert_eq!(next["id"], 65);
    assert_eq!(copy.ask(), next);
}

/// 200 knobs of 64 levels are 2^1200 combinations.
#[test]
fn two_hundred_knobs_of_64_levels() {
    let knobs: Value = (0..200)
        .map(|i| {
            let kind = if i % 2 == 0 { "lin" } else { "nominal" };
            json!({"name": format!("knob_{i}"), "levels": (0..64).collect::<Vec<_>>(), "kind": kind})
        })
        .collect();
    let mut service = Service::start(&[]);
    let begun = service.ok(json!({"op": "init", "knobs": knobs, "seed": 1, "budget": 1000}));
    assert_eq!(begun["combinations"].as_str().unwrap().len(), 362);
    for _ in 0..12 {
        let asked = service.ask();
        let config = asked["config"].as_object().unwrap();
        let cost: u64 = config.values().map(|level| level.as_u64().unwrap().abs_diff(20)).sum();
        service.ok(json!({"op": "tell", "id": asked["id"], "value": cost}));
    }
    let export = service.export();
    let mut copy = Service::start(&[]);
    copy.ok(export);
    assert_eq!(copy.ask(), service.ask());
}

/// Mutated lines of the protocol.
fn mutated(random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    const LINES: [&str; 9] = [
        r#"{"op":"ask"}"#,
        r#"{"op":"tell","id":1,"value":0.31}"#,
        r#"{"op":"tell","config":{"opt":"O1","unroll":4,"gain":10},"value":-1.5e3}"#,
        r#"{"op":"tell","levels":[0,1,2],"failed":true}"#,
        r#"{"op":"enqueue","config":{"opt":"O3","unroll":8,"gain":1}}"#,
        r#"{"op":"cancel","id":2}"#,
        r#"{"op":"best"}"#,
        r#"{"op":"init","knobs":{"a":"1..9"},"records":[{"op":"ask","levels":[1]}]}"#,
        r#"{"op":"predict","config":{"opt":"O2","unroll":1,"gain":100}}"#,
    ];
    const PARTS: [&str; 16] =
        ["{", "}", "[", "]", "\"", ":", ",", "\\", "null", "1e999", "-", "0", "\"op\"", "\u{e9}", "\\ud800", "true"];
    let mut line = LINES[random.random_range(0..LINES.len())].as_bytes().to_vec();
    for _ in 0..random.random_range(0..4) {
        let place = random.random_range(0..=line.len());
        match random.random_range(0..4) {
            0 => line.truncate(place),
            1 if place < line.len() => line[place] = random.random_range(0..=255),
            2 if place < line.len() => drop(line.remove(place)),
            _ => drop(line.splice(place..place, PARTS[random.random_range(0..PARTS.len())].bytes())),
        }
    }
    line.retain(|byte| *byte != b'\n');
    line
}

/// promise: trimtab serve | any line at all | exactly one answer in JSON
#[test]
fn any_line_has_one_answer() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let lines: Vec<_> = (0..3000).map(|_| mutated(&mut random)).collect();
    let mut service = Service::init(&small());
    let mut to = service.to.take().unwrap();
    let sent = lines.clone();
    let writer = std::thread::spawn(move || {
        for line in sent {
            to.write_all(&line).and_then(|()| to.write_all(b"\n")).unwrap();
        }
    });
    let mut errors = 0;
    for line in &lines {
        let answer = service.answer();
        let is_error = answer["error"].is_string();
        assert!(answer.is_object() && (!is_error || answer.get("op").is_some()), "{}", String::from_utf8_lossy(line));
        errors += usize::from(is_error);
    }
    writer.join().unwrap();
    assert!((500..2900).contains(&errors), "{errors}");
    assert_eq!(service.end(), (Some(0), String::new()));
}

/// A line of 64 MiB is refused before it ends, and takes no memory.
///
/// promise: trimtab serve | a line without end | refused at 4 MiB, in bounded memory
#[test]
fn a_line_without_end_is_refused_in_bounded_memory() {
    let mut service = Service::init(&small());
    let chunk = vec![b'a'; 1 << 20];
    let to = service.to.as_mut().unwrap();
    (0..5).for_each(|_| to.write_all(&chunk).unwrap());
    // The answer comes before the line ends.
    assert!(service.answer()["error"].as_str().unwrap().contains("more than 4194304 bytes"));
    let to = service.to.as_mut().unwrap();
    (0..60).for_each(|_| to.write_all(&chunk).unwrap());
    service.send(b"");
    assert_eq!(service.ask()["id"], 1);
    if cfg!(target_os = "linux") {
        let status = fs::read_to_string(format!("/proc/{}/status", service.child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(kilobytes < 48 << 10, "{kilobytes} kB at the peak");
    }
}

/// promise: trimtab serve | the reader goes away | a quiet end
#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let folder = Folder::new("serve-pipe");
    let mut command = folder.command(&["serve"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut to = child.stdin.take().unwrap();
    for _ in 0..3 {
        // It may be gone already.
        let _ = to.write_all(b"{\"op\":\"best\"}\n");
    }
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert!(child.wait().unwrap().success() && error.is_empty(), "{error}");
}
