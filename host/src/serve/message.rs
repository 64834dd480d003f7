//! Parses a line as the fields of an object, strictly.
//!
//! **Choices**
//! - A repeated field, nesting deeper than any message has, and more values than the largest
//!   message has are refused while they are read, so that a line of a few megabytes cannot become
//!   gigabytes.
//! - Numbers beyond f64 are refused; NaN and infinities do not exist in JSON.
//!
//! **Cost.** At most [`MOST_VALUES`] values of some 80 bytes.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Most values in a message, counting every field and element.
pub(super) const MOST_VALUES: usize = 1_000_000;
/// Deepest nesting; a message with records is an object, a list, an object and a list.
const MOST_DEPTH: usize = 6;

/// Parses the fields of a message.
pub(super) fn parse(line: &[u8]) -> Result<Map<String, Value>, String> {
    let text = std::str::from_utf8(line).map_err(|error| {
        format!("the line is not UTF-8: byte {} is wrong; write JSON in UTF-8", error.valid_up_to() + 1)
    })?;
    if text.trim().is_empty() {
        return Err("the line is empty; write one JSON object per line".into());
    }
    let mut left = MOST_VALUES;
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { left: &mut left, depth: 0 }.deserialize(&mut reader);
    match value.and_then(|value| reader.end().map(|()| value)) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err("the line must be a JSON object; write {\"op\":…}".into()),
        // There is only one line, so name the column alone.
        Err(error) => {
            Err(format!("the line is not JSON: {}", error.to_string().replacen("line 1 column", "column", 1)))
        }
    }
}

/// A value that is checked while it is read.
struct Strict<'a> {
    left: &'a mut usize,
    depth: usize,
}

impl Strict<'_> {
    /// One value deeper.
    fn inner(&mut self) -> Strict<'_> {
        Strict { left: self.left, depth: self.depth + 1 }
    }

    fn enter<E: serde::de::Error>(&self) -> Result<(), E> {
        match self.depth < MOST_DEPTH {
            true => Ok(()),
            false => Err(E::custom(format_args!("a message nests at most {MOST_DEPTH} deep"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        *self.left = self
            .left
            .checked_sub(1)
            .ok_or_else(|| D::Error::custom(format_args!("a message has at most {MOST_VALUES} values")))?;
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Value, A::Error> {
        self.enter()?;
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(self.inner())? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<Value, A::Error> {
        self.enter()?;
        let mut fields = Map::new();
        while let Some(name) = object.next_key::<String>()? {
            let value = object.next_value_seed(self.inner())?;
            if fields.contains_key(&name) {
                return Err(A::Error::custom(format_args!("the field `{name}` occurs twice")));
            }
            fields.insert(name, value);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_in_their_order() {
        let fields = parse(
            br#" {"op":"tell","value":-1.5e3,"config":{"b":true,"a":"x"},"n":null,"l":[1,18446744073709551615]} "#,
        );
        let fields = fields.unwrap();
        assert_eq!(fields.keys().collect::<Vec<_>>(), ["op", "value", "config", "n", "l"]);
        assert_eq!(fields["value"], -1500.0);
        assert_eq!(fields["config"].as_object().unwrap().keys().collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(fields["l"][1], u64::MAX);
    }

    #[test]
    fn what_is_no_message_says_why() {
        let deep = format!("{{\"a\":{}", "[".repeat(100_000));
        let many = format!("{{\"a\":[{}1]}}", "1,".repeat(MOST_VALUES));
        for (line, wanted) in [
            (&b""[..], "empty"),
            (b"  \r", "empty"),
            (b"{\"a\":\xff}", "not UTF-8: byte 6"),
            (b"[1]", "must be a JSON object"),
            (b"3", "must be a JSON object"),
            (b"{", "EOF while parsing an object at column 1"),
            (b"{} x", "trailing characters at column 4"),
            (b"{\"a\":1}{\"b\":2}", "trailing characters"),
            (b"{\"a\":1,\"a\":2}", "the field `a` occurs twice"),
            (b"{\"a\":{\"b\":1,\"b\":1}}", "the field `b` occurs twice"),
            (b"{\"a\":NaN}", "not JSON"),
            (b"{\"a\":-Infinity}", "not JSON"),
            (b"{\"a\":1e999}", "number out of range"),
            (b"{'a':1}", "not JSON"),
            (b"\xef\xbb\xbf{}", "not JSON"),
            (deep.as_bytes(), "nests at most"),
            (many.as_bytes(), "at most 1000000 values"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
