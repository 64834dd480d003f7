//! `trimtab serve` end to end: the protocol, its errors, records, and that it asks as core does.

mod limits;
mod records;
mod second_number;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::common::{Folder, text};
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
    let best = json!({"config": first["config"], "value": 0.31, "measured": 1});
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
    assert_eq!(predicted["measured"], 0);
    assert_eq!(service.ok(json!({"op": "cancel", "id": 3})), json!({"ok": true}));
    let best_now = service.ok(json!({"op": "best"}));
    assert_eq!(best_now["observed"], best);
    assert_eq!(best_now["posterior"]["config"], first["config"]);
    assert!(best_now["posterior"]["mean"].is_f64() && best_now["posterior"]["std_dev"].is_f64());
    assert_eq!((&best_now["posterior"]["measured"], &best_now["noise"]), (&json!(1), &json!(0.0)));

    assert_eq!(service.ok(json!({"op": "quit"})), json!({"ok": true}));
    assert_eq!(service.end(), (Some(0), String::new()));
}

#[test]
fn the_end_of_the_input_is_an_end() {
    assert_eq!(Service::start(&[]).end(), (Some(0), String::new()));
    let mut service = Service::init(&small());
    // Also without a line feed at the end.
    service.to.as_mut().unwrap().write_all(b"{\"op\":\"best\"}").unwrap();
    assert_eq!(service.end(), (Some(0), "{\"observed\":null,\"posterior\":null,\"noise\":0.0}\n".into()));
}

/// A rugged cost of the small space.
fn small_cost(config: &Value) -> f64 {
    let opt = f64::from(config["opt"].as_str().unwrap().as_bytes()[1] - b'0');
    let (unroll, gain) = (config["unroll"].as_f64().unwrap(), config["gain"].as_f64().unwrap());
    (opt - 2.2).powi(2) + (unroll.log2() - 1.4).abs() * opt + (gain.log10() - 1.0).abs()
}

/// promise: trimtab serve | unknown ops and fields, wrong types, unknown levels, NaN | an error, nothing changes
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
        ("{\"op\":3}", "must be a text", Value::Null),
        ("{\"op\":\"asks\"}", "there is no such op", json!("asks")),
        ("{\"op\":\"ask\",\"op\":\"ask\"}", "`op` occurs twice", Value::Null),
        ("{\"op\":\"ask\",\"n\":2}", "no field `n`; it has tolerance", json!("ask")),
        ("{\"op\":\"best\",\"n\":2}", "no fields, so no `n`", json!("best")),
        ("{\"op\":\"ask\",\"tolerance\":0}", "`tolerance` must be a number above 0", json!("ask")),
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

/// promise: trimtab serve | an `init` that is no space | an error; a better one may follow
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
        (json!({"knobs": knobs(2, 4), "noise": 0}), "`noise` must be \"auto\", \"none\" or a positive number"),
        (json!({"knobs": knobs(2, 4), "noise": "0.5"}), "`noise`"),
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
            json!({"knobs": knobs(2, 4), "noise": "none",
                "records": [{"levels": [0, 0], "value": 1}, {"event": "ask", "levels": [0, 0]}]}),
            "record 2: this combination is measured already",
        ),
        (
            recorded(json!([{"event": "failed", "levels": [0, 0]}, {"event": "ask", "levels": [0, 0]}])),
            "record 2: this combination has failed",
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
        let named = |levels: &[trimtab::Level]| {
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

/// The cost of the small space with pseudo-noise, the same for the same number of the measurement.
fn noisy(config: &Value, n: u64) -> f64 {
    10.0 * small_cost(config) + ((n * 7919 + n * n * 104_729) % 61) as f64 / 6.1 - 5.0
}

#[test]
fn noise_is_believed_in_and_exported() {
    let session = |noise: Value| {
        let mut message = small();
        (message["noise"], message["budget"]) = (noise.clone(), 30.into());
        let mut service = Service::init(&message);
        let mut asked = Vec::new();
        for n in 1..=30 {
            let ask = service.ask();
            service.ok(json!({"op": "tell", "id": ask["id"], "value": noisy(&ask["config"], n)}));
            asked.push(ask["config"].to_string());
        }
        assert_eq!(service.ask()["reason"], "budget");
        let best = service.ok(json!({"op": "best"}));
        let config = best["posterior"]["config"].to_string();
        let times = asked.iter().filter(|own| **own == config).count();
        assert_eq!(best["posterior"]["measured"], times);
        let predicted = service.ok(json!({"op": "predict", "config": best["posterior"]["config"]}));
        for field in ["mean", "std_dev", "measured"] {
            assert_eq!(predicted[field], best["posterior"][field]);
        }
        // An export says it too, and goes on alike.
        let export = service.export();
        assert_eq!(export["noise"], noise);
        let mut longer = export.clone();
        longer["budget"] = 34.into();
        let (mut one, mut other) = (Service::init(&longer), Service::init(&longer));
        assert_eq!(one.ok(json!({"op": "best"})), best);
        assert_eq!(one.ask(), other.ask());
        asked.sort();
        asked.dedup();
        (30 - asked.len(), best["noise"].as_f64().unwrap())
    };
    assert_eq!(session(json!("none")), (0, 0.0));
    let (repeats, noise) = session(json!(2.5));
    assert!(repeats > 0 && (1.0..5.0).contains(&noise), "{repeats}, {noise}");
}

#[test]
fn the_space_can_be_a_file() {
    let folder = Folder::new("serve-space");
    let file = folder.0.join("space.toml");
    fs::write(&file, "forbid = \"opt=O1 & unroll=8\"\n[knobs]\nopt = \"O1,O2\"\nunroll = [1, 2, 4, 8]\n").unwrap();
    let file = file.to_str().unwrap();
    let mut service =
        Service::start(&["--space", file, "--seed", "7", "--budget", "5", "--noise", "0.5", "--maximize"]);
    let export = service.export();
    let message = json!({"op": "init", "seed": 7, "budget": 5, "goal": "maximize", "noise": 0.5, "forbid": ["opt=O1 & unroll=8"],
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
    usage(&["--space", file, "--noise", "0"], "write auto, none, or");
    usage(&["--space", file, "--budget", "2000"], "from 1 to 1024");
}

fn client(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/clients").join(name)
}

/// What a client prints.
fn run_client(tool: &str, command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{tool} cannot be started: {error}"));
    assert!(output.status.success(), "{tool}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// All documented clients tune the same machine from the same seed, and print what serve.md says.
fn check(out: &str) {
    assert!(include_str!("../../../docs/serve.md").contains("each prints `fast 21 0`"));
    assert_eq!(out, "fast 21 0\n");
}

/// Needs python3; `cargo xtask setup` installs it. Whoever has none says so.
#[test]
fn the_client_in_python_works() {
    if std::env::var_os("TRIMTAB_WITHOUT_PYTHON").is_some() {
        return;
    }
    let mut command = Command::new("python3");
    command.arg(client("client.py")).arg(env!("CARGO_BIN_EXE_trimtab"));
    check(&run_client("python3", &mut command));
}

#[test]
#[cfg(unix)]
fn the_client_in_shell_works() {
    let mut command = Command::new("sh");
    command.arg(client("client.sh")).arg(env!("CARGO_BIN_EXE_trimtab"));
    check(&run_client("sh", &mut command));
}

/// `cc` is there: Rust links with it.
#[test]
#[cfg(unix)]
fn the_client_in_c_works() {
    let folder = Folder::new("serve-c");
    let program = folder.0.join("client");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program).arg(client("client.c"));
    run_client("cc", &mut compiler);
    let mut command = Command::new(&program);
    check(&run_client("the program", command.arg(env!("CARGO_BIN_EXE_trimtab"))));
}
