//! What each message does.
//!
//! | op | fields | answer |
//! |---|---|---|
//! | `init` | `knobs`, or with `forbid`, `goal`, `seed`, `budget`, `records` | `ok`, `combinations` |
//! | `ask` | | `id`, `config`, `mean`, `std_dev`, or `exhausted` |
//! | `tell` | `config` or `id`; `value` or `failed` | `ok`, `observations`, `best` |
//! | `enqueue`, `cancel` | `config`, or to cancel `id` | `ok` |
//! | `predict` | `config` | `mean`, `std_dev` |
//! | `best` | | `observed`, `posterior` |
//! | `export` | | the `init` that goes on from here |
//! | `quit` | | `ok`, and the end |
//!
//! **Choices.** A message is understood whole before anything is done: a field that an op does not have is an error, not a hint. Where a message has a
//! `config` it may have `levels` instead, counted from 0, as records do. What was told and asked is replayed from records by the same code. Messages of
//! errors are cut at [`MOST_ERROR`] characters: they may quote what was sent.

use serde_json::{Map, Value, json};
use trimtab::{Goal, Level};

use super::live::{Live, Next, Outcome, opinion};
use super::message;
use crate::error::Error;
use crate::session::Task;
use crate::session::engine;
use crate::space::NamedSpace;

/// Characters of an error.
const MOST_ERROR: usize = 1000;
/// Seed of a session that names none.
pub(crate) const SEED: u64 = 1;
/// The most knobs.
const KNOBS: usize = engine::MOST.0;
/// Measurements of a session that names no budget, and the most.
pub(crate) const BUDGET: usize = engine::MOST.2;

type Fields = Map<String, Value>;

/// One line of the output.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) is_last: bool,
}

/// The session, once there is one.
pub(super) struct Server {
    live: Option<Live>,
}

impl Server {
    /// To be begun by a message.
    pub(super) fn new() -> Self {
        Self { live: None }
    }

    /// Begun.
    pub(super) fn with(task: Task) -> Result<Self, Error> {
        Ok(Self { live: Some(Live::new(task)?) })
    }

    /// The answer to one line.
    pub(super) fn answer(&mut self, line: &[u8]) -> Answer {
        let fields = match message::parse(line) {
            Ok(fields) => fields,
            Err(error) => return Answer { text: refusal(&error, None), is_last: false },
        };
        let op = fields.get("op").and_then(Value::as_str);
        match op
            .ok_or_else(|| "the field `op` is missing; write {\"op\":\"ask\"}".to_string())
            .and_then(|op| self.obey(op, &fields))
        {
            Ok(text) => Answer { text, is_last: op == Some("quit") },
            Err(error) => Answer { text: refusal(&error, op), is_last: false },
        }
    }

    /// The answer to a line that was not read to its end.
    pub(super) fn too_long(most: usize) -> Answer {
        let error = format!("the line has more than {most} bytes; it is skipped");
        Answer { text: refusal(&error, None), is_last: false }
    }

    fn obey(&mut self, op: &str, fields: &Fields) -> Result<String, String> {
        let allowed: &[&str] = match op {
            "init" => &["knobs", "forbid", "goal", "seed", "budget", "records"],
            "tell" => &["config", "levels", "id", "value", "failed"],
            "cancel" => &["config", "levels", "id"],
            "enqueue" | "predict" => &["config", "levels"],
            "ask" | "best" | "export" | "quit" => &[],
            _ => {
                return Err(
                    "there is no such op; there are init, ask, tell, enqueue, cancel, predict, best, export, quit"
                        .into(),
                );
            }
        };
        only(op, fields, allowed)?;
        match op {
            "init" => return self.init(fields),
            "quit" => return Ok(json!({"ok": true}).to_string()),
            _ => {}
        }
        let Some(live) = &mut self.live else {
            return Err("there is no space yet; send an init with knobs, or start with --space FILE".into());
        };
        let answer = match op {
            "ask" => ask(live)?,
            "best" => json!({"observed": live.best(), "posterior": live.best_posterior()}),
            "export" => return Ok(live.export()),
            "predict" => {
                let (mean, std_dev) = live
                    .session()
                    .predict(&combination(live, fields)?)
                    .map_or((Value::Null, Value::Null), |o| opinion(&o));
                json!({"mean": mean, "std_dev": std_dev})
            }
            _ => {
                change(live, op, fields)?;
                match op {
                    "tell" => json!({"ok": true, "observations": live.session().observations(), "best": live.best()}),
                    _ => json!({"ok": true}),
                }
            }
        };
        Ok(answer.to_string())
    }

    fn init(&mut self, fields: &Fields) -> Result<String, String> {
        if self.live.is_some() {
            return Err("the session has begun; another space needs another process".into());
        }
        // Counted before they are looked at: each knob is compared with all others.
        let knobs = match fields.get("knobs") {
            Some(Value::Array(knobs)) => knobs.len(),
            Some(Value::Object(knobs)) => knobs.len(),
            _ => 0,
        };
        if knobs > KNOBS {
            return Err(format!("{knobs} knobs are too many; the tuner takes at most {KNOBS} knobs"));
        }
        let task = Task {
            space: NamedSpace::from_fields(fields)?,
            goal: match fields.get("goal").map(|goal| goal.as_str().unwrap_or("")) {
                None | Some("minimize") => Goal::Minimise,
                Some("maximize") => Goal::Maximise,
                Some(_) => return Err("`goal` is neither \"minimize\" nor \"maximize\"".into()),
            },
            seed: match fields.get("seed") {
                None => SEED,
                Some(seed) => seed.as_u64().ok_or("`seed` is no whole number from 0 to 2^64 - 1")?,
            },
            budget: match fields.get("budget") {
                None => BUDGET,
                Some(budget) => {
                    let budget = budget.as_u64().filter(|budget| (1..=BUDGET as u64).contains(budget));
                    budget.ok_or_else(|| format!("`budget` is no whole number from 1 to {BUDGET}"))? as usize
                }
            },
        };
        let combinations = task.space.cardinality();
        let mut live = Live::new(task).map_err(|error| error.to_string())?;
        let mut answer = json!({"ok": true, "combinations": combinations});
        if let Some(records) = fields.get("records") {
            let records = records.as_array().ok_or("`records` is no list")?;
            for (i, record) in records.iter().enumerate() {
                replay(&mut live, record).map_err(|error| format!("record {}: {error}", i + 1))?;
            }
            answer["observations"] = live.session().observations().into();
        }
        self.live = Some(live);
        Ok(answer.to_string())
    }
}

fn ask(live: &mut Live) -> Result<Value, String> {
    Ok(match live.ask().map_err(|error| error.to_string())? {
        Next::Exhausted(what) => json!({"exhausted": true, "reason": what}),
        Next::Asked(asked) => {
            let (mean, std_dev) = opinion(&asked.opinion);
            json!({"id": asked.id, "config": live.named(&asked.opinion.levels), "mean": mean, "std_dev": std_dev})
        }
    })
}

/// One record of an export: what it says is done again.
fn replay(live: &mut Live, record: &Value) -> Result<(), String> {
    let fields = record.as_object().ok_or("it is no object")?;
    let op = fields.get("op").map_or(Some("tell"), Value::as_str);
    match op {
        Some("ask") => {
            only("ask", fields, &["config", "levels"])?;
            live.ask_again(&combination(live, fields)?).map_err(|error| error.to_string())
        }
        Some(op @ "tell") => {
            only(op, fields, &["config", "levels", "id", "value", "failed"])?;
            change(live, op, fields)
        }
        Some(op @ ("enqueue" | "cancel")) => {
            only(op, fields, if op == "cancel" { &["config", "levels", "id"] } else { &["config", "levels"] })?;
            change(live, op, fields)
        }
        _ => Err("its `op` is none of ask, tell, enqueue, cancel".into()),
    }
}

/// A message that changes the session and is no ask.
fn change(live: &mut Live, op: &str, fields: &Fields) -> Result<(), String> {
    let levels = combination(live, fields)?;
    match op {
        "tell" => {
            let outcome = match (fields.get("value"), fields.get("failed")) {
                (Some(value), None) => {
                    Outcome::Value(value.as_f64().ok_or_else(|| format!("`value` is {value}, no number"))?)
                }
                (None, Some(Value::Bool(true))) => Outcome::Failed,
                (None, Some(_)) => {
                    return Err("`failed` can only be true; a measurement that did not fail has a `value`".into());
                }
                (None, None) => return Err("there is neither a `value` nor \"failed\":true".into()),
                (Some(_), Some(_)) => return Err("`value` and `failed` cannot both be there".into()),
            };
            live.tell(&levels, outcome)
        }
        "enqueue" => live.enqueue(&levels),
        _ => live.cancel(&levels),
    }
    .map_err(|error| error.to_string())
}

/// The combination that a message is about: by `config`, by `levels` or by the `id` of an ask; if by several, they must agree.
fn combination(live: &Live, fields: &Fields) -> Result<Vec<Level>, String> {
    let space = live.session().space();
    let named = fields
        .get("config")
        .map(|config| space.levels(config.as_object().ok_or("`config` is no object with a level for every knob")?));
    let listed = fields.get("levels").map(|levels| {
        let fault = || format!("`levels` is no list of {} whole numbers, each counted from 0", space.knobs().len());
        let list = levels.as_array().filter(|list| list.len() == space.knobs().len()).ok_or_else(fault)?;
        let level = |(level, knob): (&Value, &crate::space::NamedKnob)| {
            let level = level.as_u64().filter(|level| *level < knob.levels().len() as u64);
            level.map(|level| level as Level).ok_or_else(fault)
        };
        list.iter().zip(space.knobs()).map(level).collect()
    });
    let awaited = fields.get("id").map(|id| {
        let levels = id.as_u64().and_then(|id| live.awaited(id));
        levels.map(<[Level]>::to_vec).ok_or_else(|| format!("no ask with the id {id} is awaited"))
    });
    let mut found: Option<Vec<Level>> = None;
    for levels in [named, listed, awaited].into_iter().flatten() {
        let levels = levels?;
        if found.as_ref().is_some_and(|found| *found != levels) {
            return Err("`id`, `config` and `levels` are not the same combination".into());
        }
        found = Some(levels);
    }
    found.ok_or_else(|| "there is no `config` that says which combination".into())
}

/// Refuses fields that an op does not have.
fn only(op: &str, fields: &Fields, allowed: &[&str]) -> Result<(), String> {
    match fields.keys().find(|field| *field != "op" && !allowed.contains(&field.as_str())) {
        None => Ok(()),
        Some(field) if allowed.is_empty() => Err(format!("`{op}` has no fields, so no `{field}`")),
        Some(field) => Err(format!("`{op}` has no field `{field}`; it has {}", allowed.join(", "))),
    }
}

/// An error as an answer. An op that is too long to be one is not repeated.
fn refusal(error: &str, op: Option<&str>) -> String {
    let mut shown: String = error.chars().take(MOST_ERROR).collect();
    if shown.len() < error.len() {
        shown.push('…');
    }
    json!({"error": shown, "op": op.filter(|op| op.len() <= 64)}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    const INIT: &str =
        r#"{"op":"init","knobs":{"a":"x,y,z","b":"1..9","c":[true,false]},"forbid":"a=x & b>6","budget":40}"#;

    fn server() -> Server {
        let mut server = Server::new();
        assert_eq!(server.answer(INIT.as_bytes()).text, r#"{"ok":true,"combinations":"54"}"#);
        server
    }

    /// Lines of the protocol with bytes changed, taken away and put in.
    fn mutated(random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
        let lines = [
            r#"{"op":"ask"}"#.to_string(),
            format!(r#"{{"op":"tell","id":{},"value":0.31}}"#, random.random_range(0..40)),
            format!(r#"{{"op":"tell","levels":[1,{},0],"failed":true}}"#, random.random_range(0..10)),
            format!(
                r#"{{"op":"tell","config":{{"a":"y","b":{},"c":true}},"value":-1.5e3}}"#,
                random.random_range(0..11)
            ),
            format!(r#"{{"op":"enqueue","config":{{"a":"x","b":{},"c":false}}}}"#, random.random_range(0..11)),
            format!(r#"{{"op":"cancel","id":{}}}"#, random.random_range(0..40)),
            r#"{"op":"best"}"#.to_string(),
            r#"{"op":"predict","levels":[0,0,0]}"#.to_string(),
            INIT.to_string(),
        ];
        let mut line = lines[random.random_range(0..lines.len())].clone().into_bytes();
        for _ in 0..random.random_range(0..3) {
            let place = random.random_range(0..line.len().max(1));
            match random.random_range(0..4) {
                0 => line.truncate(place),
                1 if place < line.len() => line[place] = random.random_range(0..=255),
                2 if place < line.len() => drop(line.remove(place)),
                _ => drop(
                    line.splice(place..place, b"{\"op\":[1e999,null]}"[random.random_range(0..19)..].iter().copied()),
                ),
            }
        }
        line
    }

    #[test]
    fn an_error_changes_nothing_whatever_was_sent() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..4 {
            let mut server = server();
            let (mut errors, mut changes) = (0, 0);
            for _ in 0..1500 {
                let line = mutated(&mut random);
                let before = server.live.as_ref().unwrap().export();
                let answer = server.answer(&line);
                let after = server.live.as_ref().unwrap().export();
                let shown = String::from_utf8_lossy(&line).into_owned();
                assert!(!answer.text.contains('\n') && answer.text.len() < 5000, "{shown}");
                let fields: Map<String, Value> = serde_json::from_str(&answer.text).unwrap();
                if fields.contains_key("error") {
                    assert!(before == after && fields.len() == 2 && !answer.is_last, "{shown}");
                    errors += 1;
                }
                changes += usize::from(before != after);
            }
            assert!(errors > 300 && changes > 50, "{errors} errors, {changes} changes");
            // What happened can be done again, record by record.
            let export = server.live.as_ref().unwrap().export();
            let mut copy = Server::new();
            let answer = copy.answer(export.as_bytes()).text;
            assert!(answer.starts_with("{\"ok\":true"), "{answer}");
            assert_eq!(copy.live.as_ref().unwrap().export(), export);
            assert_eq!(copy.answer(br#"{"op":"ask"}"#).text, server.answer(br#"{"op":"ask"}"#).text);
        }
    }

    #[test]
    fn errors_are_cut() {
        let line = format!("{{\"op\":\"{}\"}}", "é".repeat(100_000));
        let answer = server().answer(line.as_bytes()).text;
        assert!(answer.len() < 2500 && answer.ends_with("\"op\":null}"), "{answer}");
        let line = format!("{{\"op\":\"ask\",\"{}\":1}}", "é".repeat(100_000));
        let answer: Value = serde_json::from_str(&server().answer(line.as_bytes()).text).unwrap();
        assert_eq!(answer["error"].as_str().unwrap().chars().count(), MOST_ERROR + 1);
    }

    /// A session whose export would not fit in a message takes nothing more, and can still be exported.
    #[test]
    fn a_session_is_full_when_its_export_is_a_message() {
        let mut server = server();
        let line = br#"{"op":"tell","levels":[1,1,1],"value":0.125}"#;
        let live = server.live.as_mut().unwrap();
        live.fill_for_test();
        let answer = server.answer(line).text;
        assert!(answer.contains("so it is full"), "{answer}");
        assert!(server.answer(br#"{"op":"export"}"#).text.len() <= super::super::MOST_BYTES);
    }
}
