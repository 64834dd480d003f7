//! Limits on further numbers over the protocol.

use serde_json::{Value, json};
use trimtab::{Config, Knob, Scale, Space};

use super::Service;

fn board(config: &Value) -> (f64, Value) {
    let [clock, volt] = ["clock", "volt"].map(|name| config[name].as_f64().unwrap());
    (100.0 / clock, json!({"watts": clock * volt * volt / 10.0}))
}

fn init() -> Value {
    json!({
        "op": "init", "knobs": {"clock": "1..30", "volt": [0.8, 1.0, 1.2, 1.4]}, "seed": 3, "noise": "none",
        "limits": ["watts<3"],
    })
}

/// promise: trimtab serve | limits | asks as the library does, the best keeps them, and an export goes on with the same bits
#[test]
fn a_session_with_limits_asks_as_core_does() {
    const CLOCK: [f32; 30] = {
        let mut clock = [0.0; 30];
        let mut i = 0;
        while i < 30 {
            clock[i] = (i + 1) as f32;
            i += 1;
        }
        clock
    };
    const KNOBS: [Knob; 2] = [Knob::graded(&CLOCK, Scale::Linear), Knob::graded(&[0.8, 1.0, 1.2, 1.4], Scale::Linear)];
    type Two = trimtab::tuner!(KNOBS, observations: 40, rows: 256, limits: 1);
    let mut tuner = Box::new(Two::new());
    let config = Config { noise: trimtab::Noise::None, ..Config::default() };
    tuner.init(Space::new(&KNOBS).unwrap(), config, 3).unwrap();
    let mut service = Service::init(&init());
    for i in 0..30 {
        let (ask, own) = (service.ask(), tuner.ask().unwrap());
        let levels = [ask["config"]["clock"].as_u64().unwrap() - 1, own.combination.level(1).into()];
        assert_eq!(u64::from(own.combination.level(0)), levels[0], "ask {i}");
        if i > 0 {
            assert_eq!(ask["mean"].as_f64().unwrap() as f32, own.mean, "ask {i}");
            let chance = tuner.keep_chance(&own.combination).unwrap();
            assert_eq!(ask["keep_chance"].as_f64().unwrap() as f32, chance, "ask {i}");
        } else {
            assert!(ask["keep_chance"].is_null() && ask.as_object().unwrap().contains_key("keep_chance"));
        }
        let (value, numbers) = board(&ask["config"]);
        let watts = numbers["watts"].as_f64().unwrap();
        let answer = service.ok(json!({"op": "tell", "id": ask["id"], "value": value, "numbers": numbers}));
        tuner.tell_with(&own.combination, value as f32, &[(3.0 - watts) as f32]).unwrap();
        let best = tuner.best_observed();
        assert_eq!(answer["best"].is_null(), best.is_none());
        if let Some(best) = best {
            assert_eq!(answer["best"]["value"].as_f64().unwrap() as f32, best.value);
            assert!(answer["best"]["numbers"]["watts"].as_f64().unwrap() < 3.0);
        }
        if i == 12 {
            // Another process goes on with what this one exported.
            let export = service.export();
            assert_eq!(export["limits"], json!(["watts<3"]));
            service = Service::init(&export);
            assert_eq!(service.export(), export);
        }
    }
    let best = service.ok(json!({"op": "best"}));
    assert_eq!(best["observed"]["config"], json!({"clock": 30, "volt": 0.8}));
    assert!(best["nearest"].is_null() && best["posterior"]["numbers"]["watts"].as_f64().unwrap() < 3.0);
    let far = service.ok(json!({"op": "predict", "config": {"clock": 30, "volt": 1.4}}));
    assert!(far["keep_chance"].as_f64().unwrap() < 0.5, "{far}");
}

/// promise: trimtab serve | a tell without its numbers, with others, or with limits that are none | an error that says so, nothing changes
#[test]
fn wrong_limits_and_numbers_change_nothing() {
    for (limits, wanted) in [
        (json!("watts"), "has no bound"),
        (json!(["a<1", "b<1", "c<1", "d<1", "e<1"]), "there are 5 limits; the tuner keeps at most 4"),
        (json!({"watts": 3}), "`limits` must be a text such as"),
        (json!([3]), "`limits` must be a text such as"),
        (json!("volt<1"), "the limit volt<1 is on a knob"),
        (json!("log(watts)<0"), "must be above 0 on a log scale"),
    ] {
        let mut service = Service::start(&[]);
        let mut message = init();
        message["limits"] = limits;
        let answer = service.call(&message);
        assert!(answer["error"].as_str().unwrap().contains(wanted), "{answer}");
        assert_eq!(service.call(&init())["ok"], true);
    }
    let mut service = Service::init(&init());
    let id = service.ask()["id"].clone();
    let before = service.export();
    for (fields, wanted) in [
        (json!({"value": 1}), "`numbers` has no `watts`, which the limit watts<3 needs"),
        (json!({"value": 1, "numbers": {}}), "`numbers` has no `watts`"),
        (json!({"value": 1, "numbers": {"watts": 1, "volts": 1}}), "has `volts`, but no limit is on it"),
        (json!({"value": 1, "numbers": {"watts": "1"}}), "`watts` in `numbers` must be a number"),
        (json!({"value": 1, "numbers": {"watts": 1e40}}), "of `watts` is not finite, or too large"),
        (json!({"value": 1e40, "numbers": {"watts": 1}}), "the tuner says"),
        (json!({"value": 1, "numbers": [1]}), "`numbers` must be an object"),
        (json!({"failed": true, "numbers": {"watts": 1}}), "a failure has no `numbers`"),
    ] {
        let mut message = fields.clone();
        message["op"] = "tell".into();
        message["id"] = id.clone();
        let answer = service.call(&message);
        assert!(answer["error"].as_str().is_some_and(|error| error.contains(wanted)), "{fields}: {answer}");
        assert_eq!(service.export(), before, "{fields}");
    }
    service.ok(json!({"op": "tell", "id": id, "failed": true}));
    // Without a keeper the nearest is told, and what it breaks.
    for (clock, watts) in [(10, 5.0), (20, 3.5), (30, 9.0)] {
        let config = json!({"clock": clock, "volt": 1.0});
        let answer = service.ok(json!({"op": "tell", "config": config, "value": 1, "numbers": {"watts": watts}}));
        assert!(answer["best"].is_null());
    }
    let best = service.ok(json!({"op": "best"}));
    assert!(best["observed"].is_null() && best["posterior"].is_null(), "{best}");
    assert_eq!(best["nearest"]["config"]["clock"], 20);
    assert_eq!(
        (&best["nearest"]["breaks"], &best["nearest"]["numbers"]),
        (&json!(["watts<3"]), &json!({"watts": 3.5}))
    );
    // Equal to the bound is not below it.
    let config = json!({"clock": 1, "volt": 1.0});
    let answer = service.ok(json!({"op": "tell", "config": config, "value": 1, "numbers": {"watts": 3}}));
    assert!(answer["best"].is_null());
    // Without limits there are no numbers.
    let mut plain = init();
    plain.as_object_mut().unwrap().remove("limits");
    let mut service = Service::init(&plain);
    let answer = service.call(&json!({"op": "tell", "config": config, "value": 1, "numbers": {"watts": 3}}));
    assert!(answer["error"].as_str().unwrap().contains("the run has no limits"), "{answer}");
    assert!(service.ask()["keep_chance"].is_null());
}

#[test]
fn a_file_takes_its_limits_from_the_options() {
    let folder = crate::common::Folder::new("serve-second");
    std::fs::write(folder.0.join("space.json"), r#"{"knobs":{"a":"1..9"}}"#).unwrap();
    let path = folder.0.join("space.json");
    let mut service = Service::start(&["--space", path.to_str().unwrap(), "--limit", "watts<3", "--limit", "volts>=1"]);
    assert_eq!(service.export()["limits"], json!(["watts<3", "volts>=1"]));
    let output = folder.run(&["serve", "--space", "space.json", "--limit", "a<3"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(crate::common::text(&output.stderr).contains("--limit: the limit a<3 is on a knob"));
}
