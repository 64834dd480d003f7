//! `trimtab serve` end to end: the protocol, its errors, records, and that it asks as core does.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::common::{Folder, text};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use trimtab::{Config, Goal, Knob, Scale, Space};

/// The longest line, as documented.
const MOST_BYTES: usize = 4 << 20;

/// A running service.
struct Service {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Service {
    fn start(words: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trimtab"));
        command.arg("serve").args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, to, from }
    }

    /// Starts a service and sends an init.
    fn init(message: &Value) -> Self {
        let mut service = Self::start(&[]);
        let answer = service.call(message);
        assert_eq!(answer["ok"], true, "{answer}");
        service
    }

    fn send(&mut self, line: &[u8]) {
        let to = self.to.as_mut().unwrap();
        to.write_all(line).and_then(|()| to.write_all(b"\n")).and_then(|()| to.flush()).unwrap();
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "an answer is a line: {line:?}");
        serde_json::from_str(&line).unwrap()
    }

    /// The answer to any line.
    fn raw(&mut self, line: &[u8]) -> Value {
        self.send(line);
        self.answer()
    }

    fn call(&mut self, message: &Value) -> Value {
        self.raw(message.to_string().as_bytes())
    }

    /// An answer that must not be an error.
    fn ok(&mut self, message: Value) -> Value {
        let answer = self.call(&message);
        assert!(answer["error"].is_null(), "{message}: {answer}");
        answer
    }

    fn ask(&mut self) -> Value {
        self.ok(json!({"op": "ask"}))
    }

    fn export(&mut self) -> Value {
        self.ok(json!({"op": "export"}))
    }

    /// Ends the input; returns the exit code and the rest of both outputs.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.to.take());
        let mut rest = String::new();
        self.from.read_to_string(&mut rest).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.to.take());
        let _ = self.child.wait();
    }
}

/// A space of words and numbers: 3 × 4 × 3.
fn small() -> Value {
    json!({"op": "init", "seed": 1, "budget": 30, "goal": "minimize", "knobs": [
        {"name": "opt", "levels": ["O1", "O2", "O3"]},
        {"name": "unroll", "levels": [1, 2, 4, 8]},
        {"name": "gain", "levels": [1, 10, 100], "kind": "log"},
    ]})
}

#[test]
fn the_protocol_as_it_is_documented() {
    let mut service = Service::start(&[]);
    let error = service.call(&json!({"op": "ask"}));
    assert!(error["error"].as_str().unwrap().contains("send an init") && error["op"] == "ask", "{error}");
    let knobs: Vec<_> =
        (0..25).map(|i| json!({"name": format!("b{i}"), "levels": [0, 1], "kind": "nominal"})).collect();
    let init = json!({"op": "init", "knobs": knobs, "goal": "minimize", "seed": 1, "budget": 200});
    assert_eq!(service.call(&init), json!({"ok": true, "combinations": "33554432"}));

    // No prediction before the first outcome.
    let first = service.ask();
    assert_eq!((&first["id"], &first["mean"], &first["std_dev"]), (&json!(1), &Value::Null, &Value::Null));
    assert_eq!(first["config"].as_object().unwrap().len(), 25);
    let second = service.ask();
    assert_ne!(first["config"], second["config"]);
    let told = service.ok(json!({"op": "tell", "config": first["config"], "value": 0.31}));
    let best = json!({"config": first["config"], "value": 0.31});
    assert_eq!(told, json!({"ok": true, "observations": 1, "best": best}));
    let told = service.ok(json!({"op": "tell", "id": 2, "failed": true}));
    assert_eq!(told, json!({"ok": true, "observations": 2, "best": best}));

    // An enqueued combination comes next, whatever the model predicts.
    let ones: Value = (0..25).map(|i| (format!("b{i}"), json!(1))).collect::<serde_json::Map<_, _>>().into();
    assert_eq!(service.ok(json!({"op": "enqueue", "config": ones})), json!({"ok": true}));
    let third = service.ask();
    assert_eq!((&third["id"], &third["config"]), (&json!(3), &ones));
    assert!(third["std_dev"].as_f64().unwrap() > 0.0);
    let predicted = service.ok(json!({"op": "predict", "config": ones}));
    assert_eq!((&predicted["mean"], &predicted["std_dev"]), (&third["mean"], &third["std_dev"]));
    assert_eq!(service.ok(json!({"op": "cancel", "id": 3})), json!({"ok": true}));
    let best_now = service.ok(json!({"op": "best"}));
    assert_eq!(best_now["observed"], best);
    assert_eq!(best_now["posterior"]["config"], first["config"]);
    assert!(best_now["posterior"]["mean"].is_f64() && best_now["posterior"]["std_dev"].is_f64());

    assert_eq!(service.ok(json!({"op": "quit"})), json!({"ok": true}));
    assert_eq!(service.end(), (Some(0), String::new()));
}

#[test]
fn the_end_of_the_input_is_an_end() {
    assert_eq!(Service::start(&[]).end(), (Some(0), String::new()));
    let mut service = Service::init(&small());
    // Also without a line feed at the end.
    service.to.as_mut().unwrap().write_all(b"{\"op\":\"best\"}").unwrap();
    assert_eq!(service.end(), (Some(0), "{\"observed\":null,\"posterior\":null}\n".into()));
}

/// A rugged cost of the small space.
fn small_cost(config: &Value) -> f64 {
    let opt = f64::from(config["opt"].as_str().unwrap().as_bytes()[1] - b'0');
    let (unroll, gain) = (config["unroll"].as_f64().unwrap(), config["gain"].as_f64().unwrap());
    (opt - 2.2).powi(2) + (unroll.log2() - 1.4).abs() * opt + (gain.log10() - 1.0).abs()
}

#[test]
fn everything_wrong_is_an_error_that_changes_nothing() {
    let mut service = Service::init(&small());
    let config = json!({"opt": "O1", "unroll": 1, "gain": 10});
    service.ok(json!({"op": "tell", "config": config, "value": 1.5}));
    service.ask();
    let before = service.export();
    let cases: Vec<(Vec<u8>, &str, Value)> = [
        ("", "empty", Value::Null),
        ("hello", "not JSON", Value::Null),
        ("[]", "must be a JSON object", Value::Null),
        ("{}", "`op` is missing", Value::Null),
        ("{\"op\":3}", "`op` is missing", Value::Null),
        ("{\"op\":\"asks\"}", "there is no such op", json!("asks")),
        ("{\"op\":\"ask\",\"op\":\"ask\"}", "`op` occurs twice", Value::Null),
        ("{\"op\":\"ask\",\"n\":2}", "no fields, so no `n`", json!("ask")),
        ("{\"op\":\"ask\"} {\"op\":\"ask\"}", "trailing", Value::Null),
        ("{\"op\":\"tell\",\"value\":1}", "write a `config`", json!("tell")),
        ("{\"op\":\"tell\",\"id\":1}", "needs a `value`", json!("tell")),
        ("{\"op\":\"tell\",\"id\":1,\"value\":1,\"failed\":true}", "not both", json!("tell")),
        ("{\"op\":\"tell\",\"id\":1,\"failed\":false}", "can only be true", json!("tell")),
        ("{\"op\":\"tell\",\"id\":1,\"value\":null}", "must be a number", json!("tell")),
        ("{\"op\":\"tell\",\"id\":1,\"value\":\"1\"}", "must be a number", json!("tell")),
        ("{\"op\":\"tell\",\"id\":1,\"value\":NaN}", "not JSON", Value::Null),
        ("{\"op\":\"tell\",\"id\":1,\"value\":Infinity}", "not JSON", Value::Null),
        ("{\"op\":\"tell\",\"id\":1,\"value\":1e999}", "out of range", Value::Null),
        ("{\"op\":\"tell\",\"id\":1,\"value\":1e39}", "not a finite number", json!("tell")),
        ("{\"op\":\"tell\",\"id\":2,\"value\":1}", "no ask with the id 2 is pending: there was none", json!("tell")),
        ("{\"op\":\"tell\",\"id\":-1,\"value\":1}", "no ask with the id -1", json!("tell")),
        ("{\"op\":\"tell\",\"id\":1,\"levels\":[0,0,1],\"value\":1}", "must name the same combination", json!("tell")),
        ("{\"op\":\"tell\",\"id\":1,\"value\":1,\"note\":\"x\"}", "no field `note`", json!("tell")),
        ("{\"op\":\"tell\",\"config\":[],\"value\":1}", "must be an object", json!("tell")),
        ("{\"op\":\"tell\",\"config\":{\"opt\":\"O1\"},\"value\":1}", "`unroll` has no level", json!("tell")),
        (
            "{\"op\":\"tell\",\"config\":{\"opt\":\"O1\",\"unroll\":3,\"gain\":1},\"value\":1}",
            "it has 1, 2, 4, 8",
            json!("tell"),
        ),
        ("{\"op\":\"tell\",\"config\":{\"op\":\"O1\"},\"value\":1}", "there are opt, unroll, gain", json!("tell")),
        ("{\"op\":\"tell\",\"levels\":[0,0],\"value\":1}", "list of 3 whole numbers", json!("tell")),
        ("{\"op\":\"tell\",\"levels\":[0,4,0],\"value\":1}", "list of 3 whole numbers", json!("tell")),
        ("{\"op\":\"enqueue\",\"config\":{\"opt\":\"O1\",\"unroll\":1,\"gain\":10}}", "measured", json!("enqueue")),
        ("{\"op\":\"enqueue\",\"id\":1}", "no field `id`", json!("enqueue")),
        ("{\"op\":\"cancel\",\"config\":{\"opt\":\"O1\",\"unroll\":1,\"gain\":10}}", "not pending", json!("cancel")),
        ("{\"op\":\"init\",\"knobs\":{\"a\":\"1,2\"}}", "has begun", json!("init")),
        ("{\"op\":\"quit\",\"now\":true}", "no fields", json!("quit")),
    ]
    .into_iter()
    .map(|(line, wanted, op)| (line.as_bytes().to_vec(), wanted, op))
    .chain([
        (b"{\"op\":\"ask\xff\"}".to_vec(), "not UTF-8: byte 11", Value::Null),
        (vec![b'['; 1 << 20], "nests at most", Value::Null),
        (vec![b'x'; MOST_BYTES + 1], "more than 4194304 bytes", Value::Null),
        (vec![b' '; MOST_BYTES], "empty", Value::Null),
    ])
    .collect();
    for (line, wanted, op) in cases {
        let shown = String::from_utf8_lossy(&line[..line.len().min(100)]).into_owned();
        let answer = service.raw(&line);
        let error = answer["error"].as_str().unwrap_or_else(|| panic!("{shown} was answered {answer}"));
        assert!(error.contains(wanted) && answer["op"] == op, "{shown}: {answer}");
        assert_eq!(answer.as_object().unwrap().len(), 2);
    }
    assert_eq!(service.export(), before);
    // And the process goes on.
    service.ok(json!({"op": "tell", "id": 1, "value": 2}));
}

#[test]
fn what_is_no_space_is_refused_and_can_be_sent_again() {
    let mut service = Service::start(&[]);
    let knobs = |count: usize, levels: usize| -> Value {
        (0..count).map(|i| json!({"name": format!("k{i}"), "levels": (0..levels).collect::<Vec<_>>()})).collect()
    };
    let recorded = |records: Value| json!({"knobs": knobs(2, 4), "budget": 2, "records": records});
    for (fields, wanted) in [
        (json!({}), "`knobs` is missing"),
        (json!({"knobs": []}), "needs a knob"),
        (json!({"knobs": knobs(257, 2)}), "at most 256 are possible"),
        // As many as a line holds: refused at once.
        (json!({"knobs": knobs(100_000, 2)}), "at most 256 are possible"),
        (json!({"knobs": knobs(1, 257)}), "at most 256 are possible"),
        (json!({"knobs": knobs(2, 4), "budget": 1025}), "from 1 to 1024"),
        (json!({"knobs": knobs(2, 4), "budget": 0}), "from 1 to 1024"),
        (json!({"knobs": knobs(2, 4), "seed": -1}), "`seed`"),
        (json!({"knobs": knobs(2, 4), "goal": "best"}), "`goal`"),
        (json!({"knobs": knobs(2, 4), "bugdet": 3}), "no field `bugdet`"),
        (json!({"knobs": knobs(2, 4), "forbid": "k0=9"}), "no level 9"),
        (json!({"knobs": knobs(2, 4), "records": 3}), "must be a list"),
        (json!({"knobs": knobs(2, 4), "records": [{"levels": [0, 0], "value": 1}, {"op": "ask"}]}), "record 2: "),
        (json!({"knobs": knobs(2, 4), "records": [{"op": "quit"}]}), "record 1: its `event` must be ask, tell"),
        // Records that cannot have happened in this order.
        (
            recorded(json!([{"event": "ask", "id": 1, "levels": [0, 0]}, {"event": "ask", "id": 3, "levels": [0, 1]}])),
            "record 2: ask 3 comes where ask 2 should; a record is missing",
        ),
        (recorded(json!([{"op": "ask", "levels": [0, 0]}, {"op": "ask", "levels": [0, 0]}])), "record 2: "),
        (
            recorded(json!([{"levels": [0, 0], "value": 1}, {"event": "ask", "levels": [0, 0]}])),
            "record 2: this combination is measured already",
        ),
        (recorded(json!([{"event": "tell", "id": 1, "value": 1}])), "record 1: no ask with the id 1 is pending"),
        (
            recorded(
                json!([{"levels": [0, 0], "value": 1}, {"levels": [1, 0], "value": 1}, {"event": "ask", "levels": [0, 1]}]),
            ),
            "record 3: the budget of 2 measurements is too small",
        ),
    ] {
        let mut message = fields.clone();
        message["op"] = "init".into();
        let answer = service.call(&message);
        assert!(answer["error"].as_str().unwrap().contains(wanted), "{wanted}: {answer}");
        assert!(service.call(&json!({"op": "ask"}))["error"].as_str().unwrap().contains("no space yet"));
    }
    service.ok(small());
}

/// Knobs of every kind, with failures, a queue and something forbidden: the core itself, in a tuner
/// of another capacity, asks the same.
#[test]
fn the_sequence_is_that_of_the_core() {
    static VALUES: [f32; 5] = [1.0, 3.0, 10.0, 30.0, 100.0];
    static RANGE: [f32; 9] = [16.0, 32.0, 48.0, 64.0, 80.0, 96.0, 112.0, 128.0, 144.0];
    const KNOBS: [Knob; 5] = [
        Knob::nominal(4),
        Knob::graded(&RANGE, Scale::Linear),
        Knob::graded(&VALUES, Scale::Log),
        Knob::nominal(2),
        Knob::nominal(3),
    ];
    type Exact = trimtab::tuner!(KNOBS, observations: 50, rows: 256);
    let space = || Space::new(&KNOBS).unwrap().with_feasible(&|c| !(c.level(0) == 1 && c.level(1) > 5));
    for (seed, goal) in [(1, Goal::Minimise), (77, Goal::Maximise)] {
        let mut tuner = Box::new(Exact::new());
        tuner.init(space(), Config { goal, ..Config::default() }, seed).unwrap();
        let name = if goal == Goal::Minimise { "minimize" } else { "maximize" };
        let mut service = Service::init(&json!({
            "op": "init", "seed": seed, "budget": 1000, "goal": name,
            "forbid": "opt=O2 & block>96",
            "knobs": {"opt": "O1,O2,O3,Os", "block": "16..144:16", "gain": "log:1,3,10,30,100", "lto": [false, true],
                "mode": ["a", "b", "c"]},
        }));
        let named = |levels: &[u8]| {
            let [opt, block, gain, lto, mode] = [0, 1, 2, 3, 4].map(|i| usize::from(levels[i]));
            let (opt, mode) = (["O1", "O2", "O3", "Os"][opt], ["a", "b", "c"][mode]);
            json!({"opt": opt, "block": RANGE[block] as u32, "gain": VALUES[gain] as u32, "lto": lto == 1, "mode": mode})
        };
        let start = tuner.space().combination(&[2, 4, 1, 0, 2]).unwrap();
        tuner.enqueue(&start).unwrap();
        service.ok(json!({"op": "enqueue", "config": named(start.levels())}));
        for t in 0..50 {
            let (wanted, asked) = (tuner.ask().unwrap(), service.ask());
            assert_eq!(asked["config"], named(wanted.combination.levels()), "seed {seed}, t = {t}");
            if t > 0 {
                assert_eq!(asked["mean"].as_f64().unwrap() as f32, wanted.mean);
                assert_eq!(asked["std_dev"].as_f64().unwrap() as f32, wanted.std_dev);
            }
            let levels = wanted.combination.levels();
            if t % 9 == 4 {
                tuner.tell_failed(&wanted.combination).unwrap();
                service.ok(json!({"op": "tell", "id": asked["id"], "failed": true}));
                continue;
            }
            let value = levels
                .iter()
                .zip([0.3, -0.71, 1.9, 2.0, 0.1])
                .map(|(l, w)| (f64::from(*l) - 1.7) * w)
                .sum::<f64>()
                .sin();
            tuner.tell(&wanted.combination, value as f32).unwrap();
            let told = service.ok(json!({"op": "tell", "config": asked["config"], "value": value}));
            assert_eq!(told["best"]["value"].as_f64().unwrap() as f32, tuner.best_observed().unwrap().value);
        }
    }
}

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
    let begun = service.raw(include_str!("data/export-0.1.0.json").trim_end().as_bytes());
    assert_eq!(begun, json!({"ok": true, "combinations": "12", "observations": 3}));
    // What version 0.1.0 itself asked next.
    let next = json!({"id": 6, "config": {"opt": "O1", "unroll": 2}, "mean": 0.3659392, "std_dev": 0.2797701});
    assert_eq!(service.ask(), next);
    service.ok(json!({"op": "tell", "id": 5, "value": 2}));
}

/// One record form: the lines of a tune log begin a session of serve.
#[test]
fn the_lines_of_a_log_are_records() {
    let lines: Vec<Value> =
        include_str!("data/log-0.1.0.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let next = &lines[11];
    assert_eq!(next["event"], "ask");
    let mut message = json!({"op": "init", "records": lines[1..11]});
    for field in ["knobs", "forbid", "goal", "seed", "budget"] {
        message[field] = lines[0][field].clone();
    }
    let mut service = Service::init(&message);
    let asked = service.ask();
    for field in ["id", "config", "mean", "std_dev"] {
        assert_eq!(asked[field], next[field]);
    }
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

#[test]
fn at_most_eight_asks_are_pending() {
    let mut service = Service::init(&small());
    let asked: Vec<_> = (0..8).map(|_| service.ask()["config"].clone()).collect();
    assert!((1..8).all(|i| !asked[..i].contains(&asked[i])));
    let ninth = service.call(&json!({"op": "ask"}));
    assert!(ninth["error"].as_str().unwrap().contains("8 combinations are asked and not told"), "{ninth}");
    service.ok(json!({"op": "tell", "config": asked[5], "value": 1}));
    assert_eq!(service.ask()["id"], 9);
}

#[test]
fn the_space_can_be_a_file() {
    let folder = Folder::new("serve-space");
    let file = folder.0.join("space.toml");
    fs::write(&file, "forbid = \"opt=O1 & unroll=8\"\n[knobs]\nopt = \"O1,O2\"\nunroll = [1, 2, 4, 8]\n").unwrap();
    let file = file.to_str().unwrap();
    let mut service = Service::start(&["--space", file, "--seed", "7", "--budget", "5", "--maximize"]);
    let export = service.export();
    let message = json!({"op": "init", "seed": 7, "budget": 5, "goal": "maximize", "forbid": ["opt=O1 & unroll=8"],
        "knobs": {"opt": ["O1", "O2"], "unroll": [1, 2, 4, 8]}});
    let mut other = Service::init(&message);
    assert_eq!(other.export(), export);
    for value in 0..5 {
        let asked = service.ask();
        assert_eq!(asked, other.ask());
        for service in [&mut service, &mut other] {
            let told = service.ok(json!({"op": "tell", "id": asked["id"], "value": value}));
            assert_eq!(told["best"]["value"], f64::from(value));
        }
    }
    let usage = |words: &[&str], wanted: &str| {
        let output = folder.run(&[&["serve"], words].concat());
        let error = text(&output.stderr);
        assert!(
            output.status.code() == Some(2) && error.contains(wanted) && output.stdout.is_empty(),
            "{words:?}: {error}"
        );
    };
    usage(&["--space", "nowhere.toml"], "nowhere.toml");
    usage(&["--seed", "3"], "--space");
    usage(&["--space", file, "--budget", "2000"], "from 1 to 1024");
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

/// A session of the largest size can be exported in one message, and begun from it.
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

fn client(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/clients").join(name)
}

/// Returns what a client prints; a missing tool is reported and is not a failure.
fn run_client(tool: &str, command: &mut Command) -> Option<String> {
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{tool}: {}", text(&output.stderr));
            Some(text(&output.stdout))
        }
        Err(error) => {
            eprintln!("SKIPPED: the client for {tool} did not run, {tool} cannot be started: {error}");
            None
        }
    }
}

/// All documented clients tune the same machine from the same seed.
const FOUND: [&str; 2] = ["fast", "21"];

fn check(out: &str) {
    let words: Vec<_> = out.split_whitespace().collect();
    assert!(words.len() == 3 && words[..2] == FOUND && words[2].parse() == Ok(0.0), "{out}");
}

#[test]
fn the_client_in_python_works() {
    let mut command = Command::new("python3");
    command.arg(client("client.py")).arg(env!("CARGO_BIN_EXE_trimtab"));
    if let Some(out) = run_client("python3", &mut command) {
        check(&out);
    }
}

#[test]
#[cfg(unix)]
fn the_client_in_shell_works() {
    let mut command = Command::new("sh");
    command.arg(client("client.sh")).arg(env!("CARGO_BIN_EXE_trimtab"));
    check(&run_client("sh", &mut command).expect("a shell"));
}

#[test]
#[cfg(unix)]
fn the_client_in_c_works() {
    let folder = Folder::new("serve-c");
    let program = folder.0.join("client");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program).arg(client("client.c"));
    if run_client("cc", &mut compiler).is_some() {
        let mut command = Command::new(&program);
        check(&run_client("the program", command.arg(env!("CARGO_BIN_EXE_trimtab"))).expect("it was built"));
    }
}
