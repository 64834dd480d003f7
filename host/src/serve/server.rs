//! What each message does.
//!
//! | op | fields | answer |
//! |---|---|---|
//! | `init` | `knobs`; optional `forbid`, `only_if`, `goal`, `seed`, `budget`, `noise`, `limits`, `prior`, `records` | `ok`, `combinations` |
//! | `ask` | optional `tolerance` | `id`, `config`, `mean`, `std_dev`, `expected_gain`, `settled`, or `exhausted`; `keep_chance` with limits |
//! | `tell` | `config` or `id`; `value` or `failed`; `numbers` with limits | `ok`, `observations`, `best` |
//! | `enqueue`, `cancel` | `config`; for `cancel` also `id` | `ok` |
//! | `predict` | `config` | `mean`, `std_dev`, `measured`; `keep_chance` with limits |
//! | `best` | | `observed`, `posterior`, `noise`; `prior` if there is one; `nearest` if nothing keeps the limits |
//! | `export` | | the `init` that continues this session |
//! | `quit` | | `ok`, then the process ends |
//!
//! **Choices**
//! - A message is parsed as a whole before anything happens; a field that its op does not have is
//!   an error.
//! - Wherever a message has a `config` it may have `levels` instead, counted from 0.
//! - A tell, enqueue or cancel is applied like a record of an export.
//! - Error messages are cut at [`MOST_ERROR`] characters, because they may quote the message.

use serde_json::{Value, json};
use trimtab::{Level, PriorState};
use trimtab_sizes::Prediction;

use super::journal::Journal;
use super::{MOST_BYTES, message};
use crate::error::Error;
use crate::session::record::{Fields, Place, Record};
use crate::session::{Next, Session, Study};

/// Characters of an error.
const MOST_ERROR: usize = 1000;

/// One line of the output.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) is_last: bool,
}

/// The session, once there is one.
pub(super) struct Server {
    open: Option<Open>,
    /// Most bytes of an export.
    most: usize,
}

/// A session and its records.
struct Open {
    session: Session,
    journal: Journal,
}

impl Server {
    /// A server whose first message names the space.
    pub(super) fn new() -> Self {
        Self { open: None, most: MOST_BYTES }
    }

    /// A server whose session has begun.
    pub(super) fn with(study: Study) -> Result<Self, Error> {
        Ok(Self { open: Some(Open::new(study, MOST_BYTES)?), most: MOST_BYTES })
    }

    /// The answer to one line.
    pub(super) fn answer(&mut self, line: &[u8]) -> Answer {
        let fields = match message::parse(line) {
            Ok(fields) => fields,
            Err(error) => return Answer { text: refusal(&error, None), is_last: false },
        };
        let op = fields.get("op").and_then(Value::as_str);
        let no_op = || match fields.get("op") {
            Some(_) => "the field `op` must be a text; write {\"op\":\"ask\"}".to_string(),
            None => "the field `op` is missing; write {\"op\":\"ask\"}".to_string(),
        };
        match op.ok_or_else(no_op).and_then(|op| self.obey(op, &fields)) {
            Ok(text) => Answer { text, is_last: op == Some("quit") },
            Err(error) => Answer { text: refusal(&error, op), is_last: false },
        }
    }

    /// The answer to a line that was not read to its end.
    pub(super) fn too_long(most: usize) -> Answer {
        let error = format!("the line has more than {most} bytes and was skipped");
        Answer { text: refusal(&error, None), is_last: false }
    }

    fn obey(&mut self, op: &str, fields: &Fields) -> Result<String, String> {
        let allowed: &[&str] = match op {
            "init" => &["knobs", "forbid", "only_if", "goal", "seed", "budget", "noise", "limits", "prior", "records"],
            "tell" => &["config", "levels", "id", "value", "numbers", "failed"],
            "cancel" => &["config", "levels", "id"],
            "enqueue" | "predict" => &["config", "levels"],
            "ask" => &["tolerance"],
            "best" | "export" | "quit" => &[],
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
        let Some(open) = &mut self.open else {
            return Err("there is no space yet; send an init with knobs, or start with --space FILE".into());
        };
        let answer = match op {
            "ask" => open.ask(tolerance(fields)?).map_err(|error| error.to_string())?,
            "best" => {
                let mut best = json!({
                    "observed": open.best(),
                    "posterior": open.best_posterior(),
                    "noise": number(open.session.tuner().noise()),
                });
                // Only with a prior: other sessions answer as ever.
                if let Some(prior) = open.prior() {
                    best["prior"] = prior;
                }
                if let Some(nearest) = open.nearest() {
                    best["nearest"] = nearest;
                }
                best
            }
            "export" => return Ok(open.journal.export()),
            "predict" => {
                let levels = open.session.levels(&Place::from_fields(fields)?)?;
                let prediction = open.session.tuner().predict(&levels);
                let (mean, std_dev) = prediction.map_or((Value::Null, Value::Null), |p| expected(&p));
                let answer = json!({"mean": mean, "std_dev": std_dev, "measured": open.times(&levels)});
                open.with_chance(answer, &levels)
            }
            _ => {
                open.apply(Record::from_fields(fields)?)?;
                match op {
                    "tell" => {
                        let observations = open.session.tuner().observations();
                        json!({"ok": true, "observations": observations, "best": open.best()})
                    }
                    _ => json!({"ok": true}),
                }
            }
        };
        Ok(answer.to_string())
    }

    fn init(&mut self, fields: &Fields) -> Result<String, String> {
        if self.open.is_some() {
            return Err("the session has begun; another space needs another process".into());
        }
        let study = Study::from_fields(fields)?;
        let combinations = study.space.cardinality();
        let mut open = Open::new(study, self.most).map_err(|error| error.to_string())?;
        let mut answer = json!({"ok": true, "combinations": combinations});
        if let Some(records) = fields.get("records") {
            let records = records.as_array().ok_or("`records` must be a list")?;
            for (i, record) in records.iter().enumerate() {
                open.replay(record).map_err(|error| format!("record {}: {error}", i + 1))?;
            }
            answer["observations"] = open.session.tuner().observations().into();
        }
        self.open = Some(open);
        Ok(answer.to_string())
    }
}

impl Open {
    fn new(study: Study, most: usize) -> Result<Self, Error> {
        let journal = Journal::new(&study, most);
        Ok(Self { session: Session::new(study)?, journal })
    }

    fn ask(&mut self, tolerance: f32) -> Result<Value, Error> {
        self.journal.check_room().map_err(Error::Failed)?;
        Ok(match self.session.ask()? {
            Next::NothingLeft => json!({"exhausted": true, "reason": "space"}),
            Next::BudgetSpent | Next::Settled => json!({"exhausted": true, "reason": "budget"}),
            Next::Measure(ask) => {
                let (mean, std_dev) = expected(&ask.prediction);
                self.journal.push(ask.record())?;
                let config = self.session.space().named(&ask.prediction.levels);
                let gain = self.session.tuner().expected_gain().map_or(Value::Null, number);
                let settled = self.session.tuner().is_settled(tolerance);
                let answer = json!({
                    "id": ask.id, "config": config, "mean": mean, "std_dev": std_dev,
                    "expected_gain": gain, "settled": settled,
                });
                self.with_chance(answer, &ask.prediction.levels)
            }
        })
    }

    /// Does what a message or a record says, and keeps the record.
    fn apply(&mut self, record: Record) -> Result<(), String> {
        for record in record.single(&self.session)? {
            self.journal.check_room()?;
            let record = self.session.apply(record)?;
            self.journal.push(record).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn replay(&mut self, record: &Value) -> Result<(), String> {
        let fields = record.as_object().ok_or("it must be an object")?;
        self.apply(Record::from_fields(fields)?)
    }

    /// The best measured combination; null if there is none.
    fn best(&self) -> Value {
        self.session.tuner().best_observed().map_or(Value::Null, |best| {
            let config = self.session.space().named(&best.levels);
            let answer = json!({"config": config, "value": number(best.value), "measured": best.repeats});
            self.with_numbers(answer, &best.levels)
        })
    }

    /// An answer with the mean readings of its combination, if there are limits.
    fn with_numbers(&self, mut answer: Value, levels: &[Level]) -> Value {
        if let Some(numbers) = self.session.readings(levels) {
            answer["numbers"] = json!(numbers);
        }
        answer
    }

    /// An answer with the chance of its combination to keep all limits, if there are any.
    fn with_chance(&self, mut answer: Value, levels: &[Level]) -> Value {
        if !self.session.study().limits.is_empty() {
            answer["keep_chance"] = self.session.tuner().keep_chance(levels).map_or(Value::Null, number);
        }
        answer
    }

    /// The measured combination that breaks the limits least, and which; `None` if one keeps them.
    fn nearest(&self) -> Option<Value> {
        if self.session.tuner().best_observed().is_some() {
            return None;
        }
        let (levels, limits) = (self.session.nearest()?, &self.session.study().limits);
        let margins = limits.margins(self.session.readings(&levels)?).ok()?;
        let measured = self.session.tuner().measured(&levels)?;
        let broken = limits.broken(&margins).iter().map(ToString::to_string).collect::<Vec<_>>();
        let answer = json!({
            "config": self.session.space().named(&levels), "value": number(measured.value),
            "measured": measured.repeats, "breaks": broken,
        });
        Some(self.with_numbers(answer, &levels))
    }

    /// How often a combination was measured with success.
    fn times(&self, levels: &[Level]) -> u16 {
        self.session.tuner().measured(levels).map_or(0, |measured| measured.repeats)
    }

    /// Whether the model uses the prior, if there is one.
    fn prior(&self) -> Option<Value> {
        match self.session.tuner().prior() {
            PriorState::None => None,
            PriorState::InForce => Some("in force".into()),
            PriorState::GivenUp { after } => Some(json!({"given_up_after": after})),
        }
    }

    /// The measured combination that the model expects to be best; null if there is none.
    fn best_posterior(&self) -> Value {
        self.session.tuner().best_posterior().map_or(Value::Null, |best| {
            let (mean, std_dev) = expected(&best);
            let config = self.session.space().named(&best.levels);
            let answer =
                json!({"config": config, "mean": mean, "std_dev": std_dev, "measured": self.times(&best.levels)});
            self.with_numbers(answer, &best.levels)
        })
    }
}

/// Mean and standard deviation; null before the first observation.
fn expected(prediction: &Prediction) -> (Value, Value) {
    match prediction.std_dev.is_finite() {
        true => (number(prediction.mean), number(prediction.std_dev)),
        false => (Value::Null, Value::Null),
    }
}

/// The tolerance of an ask: 1 % if it names none.
fn tolerance(fields: &Fields) -> Result<f32, String> {
    let Some(value) = fields.get("tolerance") else { return Ok(0.01) };
    let number = value.as_f64().map(|number| number as f32).filter(|number| *number > 0.0 && *number <= 1.0);
    number.ok_or_else(|| "`tolerance` must be a number above 0, up to 1; 0.01 is 1 %".into())
}

/// A number with the fewest digits that give the same f32; null if it is not finite.
fn number(value: f32) -> Value {
    format!("{value:?}").parse::<f64>().map_or(Value::Null, Value::from)
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
                let before = server.open.as_ref().unwrap().journal.export();
                let answer = server.answer(&line);
                let after = server.open.as_ref().unwrap().journal.export();
                let shown = String::from_utf8_lossy(&line).into_owned();
                assert!(!answer.text.contains('\n') && answer.text.len() < 5000, "{shown}");
                let fields: Fields = serde_json::from_str(&answer.text).unwrap();
                if fields.contains_key("error") {
                    assert!(before == after && fields.len() == 2 && !answer.is_last, "{shown}");
                    errors += 1;
                }
                changes += usize::from(before != after);
            }
            assert!(errors > 300 && changes > 50, "{errors} errors, {changes} changes");
            // What happened can be done again, record by record.
            let export = server.open.as_ref().unwrap().journal.export();
            let mut copy = Server::new();
            let answer = copy.answer(export.as_bytes()).text;
            assert!(answer.starts_with("{\"ok\":true"), "{answer}");
            assert_eq!(copy.open.as_ref().unwrap().journal.export(), export);
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

    /// A session whose export would not fit in a message takes nothing more, and can still be
    /// exported.
    #[test]
    fn a_session_is_full_when_its_export_is_a_message() {
        const MOST: usize = 2000;
        let mut server = Server { open: None, most: MOST };
        assert!(server.answer(INIT.as_bytes()).text.starts_with("{\"ok\":true"));
        let line = br#"{"op":"tell","levels":[1,1,1],"value":0.125}"#;
        let told = (0..MOST).take_while(|_| !server.answer(line).text.contains("error")).count();
        let before = server.open.as_ref().unwrap().journal.export();
        assert!((10..60).contains(&told) && before.matches("\"tell\"").count() == told, "{told}");
        for line in [&line[..], br#"{"op":"ask"}"#] {
            let answer = server.answer(line).text;
            assert!(answer.contains("the session is full"), "{answer}");
        }
        let export = server.answer(br#"{"op":"export"}"#).text;
        assert!(export == before && export.len() <= MOST);
    }

    #[test]
    fn numbers_are_short_and_come_back() {
        let shown = |value: f32| number(value).to_string();
        assert_eq!([0.31, 3.0, -1e30, 1e-30].map(shown), ["0.31", "3.0", "-1e+30", "1e-30"]);
        assert_eq!([f32::NAN, f32::INFINITY].map(number), [Value::Null, Value::Null]);
        let mut bits = 1u32;
        for _ in 0..10_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let value = f32::from_bits(bits);
            let read: Option<f64> = serde_json::from_str(&shown(value)).unwrap();
            assert!(read.map_or(!value.is_finite(), |read| read as f32 == value), "{value:?}");
        }
    }
}
