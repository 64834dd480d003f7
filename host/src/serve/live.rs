//! A session under way, and the records of all that happened in it.
//!
//! | record | what happened |
//! |---|---|
//! | `{"op":"ask","levels":[0,2]}` | this was asked; its id is how many asks there were so far |
//! | `{"op":"tell","id":1,"value":0.31}` | the outcome of an ask, or `"failed":true` |
//! | `{"op":"tell","levels":[1,1],"value":0.4}` | the outcome of what nobody asked for, or asked no longer |
//! | `{"op":"enqueue","levels":[3,0]}`, `{"op":"cancel","id":2}` | as the messages of the same name |
//!
//! **Choices.** Seed and records in their order rebuild a tuner bit for bit, so records are kept as the text that an export sends: they are messages, with levels
//! counted from 0 in place of names, so that a thousand records of two hundred knobs are one message. A recorded ask is asked again and must come out the
//! same: that checks the records, and takes as long as the asks took. When an export would be longer than a message may
//! be, the session is full. A value is recorded as the tuner has it, in f32.
//!
//! **Cost.** At most [`MOST_BYTES`](super::MOST_BYTES) of text.

use std::collections::HashSet;
use std::fmt::Write;

use serde_json::{Map, Value, json};
use trimtab::{Goal, Level};

use super::MOST_BYTES;
use crate::error::Error;
use crate::session::engine::Opinion;
use crate::session::{Asked, Session, Task};

/// A session, what it waits for and what happened.
pub(super) struct Live {
    session: Session,
    pending: Vec<(u64, Vec<Level>)>,
    /// The combinations with an outcome.
    told: HashSet<Vec<Level>>,
    /// An export up to its records.
    head: String,
    /// The records, with commas between.
    records: String,
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outcome {
    Value(f64),
    Failed,
}

/// What an ask came to.
pub(super) enum Next {
    Asked(Asked),
    /// Nothing is left to ask, and why.
    Exhausted(&'static str),
}

impl Live {
    pub(super) fn new(task: Task) -> Result<Self, Error> {
        let mut fields = Map::new();
        fields.insert("op".into(), "init".into());
        fields.append(&mut task.space.to_fields());
        fields.insert("goal".into(), if task.goal == Goal::Maximise { "maximize" } else { "minimize" }.into());
        fields.insert("seed".into(), task.seed.into());
        fields.insert("budget".into(), task.budget.into());
        let mut head = Value::Object(fields).to_string();
        head.pop();
        let session = Session::new(task)?;
        Ok(Self { session, pending: Vec::new(), told: HashSet::new(), head, records: String::new() })
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// The message that begins a session which goes on as this one does.
    pub(super) fn export(&self) -> String {
        format!("{},\"records\":[{}]}}", self.head, self.records)
    }

    /// The combination that is awaited under an id.
    pub(super) fn awaited(&self, id: u64) -> Option<&[Level]> {
        self.pending.iter().find(|(own, _)| *own == id).map(|(_, levels)| levels.as_slice())
    }

    /// What to measure next.
    pub(super) fn ask(&mut self) -> Result<Next, Error> {
        self.has_room()?;
        if self.told.len() + self.pending.len() >= self.session.task().budget {
            return Ok(Next::Exhausted("budget"));
        }
        let Some(asked) = self.session.ask()? else { return Ok(Next::Exhausted("space")) };
        self.pending.push((asked.id, asked.opinion.levels.clone()));
        self.record(&json!({"op": "ask", "levels": asked.opinion.levels}));
        Ok(Next::Asked(asked))
    }

    /// Asks what a record says was asked.
    pub(super) fn ask_again(&mut self, levels: &[Level]) -> Result<(), Error> {
        match self.ask()? {
            Next::Asked(asked) if asked.opinion.levels == levels => Ok(()),
            _ => Err(Error::Failed(
                "this is not what is asked here: it was recorded with another seed, space or version; \
                 leave the asks away and keep the tells, with their levels"
                    .into(),
            )),
        }
    }

    /// What it measured, asked for or not.
    pub(super) fn tell(&mut self, levels: &[Level], outcome: Outcome) -> Result<(), Error> {
        self.has_room()?;
        let budget = self.session.task().budget;
        if self.told.len() >= budget && !self.told.contains(levels) {
            return Err(Error::Failed(format!(
                "the budget of {budget} measurements is used up; export, then init with what it says and a larger budget"
            )));
        }
        let (name, value) = match outcome {
            Outcome::Value(value) => {
                self.session.tell(levels, value)?;
                ("value", number(value as f32))
            }
            Outcome::Failed => {
                self.session.tell_failed(levels)?;
                ("failed", Value::Bool(true))
            }
        };
        let mut record = self.settled("tell", levels);
        record.insert(name.into(), value);
        self.record(&Value::Object(record));
        self.told.insert(levels.to_vec());
        Ok(())
    }

    /// Asks for this before anything else.
    pub(super) fn enqueue(&mut self, levels: &[Level]) -> Result<(), Error> {
        self.has_room()?;
        self.session.enqueue(levels)?;
        self.record(&json!({"op": "enqueue", "levels": levels}));
        Ok(())
    }

    /// Forgets an ask.
    pub(super) fn cancel(&mut self, levels: &[Level]) -> Result<(), Error> {
        self.has_room()?;
        if !self.session.cancel(levels) {
            return Err(Error::Failed("it is not awaited, so there is nothing to cancel".into()));
        }
        let record = self.settled("cancel", levels);
        self.record(&Value::Object(record));
        Ok(())
    }

    /// A record of a combination that is no longer awaited: by its id if it was.
    fn settled(&mut self, op: &str, levels: &[Level]) -> Map<String, Value> {
        let place = self.pending.iter().position(|(_, own)| own == levels);
        let named = match place.map(|place| self.pending.remove(place)) {
            Some((id, _)) => ("id", Value::from(id)),
            None => ("levels", Value::from(levels)),
        };
        Map::from_iter([("op".into(), op.into()), (named.0.into(), named.1)])
    }

    fn record(&mut self, record: &Value) {
        let comma = if self.records.is_empty() { "" } else { "," };
        let _ = write!(self.records, "{comma}{record}");
    }

    /// Records of no meaning, as many as there can be.
    #[cfg(test)]
    pub(super) fn fill_for_test(&mut self) {
        while self.has_room().is_ok() {
            self.record(&json!({"op": "enqueue", "levels": [0, 0, 0]}));
        }
    }

    /// Whether one more record can be exported: four characters a knob, and the words around.
    fn has_room(&self) -> Result<(), Error> {
        let longest = 4 * self.session.space().knobs().len() + 100;
        match self.head.len() + self.records.len() + longest <= MOST_BYTES {
            true => Ok(()),
            false => Err(Error::Failed(format!(
                "the records of this session fill a message of {MOST_BYTES} bytes, so it is full; \
                 export, keep the tells you need and init with them"
            ))),
        }
    }

    /// A combination by the names of its levels.
    pub(super) fn named(&self, levels: &[Level]) -> Value {
        Value::Object(self.session.space().named(levels))
    }

    /// The best that was measured; null before.
    pub(super) fn best(&self) -> Value {
        self.session
            .best_observed()
            .map_or(Value::Null, |best| json!({"config": self.named(&best.levels), "value": number(best.value)}))
    }

    /// What the model thinks best of what was measured; null before.
    pub(super) fn best_posterior(&self) -> Value {
        self.session.best_posterior().map_or(Value::Null, |best| {
            let (mean, std_dev) = opinion(&best);
            json!({"config": self.named(&best.levels), "mean": mean, "std_dev": std_dev})
        })
    }
}

/// Mean and standard deviation; null while nothing is known.
pub(super) fn opinion(opinion: &Opinion) -> (Value, Value) {
    match opinion.std_dev.is_finite() {
        true => (number(opinion.mean), number(opinion.std_dev)),
        false => (Value::Null, Value::Null),
    }
}

/// With the fewest digits that give the same f32; null if it is none.
pub(super) fn number(value: f32) -> Value {
    format!("{value:?}").parse::<f64>().map_or(Value::Null, Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

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
