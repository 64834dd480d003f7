//! The cost in a command's output: its last number, what a regular expression finds, or the number
//! after a name.
//!
//! **Choices**
//! - The last number counts, because programs print progress first and results at the end.
//! - A unit may follow a number (`3.2ms`); a number inside a word (`O2`, `x86`) does not count.
//! - Part of a token never counts: `0x10`, `1_000`, `1,000`, `12:30` and a minus that is none fail,
//!   because a wrong cost is worse than none.
//! - `nan` and `inf` count as numbers and make the measurement fail, so that no earlier number is
//!   taken instead.
//! - After a name (`time: 5.2 ms`, `time = 5.2`, `time (ms): 5.2`, `time 5.2`, `"time": 5.2`) the last
//!   place counts, be there a number or not. A second number that belongs to nothing else fails, too.
//! - Escape sequences, such as colours, are removed first.

use std::sync::LazyLock;

use regex::Regex;

use crate::terminal::without_escapes;

/// A number that does not begin inside a word.
static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:^|[^\w.])([-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|(?:nan|inf|infinity)\b))").ok()
});
/// What joins the text before a number to it: a dash that is no minus, or a digit and a separator.
static JOINED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:[\u{2010}-\u{2015}\u{2212}]|(?:^|[^\w.])[0-9][0-9.,:/'’\u{a0}\u{202f}-]*[,:/'’\u{a0}\u{202f}+-])$")
        .ok()
});
/// What goes on after a number: more of it, or letters with digits among them.
static GOES_ON: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^(?:\.[0-9]|[\pL_]*[0-9_])").ok());

/// How a number goes on if it is part of something else: `5,2`, `12:30`, `1'000`, `5-7`.
static JOINS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[,:/'’\u{a0}\u{202f}+-][0-9]").ok());
/// Where the text after a number is about something else: a separator, or another name.
static CUT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"[,;|&}\])({\[]|[\pL_][\w.%-]*"?[ \t]*[:=]"#).ok());

/// Longest line that is shown.
const MOST_LETTERS: usize = 60;

/// A cost, and the line that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cost {
    pub(super) value: f64,
    pub(super) line: String,
}

/// Returns the last number of an output, or says why there is none.
pub(super) fn last_number(text: &str) -> Result<Cost, String> {
    let text = without_escapes(text);
    // Line by line from the end: the text may have a megabyte.
    let last = |line| Some((line, NUMBER.as_ref()?.captures_iter(line).last()?.get(1)?));
    let (line, word) = text.lines().rev().find_map(last).ok_or("it printed no number")?;
    let is = |expression: &LazyLock<Option<Regex>>, text| expression.as_ref().is_some_and(|own| own.is_match(text));
    if is(&JOINED, &line[..word.start()]) || is(&GOES_ON, &line[word.end()..]) {
        let start = line[..word.start()].rfind([' ', '\t']).map_or(0, |space| space + 1);
        let token = line[start..].split([' ', '\t']).next().unwrap_or_default();
        return Err(format!(
            "`{}` may be part of `{}`; print a plain number, or use --extract",
            word.as_str(),
            shown(token)
        ));
    }
    Ok(Cost { value: finite(word.as_str())?, line: shown(line.trim()) })
}

/// Reads the last match of an expression: its first group if there is one, else the whole match.
pub(super) fn extracted(text: &str, expression: &Regex) -> Result<Cost, String> {
    let text = without_escapes(text);
    let last = expression.captures_iter(&text).last();
    let found = last.ok_or_else(|| format!("nothing that it printed matches `{expression}`"))?;
    let word = found.get(1).or_else(|| found.get(0)).map_or("", |found| found.as_str());
    let line = found.get(0).map_or("", |found| found.as_str()).trim();
    Ok(Cost { value: finite(word.trim())?, line: shown(line) })
}

/// Reads the number after the last place of a name; `names` are all that are read by name.
pub(super) fn named(text: &str, name: &str, names: &[&str]) -> Result<Cost, String> {
    let text = without_escapes(text);
    let place = place(&text, name)?
        .ok_or_else(|| format!("nothing that it printed is named `{name}`; print a line such as `{name}: 5`"))?;
    let start = text[..place].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default().trim();
    let rest = text[place..].lines().next().unwrap_or_default();
    let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
    let token = || shown(rest.split([' ', '\t']).next().unwrap_or_default().trim_end_matches([',', ';', '"', '}']));
    // The expression begins at the start of the text or after something that is no word.
    let found = NUMBER.as_ref().and_then(|own| own.captures(rest)?.get(1)).filter(|found| found.start() == 0);
    let Some(word) = found else {
        return Err(format!("`{}` after `{name}` is not a number; print a plain one", token()));
    };
    let after = &rest[word.end()..];
    if [&GOES_ON, &JOINS].into_iter().any(|own| own.as_ref().is_some_and(|own| own.is_match(after))) {
        return Err(format!("`{}` after `{name}` may be part of `{}`; print a plain number", word.as_str(), token()));
    }
    let mut end = CUT.as_ref().and_then(|cut| cut.find(after)).map_or(after.len(), |cut| cut.start());
    for other in names {
        end = end.min(after[..end].find(other).unwrap_or(end));
    }
    let second = NUMBER.as_ref().and_then(|own| own.captures(&after[..end])?.get(1));
    if let Some(second) = second {
        return Err(format!(
            "two numbers stand after `{name}`, `{}` and `{}`; print one",
            word.as_str(),
            second.as_str()
        ));
    }
    Ok(Cost { value: finite(word.as_str())?, line: shown(line) })
}

/// Where what is said of a name begins, at its last place.
fn place(text: &str, name: &str) -> Result<Option<usize>, String> {
    let own = regex::escape(name);
    // A unit may stand between the name and its sign.
    let expression = format!(
        r#"(?m)(?:^|[^\w.-])["']?({own})["']?(?:[ \t]*[(\[][^()\[\]\r\n]*[)\]])?(?:[ \t]*(:=|[:=])[ \t]*|[ \t]+)"#
    );
    let expression = Regex::new(&expression).map_err(|_| format!("the name `{name}` is too long"))?;
    // Without a sign, only a number makes it more than a word in a sentence.
    let begins = |rest: &str| {
        let found = NUMBER.as_ref().and_then(|own| own.captures(rest)?.get(1));
        found.is_some_and(|found| found.start() == 0)
    };
    let (mut from, mut last) = (0, None);
    while let Some(found) = expression.captures_at(text, from) {
        let (Some(whole), Some(own)) = (found.get(0), found.get(1)) else { break };
        let line = text[whole.end()..].split('\n').next().unwrap_or_default();
        if found.get(2).is_some() || begins(line) {
            last = Some(whole.end());
        }
        from = own.end();
    }
    Ok(last)
}

/// An output whose beginning is missing, from its first whole line on, or else its first whole word.
pub(super) fn whole(text: &str) -> &str {
    let end = text.find('\n').or_else(|| text.find(char::is_whitespace));
    end.map_or("", |end| &text[end..])
}

fn shown(text: &str) -> String {
    text.chars().take(MOST_LETTERS).collect()
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
            assert_eq!(last_number(text).map(|cost| cost.value), Ok(wanted), "{text:?}");
        }
        for text in ["", "none", "O2", "\u{fffd}"] {
            assert_eq!(last_number(text).map(|cost| cost.value), Err("it printed no number".into()), "{text:?}");
        }
        for text in ["1 NaN", "1 inf", "-Infinity", "1e39", "2 nan\n"] {
            assert!(last_number(text).unwrap_err().contains("is not finite"), "{text:?}");
        }
    }

    #[test]
    fn escapes_are_no_part_of_the_output() {
        for text in ["\u{1b}[32mlatency: 5 ms\u{1b}[0m", "\u{1b}]0;title 9\u{7}5\u{1b}[1;31m\n", "5\u{9b}0m"] {
            assert_eq!(last_number(text).map(|cost| cost.value), Ok(5.0), "{text:?}");
        }
        let expression = Regex::new("latency: ([0-9]+) ms").unwrap();
        let cost = extracted("latency:\u{1b}[1m 5\u{1b}[0m ms", &expression).unwrap();
        assert_eq!(cost, Cost { value: 5.0, line: "latency: 5 ms".into() });
    }

    #[test]
    fn part_of_a_token_is_never_a_cost() {
        for text in [
            "0x10",
            "0b11",
            "1_000",
            "\u{2212}5",
            "\u{2013}5",
            "1,000",
            "3,5",
            "1'000",
            "1\u{a0}000",
            "12:34:56",
            "1.2.3",
            "2024-01-02",
            "10-20",
            "3/10",
            "1a2b3c",
            "took 0x1Fs",
        ] {
            let error = last_number(text).unwrap_err();
            assert!(error.contains("may be part of"), "{text:?}: {error}");
        }
        for (text, wanted) in
            [("p99:12.5", 12.5), ("3, 5", 5.0), ("a=1,b=2", 2.0), ("[7]", 7.0), ("x-5", 5.0), ("5kHz", 5.0)]
        {
            assert_eq!(last_number(text).map(|cost| cost.value), Ok(wanted), "{text:?}");
        }
    }

    /// promise: trimtab tune | --cost, --limit: how a number is printed | `time: 5.2 ms`, `time = 5.2`, `time 5.2`, JSON; the last counts
    #[test]
    fn a_number_is_found_by_its_name() {
        let find = |text, name| named(text, name, &["time", "watts"]).map(|cost| cost.value);
        for (text, wanted) in [
            ("time: 5.2 ms\n", 5.2),
            ("time = -5.2e-3\r\n", -5.2e-3),
            ("time 5.2", 5.2),
            ("time:\t+.5s", 0.5),
            ("time:=7", 7.0),
            ("time (ms): 5.2", 5.2),
            ("time [ms] = 5.2 (of 3 runs)", 5.2),
            ("wall time: 5", 5.0),
            ("{\"time\": 5.2, \"watts\": 2.9}", 5.2),
            ("{\"watts\":2.9,\"time\":5.2}", 5.2),
            ("{'time': '5.2'}", 5.2),
            ("time=5.2 watts=2.9", 5.2),
            ("time 5.2 watts 2.9", 5.2),
            ("watts 2.9 time 5.2", 5.2),
            ("time 5.2, watts 2.9", 5.2),
            ("time: 1\ntime: 2\nwatts: 9\n", 2.0),
            ("time=1 time=2", 2.0),
            ("time time 5", 5.0),
            ("time: 5\nuptime: 7\ntime_ms: 8\ncpu-time: 9\ncpu.time: 9\n", 5.0),
            ("time: 5\nthat took some time in all\n", 5.0),
            ("\u{1b}[32mtime:\u{1b}[1m 5\u{1b}[0m ms", 5.0),
        ] {
            assert_eq!(find(text, "time"), Ok(wanted), "{text:?}");
        }
        for (text, name, wanted) in [
            ("p99.9 [µs](max): 3", "p99.9 [µs](max)", 3.0),
            ("a.*b = 3\naxxb = 4", "a.*b", 3.0),
            ("%cpu 3", "%cpu", 3.0),
            ("error rate: 1e-6", "error rate", 1e-6),
        ] {
            assert_eq!(find(text, name), Ok(wanted), "{text:?}");
        }
        assert_eq!(named("a\n  time: 5 ms  \nb", "time", &[]).unwrap().line, "time: 5 ms");
    }

    /// promise: trimtab tune | --cost, --limit: no such name, two numbers, nan, part of a token | a failed measurement that says why
    #[test]
    fn what_is_no_number_after_a_name_says_why() {
        for (text, wanted) in [
            ("", "nothing that it printed is named `time`"),
            ("runtime: 5", "nothing that it printed is named `time`"),
            ("no time left", "nothing that it printed is named `time`"),
            ("time: 5\ntime: n/a", "`n/a` after `time` is not a number"),
            ("time:\n5", "`` after `time` is not a number"),
            ("{\"time\":[1,2]}", "`[1,2]` after `time` is not a number"),
            ("time: \u{2212}5", "`\u{2212}5` after `time` is not a number"),
            ("time: O2", "`O2` after `time` is not a number"),
            ("time: nan", "is not finite"),
            ("time: inf", "is not finite"),
            ("time: 1e60", "is not finite, or too large"),
            ("time 5.2 3.1", "two numbers stand after `time`, `5.2` and `3.1`"),
            ("time: 5.2 ± 0.1 ms", "two numbers stand after `time`"),
            ("time: 5.2 ms 3.1", "two numbers stand after `time`"),
            ("time: 5,2", "`5` after `time` may be part of `5,2`"),
            ("time: 1'000", "may be part of"),
            ("time: 12:30", "may be part of `12:30`"),
            ("time: 0x10", "may be part of `0x10`"),
            ("time: 1.2.3", "may be part of"),
            ("time: 5-7", "may be part of `5-7`"),
        ] {
            let error = named(text, "time", &["time", "watts"]).unwrap_err();
            assert!(error.contains(wanted), "{text:?}: {error}");
        }
    }

    #[test]
    fn an_expression_gives_its_group_or_all_of_it() {
        let find = |text, expression| extracted(text, &Regex::new(expression).unwrap()).map(|cost| cost.value);
        let text = "latency: 3.5 ms\nrate: 120\nlatency: 3.25 ms\n";
        assert_eq!(find(text, "latency: ([0-9.]+)"), Ok(3.25));
        assert_eq!(find(text, "[0-9.]+"), Ok(3.25));
        assert_eq!(find(text, r"rate:\s+(\d+)"), Ok(120.0));
        assert!(find(text, "power").unwrap_err().contains("matches `power`"));
        assert!(find(text, "latency").unwrap_err().contains("`latency` is not a number"));
        assert!(find("x nan", "x (.*)").unwrap_err().contains("not finite"));
    }
}
