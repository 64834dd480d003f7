//! Parses a line as the fields of an object, [strictly](crate::space::strict).

use serde_json::{Map, Value};

use crate::space::strict;

/// Parses the fields of a message.
pub(super) fn parse(line: &[u8]) -> Result<Map<String, Value>, String> {
    let text = std::str::from_utf8(line).map_err(|error| {
        format!("the line is not UTF-8: byte {} is wrong; write JSON in UTF-8", error.valid_up_to() + 1)
    })?;
    if text.trim().is_empty() {
        return Err("the line is empty; write one JSON object per line".into());
    }
    match strict::parse(text) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err("the line must be a JSON object; write {\"op\":…}".into()),
        // There is only one line, so name the column alone.
        Err(error) => {
            Err(format!("the line is not JSON: {}", error.to_string().replacen("line 1 column", "column", 1)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::strict::MOST_VALUES;

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
