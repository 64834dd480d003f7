//! One thing that happened in a session, as JSON: a line of a `tune` log, a record of a `serve`
//! export.
//!
//! ```text
//! {"event":"ask","id":1,"config":{"opt":"O2"},"mean":null,"std_dev":null}
//! {"event":"tell","id":1,"config":{"opt":"O2"},"value":0.31,"seconds":1.2}
//! {"event":"tell","id":1,"config":{"opt":"O2"},"value":0.31,"values":[0.3,0.32],"seconds":2.4}
//! {"event":"tell","id":1,"config":{"opt":"O2"},"value":0.31,"numbers":{"watts":2.9},"seconds":1.2}
//! {"event":"failed","id":2,"config":{"opt":"O1"},"why":"exit code 3","stdout":"…","stderr":"…","seconds":0.1}
//! {"event":"enqueue","levels":[3]}
//! {"event":"cancel","id":2}
//! {"event":"resume","budget":80}
//! ```
//!
//! **Choices**
//! - `config` names the levels, `levels` counts them from 0, `id` is that of a pending ask: one is
//!   enough.
//! - A log writes `config` for people; an export writes `levels`, so that the largest session fits
//!   in one message.
//! - `numbers` has the readings that [limits](super::limits) are on; with `values`, their means.
//! - A message of `serve` that tells, enqueues or cancels is a record with `op` in place of
//!   `event`.
//! - Older exports are read too: `op`, `"failed":true` in a tell, asks without `id`, tells without
//!   `event`.

use serde::Serialize;
use serde_json::{Map, Value};
use trimtab::Level;

use super::Session;
use super::limits::Numbers;
use crate::space::NamedSpace;

/// Most values of one tell.
pub(crate) const MOST_VALUES: usize = 1000;

pub(crate) type Fields = Map<String, Value>;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) place: Place,
    pub(crate) happened: Happened,
}

/// Which combination it happened to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Place {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) config: Option<Fields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) levels: Option<Vec<Level>>,
}

/// What happened to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Happened {
    Ask {
        #[serde(flatten)]
        expected: Option<Expected>,
    },
    Tell {
        value: f64,
        /// If there are any, the tuner is told each of these, and `value` is their mean.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        values: Vec<f64>,
        /// The readings that limits are on.
        #[serde(skip_serializing_if = "Numbers::is_empty")]
        numbers: Numbers,
        #[serde(skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
    },
    Failed {
        #[serde(flatten)]
        details: Option<Box<Details>>,
    },
    Enqueue {},
    Cancel {},
    /// A stopped run of `tune` went on, with this budget.
    Resume {
        budget: usize,
    },
}

/// What the model expected when it asked; both null before the first observation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Expected {
    pub(crate) mean: Option<f32>,
    pub(crate) std_dev: Option<f32>,
}

/// Why a command failed, and the end of what it printed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Details {
    pub(crate) why: String,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) seconds: f64,
}

impl Serialize for Record {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Line<'a> {
            event: &'a str,
            #[serde(flatten)]
            place: &'a Place,
            #[serde(flatten)]
            happened: &'a Happened,
        }
        Line { event: self.happened.name(), place: &self.place, happened: &self.happened }.serialize(to)
    }
}

impl Happened {
    fn name(&self) -> &'static str {
        match self {
            Self::Ask { .. } => "ask",
            Self::Tell { .. } => "tell",
            Self::Failed { .. } => "failed",
            Self::Enqueue {} => "enqueue",
            Self::Cancel {} => "cancel",
            Self::Resume { .. } => "resume",
        }
    }
}

impl Record {
    /// The record with names in place of numbers, as a log has it.
    pub(crate) fn named(mut self, space: &NamedSpace) -> Self {
        self.place.config = self.place.levels.take().map(|levels| space.named(&levels)).or(self.place.config);
        self
    }

    /// The same as single tells: the first with the id, the others with the levels that it had.
    pub(crate) fn single(mut self, session: &Session) -> Result<Vec<Self>, String> {
        let Happened::Tell { values, numbers, .. } = &mut self.happened else { return Ok(vec![self]) };
        if values.is_empty() {
            return Ok(vec![self]);
        }
        let (values, numbers) = (std::mem::take(values), std::mem::take(numbers));
        if let Some(value) = values.iter().find(|value| !(**value as f32).is_finite()) {
            return Err(format!("the value {value} is too large"));
        }
        let levels = session.levels(&self.place)?;
        let tell = |(i, value): (usize, &f64)| {
            let id = self.place.id.filter(|_| i == 0);
            let place = Place { id, config: None, levels: Some(levels.clone()) };
            let numbers = numbers.clone();
            Self { place, happened: Happened::Tell { value: *value, values: Vec::new(), numbers, seconds: None } }
        };
        Ok(values.iter().enumerate().map(tell).collect())
    }

    /// The record with only what rebuilds a session, as an export has it.
    pub(crate) fn compact(mut self) -> Self {
        if self.place.id.is_some() && !matches!(self.happened, Happened::Ask { .. }) {
            self.place.levels = None;
        }
        match &mut self.happened {
            Happened::Ask { expected } => *expected = None,
            Happened::Tell { seconds, .. } => *seconds = None,
            Happened::Failed { details } => *details = None,
            Happened::Enqueue {} | Happened::Cancel {} | Happened::Resume { .. } => {}
        }
        self
    }

    /// Reads the fields of a log's line, of an export's record or of a message.
    pub(crate) fn from_fields(fields: &Fields) -> Result<Self, String> {
        let event = match (fields.get("event"), fields.get("op")) {
            (Some(_), Some(_)) => return Err("a record has an `event` or an `op`, not both".into()),
            (Some(name), None) | (None, Some(name)) => name.as_str().unwrap_or(""),
            (None, None) => "tell",
        };
        let place = Place::from_fields(fields)?;
        let (happened, allowed): (_, &[&str]) = match event {
            "ask" => (Happened::Ask { expected: expected(fields)? }, &["id", "config", "levels", "mean", "std_dev"]),
            "tell" => (told(fields)?, &["id", "config", "levels", "value", "values", "numbers", "failed", "seconds"]),
            "failed" => (
                Happened::Failed { details: details(fields)? },
                &["id", "config", "levels", "why", "stdout", "stderr", "seconds"],
            ),
            "enqueue" => (Happened::Enqueue {}, &["config", "levels"]),
            "cancel" => (Happened::Cancel {}, &["id", "config", "levels"]),
            "resume" => {
                let budget = fields.get("budget").and_then(Value::as_u64).and_then(|budget| budget.try_into().ok());
                (Happened::Resume { budget: budget.ok_or("`budget` must be a whole number")? }, &["budget"])
            }
            _ => return Err("its `event` must be ask, tell, failed, enqueue, cancel or resume".into()),
        };
        // A log's checksum, which means nothing here.
        let allowed = [&["event", "op", "crc"], allowed].concat();
        match fields.keys().find(|field| !allowed.contains(&field.as_str())) {
            None => Ok(Self { place, happened }),
            Some(field) => Err(format!("`{event}` has no field `{field}`; it has {}", allowed[3..].join(", "))),
        }
    }
}

impl Place {
    /// Reads `id`, `config` and `levels`.
    pub(crate) fn from_fields(fields: &Fields) -> Result<Self, String> {
        let id = fields.get("id").map(|id| id.as_u64().ok_or_else(|| format!("no ask with the id {id} is pending")));
        let config = fields.get("config").map(|config| {
            let config = config.as_object().ok_or("`config` must be an object with a level for every knob");
            config.cloned()
        });
        let levels = fields.get("levels").map(|levels| {
            let list = levels.as_array().ok_or("`levels` must be a list of whole numbers, counted from 0")?;
            let level = |level: &Value| level.as_u64().and_then(|level| Level::try_from(level).ok());
            let levels: Option<Vec<Level>> = list.iter().map(level).collect();
            levels.ok_or("`levels` must be a list of whole numbers, counted from 0")
        });
        Ok(Self { id: id.transpose()?, config: config.transpose()?, levels: levels.transpose()? })
    }
}

fn expected(fields: &Fields) -> Result<Option<Expected>, String> {
    if !fields.contains_key("mean") && !fields.contains_key("std_dev") {
        return Ok(None);
    }
    let number = |name: &str| Ok::<_, String>(number(fields, name)?.map(|number| number as f32));
    Ok(Some(Expected { mean: number("mean")?, std_dev: number("std_dev")? }))
}

fn told(fields: &Fields) -> Result<Happened, String> {
    match (fields.get("value"), fields.get("failed")) {
        (Some(value), None) => {
            let value = value.as_f64().ok_or_else(|| format!("`value` must be a number, not {value}"))?;
            let (values, numbers) = (values(fields)?, numbers(fields)?);
            Ok(Happened::Tell { value, values, numbers, seconds: number(fields, "seconds")? })
        }
        (None, Some(Value::Bool(true))) if fields.contains_key("numbers") => {
            Err("a failure has no `numbers`; leave them away, or tell its `value`".into())
        }
        (None, Some(Value::Bool(true))) => Ok(Happened::Failed { details: None }),
        (None, Some(_)) => Err("`failed` can only be true; a measurement that succeeded has a `value`".into()),
        (None, None) => Err("a tell needs a `value` or \"failed\":true".into()),
        (Some(_), Some(_)) => Err("a tell has a `value` or `failed`, not both".into()),
    }
}

/// The single values of a mean.
fn values(fields: &Fields) -> Result<Vec<f64>, String> {
    let Some(values) = fields.get("values") else { return Ok(Vec::new()) };
    let list = values.as_array().filter(|list| (2..=MOST_VALUES).contains(&list.len()));
    let values = list.and_then(|list| list.iter().map(Value::as_f64).collect());
    values.ok_or_else(|| format!("`values` must be a list of 2 to {MOST_VALUES} numbers"))
}

/// The readings that limits are on.
fn numbers(fields: &Fields) -> Result<Numbers, String> {
    let Some(numbers) = fields.get("numbers") else { return Ok(Numbers::new()) };
    let object = numbers.as_object().ok_or("`numbers` must be an object with a number per name")?;
    let number = |(name, number): (&String, &Value)| {
        let number = number.as_f64().ok_or_else(|| format!("`{name}` in `numbers` must be a number, not {number}"))?;
        Ok((name.clone(), number))
    };
    object.iter().map(number).collect()
}

fn details(fields: &Fields) -> Result<Option<Box<Details>>, String> {
    if ["why", "stdout", "stderr", "seconds"].iter().all(|name| !fields.contains_key(*name)) {
        return Ok(None);
    }
    let text = |name: &str| match fields.get(name) {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(format!("`{name}` must be a text, not {other}")),
    };
    let seconds = number(fields, "seconds")?.unwrap_or(0.0);
    Ok(Some(Box::new(Details { why: text("why")?, stdout: text("stdout")?, stderr: text("stderr")?, seconds })))
}

/// A number that may be null or missing.
fn number(fields: &Fields, name: &str) -> Result<Option<f64>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_f64().map(Some).ok_or_else(|| format!("`{name}` must be a number, not {value}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Record, String> {
        Record::from_fields(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn every_event_is_read_as_it_was_written() {
        for text in [
            r#"{"event":"ask","id":1,"config":{"opt":"O2"},"mean":null,"std_dev":null}"#,
            r#"{"event":"ask","id":2,"config":{"opt":"O1"},"mean":0.25,"std_dev":1e-9}"#,
            r#"{"event":"ask","id":3,"levels":[0,255]}"#,
            r#"{"event":"tell","id":1,"config":{"opt":"O2"},"value":0.30000000000000004,"seconds":1.2}"#,
            r#"{"event":"tell","levels":[1,0],"value":-1.5}"#,
            r#"{"event":"tell","levels":[1,0],"value":2.0,"values":[1.0,3.0],"seconds":0.1}"#,
            r#"{"event":"tell","id":1,"value":2.0,"values":[1.0,3.0],"numbers":{"volts":-1e-9,"watts":2.9},"seconds":0.1}"#,
            r#"{"event":"failed","id":2,"config":{"opt":"O1"},"why":"é","stdout":"\u0000","stderr":"","seconds":1.0}"#,
            r#"{"event":"failed","id":3}"#,
            r#"{"event":"enqueue","levels":[3]}"#,
            r#"{"event":"cancel","id":2}"#,
            r#"{"event":"resume","budget":80}"#,
        ] {
            assert_eq!(serde_json::to_string(&read(text).unwrap()).unwrap(), text);
        }
    }

    #[test]
    fn older_forms_are_read() {
        for (old, new) in [
            (r#"{"op":"ask","levels":[0,2]}"#, r#"{"event":"ask","levels":[0,2]}"#),
            (r#"{"op":"tell","id":1,"value":0.31}"#, r#"{"event":"tell","id":1,"value":0.31}"#),
            (r#"{"op":"tell","levels":[1,1],"failed":true}"#, r#"{"event":"failed","levels":[1,1]}"#),
            (r#"{"config":{"opt":"O2"},"value":3}"#, r#"{"event":"tell","config":{"opt":"O2"},"value":3.0}"#),
            (r#"{"op":"cancel","id":2}"#, r#"{"event":"cancel","id":2}"#),
        ] {
            assert_eq!(serde_json::to_string(&read(old).unwrap()).unwrap(), new);
        }
    }

    #[test]
    fn bad_records_say_what_is_wrong() {
        for (text, wanted) in [
            (r#"{"event":"quit"}"#, "must be ask, tell"),
            (r#"{"event":3}"#, "must be ask, tell"),
            (r#"{"event":"ask","op":"ask"}"#, "not both"),
            (r#"{"event":"ask","levels":[0],"value":1}"#, "`ask` has no field `value`; it has id, config"),
            (r#"{"event":"tell","id":1,"note":1,"value":1}"#, "`tell` has no field `note`"),
            (r#"{"event":"tell","id":1}"#, "needs a `value`"),
            (r#"{"event":"tell","id":1,"value":1,"values":[1]}"#, "`values` must be a list of 2 to 1000 numbers"),
            (r#"{"event":"tell","id":1,"value":1,"values":[1,"2"]}"#, "`values` must be a list"),
            (r#"{"event":"tell","id":1,"value":1,"numbers":3}"#, "`numbers` must be an object"),
            (r#"{"event":"tell","id":1,"value":1,"numbers":{"watts":"3"}}"#, "`watts` in `numbers` must be a number"),
            (r#"{"event":"tell","id":1,"value":1,"numbers":{"watts":null}}"#, "must be a number, not null"),
            (r#"{"event":"tell","id":1,"failed":true,"numbers":{"watts":3}}"#, "a failure has no `numbers`"),
            (r#"{"event":"tell","id":1,"value":"1"}"#, "`value` must be a number, not \"1\""),
            (r#"{"event":"tell","id":1,"value":1,"failed":true}"#, "not both"),
            (r#"{"event":"tell","id":1,"failed":false}"#, "can only be true"),
            (r#"{"event":"tell","id":-1,"value":1}"#, "no ask with the id -1"),
            (r#"{"event":"tell","config":[],"value":1}"#, "`config` must be an object"),
            (r#"{"event":"tell","levels":[65536],"value":1}"#, "`levels` must be a list"),
            (r#"{"event":"failed","id":1,"why":3}"#, "`why` must be a text, not 3"),
            (r#"{"event":"resume"}"#, "`budget` must be a whole number"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }
}
