//! The cost in a command's output: its last number, or what a regular expression finds.
//!
//! **Choices**
//! - The last number counts, because programs print progress first and results at the end.
//! - A unit may follow a number (`3.2ms`); a number inside a word (`O2`, `x86`) does not count.
//! - `nan` and `inf` count as numbers and make the measurement fail, so that no earlier number is
//!   taken instead.

use std::sync::LazyLock;

use regex::Regex;

/// A number that does not begin inside a word.
static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:^|[^\w.])([-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|(?:nan|inf|infinity)\b))").ok()
});

/// Returns the last number of a text, or says why there is none.
pub(super) fn last_number(text: &str) -> Result<f64, String> {
    // Line by line from the end: the text may have a megabyte.
    let last = |line| NUMBER.as_ref()?.captures_iter(line).last()?.get(1);
    let word = text.lines().rev().find_map(last).ok_or("it printed no number")?;
    finite(word.as_str())
}

/// Reads the last match of an expression: its first group if there is one, else the whole match.
pub(super) fn extracted(text: &str, expression: &Regex) -> Result<f64, String> {
    let last = expression.captures_iter(text).last();
    let found = last.ok_or_else(|| format!("nothing that it printed matches `{expression}`"))?;
    let word = found.get(1).or_else(|| found.get(0)).map_or("", |found| found.as_str());
    finite(word.trim())
}

/// Parses a number that the tuner accepts.
fn finite(word: &str) -> Result<f64, String> {
    let shown: String = word.chars().take(40).collect();
    let number: f64 = word.parse().map_err(|_| format!("`{shown}` is not a number"))?;
    // The tuner computes with single precision.
    match (number as f32).is_finite() {
        true => Ok(number),
        false => Err(format!("`{shown}` is not finite, or too large")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_number_is_taken() {
        for (text, wanted) in [
            ("1\n2\n3\n", 3.0),
            ("time: 12.5 ms\n", 12.5),
            ("took 3.2s", 3.2),
            ("-4e-3", -0.004),
            ("+.5", 0.5),
            ("5.", 5.0),
            ("cost=-7;", -7.0),
            ("built with O2 in 3 steps on x86", 3.0),
            ("1.5 (v2)", 1.5),
            ("100%", 100.0),
            ("0.25\r\n", 0.25),
            ("3 informed nanometres", 3.0),
        ] {
            assert_eq!(last_number(text), Ok(wanted), "{text:?}");
        }
        for text in ["", "none", "O2", "\u{fffd}"] {
            assert_eq!(last_number(text), Err("it printed no number".into()), "{text:?}");
        }
        for text in ["1 NaN", "1 inf", "-Infinity", "1e39", "2 nan\n"] {
            assert!(last_number(text).unwrap_err().contains("is not finite"), "{text:?}");
        }
    }

    #[test]
    fn an_expression_gives_its_group_or_all_of_it() {
        let find = |text, expression| extracted(text, &Regex::new(expression).unwrap());
        let text = "latency: 3.5 ms\nrate: 120\nlatency: 3.25 ms\n";
        assert_eq!(find(text, "latency: ([0-9.]+)"), Ok(3.25));
        assert_eq!(find(text, "[0-9.]+"), Ok(3.25));
        assert_eq!(find(text, r"rate:\s+(\d+)"), Ok(120.0));
        assert!(find(text, "power").unwrap_err().contains("matches `power`"));
        assert!(find(text, "latency").unwrap_err().contains("`latency` is not a number"));
        assert!(find("x nan", "x (.*)").unwrap_err().contains("not finite"));
    }
}
