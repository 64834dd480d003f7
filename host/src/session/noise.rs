//! What the user knows about the noise, as an option, a field and words: `auto`, `none` or a
//! standard deviation.
//!
//! **Choices**
//! - A log or an export without the field reads as `auto`. Version 0.1.0 fitted the noise too, and
//!   never measured twice; `none` would keep the second and drop the first, and the plain command
//!   that made the log would then be refused.

use serde_json::Value;
use trimtab::Noise;

/// Parses the option.
pub(crate) fn parse(text: &str) -> Result<Noise, String> {
    match text.trim() {
        "auto" => Ok(Noise::Auto),
        "none" => Ok(Noise::None),
        number => given(number.parse().ok()).ok_or_else(|| {
            "write auto, none, or the standard deviation of one measurement, a positive number in the units of the \
             cost"
                .into()
        }),
    }
}

/// Reads the field.
pub(crate) fn from_value(value: Option<&Value>) -> Result<Noise, String> {
    match value {
        None => Ok(Noise::Auto),
        Some(Value::String(text)) if text == "auto" => Ok(Noise::Auto),
        Some(Value::String(text)) if text == "none" => Ok(Noise::None),
        Some(value) => given(value.as_f64())
            .ok_or_else(|| "`noise` must be \"auto\", \"none\" or a positive number, a standard deviation".into()),
    }
}

/// The field that [`from_value`] reads.
pub(crate) fn to_value(noise: Noise) -> Value {
    match noise {
        // The fewest digits that give the same f32.
        Noise::Given(std_dev) => format!("{std_dev:?}").parse::<f64>().map_or(Value::Null, Value::from),
        Noise::Auto => "auto".into(),
        Noise::None => "none".into(),
    }
}

/// The option that [`parse`] reads.
pub(crate) fn text(noise: Noise) -> String {
    match noise {
        Noise::Auto => "auto".into(),
        Noise::None => "none".into(),
        Noise::Given(std_dev) => std_dev.to_string(),
    }
}

fn given(number: Option<f64>) -> Option<Noise> {
    let std_dev = number? as f32;
    (std_dev.is_finite() && std_dev > 0.0).then_some(Noise::Given(std_dev))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_fields_come_back() {
        for (word, noise) in [
            ("auto", Noise::Auto),
            ("none", Noise::None),
            ("0.1", Noise::Given(0.1)),
            ("2500", Noise::Given(2500.0)),
            (" 3e-5 ", Noise::Given(3e-5)),
        ] {
            assert_eq!(parse(word), Ok(noise), "{word}");
            assert_eq!(parse(&text(noise)), Ok(noise), "{word}");
            let written = to_value(noise).to_string();
            let read: Value = serde_json::from_str(&written).unwrap();
            assert_eq!(from_value(Some(&read)), Ok(noise), "{written}");
        }
        assert_eq!(from_value(None), Ok(Noise::Auto));
        assert_eq!(to_value(Noise::Given(0.1)).to_string(), "0.1");
    }

    #[test]
    fn anything_else_says_what_to_write() {
        for word in ["", "0", "-1", "nan", "inf", "1e99", "1e-60", "Auto", "some", "5%"] {
            assert!(parse(word).unwrap_err().starts_with("write auto, none, or"), "{word}");
        }
        for value in ["0", "-2.5", "\"0.1\"", "\"AUTO\"", "null", "true", "[]", "1e300"] {
            let error = from_value(Some(&serde_json::from_str(value).unwrap())).unwrap_err();
            assert!(error.starts_with("`noise` must be"), "{value}");
        }
    }
}
