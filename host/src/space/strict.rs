//! JSON that is checked while it is read.
//!
//! **Choices**
//! - A repeated field, nesting deeper than any message or file has, and more values than the largest
//!   has are refused at once, so that a few megabytes cannot become gigabytes.
//! - Numbers beyond f64 are refused; NaN and infinities do not exist in JSON.
//!
//! **Cost.** At most [`MOST_VALUES`] values of some 80 bytes.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Most values, counting every field and element.
pub(crate) const MOST_VALUES: usize = 1_000_000;
/// Deepest nesting; a message with records is an object, a list, an object and a list.
const MOST_DEPTH: usize = 6;

/// Parses a text that is one value.
pub(crate) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    let mut left = MOST_VALUES;
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { left: &mut left, depth: 0 }.deserialize(&mut reader)?;
    reader.end().map(|()| value)
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
            false => Err(E::custom(format_args!("JSON here nests at most {MOST_DEPTH} deep"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        *self.left = self
            .left
            .checked_sub(1)
            .ok_or_else(|| D::Error::custom(format_args!("at most {MOST_VALUES} values are allowed")))?;
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
