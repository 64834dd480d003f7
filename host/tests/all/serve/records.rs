//! Records: exports, older forms, the lines of a log, and records that cannot have happened.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

use super::{MOST_BYTES, Service, small, small_cost};

/// promise: trimtab serve | the process ends | an export goes on where it was made, to the bit
#[test]
fn an_export_goes_on_where_it_was_made() {
    let mut first = Service::init(&small());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut pending: Vec<Value> = Vec::new();
    for step in 0..60 {
        match random.random_range(0..6) {
            0..3 => {
                let asked = first.call(&json!({"op": "ask"}));
                if asked["id"].is_u64() {
                    pending.push(asked);
                }
            }
            3 | 4 if !pending.is_empty() => {
                let asked = pending.swap_remove(random.random_range(0..pending.len()));
                match random.random_range(0..5) {
                    0 => first.ok(json!({"op": "cancel", "id": asked["id"]})),
                    1 => first.ok(json!({"op": "tell", "id": asked["id"], "failed": true})),
                    _ => first.ok(json!({"op": "tell", "id": asked["id"], "value": small_cost(&asked["config"])})),
                };
            }
            _ => {
                let levels = [3, 4, 3].map(|levels| random.random_range(0..levels));
                let op = if random.random_range(0..2) == 0 { "enqueue" } else { "tell" };
                let mut message = json!({"op": op, "levels": levels});
                if op == "tell" {
                    message["value"] = random.random_range(0.0..3.0).into();
                    pending.retain(|asked| small_levels(&asked["config"]) != levels);
                }
                // It may be refused; then the export must not have it.
                first.call(&message);
            }
        }
        if step % 5 == 0 {
            let export = first.export();
            let mut second = Service::start(&[]);
            let answer = second.ok(export.clone());
            assert_eq!(answer["combinations"], "36");
            assert_eq!(second.export(), export, "step {step}");
            // The next asks to the bit, and the same ids.
            let mut copy = Service::start(&[]);
            copy.ok(export);
            for _ in 0..3 {
                assert_eq!(second.call(&json!({"op": "ask"})), copy.call(&json!({"op": "ask"})));
            }
            assert_eq!(second.call(&json!({"op": "best"})), first.call(&json!({"op": "best"})));
        }
    }
    // The original and its copy ask the same.
    let mut copy = Service::start(&[]);
    copy.ok(first.export());
    assert_eq!(first.call(&json!({"op": "ask"})), copy.call(&json!({"op": "ask"})));
}

/// The levels of a configuration of the small space.
fn small_levels(config: &Value) -> [i32; 3] {
    let place = |name: &str, levels: Value| {
        levels.as_array().unwrap().iter().position(|level| *level == config[name]).unwrap() as i32
    };
    [place("opt", json!(["O1", "O2", "O3"])), place("unroll", json!([1, 2, 4, 8])), place("gain", json!([1, 10, 100]))]
}

/// An export of version 0.1.0: `op` instead of `event`, asks without ids, failures as tells.
#[test]
fn an_export_of_an_older_version_goes_on() {
    let mut service = Service::start(&[]);
    let begun = service.raw(include_str!("../data/export-0.1.0.json").trim_end().as_bytes());
    assert_eq!(begun, json!({"ok": true, "combinations": "12", "observations": 3}));
    // As version 0.1.0 did next, but for its prediction, which was that of another model.
    let next = service.ask();
    assert_eq!((&next["id"], &next["config"]), (&json!(6), &json!({"opt": "O1", "unroll": 2})));
    assert!(next["std_dev"].as_f64() > Some(0.0));
    assert_eq!(service.export()["noise"], "auto");
    service.ok(json!({"op": "tell", "id": 5, "value": 2}));
}

/// One record form: the lines of a tune log begin a session of serve.
#[test]
fn the_lines_of_a_log_are_records() {
    let lines: Vec<Value> =
        include_str!("../data/log-0.1.0.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut message = json!({"op": "init", "records": lines[1..11]});
    for field in ["knobs", "forbid", "goal", "seed", "budget"] {
        message[field] = lines[0][field].clone();
    }
    let mut service = Service::init(&message);
    let asked = service.ask();
    assert_eq!((&lines[11]["event"], &asked["id"]), (&json!("ask"), &lines[11]["id"]));
    assert!(lines[1..11].iter().all(|line| line["config"] != asked["config"]), "{asked}");
}

#[test]
fn measurements_made_before_are_records_by_name() {
    let mut message = small();
    message["records"] = json!([
        {"config": {"opt": "O2", "unroll": 2, "gain": 10}, "value": 0.5},
        {"config": {"opt": "O3", "unroll": 8, "gain": 100}, "failed": true},
    ]);
    let mut service = Service::start(&[]);
    assert_eq!(service.ok(message), json!({"ok": true, "combinations": "36", "observations": 2}));
    assert_eq!(service.ok(json!({"op": "best"}))["observed"]["value"], 0.5);
    assert_eq!(service.ask()["id"], 1);
}

/// A session of the largest size can be exported in one message, and begun from it.
///
/// promise: trimtab serve | the largest session | its export is still one message
#[test]
fn the_largest_session_is_one_message() {
    let knobs: Value = (0..256)
        .map(|i| json!({"name": format!("k{i}"), "levels": (0..256).collect::<Vec<_>>(), "kind": "nominal"}))
        .collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let records: Vec<_> = (0..1024)
        .map(|_| {
            let levels: Vec<_> = (0..256).map(|_| random.random_range(100..256)).collect();
            format!(
                "{{\"op\":\"ask\",\"levels\":{}}},{{\"op\":\"tell\",\"id\":1024,\"value\":0.12345678}}",
                json!(levels)
            )
        })
        .collect();
    let bytes = json!({"op": "init", "knobs": knobs}).to_string().len() + records.join(",").len();
    assert!(bytes < MOST_BYTES / 2, "{bytes}");
}
