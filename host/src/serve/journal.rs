//! The records of a session as text, so that they can be exported.
//!
//! **Choices**
//! - An export is one message. When it would be longer than a message may be, the session is full.
//! - Records are kept as the text that an export sends.

use serde_json::Value;

use crate::error::Error;
use crate::session::Study;
use crate::session::record::{Fields, Record};

/// An export that grows.
pub(super) struct Journal {
    /// The export up to its records.
    head: String,
    /// The records, separated by commas.
    records: String,
    /// Most bytes of an export.
    most: usize,
    /// No record is longer.
    longest: usize,
}

impl Journal {
    pub(super) fn new(study: &Study, most: usize) -> Self {
        let mut fields = Fields::new();
        fields.insert("op".into(), "init".into());
        fields.append(&mut study.to_fields());
        let mut head = Value::Object(fields).to_string();
        head.pop();
        // Four characters per level, and the words around them; names are escaped as JSON.
        let numbers = study.limits.names().into_iter().map(|name| 30 + Value::from(name).to_string().len());
        let longest = 4 * study.space.knobs().len() + 100 + numbers.sum::<usize>();
        Self { head, records: String::new(), most, longest }
    }

    /// Fails if one more record might not fit.
    pub(super) fn check_room(&self) -> Result<(), String> {
        let most = self.most;
        match self.head.len() + self.records.len() + self.longest <= most {
            true => Ok(()),
            false => Err(format!(
                "the session is full: its records fill a message of {most} bytes; \
                 export, keep the tells you need and init with them"
            )),
        }
    }

    pub(super) fn push(&mut self, record: Record) -> Result<(), Error> {
        let record = serde_json::to_string(&record.compact())
            .map_err(|error| Error::Failed(format!("cannot write a record: {error}")))?;
        if !self.records.is_empty() {
            self.records.push(',');
        }
        self.records += &record;
        Ok(())
    }

    /// The message that begins a session which continues this one.
    pub(super) fn export(&self) -> String {
        format!("{},\"records\":[{}]}}", self.head, self.records)
    }
}
